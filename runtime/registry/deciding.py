"""Choose from a ranking the first implementation that can be built, and the sizes it serves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...ir import dims
from ...ir.dims import Size
from ...ir.errors import Unsupported, WeftError
from ...ir.facts import Facts
from ...ir.graph import Graph
from ...ir.kernels import Choice
from ...ir.ops import TABLE, Trait
from ...ir.types import Attr, TensorType
from .calls import PythonKernel
from .implementation import Implementation
from .reductions import Reduction
from .scores import Ranking, ScoredImplementation

if TYPE_CHECKING:
    from .resolve import Resolution

Guards = tuple[tuple[Size, Size], ...]


class Decision:
    """The choice for one op of a graph."""

    def __init__(
        self,
        selection: Resolution,
        op: str,
        operands: tuple[TensorType, ...],
        result: TensorType,
        attrs: Mapping[str, Attr],
    ) -> None:
        self.selection, self.op, self.operands, self.result = selection, op, operands, result
        self.reduction = Reduction.of(op, attrs)
        self.graphs: dict[Implementation, Graph] = {}
        self.failed: dict[Implementation, str] = {}

    def choice(self) -> Choice:
        """Return the best implementation that can be built for these types."""
        size, sizes = _size(self.op, self.operands, self.result), self.selection.sizes
        number = dims.evaluate(size, sizes) if dims.symbols(size) <= sizes.keys() else None
        found = self._best(number)
        if found is None:
            raise self._nothing(number)
        guards = () if number is None else self._guards(size, number, found)
        each = found.implementation
        self.selection.uses.chosen.add(each)
        if isinstance(each.body, PythonKernel):
            name = each.op if each.name == each.op else f"{each.op} ({each.name})"
            body = each.body if self.reduction is None else self.reduction.called(each.body)
            call = self.selection.call(body.run)
            return Choice(each.kind, each.variant, found.score, name, call=call, guards=guards)
        graph = self.graphs.get(each)
        inside = None if graph is None else self.selection.inside_of(each)
        return Choice(each.kind, each.variant, found.score, each.name, graph, inside, guards=guards)

    def _best(self, size: int | None) -> ScoredImplementation | None:
        order = self._ranking(size).order
        best = next((c for c in order if self._try_build(c.implementation)), None)
        name = self.selection.preferred.get(self.op)
        if name is None or best is None or not best.implementation.same_bits:
            return best
        equals = (c for c in order if c.implementation.same_bits and c.implementation.name == name)
        return next((c for c in equals if self._try_build(c.implementation)), best)

    def _ranking(self, size: int | None) -> Ranking:
        return self.selection.ranking(self.op, self.operands, self.result, size)

    def _try_build(self, each: Implementation) -> bool:
        """Build it for these types. Return False if its body does not fit them, so that the next one is tried."""
        if each.body is None or each in self.graphs:
            return True
        if each in self.failed:
            return False
        try:
            if isinstance(each.body, PythonKernel):
                each.signature.bind(Facts(strict=True), [t.shape for t in self.operands])
                return True
            body = each.body if self.reduction is None else self.reduction.traced(each.body)
            graph = body.graph(self.operands, self.selection.sizes, self.selection.call)
        except WeftError as error:
            self.failed[each] = error.message
            return False
        if graph.outputs[0].type != self.result:
            self.failed[each] = f"it gives {graph.outputs[0].type}, not {self.result}"
            return False
        self.graphs[each] = graph
        return True

    def _guards(self, size: Size, number: int, found: ScoredImplementation) -> Guards:
        """Return guards for the range of sizes in which the same implementation wins."""
        limits = self.selection.state.thresholds(self.op)
        if isinstance(size, int) or not limits:
            return ()

        def same(at: int) -> bool:
            other = self._best(at)
            return other is not None and other.implementation is found.implementation

        least = next((t for t in reversed(limits) if t <= number and not same(t - 1)), None)
        beyond = next((t for t in limits if t > number and not same(t)), None)
        guards: list[tuple[Size, Size]] = []
        if least is not None:
            guards.append((dims.maximum(size, least), size))
        if beyond is not None:
            guards.append((dims.minimum(size, beyond - 1), size))
        return tuple(guards)

    def _nothing(self, size: int | None) -> Unsupported:
        reasons = [f"{c.implementation.name}: {c.refusal}" for c in self._ranking(size).refused]
        reasons += [f"{each.name}: {why}" for each, why in self.failed.items()]
        given = " ".join(map(str, self.operands))
        return Unsupported(f"no implementation of '{self.op}' takes {given}", hint="; ".join(reasons) or "register one")


def _size(op: str, operands: tuple[TensorType, ...], result: TensorType) -> Size:
    """Count the elements an op works on: those of its result, or of a larger or reduced operand."""
    known = TABLE.get(op)
    if known is not None and Trait.REDUCTION in known.traits:
        return dims.product(operands[0].shape)
    return dims.product(max((result, *operands), key=lambda t: t.rank).shape)
