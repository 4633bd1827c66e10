"""Make ufuncs like SciPy's from functions of the C library, without SciPy.

NumPy's C interface makes them, through the table that it offers to C extensions, with its own loops over `double` and
`float` functions. So they have SciPy's names, loops and promotion.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from typing import Any

import numpy as np

# Places in the table of `numpy/__ufunc_api.h`, which never change.
FROM_FUNC_AND_DATA, LOOP_D_D, LOOP_F_F = 1, 5, 6
_KEPT: list[Any] = []  # a ufunc keeps no reference to what it is made of


def ufunc(name: str, single: Any, double: Any) -> Any:
    """A ufunc of one operand with the loops `f->f` and `d->d`, or the second alone; the functions are C's."""
    table = _table()
    loop_of = {"f": (single, table[LOOP_F_F]), "d": (double, table[LOOP_D_D])}
    chosen = "fd" if single is not None else "d"
    loops = (ctypes.c_void_p * 2)(*(loop_of[t][1] for t in chosen))
    data = (ctypes.c_void_p * 2)(*(ctypes.cast(loop_of[t][0], ctypes.c_void_p) for t in chosen))
    types = ctypes.create_string_buffer(bytes(np.dtype(t).num for t in chosen for _ in range(2)))
    text = ctypes.create_string_buffer(name.encode())
    _KEPT.extend((loops, data, types, text, single, double))
    make = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int,
        ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int,
    )(table[FROM_FUNC_AND_DATA])  # fmt: skip
    return make(loops, data, types, len(chosen), 1, 1, -1, ctypes.addressof(text), None, 0)


def library_function(name: str) -> tuple[Any, Any]:
    """A mathematical function of the C library, for `float` and `double`."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    return getattr(library, f"{name}f"), getattr(library, name)


def _table() -> Any:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address = pointer(np._core._multiarray_umath._UFUNC_API, None)
    return ctypes.cast(address, ctypes.POINTER(ctypes.c_void_p))
