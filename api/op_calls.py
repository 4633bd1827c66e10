"""Call ops by name, on arrays, traced values and expressions.

weft.ops.softmax(x)                          an array
weft.call("add", a, b)                       an array
weft.jit(lambda x: weft.ops.cube(x) + 1)     part of the graph
weft.ops.gelu(weft.tensor("x", "f32[n]"))    part of the expression
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from .frontend.numpy.elementwise import ALIASES, OP_NAMES
from .frontend.numpy.functions import FUNCTIONS
from .frontend.tracing.named_ops import NamedOp
from .function import JitFunction, traced
from .ir.errors import TypeProblem, UnknownName, nearest
from .settings import default_options, registry

__all__ = ["Ops", "call", "ops"]

_NUMPY = {ours: numpy for numpy, ours in OP_NAMES.items()}


class Ops:
    """All functions of the language and all registered ops, as attributes: `weft.ops.softmax(x)`."""

    def __getattr__(self, name: str) -> NamedOp:
        known = _NUMPY.get(name, name)
        known = ALIASES.get(known, known)
        if name.startswith("__") or (known not in FUNCTIONS and registry.find_op(known) is None):
            raise UnknownOp(f"no op is called '{name}'", hint=nearest(name, dir(self)))
        found = self.__dict__[name] = _named(known)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*FUNCTIONS, *registry.op_names()})

    def __repr__(self) -> str:
        return f"<weft ops: {len(dir(self))} functions>"


class UnknownOp(UnknownName, AttributeError):
    """Raised when no op has this name."""


class _Names:
    """Clear the cached attributes of `ops` when the registry changes."""

    def forget(self) -> None:
        ops.__dict__.clear()


ops, _names = Ops(), _Names()
registry.watch(_names)


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call an op by name. `weft.call("add", a, b)` is `weft.ops.add(a, b)`.

    name: a function of the language or a registered op.
    args, kwargs: its operands, and options such as `axis=0`.
    """
    if not isinstance(name, str):
        raise TypeProblem(f"the name of an op must be a string, not {name!r}", hint='write weft.call("add", a, b)')
    return getattr(ops, name)(*args, **kwargs)


@cache
def _named(name: str) -> NamedOp:
    """Make one object for each name; it keeps the code compiled for it."""
    return NamedOp(name, registry, _compiled)


def _compiled(op: NamedOp, count: int, fixed: Mapping[str, Any]) -> JitFunction:
    try:
        return _function(op, count, tuple(fixed.items()))
    except TypeError as error:
        raise TypeProblem(f"'{op.name}': an argument other than the operands must be hashable: {error}") from error


@lru_cache(256)
def _function(op: NamedOp, count: int, fixed: tuple[tuple[str, Any], ...]) -> JitFunction:
    """Make the jitted function of `count` arrays; `fixed` holds the other arguments."""

    def apply(*operands: Any) -> Any:
        return op.traced(operands, dict(fixed))

    places = [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(count)]
    apply.__name__ = op.name
    apply.__signature__ = inspect.Signature(places)  # type: ignore[attr-defined]
    return traced(apply, (), default_options(), whole=True)
