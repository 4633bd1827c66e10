"""Put faults into the front end, one at a time: lost arguments, wrong axes, missing guards.

Each is a mistake that somebody could make in a function of the table, in indexing or in the handling of sizes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from weft.frontend import sizes
from weft.frontend.maker import Make
from weft.frontend.numpy import axes, functions, indexing, padding, repeats, shapes

from .faults import Fault, Patch


def _arguments(change: Callable[[str, dict[str, Any]], None]) -> Patch:
    """Call functions with other arguments than they were given."""
    plain = functions._bound

    def bound(function: Any, *others: Any) -> Any:
        found = plain(function, *others)
        change(function.name, found.arguments)
        return found

    return mock.patch.object(functions, "_bound", bound)


def _lost(*names: str) -> Patch:
    def change(function: str, arguments: dict[str, Any]) -> None:
        for name in names:
            arguments.pop(name, None)

    return _arguments(change)


def lost_keepdims() -> Patch:
    """Reduced axes are dropped, whatever the caller asks for."""
    return _lost("keepdims")


def lost_ddof() -> Patch:
    """Variances divide by the number of elements."""
    return _lost("ddof", "correction")


def lost_initial() -> Patch:
    """Reductions start from nothing."""
    return _lost("initial")


def lost_where() -> Patch:
    """Reductions take all elements."""

    def change(function: str, arguments: dict[str, Any]) -> None:
        if "axis" in arguments:
            arguments.pop("where", None)

    return _arguments(change)


def lost_dtype() -> Patch:
    """Give reductions and new arrays their default dtype."""
    return _lost("dtype")


def lost_order() -> Patch:
    """Elements are read in C order."""

    def change(function: str, arguments: dict[str, Any]) -> None:
        if function in ("reshape", "ravel"):
            arguments.pop("order", None)

    return _arguments(change)


def swapped_operands() -> Patch:
    """The operands of a few functions change places."""

    def change(function: str, arguments: dict[str, Any]) -> None:
        if function in ("copysign", "arctan2", "floor_divide", "heaviside", "nextafter", "ldexp") and "x2" in arguments:
            arguments["x1"], arguments["x2"] = arguments["x2"], arguments["x1"]

    return _arguments(change)


def clipped_indices() -> Patch:
    """`take` clips where it should wrap around."""

    def change(function: str, arguments: dict[str, Any]) -> None:
        if arguments.get("mode") == "wrap" and function == "take":
            arguments["mode"] = "clip"

    return _arguments(change)


def last_axis() -> Patch:
    """Count an axis from the end one too far to the front, except the first."""
    return mock.patch.object(
        axes,
        "normalize_axis",
        lambda axis, rank: None if not -rank <= axis < rank else axis if axis >= 0 else max(0, axis + rank - 1),
    )


def long_slices() -> Patch:
    """Include the stop of a slice that is counted from the end."""
    plain = indexing._forward

    def forward(start: Any, stop: Any, size: Any, step: int) -> Any:
        return plain(start, (stop[0] + 1, True) if stop is not None and stop[1] else stop, size, step)

    return mock.patch.object(indexing, "_forward", forward)


def reversed_roll() -> Patch:
    """Elements are rolled the other way."""
    plain = repeats._rolled
    return mock.patch.object(repeats, "_rolled", lambda m, x, axis, shift: plain(m, x, axis, -shift))


def swapped_widths() -> Patch:
    """Swap the widths before and after an array."""
    plain = padding._widths
    return mock.patch.object(padding, "_widths", lambda *args: [pair[::-1] for pair in plain(*args)])


def dropped_guard() -> Patch:
    """Take a required size from the first call, without a guard."""

    plain = sizes.guard_at_least

    def guard_at_least(facts: Any, size: Any, bound: Any) -> bool:
        number = facts.number(size - bound)
        return number is None or number >= 0

    @contextmanager
    def everywhere() -> Iterator[None]:
        with ExitStack() as stack:
            for name, module in list(sys.modules.items()):
                if name.startswith("weft.frontend.") and getattr(module, "guard_at_least", None) is plain:
                    stack.enter_context(mock.patch.object(module, "guard_at_least", guard_at_least))
            yield

    return everywhere()


def inverse_transpose() -> Patch:
    """Invert a transpose."""
    plain: Make = shapes.transpose

    def transpose(m: Any, a: Any, axes: Any = None) -> Any:
        if isinstance(axes, (tuple, list)) and all(isinstance(axis, int) and axis >= 0 for axis in axes):
            axes = tuple(sorted(range(len(axes)), key=axes.__getitem__))
        return plain(m, a, axes)

    table = {name: functions.NumpyFunction(name, transpose) for name in ("transpose", "permute_dims")}
    return mock.patch.object(functions, "FUNCTIONS", {**functions.FUNCTIONS, **table})


IN_FRONT_END: Mapping[str, tuple[Fault, ...]] = {
    "options": (lost_keepdims, lost_ddof, lost_initial, lost_where, lost_dtype, last_axis, lost_order, long_slices,
                reversed_roll, swapped_widths, inverse_transpose, dropped_guard, swapped_operands, clipped_indices),
}  # fmt: skip
