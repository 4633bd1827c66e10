"""Build the native entry for an example of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...backends.llvm.engine.library import LoadedCode
from ...ir.dtypes import BF16, F16, DType
from ..disk.code import object_code
from .call import Input, NativeCall
from .dispatch import NativeEntry
from .entry import entry_text
from .serving import serves
from .table import WordTable

if TYPE_CHECKING:
    from ..compiler import Lowered

NAME = "weft_entry"
HALVES = (F16, BF16)


def build_entry(lowered: Lowered, call: NativeCall) -> NativeEntry | None:
    """Compiles and loads the entry, if the call can have one."""
    inputs = zip(lowered.built.graph.inputs, call.inputs, strict=True)
    if not serves(lowered, call) or not all(_readable(value.type.dtype, given) for value, given in inputs):
        return None
    table = WordTable()
    text = entry_text(lowered, call, table, NAME)
    code = object_code(text, allowed=frozenset(("table",)))
    library = LoadedCode(code, [NAME], {"table": table.finish()})
    return NativeEntry(lowered, call.form, table, library, library.addresses[NAME])


def _readable(dtype: DType, given: Input) -> bool:
    """Arrays in the machine's byte order, numbers whose value lies in the object itself, and Python's numbers."""
    kind = type(given.given)
    if kind is np.ndarray:
        return given.given is given.array and given.array.dtype is dtype.numpy
    if kind in (int, float):
        return dtype.kind in ("int", "uint", "float") and (kind is int or dtype.kind == "float") and dtype not in HALVES
    return given.array.dtype == dtype.numpy and (kind in (bool, complex) or issubclass(kind, (np.number, np.bool)))
