"""Every example of docs/language.md is run by the reference backend and compared with NumPy."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from weft.frontend.language.actions import MAX_SYNTAX
from weft.frontend.language.modules import MAX_FILES
from weft.frontend.language.source import parse_module
from weft.frontend.lowering.expressions import MAX_INLINE
from weft.frontend.numpy.functions import CONSTANTS, ELEMENTS, FUNCTIONS
from weft.ir.dtypes import ALL, CLASSES, F32
from weft.ir.errors import WeftError
from weft.ir.limits import Limits
from weft.ir.source import ArgType

DOCUMENT = (Path(__file__).parents[2] / "docs" / "language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(weft[^\n]*)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
EXAMPLES = [text for kind, text in BLOCKS if kind == "weft"]
MISTAKES = [text for kind, text in BLOCKS if kind == "weft error"]
KERNELS = {name: kernel for text in EXAMPLES for name, kernel in parse_module(text, "language.md").kernels.items()}

RNG = np.random.default_rng(3)
F = RNG.standard_normal(6).astype(np.float32)
G = RNG.standard_normal(6).astype(np.float32)
M = RNG.standard_normal((4, 6)).astype(np.float32)
D = RNG.standard_normal(6)
INTS = RNG.integers(-9, 60, 6).astype(np.int32), RNG.integers(-9, 60, 6).astype(np.int32)


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def operators(x, y):
    return (x & y | 1) ^ ~y << 2, x // (y + 100) - x % 7, (x >= 0) & (x < 50) & (y != 3), -(x**2)


def layernorm(x, gain, bias):
    mu, spread = x.mean(axis=-1, keepdims=True), x.std(axis=-1, keepdims=True)
    return (x - mu) / (spread + 1e-5) * gain + bias


def smoothed(x):
    return (x[:-2].sum() + 2 * x[1:-1].sum() + x[2:].sum()) / (4 * len(x))


def summary(x, keep):
    ranges = np.nanmax(x, axis=0) - np.nanmin(x, axis=0, keepdims=True)
    heights = np.linalg.norm(x, np.inf, axis=1)
    return x.sum(axis=1, where=keep, initial=1), ranges, x.argmax(), heights, *np.average(x, axis=0, returned=True)


MEANINGS = {
    "softmax": (softmax, (M,)),
    "moments": (lambda x: (x.mean(), np.square(x - x.mean()).mean()), (F,)),
    "scaled": (lambda x, k: x * np.float32(k), (F, 3)),
    "limits": (lambda x: (x.min(), x.max()), (F,)),
    "rescaled": (lambda x: (x - x.min()) / (x.max() - x.min()), (F,)),
    "bias_gelu": (lambda x, b: gelu(x + b), (M, F)),
    "center": (lambda x: x - x.sum() / x.size, (M,)),
    "differences": (np.diff, (D,)),
    "outer_sum": (np.add.outer, (F, G)),
    "leaky_relu": (lambda x: np.where(x < 0, np.float32(0.01), np.float32(1)) * x, (M,)),
    "operators": (operators, INTS),
    "clamped": (lambda x, on: np.clip(x, np.float32(-1), np.float32(1)) if on else x, (F, np.True_)),
    "rectified": (lambda x: np.where(x > 0, x, 0), (F,)),
    "smoothed": (smoothed, (D,)),
    "corners": (lambda x: (x[0, -1], x[::-1, ::2], x[..., 1:-1], x[2]), (M,)),
    "rows": (lambda x, k, last: (x[k], x[k, 0], x[last] - x[:, k % 6][0, 0]), (M, np.array([2, 0, -1]), 3)),
    "normalised": (lambda x, eps, ddof: (x - x.mean()) / np.sqrt(x.var(ddof=ddof) + eps), (D, 0.5, 1)),
    "both": (lambda x: sum((x - x.mean()) / np.sqrt(x.var(ddof=k) + 1e-5) for k in (0, 1)), (D,)),
    "scale": (lambda k, step: np.arange(len(k)) * step, (np.zeros(4, bool), 0.5)),  # a size is an array of that length
    "histogram": (lambda x, k: np.bincount(x, minlength=len(k)), (np.array([1, 3, 1]), np.zeros(5, bool))),
    "halves": (lambda x: (np.roll(x, 3), np.pad(x, (1, 2), "edge"), np.roll(x, 1) - x), (F,)),
    "ramp": (lambda x: (x * np.arange(1, 7) / np.linspace(1, 2, 6), np.tril(x[:, None] * x) + np.eye(6)), (D,)),
    "summary": (summary, (M, F > 0)),
    "layernorm": (layernorm, (M, F, G)),
    "flat": (lambda x: (x.T.reshape(-1), x.sum(axis=0).astype(np.float64)), (M,)),
}


def test_every_kernel_of_the_page_has_a_meaning() -> None:
    assert KERNELS.keys() == MEANINGS.keys()


@pytest.mark.parametrize("name", MEANINGS)
def test_example(name: str, run_kernel) -> None:
    meaning, args = MEANINGS[name]
    expected = meaning(*args)
    expected = expected if isinstance(expected, tuple) else (expected,)
    got = run_kernel(KERNELS[name], *args)
    assert [(g.dtype, g.shape) for g in got] == [(np.asarray(e).dtype, np.shape(e)) for e in expected]
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_errors(text: str) -> None:
    with pytest.raises(WeftError, match=r"language\.md:"):
        kernel = next(iter(parse_module(text, "language.md").kernels.values()))
        kernel.build(kernel.bind([ArgType(F32, (3,)) for _ in kernel.parameters]))


def section(title: str) -> set[str]:
    text = DOCUMENT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return set(re.findall(r"`(\w+)`", text))


def test_every_function_is_listed() -> None:
    text = DOCUMENT.split("\n## Functions\n")[1].split("\n## ")[0]
    parts = re.findall(r"^- \*\*(.*?)\*\*:(.*?)(?=^- |^$)", text, re.MULTILINE | re.DOTALL)
    listed = {kind: set(re.findall(r"`(\w+)`", names)) for kind, names in parts}
    assert listed["Elementwise"] == ELEMENTS
    assert set().union(*(names for kind, names in listed.items() if kind != "Conversions")) == FUNCTIONS.keys()


def test_every_type_and_constant_is_listed() -> None:
    assert {d.name for d in ALL} | CLASSES.keys() <= section("Types")
    assert CONSTANTS.keys() <= section("Values")


def test_limits_are_as_stated() -> None:
    text = DOCUMENT.split("\n## Limits\n")[1].split("\n## ")[0]
    stated = [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", text)]
    assert stated == [
        Limits().text, MAX_SYNTAX, Limits().depth, MAX_INLINE, MAX_FILES, Limits().nodes,
        Limits().seconds,
    ]  # fmt: skip
