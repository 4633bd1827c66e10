"""Inline the graphs of chosen implementations into an elementwise program.

An `each` computes one element after another, so it can only use implementations whose graph is elementwise too. Instead
of any other, such as a Python function or a function of a library, it uses Weft's vector code.
"""

from __future__ import annotations

from ...ir.dims import Size
from ...ir.errors import Unsupported
from ...ir.facts import Facts
from ...ir.graph import Graph, Node
from ...ir.kernels import Choice, KernelLookup
from ...ir.ops import CONSTANT, EACH, SIZE, TABLE, Trait
from ...ir.rewrite import Rewriter
from ...ir.types import TensorType
from ..canonicalize import Canonicalize
from ..drop_dead import DropDead
from ..manager import run_pass
from ..merge_duplicates import MergeDuplicates
from ..promote_dtypes import PromoteDtypes

FALLBACK = "python"


def prepared(choice: Choice) -> Graph:
    """Promote and canonicalise the graph of an implementation, like the graph around it."""
    assert choice.body is not None
    body = choice.body
    for step in (PromoteDtypes(), Canonicalize(choice.inside), MergeDuplicates(), DropDead()):
        body = run_pass(step, body)
    return body


def told(op: str, choice: Choice) -> str:
    """Return the entry of attribute `chosen` for an implementation whose graph replaced an op."""
    return f"{op}: {choice.kind} {choice.variant} {choice.name}, score {choice.score}"


class ElementProgram:
    """Rewrites the body of an `each`. Implementations are chosen for arrays of its `shape`, with `facts`.

    `chosen` collects those whose graphs replaced an op.
    """

    def __init__(self, shape: tuple[Size, ...], facts: Facts, chosen: list[str]) -> None:
        self.shape, self.facts, self.chosen = shape, facts, chosen

    def rewritten(self, body: Graph, source: KernelLookup) -> Graph:
        """The body with chosen graphs in place of ops; the same body if nothing changes."""
        rewriter, before = Rewriter(body), len(self.chosen)
        self._nodes(rewriter, body, source)
        return rewriter.finish() if len(self.chosen) > before else body

    def _nodes(self, rewriter: Rewriter, graph: Graph, source: KernelLookup) -> None:
        for node in graph:
            if node.op is EACH and node.body is not None:
                self._inline(rewriter, node, node.body, source)
            elif node.body is not None:
                rewriter.copy(node).body = self.rewritten(node.body, source)
            elif node.op in (CONSTANT, SIZE):
                rewriter.copy(node)
            else:
                self._choose(rewriter, node, source)

    def _inline(self, rewriter: Rewriter, node: Node, body: Graph, source: KernelLookup) -> None:
        """Inlines an implementation's elementwise program into the one around it."""
        for inner, outer in zip(body.inputs, node.operands, strict=True):
            rewriter.values[inner] = rewriter.get(outer)
        self._nodes(rewriter, body, source)
        for result, value in zip(node.results, body.outputs, strict=True):
            rewriter.replace(result, rewriter.get(value))

    def _choose(self, rewriter: Rewriter, node: Node, source: KernelLookup) -> None:
        types = tuple(TensorType(v.type.dtype.strong, self.shape) for v in node.operands)
        choice = source.choose(node.op.name, types, TensorType(node.result.type.dtype, self.shape), node.attrs)
        body = None if choice.body is None else prepared(choice)
        if body is not None and choice.inside is not None and _is_of_elements(body):
            for left, right in choice.guards:
                self.facts.assume_equal(left, right)
            for inner, outer in zip(body.inputs, node.operands, strict=True):
                rewriter.values[inner] = rewriter.get(outer)
            self.chosen.append(told(node.op.name, choice))
            self._nodes(rewriter, body, choice.inside)
            rewriter.replace(node.result, rewriter.get(body.outputs[0]))
            return
        if (choice.kind == FALLBACK and choice.call is None) or node.op.name not in TABLE:
            shown = ", ".join(str(t.dtype) for t in types)
            hint = "compute it before the loop, in the kernel"
            raise Unsupported(f"'{node.op.name}' of {shown} can't run inside a loop", node.span, hint)
        rewriter.copy(node)


def _is_of_elements(graph: Graph) -> bool:
    return all(n.op is CONSTANT or Trait.ELEMENTWISE in n.op.traits for n in graph)
