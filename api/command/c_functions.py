"""List the C functions to build, with their names and types.

A scalar declared with a class, as in `k: int`, behaves like a Python number: it takes the dtype of the arrays it is
combined with, and is passed as the widest C type of its kind.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence

from ..frontend.language.declared import Parameter
from ..frontend.language.source import LanguageKernel
from ..frontend.lowering.binding import split
from ..ir import dtypes
from ..ir.dtypes import CLASSES, WEAK, WEAK_FLOAT, WEAK_INT, DType
from ..ir.errors import SyntaxProblem, UnknownName, nearest
from ..ir.records import replace
from ..runtime.aot.forms import RESERVED
from ..runtime.aot.variants import Wanted
from .types import Given, parse_types, request_for

# The default dtypes of a class: one function for each column.
USUAL = {
    "int": (dtypes.I32, dtypes.I64),
    "uint": (dtypes.U32, dtypes.U64),
    "float": (dtypes.F32, dtypes.F64),
    "complex": (dtypes.C64, dtypes.C128),
    "number": (dtypes.F32, dtypes.F64),
    "any": (dtypes.F32, dtypes.F64),
}


def wanted_functions(
    kernels: Sequence[LanguageKernel], types: Sequence[str], names: Sequence[str], prefix: str, dense_only: bool = False
) -> list[Wanted]:
    """Make one function for each kernel, and one for each choice of dtypes if the kernel declares classes."""
    given = [_entry(text, kernels) for text in types]
    asked = [dtypes.parse(name) for name in names]
    return [
        _function(kernel, chosen, prefix, dense_only)
        for kernel in kernels
        for chosen in [entry for name, entry in given if name in ("", kernel.name)] or _choices(kernel, asked)
    ]


def _entry(text: str, kernels: Sequence[LanguageKernel]) -> tuple[str, dict[str, Given]]:
    """Parse one value of --types: the kernel it is for (all if none is named) and the types."""
    name, colon, rest = (part.strip() for part in text.partition(":"))
    known = [k.name for k in kernels]
    if not colon:
        return "", parse_types([text])
    if name not in known:
        hint = nearest(name, known) or f"the kernels are {', '.join(known)}"
        raise UnknownName(f"--types: no kernel '{name}' is built", hint=hint)
    return name, parse_types([rest])


def _choices(kernel: LanguageKernel, asked: Sequence[DType]) -> Iterator[dict[str, Given]]:
    """List the dtypes to build for arrays that are declared with a class, one choice for each function."""
    open_ones = [p for p in kernel.declared if p.type.dtype is None and p.type.dims is not None]
    classes = dict.fromkeys(p.type.name for p in open_ones)
    if not classes:
        yield {}
        return
    columns = {name: [d for d in asked if d in CLASSES[name]] or list(USUAL[name]) for name in classes}
    for k in range(max(map(len, columns.values()))):
        dtype = {name: own[min(k, len(own) - 1)] for name, own in columns.items()}
        yield {p.name: _of_dtype(p, dtype[p.type.name]) for p in open_ones}


def _of_dtype(param: Parameter, dtype: DType) -> Given:
    return Given(dtype, ("?",) * len(param.type.dims or ()), str(param.type))


def _function(kernel: LanguageKernel, chosen: Mapping[str, Given], prefix: str, dense_only: bool) -> Wanted:
    complete = dict(chosen)
    by_class = {p.type.name: chosen[p.name].dtype for p in kernel.declared if p.name in chosen}
    for param in kernel.declared:
        if param.type.dtype is None and param.name not in complete:
            complete[param.name] = _of_dtype(param, by_class.get(param.type.name, USUAL[param.type.name][0]))
    weak = [p.type.dtype is None and p.type.dims is None and p.name not in chosen for p in kernel.declared]
    open_ones = [p for p, is_weak in zip(kernel.declared, weak, strict=True) if p.type.dtype is None and not is_weak]
    name = prefix + "_".join([kernel.name, *dict.fromkeys(complete[p.name].dtype.name for p in open_ones)])
    _check_name(name)
    request = request_for(kernel, complete)
    args = [
        replace(arg, dtype=WEAK.get(p.type.name, WEAK_INT if p.type.name == "uint" else WEAK_FLOAT)) if is_weak else arg
        for arg, p, is_weak in zip(request.args, kernel.declared, weak, strict=True)
    ]
    fixed = [(k, axis) for k, p in enumerate(kernel.declared) for axis in _numbered(p, len(args[k].shape))]
    results = [o.name for o in kernel.outputs] if kernel.outputs else None
    return Wanted(name, kernel, request._replace(args=args), kernel.signature, results, fixed, dense_only)


def _numbered(param: Parameter, rank: int) -> Iterator[int]:
    """Find the axes whose sizes are declared as numbers other than 1."""
    specs = param.type.dims or ()
    before, taken = split(specs, rank)
    for place, spec in enumerate(specs):
        if isinstance(spec, int) and spec != 1:
            yield place if place < before or ... not in specs else place - 1 + taken


def _check_name(name: str) -> None:
    if not name.isascii() or not name.isidentifier():
        raise SyntaxProblem(
            f"'{name}' is not a valid name for a C function", hint="rename the kernel, or choose another --prefix"
        )
    if name in RESERVED or hasattr(ctypes.CDLL(None), name):
        raise SyntaxProblem(f"'{name}' is already a name in C", hint="choose another name with --prefix")
