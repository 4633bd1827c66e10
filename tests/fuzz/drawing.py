"""Draw the random program of a seed and a number, the same in every run.

Steps are drawn one after another while NumPy evaluates them, so that shapes fit. A step that NumPy refuses is drawn
again; now and then it is kept as the last one, because Weft has to refuse it as well.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ..differential.arrays import LAYOUTS
from .choosing import DTYPES, LONG, OTHERS, SIZES, Choice
from .inputs import MOODS, Input, fits
from .program import Program, Step, references, run
from .steps import MAX_RANK, Steps
from .themes import THEMES, Theme

MAX_ELEMENTS = 6000
REFUSALS: tuple[type[Exception], ...] = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)
OPTIONS, FIRST_OF_OPTIONS = "options", 1_000_000  # programs from this number on are about arguments of functions
WRITABLE = ("C", "F", "strided", "rows with gaps", "negative", "axes turned", "unaligned")


@contextmanager
def quiet() -> Iterator[None]:
    """Run NumPy without its warnings, which Weft does not raise."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def draw(seed: int, number: int) -> Program:
    """Program `number` of a seed."""
    rng = _chance(seed, number)
    theme = OPTIONS if number >= FIRST_OF_OPTIONS else _theme(rng)
    with quiet():
        return _Drawing(rng, THEMES[theme]).program()


def theme_of(seed: int, number: int) -> str:
    """Return the theme of a program."""
    return OPTIONS if number >= FIRST_OF_OPTIONS else _theme(_chance(seed, number))


def _chance(seed: int, number: int) -> random.Random:
    return random.Random(f"weft {seed} {number}")


def _theme(rng: random.Random) -> str:
    return rng.choices(list(THEMES), [t.weight for t in THEMES.values()])[0]


class _Drawing:
    def __init__(self, rng: random.Random, theme: Theme) -> None:
        self.theme = theme
        self.choice = Choice(rng, [], theme.eager)
        self.values = self.choice.values
        self.steps: list[Step] = []

    def program(self) -> Program:
        inputs = self.inputs()
        self.values += [x.make() for x in inputs]
        maker = Steps(self.choice, self.steps)
        kinds, weights = list(self.theme.steps), list(self.theme.steps.values())
        wanted = self.choice.integer(*self.theme.count)
        for _ in range(4 * wanted):
            if len(self.steps) == wanted:
                break
            step = maker.step(self.choice.rng.choices(kinds, weights)[0])
            if step is None:
                continue
            try:
                value = run(step, self.values)
            except Exception as error:
                if isinstance(error, REFUSALS) and self.steps and self.choice.chance(0.05):
                    self.steps.append(step)
                    return Program(inputs, tuple(self.steps), (len(self.values),))
                continue
            if isinstance(value, (tuple, list)) and step.pick is None:
                pick = self.choice.integer(0, len(value) - 1) if len(value) else 0
                step, value = replace(step, pick=pick), value[pick] if len(value) else None
            if _is_usable(value):
                self.steps.append(step)
                self.values.append(value)
        outputs = self.outputs(len(inputs))
        out, resized = self.out(inputs, outputs), self.resized(inputs)
        apart = resized is not None and self.choice.chance(0.25)
        return Program(inputs, tuple(self.steps), outputs, out, resized, apart)

    # -- arguments

    def inputs(self) -> tuple[Input, ...]:
        """Draw arguments whose shapes broadcast, most of one dtype, and now and then a number."""
        choice, theme = self.choice, self.theme
        shape = [choice.one_of(theme.sizes) for _ in range(choice.one_of(theme.ranks))]
        if shape and choice.chance(theme.long):
            shape = [choice.integer(1, 3) for _ in shape]
            shape[choice.integer(0, len(shape) - 1)] = choice.one_of(LONG)
        usual = choice.one_of(theme.dtypes) if theme.dtypes and choice.chance(0.6) else choice.native_dtype()
        moods = choice.rng.choices(list(MOODS), theme.moods, k=2)
        found = [self.array(tuple(shape), usual, choice.one_of(moods)) for _ in range(choice.integer(1, 3))]
        found[1:] = [replace(x, kind="captured") if choice.chance(0.06) else x for x in found[1:]]
        if choice.chance(0.25):
            kind = choice.one_of(("number", "number", "scalar"))
            dtype = choice.one_of(("int64", "float64", "float64", "bool")) if kind == "number" else usual
            found.append(Input(dtype, (), "C", "ties", choice.integer(0, 9), kind))
        return tuple(found)

    def array(self, shape: tuple[int, ...], usual: str, mood: str) -> Input:
        choice = self.choice
        own = tuple(1 if n != 1 and choice.chance(0.1) else n for n in shape)
        own = own[choice.integer(0, len(own)) :] if choice.chance(0.2) else own
        dtype = usual if choice.chance(0.6) else choice.native_dtype()
        if OTHERS and choice.chance(0.03):
            dtype = choice.one_of(OTHERS)
        layouts = [name for name in LAYOUTS if fits(name, own)]
        layout = "C" if choice.chance(0.5) else choice.one_of(layouts)
        return Input(dtype, own, layout, mood, choice.integer(0, 999))

    def resized(self, inputs: tuple[Input, ...]) -> dict[int, int] | None:
        """Draw other sizes for a second call; a size of 1 stays 1, so that the same code can serve it."""
        sizes = sorted({n for x in inputs for n in x.shape if n != 1})
        if not sizes or max(sizes) > 99 or any(x.kind == "captured" for x in inputs) or self.choice.chance(0.2):
            return None
        return {n: self.choice.one_of([m for m in SIZES if m != 1]) for n in sizes}

    # -- results

    def outputs(self, first: int) -> tuple[int, ...]:
        """Choose the last value, others that nothing reads, and now and then the same value twice."""
        if not self.steps:
            return (0,)
        last = len(self.values) - 1
        others = {k for k in range(first, last) if self.choice.chance(0.2)}
        unread = {k for k in range(first, last) if not any(k in references(s) for s in self.steps)}
        picked = [*sorted(others | unread)[-self.theme.outputs :], last]
        return (*picked, last) if self.choice.chance(0.03) else tuple(picked)

    def out(self, inputs: tuple[Input, ...], outputs: tuple[int, ...]) -> tuple[str, ...] | None:
        """Draw arrays of the caller for the results; some may be arguments."""
        if not self.choice.chance(0.2) or len(set(outputs)) < len(outputs):
            return None
        taken: list[str] = []
        for k in outputs:
            value = self.values[k]
            alike = [
                f"input {n}"
                for n, x in enumerate(inputs)
                if x.kind == "array" and x.shape == value.shape and x.dtype == value.dtype.name and x.layout in WRITABLE
            ]
            free = [a for a in alike if a not in taken]
            layouts = [name for name in WRITABLE if fits(name, value.shape)]
            taken.append(self.choice.one_of(free if free and self.choice.chance(0.6) else layouts))
        return tuple(taken)


def _is_usable(value: Any) -> bool:
    if not isinstance(value, (np.ndarray, np.generic)) or value.size > MAX_ELEMENTS or value.ndim > MAX_RANK:
        return False
    return value.dtype.name in {*DTYPES, *OTHERS}
