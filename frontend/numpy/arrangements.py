"""List the functions that view, join, create and index arrays, by their NumPy names and aliases."""

from __future__ import annotations

from collections.abc import Mapping

from . import concatenate, creation, shapes
from .differences import DIFFERENCING
from .elementwise import Make
from .padding import PADDING
from .products import PRODUCTS
from .ranges import RANGING
from .repeats import REPEATING
from .take import TAKING
from .triangles import TRIANGLES

ARRANGING: Mapping[str, Make] = {
    **shapes.SHAPING, **concatenate.ASSEMBLING, **REPEATING, **PADDING, **DIFFERENCING, **creation.CREATING, **RANGING,
    **TRIANGLES, **TAKING, **PRODUCTS,
}  # fmt: skip
ALIASES = {**shapes.ALIASES, **concatenate.ALIASES, **creation.ALIASES}
LISTS = concatenate.LISTS
_SEQUENCES = frozenset(("concatenate", "concat", "stack", "hstack", "vstack", "dstack", "column_stack"))
_ARRAYS: Mapping[str, tuple[int | str, ...]] = {
    "take": (0, 1, "a", "indices"), "take_along_axis": (0, 1, "arr", "indices"), "append": (0, 1, "arr", "values"),
    "diff": (0, 3, 4, "a", "prepend", "append"), "ediff1d": (0, 1, 2, "ary", "to_end", "to_begin"),
    "meshgrid": tuple(range(32)), "ix_": tuple(range(32)), "full": (1, "fill_value"),
    "full_like": (0, 1, "a", "fill_value"), "array": (0, "object"), "asarray": (0, "a"), "asanyarray": (0, "a"),
}  # fmt: skip


def takes_array(name: str, argument: int | str) -> bool:
    """Tell whether NumPy converts a list to an array in this argument, given by position or by name."""
    return argument in _ARRAYS.get(name, ())


def takes_arrays(name: str, argument: int | str) -> bool:
    """Tell whether NumPy converts each item of a list to an array in this argument."""
    return name in _SEQUENCES and argument in (0, "arrays", "tup")
