"""Arrays to test with: numbers at the edges of each dtype, and one array in every memory layout."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes  # np.dtype knows bfloat16 by name from here on
import numpy as np

Array = np.ndarray[Any, Any]


def specials(dtype: str) -> Array:
    """Numbers at which operations go wrong."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        bits = kind.itemsize * 8
        few = [0, 1, -1, 2, -2, 3, 7, -7, 10, bits - 1, bits, bits + 1, low, low + 1, high, high - 1]
        return np.array([n for n in few if low <= n <= high], kind)
    if kind.kind == "c":
        parts = specials(np.zeros(0, kind).real.dtype.name)
        return _complex(np.concatenate([parts, parts]), np.concatenate([parts[::-1], np.roll(parts, 7)]))
    info = np.finfo(kind) if kind.kind == "f" else ml_dtypes.finfo(kind)
    few = [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 7.0, 10.0, 0.1, info.max, info.tiny, info.smallest_subnormal, info.eps]
    few += [info.tiny / 3, 1 / info.eps, 2.0**31, 2.0**63, np.inf]
    with np.errstate(all="ignore"):
        positive = np.array([float(x) for x in few]).astype(kind)
    return np.concatenate([positive, -positive, np.array([np.nan], kind)])


def _complex(re: Array, im: Array) -> Array:
    """Make complex numbers with exactly these parts: `re + 1j * im` would turn infinities into NaN."""
    made = np.empty(re.shape, np.result_type(re.dtype, np.complex64))
    made.real, made.imag = re, im
    return made


def pairs(a: str, b: str, size: int, seed: int = 0) -> tuple[Array, Array]:
    """Every special number with every other, then random ones, cut to `size`."""
    left, right = (m.ravel() for m in np.meshgrid(specials(a), specials(b), indexing="ij"))
    rng = np.random.default_rng(seed)
    order = rng.permutation(left.size)
    missing = max(0, size - left.size)
    return (
        np.concatenate([left[order], random(a, missing, rng)])[:size],
        np.concatenate([right[order], random(b, missing, rng)])[:size],
    )


def random(dtype: str, shape: int | tuple[int, ...], seed: int | np.random.Generator = 0) -> Array:
    """Random numbers of everyday size."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(shape) < 0.5
    if kind.kind in "iu":
        return rng.integers(-50 if kind.kind == "i" else 0, 50, shape).astype(kind)
    if kind.kind == "c":
        return (rng.normal(0, 3, shape) + 1j * rng.normal(0, 3, shape)).astype(kind)
    return rng.normal(0, 3, shape).astype(kind)


def whole(dtype: str, shape: int | tuple[int, ...], seed: int = 0) -> Array:
    """Make small integers as floats, without -0.0, whose sums are exact in any order."""
    return np.rint(random(dtype, shape, seed)) + np.dtype(dtype).type(0)


def _unaligned(x: Array) -> Array:
    buffer = np.zeros(x.nbytes + 1, np.uint8)
    copy: Array = buffer[1:].view(x.dtype).reshape(x.shape) if x.size else x
    copy[...] = x
    return copy


def _read_only(x: Array) -> Array:
    copy = x.copy()
    copy.flags.writeable = False
    return copy


def _strided(x: Array) -> Array:
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    view: Array = wide[tuple(slice(1, None, 2) for _ in x.shape)]
    view[...] = x
    return view


def _row_gaps(x: Array) -> Array:
    wide = np.zeros((*x.shape[:-1], x.shape[-1] + 5), x.dtype)
    view: Array = wide[..., 2 : 2 + x.shape[-1]]
    view[...] = x
    return view


def _reversed(x: Array) -> Array:
    every = tuple(slice(None, None, -1) for _ in x.shape)
    return x[every].copy()[every]


LAYOUTS: Mapping[str, Callable[[Array], Array]] = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": _strided,
    "rows with gaps": _row_gaps,
    "negative": _reversed,
    "negative inner": lambda x: x[..., ::-1].copy()[..., ::-1],
    "negative outer": lambda x: x[::-1].copy()[::-1],
    "axes turned": lambda x: np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0),
    "repeated rows": lambda x: np.broadcast_to(x[:1].copy(), x.shape),
    "repeated columns": lambda x: np.broadcast_to(x[..., :1].copy(), x.shape),
    "unaligned": _unaligned,
    "read-only": _read_only,
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder("S")),
}
