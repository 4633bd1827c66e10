"""Build a registration step by step: `registry.builder().with_op("cube").with_signature("f32 -> f32")...`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ir.errors import TypeProblem
from ...ir.records import record, replace
from .implementation import Implementation, Query, Resources

if TYPE_CHECKING:
    from .registry import Registry


@record
class ImplementationBuilder:
    """Collect the parts of a registration. Each step returns a new builder, so a partial one can be reused."""

    registry: Registry
    op: str | None = None
    signature: str | None = None
    function: Any = None
    traits: tuple[tuple[str, Any], ...] = ()

    def __repr__(self) -> str:
        return f"<builder of an implementation of '{self.op}' with signature {self.signature!r}>"

    def with_op(self, op: str) -> ImplementationBuilder:
        return replace(self, op=op)

    def with_signature(self, signature: str) -> ImplementationBuilder:
        return replace(self, signature=signature)

    def with_function(self, function: Any) -> ImplementationBuilder:
        """Set the Python function or kernel."""
        return replace(self, function=function)

    def with_name(self, name: str) -> ImplementationBuilder:
        return self._with(name=name)

    def with_kind(self, kind: str) -> ImplementationBuilder:
        return self._with(kind=kind)

    def with_variant(self, variant: str) -> ImplementationBuilder:
        return self._with(variant=variant)

    def with_hints(self, *hints: str) -> ImplementationBuilder:
        return self._with(hints=hints)

    def with_sizes(self, least: int = 0, most: int | None = None) -> ImplementationBuilder:
        return self._with(min_size=least, max_size=most)

    def with_min_size(self, size: int) -> ImplementationBuilder:
        return self._with(min_size=size)

    def with_max_size(self, size: int) -> ImplementationBuilder:
        return self._with(max_size=size)

    def with_dtypes(self, *dtypes: str) -> ImplementationBuilder:
        return self._with(dtypes=dtypes)

    def with_ranks(self, *ranks: int) -> ImplementationBuilder:
        return self._with(ranks=ranks)

    def with_alignment(self, alignment: int) -> ImplementationBuilder:
        return self._with(alignment=alignment)

    def with_requires(self, *features: str) -> ImplementationBuilder:
        return self._with(requires=features)

    def with_resources(self, memory: int = 0, threads: int = 1) -> ImplementationBuilder:
        return self._with(resources=Resources(memory, threads))

    def with_can_handle(self, can_handle: Callable[[Query], bool]) -> ImplementationBuilder:
        return self._with(can_handle=can_handle)

    def with_estimate(self, estimate: Callable[[Query], float]) -> ImplementationBuilder:
        return self._with(estimate=estimate)

    def build(self) -> Implementation:
        """Register the implementation."""
        if self.op is None or self.function is None:
            missing = "op" if self.op is None else "function"
            raise TypeProblem(f"the implementation needs {missing}", hint=f"add .with_{missing}(...)")
        made: Implementation = self.registry.register(self.op, self.signature, self.function, **dict(self.traits))
        return made

    def _with(self, **traits: Any) -> ImplementationBuilder:
        return replace(self, traits=(*self.traits, *traits.items()))
