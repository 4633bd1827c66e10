"""Compare scalar loop nests with C: the same loops, compiled by Weft and by `gcc -O3 -march=native`, in one run.

    python benchmarks/nests.py [name ...]

Each row has the time of both, best of several turns that alternate, their ratio, and whether Weft's result has the bits
of the interpreter (on a small size, because Python runs that one step by step).
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from weft.backends import nests
from weft.ir.nest.text import parse_nest
from weft.runtime.nests.compiling import compile_nest

ROOT = Path(__file__).parents[1]
TURNS = 25
Array = np.ndarray[Any, Any]
Case = tuple[tuple[Array, ...], dict[str, int], tuple[int, ...]]  # arrays, Weft's numbers, C's numbers


def _square(n: int) -> Array:
    found = np.random.default_rng(1).standard_normal((n, n))
    return found @ found.T + n * np.eye(n)


def _seidel(n: int) -> Case:
    return (_square(n),), {"steps": 4}, (n, 4)


def _matrix(n: int) -> Case:
    return (_square(n),), {}, (n,)


def _nussinov(n: int) -> Case:
    bases = np.random.default_rng(2).integers(0, 4, n).astype(np.int32)
    return (bases, np.zeros((n, n), np.int32)), {}, (n,)


def _bytes(n: int) -> Case:
    data = np.random.default_rng(3).integers(0, 256, n * 1000).astype(np.uint8)
    return (data, np.array(0xFFFF, np.uint16)), {}, (len(data),)


def _sparse(n: int) -> Case:
    random = np.random.default_rng(4)
    lengths = random.integers(1, 20, n)
    rows = np.concatenate([[0], np.cumsum(lengths)])
    count = int(rows[-1])
    columns, values = random.integers(0, n, count), random.standard_normal(count)
    return (rows, columns, values, random.standard_normal(n), np.zeros(n)), {}, (n,)


def _histogram(n: int) -> Case:
    data = np.random.default_rng(5).integers(0, 256, n * 1000).astype(np.int32)
    return (data, np.zeros(256, np.int64)), {}, (len(data),)


def _sort(n: int) -> Case:
    return (np.random.default_rng(6).standard_normal((n, 24)),), {}, (n, 24)


CASES: dict[str, tuple[Callable[[int], Case], int, int]] = {  # how to make it, its size here, and for the interpreter
    "gauss_seidel": (_seidel, 400, 9),
    "lu": (_matrix, 250, 9),
    "cholesky_serial": (_matrix, 300, 9),
    "nussinov": (_nussinov, 300, 12),
    "crc16": (_bytes, 200, 1),
    "sparse_rows": (_sparse, 20000, 20),
    "histogram": (_histogram, 1000, 1),
    "insertion_sort": (_sort, 2000, 3),
}


def library() -> ctypes.CDLL:
    """Compile the loops in C."""
    folder = tempfile.mkdtemp()
    options = ["-O3", "-march=native", "-shared", "-fPIC", "-lm"]
    subprocess.run(["gcc", *options, str(ROOT / "benchmarks" / "nests.c"), "-o", f"{folder}/nests.so"], check=True)
    return ctypes.CDLL(f"{folder}/nests.so")


def copies(arrays: tuple[Array, ...]) -> list[Array]:
    return [a.copy() for a in arrays]


def best(run: Callable[[list[Array]], None], arrays: tuple[Array, ...]) -> float:
    """Time one run on fresh copies."""
    own = copies(arrays)
    start = perf_counter()
    run(own)
    return perf_counter() - start


def compare(name: str, c: ctypes.CDLL) -> tuple[float, float, bool]:
    """Return the seconds of Weft and of C, and whether Weft has the interpreter's bits."""
    make, size, small = CASES[name]
    nest = parse_nest((ROOT / "examples" / "nests" / f"{name}.mlir").read_text(encoding="utf-8"))
    native = compile_nest(nest)
    arrays, numbers, _ = make(small)
    found, wanted = copies(arrays), copies(arrays)
    native.run(found, numbers)
    nests.run(nest, wanted, numbers)
    is_same = all(a.tobytes() == b.tobytes() for a, b in zip(found, wanted, strict=True))
    arrays, numbers, plain = make(size)
    function = getattr(c, name)
    function.restype = None
    given = [ctypes.c_int64(k) for k in plain]
    ours, theirs = [], []
    for _ in range(TURNS):
        ours.append(best(lambda own: native.run(own, numbers), arrays))
        theirs.append(best(lambda own: function(*(ctypes.c_void_p(a.ctypes.data) for a in own), *given), arrays))
    return min(ours), min(theirs), is_same


def main(names: list[str]) -> None:
    c = library()
    print(f"{'nest':<16} {'weft':>9} {'gcc -O3':>9} {'ratio':>6}  bits")
    for name in names or CASES:
        ours, theirs, is_same = compare(name, c)
        bits = "the interpreter's" if is_same else "DIFFERENT"
        print(f"{name:<16} {ours * 1e3:>6.2f} ms {theirs * 1e3:>6.2f} ms {ours / theirs:>6.2f}  {bits}")


if __name__ == "__main__":
    main(sys.argv[1:])
