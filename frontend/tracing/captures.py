"""Describe everything a Python function reads from outside, so that its trace can be guarded.

Globals, closure cells and attributes are found once, in the code of the function and of the user's functions that it
calls; describing them again is cheap. Numbers, strings and small containers are described by value. Functions, arrays,
modules and other objects are described by identity, and objects of the user's classes also by their attributes.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...ir.source import ABSENT, Guard, are_kept, builtins_of, contents, function_guards
from .tracer import Tracer

_DEPTH = 4
NOTHING = type(None), None  # the description of None
_LIBRARIES = frozenset(("numpy", "weft", *sys.stdlib_module_names)) - {"__main__"}
Read = Callable[[], Any]
Place = tuple[Any, str | None]  # a dict and a key, a cell and None, or (None, None) for a constant


class Identity:
    """An object that is only equal to itself. It is kept alive, so that no other object gets its address."""

    __slots__ = ("object",)

    def __init__(self, object: Any) -> None:
        self.object = object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and other.object is self.object

    def __hash__(self) -> int:
        return id(self.object)

    def __repr__(self) -> str:
        return f"<the {type(self.object).__name__} at {id(self.object):#x}>"


class Captures:
    """The places that a function reads. They are found once, and again if one of the functions is replaced."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.by_content = False  # whether the elements of arrays guard the trace, not just their identity
        self._search()

    def describe(self) -> tuple[Any, ...]:
        """Describe everything that guards a trace, as it is now."""
        values = [read() for read in self._reads]
        pairs = zip(values, self._functions, strict=True)
        if not are_kept(self._codes) or any(_underlying(value) is not known for value, known in pairs):
            self._search()
            values = [read() for read in self._reads]
        described = [_described(value, _DEPTH, self.by_content) for value in values]
        return (*described, *(Identity(guard.expected) for guard in self._codes))

    @property
    def named(self) -> list[tuple[str, Any]]:
        """List the values that are read, as they are now, with their names."""
        return [(label, read()) for label, read in zip(self._labels, self._reads, strict=True)]

    @property
    def functions(self) -> Mapping[FunctionType, Any]:
        """List the user's functions that may run. A method comes with its object, a plain function with `ABSENT`."""
        return self._seen

    def changed(self, before: tuple[Any, ...]) -> str | None:
        """Name something that differs from its description; remembered results do not count."""
        after = self.describe()
        if len(before) != len(after):
            return None
        pairs = zip(self._labels, before, after, strict=False)  # the code of functions has no name
        return next((label for label, old, new in pairs if not _is_kept(old, new)), None)

    def guards(self) -> list[Guard] | None:
        """List the names that must still mean the same objects for a trace to hold, or None if that is not enough."""
        values = [read() for read in self._reads]
        if self.by_content or None in self._places or not all(map(_is_constant, values)):
            return None
        places = zip(self._places, values, strict=True)
        names = [Guard(*place, value) for place, value in places if place and place[0] is not None]
        return [*self._codes, *names] if are_kept(self._codes) else None

    def _search(self) -> None:
        self._reads: list[Read] = []
        self._places: list[Place | None] = []
        self._labels: list[str] = []
        self._functions: list[FunctionType | None] = []
        self._seen: dict[FunctionType, Any] = {}
        self._codes: list[Guard] = []  # the code and defaults of functions
        self._scan(self._function)

    def _scan(self, value: Any) -> None:
        instance = value.__self__ if isinstance(value, MethodType) else ABSENT
        function = _underlying(value)
        if function is None or function in self._seen or is_library(function):
            return
        self._seen[function] = instance
        self._codes += function_guards(function)
        if instance is not ABSENT:
            self._add(lambda: instance, None, function.__code__.co_varnames[0])
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for code in nested_codes(function.__code__):
            for kind, root, *attributes in _chains(code):
                read = self._root(function, cells, instance, kind, root)
                for attribute in attributes:
                    read = self._attribute(read, attribute)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._add(lambda default=default: default, (None, None), "a default")  # type: ignore[misc]

    def _root(
        self, function: FunctionType, cells: Mapping[str, Any], instance: Any, kind: str, root: str
    ) -> Read | None:
        """Look a name up outside the function; None if it is local and not the object of a method."""
        if instance is not ABSENT and kind != "global" and (root,) == function.__code__.co_varnames[:1]:
            return lambda: instance
        if kind == "global":
            space = function.__globals__
            known = builtins_of(function)
            if root not in space and root in known:
                self._add(lambda: space.get(root, ABSENT), (space, root), root)
                return self._add(lambda: known.get(root, ABSENT), (known, root), root)
            return self._add(lambda: space.get(root, ABSENT), (space, root), root)
        if kind == "deref" and root in cells:
            cell = cells[root]
            return self._add(lambda: contents(cell), (cell, None), root)
        return None

    def _attribute(self, holder: Read | None, name: str) -> Read | None:
        if holder is None:
            return None
        owner = holder()
        if isinstance(owner, ModuleType) and _top(owner.__name__) in _LIBRARIES:
            if _top(owner.__name__) == "weft" or name not in vars(owner):
                return None
            space = vars(owner)
            return self._add(lambda: space.get(name, ABSENT), (space, name), name)  # it may be replaced
        if not hasattr(owner, "__dict__") and not _is_users(type(owner)):
            return None
        return self._add(lambda: static_attribute(holder(), name), None, name)

    def _add(self, read: Read, place: Place | None, label: str) -> Read:
        """Record a place that is read: `place` is where the name is stored, and `label` its readable name."""
        value = read()
        self._reads.append(read)
        self._places.append(place)
        self._labels.append(label)
        self._functions.append(_underlying(value))
        self._scan(value)
        return read


