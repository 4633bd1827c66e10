"""Check by inspection that this interpreter and NumPy have the memory layout that native calls expect.

Calls run natively only if every offset below holds what it should. Otherwise, and with `WEFT_NATIVE_CALLS=0`, they go
through ctypes.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from contextvars import Context, ContextVar, copy_context
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from ...ir.tuples import NamedTuple

# An object: its type. An array: data, rank, sizes, strides, dtype, flags. Numbers: the value. A tuple: length, items.
TYPE = 8
DATA, RANK, SIZES, STRIDES, DTYPE, FLAGS = 16, 24, 32, 40, 56, 64
BASE, WEAK_REFERENCES, BUFFERS = 48, 72, 80
HANDLER = 88  # of an array that owns its data: what frees it
VALUE = 16
LENGTH, ITEMS = 16, 24
CELL = 16
CODE, DEFAULTS, KEYWORD_DEFAULTS = 48, 56, 64  # of a function
FIELDS = {"__code__": CODE, "__defaults__": DEFAULTS, "__kwdefaults__": KEYWORD_DEFAULTS}
DEFAULT, CACHED, CACHED_THREAD, CACHED_VERSION = 24, 32, 40, 48  # of a context variable
VARIABLES, COUNT = 24, 32  # of a context; of its variables
CAPSULE = 16
LOUD = 0xDB6  # in NumPy's state of errors: what is not ignored or warned of
VERSION = 24  # of a dictionary: a number that every change replaces

C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400
OWN_DATA = 0x4 | ALIGNED | WRITEABLE  # the flags of a new array, besides those of its order
ARRAY_TYPE, MAKE_SCALAR, NEW_ARRAY, SET_BASE, GET_HANDLER = (
    2,
    60,
    94,
    282,
    305,
)  # places in NumPy's table of C functions
HANDLER_NAME = b"mem_handler"
ALLOC, FREE = 304, 320  # of a type: the functions that make and free its objects
TRACING = 4  # in the settings of tracemalloc
LONG_RANK = 20  # an array of so many axes has sizes and strides that NumPy never takes from its own list
LONG_PIECES = (336, 352)  # what `malloc` writes before 320 bytes

THREAD = "PyThreadState_GetUnchecked" if sys.version_info >= (3, 13) else "_PyThreadState_UncheckedGet"
SYMBOLS = (
    "_PyObject_MakeTpCall", THREAD, "PyEval_SaveThread", "PyEval_RestoreThread",
    "_PyDict_GetItem_KnownHash", "PyLong_AsLongLongAndOverflow", "PyErr_NoMemory", "PyTuple_New", "_Py_Dealloc",
    "PyMem_RawMalloc", "PyMem_RawFree", "PyContextVar_Get", "PyObject_Vectorcall", "PyErr_ExceptionMatches",
    "PyFloat_FromDouble", "PyLong_FromLongLong", "PyContextVar_Set", "PyContextVar_Reset", "PyErr_Fetch",
    "PyErr_Restore",
)  # fmt: skip


@cache
def is_known() -> bool:
    """Tell whether native calls work here."""
    return obstacle() is None


@cache
def obstacle() -> str | None:
    """Return why calls can't be native here, if they can't."""
    if os.environ.get("WEFT_NATIVE_CALLS") == "0":
        return "WEFT_NATIVE_CALLS is 0"
    if sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info[:2] <= (3, 13):
        return "this Python is not CPython 3.11, 3.12 or 3.13"
    if "t" in getattr(sys, "abiflags", "") or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return "this Python is free-threaded, and its objects have another layout"
    if platform.system() != "Linux" or sys.byteorder != "little" or sys.maxsize != 2**63 - 1:
        return "this is not 64-bit Linux"
    if not np.__version__.startswith("2."):
        return f"NumPy {np.__version__} is not NumPy 2"
    if sys.flags.debug or not (_symbols_exist() and _objects_fit() and _arrays_fit()):
        return "objects of this Python or NumPy have another layout in memory"
    return None


@cache
def has_handlers() -> bool:
    """Tell whether arrays name their memory handler where we expect it."""
    if not is_known() or not hasattr(ctypes.pythonapi, "PyTraceMalloc_Track"):
        return False
    owner = np.empty(3)
    handler = ctypes.PYFUNCTYPE(ctypes.py_object)(numpy_table()[GET_HANDLER])()
    valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(address("PyCapsule_IsValid"))
    return bool(
        _word(owner, HANDLER) == id(handler) and _word(owner[1:], HANDLER) == 0 and valid(handler, HANDLER_NAME)
    )


class DefaultAllocator(NamedTuple):
    """NumPy's usual memory handler: the capsule, its context, and the addresses of two of its functions."""

    handler: object
    context: int
    malloc: int
    free: int


