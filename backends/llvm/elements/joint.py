"""List ops that share work: each op, with a function that computes several values and which of them belongs to the op.

Two such ops on the same operands, such as quotient and remainder, are computed once; `elements` remembers the values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from ....ir.dtypes import DType
from ....ir.graph import Node
from ....ir.ops import COMPLEX_FUNCTION, TABLE, OpDef
from ....ir.tuples import NamedTuple
from ....ir.types import Attr
from ..code.text import Emitter, Val
from ..math import division
from . import floats, integers

Several = Callable[..., tuple[Val, ...]]


class Joint(NamedTuple):
    """A function of several values, and which one is the op's; if None, the attribute `part` tells."""

    function: Several
    position: int | None = None

    def place(self, attrs: Mapping[str, Attr]) -> int:
        place = attrs["part"] if self.position is None else self.position
        assert isinstance(place, int)
        return place


def _floor_divmod(e: Emitter, dtype: DType, a: Val, b: Val) -> tuple[Val, ...]:
    return division.floor_divmod(e, a, b) if dtype.kind == "float" else integers.floor_divmod(e, dtype, a, b)


def _frexp(e: Emitter, dtype: DType, x: Val) -> tuple[Val, ...]:
    return floats.frexp(e, x)


def _modf(e: Emitter, dtype: DType, x: Val) -> tuple[Val, ...]:
    return floats.modf(e, x)


_BY_NAME: Mapping[str, Joint] = {
    "floor_divide": Joint(_floor_divmod, 0),
    "remainder": Joint(_floor_divmod, 1),
    "frexp_mantissa": Joint(_frexp, 0),
    "frexp_exponent": Joint(_frexp, 1),
    "modf_fraction": Joint(_modf, 0),
    "modf_whole": Joint(_modf, 1),
}
JOINT: Mapping[OpDef, Joint] = {TABLE[name]: joint for name, joint in _BY_NAME.items()}


def joint_of(node: Node) -> Joint | None:
    """The joint function of an op, if it has one."""
    return _complex(str(node.attrs["function"])) if node.op is COMPLEX_FUNCTION else JOINT.get(node.op)


@cache
def _complex(name: str) -> Joint:
    from ..math.complex_table import COMPLEX  # most programs have no complex numbers

    function = COMPLEX[name]
    return Joint(lambda e, dtype, *parts: function(e, *parts))
