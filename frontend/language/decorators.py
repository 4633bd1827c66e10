"""Read the `@impl(...)` of a kernel, which registers it as an implementation of an op."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.errors import Span, TypeProblem, UnknownName, ValueProblem, nearest
from . import syntax
from .syntax import Expr

# What each argument must be, and its name in a registration.
TEXT, TEXTS, SIZE = "a string", "a string or several in ( )", "a whole number"
ARGUMENTS = {
    "op": ("op", TEXT), "variant": ("variant", TEXT), "hint": ("hints", TEXTS), "hints": ("hints", TEXTS),
    "requires": ("requires", TEXTS), "min_size": ("min_size", SIZE), "max_size": ("max_size", SIZE),
}  # fmt: skip
EXAMPLE = '"vectorized"'
Value = str | int | tuple[str, ...]


def implementation(item: syntax.Function) -> Mapping[str, Value] | None:
    """Return the arguments of a kernel's `@impl` by their names in a registration, or None without an `@impl`."""
    if not item.decorators:
        return None
    first, *others = item.decorators
    if others:
        raise ValueProblem(
            "a kernel can have only one @impl", others[0].span, "write a second kernel that calls the first"
        )
    if not item.is_kernel:
        raise TypeProblem(f"@impl must be written before a kernel, but '{item.name.name}' is a fn", first.span)
    found: dict[str, Value] = {}
    for argument in first.arguments:
        if argument.name is None:
            raise TypeProblem("the arguments of @impl must be named", argument.span, 'as in @impl(op="softmax")')
        if argument.name not in ARGUMENTS:
            hint = nearest(argument.name, list(ARGUMENTS)) or f"the arguments are {', '.join(ARGUMENTS)}"
            raise UnknownName(f"@impl has no argument '{argument.name}'", argument.span, hint)
        name, wanted = ARGUMENTS[argument.name]
        if name in found:
            raise ValueProblem(f"'{argument.name}' is given twice", argument.span)
        found[name] = _value(argument.value, argument.name, wanted, argument.span)
    if "op" not in found:
        raise TypeProblem("@impl needs the name of an op", first.span, 'as in @impl(op="softmax")')
    return found


def _value(expr: Expr, name: str, wanted: str, span: Span) -> Value:
    value = expr.value if isinstance(expr, syntax.Literal) else None
    if wanted == SIZE and type(value) is int:
        return value
    if wanted != SIZE and isinstance(value, str):
        return value
    items = [e.value for e in expr.items if isinstance(e, syntax.Literal)] if isinstance(expr, syntax.TupleOf) else []
    if wanted == TEXTS and isinstance(expr, syntax.TupleOf) and len(items) == len(expr.items):
        texts = tuple(x for x in items if isinstance(x, str))
        if len(texts) == len(items):
            return texts
    raise TypeProblem(f"'{name}' must be {wanted}", span, f"as in {name}={'1024' if wanted == SIZE else EXAMPLE}")
