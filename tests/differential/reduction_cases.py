"""List reductions to test: every function with its arguments, on an array of shape (4, 6).

A case tells how close its result must be: exactly NumPy's, or within some roundings of a small number if NumPy and Weft
add in different orders. `CORE` has every function with the arguments that depend on dtypes, `FULL` all arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .arrays import whole
from .comparing import memory_order, same

Array = np.ndarray[Any, Any]
SHAPE = (4, 6)
ROW = np.array([True, False, True, True, False, True])
MASK = np.random.default_rng(5).random(SHAPE) < 0.6
WEIGHTS = np.arange(1, 25).reshape(SHAPE)
AXES: tuple[dict[str, Any], ...] = (
    {}, {"axis": 0}, {"axis": 1}, {"axis": (1, 0)}, {"axis": -1, "keepdims": True}, {"axis": None, "keepdims": True},
    {"axis": ()}, {"axis": (-2,)},
)  # fmt: skip
DTYPES = (np.float32, np.int16, bool, np.uint8, np.float64, np.complex64)


class Case(NamedTuple):
    label: str
    call: Callable[[Any], Any]
    exact: bool


def _with(name: str, arguments: Iterator[dict[str, Any]], exact: bool = True, home: Any = np) -> Iterator[Case]:
    function = getattr(home, name)
    for given in arguments:
        yield Case(f"{name} {given}", lambda x, given=given: function(x, **given), exact)


def _crossed(*rest: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return every axis alone, and every other argument with two of them."""
    yield from AXES
    for given in rest:
        yield {"axis": 1, **given}
        yield {"axis": 0, "keepdims": True, **given}


def _dtypes(*names: Any) -> tuple[dict[str, Any], ...]:
    return tuple({"dtype": d} for d in names)


def _full() -> Iterator[Case]:
    starts = ({"initial": 3}, {"where": ROW}, {"where": MASK, "initial": 2}, {"where": [1, 0, 0, 1, 1, 0]})
    for name in ("sum", "prod", "nansum", "nanprod"):
        yield from _with(name, _crossed(*_dtypes(*DTYPES), *starts))
    for name in ("min", "max", "nanmin", "nanmax"):
        yield from _with(name, _crossed({"initial": 3}, {"initial": np.float64(-1.5)}, {"where": ROW, "initial": 1}))
    for name in ("any", "all"):
        yield from _with(name, _crossed({"where": ROW}, {"where": False}))
    for name in ("count_nonzero", "ptp"):
        yield from _with(name, (a for a in AXES if name != "ptp" or a != {"axis": ()}))
    for name in ("mean", "nanmean"):
        given = (*_dtypes(*DTYPES), {"where": ROW}, {"where": MASK, "dtype": np.float64})
        yield from _with(name, _crossed(*given), exact=False)
    spread = (
        {"ddof": 1}, {"ddof": 0.5}, {"correction": 1}, {"ddof": 100}, {"ddof": -1}, *_dtypes(*DTYPES), {"where": ROW},
        {"where": MASK, "ddof": 1}, {"mean": 1.5}, {"mean": np.float64(1.5)}, {"mean": np.arange(6.0)},
    )  # fmt: skip
    for name in ("var", "std", "nanvar", "nanstd"):
        yield from _with(name, _crossed(*spread), exact=False)
    yield from _with("average", _crossed({"weights": WEIGHTS}), exact=False)
    yield Case("average along", lambda x: np.average(x, 1, WEIGHTS[0]), False)
    yield Case("average turned", lambda x: np.average(x, axis=(1, 0), weights=WEIGHTS.T), False)
    for k in (0, 1):
        yield Case(f"returned {k}", lambda x, k=k: np.average(x, axis=0, returned=True)[k], False)
        yield Case(f"returned {k} weighted", lambda x, k=k: np.average(x, 0, WEIGHTS, True, keepdims=True)[k], False)
    yield from _positions()
    yield from _running()
    yield from _norms()
    yield from _ufunc_methods()


def _positions() -> Iterator[Case]:
    given = [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"keepdims": True}]
    for name in ("argmin", "argmax", "nanargmin", "nanargmax"):
        yield from _with(name, iter(given))


def _running() -> Iterator[Case]:
    for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
        yield from _with(name, iter([{}, {"axis": 0}, {"axis": -1}, *({"axis": 1, "dtype": d} for d in DTYPES)]))
    for name in ("cumulative_sum", "cumulative_prod"):
        yield from _with(name, iter([{"axis": 0}, {"axis": 1, "include_initial": True, "dtype": np.float32}]))


