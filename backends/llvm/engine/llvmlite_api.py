"""Call LLVM through llvmlite's Python layer, for versions whose library is not known.

It has the same functions as `llvm_c.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm


class Wrapped:
    """LLVM as llvmlite offers it."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self._machines: dict[tuple[str, str, str, int], Any] = {}

    def triple(self) -> str:
        return str(llvm.get_process_triple())

    def cpu(self) -> str:
        return str(llvm.get_host_cpu_name())

    def features(self) -> dict[str, bool]:
        return dict(llvm.get_host_cpu_features())

    def set_option(self, option: str) -> None:
        llvm.set_option("weft", option)

    @contextmanager
    def read(self, text: str, triple: str) -> Iterator[Any]:
        with llvm.parse_assembly(text, llvm.create_context()) as module:
            module.triple = triple
            module.verify()
            yield module

    def machine(self, triple: str, cpu: str, features: str, effort: int) -> Any:
        key = (triple, cpu, features, effort)
        if key not in self._machines:
            self._machines[key] = llvm.Target.from_triple(triple).create_target_machine(
                cpu=cpu, features=features, opt=effort, reloc="pic", codemodel="small", jit=True
            )
        return self._machines[key]

    def optimise(self, module: Any, triple: str, cpu: str, features: str) -> None:
        tuning = llvm.create_pipeline_tuning_options(speed_level=2)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = False
        tuning.loop_interleaving = False
        builder = llvm.create_pass_builder(self.machine(triple, cpu, features, 2), tuning)
        builder.getModulePassManager().run(module, builder)

    def emit(self, module: Any, machine: Any, is_object: bool) -> bytes:
        return bytes(machine.emit_object(module)) if is_object else str(machine.emit_assembly(module)).encode()
