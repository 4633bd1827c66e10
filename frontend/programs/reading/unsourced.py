"""Decide from its bytecode whether a function whose source is not known may be traced.

It may if it runs straight through, stores only to its own variables, and calls only functions that are known to
compute.
"""

from __future__ import annotations

import builtins
import dis
from types import FunctionType
from typing import Any

from ....ir.source import ABSENT
from . import purity
from .allowed import is_known

ALLOWED_STORES = frozenset(("STORE_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_MAYBE_NULL"))
REFUSED = ("STORE_", "DELETE_", "IMPORT_", "SETUP_", "YIELD", "RAISE", "SEND", "GET_ITER", "MAKE_FUNCTION", "WITH_")
METHODS = purity.METHODS | purity.ATTRIBUTES


def why_not_traced(function: FunctionType) -> str | None:
    """Return why the function can't be traced, or None."""
    owner: Any = ABSENT
    constant: Any = ABSENT  # the one that was loaded last
    for instruction in dis.get_instructions(function.__code__):
        name = instruction.opname
        if "JUMP" in name or name == "FOR_ITER":
            return "it has branches or loops"
        if name == "IS_OP" and constant is not None and constant is not Ellipsis:
            return "it asks whether two values are one object"
        constant = instruction.argval if name == "LOAD_CONST" else ABSENT
        if name.startswith(REFUSED) and name not in ALLOWED_STORES:
            return "it changes more than its own variables"
        if name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"):
            owner = _value(function, instruction.opname, str(instruction.argval))
            if not is_known(owner) or (callable(owner) and not purity.is_pure(owner)):
                return f"it reads '{instruction.argval}' from outside"
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            owner = getattr(owner, str(instruction.argval), ABSENT) if owner is not ABSENT else ABSENT
            if owner is ABSENT and instruction.argval not in METHODS:
                return f"it looks up '{instruction.argval}'"
            if owner is not ABSENT and callable(owner) and not purity.is_pure(owner):
                return f"it calls '{instruction.argval}'"
        elif name not in ("CACHE", "PUSH_NULL", "EXTENDED_ARG", "PRECALL"):
            owner = ABSENT
    return None


def _value(function: FunctionType, kind: str, name: str) -> Any:
    if kind in ("LOAD_DEREF", "LOAD_CLASSDEREF"):
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        try:
            return cells[name].cell_contents if name in cells else ABSENT
        except ValueError:
            return ABSENT
    return function.__globals__.get(name, vars(builtins).get(name, ABSENT))
