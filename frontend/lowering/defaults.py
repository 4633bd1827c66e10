"""Compute the default values of parameters: numbers that are known when a file is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.builder import Builder
from ...ir.errors import ShapeProblem, Span, SyntaxProblem, TypeProblem
from ...ir.facts import Facts
from ...ir.source import Number
from ..language import syntax
from ..language.declared import Declared, declare
from ..language.modules import LoadedDefinition, Unit
from ..maker import fits
from ..weak import dtype_of
from .binding import dtype_of_number
from .expressions import Expressions
from .frame import Environment, Thing


def defaults_of(params: Sequence[syntax.Param], unit: Unit) -> dict[str, Number]:
    """Return the numbers of the parameters that have a default."""
    return {p.name: _number(p.default, unit) for p in params if p.default is not None}


def check_defaults(params: Sequence[syntax.Param], unit: Unit) -> None:
    """Check that defaults come last, belong to scalars, and are numbers of the declared type."""
    first: syntax.Param | None = None
    for param in params:
        if param.default is None:
            if first is not None:
                hint = f"give it one too, or put it before '{first.name}'"
                why = f"'{param.name}' has no default, but '{first.name}' before it has"
                raise SyntaxProblem(why, param.span, hint)
            continue
        first = first or param
        declared = declare(param.type, is_parameter=True) if param.type is not None else None
        if declared is not None and declared.dims is not None and not declared.is_size:
            raise ShapeProblem(
                "only a scalar can have a default", param.default.span, "leave it out, or declare a scalar"
            )
        _check_number(param.name, declared, _number(param.default, unit), param.default.span)


def _check_number(name: str, declared: Declared | None, number: Number, span: Span) -> None:
    if declared is None:
        return
    if declared.is_size:
        fitting = type(number) is int and number >= 0
    elif isinstance(number, bool):
        fitting = declared.name in ("bool", "any")
    else:
        found = dtype_of_number(dtype_of(number), declared.dtype, declared.name)
        is_whole = found is not None and found.is_integer and not found.weak
        fitting = found is not None and (not is_whole or fits(int(number.real), found))
    if not fitting:
        written = "" if span.text is None else f" {span.text[span.column - 1 :][: span.length]}"
        raise TypeProblem(
            f"'{name}' is declared {declared}, which can't be{written}", span, "change the type or the default"
        )


def _number(expr: syntax.Expr, unit: Unit) -> Number:
    expressions = Expressions(Builder("default", Facts()), _refuse_call, None)
    found = expressions.value(expr, Environment(unit, True, {}, {}))
    if isinstance(found, (bool, int, float, complex)):
        return found
    hint = "write a number, or a formula of numbers and of consts without a type"
    raise TypeProblem("a default must be a number that is known when the file is loaded", expr.span, hint)


def _refuse_call(definition: LoadedDefinition, args: Sequence[Thing], kwargs: Mapping[str, Thing], span: Span) -> Thing:
    raise TypeProblem(f"a default can't call '{definition.name}'", span, "write the number, or name it by a const")
