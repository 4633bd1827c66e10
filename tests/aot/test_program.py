"""Compile a C program against the header, link it with the library, and compare its results with Python's."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import weft
from weft.command.main import main

from tests.aot.calling import Loaded, built, sizes_of

HERE = Path(__file__).parent
KERNELS = ("totals", "moments", "axpy", "turned", "picked", "averaged", "counted")
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic")
SIZES = (0, 1, 7, 1000)
PAIRS = [*((n, m) for i, n in enumerate(SIZES) for j, m in enumerate(SIZES) if i + j < 6), (5000, 200)]


class Numbers:
    """The program's random number generator."""

    def __init__(self) -> None:
        self.state = 1

    def __call__(self, count: int) -> np.ndarray[Any, Any]:
        found = np.empty(count)
        for k in range(count):
            self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
            found[k] = (self.state >> 8) / 16777216.0 - 0.5
        return found


def arguments() -> Iterator[dict[str, tuple[Any, ...]]]:
    """Return the arguments that the program passes to each kernel, in its order."""
    numbers = Numbers()
    for n, m in PAIRS:
        x, uv, z = numbers(n * m).astype(np.float32).reshape(n, m), numbers(2 * n), numbers(2 * n).astype(np.float32)
        yield {
            "totals": (x,),
            "moments": (uv[::2].copy(),),
            "axpy": (np.float64(0.1), uv[::2].copy(), uv[1::2].copy()),
            "turned": (z.view(np.complex64), np.complex64(0.5 - 2j)),
            "averaged": (x, np.float32(0.25)),
            "counted": (x.reshape(-1), np.array([-1, 0, -1])[: 3 * (x.size > 0)], 0),
        }


def expected() -> bytes:
    """Return the output of the program if its results equal Python's."""
    python, found = weft.compile((HERE / "kernels.weft").read_text()), b""
    for place, given in enumerate(arguments()):
        if place == len(PAIRS) - 1:
            found += np.array([0, 2], np.float32).tobytes()
        totals = python.totals(*given["totals"])
        apart = np.zeros(3 * len(totals), np.float32)
        wide = np.zeros((2 * given["totals"][0].shape[0], 2 * len(totals)), np.float32)[::2, ::2]
        wide[...] = given["totals"][0]
        python.totals(wide, out=apart[::3])
        found += totals.tobytes() + apart.tobytes()
        if len(given["moments"][0]):
            found += np.array(python.moments(*given["moments"])).tobytes()
        found += python.axpy(*given["axpy"]).tobytes() + python.turned(*given["turned"]).tobytes()
        found += python.averaged(*given["averaged"]).tobytes()
        found += b"".join(np.asarray(y).tobytes() for y in python.counted(*given["counted"]))
    return found


def test_a_c_program_gets_the_bits_of_python(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:  # what a program would call is called all the same
        check_without_compiler()
        return
    assert main(["build", str(HERE / "kernels.weft"), *KERNELS, "-o", str(tmp_path / "libk.so")]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["k.h", "libk.so"]
    program = tmp_path / "program"
    source = [str(HERE / "program.c"), f"-I{tmp_path}"]
    linked = ["-o", str(program), f"-L{tmp_path}", "-lk", "-pthread", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([compiler, "-std=c11", *STRICT, *source, *linked], check=True)
    done = subprocess.run([program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == expected()
    if shutil.which("c++"):
        subprocess.run(["c++", "-std=c++11", "-x", "c++", "-fsyntax-only", *STRICT, *source], check=True)


def check_without_compiler() -> None:
    loaded = Loaded(built((HERE / "kernels.weft").read_text(), None, KERNELS), "k")
    python = weft.compile((HERE / "kernels.weft").read_text())
    for given in arguments():
        for name, own in given.items():
            if name == "moments" and not len(own[0]):
                continue
            wanted = python[name](*own)
            wanted = [np.asarray(x) for x in (wanted if isinstance(wanted, tuple) else (wanted,))]
            results = [np.zeros_like(x) for x in wanted]
            assert loaded.dense(name, own, results, sizes_of(loaded.forms[name], own)) == 0
            assert [x.tobytes() for x in results] == [x.tobytes() for x in wanted]
    assert loaded.function("k_version", ctypes.c_char_p)() == b"1.2.3"
