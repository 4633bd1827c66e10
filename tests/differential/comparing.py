"""Compare Weft's results with NumPy's, as the contract demands.

`agrees` runs a function both ways. `same` compares two results: dtype, shape, memory order, scalar or array, and bits.
Any NaN equals any other, and a tolerance in ULP can be given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import weft
from weft.backends import reference, stated
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.runtime.compiler import Lowered, Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

Array = np.ndarray[Any, Any]
NATIVE = ("bool", "int32", "int64", "float32", "float64")
SIZES = (0, 1, 2, 3, 15, 16, 17, 31, 33, 63, 64, 65, 100, 1000, 1025, 5000)


def agrees(function: Callable[..., Any], *args: Any, ulps: float = 0, jitted: Any = None) -> Any:
    """Fails unless a function gives the same compiled (or as `jitted`) and in NumPy."""
    found = (jitted or weft.jit(function))(*args)
    with np.errstate(all="ignore"):
        expected = function(*args)
    same(found, expected, ulps)
    return found


def same(found: Any, expected: Any, ulps: float = 0, zero_signs: bool = True) -> None:
    """Fails unless two results are the same for a caller."""
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected) and len(found) == len(expected)
        for k, (a, b) in enumerate(zip(found, expected, strict=True)):
            try:
                same(a, b, ulps, zero_signs)
            except AssertionError as error:
                raise AssertionError(f"output {k}: {error}") from error
        return None
    if isinstance(expected, dict):
        assert type(found) is dict and list(found) == list(expected)
        return same(list(found.values()), list(expected.values()), ulps, zero_signs)
    if expected is None or isinstance(expected, str):
        assert type(found) is type(expected) and found == expected
        return None
    assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray), (type(found), type(expected))
    assert isinstance(found, (np.ndarray, np.generic)), type(found)
    expected = expected if isinstance(expected, np.ndarray) else np.asarray(expected)[()]  # of Python's numbers
    assert found.dtype == expected.dtype, (found.dtype, expected.dtype)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    if isinstance(found, np.ndarray):
        assert memory_order(found) == memory_order(expected), (found.shape, found.strides, expected.strides)
    return same_numbers(np.asarray(found), np.asarray(expected), ulps, zero_signs)


def memory_order(x: Array) -> tuple[int, ...]:
    """Return the strides of an array, except for axes with fewer than two elements."""
    return tuple(s for n, s in zip(x.shape, x.strides, strict=True) if n > 1) if x.size else ()


def same_numbers(found: Array, expected: Array, ulps: float = 0, zero_signs: bool = True) -> None:
    """Check that numbers are equal bit for bit, or within some ULPs; NaN equals NaN."""
    found, expected = _plain(found), _plain(expected)
    if found.dtype.kind == "c":
        for part in ("real", "imag"):
            same_numbers(getattr(found, part), getattr(expected, part), ulps, zero_signs)
        return
    wrong = found != expected
    if found.dtype.kind == "f":
        with np.errstate(all="ignore"):
            if ulps:
                spacing = np.spacing(np.maximum(np.abs(found), np.abs(expected)))
                wrong &= ~(np.abs(found - expected) <= ulps * spacing)
            elif zero_signs:
                wrong |= np.signbit(found) != np.signbit(expected)
        nan = np.isnan(found) | np.isnan(expected)
        wrong = np.where(nan, np.isnan(found) != np.isnan(expected), wrong)
    if wrong.any():
        at = tuple(int(k[0]) for k in np.nonzero(np.atleast_1d(wrong)))
        a, b = np.atleast_1d(found)[at], np.atleast_1d(expected)[at]
        raise AssertionError(f"{int(wrong.sum())} of {found.size} differ, first at {at}: {a!r} for {b!r}")


def _plain(x: Array) -> Array:
    """The same numbers in a dtype of NumPy's own."""
    return x.astype(np.float32) if x.dtype.name == "bfloat16" else x


def bits(x: Any) -> bytes:
    """Return a key of a result that differs in everything except NaN payloads."""
    x = np.asarray(x)
    plain = np.array(_plain(x), order="C")
    parts = plain.view(plain.real.dtype) if plain.dtype.kind == "c" and plain.shape else plain
    if parts.dtype.kind in "fc":
        parts = np.where(np.isnan(parts), np.full_like(parts, np.nan), parts)
    return repr((x.dtype.str, x.shape)).encode() + parts.tobytes()


def levels() -> tuple[int, ...]:
    """The levels of x86-64 that this machine can run."""
    return (3, 4) if target.host().vector_bytes == 64 else (3,)


def _native(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return native code of a mathematical function; the reference does not repeat it, and `tests/math` checks it."""
    jitted = weft.jit(function)

    def run(*operands: Any) -> Any:
        flat = [x.ravel() for x in np.broadcast_arrays(*operands)]
        return jitted(*flat).reshape(np.broadcast_shapes(*(np.shape(x) for x in operands)))

    return run


_WHOLE_POWERS = {k: _native(lambda x, k=k: x**k) for k in range(2, 9)}
MEANINGS: Mapping[str, Callable[..., Any]] = {
    **stated.MEANINGS,
    **{name: _native(getattr(np, name)) for name in ("exp", "log", "tanh", "sin", "cos", "power")},
    "whole_power": lambda x, exponent: _WHOLE_POWERS[exponent](x),
}


class Everywhere:
    """A function compiled for AVX2 and AVX-512, to be compared with each other and with the reference."""

    def __init__(self, function: Callable[..., Any]) -> None:
        source = TracedFunction(function, (), lambda graph, inputs: reference.run(graph, inputs))
        self.kernels = {
            level: Kernel(source, Registry(), Options(target=target.x86(level), verify=True)) for level in levels()
        }

    def check(self, *args: Any) -> Lowered:
        """Fails unless AVX2, AVX-512 and the reference on the lowered graph give the same bits."""
        results: dict[str, list[bytes]] = {}
        for level, kernel in self.kernels.items():
            results[f"level {level}"] = _all_bits(kernel(*args))
            lowered = kernel.lower(*args)
            inputs = [*(np.asarray(x) for x in args), *lowered.built.hidden]
            plain = reference.run(lowered.graph, inputs, calls=lowered.built.calls, meanings=MEANINGS)
            results[f"the reference on the graph for level {level}"] = _all_bits(plain)
        first = results["level 3"]
        for name, found in results.items():
            differing = [k for k, (a, b) in enumerate(zip(first, found, strict=True)) if a != b]
            assert not differing, f"{name} differs from level 3 in outputs {differing}"
        return lowered


def _all_bits(result: Any) -> list[bytes]:
    return [bits(r) for r in result] if isinstance(result, (tuple, list)) else [bits(result)]
