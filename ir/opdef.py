"""Define what an operation is: name, rules, traits and NumPy meaning, with shortcuts to declare one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import cache
from typing import Any

import numpy as np

from . import rules
from .dtypes import DType
from .records import record
from .rules import DTypeRule, ShapeRule


class Trait(Enum):
    """Properties of ops that passes and backends rely on."""

    ELEMENTWISE = auto()  # an element of the result needs the elements at the same index
    REDUCTION = auto()
    VIEW = auto()  # an element of the result is an element of the operand
    COMMUTATIVE = auto()
    EXPENSIVE = auto()  # not worth computing twice
    SCALAR = auto()  # NumPy gives a scalar where the result has no dimensions
    BARRIER = auto()  # never part of a fused region
    STRUCTURAL = auto()  # passes and backends have special code for this op

    __hash__ = object.__hash__  # that of `Enum` is written in Python, and every pass asks for traits


@record(eq=False)
class OpDef:
    """One operation. `numpy` is its meaning, on arrays and with the attributes as keywords.

    `attributes` is the schema of its own attributes (`schemas.py`); every op may have a few more.
    """

    name: str
    arity: int | None
    dtypes: DTypeRule
    shapes: ShapeRule
    traits: frozenset[Trait]
    doc: str
    numpy: Callable[..., Any] | None = None
    attributes: str = ""

    def __repr__(self) -> str:
        return f"OpDef({self.name})"


def commutes(op: OpDef, operands: Sequence[DType]) -> bool:
    """Tell whether operands may be swapped. For complex products they may not: the order changes the last bit."""
    return Trait.COMMUTATIVE in op.traits and all(d.kind != "complex" for d in operands)


@cache
def _traits(names: str) -> frozenset[Trait]:
    return frozenset(Trait[name.upper()] for name in names.split())


def make_op(
    name: str,
    arity: int | None,
    dtypes: DTypeRule,
    shapes: ShapeRule,
    traits: str,
    doc: str,
    numpy: Callable[..., Any] | None = None,
    attributes: str = "",
) -> OpDef:
    return OpDef(name, arity, dtypes, shapes, _traits(traits), doc, numpy, attributes)


def ufunc_op(name: str, ufunc: np.ufunc, doc: str, traits: str = "") -> OpDef:
    return make_op(
        name, ufunc.nin, rules.ufunc_dtypes(ufunc), rules.elementwise, f"elementwise scalar {traits}", doc, ufunc
    )


def logical_op(name: str, ufunc: np.ufunc, doc: str, traits: str = "") -> OpDef:
    return make_op(name, ufunc.nin, rules.logical_dtypes, rules.elementwise, f"elementwise scalar {traits}", doc, ufunc)


def part_op(name: str, ufunc: np.ufunc, part: int, doc: str) -> OpDef:
    """One result of a ufunc that has several."""
    rule = rules.one_result(rules.ufunc_dtypes(ufunc), part)
    return make_op(
        name, ufunc.nin, rule, rules.elementwise, "elementwise scalar", doc, lambda *operands: ufunc(*operands)[part]
    )


def special_op(name: str, meaning: Callable[[Any], Any], doc: str) -> OpDef:
    return make_op(name, 1, rules.special_dtypes(name), rules.elementwise, "elementwise scalar expensive", doc, meaning)
