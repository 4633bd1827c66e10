"""Call LLVM's C functions in llvmlite's library directly, without llvmlite's Python layer.

Importing that layer takes longer than LLVM needs for a kernel. The few functions here are declared as llvmlite declares
them, the same in all versions in `KNOWN`. With any other version `llvmlite_api.py` does the same through the layer.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

KNOWN = ("0.48.", "0.49.", "0.50.")
LEVEL = 2  # LLVM's optimisation level, for its passes

_OBJECT, _TEXT, _INT, _OUT = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)
_FUNCTIONS: dict[str, tuple[Any, ...]] = {  # result type, then parameter types
    "InitializeNativeTarget": (None,),
    "InitializeNativeAsmPrinter": (None,),
    "DisposeString": (None, _TEXT),
    "GetProcessTriple": (None, _OUT),
    "GetHostCPUName": (None, _OUT),
    "GetHostCPUFeatures": (_INT, _OUT),
    "SetCommandLine": (None, _TEXT, _TEXT),
    "ContextCreate": (_OBJECT,),
    "ContextDispose": (None, _OBJECT),
    "ParseAssembly": (_OBJECT, _OBJECT, _TEXT, _OUT),
    "SetTarget": (None, _OBJECT, _TEXT),
    "VerifyModule": (ctypes.c_bool, _OBJECT, _OUT),
    "DisposeModule": (None, _OBJECT),
    "GetTargetFromTriple": (_OBJECT, _TEXT, _OUT),
    "CreateTargetMachine": (_OBJECT, _OBJECT, _TEXT, _TEXT, _TEXT, _INT, _TEXT, _TEXT, _INT, _INT, _TEXT),
    "TargetMachineEmitToMemory": (_OBJECT, _OBJECT, _OBJECT, _INT, _OUT),
    "GetBufferStart": (_OBJECT, _OBJECT),
    "GetBufferSize": (ctypes.c_size_t, _OBJECT),
    "DisposeMemoryBuffer": (None, _OBJECT),
    "CreatePipelineTuningOptions": (_OBJECT, _INT, _INT),
    "PTOSetLoopVectorization": (None, _OBJECT, ctypes.c_bool),
    "PTOSetSLPVectorization": (None, _OBJECT, ctypes.c_bool),
    "PTOSetLoopUnrolling": (None, _OBJECT, ctypes.c_bool),
    "PTOSetLoopInterleaving": (None, _OBJECT, ctypes.c_bool),
    "CreatePassBuilder": (_OBJECT, _OBJECT, _OBJECT),
    "buildPerModuleDefaultPipeline": (_OBJECT, _OBJECT, _INT),
    "RunNewModulePassManager": (None, _OBJECT, _OBJECT, _OBJECT),
    "DisposeNewModulePassManger": (None, _OBJECT),
}


class Direct:
    """LLVM in llvmlite's shared library at `path`."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        self._calls: dict[str, Any] = {}
        self._machines: dict[tuple[str, str, str, int], Any] = {}
        self._builders: dict[tuple[str, str, str], Any] = {}
        for name, (result, *arguments) in _FUNCTIONS.items():
            call = self._calls[name] = getattr(library, f"LLVMPY_{name}")
            call.restype, call.argtypes = result, arguments
        self._calls["InitializeNativeTarget"]()
        self._calls["InitializeNativeAsmPrinter"]()

    def triple(self) -> str:
        """The target triple of this process."""
        return self._told("GetProcessTriple")[1]

    def cpu(self) -> str:
        """The name of this machine's CPU."""
        return self._told("GetHostCPUName")[1]

    def features(self) -> dict[str, bool]:
        """The features of this machine's CPU, present and absent."""
        found, text = self._told("GetHostCPUFeatures")
        return {part[1:]: part[0] == "+" for part in text.split(",") if part} if found else {}

    def set_option(self, option: str) -> None:
        """Sets an option of LLVM for the whole process."""
        self._calls["SetCommandLine"](b"weft", option.encode())

    @contextmanager
    def read(self, text: str, triple: str) -> Iterator[Any]:
        """Parses and verifies a module for a target triple."""
        with ExitStack() as stack:
            context = self._owned(stack, "ContextDispose", self._calls["ContextCreate"]())
            module, problem = self._told("ParseAssembly", context, text.encode())
            if module:
                stack.callback(self._calls["DisposeModule"], module)
            if not module or problem:
                raise RuntimeError(f"LLVM can't parse the module: {problem}")
            self._calls["SetTarget"](module, triple.encode())
            is_bad, problem = self._told("VerifyModule", module)
            if is_bad:
                raise RuntimeError(f"LLVM refuses the module: {problem}")
            yield module

    def machine(self, triple: str, cpu: str, features: str, effort: int) -> Any:
        """A code generator, for one thread at a time.

        There is one for each machine, which lasts as long as the process. It keeps its tables of the CPU, which take
        as long to make as a tenth of a small kernel.
        """
        key = (triple, cpu, features, effort)
        if key not in self._machines:
            self._machines[key] = self._machine(*key)
        return self._machines[key]

    def _machine(self, triple: str, cpu: str, features: str, effort: int) -> Any:
        target, problem = self._told("GetTargetFromTriple", triple.encode())
        if not target:
            raise RuntimeError(problem)
        words = (text.encode() for text in (triple, cpu, features))
        made = self._calls["CreateTargetMachine"](target, *words, effort, b"pic", b"small", 0, 1, b"")
        if not made:
            raise RuntimeError(f"LLVM has no code generator for CPU {cpu} and target {triple}")
        return made

    def optimise(self, module: Any, triple: str, cpu: str, features: str) -> None:
        """Runs LLVM's simplifying passes, without those that unroll and vectorise.

        A pass builder is never freed in full, so there is one for each machine, which lasts as long as the process.
        """
        key = (triple, cpu, features)
        if key not in self._builders:
            tuning = self._calls["CreatePipelineTuningOptions"](LEVEL, 0)
            for name in ("LoopVectorization", "SLPVectorization", "LoopUnrolling", "LoopInterleaving"):
                self._calls[f"PTOSet{name}"](tuning, False)
            self._builders[key] = self._calls["CreatePassBuilder"](self.machine(*key, LEVEL), tuning)
        passes = self._calls["buildPerModuleDefaultPipeline"](self._builders[key], LEVEL)
        with ExitStack() as stack:
            self._owned(stack, "DisposeNewModulePassManger", passes)
            self._calls["RunNewModulePassManager"](passes, module, self._builders[key])

    def emit(self, module: Any, machine: Any, is_object: bool) -> bytes:
        """Compiles a module to an object file or to assembly."""
        found, problem = self._told("TargetMachineEmitToMemory", machine, module, int(is_object))
        if not found:
            raise RuntimeError(problem)
        with ExitStack() as stack:
            self._owned(stack, "DisposeMemoryBuffer", found)
            return ctypes.string_at(self._calls["GetBufferStart"](found), self._calls["GetBufferSize"](found))

    def _owned(self, stack: ExitStack, dispose: str, made: Any) -> Any:
        stack.callback(self._calls[dispose], made)
        return made

    def _told(self, name: str, *arguments: Any) -> tuple[Any, str]:
        """Calls a function whose last parameter receives a message; returns its result and the message."""
        said = ctypes.c_char_p()
        call: Callable[..., Any] = self._calls[name]
        try:
            return call(*arguments, ctypes.byref(said)), (said.value or b"").decode()
        finally:
            self._calls["DisposeString"](said)


def find() -> str | None:
    """The path of llvmlite's library, if its version is known."""
    import llvmlite

    path = os.path.join(os.path.dirname(llvmlite.__file__), "binding", "libllvmlite.so")
    return path if llvmlite.__version__.startswith(KNOWN) and os.path.isfile(path) else None
