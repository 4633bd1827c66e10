"""Run a row with Numba: as loops if the row has them or is elementwise, else as its NumPy function.

Literals get the arrays' dtype. Numba computes f32 with a Python float in f64, so its users write `np.float32(0.5)`.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from . import check
from .library import TimedCall, Unable, timed, written
from .row import NUMPY, Case, Function, Row


class Numba:
    """Numba, on one thread and on all; the measurement decides which is faster."""

    name = "Numba"

    def __init__(self, threads: int) -> None:
        self.module: Any = importlib.import_module("numba")
        self.module.set_num_threads(threads)
        warnings.filterwarnings("ignore", category=self.module.core.errors.NumbaWarning)
        self._parallel = (False, True) if threads > 1 else (False,)
        self._key: tuple[Function, str] | None = None
        self._functions: list[Function] = []

    def calls(self, case: Case) -> list[TimedCall]:
        number = NUMPY.get(case.dtype, float)
        args = tuple(number(x) if isinstance(x, float) else x for x in case.args)
        key = case.row.loops or case.row.make, case.dtype  # rows that differ in their inputs alone share the code
        if key != self._key:
            self._key, self._functions = key, [f for p in self._parallel for f in self._working(case, args, p)]
        if not self._functions:
            raise Unable("can't compile it")
        return [written(f, case) if case.row.into is not None else timed(f, args) for f in self._functions]

    def fresh(self, row: Row) -> Function:
        return self._compiled(row.loops(np, self.module.prange) if row.loops else row.make(np), False)

    def _working(self, case: Case, args: tuple[Any, ...], parallel: bool) -> list[Function]:
        """Return the first way to write a row that Numba compiles correctly, or else the last one that it compiles."""
        found: list[Function] = []
        right = check.answer(case)
        for function in self._ways(case):
            compiled = self._compiled(function, parallel)
            try:
                result = compiled(*args)
            except (self.module.core.errors.NumbaError, TypeError, NotImplementedError):
                continue
            found = [compiled]
            if case.row.into is not None or not check.problem(result, right):
                break
        return found

    def _ways(self, case: Case) -> Iterator[Function]:
        row, prange = case.row, self.module.prange
        if row.loops:
            yield _with_literals(row.loops(np, prange), case.dtype)
            return
        array = row.make(np)
        vectors = [x for x in case.args if isinstance(x, np.ndarray) and x.ndim == 1]
        result = np.asarray(array(*case.args))
        if len(vectors) == len(case.args) and result.shape == vectors[0].shape:
            scalar = self._compiled(_with_literals(array, case.dtype), False)
            yield _each(np, prange, scalar, len(vectors), result.dtype)
        yield _with_literals(array, case.dtype)

    def _compiled(self, function: Function, parallel: bool) -> Function:
        compiled: Function = self.module.njit(function, parallel=parallel, fastmath=False, error_model="numpy")
        return compiled


def _with_literals(function: Any, dtype: str) -> Function:
    """Return the function with its literals in the arrays' dtype."""
    if "f64" in dtype:
        return FunctionType(*_parts(function))
    kind, number = (int, np.int32) if dtype == "i32" else (float, np.float32)
    code, *rest = _parts(function)
    literals = tuple(number(x) if type(x) is kind else x for x in code.co_consts)
    return FunctionType(code.replace(co_consts=literals), *rest)


def _parts(function: Any) -> tuple[Any, ...]:
    return function.__code__, function.__globals__, function.__name__, None, function.__closure__


def _each(np: Any, prange: Any, scalar: Any, count: int, dtype: Any) -> Any:
    """Map `scalar` over `count` vectors, as a user of Numba would; `dtype` is that of the result."""

    def one(a: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i])
        return out

    def two(a: Any, b: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i], b[i])
        return out

    def three(a: Any, b: Any, c: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i], b[i], c[i])
        return out

    def four(a: Any, b: Any, c: Any, d: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i], b[i], c[i], d[i])
        return out

    def six(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
        out = np.empty(a.size, dtype)
        for i in prange(a.size):
            out[i] = scalar(a[i], b[i], c[i], d[i], e[i], f[i])
        return out

    return {1: one, 2: two, 3: three, 4: four, 6: six}[count]
