"""Translate users' names of ops and dtypes to those of the tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.dtypes import BY_NAME, DType, from_numpy, parse
from ...ir.ops import TABLE, OpDef


def known_op(name: str) -> OpDef | None:
    """Return the op of the fixed table with this name or NumPy's name."""
    from ...frontend.numpy.elementwise import ALIASES, OP_NAMES

    name = ALIASES.get(name, name)
    return TABLE.get(OP_NAMES.get(name, name))


def canonical(op: str) -> str:
    """Translate NumPy's name of an op to the table's."""
    known = known_op(op) if isinstance(op, str) else None
    return op if known is None else known.name


def dtype_of(given: Any) -> DType:
    """Return the dtype for a `DType`, its name, or anything that NumPy accepts as a dtype."""
    if isinstance(given, DType):
        return given
    if isinstance(given, str) and given in BY_NAME:
        return parse(given)
    try:
        return from_numpy(np.dtype(given))
    except TypeError:
        return parse(str(given))
