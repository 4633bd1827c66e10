"""Hold what is loaded of a lowered graph, and what its calls have shown.

A `Lowered` does not change. Everything that comes later is here: the native code once a call needs it, the times of
compiling it and of its first run, the variants to choose from, and the same graph in forms for other sizes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..ir.errors import VerifyProblem, WeftError, quantity
from ..ir.limits import limiter
from ..ir.support.forking import lock
from ..ir.support.progress import compiling
from .launch import Launcher, NativeRegion

if TYPE_CHECKING:
    from ..backends.llvm.compile import NativeProgram
    from .compiler import Lowered
    from .selection.plan import VariantPlan


class Loaded:
    """What is loaded of one lowered graph. Copies of a `Lowered` that differ only in what they print share it."""

    def __init__(self, launcher: Launcher | None = None, siblings: list[Lowered] | None = None) -> None:
        self.seconds: dict[str, float] = {}  # by step
        self.plan: VariantPlan | None = None
        self.siblings: list[Lowered] = [] if siblings is None else siblings  # the same graph in other forms
        self._lock = lock()
        self._launcher = launcher
        self._program: NativeProgram | None = None

    def program_of(self, lowered: Lowered) -> NativeProgram:
        """Return the LLVM text of the graph, written when it is first needed."""
        if self._program is None:
            made = self._emitted(lowered)
            self._program = self._program or made
        return self._program

    def launcher_of(self, lowered: Lowered) -> Launcher:
        """Return the native code, ready to run; it is compiled when it is first needed."""
        if self._launcher is None:
            with self._lock, limiter.compiling(), compiling(lowered.graph.name, "LLVM"):
                made = self._launcher or self._compiled(lowered)
                # If a signal handler loaded it meanwhile, native entries may already use that code, so it stays.
                self._launcher = self._launcher or made
        return self._launcher

    def _emitted(self, lowered: Lowered) -> NativeProgram:
        from ..ir.support import float_environment

        with float_environment.usual():  # constants are folded under these
            from ..backends.llvm import compile as native

            start = time.perf_counter()
            with _typed_errors(lowered):
                program = native.emit(lowered.result.after())  # a stored graph gets its nests now
            self.seconds["emit"] = time.perf_counter() - start
            return program

    def _compiled(self, lowered: Lowered) -> Launcher:
        from ..backends.llvm import compile as native
        from ..backends.llvm.engine.library import LoadedCode, linked
        from ..ir.support.compile_log import log_compile

        program = self.program_of(lowered)
        with _typed_errors(lowered):
            compiled = native.build(program, lowered.options.machine)
        start = time.perf_counter()
        library = LoadedCode(code := linked(compiled.object_code, program.names), program.names)
        llvm = {"LLVM read": compiled.reading_seconds, "LLVM codegen": compiled.codegen_seconds}
        self.seconds |= {**llvm, "load": time.perf_counter() - start}
        log_compile(lowered.graph.name, quantity(len(program.functions), "native kernel"), self.seconds)
        if lowered.keep is not None:
            lowered.keep(lowered, code)
        kernels = {
            region: NativeRegion(region, function, library.addresses)
            for region, function in zip(program.regions, program.functions, strict=True)
        }
        return Launcher(lowered.graph, kernels, lowered.built.calls, library)


@contextmanager
def _typed_errors(lowered: Lowered) -> Iterator[None]:
    """Report errors in edited IR as errors of that IR; errors in Weft's own graphs stay as they are."""
    try:
        yield
    except WeftError:
        raise
    except Exception as error:
        if lowered.built.after is None:
            raise
        message = f"{lowered.graph.name}: this IR can't be compiled ({type(error).__name__}: {error})"
        raise VerifyProblem(message, hint="undo the edits of its plan, or let the passes make it") from error
