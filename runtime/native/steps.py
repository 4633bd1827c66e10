"""Load the routines that serve calls (`*.routine`), and declare the steps that recipes consist of.

The routines are compiled once and kept on disk. They are the same for all graphs: a recipe is data.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...backends.llvm.engine.library import LoadedCode
from ...ir.support.forking import lock, make_once
from ..disk.code import routine_code
from . import abi

if TYPE_CHECKING:
    from ..threads import Pool

# The operands of each step, as words; those with a colon are addresses.
STEPS: dict[str, str] = {
    "begin": "count initial",
    "begin_named": "count initial names",
    "result": "object",
    "result_given": "place",
    # checks
    "array": "place dtype: rank mask flags data sizes strides",
    "plane": "place dtype: mask flags data sizes expected0 expected1",
    "row": "place dtype: mask flags data sizes expected",
    "unit_layout": "count strides sizes itemsize wanted",
    "stride_order": "a b wanted",
    "same_object": "place object:",
    "same_value": "place object: how",
    "field": "place: object:",
    "function": "function: code: defaults: keywords:",
    "names": "dict: is_tagged version count",
    "changed_names": "dict: is_tagged version count",
    "context": "is_plain",
    "quiet": "variable: value is_plain",
    "quiet_state": "variable: value is_plain",
    "pair": "place type: count items",
    "list_items": "place type: count items",
    "dict_items": "place type: count walk items",
    "in_cell": "cell: to",
    "in_dict": "dict: key: hash to",
    "forward": "function: tracer: untraced: traced: out: count",
    # numbers
    "scalar": "place type: pointer",
    "single": "place type: value pointer",
    "truth": "place type: true: value pointer",
    "whole": "place type: lowest highest kind value pointer",
    # sizes
    "sum": "a b to",
    "product": "a b to",
    "quotient": "a b to",
    "linear": "a times plus bits to",
    "polynomial": "count plus bits to",
    "smaller": "a b to",
    "larger": "a b to",
    "equal": "a b",
    "between": "a lowest highest",
    "ranges": "a count",
    "fits": "itemsize count",
    "bounds": "data rank itemsize to",
    "dense_bounds": "data rank itemsize to",
    "spread": "count strides sizes itemsize",
    "apart": "range count",
    "dense_apart": "data bytes count",
    # memory
    "small_row": "dtype: rank itemsize sizes strides fortran like object data is_plain",
    "small_array": "dtype: rank itemsize sizes strides fortran like object data is_plain",
    "new_array": "dtype: rank itemsize sizes strides fortran like object data is_plain",
    "scratch": "bytes pointer spare",
    "taken_scratch": "bytes pointer spare",
    "here": "register pointer",
    "moves": "count",
    # kernels
    "workers": "time to",
    "run_row": "function: frame extent0 extent1 unit grain0 grain1 tile workers short across time",
    "run": "function: frame extent0 extent1 unit grain0 grain1 tile workers short across time",
    "run_long": "function: frame extent0 extent1 unit grain0 grain1 tile workers short across time",
    "crew": "time launch workers",
    "copy_bytes": "data to bytes",
    "nest": "function: frame count",
    "skip_below": "a number bytes",
    "go_on_if": "pointer bytes",
    "skip": "bytes",
    "patience": "left time again",
    "turn": "turn count buffers to",
    # products
    "matrix": "row column rows columns itemsize turned distance",
    "gemm": "function: one: zero: itemsize m n k count left right result left_turned right_turned left_distance "
    "right_distance rank",
    # Python functions
    "call_python": "function: names: count all items object variable: is_plain ignoring: make:",
    "dense_array": "place copy: object sorted count range",
    "copied_array": "place copy: object itemsize count range",
    "own_array": "place copy: object itemsize count range",
    # results
    "plain_scalar": "pointer type: alloc: bytes object",
    "scalar_object": "pointer dtype: object",
    "python_number": "object method:",
    "float_object": "pointer object",
    "int_object": "pointer object",
    "truth_object": "pointer true: false: object",
    "chosen": "pointer first second object",
    "drop": "object",
    "given": "place object",
    "constant": "value: object",
    "another": "of object",
    "new_view": "place dtype: rank data sizes strides object",
    "pack_tuple": "count object",
    "pack_list": "count object",
    "pack_dict": "count object",
    "construct": "type: object",
}
OPERANDS = {step: tuple(operands.replace(":", "").split()) for step, operands in STEPS.items()}
NEVER = 1 << 62  # calls, and picoseconds
CALL = ("self", "count", "names", "recipe", "taken")  # the header of a call's memory
HEADER = 8 * len(CALL)
# The header of a recipe.
RECIPE = (
    "next", "inside", "calls", "limit", "bytes", "objects", "memory", "forwarded", "started", "asks_after",
)  # fmt: skip
# What the routines need of this process. `blocks` and `launch` are 0 until a maker, a Python function, was called.
MACHINE = (
    "array_type", "thread", "call", "dealloc", "raw_malloc", "raw_free", "dict_get", "as_integer",
    "new_array", "set_base", "make_scalar", "tuple_new", "list_new", "dict_new", "dict_set", "construct", "method",
    "save", "restore", "signals", "call_maker", "turn", "make_pool", "make_blocks", "launch", "threads", "blocks",
    "alone", "chunks", "context_get", "vectorcall", "is_raised", "clear_raised", "new_float", "new_int",
    "thread_context", "new_object", "object_free", "dict_next", "compare",
    "trace", "is_traced", "small_handler", "small_context", "small_malloc", "small_free",
    "context_set", "context_reset", "take_raised", "put_raised", "exception",
)  # fmt: skip
SYMBOLS = {
    "thread": abi.THREAD, "call": "_PyObject_MakeTpCall",
    "dealloc": "_Py_Dealloc", "raw_malloc": "PyMem_RawMalloc", "raw_free": "PyMem_RawFree",
    "dict_get": "_PyDict_GetItem_KnownHash", "as_integer": "PyLong_AsLongLongAndOverflow", "tuple_new": "PyTuple_New",
    "list_new": "PyList_New", "dict_new": "PyDict_New", "dict_set": "PyDict_SetItem", "construct": "PyObject_Call",
    "method": "PyObject_CallMethodObjArgs", "save": "PyEval_SaveThread", "restore": "PyEval_RestoreThread",
    "signals": "PyErr_CheckSignals", "call_maker": "PyObject_CallNoArgs",
    "context_get": "PyContextVar_Get", "vectorcall": "PyObject_Vectorcall", "is_raised": "PyErr_ExceptionMatches",
    "clear_raised": "PyErr_Clear", "new_float": "PyFloat_FromDouble", "new_int": "PyLong_FromLongLong",
    "dict_next": "PyDict_Next", "compare": "PyObject_RichCompareBool",
    "new_object": "_PyObject_New", "object_free": "PyObject_Free", "trace": "PyTraceMalloc_Track",
    "context_set": "PyContextVar_Set", "context_reset": "PyContextVar_Reset", "take_raised": "PyErr_Fetch",
    "put_raised": "PyErr_Restore",
}  # fmt: skip
VECTORCALL_OFFSET = 56  # of a type: where its objects have the address of the function that is called
LIST_ITEMS = 24  # of a list: where its items are
SPARE = 512  # bytes of scratch memory that a call has itself
CHUNKS_BEFORE = 1000  # small results without the free list, which takes a millisecond to make
MOST_BYTES = 1 << 60  # that an array may not reach


class Machine:
    """The routines in memory, and the words that they read. Both last as long as the process."""

    def __init__(self) -> None:
        self._words = (ctypes.c_int64 * len(MACHINE))()
        self._always = ctypes.c_int32(1)
        outside = {"machine": ctypes.addressof(self._words)}
        code = routine_code("calls", _text, frozenset(outside))
        self._library = LoadedCode(code, ["entry", *STEPS], outside)
        self.entry = self._library.addresses["entry"]
        self.steps: Mapping[str, int] = self._library.addresses
        self._first = min(self.steps.values())
        self._bytes = max(self.steps.values()) - self._first
        self._makers = (self._make_pool, self._make_blocks)
        for name, symbol in SYMBOLS.items():
            self.write(name, abi.address(symbol))
        self.write("array_type", id(np.ndarray))
        self.write("exception", id(Exception))
        self.write("new_array", abi.numpy_table()[abi.NEW_ARRAY])
        self.write("set_base", abi.numpy_table()[abi.SET_BASE])
        self.write("make_scalar", abi.numpy_table()[abi.MAKE_SCALAR])
        self.write("make_pool", id(self._makers[0]))
        self.write("make_blocks", id(self._makers[1]) if abi.has_handlers() else 0)
        self.write("thread_context", abi.thread_context())
        self.knows_contexts = bool(abi.thread_context())
        self._make_small_arrays()
        from .. import threads

        if threads.has_pool():
            self.take_pool(threads.pool())

    def write(self, name: str, value: int) -> None:
        self._words[MACHINE.index(name)] = value

    def warm_up(self) -> None:
        """Read the routines' code into the cache, because a compile pushes it out and the next call needs it."""
        ctypes.string_at(self._first, self._bytes)

    def _make_small_arrays(self) -> None:
        """Let routines make small arrays themselves, if NumPy makes its arrays as they expect."""
        found = abi.default_allocator() if self.knows_contexts else None
        self.makes_small_arrays = found is not None
        if found is not None:
            self.write("small_handler", id(found.handler))
            self.write("small_context", found.context)
            self.write("small_malloc", found.malloc)
            self.write("small_free", found.free)
            self.write("is_traced", abi.tracing_flag() or ctypes.addressof(self._always))

    def _make_pool(self) -> None:
        from .. import threads

        self.take_pool(threads.pool())

    def take_pool(self, pool: Pool) -> None:
        """From now on, share long work with the threads of a pool."""
        self.write("threads", pool.place("threads"))
        self.write("turn", pool.turn_address)
        self.write("launch", pool.launch_address)

    def _make_blocks(self) -> None:
        from ..memory import blocks

        self.write("blocks", blocks().base)


