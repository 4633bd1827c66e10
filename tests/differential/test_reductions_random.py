"""Test random reductions with random arguments against NumPy, with the same bits on every CPU level."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
import weft
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .arrays import LAYOUTS, whole
from .comparing import Everywhere
from .reduction_cases import UFUNCS, alike

SLOW = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True, "database": None}
DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "complex64")
OPTIONS: dict[str, tuple[str, ...]] = {
    "sum": ("dtype", "initial", "where"), "prod": ("dtype", "initial", "where"), "min": ("initial", "where"),
    "max": ("initial", "where"), "any": ("where",), "all": ("where",), "ptp": (), "count_nonzero": (),
    "mean": ("dtype", "where"), "var": ("ddof", "dtype", "where"), "std": ("ddof", "where"), "average": (),
    "nansum": ("dtype", "initial", "where"), "nanmin": ("initial", "where"), "nanmax": ("initial", "where"),
    "nanmean": ("where",), "nanvar": ("ddof", "where"), "nanstd": ("ddof",), "nanprod": ("dtype",),
}  # fmt: skip
ROUGH = ("mean", "var", "std", "average", "nanmean", "nanvar", "nanstd", "vector_norm")
NUMBERS = {"dtype": (np.float32, np.float64, np.int16, bool), "initial": (0, 2, -1.5, True), "ddof": (0, 1, 2.5, 30)}


class Call(NamedTuple):
    """A NumPy function, by its name and the names of its arguments."""

    name: str
    arguments: tuple[tuple[str, Any], ...]

    def __call__(self, x: Any) -> Any:
        home = np.linalg if self.name == "vector_norm" else np
        ufunc, _, method = self.name.partition(".")
        function = getattr(getattr(np, ufunc), method) if method else getattr(home, self.name)
        return function(x, **dict(self.arguments))

    @property
    def exact(self) -> bool:
        return self.name not in ROUGH


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.sampled_from((1, 2, 3, 5, 0, 17)), max_size=4).filter(lambda s: np.prod(s) < 900)))
    x = whole("int8" if dtype == "bool" else dtype, shape, draw(st.integers(0, 99)))
    x = np.asarray(x % 2 == 1 if dtype == "bool" else np.clip(x.real, -2, 2) + 0).astype(dtype)
    if x.dtype.kind == "f" and x.size and draw(st.booleans()):
        x.reshape(-1)[draw(st.integers(0, x.size - 1))] = np.nan
    layouts = [name for name in LAYOUTS if "repeated" not in name and name != "byte-swapped"]
    return LAYOUTS[draw(st.sampled_from(layouts))](x) if x.ndim and x.size else x


@st.composite
def calls(draw: st.DrawFn, shape: tuple[int, ...]) -> Call:
    rank, given = len(shape), {}
    kind = draw(st.sampled_from(("reduction", "reduction", "ufunc", "position", "running")))
    one = st.integers(-rank, rank - 1) if rank else st.just(0)
    if kind == "running":
        name = draw(st.sampled_from(("cumsum", "cumprod", "nancumsum", *(f"{u}.accumulate" for u in UFUNCS))))
        return Call(name, (("axis", draw(one)),))
    if kind == "position":
        name = draw(st.sampled_from(("argmin", "argmax", "nanargmin", "nanargmax")))
        return Call(name, (("axis", draw(st.none() | one)), ("keepdims", draw(st.booleans()))))
    if draw(st.booleans()):
        several = st.lists(one, unique_by=lambda a: a % max(1, rank), max_size=rank).map(tuple)
        given["axis"] = draw(st.none() | one | several)
    if draw(st.booleans()):
        given["keepdims"] = draw(st.booleans())
    if kind == "ufunc":
        name, options = f"{draw(st.sampled_from(UFUNCS))}.reduce", ("initial", "where")
    else:
        name = draw(st.sampled_from((*OPTIONS, "vector_norm")))
        options = OPTIONS.get(name, ())
    for option in options:
        if draw(st.booleans()):
            given[option] = draw(_masks(shape) if option == "where" else st.sampled_from(NUMBERS[option]))
    return Call(name, tuple(given.items()))


def _masks(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    def mask(seed: int, kept: int) -> Any:
        own = tuple(1 if seed % (k + 2) == 0 else n for k, n in enumerate(shape))[kept:]
        return np.random.default_rng(seed).random(own) < 0.6

    return st.builds(mask, st.integers(0, 99), st.integers(0, len(shape)))


@st.composite
def several(draw: st.DrawFn) -> tuple[Any, tuple[Call, ...]]:
    x = draw(arrays())
    return x, tuple(draw(st.lists(calls(x.shape), min_size=3, max_size=6)))


def numpys(call: Call, x: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(x)
        except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            return error


@settings(max_examples=60, **SLOW)
@given(several())
def test_reductions(drawn: tuple[Any, tuple[Call, ...]]) -> None:
    x, wanted = drawn
    pairs = [(call, numpys(call, x)) for call in wanted]
    right = [(call, expected) for call, expected in pairs if not isinstance(expected, Exception)]
    for call, error in pairs:
        if isinstance(error, Exception):
            builtin = next(t for t in type(error).__mro__ if t.__module__ == "builtins")
            with pytest.raises(builtin):
                weft.jit(call)(x)
    if not right:
        return
    found = weft.jit(lambda x: tuple(call(x) for call, _ in right))(x)
    for (call, expected), result in zip(right, found, strict=True):
        try:
            alike(result, expected, call.exact, x.dtype)
        except AssertionError as error:
            raise AssertionError(f"{call}: {error}") from error


@settings(max_examples=15, **SLOW)
@given(several())
def test_bits_of_reductions(drawn: tuple[Any, tuple[Call, ...]]) -> None:
    """AVX2, AVX-512 and the reference agree on numbers whose sums depend on the order."""
    x, wanted = drawn
    right = [call for call in wanted if not isinstance(numpys(call, x), Exception)]
    if x.dtype.kind in "fc":
        x = (x * np.linspace(0.1, 3, x.size).reshape(x.shape)).astype(x.dtype)
    if right:
        Everywhere(lambda x: tuple(call(x) for call in right)).check(x)
