"""Define element types: the fifteen of the language, and the weak kinds of literals and Python numbers."""

from __future__ import annotations

from functools import cache

import numpy as np

from .errors import TypeProblem, nearest
from .records import record


@record
class DType:
    """An element type. Weak ones belong to Python numbers and give way to any strong type of their kind (NEP 50)."""

    name: str
    kind: str  # "bool", "int", "uint", "float" or "complex"
    bits: int
    weak: bool = False

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)  # compiling hashes dtypes often

    @property
    def size(self) -> int:
        """Bytes per element in memory."""
        return self.bits // 8 or 1

    @property
    def numpy(self) -> np.dtype:
        """The NumPy dtype; for a weak kind, the one that its values are computed in."""
        return _numpy_dtype(self)

    @property
    def strong(self) -> DType:
        """The default dtype of a weak kind."""
        return _STRONG[self.name] if self.weak else self

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint")


BOOL = DType("bool", "bool", 1)
I8, I16, I32, I64 = (DType(f"i{b}", "int", b) for b in (8, 16, 32, 64))
U8, U16, U32, U64 = (DType(f"u{b}", "uint", b) for b in (8, 16, 32, 64))
F16, F32, F64 = (DType(f"f{b}", "float", b) for b in (16, 32, 64))
BF16 = DType("bf16", "float", 16)
C64, C128 = DType("c64", "complex", 64), DType("c128", "complex", 128)
WEAK_INT = DType("weak int", "int", 64, weak=True)
WEAK_FLOAT = DType("weak float", "float", 64, weak=True)
WEAK_COMPLEX = DType("weak complex", "complex", 128, weak=True)

ALL = (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64, C64, C128)
BY_NAME = {d.name: d for d in ALL}
WEAK = {"int": WEAK_INT, "float": WEAK_FLOAT, "complex": WEAK_COMPLEX}
CLASSES = {
    "int": tuple(d for d in ALL if d.kind == "int"),
    "uint": tuple(d for d in ALL if d.kind == "uint"),
    "float": tuple(d for d in ALL if d.kind == "float"),
    "complex": (C64, C128),
    "number": tuple(d for d in ALL if d.kind != "bool"),
    "any": ALL,
}

_STRONG = {"weak int": I64, "weak float": F64, "weak complex": C128}
_NUMPY_NAMES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
BFLOAT16 = "bfloat16"  # the name of the dtype of ml_dtypes
_FROM_NUMPY = {np.dtype(n): BY_NAME[w] for w, n in _NUMPY_NAMES.items()}
NATIVE = frozenset(d for d in ALL if d.kind != "complex")


@cache
def _numpy_dtype(dtype: DType) -> np.dtype:
    if dtype == BF16:
        return _bfloat16()
    return np.dtype(_NUMPY_NAMES[dtype.strong.name])


def _bfloat16() -> np.dtype:
    try:
        import ml_dtypes
    except ImportError as error:
        raise TypeProblem(
            "bf16 arrays need the package ml_dtypes, which is not installed", hint="pip install weft[bf16]"
        ) from error
    found: np.dtype = np.dtype(ml_dtypes.bfloat16)
    return found


def from_numpy(dtype: np.dtype) -> DType:
    """The element type of a NumPy dtype, byte order ignored."""
    found = _FROM_NUMPY.get(dtype)
    if found is None and dtype.byteorder in "<>":  # others, such as StringDType, have no byte order
        found = _FROM_NUMPY.get(dtype.newbyteorder("="))
    if dtype.name == BFLOAT16:
        return BF16
    if found is None:
        raise TypeProblem(
            f"Weft does not support dtype {dtype}",
            hint="Weft takes bool, integers, floats and complex numbers; convert with .astype(...)",
        )
    return found


def parse(name: str) -> DType:
    """The element type with this name, `f32` and so on."""
    found = BY_NAME.get(name)
    if found is None:
        hint = nearest(name, list(BY_NAME)) or "dtypes are bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, c64, c128"
        raise TypeProblem(f"unknown dtype '{name}'", hint=hint)
    return found


def python_type(dtype: DType) -> type:
    """The Python type that NumPy promotes like this weak kind."""
    return {"int": int, "float": float, "complex": complex}[dtype.kind]


def in_range(value: int, dtype: DType) -> bool:
    """Whether an integer dtype holds a number."""
    low, high = (-(1 << dtype.bits - 1), 1 << dtype.bits - 1) if dtype.kind == "int" else (0, 1 << dtype.bits)
    return low <= value < high


def is_scalar(value: object) -> bool:
    """Whether a value is exactly a number of NumPy; a subclass may have operators of its own."""
    return isinstance(value, np.generic) and type(value) is value.dtype.type


def is_scalar_type(value: object) -> bool:
    """Whether a value is one of NumPy's own classes of numbers."""
    return isinstance(value, type) and issubclass(value, np.generic) and value.__module__ in ("numpy", "ml_dtypes")
