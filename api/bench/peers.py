"""Wrap the other compilers of array expressions, each with the settings that suit it best.

numexpr gets its literals in the arrays' dtype, because it would compute f32 with them in f64 otherwise. It is called by
`re_evaluate`, which does not parse the expression again. JAX gets its own arrays, and the clock stops when its result
is there. `torch.compile` compiles for one shape at a time, without gradients. Numba has its own file.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .library import BenchLibrary, NumPy, TimedCall, Unable, timed
from .numba_peer import Numba
from .row import NUMPY, Case, Function, Row

MODULES = {"numexpr": "numexpr", "Numba": "numba", "JAX": "jax", "torch": "torch"}
_LITERAL = re.compile(r"(?<![\w.])\d+\.\d+")
_NAMES = "abcdefgh"
_SETTERS = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")


def installed() -> list[str]:
    """List the libraries that are installed, NumPy first."""
    return ["NumPy", *(name for name, module in MODULES.items() if importlib.util.find_spec(module))]


def peers(names: Iterable[str], threads: int) -> list[BenchLibrary]:
    """Return the libraries with these names, each limited to this many threads; some read the limit from the
    environment.
    """
    os.environ["NUMBA_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ["NUMEXPR_NUM_THREADS"] = os.environ["NUMEXPR_MAX_THREADS"] = str(threads)
    os.environ["NPROC"] = str(threads)  # XLA's pool
    _limit_blas(threads)
    made: dict[str, Any] = {"NumPy": lambda _: NumPy(), "numexpr": Numexpr, "Numba": Numba, "JAX": Jax, "torch": Torch}
    return [made[name](threads) for name in names]


class Numexpr:
    """numexpr's virtual machine."""

    name = "numexpr"

    def __init__(self, threads: int) -> None:
        self.module: Any = importlib.import_module("numexpr")
        self.module.set_num_threads(threads)

    def calls(self, case: Case) -> list[TimedCall]:
        text, values = self._expression(case.row, case.args, case.dtype)
        evaluate, again = self.module.evaluate, self.module.re_evaluate
        evaluate(text, local_dict=values, global_dict={})
        return [timed(lambda: again(local_dict=values, global_dict={}), ())]

    def fresh(self, row: Row) -> Function:
        raise Unable("interprets, and has nothing to compile")

    def _expression(self, row: Row, args: tuple[Any, ...], dtype: str) -> tuple[str, dict[str, Any]]:
        """Return the expression with a name for each literal, and the values of the names."""
        if not row.numexpr:
            raise Unable("has no expression for it")
        values, number = dict(zip(_NAMES, args, strict=False)), NUMPY.get(dtype, np.float64)
        found = {text: f"k{k}" for k, text in enumerate(dict.fromkeys(_LITERAL.findall(row.numexpr)))}
        values.update((name, number(text)) for text, name in found.items())
        values.update((name, number(x)) for name, x in values.items() if isinstance(x, float))
        return _LITERAL.sub(lambda m: found[m[0]], row.numexpr), values


class Jax:
    """JAX on the CPU."""

    name = "JAX"

    def __init__(self, threads: int) -> None:
        self.module: Any = importlib.import_module("jax")
        self.module.config.update("jax_enable_x64", True)
        self.module.config.update("jax_platforms", "cpu")
        self.numpy: Any = importlib.import_module("jax.numpy")

    def calls(self, case: Case) -> list[TimedCall]:
        if case.row.kernel is not None:
            raise Unable("has no such kernel")
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
    """`torch.compile`, which generates C++ and needs a C++ compiler."""

    name = "torch"

    def __init__(self, threads: int) -> None:
        self.module: Any = importlib.import_module("torch")
        importlib.import_module("torch._inductor.config")
        self.module.set_num_threads(threads)
        self.module.set_grad_enabled(False)

    def calls(self, case: Case) -> list[TimedCall]:
        if case.row.kernel is not None:
            raise Unable("has no such kernel")
        if case.row.into is not None:
            raise Unable("writes into no given memory")
        try:
            args = tuple(self._tensor(x) if isinstance(x, np.ndarray) else x for x in case.args)
        except (TypeError, ValueError) as error:
            raise Unable("has no tensor for the inputs") from error
        call = timed(self._compiled(case.row, False), args)
        return [TimedCall(call.run, lambda: call.result().numpy())]

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
        """Copy to torch's own memory if it can have the same layout, else share NumPy's."""
        tensor = self.module.from_numpy(x)
        return tensor.clone() if x.flags.forc else tensor


def _limit_blas(threads: int) -> None:
    """Limit the threads of NumPy's BLAS by a call: it read its environment when NumPy was imported.

    Does nothing if the BLAS is not OpenBLAS, or if the system does not tell which libraries are loaded.
    """
    try:
        maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    except OSError:
        return
    for path in {line.split(maxsplit=5)[5] for line in maps.splitlines() if "openblas" in line}:
        library = ctypes.CDLL(path)
        for name in _SETTERS:
            if (setter := getattr(library, name, None)) is not None:
                setter(ctypes.c_int(threads))
                break