@cache
def default_allocator() -> DefaultAllocator | None:
    """Return what allocates new arrays in a context without variables, or None if they are made in another way.

    An array must be an object of 96 bytes from Python's allocator, and have its sizes and strides in memory of their
    own from the C library's `malloc`: there the size of a piece of memory is in the word before it.
    """
    array, kind = np.empty((1,) * LONG_RANK), np.ndarray
    if not has_handlers() or (kind.__basicsize__, kind.__weakrefoffset__) != (HANDLER + 8, WEAK_REFERENCES):
        return None
    if [_word(kind, at) for at in (ALLOC, FREE)] != [address("PyType_GenericAlloc"), address("PyObject_Free")]:
        return None
    sizes = _word(array, SIZES)
    if sizes % 16 or ctypes.c_int64.from_address(sizes - 8).value & -8 not in LONG_PIECES:
        return None
    if _word(array, STRIDES) != sizes + 8 * LONG_RANK or any(_word(array, at) for at in (BASE, BUFFERS)):
        return None
    handler = Context().run(ctypes.PYFUNCTYPE(ctypes.py_object)(numpy_table()[GET_HANDLER]))
    place = _word(handler, CAPSULE)
    if ctypes.string_at(place, 128) != b"default_allocator".ljust(127, b"\0") + b"\1":
        return None
    words = (ctypes.c_int64 * 5).from_address(place + 128)
    return DefaultAllocator(handler, words[0], words[1], words[4])


def tracing_flag() -> int:
    """Return the address of a number that is not 0 while memory is traced, or 0 if it is not known."""
    if sys.version_info >= (3, 12) or not hasattr(ctypes.pythonapi, "_Py_tracemalloc_config"):
        return 0
    return address("_Py_tracemalloc_config") + TRACING


@cache
def has_dict_versions() -> bool:
    """Tell whether dictionaries have a version where we expect it."""
    if sys.version_info >= (3, 14):
        return False
    space: dict[str, Any] = {"a": 1}
    seen = [_word(space, VERSION)]
    for change in (lambda: space.update(a=2), lambda: space.update(b=1), lambda: space.pop("a"), space.clear):
        change()
        seen.append(_word(space, VERSION))
    return len(set(seen)) == len(seen)


@cache
def thread_context() -> int:
    """Return where a thread keeps its context.

    The context's version and the thread's number follow. It is 0 if it is not found.

    A context variable caches its last value, with the version and the number at that time.
    """
    variable: ContextVar[object] = ContextVar("variable", default=(default := object()))
    other = copy_context()
    get = getattr(ctypes.pythonapi, THREAD)
    get.restype = ctypes.c_void_p

    def words() -> list[int]:
        return list((ctypes.c_int64 * 64).from_address(get()))

    def count() -> int:
        return ctypes.c_int64.from_address(_word(other, VARIABLES) + COUNT).value

    def keeps(value: object) -> bool:
        variable.set(value)
        kept = [_word(variable, at) for at in (DEFAULT, CACHED, CACHED_THREAD, CACHED_VERSION)]
        return kept == [id(default), id(value), words()[place + 2], words()[place + 1]]

    before, inside = words(), other.run(words)
    if id(other) not in inside:
        return 0
    place = inside.index(id(other))
    if inside[place + 1] != before[place + 1] + 1 or count() != len(other):
        return 0
    fits = other.run(keeps, object()) and count() == len(other)
    return 8 * place if fits else 0


def address(symbol: str) -> int:
    """Return the address of a function of the interpreter."""
    return ctypes.cast(getattr(ctypes.pythonapi, symbol), ctypes.c_void_p).value or 0


@cache
def numpy_table() -> Any:
    """Return NumPy's table of C functions."""
    from numpy._core._multiarray_umath import _ARRAY_API

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(get(_ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))


def _symbols_exist() -> bool:
    return all(hasattr(ctypes.pythonapi, name) for name in SYMBOLS)


def _word(x: Any, offset: int) -> int:
    return ctypes.c_int64.from_address(id(x) + offset).value


