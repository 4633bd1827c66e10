"""Refer to objects in pickles by their module and name, and describe objects for dask."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import Unsupported

Place = tuple[str, str]


def found_at(module: str, name: str) -> Any:
    """Return the object of a module that a pickle refers to."""
    return getattr(import_module(module), name)


def reference(place: Place | None, what: str) -> Any:
    """Reduce an object to its place; one without a place can't be pickled."""
    if place is None:
        raise Unsupported(f"{what} can't be pickled", hint="make it in each process")
    return found_at, place


def token(*parts: Any) -> Any:
    """Describe an object for `dask.base.tokenize`. Pickles would not do: those of equal objects may differ."""
    return import_module("dask.base").normalize_token(parts)
