"""Check definitions and reductions over indices, and find the names that their expressions can use.

These checks need no types: names that are taken, bounds that are not sizes, and functions that do not reduce.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...ir.errors import LimitExceeded, SyntaxProblem, TypeProblem, Unsupported, ValueProblem, nearest
from ..language import syntax
from ..language.modules import Unit
from ..language.syntax import Expr, index_name, within

Scope = dict[str, str]
Define = Callable[[syntax.Name, Scope, str], None]
INDEX = "an index"
MOST_INDICES = 64  # the most dimensions that a NumPy array can have
POSITIONS = frozenset(("argmin", "argmax", "nanargmin", "nanargmax"))
REDUCING = POSITIONS | {
    "sum", "prod", "min", "max", "amin", "amax", "any", "all", "ptp", "count_nonzero", "mean", "var", "std",
    "vector_norm", "nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd",
}  # fmt: skip
"""Functions that reduce over an index: `sum[p](x[p])`."""


def check_definition(statement: syntax.Definition, scope: Scope, in_fn: bool) -> None:
    """Refuse definitions in the wrong place, and those that use themselves."""
    name = statement.name.name
    if in_fn:
        hint = "define it in the kernel, and pass its elements"
        raise Unsupported("a fn works on single elements and can't define an array", statement.span, hint)
    if statement.mutable:
        hint = "define it with 'let', then copy it: var y = x"
        raise Unsupported("an array that is defined by its elements can't be a 'var'", statement.name.span, hint)
    if statement.other is not None and not any(isinstance(item, syntax.Range) for item in statement.indices):
        hint = "give the range in which the first expression holds, as in i in 1..n-1"
        raise ValueProblem("'else' needs an index with a range", statement.other.span, hint)
    if name in scope:
        return  # reported as defined twice
    bare = [e for e in within(statement.value) if isinstance(e, syntax.Name) and e.name == name]
    indexed = [e.value for e in within(statement.value) if isinstance(e, syntax.Index)]
    for expr in (e for e in bare if not any(e is x for x in indexed)):
        hint = f"read its earlier elements, as in {name}[i - 1]"
        raise Unsupported(f"'{name}' uses itself as a whole in its definition", expr.span, hint)
    for other in within(statement.other) if statement.other is not None else ():
        if isinstance(other, syntax.Name) and other.name == name:
            hint = "the elements after 'else' are the first ones; they can't depend on others"
            raise Unsupported(f"'{name}' uses itself after 'else'", other.span, hint)


def check_reduction(call: syntax.Call, in_fn: bool) -> None:
    """Refuse functions that do not reduce, and anything but a single expression to reduce."""
    callee = call.callee
    assert isinstance(callee, syntax.Index)
    if in_fn:
        raise Unsupported("a fn works on single elements and can't reduce", callee.span, "reduce in the kernel")
    if not isinstance(callee.value, syntax.Name):
        raise TypeProblem("only functions can be called", callee.span)
    name = callee.value.name
    if name not in REDUCING:
        hint = nearest(name, list(REDUCING)) or "use a reduction such as sum, prod, min, max, mean, any, all or argmax"
        raise TypeProblem(f"'{name}' does not reduce over an index", callee.value.span, hint)
    if sum(a.name is None for a in call.arguments) != 1:
        raise TypeProblem(f"'{name}[...]' takes one expression", call.span, f"write {name}[p](x[p])")
    for argument in call.arguments:
        if argument.name in ("axis", "keepdims", "where", "out"):
            hint = "the index chooses what is reduced; use 'a if c else b' to leave elements out"
            raise TypeProblem(f"'{name}[...]' has no argument '{argument.name}'", argument.span, hint)


def refuse_indices(expr: Expr, scope: Mapping[str, str], why: str, hint: str) -> None:
    """Refuse an index of the surrounding definition or reduction in an expression on whole arrays."""
    if INDEX not in scope.values():
        return
    for part in within(expr):
        if isinstance(part, syntax.Name) and scope.get(part.name) == INDEX:
            raise TypeProblem(f"{why}, but '{part.name}' is an index", part.span, hint)


def bind_indices(items: Sequence[Expr], scope: Scope, unit: Unit, define: Define) -> Scope:
    """Return the names that are visible inside brackets that bind these indices."""
    inner = dict(scope)
    for item in items:
        name = index_name(item)
        if name is None:
            hint = "write c[i, j] or c[i in 1..n]; slices and numbers are not allowed here"
            raise SyntaxProblem("an index must be a name", item.span, hint)
        bounds = (item.start, item.stop) if isinstance(item, syntax.Range) else ()
        for expr in (e for bound in bounds for e in within(bound)):
            if isinstance(expr, syntax.Name) and scope.get(expr.name) == INDEX:
                hint = "use a condition to leave elements out: sum[p](x[p] if p <= i else 0)"
                raise TypeProblem(f"the bounds of a range must be sizes, not the index '{expr.name}'", expr.span, hint)
        found = unit.names.get(name.name)
        if found is not None and isinstance(found.item, syntax.Const):
            raise ValueProblem(f"'{name.name}' is already defined", name.span, "it is a const, so choose another name")
        define(name, inner, INDEX)
    if sum(what == INDEX for what in inner.values()) > MOST_INDICES:
        hint = "split the expression into several arrays"
        raise LimitExceeded(f"an array can have at most {MOST_INDICES} indices", items[-1].span, hint)
    return inner
