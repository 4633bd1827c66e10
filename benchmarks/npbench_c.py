"""Compare the scalar loops of seven NPBench programs under `weft.jit` with the same loops in C.

    python benchmarks/npbench_c.py PATH [--preset S]

PATH is a checkout of the suite (spcl/npbench). `npbench_loops.c` is compiled by `gcc -O3 -march=native`. Calls of both
take turns on one thread, and the least CPU time of each counts. Results must agree.
"""

from __future__ import annotations

import argparse
import copy
import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

os.environ.setdefault("WEFT_NUM_THREADS", "1")
sys.path[:1] = [str(Path(__file__).parent.parent)]  # the name of npbench.py would hide the suite's package

from benchmarks.npbench_programs import arguments, described, is_same, program  # noqa: E402

SOURCE = Path(__file__).parent / "npbench_loops.c"
TURNS = 40
PREPARED: dict[str, Callable[..., tuple[Any, ...]]] = {  # the arguments of the C function, after the program's own
    "seidel_2d": lambda steps, n, a: (steps, n, a),
    "nussinov": lambda n, seq: (n, seq.astype(np.int32), np.zeros((n, n), np.int32)),
    "crc16": lambda data: (len(data), data.astype(np.uint8)),
    "lu": lambda a: (len(a), a),
    "cholesky": lambda a: (len(a), a),
    "durbin": lambda r: (len(r), r, np.empty_like(r)),
    "adi": lambda steps, n, u: (steps, n, u),
}


def main() -> None:
    """Print a row for each program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a checkout of the suite")
    parser.add_argument("--preset", default="S", help="the sizes to run: S, M, L or paper")
    given = parser.parse_args()
    sys.path.insert(0, str(given.path))
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "loops.so"
        options = ["-O3", "-march=native", "-shared", "-fPIC", str(SOURCE), "-o", str(library), "-lm"]
        subprocess.run(["gcc", *options], check=True)
        loops = ctypes.CDLL(str(library))
        print("| program | gcc, ms | Weft, ms | Weft / gcc | |\n| --- | ---: | ---: | ---: | --- |")
        for name in PREPARED:
            print(compared(given.path, name, given.preset, loops), flush=True)


def compared(path: Path, name: str, preset: str, loops: ctypes.CDLL) -> str:
    """Time a program and its C function, and return a row of the table."""
    import weft

    info = described(path, name)
    values = arguments(info, preset)
    args = [values[n] for n in info["input_args"]]
    jitted, in_c = weft.jit(program(info)), getattr(loops, name)
    in_c.restype = ctypes.c_long
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        ours = copy.deepcopy(args)
        seconds, result = cpu_seconds(lambda ours=ours: jitted(*ours))  # type: ignore[misc]
        times[0].append(seconds)
        theirs = PREPARED[name](*copy.deepcopy(args))
        passed = [x.ctypes.data_as(ctypes.c_void_p) if isinstance(x, np.ndarray) else int(x) for x in theirs]
        seconds, number = cpu_seconds(lambda passed=passed: in_c(*map(_word, passed)))  # type: ignore[misc]
        times[1].append(seconds)
    wanted = number if name == "crc16" else theirs[-1]
    found = ours[-1] if result is None else result
    same = found == wanted if name == "crc16" else is_same(np.asarray(wanted), np.asarray(found))
    weft_time, c_time = min(times[0]), min(times[1])
    if name == "cholesky":  # C's upper triangle is the argument's, as ours
        same = same and bool(np.array_equal(np.triu(found, 1), np.triu(wanted, 1)))
    verdict = "same" if same else "differs"
    return f"| {name} | {1e3 * c_time:.4f} | {1e3 * weft_time:.4f} | {weft_time / c_time:.2f} | {verdict} |"


def _word(x: Any) -> Any:
    return x if isinstance(x, ctypes.c_void_p) else ctypes.c_long(x)


def cpu_seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.thread_time_ns()
    result = call()
    return (time.thread_time_ns() - start) / 1e9, result


if __name__ == "__main__":
    main()
