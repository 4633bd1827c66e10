"""Call nests with checked arguments: dtypes, sizes, layouts, and that nothing overlaps what is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ...frontend.programs.planning.pieces import ArrayInput, KnownResult
from ...ir import dims
from ...ir.errors import (
    LimitExceeded,
    ShapeProblem,
    TraceProblem,
    TypeProblem,
    Unsupported,
    ValueProblem,
    nearest,
    quantity,
    type_of,
)
from ...ir.layouts import GENERAL, UNIT, C, classify
from ...ir.types import Guards
from ..calling import Called, native_class
from ..native.call import CallForm
from ..native.callables import is_native
from ..native.dispatch import Chain
from ..native.nest_calls import NestCallForm, NestSource
from ..size_bound import address_of
from .compiling import MOST_CALLS, Array, NativeNest, overlaps_itself, size_places
from .interfaces import NestInterface, check_magnitudes, shown

MOST = 1 << 31  # of a number that no array has


class RunnableNest(Protocol):
    """A nest that can run: in machine code, or step by step in Python."""

    def run(self, buffers: Sequence[Array], numbers: Mapping[str, int] | None = None) -> None:
        """Run it on arrays that fit it."""


class NestKernel(Called):
    """A nest as a callable: `kernel(a, b, steps=10)` updates its arguments in place and returns nothing."""

    takes_out = True  # `out` may be the name of a number

    def __init__(self, interface: NestInterface, make: Callable[[], RunnableNest]) -> None:
        self.interface, self._make = interface, make
        self.name, self.parameters, self.numbers = interface.name, interface.parameters, interface.numbers
        self.__name__ = interface.name
        self.written = tuple(k for k, how in enumerate(interface.access) if how != "read")
        self._places = size_places(interface.types)
        self._native: RunnableNest | None = None
        self._checked: dict[Any, list[tuple[int, int]]] = {}
        self._kinds: set[Any] = set()  # of calls that have a recipe, or can have none
        self.chain = Chain()
        self.remake: tuple[Callable[..., NestKernel], tuple[str, ...]] | None = None  # for pickles

    def __reduce__(self) -> Any:
        if self.remake is None:
            raise Unsupported(f"the nest '{self.name}' was not made from text and can't be pickled")
        return self.remake

    def __repr__(self) -> str:
        return f"<nest {self.signature}>"

    @property
    def signature(self) -> str:
        """The buffers and numbers that a call passes, as in `seidel(a: f64[n, n], *, steps)`."""
        given = [f"{name}: {shown(type)}" for name, type in zip(self.parameters, self.interface.types, strict=True)]
        return f"{self.name}({', '.join([*given, *(('*', *self.numbers) if self.numbers else ())])})"

    def inlined(self, trace: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        raise TraceProblem(f"the nest '{self.name}' writes to arrays, and a traced value is none", hint="use weft.jit")

    def chunked(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
        raise TypeProblem(f"the nest '{self.name}' writes to arrays, and a dask array can't be written to")

    def served(self, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> None:
        """Run the nest; the arrays that it writes are changed."""
        arrays, numbers = self._arranged(args, kwargs)
        given = self.checked(arrays, numbers)  # before a compile: sizes in the text may be beyond 64 bits
        if is_native(self):
            self._learn(form, {**dict(zip(self.parameters, args, strict=False)), **kwargs}, arrays, numbers)
        self.native.run(arrays, given)

    def _arranged(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """The arrays of a call in their order, some of which may be passed by name, and the numbers."""
        named = {name: x for name, x in kwargs.items() if name in self.parameters and name not in self.numbers}
        if not named:
            return args, kwargs
        if twice := next((name for name in self.parameters[: len(args)] if name in named), None):
            raise TypeProblem(f"{self.signature}: {twice} is given twice")
        missing = [name for name in self.parameters[len(args) :] if name not in named]
        if missing:
            raise TypeProblem(f"{self.signature}: {', '.join(missing)} is missing")
        numbers = {name: x for name, x in kwargs.items() if name not in named}
        return (*args, *(named[name] for name in self.parameters[len(args) :])), numbers

    def _learn(
        self, form: CallForm, values: dict[str, Any], arrays: Sequence[Array], numbers: Mapping[str, Any]
    ) -> None:
        """Make a recipe for calls like this one, which have been checked. `values` are in the order of the call."""
        native, interface = self.native, self.interface
        if not isinstance(native, NativeNest) or native.code.failures:
            return  # one that fails has changed its arguments, so Python can't run it again to tell why
        sources = {name: NestSource(k) for k, name in enumerate(values)}
        call = NestCallForm(form, sources, values, ())
        highest = self._most(max([1, *(n for a in arrays for n in a.shape), *map(int, numbers.values())]))
        kind = call.kind, highest
        if not highest or kind in self._kinds:
            return
        if len(self._kinds) >= MOST_CALLS:
            self._kinds.clear()
        self._kinds.add(kind)
        from ..native.nest_serving import ServedNest, build_nest_recipe

        apart = [(k, other) for k in self.written for other in range(len(arrays)) if other != k]
        sizes = {name: (name,) for name in self.numbers}
        limits = dict.fromkeys((*self._places, *self.numbers), highest)
        inputs = [ArrayInput((name,)) for name in self.parameters]
        nest = ServedNest(
            native, interface.types, inputs, sizes, limits, interface.guards, apart, (), self.written, KnownResult(None)
        )
        self.chain.put(self, self, kind, lambda: build_nest_recipe(nest, call))

    def _most(self, size: int) -> int:
        """Return a number that all sizes of a call may have if one of them has `size` and nothing overflows, or 0."""
        for most in (MOST - 1, 1 << 26, 1 << 20, 1 << 14):
            try:
                check_magnitudes(self.interface, dict.fromkeys((*self._places, *self.numbers), most))
            except LimitExceeded:
                continue
            return most if size <= most else 0
        return 0

    @property
    def native(self) -> RunnableNest:
        """The machine code, compiled when it is first needed."""
        if self._native is None:
            self._native = self._make()
        return self._native

    def checked(self, arrays: Sequence[Any], numbers: Mapping[str, Any]) -> dict[str, int]:
        """Checks the arguments of a call; returns the sizes that no array has."""
        found = {name: self._number(name, value) for name, value in numbers.items()}
        try:
            key = (*[(a.__class__, a.dtype, a.shape, a.strides) for a in arrays], *found.items())
        except AttributeError:
            key = ()
        if key not in self._checked:
            self._check(arrays, found)
            if len(self._checked) >= MOST_CALLS:
                self._checked.clear()
            self._checked[key] = [_reach(a) for a in arrays]
        self._check_memory(arrays, self._checked[key])
        return found

    def _check(self, arrays: Sequence[Any], numbers: Mapping[str, int]) -> None:
        """Check what calls with the same types, sizes and strides have in common."""
        if len(arrays) != len(self.parameters):
            raise TypeProblem(f"{self.signature} takes {quantity(len(self.parameters), 'array')}, not {len(arrays)}")
        unknown, missing = set(numbers).difference(self.numbers), set(self.numbers).difference(numbers)
        if wrong := sorted(unknown or missing):
            what = "unknown" if unknown else "missing"
            raise TypeProblem(f"{self.signature}: {', '.join(wrong)} is {what}", hint=nearest(wrong[0], list(missing)))
        for name, type, given in zip(self.parameters, self.interface.types, arrays, strict=True):
            if given.__class__ not in (np.ndarray, np.memmap):
                hint = "pass np.asarray(x), or x.data of a masked array" if isinstance(given, np.ndarray) else None
                raise TypeProblem(f"{self.name}: '{name}' must be a plain array, not {type_of(given)}", hint=hint)
            if given.ndim != type.rank or given.dtype != type.dtype.numpy:
                have = f"{given.dtype} with {quantity(given.ndim, 'dimension')}"
                raise TypeProblem(f"{self.name}: '{name}' must be {shown(type)}, not {have}")
        self._check_sizes(arrays, numbers)
        self._check_layouts(arrays)

    def _number(self, name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeProblem(f"{self.name}: {name} must be a whole number, not {value!r}")
        if not 0 <= value < MOST:
            raise ValueProblem(f"{self.name}: {name} must be from 0 to {MOST - 1}, not {value}")
        return int(value)

    def _check_sizes(self, arrays: Sequence[Array], numbers: Mapping[str, int]) -> None:
        env = {name: arrays[slot].shape[axis] for name, (slot, axis) in self._places.items()}
        env |= numbers
        for name, type, given in zip(self.parameters, self.interface.types, arrays, strict=True):
            shape = tuple(dims.evaluate(s, env) for s in type.shape)
            if shape != given.shape:
                raise ShapeProblem(f"{self.name}: '{name}' must have shape {shape} here, not {given.shape}")
        for a, b in self.interface.guards:
            if dims.evaluate(a, env) != dims.evaluate(b, env):
                text = Guards(((a, b),)).texts[0]
                raise ShapeProblem(f"{self.name} needs {text}, which does not hold for these arrays")
        check_magnitudes(self.interface, env)

    def _check_layouts(self, arrays: Sequence[Array]) -> None:
        for k, (name, given, layout) in enumerate(zip(self.parameters, arrays, self.interface.layouts, strict=True)):
            if not fits(given, layout):
                raise ValueProblem(
                    f"{self.name}: '{name}' must have layout {layout}, not strides {given.strides}",
                    hint="pass a copy, such as np.ascontiguousarray gives",
                )
            if k in self.written and overlaps_itself(given):
                raise ValueProblem(f"{self.name}: elements of '{name}' overlap, but the nest writes to it")

    def _check_memory(self, arrays: Sequence[Array], reaches: Sequence[tuple[int, int]]) -> None:
        """Check that written arrays are writeable, and that nothing overlaps them."""
        places = [address_of(a) for a in arrays]
        for k in self.written:
            if not arrays[k].flags.writeable:
                raise ValueProblem(f"{self.name}: '{self.parameters[k]}' is read-only, but the nest writes to it")
            low, high = places[k] + reaches[k][0], places[k] + reaches[k][1]
            for other, (before, after) in enumerate(reaches):
                if other == k or places[other] + before >= high or low >= places[other] + after:
                    continue
                if np.shares_memory(arrays[k], arrays[other]):
                    first, second = (self.parameters[i] for i in sorted((k, other)))
                    raise ValueProblem(f"{self.name}: '{first}' and '{second}' share memory, and the nest writes to it")


CallableNest = native_class(NestKernel)


def _reach(given: Array) -> tuple[int, int]:
    """The addresses that an array touches: its first byte, and the byte after its last one."""
    if not given.size:
        return 0, 0
    spans = [(n - 1) * s for n, s in zip(given.shape, given.strides, strict=True)]
    return sum(min(0, s) for s in spans), sum(max(0, s) for s in spans) + given.itemsize


def fits(given: Array, layout: str) -> bool:
    """Whether an array has a layout class or a stricter one."""
    have = classify(given.shape, given.strides, given.itemsize)
    if layout in ("S", GENERAL) or have == layout:
        return True
    return (layout == UNIT and have == C) or have == "scalar" or (layout == "F" and given.flags.f_contiguous)
