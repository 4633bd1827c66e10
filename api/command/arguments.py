"""Turn the text of `--arg` into a number or an array. The text is only parsed, never executed.

3   -0.5   true   3:i64   data.npy   randn(1024,512):f32   full(2.5,4,3)   arange(10)
"""

from __future__ import annotations

import math
import os
import re
from typing import Any

import numpy as np

from ..frontend.language.declared import Declared, Parameter
from ..ir import dtypes
from ..ir.dtypes import DType
from ..ir.errors import OverflowProblem, SyntaxProblem, TypeProblem, UnknownName, ValueProblem, WeftError, nearest
from ..ir.records import record
from .files import read_array
from .generators import GENERATORS, Array, Number
from .types import CLASS_DEFAULTS

_CALL = re.compile(r"(\w+)\s*\(([^()]*)\)\s*(?::\s*(\w+))?")
_TYPED = re.compile(r"([^:]*):\s*(\w+)")
_WORDS = {"true": True, "True": True, "false": False, "False": False}


@record
class Generated:
    """An array to generate, such as `randn(4, 3)`, with its dtype if one was given."""

    generator: str
    numbers: tuple[Number, ...]
    dtype: DType | None


@record
class Stored:
    """An array in a `.npy` file."""

    path: str


def value_of(param: Parameter, text: str, seed: int, position: int) -> Any:
    """Make the argument for a parameter. Generated data depends only on the seed and the parameter's position."""
    try:
        parsed = parse_value(text)
        if isinstance(parsed, Stored):
            return read_array(parsed.path)
        if isinstance(parsed, Generated):
            return _generate(parsed, param.type, np.random.default_rng((seed, position)))
        return parsed
    except WeftError as error:
        raise type(error)(f"--arg {param.name}={text}: {error.message}", error.span, error.hint) from error


def parse_value(text: str) -> bool | int | float | np.generic | Generated | Stored:
    """Parse the text of one argument."""
    if text.endswith(".npy"):
        return Stored(text)
    if call := _CALL.fullmatch(text):
        name, inside, dtype = call.groups()
        if name not in GENERATORS:
            hint = nearest(name, list(GENERATORS)) or f"there are {', '.join(GENERATORS)}"
            raise UnknownName(f"unknown generator '{name}'", hint=hint)
        numbers = tuple(_number(part) for part in inside.split(",")) if inside.strip() else ()
        return Generated(name, numbers, dtypes.parse(dtype) if dtype else None)
    if os.path.splitext(text)[1] == ".npz":
        raise ValueProblem("an argument must be one array, not an .npz file", hint="save it as .npy with np.save")
    if typed := _TYPED.fullmatch(text):
        wanted = dtypes.parse(typed.group(2))
        scalar: np.generic = wanted.numpy.type(_converted(np.asarray(_number(typed.group(1))), wanted, "it")[()])
        return scalar
    return _number(text)


def _number(text: str) -> bool | int | float:
    text = text.strip()
    if text in _WORDS:
        return _WORDS[text]
    for kind in (int, float):
        try:
            found = kind(text)
        except ValueError:
            continue
        if _is_too_large(found, text):
            raise OverflowProblem("the number does not fit in 64 bits", hint="write inf for infinity")
        return found
    raise SyntaxProblem(
        f"'{text}' is not a number", hint="give a number, a .npy file or a generator such as randn(4,3):f32"
    )


def _is_too_large(number: float, text: str) -> bool:
    """Tell whether an integer needs more than 64 bits, or a float literal overflowed to infinity."""
    if isinstance(number, int):
        return not -(1 << 63) <= number < 1 << 64
    return math.isinf(number) and text[-1].isdecimal()


def _generate(what: Generated, declared: Declared, random: np.random.Generator) -> Array:
    generator = GENERATORS[what.generator]
    made = generator.make(what.numbers, random)
    natural = generator.dtype or dtypes.from_numpy(made.dtype)
    return _converted(made, what.dtype or _fitting(declared, natural), what.generator)


def _fitting(declared: Declared, natural: DType) -> DType:
    """Return the declared dtype. For a class, return NumPy's own choice if the class contains it."""
    if declared.dtype is not None:
        return declared.dtype
    return natural if declared.accepts(natural) else CLASS_DEFAULTS[declared.name]


def _converted(made: Array, dtype: DType, maker: str) -> Array:
    """Convert values to a dtype; refuse to drop fractions or to wrap around."""
    target = dtype.numpy
    if dtype.kind in ("float", "complex"):
        with np.errstate(over="ignore"):
            converted = made.astype(target, copy=False)
        if np.isfinite(made).all() and not np.isfinite(converted).all():
            raise ValueProblem(f"a number is too large for {dtype}")
        return converted
    if made.dtype.kind == "f":
        what = f"{made} is not a whole number" if not made.ndim else f"{maker} makes fractions here"
        raise TypeProblem(f"{what}, but the dtype is {dtype}", hint="use whole numbers, as from arange or randint")
    least, most = (int(made.min()), int(made.max())) if made.size else (0, 0)
    low, high = _range(dtype)
    if least < low or most > high:
        raise ValueProblem(f"values from {least} to {most} do not fit in {dtype}, which holds {low} to {high}")
    return made.astype(target, copy=False)


def _range(dtype: DType) -> tuple[int, int]:
    if dtype.kind == "bool":
        return 0, 1
    limits = np.iinfo(dtype.numpy)
    return int(limits.min), int(limits.max)
