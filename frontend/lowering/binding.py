"""Check a call's arguments against the declared parameters and give their types symbolic sizes.

A name has one size in all arguments. `...` stands for the same leading sizes in every parameter (aligned at the right;
a 1 or a missing one broadcasts). A dtype must be the declared one. Python numbers convert if the declared kind can hold
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import dims
from ...ir.dims import Size
from ...ir.dtypes import BF16, BOOL, CLASSES, F64, WEAK, DType
from ...ir.errors import OverflowProblem, ShapeProblem, TypeProblem, quantity
from ...ir.source import ArgType, Binding
from ...ir.types import TensorType
from ..language.declared import Parameter
from ..maker import fits

_KINDS = ("int", "float", "complex")


def bind(kernel: str, params: Sequence[Parameter], args: Sequence[ArgType]) -> Binding:
    """Check the arguments and return their types."""
    if len(params) != len(args):
        usage = f"{kernel}({', '.join(p.name for p in params)})"
        raise TypeProblem(f"{usage} takes {quantity(len(params), 'argument')}, not {len(args)}")
    for param, arg in zip(params, args, strict=True):
        _check_rank(kernel, param, arg)
    pairs = list(zip(params, args, strict=True))
    names = _named(kernel, pairs)
    leading = _leading(kernel, pairs, names)
    sizes: dict[str, int] = {}
    types = []
    for param, arg in pairs:
        symbols = _symbols(param, arg, leading, names)
        shape: list[Size] = []
        for symbol, size in zip(symbols, arg.shape, strict=True):
            shape.append(1 if size == 1 else dims.symbol(symbol))
            if size != 1:
                sizes[symbol] = size
        types.append(TensorType(_dtype(kernel, param, arg), tuple(shape)))
    return Binding(tuple(types), sizes)


def dtype_of_number(have: DType, declared: DType | None, name: str) -> DType | None:
    """Return the dtype of a Python number for a declared type; for a class it stays weak, as in NumPy.

    None means that it does not convert.
    """
    if declared is not None:
        if declared == BOOL or _rank(have) > _rank(declared):
            return None
        return declared
    if have.strong in CLASSES[name]:
        return have
    if name not in _KINDS or _KINDS.index(have.kind) > _KINDS.index(name):
        return CLASSES[name][-1] if name == "uint" and have.kind == "int" else None
    return WEAK[name]


def split(specs: Sequence[object], rank: int) -> tuple[int, int]:
    """Count the dimensions before `...`, and those that it stands for."""
    if ... not in specs:
        return len(specs), 0
    return list(specs).index(...), rank - (len(specs) - 1)


def _rank(dtype: DType) -> int:
    return {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}[dtype.kind]


def _check_rank(kernel: str, param: Parameter, arg: ArgType) -> None:
    specs, rank = param.type.dims or (), len(arg.shape)
    if rank == len(specs) or (... in specs and rank >= len(specs) - 1):
        return
    fixed = len(specs) - (... in specs)
    wanted = "a scalar" if not specs else f"{fixed} dimension{'s' * (fixed != 1)}"
    if ... in specs:
        wanted += " or more"
    came = "a number" if not rank else f"{rank} dimension{'s' * (rank != 1)}, shape {arg.shape}"
    hint = "index or reshape the array" if rank else "pass an array, as in np.array([x])"
    raise ShapeProblem(
        f"{kernel}: argument '{param.name}' is declared {param.type}: expected {wanted}, got {came}", param.span, hint
    )


def _axes(param: Parameter, arg: ArgType) -> list[tuple[object, int, int]]:
    """Yield each dimension outside `...`: its declaration, its axis and its size."""
    specs = param.type.dims or ()
    before, taken = split(specs, len(arg.shape))
    found: list[tuple[object, int, int]] = []
    for i, spec in enumerate(specs):
        if spec is not ...:
            axis = i if i < before or ... not in specs else i - 1 + taken
            found.append((spec, axis, arg.shape[axis]))
    return found


def _named(kernel: str, pairs: Sequence[tuple[Parameter, ArgType]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    owner: dict[str, str] = {}
    for param, arg in pairs:
        for spec, axis, size in _axes(param, arg):
            if isinstance(spec, int) and spec != size:
                raise ShapeProblem(
                    f"{kernel}: argument '{param.name}' is declared {param.type}: expected size {spec} on axis {axis}, "
                    f"got {size}, shape {arg.shape}",
                    param.span,
                )
            if isinstance(spec, str) and sizes.setdefault(spec, size) != size:
                raise ShapeProblem(
                    f"{kernel}: argument '{param.name}' is declared {param.type}: expected {spec} = {sizes[spec]} as "
                    f"in '{owner[spec]}', got {size}{'' if param.type.is_size else f', shape {arg.shape}'}",
                    param.span,
                    f"'{spec}' must have the same size in every argument",
                )
            if isinstance(spec, str):
                owner.setdefault(spec, param.name)
    return sizes


def _leading(kernel: str, pairs: Sequence[tuple[Parameter, ArgType]], names: Mapping[str, int]) -> list[str]:
    """Check the sizes behind `...`, and name them after the parameter that has the most."""
    symbols: list[str] = []
    sizes: list[int] = []
    for param, arg in sorted(pairs, key=lambda pair: -_taken(*pair)[1]):
        before, taken = _taken(param, arg)
        if not symbols:
            symbols = [_fresh(f"{param.name}_{i}", names) for i in range(taken)]
            sizes = [1] * taken
        for i, size in enumerate(arg.shape[before : before + taken], start=len(symbols) - taken):
            if size not in (1, sizes[i]) and sizes[i] != 1:
                raise ShapeProblem(
                    f"{kernel}: argument '{param.name}' is declared {param.type}: expected {sizes[i]} or 1 for a "
                    f"dimension of '...', got {size}, shape {arg.shape}",
                    param.span,
                    "'...' must stand for the same sizes in every argument",
                )
            sizes[i] = size if size != 1 else sizes[i]
    return symbols


def _taken(param: Parameter, arg: ArgType) -> tuple[int, int]:
    return split(param.type.dims or (), len(arg.shape))


def _symbols(param: Parameter, arg: ArgType, leading: Sequence[str], names: Mapping[str, int]) -> list[str]:
    before, taken = _taken(param, arg)
    symbols = [""] * len(arg.shape)
    symbols[before : before + taken] = leading[len(leading) - taken :] if taken else []
    for spec, axis, _ in _axes(param, arg):
        symbols[axis] = spec if isinstance(spec, str) else _fresh(f"{param.name}_axis{axis}", names)
    return symbols


def _fresh(name: str, taken: Mapping[str, int]) -> str:
    while name in taken:
        name += "_"
    return name


def _dtype(kernel: str, param: Parameter, arg: ArgType) -> DType:
    declared = param.type
    if not arg.dtype.weak:
        if declared.accepts(arg.dtype):
            return arg.dtype
        wanted = declared.dtype or (F64 if declared.name == "number" else CLASSES[declared.name][-1])
        hint = "convert it to bf16" if wanted == BF16 else f"convert it: {param.name}.astype(np.{wanted.numpy})"
        raise TypeProblem(
            f"{kernel}: argument '{param.name}' is declared {declared}: expected {declared.name}, got {arg.dtype}",
            param.span,
            hint,
        )
    found = dtype_of_number(arg.dtype, declared.dtype, declared.name)
    if found is None:
        raise TypeProblem(
            f"{kernel}: argument '{param.name}' is declared {declared}: expected {declared.name}, got a Python "
            f"{arg.dtype.kind}",
            param.span,
            "pass a number of that kind",
        )
    if isinstance(arg.value, int) and not isinstance(arg.value, bool):
        _check_value(kernel, param, arg.value, found)
    return found


def _check_value(kernel: str, param: Parameter, value: int, dtype: DType) -> None:
    if dtype.is_integer:
        fitting = fits(value, dtype)
    else:
        fitting = abs(value) < 1 << 1023
    if not fitting:
        hint = "declare a larger type, or pass a smaller number"
        shown = value if abs(value) < 1 << 128 else "an integer of that size"
        raise OverflowProblem(
            f"{kernel}: argument '{param.name}' is {dtype}, which can't hold {shown}", param.span, hint
        )
