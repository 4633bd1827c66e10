"""Describe an `extern kernel` to the library loader, and make the nodes that call it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import Size, symbol
from ...ir.errors import LibraryProblem, ShapeProblem, Span, TypeProblem, ValueProblem
from ...ir.externs import ExternArray, ExternCall, ExternDim, ExternKernel, ExternSource
from ...ir.graph import Value
from ...ir.ops import NUMPY
from ...ir.types import Attr, TensorType
from ..language import syntax
from ..language.declared import Declared, declare, parameter
from ..language.modules import LoadedDefinition, Unit
from .expressions import Expressions
from .frame import Environment

_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


def open_externs(unit: Unit, source: ExternSource | None) -> None:
    """Open the libraries that a file names; it is an error to name one if libraries are not allowed."""
    for found in unit.own.values():
        if isinstance(found.item, syntax.Extern):
            if source is None:
                raise LibraryProblem(
                    f"'{found.name}' calls a shared library, which is not allowed by default",
                    found.item.span,
                    "allow it with weft.load(path, libraries=True); loading a library runs its code",
                )
            unit.externs[found.name] = source.open(_described(found, found.item))


def check_extern(item: syntax.Extern) -> None:
    """Check the extra rules for extern kernels."""
    specs = [p.type for p in item.params if p.type is not None] + [o.type for o in item.outputs or ()]
    for declared in (declare(spec, computed=True) for spec in specs):
        if declared.dtype is None:
            hint = "declare one extern kernel for each dtype"
            raise TypeProblem(
                f"each value of an extern kernel must have one dtype, not '{declared}'", declared.span, hint
            )
    if not any(... in (declare(p.type).dims or ()) for p in item.params if p.type is not None):
        for output in item.outputs or ():
            if ... in (declare(output.type, computed=True).dims or ()):
                raise ShapeProblem(
                    "a result can't have '...' when no parameter has it",
                    output.type.span,
                    "name the result's dimensions",
                )
    if not _SYMBOL.fullmatch(item.symbol):
        raise ValueProblem(f"'{item.symbol}' is not the name of a C function", item.span)
    if not item.library or "\0" in item.library:
        raise ValueProblem(f"'{item.library}' is not the path of a library", item.span)


def _described(definition: LoadedDefinition, item: syntax.Extern) -> ExternKernel:
    parameters = tuple(_array(parameter(p).type, {}, definition.unit) for p in item.params)
    names = {d: symbol(d) for p in map(parameter, item.params) for d in p.type.names}
    results = tuple(_array(declare(o.type, computed=True), names, definition.unit) for o in item.outputs or ())
    file = definition.unit.source.file
    return ExternKernel(definition.name, parameters, results, item.library, item.symbol, file, item.span)


def _array(declared: Declared, sizes: Mapping[str, Size], unit: Unit) -> ExternArray:
    assert declared.dtype is not None
    found: list[ExternDim] = []
    for spec in declared.dims or ():
        if spec is ...:
            found.append(...)
        elif isinstance(spec, str):
            found.append(symbol(spec))
        else:
            found.append(spec if isinstance(spec, int) else _formula(spec, sizes, unit))
    return ExternArray(declared.dtype, tuple(found))


def _formula(expr: syntax.Expr, sizes: Mapping[str, Size], unit: Unit) -> Size:
    def refuse(definition: LoadedDefinition, args: object, kwargs: object, span: Span) -> object:
        raise TypeProblem(f"'{definition.name}' can't be called in a size", span)

    return Expressions(Builder("extern"), refuse, None).size(expr, Environment(unit, False, {}, dict(sizes)))


class ExternCalls:
    """The calls of extern kernels in one graph, by number."""

    def __init__(self) -> None:
        self.made: list[ExternCall] = []

    def add(
        self,
        builder: Builder,
        definition: LoadedDefinition,
        operands: Sequence[Value],
        sizes: Mapping[str, Size],
        span: Span,
    ) -> list[Value]:
        """Add a node that runs between compiled pieces; `sizes` are the sizes of the named dimensions."""
        item = definition.item
        assert isinstance(item, syntax.Extern)
        extern = _described(definition, item)
        pairs = zip(extern.parameters, operands, strict=True)
        free = [_leading(p.dims, v.type.shape) for p, v in pairs if ... in p.dims]
        leading = builder.facts.broadcast(free) if free else ()
        types = []
        for result in extern.results:
            shape: list[Size] = []
            for dim in result.dims:
                shape += leading if dim is ... else [_placed(dim, sizes)]
            types.append(TensorType(result.dtype, tuple(shape)))
        attrs: dict[str, Attr] = {"function": definition.name, "call": len(self.made)}
        if scalars := tuple(k for k, t in enumerate(types) if not t.shape):
            attrs["scalars"] = scalars
        node = builder.node(NUMPY, operands, attrs, span, types=tuple(types))
        self.made.append(definition.unit.externs[definition.name])
        return list(node.results)


def _leading(specs: tuple[ExternDim, ...], shape: tuple[Size, ...]) -> tuple[Size, ...]:
    before = specs.index(...)
    return shape[before : len(shape) - (len(specs) - before - 1)]


def _placed(dim: Size, sizes: Mapping[str, Size]) -> Size:
    """Translate a formula of declared names to the graph's sizes; it is never negative."""
    return dims.maximum(dims.substitute(dim, sizes), 0)
