"""Random programs: hypothesis draws steps over a growing list of values, which NumPy evaluates while they are drawn.

A program is replayed on arrays or, under `weft.jit`, on traced values. Its numbers stay small and whole, so that sums
are exact in any order and results can be compared bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import hypothesis.strategies as st
import numpy as np

from .arrays import LAYOUTS, random, whole
from .comparing import NATIVE

Array = np.ndarray[Any, Any]
Step = Callable[[list[Any]], Any]
SIZES = (1, 2, 3, 4, 7, 16, 17, 35)
MODULUS = 97
NUMBERS = (-2, 0, 1, 3, 0.5, -1.5, True)

UNARY: dict[str, Callable[[Any], Any]] = {
    "negate": lambda x: 0 - x,
    "absolute": abs,
    "floor": np.floor,
    "truth": lambda x: x != 0,
    "not": np.logical_not,
    "float": lambda x: x.astype(np.float64),
    "single": lambda x: x.astype(np.float32),
    "int": lambda x: x.astype(np.int32),
    "long": lambda x: x.astype(np.int64),
    "halved": lambda x: x / 2,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x + 0 - y,
    "multiply": lambda x, y: (x * y) % MODULUS,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "less": lambda x, y: x < y,
    "equal": lambda x, y: x == y,
    "either": lambda x, y: np.where(x > y, x, y),
    "floor divide": lambda x, y: x // (abs(y) + 1),
    "and": np.logical_and,
}
MATH: dict[str, Callable[[Any], Any]] = {
    "exp": lambda x: np.exp(x * -0.01),
    "log": lambda x: np.log(abs(x) + 1),
    "tanh": lambda x: np.tanh(x * 0.1),
    "cube": lambda x: (x * 0.01) ** 3,
    "root": lambda x: np.sqrt(abs(x)),
    "third": lambda x: x / 3,
}
REDUCE = ("sum", "sum", "max", "min", "any", "all", "prod", "mean")
FALLBACKS: dict[str, Callable[[Any], Any]] = {
    "sort": lambda x: np.sort(x, axis=0),
    "cumsum": lambda x: np.cumsum(x, axis=-1) % MODULUS,
    "roll": lambda x: np.roll(x, 1),
    "f16": lambda x: (x.astype(np.float16) + 1).astype(np.float64),
    "i8": lambda x: x.astype(np.int8) * 2,
    "complex": lambda x: (x * 1j).imag,
}


@dataclass(frozen=True)
class Program:
    """Inputs, steps (each appends a value) and the values that are returned."""

    inputs: tuple[Array, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    story: tuple[str, ...]

    @property
    def function(self) -> Callable[..., Any]:
        """Return a function with named arguments, as tracing needs it."""
        by_count: dict[int, Callable[..., Any]] = {
            1: lambda a: self.run(a),
            2: lambda a, b: self.run(a, b),
            3: lambda a, b, c: self.run(a, b, c),
        }
        return by_count[len(self.inputs)]

    def run(self, *inputs: Any) -> Any:
        values = list(inputs)
        for step in self.steps:
            values.append(step(values))
        return tuple(values[k] for k in self.outputs)

    def __repr__(self) -> str:
        arrays = [f"{x.dtype}{x.shape} strides {x.strides}" for x in self.inputs]
        return "\n  ".join(["program of", *arrays, *self.story, f"-> {self.outputs}"])


@st.composite
def programs(draw: st.DrawFn, math: bool = False, fallbacks: bool = False, longest: int = 9) -> Program:
    """A program over one to three arrays in any layout."""
    shape = tuple(draw(st.lists(st.sampled_from(SIZES), min_size=1, max_size=3)))
    inputs = tuple(draw(_arrays(shape)) for _ in range(draw(st.integers(1, 3))))
    values: list[Any] = list(inputs)
    steps: list[Step] = []
    story: list[str] = []
    for _ in range(draw(st.integers(1, longest))):
        name, step = draw(_step(values, math, fallbacks))
        try:
            with np.errstate(all="ignore"):
                made = step(values)
                usable = np.size(made) <= 40_000 and np.ndim(made) <= 4 and np.all(np.abs(made) < 2**30)
        except (ValueError, TypeError, IndexError, np.exceptions.AxisError):
            continue
        if not usable:
            continue
        story.append(f"{len(values)} = {name}")
        values.append(made)
        steps.append(step)
    made = range(len(inputs), len(values))
    picked = draw(st.sets(st.sampled_from(made), max_size=2)) if steps else set()
    last = {len(values) - 1}
    return Program(inputs, tuple(steps), tuple(sorted(picked | last)), tuple(story))


@st.composite
def _arrays(draw: st.DrawFn, shape: tuple[int, ...]) -> Array:
    """An array of the shape, or one that broadcasts with it."""
    own = tuple(1 if draw(st.integers(0, 3)) == 0 else n for n in shape)[draw(st.integers(0, len(shape) - 1)) :]
    dtype, seed = draw(st.sampled_from(NATIVE)), draw(st.integers(0, 9))
    x = whole(dtype, own, seed) if dtype.startswith("f") else random(dtype, own, seed)
    return LAYOUTS[draw(st.sampled_from(list(LAYOUTS)))](x)


@st.composite
def _step(draw: st.DrawFn, values: Sequence[Any], math: bool, fallbacks: bool) -> tuple[str, Step]:
    # Later values are likelier, so that programs are deep.
    i, j = (max(draw(st.integers(0, len(values) - 1)) for _ in range(2)) for _ in range(2))
    kinds = ["unary", "binary", "binary", "binary", "number", "view", "view", "reduce", "reduce", "scale"]
    kind = draw(st.sampled_from(kinds + ["math"] * 3 * math + ["fallback"] * 3 * fallbacks))
    if kind == "binary":
        name = draw(st.sampled_from(list(BINARY)))
        return f"{name} {i} {j}", lambda v: BINARY[name](v[i], v[j])
    if kind == "number":
        name, number = draw(st.sampled_from(list(BINARY))), draw(st.sampled_from(NUMBERS))
        return f"{name} {i} number {number}", lambda v: BINARY[name](v[i], number)
    if kind == "view":
        return draw(_view(i, np.shape(values[i])))
    if kind == "reduce":
        rank = np.ndim(values[i])
        axes = draw(st.sampled_from([None, *range(rank), *([(0, rank - 1)] if rank > 1 else [])]))
        op, keepdims = draw(st.sampled_from(REDUCE[: None if math else -2])), draw(st.booleans())
        return f"{op} {i} over {axes} keepdims {keepdims}", lambda v: getattr(np, op)(
            v[i], axis=axes, keepdims=keepdims
        )
    if kind == "scale":
        op = draw(st.sampled_from(("sum", "max")))
        return f"{i} - {op} of rows", lambda v: v[i] + 0 - getattr(np, op)(v[i], axis=-1, keepdims=True)
    table = {"unary": UNARY, "math": MATH, "fallback": FALLBACKS}[kind]
    name = draw(st.sampled_from(list(table)))
    return f"{name} {i}", lambda v: table[name](v[i])


@st.composite
def _view(draw: st.DrawFn, i: int, shape: tuple[int, ...]) -> tuple[str, Step]:
    kind = draw(st.sampled_from(["transpose", "slice", "slice", "flatten", "split", "axis", "index", "repeat"]))
    if kind == "transpose":
        order = tuple(draw(st.permutations(range(len(shape)))))
        return f"transpose {i} {order}", lambda v: np.transpose(v[i], order)
    if kind == "slice":
        steps = st.sampled_from((1, 1, 2, -1, -3))
        ends = st.sampled_from((None, None, 0, 1, -1, 2))
        index = tuple(slice(draw(ends), draw(ends), draw(steps)) for _ in shape)
        return f"{i}{index}", lambda v: v[i][index]
    if kind == "flatten":
        return f"flatten {i}", lambda v: v[i].reshape(-1)
    if kind == "split":
        return f"split {i}", lambda v: v[i].reshape((2, -1, *v[i].shape[1:]))
    if kind == "axis":
        return f"new axis {i}", lambda v: v[i][..., None]
    if kind == "index":
        at = draw(st.sampled_from((0, -1)))
        return f"{i}[{at}]", lambda v: v[i][at]
    return f"repeat {i}", lambda v: np.broadcast_to(v[i], (3, *v[i].shape))
