"""`select-kernels`: each operation gets the implementation that the registry chooses.

Before:

    %0 = "weft.add"(%x, %y) : (tensor<?xf32, #weft.dims<n>>, tensor<?xf32, #weft.dims<n>>) -> ...
    %1 = "weft.cube"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ...
    %2 = "weft.rank"(%1) : (tensor<?xf32, #weft.dims<n>>) -> ...

After, where `cube` is a user's graph and `rank` a Python function:

    %0 = "weft.add"(%x, %y) {impl = "inline vectorized", score = 40 : i64} : ...
    %1 = "weft.mul"(%0, %0) {impl = "inline vectorized", score = 40 : i64} : ...
    %2 = "weft.mul"(%1, %0) {impl = "inline vectorized", score = 40 : i64} : ...
    %3 = "weft.numpy"(%2) {function = "rank", call = 0 : i64, impl = "python custom", score = 10 : i64} : ...

The graph of an implementation takes the op's place, promoted and canonicalised as the rest was. Implementations of the
ops in it are chosen in turn. The kernel's attribute `chosen` names it: `["cube: inline custom f, score 9"]`. An op that
only NumPy has code for becomes a `numpy` node with its name. In elementwise programs, elementwise graphs replace ops,
and everything else is Weft's vector code (see `programs`).

Needs explicit casts: an implementation is for one dtype signature. Guarantees that every op left has code in the
backend, that `numpy` nodes run between compiled pieces, and that the graph's guards hold the sizes it was chosen for.
"""

from __future__ import annotations

from typing import ClassVar

from ..ir.graph import Graph, Node, Value, graph_guards
from ..ir.kernels import Choice, KernelLookup
from ..ir.loops import body_of
from ..ir.ops import CAST, CONSTANT, EACH, LOOP, NUMPY, REGION, SIZE
from ..ir.records import record
from ..ir.rewrite import Rewriter
from ..ir.types import Attr, TensorType
from .drop_dead import DropDead
from .merge_duplicates import MergeDuplicates
from .planning.programs import FALLBACK, ElementProgram, prepared, told


@record
class SelectKernels:
    """Writes the registry's choice on every op."""

    source: KernelLookup
    name: ClassVar[str] = "select-kernels"

    def run(self, graph: Graph) -> Graph:
        walk = _Walk(Rewriter(graph))
        walk.nodes(graph, self.source)
        for value in set(graph.outputs):
            self._copy_out(walk.rewriter, value)
        if not walk.chosen:
            return walk.rewriter.finish()
        before = graph.attrs.get("chosen", ())
        assert isinstance(before, tuple)
        walk.rewriter.builder.attrs["chosen"] = tuple(dict.fromkeys((*map(str, before), *walk.chosen)))
        return DropDead().run(MergeDuplicates().run(walk.rewriter.finish()))

    def _copy_out(self, rewriter: Rewriter, value: Value) -> None:
        """Copies a returned argument with NumPy if no native code can move its dtype."""
        dtype = value.type.dtype
        strong = TensorType(dtype.strong, value.type.shape)
        if value.node is None and self.source.choose(CAST.name, (strong,), value.type, {"to": dtype}).kind == FALLBACK:
            attrs: dict[str, Attr] = {"function": "copy", "op": CAST.name, "to": dtype}
            copy = rewriter.builder.node(NUMPY, (rewriter.get(value),), attrs, None, None, (value.type,))
            rewriter.replace(value, copy.result)


class _Walk:
    """Walks a graph, and the graphs that replace its ops."""

    def __init__(self, rewriter: Rewriter) -> None:
        self.rewriter = rewriter
        self.chosen: list[str] = []  # the implementations whose graphs took the place of an op

    def nodes(self, graph: Graph, source: KernelLookup) -> None:
        for node in graph:
            if node.op is EACH:
                program = ElementProgram(node.results[0].type.shape, self.rewriter.builder.facts, self.chosen)
                self.rewriter.copy(node).body = program.rewritten(body_of(node), source)
            elif node.op is LOOP:
                self._loop(node, source)
            elif node.op in (REGION, CONSTANT, SIZE) or ("impl" in node.attrs and node.op is not NUMPY):
                self.rewriter.copy(node)
            elif node.op is NUMPY:
                self.rewriter.copy(node, [self._operand(v) for v in node.operands])
            else:
                self._choose(node, source)

    def _loop(self, node: Node, source: KernelLookup) -> None:
        """Rewrite a loop that came with an implementation. The bodies of other loops are done already."""
        body = body_of(node)
        inner = _Walk(Rewriter(body))
        inner.nodes(body, source)
        made = inner.rewriter.finish()
        for left, right in graph_guards(made):
            self.rewriter.builder.facts.assume_equal(left, right)
        self.chosen += inner.chosen
        self.rewriter.copy(node).body = made

    def _choose(self, node: Node, source: KernelLookup) -> None:
        types = tuple(TensorType(v.type.dtype.strong, v.type.shape) for v in self.rewriter.operands(node))
        choice = source.choose(node.op.name, types, node.result.type, node.attrs)
        facts = self.rewriter.builder.facts
        for left, right in choice.guards:
            facts.assume_equal(left, right)
        if choice.body is not None:
            self._splice(node, choice)
            return
        chosen: dict[str, Attr] = {"impl": f"{choice.kind} {choice.variant}", "score": choice.score}
        results = tuple(r.type for r in node.results)
        operands, op = self.rewriter.operands(node), node.op
        if choice.kind == FALLBACK or choice.call is not None:
            attrs: dict[str, Attr] = {"function": op.name, "op": op.name, **node.attrs}
            if choice.call is not None:
                attrs = {"function": choice.name, "call": choice.call, **chosen}
            operands, op = tuple(self._operand(v) for v in node.operands), NUMPY
        else:
            attrs = {**node.attrs, **chosen}
        made = self.rewriter.builder.node(op, operands, attrs, node.span, None, results)
        self.rewriter.values.update(zip(node.results, made.results, strict=True))

    def _splice(self, node: Node, choice: Choice) -> None:
        """Replaces an op by the graph of its implementation."""
        assert choice.inside is not None
        body = prepared(choice)
        for left, right in graph_guards(body):
            self.rewriter.builder.facts.assume_equal(left, right)
        for inner, outer in zip(body.inputs, node.operands, strict=True):
            self.rewriter.values[inner] = self.rewriter.get(outer)
        self.chosen.append(told(node.op.name, choice))
        self.nodes(body, choice.inside)
        self.rewriter.replace(node.result, self.rewriter.get(body.outputs[0]))

    def _operand(self, value: Value) -> Value:
        """Return an operand of a NumPy function. A constant is copied for it, because no kernel stores one."""
        node = value.node
        if node is None or node.op not in (CONSTANT, SIZE):
            return self.rewriter.get(value)
        attrs: dict[str, Attr] = {"function": node.op.name, "op": node.op.name, **node.attrs}
        return self.rewriter.builder.node(NUMPY, (), attrs, node.span, None, (value.type,)).result
