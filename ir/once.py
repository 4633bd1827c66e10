"""Compute a property when it is first asked for, and keep it as an attribute.

`functools.cached_property` does the same but takes a lock before Python 3.12, which costs more than what sizes compute.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class once(Generic[T]):
    """For classes that keep their attributes in a dictionary."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    def __get__(self, instance: Any, owner: type) -> T:
        found = instance.__dict__[self.function.__name__] = self.function(instance)
        return found
