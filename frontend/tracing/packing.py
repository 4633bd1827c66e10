"""Take apart the lists, tuples and dicts among the arguments of a traced function.

A container with arrays or with a few numbers is packed: its arrays and numbers become inputs of the graph, and the rest
is fixed, with a `Leaf` in place of each input. Other containers are fixed as they are. The function gets new containers
with tracers in them. A function that changes one is refused, because the caller's would not change.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from inspect import Parameter
from itertools import count
from typing import Any

import numpy as np

from ...ir.source import Leaf, Packed, rebuilt

MOST_NUMBERS = 64  # of a container without arrays that are inputs; with more, its content is fixed
Test = Callable[[str, Any], bool]


def is_container(value: Any) -> bool:
    """Tell whether an argument is a container that is taken apart."""
    return type(value) in (list, dict) or isinstance(value, tuple)


def holds_arrays(value: Any) -> bool:
    """Tell whether nested containers hold arrays."""
    if is_container(value):
        return any(map(holds_arrays, value.values() if type(value) is dict else value))
    return isinstance(value, np.ndarray) or (hasattr(value, "__array__") and not isinstance(value, (np.generic, type)))


def numbers_in(value: Any) -> int:
    """Count the numbers in nested containers."""
    if is_container(value):
        return sum(map(numbers_in, value.values() if type(value) is dict else value))
    return int(isinstance(value, (bool, int, float, complex, np.generic)))


def packed(name: str, value: Any, is_dynamic: Test, taken: Container[str]) -> tuple[Packed, dict[str, Any]]:
    """Pack a container called `name`; its arrays and numbers get names that are not `taken`."""
    inputs: dict[str, Any] = {}
    places = count()

    def leaf(item: Any) -> Any:
        unique = f"{name}_{next(places)}"
        while unique in taken:
            unique += "_"
        if not is_dynamic(unique, item):
            return item
        inputs[unique] = item
        return Leaf(unique)

    return Packed(rebuilt(value, leaf)), inputs


def unpacked(value: Any, inputs: Mapping[str, Any]) -> Any:
    """Rebuild a fixed argument for the function, with new containers."""
    tree = value.tree if isinstance(value, Packed) else value
    return rebuilt(tree, lambda item: inputs[item.name] if isinstance(item, Leaf) else item)


def spread(
    parameters: Mapping[str, Parameter], positional: int, fixed: Mapping[str, Any]
) -> tuple[list[str], dict[str, Any]]:
    """Name the places of a call with `positional` arguments, and give those of `*args` and `**kwargs` their own names.

    Return the names of the positional places, and the fixed arguments under these names.
    """
    names: list[str] = []
    found = dict(fixed)
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            own = [f"*{k}" for k in range(positional - len(names))]
            names += own
            found |= zip(own, _apart(found.pop(name, ())), strict=True)
        elif parameter.kind is parameter.VAR_KEYWORD:
            items = found.pop(name, {})
            tree = items.tree if isinstance(items, Packed) else items
            found |= zip(tree, _apart(items), strict=True)
        elif parameter.kind is not parameter.KEYWORD_ONLY:
            names.append(name)
    return names, found


def _apart(container: Any) -> list[Any]:
    if not isinstance(container, Packed):
        return list(container.values() if type(container) is dict else container)
    return [Packed(item) for item in _apart(container.tree)]


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two containers hold the same objects in the same places."""
    if not is_container(one):
        return one is other
    if type(one) is not type(other) or len(one) != len(other):
        return False
    if type(one) is dict:
        return list(one) == list(other) and all(is_same(one[key], other[key]) for key in one)
    return all(is_same(a, b) for a, b in zip(one, other, strict=True))
