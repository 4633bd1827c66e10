"""Describe the CPU that code is compiled for, and set up LLVM for it."""

from __future__ import annotations

import os
import platform
from functools import cache
from typing import TYPE_CHECKING

from ....ir.errors import UnsupportedTarget
from ....ir.records import record
from ....ir.support.forking import lock
from . import llvm_c
from .caches import core_cache, shared_cache
from .room import START, demand

if TYPE_CHECKING:
    from .llvmlite_api import Wrapped

_V3 = ("avx2", "fma", "bmi", "bmi2", "f16c")
_V4 = ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd")

_starting = lock()


@record
class Target:
    """The CPU to compile for.

    `vector_bytes` is the size of the widest vectors to use, `cache_bytes` how much of the last-level cache a program
    can count on, and `core_cache` how much of a core's second-level cache one operand can (0: unknown).
    """

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    cache_bytes: int = 0
    core_cache: int = 0


def llvm() -> llvm_c.Direct | Wrapped:
    """LLVM with the code generator of this machine; `llvmlite.binding` must initialise others."""
    with _starting:
        return _started()


@cache
def _started() -> llvm_c.Direct | Wrapped:
    demand(START, "to start LLVM")  # before Python looks for the library, which can't say what it lacks
    path = llvm_c.find()
    if path is not None:
        demand(os.path.getsize(path) + START, "to start LLVM")
        return llvm_c.Direct(path)
    from .llvmlite_api import Wrapped

    return Wrapped()


@cache
def host() -> Target:
    """This machine, or a typed error if its vectors are not supported."""
    machine = platform.machine()
    if platform.system() != "Linux" or machine not in ("x86_64", "aarch64"):
        raise UnsupportedTarget(
            f"no native code for {platform.system()} on {machine}",
            hint="weft.ir graphs still run on the reference backend: weft.jit(f, backend='reference')",
        )
    triple, cpu, features = llvm().triple(), llvm().cpu(), llvm().features()
    flags = ",".join(f"{'+' if has else '-'}{name}" for name, has in sorted(features.items()))
    if machine == "aarch64":
        return Target(triple, cpu, flags, 16, shared_cache(cpu), core_cache(cpu))
    if not all(features.get(f) for f in _V3):
        missing = ", ".join(f for f in _V3 if not features.get(f))
        raise UnsupportedTarget(
            f"this CPU lacks {missing}",
            hint="native code needs x86-64-v3; the reference backend still works: weft.jit(f, backend='reference')",
        )
    wide = all(features.get(f) for f in _V4)
    flags += ",-prefer-256-bit" if wide else ""
    return Target(triple, cpu, flags, 64 if wide else 32, shared_cache(cpu), core_cache(cpu))


def x86(level: int) -> Target:
    """A machine of x86-64 level 3 (AVX2) or 4 (AVX-512), even if the host has more."""
    features = "-prefer-256-bit" if level == 4 else ""
    return Target(llvm().triple(), f"x86-64-v{level}", features, 64 if level == 4 else 32)


def level_features(cpu: str) -> tuple[str, ...]:
    """The CPU features of an x86-64 level."""
    return {"x86-64-v3": _V3, "x86-64-v4": _V3 + _V4}.get(cpu, ())
