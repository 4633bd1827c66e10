"""Draw the next random step of a program from its values so far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from weft.frontend.numpy.elementwise import ELEMENTWISE
from weft.frontend.numpy.functions import FUNCTIONS
from weft.ir.ops import TABLE, Trait

from . import recipes
from .choosing import Choice
from .program import Ref, SizeOf, Step

OPERATORS = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
PREFIXES = ("neg", "pos", "abs", "invert")
METHODS = ("sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "cumsum", "cumprod",
           "clip", "round", "astype", "copy", "ravel", "flatten", "squeeze", "reshape", "transpose", "swapaxes",
           "conj", "take", "repeat", "trace", "diagonal", "T")  # fmt: skip
UFUNC_METHODS = ("add", "multiply", "minimum", "maximum", "logical_and", "logical_or", "bitwise_xor", "fmin")
NEUTRAL = (0, 0.0, -0.0, 1, -1, 10, 2, 0.5, 3.0, 1.0, -1.0, 8, 7)
MAX_RANK = 5

_DRAWN = [n for n in FUNCTIONS if n not in recipes.LEFT_OUT]
NAMES = {"elementwise": [n for n in _DRAWN if FUNCTIONS[n].name in ELEMENTWISE]}
_OTHERS = [n for n in _DRAWN if n not in NAMES["elementwise"]]
NAMES["reduction"] = [n for n in _OTHERS if any(p.name == "keepdims" for p in recipes.parameters(n))]
NAMES["shaping"] = [n for n in _OTHERS if n not in NAMES["reduction"]]
# Functions whose arguments the front end reads: axes, counts, orders, modes and the like.
NAMES["option"] = [
    n
    for n in (
        *["take"] * 3, *["roll", "pad"] * 2, "repeat", "tile", "reshape", "ravel", "transpose", "moveaxis", "swapaxes",
        "rot90", "flip", "triu", "tril", "diagonal", "diff", "ediff1d", "cumsum", "cumprod", "linspace", "clip",
        "average", "var", "std", "expand_dims", "stack", "concatenate", "rollaxis", "trace", "argmax",
        "take_along_axis", "array_split", "linalg.norm", "arctan2", "copysign", "floor_divide", "broadcast_to",
        "full_like", "sum", "max", "mean",
    )
    if n in _DRAWN
]  # fmt: skip
NAMES["costly"] = [n for n in NAMES["elementwise"] if n in TABLE and Trait.EXPENSIVE in TABLE[n].traits]


class Steps:
    """One method for each kind of step."""

    def __init__(self, choice: Choice, steps: list[Step]) -> None:
        self.choice, self.steps = choice, steps
        self.values = choice.values

    def step(self, kind: str) -> Step | None:
        """Draw a step of a kind: a class of functions, or a method of this class."""
        if kind not in NAMES:
            found: Step | None = getattr(self, kind)()
            return found
        name = self.choice.one_of(NAMES[kind])
        drawn = recipes.draw(self.choice, name)
        return None if drawn is None else Step(f"np.{name}", *drawn)

    def operator(self) -> Step:
        first = self.choice.any_value()
        if self.choice.chance(0.15):
            return Step(f"operator.{self.choice.one_of(PREFIXES)}", (first,))
        second = self.choice.partner(first)
        if self.choice.chance(0.05) and np.ndim(self.choice.actual(first)):
            second = SizeOf(first.index, 0)
        pair = (first, second) if self.choice.chance(0.7) else (second, first)
        return Step(f"operator.{self.choice.one_of((*OPERATORS, *COMPARISONS))}", pair)

    def compared(self) -> Step:
        first = self.choice.any_value()
        return Step(f"operator.{self.choice.one_of(COMPARISONS)}", (first, self.choice.partner(first)))

    def extreme(self) -> Step:
        first = self.choice.any_value()
        name = self.choice.one_of(("minimum", "maximum", "fmin", "fmax"))
        return Step(f"np.{name}", (first, self.choice.partner(first)))

    def index(self) -> Step:
        first = self.choice.any_value()
        items: list[Any] = []
        for size in np.shape(self.choice.actual(first))[: self.choice.integer(0, MAX_RANK)]:
            roll = self.choice.rng.random()
            items.append(self.choice.one_of((0, -1, size // 2)) if roll < 0.15 else self.choice.slice(size))
            if roll > 0.93:
                items.append(None)
        if self.choice.chance(0.2):
            items.insert(self.choice.integer(0, len(items)), Ellipsis)
        if self.choice.chance(0.07):
            items = [self.choice.one_of(([0, -1], [[0], [0]]))]
        key = items[0] if len(items) == 1 and self.choice.chance(0.5) else tuple(items)
        return Step("operator.getitem", (first, key))

    def method(self) -> Step | None:
        name = self.choice.one_of(METHODS)
        first = self.choice.any_value()
        if name in ("T", "flatten", "conj"):
            return Step(f".{name}", (first,))
        drawn = recipes.draw(self.choice, name)
        if drawn is None or not drawn[0] or not isinstance(drawn[0][0], Ref):
            return None
        return Step(f".{name}", *drawn)

    def ufunc_method(self) -> Step:
        name, first = self.choice.one_of(UFUNC_METHODS), self.choice.any_value()
        rank = np.ndim(self.choice.actual(first))
        method = self.choice.one_of(("reduce", "reduce", "accumulate"))
        kwargs = {"axis": self.choice.axis(rank)} if self.choice.chance(0.7) else {}
        return Step(f"np.{name}.{method}", (first,), kwargs)

    # -- what a compiler has an opinion on

    def normalised(self) -> Step | None:
        """Reduce the rows or columns of the last value, or subtract or divide by the last such total."""
        last = self.steps[-1] if self.steps else None
        if last is not None and last.kwargs.get("keepdims") is True and isinstance(last.args[0], Ref):
            return Step(f"operator.{self.choice.one_of(('sub', 'truediv', 'mul'))}", (last.args[0], self.last()))
        rank = np.ndim(self.values[-1])
        if rank == 0:
            return None
        name, axis = self.choice.one_of(("sum", "max", "min", "mean")), self.choice.integer(-rank, -1)
        return Step(f"np.{name}", (self.last(),), {"axis": axis, "keepdims": True})

    def last(self) -> Ref:
        return Ref(len(self.values) - 1)

    def running(self) -> Step | None:
        """A running total."""
        first = self.choice.value(lambda x: x.ndim > 0)
        if first is None:
            return None
        call = self.choice.one_of(("np.cumsum", "np.cumprod", ".cumsum", "np.maximum.accumulate", "np.add.accumulate"))
        return Step(call, (first,), {"axis": self.choice.axis(np.ndim(self.choice.actual(first)))})

    def bits(self) -> Step:
        """Division, shifts and bits."""
        first = self.choice.any_value()
        second = self.choice.integer(-3, 9) if self.choice.chance(0.3) else self.choice.partner(first)
        return Step(f"operator.{self.choice.one_of(('floordiv', 'mod', 'rshift', *OPERATORS[7:]))}", (first, second))

    def again(self) -> Step | None:
        """Repeat an earlier step, for values that are computed twice."""
        return self.choice.one_of(self.steps) if self.steps else None

    def mirrored(self) -> Step | None:
        """Repeat an earlier step with swapped operands."""
        binary = [s for s in self.steps if len(s.args) == 2 and s.call != "operator.getitem"]
        if not binary:
            return None
        step = self.choice.one_of(binary)
        return replace(step, args=step.args[::-1])

    def neutral(self) -> Step:
        """Combine a value with a number that changes (nearly) nothing, or with itself."""
        first = self.choice.plain_float() if self.choice.chance(0.7) else self.choice.any_value()
        operator = f"operator.{self.choice.one_of(OPERATORS[: 4 if self.choice.chance(0.7) else None])}"
        if self.choice.chance(0.2):
            return Step(operator, (first, first))
        number = self.choice.one_of(NEUTRAL[: 6 if self.choice.chance(0.6) else None])
        return Step(operator, (first, number) if self.choice.chance(0.7) else (number, first))

    def negated(self) -> Step | None:
        """Negate a bool."""
        truth = self.choice.value(lambda x: x.dtype == bool)
        if truth is None:
            return self.compared()
        return Step(self.choice.one_of(("np.logical_not", "operator.invert")), (truth,))

    def chosen(self) -> Step | None:
        """Choose by a bool."""
        truth = self.choice.value(lambda x: x.dtype == bool)
        first = len(self.values) - len(self.steps)
        negations = [Ref(first + k) for k, s in enumerate(self.steps) if s.call == "np.logical_not"]
        if negations and self.choice.chance(0.6):
            truth = self.choice.one_of(negations)
        if truth is None:
            return self.compared()
        shape = self.choice.actual(truth).shape
        chosen = self.choice.value(lambda x: x.shape == shape and x.dtype != bool) or truth
        return Step("np.where", (truth, chosen, self.choice.partner(chosen)))

    def viewed(self) -> Step | None:
        """A view of the last value, whatever it is."""
        shape = np.shape(self.values[-1])
        if self.choice.chance(0.5):
            return Step("np.transpose", (self.last(), self.choice.order(len(shape))))
        return Step("operator.getitem", (self.last(), tuple(self.choice.slice(n) for n in shape)))

    def back(self) -> Step:
        """Convert the last value to the dtype of another one, possibly the one that it came from."""
        return Step(".astype", (self.last(), self.choice.actual(self.choice.any_value()).dtype))

    def converted(self) -> Step:
        return Step(".astype", (self.choice.any_value(), self.choice.dtype()))
