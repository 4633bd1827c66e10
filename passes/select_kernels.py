"""`select-kernels`: each operation gets the implementation that the registry chooses.

Before:

    %0 = "weft.add"(%x, %y) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ...
    %1 = "weft.add"(%h, %h) : (tensor<?xf16, #weft.dims<n>>, tensor<?xf16, #weft.dims<n>>) -> ...

After:

    %0 = "weft.add"(%x, %y) {impl = "inline vectorized", score = 40 : i64} : ...
    %1 = "weft.numpy"(%h, %h) {function = "add", op = "add"} : ...

Needs explicit casts: an implementation is for one dtype signature. Guarantees that every op left has code in the
backend; what has none is a `numpy` node that runs between compiled pieces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..ir.graph import Graph, Value
from ..ir.kernels import KernelLookup
from ..ir.ops import CAST, CONSTANT, NUMPY, REGION, SIZE
from ..ir.rewrite import Rewriter
from ..ir.types import Attr

FALLBACK = "python"


@dataclass(frozen=True)
class SelectKernels:
    """Writes the registry's choice on every op."""

    source: KernelLookup
    name: ClassVar[str] = "select-kernels"

    def run(self, graph: Graph) -> Graph:
        rewriter = Rewriter(graph)
        for node in graph:
            if node.op is NUMPY:
                rewriter.copy(node, [self._operand(rewriter, v) for v in node.operands])
                continue
            if node.op in (REGION, CONSTANT, SIZE):
                rewriter.copy(node)
                continue
            dtypes = tuple(v.type.dtype.strong for v in node.operands)
            choice = self.source.choose(node.op.name, dtypes, node.result.type.dtype)
            types = tuple(r.type for r in node.results)
            if choice.kind == FALLBACK:
                attrs: dict[str, Attr] = {"function": node.op.name, "op": node.op.name, **node.attrs}
                operands = [self._operand(rewriter, v) for v in node.operands]
                made = rewriter.builder.node(NUMPY, operands, attrs, node.span, None, types)
            else:
                attrs = {**node.attrs, "impl": f"{choice.kind} {choice.variant}", "score": choice.score}
                made = rewriter.builder.node(node.op, rewriter.operands(node), attrs, node.span, None, types)
            rewriter.values.update(zip(node.results, made.results, strict=True))
        for value in set(graph.outputs):
            self._copy_out(rewriter, value)
        return rewriter.finish()

    def _operand(self, rewriter: Rewriter, value: Value) -> Value:
        """What a NumPy function reads; a number is made on the spot, because no kernel writes one to memory."""
        node = value.node
        if node is None or node.op not in (CONSTANT, SIZE):
            return rewriter.get(value)
        attrs: dict[str, Attr] = {"function": node.op.name, "op": node.op.name, **node.attrs}
        return rewriter.builder.node(NUMPY, (), attrs, node.span, None, (value.type,)).result

    def _copy_out(self, rewriter: Rewriter, value: Value) -> None:
        """An argument that is handed back is copied by NumPy where no native code moves its dtype."""
        dtype = value.type.dtype
        if value.node is None and self.source.choose(CAST.name, (dtype.strong,), dtype).kind == FALLBACK:
            attrs: dict[str, Attr] = {"function": "copy", "op": CAST.name, "to": dtype}
            copy = rewriter.builder.node(NUMPY, (rewriter.get(value),), attrs, None, None, (value.type,))
            rewriter.replace(value, copy.result)
