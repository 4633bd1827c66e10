"""Make frozen value classes from annotated fields: constructed, compared, hashed, copied and printed by field.

A class may check its fields in `__post_init__` and have cached properties (`lazy.py`).

It does what `dataclasses.dataclass(frozen=True, slots=True)` does in a twentieth of the time. That decorator compiles
the text of seven functions for each class; for the fifty classes that a first call needs, this took longer than LLVM.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

from .lazy import cached_property

T = TypeVar("T")


class Fresh:
    """A default that is computed for each value."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make


def fresh(*, default_factory: Callable[[], Any]) -> Any:
    """A default for a mutable field, such as a list."""
    return Fresh(default_factory)


@overload
def record(cls: type[T], /) -> type[T]: ...
@overload
def record(*, eq: bool) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(fresh,))
def record(cls: type[T] | None = None, /, *, eq: bool = True) -> Any:
    """Turns a class into a frozen value class; without `eq`, values compare by identity."""
    return _made(cls, eq) if cls is not None else lambda cls: _made(cls, eq)


def fields(of: Any) -> Mapping[str, Any]:
    """The fields of a value or a class with their defaults; `...` means no default."""
    found: Mapping[str, Any] = of.RECORD
    return found


def is_record(of: Any) -> bool:
    """Whether something is a record or a record class."""
    return hasattr(of, "RECORD")


def replace(of: T, /, **changes: Any) -> T:
    """Return the same value with some fields replaced."""
    return type(of)(**{name: getattr(of, name) for name in fields(of)} | changes)


def _made(cls: type[T], eq: bool) -> type[T]:
    names = tuple(n for n, text in inspect.get_annotations(cls).items() if not text.startswith("ClassVar"))
    defaults = {name: cls.__dict__.get(name, ...) for name in names}
    own = {n: x for n, x in cls.__dict__.items() if n not in (*names, "__dict__", "__weakref__")}
    slots = (*names, "__dict__") if any(isinstance(x, cached_property) for x in own.values()) else names
    shared = {"__slots__": slots, "__match_args__": names, "RECORD": defaults, **_FROZEN, **(_EQUAL if eq else {})}
    made: Any = type(cls.__name__, cls.__bases__, {**shared, **own})
    made._values, made.__init__ = _getter(names), _init(made, defaults)
    return made  # type: ignore[no-any-return]


def _getter(names: tuple[str, ...]) -> Any:
    """Make a getter of all fields as a tuple, even if there is only one."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda of: tuple(getattr(of, name) for name in names)


def _init(made: type, defaults: dict[str, Any]) -> Callable[..., None]:
    puts = tuple(made.__dict__[name].__set__ for name in defaults)
    count, needed = len(defaults), sum(default is ... for default in defaults.values())
    rest = tuple(defaults.values())[needed:]
    has_fresh = any(isinstance(default, Fresh) for default in rest)

    def __init__(self: Any, *values: Any, **named: Any) -> None:
        if named or len(values) != count:
            if named or has_fresh or not needed <= len(values) < count:
                values = _completed(made, defaults, values, named)
            else:
                values += rest[len(values) - needed :]
        for put, value in zip(puts, values):  # noqa: B905 (their lengths are equal by now)
            put(self, value)

    if not hasattr(made, "__post_init__"):
        return __init__

    def checked(self: Any, *values: Any, **named: Any) -> None:
        __init__(self, *values, **named)
        self.__post_init__()

    return checked


def _completed(made: type, defaults: dict[str, Any], values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """All fields, from positional arguments, keywords and defaults."""
    given = dict(zip(defaults, values, strict=False))
    found = {**defaults, **given, **named}
    missing = [name for name, value in found.items() if value is ... and name not in named and name not in given]
    if missing or len(values) > len(defaults) or given.keys() & named.keys() or len(found) > len(defaults):
        raise TypeError(f"{made.__name__} takes {', '.join(defaults)}")
    return tuple(
        value.make() if isinstance(value, Fresh) and name not in given and name not in named else value
        for name, value in found.items()
    )


def _refuse(self: Any, name: str, value: object = None) -> None:
    raise AttributeError(f"{type(self).__name__} is frozen: can't change '{name}'")


def _repr(self: Any) -> str:
    shown = (f"{name}={getattr(self, name)!r}" for name in fields(self))
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _reduce(self: Any) -> Any:
    return type(self), type(self)._values(self)


def _eq(self: Any, other: Any) -> Any:
    own = type(self)
    return own._values(self) == own._values(other) if type(other) is own else NotImplemented


def _hash(self: Any) -> int:
    return hash(type(self)._values(self))


_FROZEN = {"__setattr__": _refuse, "__delattr__": _refuse, "__repr__": _repr, "__reduce__": _reduce}
_EQUAL = {"__eq__": _eq, "__hash__": _hash}