def _underlying(value: Any) -> FunctionType | None:
    """Unwrap a method or a wrapper to the plain function."""
    if isinstance(value, MethodType):
        value = value.__func__
    if not isinstance(value, (type, ModuleType)):
        value = getattr(value, "__wrapped__", value)
    return value if isinstance(value, FunctionType) else None


def nested_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code and all code nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested_codes(constant)


def _chains(code: CodeType) -> Iterator[tuple[str, ...]]:
    """Yield the names that are loaded or stored, with their attributes: `("global", "config", "scale")`."""
    chain: list[str] = []
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if name in ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR") and chain:
            chain.append(str(instruction.argval))
            continue
        if name in ("CACHE", "PUSH_NULL", "EXTENDED_ARG", "NOP"):
            continue
        if chain:
            yield tuple(chain)
        chain = []
        if name in ("LOAD_GLOBAL", "LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"):
            chain = ["global", str(instruction.argval)]
        elif name in ("LOAD_DEREF", "LOAD_CLASSDEREF", "STORE_DEREF"):
            chain = ["deref", str(instruction.argval)]
        elif "LOAD_FAST" in name:  # from 3.13 on, two variables may be loaded at once; attributes are the second's
            loaded = instruction.argval
            chain = ["fast", loaded[-1] if isinstance(loaded, tuple) else str(loaded)]
    if chain:
        yield tuple(chain)


def static_attribute(holder: Any, name: str) -> Any:
    """Look up an attribute without running a property."""
    found = vars(holder).get(name, ABSENT) if hasattr(holder, "__dict__") else ABSENT
    if found is not ABSENT or isinstance(holder, ModuleType):
        return found
    for owner in holder.__mro__ if isinstance(holder, type) else type(holder).__mro__:
        if name in vars(owner):
            found = vars(owner)[name]
            if isinstance(found, MemberDescriptorType):  # a slot
                return getattr(holder, name, ABSENT)
            return MethodType(found, holder) if isinstance(found, FunctionType) else found
    return ABSENT


def _described(value: Any, depth: int, by_content: bool = False) -> Any:
    kind = type(value)
    if kind is float or kind is complex:
        return kind, repr(value)
    if value is None or kind in (bool, int, str, bytes):
        return kind, value
    if issubclass(kind, np.generic):
        return kind, value.tobytes()
    if isinstance(value, MethodType):
        return Identity(value.__func__), Identity(value.__self__)
    if by_content and issubclass(kind, np.ndarray):
        return Identity(value), _digest(value)
    if not depth:
        return Identity(value)

    def inside(item: Any) -> Any:
        return _described(item, depth - 1, by_content)

    if isinstance(value, (tuple, list, deque)):
        return kind, tuple(map(inside, value))
    if isinstance(value, dict):
        return kind, tuple((inside(k), inside(v)) for k, v in value.items())
    if isinstance(value, (set, frozenset)):
        return kind, frozenset(map(inside, value))
    if _is_users(kind) and hasattr(value, "__dict__"):
        return Identity(value), inside(vars(value))
    return Identity(value)


def inner_values(value: Any, depth: int = _DEPTH) -> Iterator[Any]:
    """Yield the parts of a value that are described: itself, or the contents of a container or a user's object."""
    yield value
    if not depth or isinstance(value, Tracer):
        return
    items: Any = ()
    if isinstance(value, (tuple, list, deque, set, frozenset)):
        items = value
    elif isinstance(value, dict):
        items = value.values()
    elif _is_users(type(value)) and hasattr(value, "__dict__"):
        items = vars(value).values()
    for item in items:
        yield from inner_values(item, depth - 1)


def _digest(array: np.ndarray[Any, Any]) -> bytes:
    """Hash the elements of an array."""
    from hashlib import blake2b

    if array.dtype.hasobject:
        return b""
    return blake2b(np.ascontiguousarray(array).view(np.uint8).data, digest_size=16).digest()


def _is_kept(old: Any, new: Any) -> bool:
    """Tell whether everything that was described is still there.

    Dicts and objects may have gained entries, and None may have become a value, as when results are cached.
    """
    if old == new:
        return True
    is_cached = isinstance(old, Identity) and isinstance(
        old.object, functools.cached_property
    )  # an object of the user's
    if is_cached or old in (NOTHING, Identity(ABSENT)):
        return not _holds_tracer(new)
    if type(old) is not tuple or type(new) is not tuple or len(old) != 2 or len(new) != 2:
        return False
    if isinstance(old[0], Identity):  # an object and its attributes
        return bool(old[0] == new[0]) and _is_kept(old[1], new[1])
    if old[0] is not new[0] or not issubclass(old[0], dict):
        return False
    items = dict(new[1])
    if not all(key in items and _is_kept(value, items.pop(key)) for key, value in old[1]):
        return False
    return not any(map(_holds_tracer, items.values()))


def _holds_tracer(described: Any) -> bool:
    if isinstance(described, tuple):
        return any(map(_holds_tracer, described))
    return isinstance(described, Identity) and isinstance(described.object, Tracer)


def _is_constant(value: Any) -> bool:
    """Tell whether an object can't change its meaning while it stays the same object."""
    if type(value) in (tuple, frozenset):
        return all(map(_is_constant, value))
    if isinstance(value, (list, dict, set, deque, MethodType)):
        return False
    return not (_is_users(type(value)) and hasattr(value, "__dict__")) or isinstance(value, FunctionType)


def _is_users(kind: type) -> bool:
    return kind is not type and _top(kind.__module__) not in _LIBRARIES and not issubclass(kind, (type, ModuleType))


def is_library(function: FunctionType) -> bool:
    """Tell whether a function belongs to Python, NumPy or Weft rather than to the user."""
    return _top(function.__module__ or "") in _LIBRARIES


def _top(module: str) -> str:
    return module.partition(".")[0]
