"""Pack results as a function returns them: in lists, tuples, named tuples and dicts, nested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...ir.source import Place
from .recipe import OBJECTS, RecipeWriter, Register


def packed(w: RecipeWriter, tree: Any, objects: Sequence[Register]) -> Register:
    """Return the register of a container whose places the objects fill."""
    return _tree(w, tree, _handed_out(w, tree, objects))


def _tree(w: RecipeWriter, tree: Any, objects: Iterator[Register]) -> Register:
    """Pack a container. The objects come in the order of their places."""
    if isinstance(tree, Place):
        return next(objects)
    kind, to = type(tree), w.register(part=OBJECTS)
    if kind is dict:
        items = [_tree(w, x, objects) for x in tree.values()]
        pairs = [word for key, item in zip(tree, items, strict=True) for word in (w.object(key), item)]
        w.run("pack_dict", len(items), to, more=pairs)
    elif kind is list or isinstance(tree, tuple):
        items = [_tree(w, x, objects) for x in tree]
        w.run("pack_list" if kind is list else "pack_tuple", len(items), to, more=items)
        if hasattr(tree, "_fields"):
            w.run("construct", w.object(kind), to)
    else:
        w.run("constant", w.object(tree), to)
    return to


def _handed_out(w: RecipeWriter, tree: Any, objects: Sequence[Register]) -> Iterator[Register]:
    """Yield the objects for the places of a container.

    An object that is returned a second time gets one more reference.
    """
    found, places = [], places_of(tree)
    for k, index in enumerate(places):
        to = objects[index]
        if index in places[:k]:
            to = w.register(part=OBJECTS)
            w.run("another", objects[index], to)
        found.append(to)
    return iter(found)


def places_of(tree: Any) -> list[int]:
    """Return the numbers of the outputs in a container, in order."""
    if isinstance(tree, Place):
        return [tree.index]
    items = tree.values() if type(tree) is dict else tree if isinstance(tree, (list, tuple)) else ()
    return [index for item in items for index in places_of(item)]