def _objects_fit() -> bool:
    """Check the layout of types, floats, NumPy scalars, tuples, closure cells and functions."""
    number, pair = 1.25, (object(), object())
    scalars = [np.float32(2.5), np.float64(3.5), np.int16(-7), np.complex128(1 + 4j)]  # alive while they are read

    def holder(first: Any = 1, *, second: Any = 2) -> Any:
        return pair

    cell: Any = (holder.__closure__ or (None,))[0]
    return (
        _word(number, TYPE) == id(float)
        and ctypes.c_double.from_address(id(number) + VALUE).value == number
        and ctypes.c_float.from_address(id(scalars[0]) + VALUE).value == 2.5
        and ctypes.c_double.from_address(id(scalars[1]) + VALUE).value == 3.5
        and ctypes.c_int16.from_address(id(scalars[2]) + VALUE).value == -7
        and ctypes.c_double.from_address(id(scalars[3]) + VALUE + 8).value == 4.0
        and _word(pair, LENGTH) == 2
        and [_word(pair, ITEMS), _word(pair, ITEMS + 8)] == [id(pair[0]), id(pair[1])]
        and _word(cell, CELL) == id(pair)
        and all(_word(holder, at) == id(getattr(holder, name)) for name, at in FIELDS.items())
    )


def _arrays_fit() -> bool:
    """Check the fields of an array, and the positions in NumPy's table."""
    x = np.zeros((3, 5), np.float32)[:, ::2]
    sizes, strides = ((ctypes.c_int64 * 2).from_address(_word(x, at)) for at in (SIZES, STRIDES))
    arrays = (x, np.zeros(3), np.zeros((2, 2)).T)
    flags = [ctypes.c_int32.from_address(id(a) + FLAGS).value for a in arrays]
    return (
        _word(x, DATA) == x.ctypes.data
        and ctypes.c_int32.from_address(id(x) + RANK).value == 2
        and (tuple(sizes), tuple(strides)) == (x.shape, x.strides)
        and _word(x, DTYPE) == id(x.dtype) == id(np.dtype(np.float32))
        and [f & (C_CONTIGUOUS | F_CONTIGUOUS) for f in flags] == [0, C_CONTIGUOUS | F_CONTIGUOUS, F_CONTIGUOUS]
        and all(f & WRITEABLE for f in flags)
        and numpy_table()[ARRAY_TYPE] == id(np.ndarray)
        and _makes_arrays()
    )


@cache
def has_states() -> bool:
    """Tell whether NumPy's error state lies in memory as we expect, if it is in a context variable."""
    variable = getattr(sys.modules.get("numpy._core.umath"), "_extobj_contextvar", None)
    if variable is None:
        return True
    modes = ("ignore", "warn", "raise", "call", "print", "log")
    for mode, kind in product(modes, ("divide", "over", "under", "invalid")):
        state: Any = {"divide": "ignore", "over": "warn", "under": "ignore", "invalid": "warn"} | {kind: mode}
        with np.errstate(**state):
            found = ctypes.c_int32.from_address(_word(variable.get(), CAPSULE)).value
        if bool(found & LOUD) is (mode in ("ignore", "warn")):
            return False
    return True


def scalar_allocator(kind: type) -> int:
    """Return the function that makes objects of one of NumPy's number types whose value is just its bytes."""
    return _word(kind, ALLOC)


def _makes_arrays() -> bool:
    dtype = np.dtype(np.float64)
    sizes, value = (ctypes.c_int64 * 2)(2, 3), ctypes.c_double(7.5)
    new = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p,
        ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
    )(numpy_table()[NEW_ARRAY])  # fmt: skip
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))  # the function takes the reference over
    made = new(np.ndarray, id(dtype), 2, ctypes.addressof(sizes), None, None, 0, None)
    scalar = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        numpy_table()[MAKE_SCALAR]
    )(ctypes.addressof(value), dtype, None)
    same = type(made) is np.ndarray and made.shape == (2, 3) and made.dtype == dtype and made.flags.owndata
    same = same and _makes_views(new, dtype, sizes)
    return same and type(scalar) is np.float64 and scalar == 7.5


def _makes_views(new: Any, dtype: np.dtype[Any], sizes: Any) -> bool:
    base = np.arange(6.0)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(dtype))
    made = new(np.ndarray, id(dtype), 2, ctypes.addressof(sizes), None, base.ctypes.data, WRITEABLE | ALIGNED, None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(base))  # as above
    set_base = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object)(numpy_table()[SET_BASE])
    return set_base(made, base) == 0 and made.base is base and bool(made[1, 2] == 5) and not made.flags.owndata
