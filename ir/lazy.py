"""Compute an attribute at its first use, without a lock.

Python 3.11's `functools.cached_property` holds one lock for all objects of a class while it computes, and a child that
is forked meanwhile waits for it for ever. Here two threads may both compute the value; the first result is kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:
        """Works as `functools.cached_property` does from Python 3.12 on."""

        def __init__(self, make: Any) -> None:
            self.make, self.__doc__ = make, make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            found = instance.__dict__
            if self.name not in found:
                found.setdefault(self.name, self.make(instance))
            return found[self.name]


__all__ = ["cached_property"]
