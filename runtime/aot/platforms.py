"""Resolve a target triple and CPU levels to the machines to compile for.

One library may hold a kernel for several levels of x86-64; the first call detects the CPU's level. All levels give the
same bits.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from functools import cache

import llvmlite.binding as llvm

from ...backends.llvm.engine.target import Target
from ...ir.errors import UnsupportedTarget
from ...ir.records import record

_X86_LEVELS = {3: ("", 32), 4: ("-prefer-256-bit", 64)}  # features, bytes of a vector
_OTHERS = {"aarch64": ("generic", "+neon", 16)}


@record
class CpuLevel:
    """A CPU to compile for. `number` is its x86-64 level, or 0 if there is only one."""

    number: int
    target: Target

    @property
    def name(self) -> str:
        return self.target.cpu if self.number else self.target.triple.partition("-")[0]

    @property
    def attributes(self) -> str:
        """The LLVM attributes that select this CPU for one function."""
        return f'"target-cpu"="{self.target.cpu}" "target-features"="{self.target.features}"'


@record
class Platform:
    """The machines a library is built for: `base` is the minimum, `levels` are in ascending order."""

    base: Target
    levels: tuple[CpuLevel, ...]
    tells_levels: bool  # whether code can detect a CPU's level

    @property
    def is_host(self) -> bool:
        """Whether this machine's linker can link the library."""
        return _arch(self.base.triple) == platform.machine() and platform.system() == "Linux"


def platform_for(triple: str | None, numbers: Sequence[int] | None = None) -> Platform:
    """Return the platform of a triple, or this machine's; without numbers, all levels."""
    _initialize()
    triple = triple or llvm.get_process_triple()
    arch = _arch(triple)
    if "linux" not in triple.split("-") or (arch != "x86_64" and arch not in _OTHERS):
        known = ", ".join(f"{a}-linux-gnu" for a in ("x86_64", *_OTHERS))
        raise UnsupportedTarget(f"no native code for the target '{triple}'", hint=f"there is code for {known}")
    if arch != "x86_64":
        if numbers:
            raise UnsupportedTarget(f"--cpu-levels is only for x86-64, not for '{triple}'", hint="omit --cpu-levels")
        target = Target(triple, *_OTHERS[arch])
        return Platform(target, (CpuLevel(0, target),), False)
    tells = platform.machine() == "x86_64"  # LLVM's assembler is set up only for this machine
    chosen = sorted(set(numbers or (_X86_LEVELS if tells else (min(_X86_LEVELS),))))
    unknown = [n for n in chosen if n not in _X86_LEVELS]
    if unknown:
        hint = f"there is code for {', '.join(map(str, _X86_LEVELS))}; below level 3 a CPU has no fused multiply-add"
        raise UnsupportedTarget(f"no native code for x86-64-v{unknown[0]}", hint=hint)
    if len(chosen) > 1 and not tells:
        raise UnsupportedTarget(
            "only x86-64 can build a library with several CPU levels",
            hint=f"choose one: --cpu-levels {chosen[0]}",
        )
    levels = tuple(CpuLevel(n, Target(triple, f"x86-64-v{n}", *_X86_LEVELS[n])) for n in chosen)
    return Platform(Target(triple, "x86-64", "", 16), levels, tells)


def _arch(triple: str) -> str:
    arch = triple.partition("-")[0]
    return {"arm64": "aarch64", "amd64": "x86_64"}.get(arch, arch)


@cache
def _initialize() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()
