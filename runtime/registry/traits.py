"""Check the keyword arguments of a registration and apply them to an `Implementation`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

from ...ir.dtypes import parse as parse_dtype
from ...ir.errors import TypeProblem, ValueProblem, nearest
from ...ir.records import fields, fresh, record, replace
from .calls import PythonKernel
from .implementation import HINTS, VARIANTS, Constraints, Implementation, Query, Resources


@record
class Traits:
    """The keyword arguments of `register`; only files set `origin`."""

    variant: str = "custom"
    hints: Iterable[str] = ()
    min_size: int = 0
    max_size: int | None = None
    requires: Iterable[str] = ()
    dtypes: Iterable[str] = ()
    ranks: Iterable[int] = ()
    alignment: int = 1
    same_bits: bool = False
    resources: Resources | Mapping[str, int] = fresh(default_factory=Resources)
    can_handle: Callable[[Query], bool] | None = None
    estimate: Callable[[Query], float] | None = None
    name: str | None = None
    kind: str | None = None
    origin: tuple[str, str] | None = None

    @staticmethod
    def given(arguments: Mapping[str, Any]) -> Traits:
        """Read the options of a registration; raise a typed error for an unknown one."""
        known = [name for name in fields(Traits) if name != "origin"]
        for name in arguments:
            if name not in known:
                hint = nearest(name, known) or f"the options are {', '.join(known)}"
                raise TypeProblem(f"an implementation has no option '{name}'", hint=hint)
        return Traits(**arguments)

    def applied(self, each: Implementation) -> Implementation:
        """Apply the checked options to an implementation."""
        self._check_kinds()
        hints = frozenset(h.replace("_", "-") for h in _texts("hints", self.hints))
        variant = self.variant.replace("_", "-")
        for word, known, what in [(variant, VARIANTS, "variant"), *((h, HINTS, "hint") for h in sorted(hints))]:
            if word not in known:
                hint = nearest(word, list(known)) or f"choose one of {', '.join(known)}"
                raise ValueProblem(f"unknown {what} '{word}'", hint=hint)
        if self.min_size < 0 or (self.max_size is not None and self.max_size < self.min_size):
            raise ValueProblem(f"min_size must be from 0 to max_size ({self.max_size}), not {self.min_size}")
        if self.alignment < 1 or self.alignment & (self.alignment - 1):
            raise ValueProblem(f"alignment must be a power of two, not {self.alignment}")
        constraints = Constraints(
            self.min_size, self.max_size, tuple(map(parse_dtype, _texts("dtypes", self.dtypes))),
            numbers("ranks", self.ranks), _texts("requires", self.requires), self.alignment,
        )  # fmt: skip
        body = each.body
        if isinstance(body, PythonKernel):
            body = replace(body, alignment=self.alignment)
        resources = _resources(self.resources)
        return replace(
            each, variant=variant, hints=hints, constraints=constraints, resources=resources, body=body,
            same_bits=self.same_bits, can_handle=self.can_handle, estimate=self.estimate,
            name=self.name or each.name, origin=self.origin,
        )  # fmt: skip

    def _check_kinds(self) -> None:
        """Check that each option is a number, a string or a function, as it must be."""
        for name in ("min_size", "max_size", "alignment"):
            given = getattr(self, name)
            if not isinstance(given, Integral) and not (given is None and name == "max_size"):
                raise TypeProblem(f"{name} must be a whole number, not {given!r}")
        for name in ("variant", "name"):
            given = getattr(self, name)
            if not isinstance(given, str) and not (given is None and name == "name"):
                raise TypeProblem(f"{name} must be a string, not {given!r}")
        for name in ("can_handle", "estimate"):
            given = getattr(self, name)
            if given is not None and not callable(given):
                raise TypeProblem(f"{name} must be a function of a query, not {given!r}")


def numbers(what: str, given: Iterable[int]) -> tuple[int, ...]:
    """Read one whole number or several."""
    found = (given,) if isinstance(given, Integral) else _all(what, given)
    if not all(isinstance(x, Integral) for x in found):
        raise TypeProblem(f"{what} must be whole numbers such as [1, 2], not {given!r}")
    return found


def _texts(what: str, given: Iterable[str]) -> tuple[str, ...]:
    """Read one word or several."""
    found = (given,) if isinstance(given, str) else _all(what, given)
    if not all(isinstance(x, str) for x in found):
        raise TypeProblem(f"{what} must be a string or a list of strings, not {given!r}")
    return found


def _all(what: str, given: Any) -> tuple[Any, ...]:
    if not isinstance(given, Iterable):
        raise TypeProblem(f"{what} must be a list, not {given!r}")
    return tuple(given)


def _resources(given: Resources | Mapping[str, int]) -> Resources:
    """Read resources, which may be given by name: `{"memory": 4096, "threads": 2}`."""
    found = given
    if isinstance(given, Mapping) and given.keys() <= {"memory", "threads"}:
        found = Resources(**given)
    if not isinstance(found, Resources) or not (
        isinstance(found.memory, Integral) and isinstance(found.threads, Integral)
    ):
        raise TypeProblem(f'resources must be a dict such as {{"memory": 4096, "threads": 2}}, not {given!r}')
    return found
