"""Run `weft info`: print versions, the machine, and whether native code works on it."""

from __future__ import annotations

import argparse
import os
import platform
import textwrap
import time

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from .._version import __version__
from ..backends.llvm.engine import caches, target
from ..frontend.language.source import parse_module
from ..ir.errors import UnsupportedTarget
from ..passes.planning.size_classes import LARGE
from ..runtime.calibration import calibration
from ..runtime.kernel import Kernel
from ..runtime.native import abi
from ..runtime.native.pool_code import LONG
from ..settings import default_options, registry

_TRIAL = "kernel trial(x: f32[n]) -> f32[n] { return 2 * x + 1 }"


def info(args: argparse.Namespace) -> None:
    """Print what a bug report should contain."""
    features = sorted(name for name, has in llvm.get_host_cpu_features().items() if has)
    rows = {
        "weft": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "numpy": np.__version__,
        "llvmlite": llvmlite.__version__,
        "llvm": ".".join(map(str, llvm.llvm_version_info)),
        "system": f"{platform.system()} {platform.release()} on {platform.machine()}",
        "cpu": llvm.get_host_cpu_name(),
        "features": " ".join(features) or "none known",
        "vectors": _vectors(),
        "caches": _caches(),
        "cores": _cores(),
        "threads": _threads(),
        "backend": _backend(),
        "calls": "native" if abi.is_known() else f"through ctypes: {abi.obstacle()}",
    }
    for name, value in rows.items():
        print(textwrap.fill(value, 100, initial_indent=f"{name:<9} ", subsequent_indent=" " * 10))


def _vectors() -> str:
    try:
        return f"{8 * target.host().vector_bytes} bits"
    except Exception as error:
        return f"none ({error})"


def _caches() -> str:
    sizes = ", ".join(f"{n >> 20} MB" if n >= 1 << 20 else f"{n >> 10} KB" for n in caches.cache_sizes())
    try:
        limit = max(target.host().cache_bytes, LARGE)
    except UnsupportedTarget:
        return sizes or "unknown"
    return f"{sizes or 'unknown'}; non-temporal stores from {limit >> 20} MB on"


def _cores() -> str:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{usable} usable of {os.cpu_count()}"


def _threads() -> str:
    found = calibration()
    if found is None:
        return f"work is shared with sleeping threads from {LONG // 10**6} µs on, which was not measured here"
    day = time.strftime("%Y-%m-%d", time.localtime(found.when))
    return (
        f"waking one takes {1e6 * found.wake:.1f} µs (measured {day}); "
        f"work is shared with sleeping ones from {found.shared_from / 1e6:.0f} µs on"
    )


def _backend() -> str:
    """Compile and run a kernel to see whether native code works: the system may forbid what the CPU can do."""
    try:
        kernel = Kernel(parse_module(_TRIAL, "trial").kernels["trial"], registry, default_options())
        x = np.arange(37, dtype=np.float32)
        right = bool((kernel(x) == 2 * x + 1).all())
    except Exception as error:
        return f"llvm is not usable: {error}"
    return "llvm is usable" if right else "llvm is not usable: a trial kernel gave wrong results"
