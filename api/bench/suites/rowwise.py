"""Define the suite `rows`: normalise or reduce every row of a matrix, with rows of 64, 512 and 10,000 elements."""

from __future__ import annotations

from typing import Any

from ..row import BIG, FLOATS, MID, SMALL, Loops, Make, Row, matrices
from . import loops_rows as loops


def softmax(np: Any) -> Any:
    def f(x: Any) -> Any:
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return e / np.sum(e, axis=1, keepdims=True)

    return f


def _log_softmax(np: Any) -> Any:
    def f(x: Any) -> Any:
        d = x - np.max(x, axis=1, keepdims=True)
        return d - np.log(np.sum(np.exp(d), axis=1, keepdims=True))

    return f


def _layernorm(np: Any) -> Any:
    def f(x: Any) -> Any:
        d = x - np.mean(x, axis=1, keepdims=True)
        return d / np.sqrt(np.mean(d * d, axis=1, keepdims=True) + 1e-5)

    return f


def _rmsnorm(np: Any) -> Any:
    return lambda x: x / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-5)


def _by_max(np: Any) -> Any:
    return lambda x: x / np.max(np.abs(x), axis=1, keepdims=True)


def _by_norm(np: Any) -> Any:
    return lambda x: x / np.sqrt(np.sum(x * x, axis=1, keepdims=True))


def _logsumexp(np: Any) -> Any:
    def f(x: Any) -> Any:
        m = np.max(x, axis=1, keepdims=True)
        return np.log(np.sum(np.exp(x - m), axis=1)) + m[:, 0]

    return f


_KINDS: dict[str, tuple[Make, Loops]] = {
    "softmax": (softmax, loops.softmax),
    "log-softmax": (_log_softmax, loops.log_softmax),
    "layernorm": (_layernorm, loops.layernorm),
    "rmsnorm": (_rmsnorm, loops.rmsnorm),
    "x / max(abs(x))": (_by_max, loops.by_max),
    "x / norm(x)": (_by_norm, loops.by_norm),
    "logsumexp": (_logsumexp, loops.logsumexp_rows),
}
_SIZES = {64: (SMALL, MID, BIG), 512: (MID, BIG), 10_000: (MID, BIG)}


def _row(name: str, width: int, dtype: str) -> Row:
    make, written = _KINDS[name]
    label = f"{name}, rows of {width:,}"
    return Row(label, make, matrices(1, width), loops=written, sizes=_SIZES[width], dtypes=(dtype,))


ROWS = tuple(_row(name, width, dtype) for name in _KINDS for dtype in FLOATS for width in _SIZES)
