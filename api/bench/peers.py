"""The other compilers of array expressions, each with the settings that suit it best, and which of them are installed.

numexpr and Numba take literals as numbers of the arrays' dtype (they would compute f32 in f64 otherwise). numexpr is
called by `re_evaluate`, which skips reading the expression again. Numba compiles the NumPy function, or loops where a
row has them, with and without `parallel=True`. JAX gets arrays of its own and is waited for. `torch.compile` compiles
for one shape at a time, without gradients.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import warnings
from collections.abc import Iterable
from types import FunctionType
from typing import Any

import numpy as np

from .library import Call, Library, NumPy, Unable, timed, written
from .row import NUMPY, Case, Function, Row

MODULES = {"numexpr": "numexpr", "Numba": "numba", "JAX": "jax", "torch": "torch"}
_LITERAL = re.compile(r"(?<![\w.])\d+\.\d+")
_NAMES = "abcdefgh"


def installed() -> list[str]:
    """The peers that this Python has, NumPy first."""
    return ["NumPy", *(name for name, module in MODULES.items() if importlib.util.find_spec(module))]


def peers(names: Iterable[str], threads: int) -> list[Library]:
    """The libraries with these names; each may use so many threads. Some read that from the environment, once."""
    os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ["NUMEXPR_NUM_THREADS"] = os.environ["NUMEXPR_MAX_THREADS"] = str(threads)
    os.environ["NPROC"] = str(threads)  # XLA's pool
    made: dict[str, Any] = {"NumPy": lambda _: NumPy(), "numexpr": Numexpr, "Numba": Numba, "JAX": Jax, "torch": Torch}
    return [made[name](threads) for name in names]


class Numexpr:
    """numexpr's virtual machine."""

    name = "numexpr"

    def __init__(self, threads: int) -> None:
        self.module: Any = importlib.import_module("numexpr")
        self.module.set_num_threads(threads)

    def calls(self, case: Case) -> list[Call]:
        text, values = self._expression(case.row, case.args, case.dtype)
        evaluate, again = self.module.evaluate, self.module.re_evaluate
        evaluate(text, local_dict=values, global_dict={})
        return [timed(lambda: again(local_dict=values, global_dict={}), ())]

    def fresh(self, row: Row) -> Function:
        raise Unable("interprets, and has nothing to compile")

    def _expression(self, row: Row, args: tuple[Any, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        """The expression with a name for each literal, and what the names stand for."""
        if not row.numexpr:
            raise Unable("has no expression for it")
        values, number = dict(zip(_NAMES, args, strict=False)), NUMPY.get(dtype, np.float64)
        found = {text: f"k{k}" for k, text in enumerate(dict.fromkeys(_LITERAL.findall(row.numexpr)))}
        values.update((name, number(text)) for text, name in found.items())
        values.update((name, number(x)) for name, x in values.items() if isinstance(x, float))
        return _LITERAL.sub(lambda m: found[m[0]], row.numexpr), values


class Numba:
    """Numba, on one thread and on all; it is left to the measurement which is faster."""

    name = "Numba"

    def __init__(self, threads: int) -> None:
        self.module: Any = importlib.import_module("numba")
        self.module.set_num_threads(threads)
        warnings.filterwarnings("ignore", module="numba")
        warnings.filterwarnings("ignore", category=self.module.core.errors.NumbaWarning)
        self._parallel = (False, True) if threads > 1 else (False,)
        self._key: tuple[Function, str] | None = None
        self._functions: list[Function] = []

    def calls(self, case: Case) -> list[Call]:
        key = case.row.loops or case.row.make, case.dtype  # rows that differ in their inputs alone share the code
        if key != self._key:
            self._key = key
            self._functions = [self._compiled(case.row, case.dtype, parallel) for parallel in self._parallel]
        number = NUMPY.get(case.dtype, float)
        args = tuple(number(x) if isinstance(x, float) else x for x in case.args)
        made = [written(f, case) if case.row.into is not None else timed(f, args) for f in self._functions]
        problems = []
        for call in list(made):
            try:
                call.result()
            except Exception as error:
                made.remove(call)
                problems.append(error)
        if not made:
            raise Unable(f"can't compile it ({type(problems[0]).__name__})")
        return made

    def fresh(self, row: Row) -> Function:
        return self._compiled(row, "f64", False)

    def _compiled(self, row: Row, dtype: str, parallel: bool) -> Function:
        function = row.loops(np, self.module.prange) if row.loops else row.make(np)
        if dtype == "i32":
            function = _with_numbers(function, int, np.int32)
        elif "f64" not in dtype:
            function = _with_numbers(function, float, np.float32)
        compiled: Function = self.module.njit(function, parallel=parallel, fastmath=False, error_model="numpy")
        return compiled


def _with_numbers(function: Any, kind: type, number: Any) -> Function:
    """The function with its literals in another dtype: Numba computes f32 with a Python float in f64, and users write
    `np.float32(0.5)`."""
    code = function.__code__
    literals = tuple(number(x) if type(x) is kind else x for x in code.co_consts)
    return FunctionType(
        code.replace(co_consts=literals), function.__globals__, code.co_name, None, function.__closure__
    )


class Jax:
    """JAX on the CPU."""

    name = "JAX"

    def __init__(self, threads: int) -> None:
        self.module: Any = importlib.import_module("jax")
        self.module.config.update("jax_enable_x64", True)
        self.module.config.update("jax_platforms", "cpu")
        self.numpy: Any = importlib.import_module("jax.numpy")

    def calls(self, case: Case) -> list[Call]:
        if case.row.views:
            raise Unable("has no strides")
        if case.row.into is not None:
            raise Unable("writes into no given memory")
        args = tuple(self.numpy.asarray(x) if isinstance(x, np.ndarray) else x for x in case.args)
        function = self.module.jit(case.row.make(self.numpy))
        return [timed(function, args, lambda made: made.block_until_ready())]

    def fresh(self, row: Row) -> Function:
        function = self.module.jit(row.make(self.numpy))
        return lambda *args: function(*args).block_until_ready()


class Torch:
    """`torch.compile`, which makes C++ and needs a compiler for it."""

    name = "torch"

    def __init__(self, threads: int) -> None:
        self.module: Any = importlib.import_module("torch")
        importlib.import_module("torch._inductor.config")
        self.module.set_num_threads(threads)
        self.module.set_grad_enabled(False)

    def calls(self, case: Case) -> list[Call]:
        if case.row.into is not None:
            raise Unable("writes into no given memory")
        try:
            args = tuple(self._tensor(x) if isinstance(x, np.ndarray) else x for x in case.args)
        except (TypeError, ValueError) as error:
            raise Unable("has no tensor for the inputs") from error
        call = timed(self._compiled(case.row, False), args)
        return [Call(call.run, lambda: call.result().numpy())]

    def fresh(self, row: Row) -> Function:
        function, config = self._compiled(row, None), self.module._inductor.config

        def call(*args: Any) -> Any:
            with config.patch(force_disable_caches=True):  # else an earlier run has compiled it already
                return function(*map(self.module.from_numpy, args)).numpy()

        return call

    def _compiled(self, row: Row, dynamic: bool | None) -> Function:
        names = importlib.import_module(f"{__package__}.torch_names")
        self.module._dynamo.reset()  # after eight shapes of one function it would give up compiling
        compiled: Function = self.module.compile((row.torch or row.make)(names), dynamic=dynamic)
        return compiled

    def _tensor(self, x: Any) -> Any:
        """Memory of torch's own where it can have the same layout, else NumPy's."""
        tensor = self.module.from_numpy(x)
        return tensor.clone() if x.flags.forc else tensor
