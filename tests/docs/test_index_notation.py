"""Every example of docs/index-notation.md is compiled, run and compared with NumPy; its error is the one shown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft

DOCUMENT = (Path(__file__).parents[2] / "docs" / "index-notation.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(weft[^\n]*)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
TEXT = "\n".join(text for kind, text in BLOCKS if kind == "weft")
KERNELS = weft.compile(TEXT)
NAMES = re.findall(r"^kernel (\w+)", TEXT, re.MULTILINE)

RNG = np.random.default_rng(4)
X, W = RNG.standard_normal(9), RNG.random(9)
M, N = RNG.standard_normal((6, 7)), RNG.standard_normal((7, 5))
S, T = M.astype("f4"), N[:3, :2].astype("f4")


def heat(u: Any, r: float, steps: int) -> Any:
    for _ in range(steps):
        v, inner = u.copy(), u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        v[1:-1, 1:-1] = inner + r * (around - 4 * inner)
        u = v
    return u


def smoothed(x: Any, alpha: float) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = alpha * x[i] + (1 - alpha) * y[i - 1]
    return y


def resonator(x: Any, a: float, b: float) -> Any:
    y = np.zeros((len(x) + 2, x.shape[1]))
    for i in range(len(x)):
        y[i + 2] = x[i] + a * y[i + 1] - b * y[i]
    return y[2:]


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def padded(x: Any) -> Any:
    y = np.zeros_like(x)
    y[2:-1] = x[:-3] + x[3:]
    return y


def conv(x: Any, f: Any) -> Any:
    return np.einsum("ijpq,pq->ij", np.lib.stride_tricks.sliding_window_view(x, f.shape), f)


MEANINGS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "matmul": (np.matmul, (M, N)),
    "heat": (heat, (M, 0.1, 3)),
    "softmax": (softmax, (M,)),
    "differences": (np.diff, (X,)),
    "halves": (lambda x: 0.5 * (x[:-1:2] + x[1::2]), (X,)),
    "ramp": (lambda x: x[::-1] * np.arange(len(x)) + x - x[0], (X,)),
    "smoothed": (smoothed, (X, 0.25)),
    "resonator": (resonator, (M, 0.5, 0.25)),
    "padded": (padded, (X,)),
    "rows": (lambda table, idx: table[idx], (S, np.array([5, 0, 2]))),
    "wrapped": (lambda x: np.roll(x, -1) - x, (X,)),
    "masked": (lambda x, idx: np.where(idx >= 0, x[idx], 0), (X, np.array([3, -1, 8, 0]))),
    "conv": (conv, (S, T)),
    "pooled": (lambda x: x[:, :6].reshape(3, 2, 3, 2).max((1, 3)), (S,)),
    "nearest": (lambda x, c: ((x[:, None] - c) ** 2).sum(2).argmin(1), (M, M[2:5] + 0.1)),
    "weighted": (lambda x, w: (x * w).sum() / w.sum(), (X, W)),
}


def test_every_kernel_of_the_page_has_a_meaning() -> None:
    assert set(NAMES) == MEANINGS.keys()


@pytest.mark.parametrize("name", MEANINGS)
def test_example(name: str) -> None:
    meaning, args = MEANINGS[name]
    got, want = getattr(KERNELS, name)(*args), meaning(*args)
    assert (got.dtype, np.shape(got)) == (want.dtype, np.shape(want))
    np.testing.assert_allclose(got, want, rtol=1e-4 if got.dtype == np.float32 else 1e-12, atol=1e-6)


def test_softmax_is_one_kernel() -> None:
    assert len(KERNELS.softmax.lower(M).kernels) == 1


def test_the_error_is_the_one_shown() -> None:
    (wrong,) = (text for kind, text in BLOCKS if kind == "weft error")
    with pytest.raises(weft.errors.IndexProblem) as caught:
        weft.compile(wrong).wrong(X)
    (shown,) = re.findall(r"<!-- message -->\n```text\n(.*?)\n```", DOCUMENT, re.DOTALL)
    assert str(caught.value) == shown


def test_the_lookup_error_is_the_one_shown() -> None:
    with pytest.raises(
        weft.errors.IndexProblem, match=r"'idx\[i\]' is 7, outside of axis 0 of 'table', which has size 5"
    ):
        KERNELS.rows(S[:5], np.array([0, 7]))
    assert "'idx[i]' is 7, outside of axis 0 of 'table', which has size 5" in DOCUMENT