_made: list[Machine] = []
_making = lock()


def machine() -> Machine:
    """Return the routines of this process."""
    return _made[0] if _made else make_once(_made, Machine, _making)


def tell_pool(pool: Pool) -> None:
    """Tell the routines, if they are loaded, that there is a pool."""
    if _made:
        _made[0].take_pool(pool)


def _text() -> str:
    """Translate the routines. This runs only in a process that finds no code on disk."""
    from ...backends.llvm.code.routine_types import Layout, words
    from ...backends.llvm.code.routines import Routines
    from .. import threads
    from . import block_code, pool_code

    structures = {step: _operands(operands) for step, operands in STEPS.items()}
    constants: dict[str, int] = {step.upper(): layout.size for step, layout in structures.items()}
    constants |= {name: value for name, value in vars(abi).items() if name.isupper() and isinstance(value, int)}
    constants |= {
        "HEADER": HEADER, "RECIPE": 8 * len(RECIPE), "LEAST": block_code.LEAST, "HUGE": block_code.HUGE, "LEADS": 48,
        "CHUNK": block_code.CHUNK, "CHUNKS_BEFORE": CHUNKS_BEFORE,
        "SHARED_FROM": threads.SHORT, "NEST_SHARED_FROM": threads.SHARED, "MAKING": threads.MAKING,
        "INTERRUPTED": pool_code.INTERRUPTED, "MOST_BYTES": MOST_BYTES, "NEVER": NEVER, "TRACED": block_code.TRACED,
        "VECTORCALL_OFFSET": VECTORCALL_OFFSET, "LIST_ITEMS": LIST_ITEMS, "SPARE": SPARE,
        "EQUAL": 2, "MOST_BLAS": (1 << 31) - 1, "TURNED": ord("T"), "STRAIGHT": ord("N"),
    }  # fmt: skip
    numbers = {
        "alone": "i64",
        "chunks": "i64",
        "thread_context": "i64",
        "make_pool": "ptr",
        "make_blocks": "ptr",
        "blocks": "Blocks",
    }
    block_types = {name: "i64" if name in ("least", "most") else "ptr" for name in block_code.FIELDS}
    structures |= {
        "Call": words(self="ptr", count="i64", names="ptr", recipe="Recipe", taken="i64"),
        "Recipe": words(**{name: "Recipe" if name == "next" else "i64" for name in RECIPE}),
        "Machine": words(**{name: numbers.get(name, "ptr") for name in MACHINE}),
        "Blocks": Layout({n: (at, block_types[n]) for n, at in block_code.FIELDS.items()}, block_code.SIZE),
    }
    text = ""
    for name in ("calls", "call_work"):
        with open(os.path.join(os.path.dirname(__file__), f"{name}.routine"), encoding="utf-8") as file:
            text += file.read()
    return Routines(text, structures, constants, {"machine": "Machine"}).llvm()


def _operands(operands: str) -> Any:
    from ...backends.llvm.code.routine_types import words

    types = {name.rstrip(":"): "ptr" if name.endswith(":") else "i64" for name in operands.split()}
    return words(**{"step": "ptr"} | types)
