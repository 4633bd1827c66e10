"""Make named tuples as `typing.NamedTuple` does, in a tenth of the time.

`typing.NamedTuple` evaluates the text of a function for each class, and a first call needs forty such classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class Named(type):
        """Makes subclasses of `NamedTuple` into plain subclasses of `tuple`."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            return _named(name, namespace) if bases else super().__new__(cls, name, bases, namespace)

    class NamedTuple(metaclass=Named):
        """The class to derive from."""


def _named(name: str, namespace: dict[str, Any]) -> type:
    names = tuple(namespace.get("__annotations__", ()))
    defaults = {name: namespace[name] for name in names if name in namespace}
    own = {n: x for n, x in namespace.items() if n not in names}
    getters = {name: property(itemgetter(k)) for k, name in enumerate(names)}
    shared = {"__slots__": (), "__match_args__": names, "_fields": names, "_field_defaults": defaults, **_SHARED}
    made: Any = type(name, (tuple,), {**shared, **getters, **own})
    made.__new__ = _new(made, names, defaults)
    return made  # type: ignore[no-any-return]


def _new(made: type, names: tuple[str, ...], defaults: dict[str, Any]) -> Any:
    count, needed, rest = len(names), len(names) - len(defaults), tuple(defaults.values())

    def __new__(cls: Any, *values: Any, **named: Any) -> Any:
        if named or len(values) != count:
            if named or not needed <= len(values) < count:
                values = _completed(made, names, defaults, values, named)
            else:
                values += rest[len(values) - needed :]
        return tuple.__new__(cls, values)

    return __new__


def _completed(
    made: type, names: tuple[str, ...], defaults: dict[str, Any], values: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, ...]:
    """All fields, from positional arguments, keywords and defaults."""
    given = dict(zip(names, values, strict=False))
    found = {**defaults, **given, **named}
    if len(values) > len(names) or given.keys() & named.keys() or found.keys() != set(names):
        raise TypeError(f"{made.__name__} takes {', '.join(names)}")
    return tuple(found[name] for name in names)


def _make(cls: Any, values: Iterable[Any]) -> Any:
    return cls(*values)


def _replace(self: Any, /, **changes: Any) -> Any:
    return type(self)(**{**self._asdict(), **changes})


def _asdict(self: Any) -> dict[str, Any]:
    return dict(zip(self._fields, self, strict=True))


def _repr(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._asdict().items())})"


def _getnewargs(self: Any) -> tuple[Any, ...]:
    return tuple(self)


_SHARED = {
    "_make": classmethod(_make),
    "_replace": _replace,
    "_asdict": _asdict,
    "__repr__": _repr,
    "__getnewargs__": _getnewargs,
}
