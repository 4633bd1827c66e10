"""Turn declared parameters and the text of `--types` into a compile request.

A size stands for any size: a graph only knows which sizes are 1 and which share a name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ..frontend.language.declared import Declared, Parameter
from ..frontend.language.source import LanguageKernel
from ..frontend.lowering.binding import split
from ..ir import dims, dtypes
from ..ir.dtypes import DType
from ..ir.errors import SyntaxProblem, TypeProblem, UnknownName, nearest
from ..ir.layouts import classify
from ..ir.orders import dense
from ..ir.records import record
from ..ir.source import ArgType
from ..ir.types import TensorType
from ..runtime.compiler import Request

CLASS_DEFAULTS = {
    "int": dtypes.I32,
    "uint": dtypes.U32,
    "float": dtypes.F32,
    "complex": dtypes.C64,
    "number": dtypes.F32,
    "any": dtypes.F32,
}
_ENTRY = re.compile(r"\s*(\w+)\s*=\s*(\w+)\s*(?:\[([^\[\]]*)\])?\s*(?:[,;]|$|(?=\s\w))")
_ANY_SIZE = "?"
_FIRST_STAND_IN = 1001  # stand-ins are distinct sizes other than 1
_EXAMPLE = 'write --types "x=f32[?,?], k=i32"'


@record
class Given:
    """A type given with `--types`; its sizes are numbers, `?` or names."""

    dtype: DType
    sizes: tuple[str, ...]
    text: str


def parse_types(texts: Sequence[str]) -> dict[str, Given]:
    """Parse the types by parameter."""
    found: dict[str, Given] = {}
    for text in texts:
        at = 0
        while at < len(text.rstrip()):
            match = _ENTRY.match(text, at)
            if match is None:
                raise SyntaxProblem(f"--types can't read '{text[at:].strip()}'", hint=_EXAMPLE)
            name, dtype, inside = match.groups()
            if name in found:
                raise SyntaxProblem(f"--types gives '{name}' twice", hint=_EXAMPLE)
            sizes = tuple(part.strip() for part in inside.split(",")) if inside and inside.strip() else ()
            shown = f"{dtype}[{','.join(sizes)}]" if inside is not None else dtype
            found[name] = Given(_dtype(name, dtype), sizes, shown)
            at = match.end()
    return found


def request_for(kernel: LanguageKernel, given: Mapping[str, Given]) -> Request:
    """Make a request for these types. Other parameters have their declared types. All arrays are in C order."""
    for name in given:
        if name not in kernel.parameters:
            hint = nearest(name, list(kernel.parameters)) or f"it is declared {kernel.signature}"
            raise UnknownName(f"{kernel.name} has no argument '{name}'", hint=hint)
    wanted = [(p, given.get(p.name) or _default(p.type)) for p in kernel.declared]
    axes = [_axes(param, type_) for param, type_ in wanted]
    stand_ins = _StandIns(axes)
    args = [ArgType(type_.dtype, tuple(map(stand_ins.size, own))) for (_, type_), own in zip(wanted, axes, strict=True)]
    strides = [tuple(a.dtype.size * s for s in dense(a.shape, tuple(range(len(a.shape))))) for a in args]
    layouts = [classify(a.shape, s, a.dtype.size) for a, s in zip(args, strides, strict=True)]
    return Request(args, layouts, [a.shape for a in args], strides)


def request_for_types(types: Sequence[TensorType], layouts: Sequence[str] | None) -> Request:
    """Make a request for a graph's types, with a distinct number for each size, in these layout classes or C."""
    env: dict[str, int] = {}
    for name in sorted({name for t in types for size in t.shape for name in dims.symbols(size)}):
        env[name] = _FIRST_STAND_IN + len(env)
    args = [ArgType(t.dtype, tuple(dims.evaluate(size, env) for size in t.shape)) for t in types]
    strides = [tuple(a.dtype.size * s for s in dense(a.shape, tuple(range(len(a.shape))))) for a in args]
    own = [classify(a.shape, s, a.dtype.size) for a, s in zip(args, strides, strict=True)]
    return Request(args, layouts or own, [a.shape for a in args], strides)


@record
class _Leading:
    """A dimension of `...`, counted from the right; its size is the same in every parameter, or 1."""

    place: int


@record
class _Axis:
    """A dimension of an argument: the key of its size, and the number if it is known."""

    shared: object
    number: int | None


class _StandIns:
    """Choose a number for each size: the known number, or a new one for each name."""

    def __init__(self, arguments: Sequence[Sequence[_Axis]]) -> None:
        self._known: dict[object, int] = {}
        axes = [axis for argument in arguments for axis in argument]
        for axis in axes:
            broadcasts = axis.number == 1 and isinstance(axis.shared, _Leading)
            if axis.number is not None and not broadcasts:
                self._known.setdefault(axis.shared, axis.number)
        for axis in axes:
            self._known.setdefault(axis.shared, _FIRST_STAND_IN + len(self._known))

    def size(self, axis: _Axis) -> int:
        return self._known[axis.shared] if axis.number is None else axis.number


def _axes(param: Parameter, given: Given) -> list[_Axis]:
    specs = param.type.dims or ()
    before, taken = split(specs, len(given.sizes))
    spread: list[object] = [*specs[:before], *map(_Leading, range(taken, 0, -1)), *specs[before + 1 :]]
    if taken < 0 or len(spread) != len(given.sizes) or not param.type.accepts(given.dtype):
        raise TypeProblem(f"--types: {given.text} does not match '{param.name}', which is declared {param.type}")
    return [_axis(param.name, given, k, spec) for k, spec in enumerate(spread)]


def _axis(name: str, given: Given, k: int, spec: object) -> _Axis:
    text = given.sizes[k]
    if not text.isdecimal() and text not in (_ANY_SIZE, spec):
        hint = "write '?' for any size, a number, or the declared name"
        raise SyntaxProblem(f"--types: '{text}' in {name}={given.text} is not a size", hint=hint)
    if isinstance(spec, int):
        return _Axis((name, k), int(text) if text.isdecimal() else spec)
    return _Axis(spec, int(text) if text.isdecimal() else None)


def _default(declared: Declared) -> Given:
    dtype = declared.dtype or CLASS_DEFAULTS[declared.name]
    return Given(dtype, (_ANY_SIZE,) * len(declared.dims or ()), str(declared))


def _dtype(name: str, text: str) -> DType:
    if text in dtypes.CLASSES:
        raise TypeProblem(f"--types: '{name}' needs a dtype, not the class '{text}'", hint="use f32, i64 or another")
    try:
        return dtypes.parse(text)
    except TypeProblem as error:
        raise TypeProblem(f"--types: {error.message}", hint=error.hint or _EXAMPLE) from None
