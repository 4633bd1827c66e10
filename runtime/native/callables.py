"""Make classes whose instances are called natively.

The class made here inherits everything from the Python one and adds two words: the address of native code (a
vectorcall), and that of a recipe. While the first is null the interpreter calls the Python `__call__`, so an instance
begins as an ordinary object.
"""

from __future__ import annotations

import ctypes
from typing import Any, TypeVar

T = TypeVar("T")

_HAVE_VECTORCALL, _BASETYPE, _VERSION_TAG = 1 << 11, 1 << 10, 1 << 18
_MEMBERS, _SSIZE, _READONLY = 72, 19, 1


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("value", ctypes.c_void_p)]


class _Member(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]  # fmt: skip


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]  # fmt: skip


_kept: dict[type, Any] = {}  # the classes made here, and what the interpreter has pointers into


def with_native_calls(base: type[T]) -> type[T]:
    """Make a subclass whose instances can run native code; `set_recipe` says which."""
    offset = base.__basicsize__
    name = f"{base.__module__}.{base.__qualname__}".encode()
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _SSIZE, offset, _READONLY, None), _Member())
    slots = (_Slot * 2)(_Slot(_MEMBERS, ctypes.addressof(members)), _Slot())
    spec = _Spec(name, offset + 16, 0, _HAVE_VECTORCALL | _BASETYPE | _VERSION_TAG, slots)
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.POINTER(_Spec), ctypes.py_object]
    made: type[T] = make(ctypes.byref(spec), (base,))
    made.__doc__ = vars(base)["__doc__"]  # for kernels it is a descriptor
    _kept[made] = (name, members, slots, spec)
    return made


def is_native(instance: Any) -> bool:
    """Tell whether an object can run native code."""
    return type(instance) in _kept


def set_recipe(instance: Any, recipe: int) -> None:
    """Make calls follow the recipe at this address, or (0) go to the Python `__call__`."""
    assert is_native(instance), type(instance)
    code = ctypes.c_void_p.from_address(id(instance) + type(instance).__basicsize__ - 16)
    if not recipe:
        code.value = None
        return
    from .steps import machine

    ctypes.c_void_p.from_address(id(instance) + type(instance).__basicsize__ - 8).value = recipe
    code.value = machine().entry
