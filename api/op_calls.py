"""Ops by name: `weft.ops.softmax(x)` and `weft.call("add", a, b)`, on arrays, on traced values and on expressions.

weft.ops.softmax(x)                          an array
weft.jit(lambda x: weft.ops.cube(x) + 1)     part of the graph
weft.ops.gelu(weft.tensor("x", "f32[n]"))    part of the expression
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from .frontend.elementwise import ALIASES, OP_NAMES
from .frontend.functions import FUNCTIONS
from .frontend.named_ops import NamedOp
from .function import Function, traced
from .ir.errors import UnknownName, nearest
from .settings import default_options, registry

__all__ = ["Ops", "call", "ops"]

_NUMPY = {ours: numpy for numpy, ours in OP_NAMES.items()}


class Ops:
    """The functions of the language and the registered ops, as attributes."""

    def __getattr__(self, name: str) -> NamedOp:
        known = _NUMPY.get(name, name)
        if name.startswith("__") or (known not in FUNCTIONS and registry.find_op(known) is None):
            hint = nearest(name, dir(self))
            raise UnknownOp(f"no op is called '{name}'", hint=hint)
        return NamedOp(ALIASES.get(known, known), registry, _run)

    def __dir__(self) -> list[str]:
        return sorted({*FUNCTIONS, *registry.op_names()})

    def __repr__(self) -> str:
        return f"<weft ops: {len(dir(self))} functions>"


class UnknownOp(UnknownName, AttributeError):
    """A name that no op has."""


ops = Ops()


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """Runs the op with this name: `weft.call("add", a, b)`."""
    return getattr(ops, name)(*args, **kwargs)


def _run(op: NamedOp, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    out = {"out": kwargs["out"]} if "out" in kwargs else {}
    fixed = tuple((key, value) for key, value in kwargs.items() if key != "out")
    return _compiled(op, len(args), fixed)(*args, **out)


@lru_cache(256)
def _compiled(op: NamedOp, count: int, fixed: tuple[tuple[str, Any], ...]) -> Function:
    """The function of so many arrays; `fixed` are its other arguments."""

    def apply(*operands: Any) -> Any:
        return op(*operands, **dict(fixed))

    places = [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(count)]
    apply.__name__ = op.name
    apply.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]
    return traced(apply, (), default_options())