def _norms() -> Iterator[Case]:
    for order in (None, 1, 2, 3, 0, -1, 0.5, np.inf, -np.inf):
        yield from _with("norm", iter([{"ord": order, "axis": 1}]), False, np.linalg)
    for order in (None, "fro", 1, -1, np.inf, -np.inf):
        given = [{"ord": order, "keepdims": True}, {"ord": order, "axis": (1, 0)}]
        yield from _with("norm", iter(given), False, np.linalg)
    yield from _with("vector_norm", iter([{}, {"axis": (1, 0), "ord": 1}, {"axis": 0, "keepdims": True}]), False,
                     np.linalg)  # fmt: skip
    yield from _with("matrix_norm", iter([{}, {"ord": 1, "keepdims": True}]), False, np.linalg)
    yield Case("trace", lambda x: (x.trace(), np.trace(x, 1, dtype=np.float32))[1], True)


UFUNCS = (
    "add", "multiply", "minimum", "maximum", "fmin", "fmax", "logical_and", "logical_or", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor",
)  # fmt: skip


def _ufunc_methods() -> Iterator[Case]:
    for name in UFUNCS:
        ufunc = getattr(np, name)
        for given in ({}, {"axis": None}, {"axis": 1, "dtype": np.int32}, {"axis": 0, "initial": 1, "where": ROW}):
            yield Case(f"{name}.reduce {given}", lambda x, u=ufunc, g=given: u.reduce(x, **g), True)
        for given in ({}, {"axis": 1, "dtype": np.int32}):
            yield Case(f"{name}.accumulate {given}", lambda x, u=ufunc, g=given: u.accumulate(x, **g), True)
        yield Case(f"{name}.outer", lambda x, u=ufunc: u.outer(x[0], x[1:3]), True)
    yield Case("add.outer with a number", lambda x: np.add.outer(x, 2), True)
    yield Case("subtract.outer", lambda x: np.subtract.outer(x[:, 0] * 2, [1, 2], dtype=np.float64), True)


def _core() -> Iterator[Case]:
    names = (
        "sum", "prod", "min", "max", "any", "all", "ptp", "count_nonzero", "mean", "var", "std", "average", "nansum",
        "nanmin", "nanmax", "nanmean", "nanstd", "argmin", "argmax", "nanargmax", "cumsum", "cumprod", "nancumsum",
    )  # fmt: skip
    rough = ("mean", "var", "std", "average", "nanmean", "nanstd")
    for name in names:
        yield from _with(name, iter([{}, {"axis": 0}]), name not in rough)
    for name in ("sum", "prod", "max"):
        yield from _with(name, iter([{"axis": 1, "where": ROW, "initial": 1}]))
    yield from _with("norm", iter([{}, {"ord": 1, "axis": 1}, {"ord": np.inf}]), False, np.linalg)
    for ufunc in (getattr(np, name) for name in UFUNCS):
        yield Case(f"{ufunc.__name__}.reduce", lambda x, u=ufunc: u.reduce(x), True)
        yield Case(f"{ufunc.__name__}.accumulate", lambda x, u=ufunc: u.accumulate(x, axis=1), True)


FULL, CORE = tuple(_full()), tuple(_core())


def few(dtype: str, seed: int = 3) -> Array:
    """Small whole numbers of a dtype whose sums and products are exact in any order."""
    if dtype == "bool":
        return whole("int8", SHAPE, seed) % 2 == 1
    x = whole(dtype, SHAPE, seed)
    if x.dtype.kind == "u":
        return x % 4
    if x.dtype.kind == "c":
        return (np.sign(x.real) * (np.abs(x.real) % 3) + 0 + 1j * (np.abs(x.imag) % 3)).astype(dtype)
    return (np.sign(x) * (np.abs(x) % 3) + 0).astype(dtype)


def alike(found: Any, expected: Any, exact: bool, like: np.dtype[Any]) -> None:
    """Check that a result is NumPy's, or a few roundings off in its dtype or `like` if order matters."""
    if exact:
        same(found, expected, zero_signs=expected.dtype.kind != "c")
        return
    assert isinstance(found, np.ndarray) == isinstance(expected, np.ndarray), (type(found), type(expected))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    if isinstance(found, np.ndarray):
        assert memory_order(found) == memory_order(expected)
    floats = [d for d in (found.dtype, like) if d.kind in "fc"] if found.dtype.kind in "fc" else []
    eps = max((8 * float(np.finfo(d).eps) for d in floats), default=0.0)
    np.testing.assert_allclose(found, expected, rtol=eps, atol=eps)
