"""Parse the types of tensors from text, and bind their sizes to the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...ir.dims import Size, symbol
from ...ir.dtypes import CLASSES, DType, parse
from ...ir.errors import ShapeProblem, Span, SyntaxProblem, TypeProblem, quantity
from ...ir.source import ArgType, Binding
from ...ir.types import TensorType

_TYPE = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\[\]]*)\])?\s*")
_KINDS = ("bool", "uint", "int", "float", "complex")


def parsed(text: object, span: Span | None) -> TensorType:
    """Parse a type such as `f32[n, 3]`; names are symbolic sizes."""
    match = _TYPE.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise SyntaxProblem(f"{text!r} is not a type", span, "write a dtype and its dimensions, as in 'f32[n, m]'")
    name, inside = match.groups()
    if name in CLASSES:
        raise TypeProblem(f"'{name}' is a class of dtypes; a tensor needs one dtype", span, "write f32, i64 and so on")
    try:
        dtype = parse(name)
    except TypeProblem as error:
        raise TypeProblem(error.message, span, error.hint) from None
    if inside is None:
        return TensorType(dtype)
    return TensorType(dtype, tuple(_size(part.strip(), str(text), span) for part in inside.split(",")))


def _size(part: str, text: str, span: Span | None) -> Size:
    if part.isdecimal():
        return int(part)
    if part.isidentifier():
        return symbol(part)
    raise SyntaxProblem(f"'{part}' in {text!r} is not a dimension", span, "use a name or a number, as in 'f32[n, 3]'")


def bound(kernel: str, declared: Mapping[str, TensorType], args: Sequence[ArgType]) -> Binding:
    """Check the arguments and find the sizes of the names; a name of size 1 becomes the number."""
    if len(args) != len(declared):
        names = ", ".join(declared) or "none"
        raise TypeProblem(f"{kernel} takes {quantity(len(declared), 'argument')} ({names}), not {len(args)}")
    sizes: dict[str, int] = {}
    owners: dict[str, str] = {}
    types: list[TensorType] = []
    for (name, wanted), arg in zip(declared.items(), args, strict=True):
        where = f"{kernel}: argument '{name}'"
        if len(arg.shape) != wanted.rank:
            raise ShapeProblem(
                f"{where} must have {quantity(wanted.rank, 'dimension')} ({wanted}), not {len(arg.shape)}"
            )
        _check_dtype(where, wanted, arg.dtype)
        for axis, (size, number) in enumerate(zip(wanted.shape, arg.shape, strict=True)):
            if isinstance(size, int) and number != size:
                raise ShapeProblem(f"{where} must have size {size} on axis {axis} ({wanted}), not {number}")
            if isinstance(size, int):
                continue
            known = sizes.setdefault(str(size), number)
            owner = owners.setdefault(str(size), name)
            if known != number:
                raise ShapeProblem(
                    f"{where} has '{size}' = {number} on axis {axis}, but '{owner}' has '{size}' = {known}",
                    hint=f"dimensions with the same name must be equal; {name} is {wanted}",
                )
        shape = tuple(1 if n == 1 else s for s, n in zip(wanted.shape, arg.shape, strict=True))
        types.append(TensorType(wanted.dtype, shape))
    return Binding(tuple(types), {name: number for name, number in sizes.items() if number != 1})


def _check_dtype(where: str, wanted: TensorType, have: DType) -> None:
    if have == wanted.dtype:
        return
    if have.weak and not wanted.rank and _KINDS.index(have.kind) <= _KINDS.index(wanted.dtype.kind):
        return
    raise TypeProblem(
        f"{where} must be {wanted}, not {have}", hint=f"convert it with .astype('{wanted.dtype.strong.numpy}')"
    )
