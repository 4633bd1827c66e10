"""Print the throughput of mathematical functions in cache, on one thread, against NumPy and (if installed) torch.

    python benchmarks/math_speed.py [--sizes 4000 20000] [--rounds 400] [names...]

Each library writes into memory that it is given. Weft's native function is called directly, without the Python part of
a call. The time of a call with 64 elements is subtracted from every time of each library, so that only arithmetic is
compared. The libraries take turns, and the best of many short rounds counts. The ratio is the time of the faster of the
other libraries over Weft's: above 1, Weft is faster.
"""

from __future__ import annotations

import argparse
import ctypes
import time
from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
import weft
from weft.backends.llvm import compile as native
from weft.backends.llvm.engine import target
from weft.backends.llvm.engine.library import LoadedCode

try:
    import torch
except ImportError:
    torch = None

Run = Callable[[], object]
NATIVE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *([ctypes.c_int64] * 5))
SMALL = 64
LINE = 64
ROUND_SECONDS = 3e-4

# NumPy's name, torch's name, and arguments of the usual sizes.
FUNCTIONS: dict[str, tuple[str, Callable[[Any, int], tuple[Any, ...]]]] = {
    "exp": ("exp", lambda rng, n: (3 * rng.standard_normal(n),)),
    "log": ("log", lambda rng, n: (rng.uniform(0.1, 20, n),)),
    "sin": ("sin", lambda rng, n: (rng.uniform(-100, 100, n),)),
    "tanh": ("tanh", lambda rng, n: (3 * rng.standard_normal(n),)),
    "power": ("pow", lambda rng, n: (rng.uniform(0.1, 20, n), rng.uniform(-5, 5, n))),
    "exp2": ("exp2", lambda rng, n: (3 * rng.standard_normal(n),)),
    "expm1": ("expm1", lambda rng, n: (3 * rng.standard_normal(n),)),
    "log2": ("log2", lambda rng, n: (rng.uniform(0.1, 20, n),)),
    "log10": ("log10", lambda rng, n: (rng.uniform(0.1, 20, n),)),
    "log1p": ("log1p", lambda rng, n: (rng.uniform(-0.9, 20, n),)),
    "cos": ("cos", lambda rng, n: (rng.uniform(-100, 100, n),)),
    "tan": ("tan", lambda rng, n: (rng.uniform(-100, 100, n),)),
    "arcsin": ("asin", lambda rng, n: (rng.uniform(-1, 1, n),)),
    "arccos": ("acos", lambda rng, n: (rng.uniform(-1, 1, n),)),
    "arctan": ("atan", lambda rng, n: (3 * rng.standard_normal(n),)),
    "arctan2": ("atan2", lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n))),
    "sinh": ("sinh", lambda rng, n: (3 * rng.standard_normal(n),)),
    "cosh": ("cosh", lambda rng, n: (3 * rng.standard_normal(n),)),
    "arcsinh": ("asinh", lambda rng, n: (3 * rng.standard_normal(n),)),
    "arccosh": ("acosh", lambda rng, n: (rng.uniform(1, 20, n),)),
    "arctanh": ("atanh", lambda rng, n: (rng.uniform(-1, 1, n),)),
    "cbrt": ("", lambda rng, n: (3 * rng.standard_normal(n),)),
    "hypot": ("hypot", lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n))),
}


def aligned(x: Any) -> Any:
    """Copy an array to the start of a cache line, so that alignment slows no library down."""
    memory = np.empty(x.nbytes + LINE, np.uint8)
    begin = -memory.ctypes.data % LINE
    copy = memory[begin : begin + x.nbytes].view(x.dtype)
    copy[...] = x
    return copy


class Native:
    """The native function of a kernel that is one elementwise loop."""

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        lowered = weft.jit(function).lower(*args)
        program = native.emit(lowered.graph)
        (self.function,), (name,) = program.functions, program.names
        self.library = LoadedCode(native.build(program, target.host()).object_code, [name])
        self.address = self.library.addresses[name]

    def bind(self, args: tuple[Any, ...], out: Any) -> Run:
        """Return a call on these arrays; it keeps them and the code alive."""
        arrays = [*args, out]
        words = array(
            "q", [arrays[w.slot].ctypes.data if w.kind == "pointer" else out.size for w in self.function.entries]
        )
        frame = ctypes.c_void_p(words.buffer_info()[0])
        ranges = [ctypes.c_int64(x) for x in (0, out.size, 0, 1, 0)]
        call = NATIVE(self.address)
        return lambda keep=(words, arrays, self.library): call(frame, *ranges)


def runs(name: str, torch_name: str, args: tuple[Any, ...], kernel: Native) -> dict[str, Run]:
    """Return one call for each library, with memory for its result."""
    ufunc, out = getattr(np, name), aligned(args[0])
    found: dict[str, Run] = {"weft": kernel.bind(args, aligned(out)), "numpy": lambda: ufunc(*args, out=out)}
    if torch is not None and torch_name:
        tensors, result = [torch.from_numpy(x) for x in args], torch.from_numpy(aligned(out))
        function = getattr(torch, torch_name)
        found["torch"] = lambda: function(*tensors, out=result)
    return found


def best_times(calls: dict[str, Run], rounds: int) -> dict[str, float]:
    """Return the shortest time of one call, in seconds; the calls take turns."""
    repeats, best = {}, dict.fromkeys(calls, float("inf"))
    for library, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        repeats[library] = max(1, int(ROUND_SECONDS / (time.perf_counter() - start)))
    for _ in range(rounds):
        for library, call in calls.items():
            start = time.perf_counter()
            for _ in range(repeats[library]):
                call()
            best[library] = min(best[library], (time.perf_counter() - start) / repeats[library])
    return best


def measure(name: str, dtype: str, size: int, rounds: int) -> dict[str, float]:
    """Return nanoseconds per element for each library."""
    torch_name, arguments = FUNCTIONS[name]
    args = tuple(aligned(x.astype(dtype)) for x in arguments(np.random.default_rng(0), size))
    kernel = Native(getattr(np, name), args)
    whole = best_times(runs(name, torch_name, args, kernel), rounds)
    small = best_times(runs(name, torch_name, tuple(x[:SMALL] for x in args), kernel), rounds)
    return {library: 1e9 * (whole[library] - small[library]) / (size - SMALL) for library in whole}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(FUNCTIONS), help="NumPy's names of functions")
    parser.add_argument("--sizes", nargs="*", type=int, default=[4000, 20000])
    parser.add_argument("--dtypes", nargs="*", default=["f4", "f8"])
    parser.add_argument("--rounds", type=int, default=400)
    options = parser.parse_args()
    if torch is not None:
        torch.set_num_threads(1)
    print(f"{'function':9} {'dtype':5} {'size':>6} {'weft':>7} {'numpy':>7} {'torch':>7}  ratio   (ns for an element)")
    for name in options.names:
        for dtype in options.dtypes:
            for size in options.sizes:
                found = measure(name, dtype, size, options.rounds)
                ours, others = found["weft"], [v for k, v in found.items() if k != "weft"]
                columns = "".join(
                    f" {found[k]:7.3f}" if k in found else f" {'-':>7}" for k in ("weft", "numpy", "torch")
                )
                print(f"{name:9} {dtype:5} {size:6}{columns}  {min(others) / ours:5.2f}", flush=True)


if __name__ == "__main__":
    main()
