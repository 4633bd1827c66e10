"""Compute true values and errors in ULP with `reference.c` and `complex.c`, which are compiled for each run.

The compiler is the environment's `CC`, else `gcc`, `cc` or `clang`. It must support quad precision (`libquadmath`).
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from .formats import F32, Format

SOURCES = [str(Path(__file__).with_name(name)) for name in ("reference.c", "complex.c")]
# The last two keep every value; without them loops stay scalar.
FLAGS = ("-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp", "-fno-math-errno", "-fno-trapping-math")
# By how much the quick value of an error may be off, in ULP: 2**-27 and 2**-11 are the libraries' own units.
MARGIN = {"f32": 2.0**-20, "f64": 2.0**-8, "c64": 2.0**-20, "c128": 2.0**-8}
# What the C code takes, and its quick values.
CARRIED = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
QUICK = {"f32": np.float64, "f64": np.longdouble, "c64": np.complex128, "c128": np.clongdouble}

Array = np.ndarray[Any, Any]


class NoReference(Exception):
    """Raised when the reference can't be compiled."""


def compiler() -> str:
    names = [os.environ["CC"]] if os.environ.get("CC") else ["gcc", "cc", "clang"]
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        raise NoReference(
            f"make accuracy compares with quad precision in C and found no compiler (tried {', '.join(names)}); "
            "install gcc, or name one with CC=..."
        )
    return found


def compile_reference(folder: Path) -> Path:
    """Compile the shared library into a folder."""
    target = folder / "reference.so"
    command = [compiler(), *FLAGS, "-shared", "-fPIC", *SOURCES, "-o", str(target), "-lquadmath", "-lm"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        raise NoReference(
            f"{command[0]} could not compile the reference, which needs __float128 and libquadmath "
            f"(gcc on x86-64 has both):\n{made.stderr.strip()}"
        )
    return target


def _angles() -> Array:
    """Return a quarter turn, and powers of two up to the largest float modulo a turn, as sums of two doubles."""
    with mpmath.workprec(400):
        turn = 2 * mpmath.pi
        exact = [turn / 4, *(mpmath.mpf(2) ** k % turn for k in range(F32.most - F32.bits + 2))]
        return np.array([[float(value), float(value - float(value))] for value in exact])


class Library:
    """The compiled code. Every function takes a count first, and arrays as addresses."""

    def __init__(self, path: Path) -> None:
        self._loaded = ctypes.CDLL(str(path))
        parts = _angles()
        self.call("set_angles", len(parts) - 1, parts)

    def call(self, name: str, count: int, *arguments: Array | float) -> int:
        function = self._loaded[name]
        function.restype = ctypes.c_int64 if name == "sift" else None
        made = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_double(a) for a in arguments]
        found: int = function(ctypes.c_int64(count), *made)
        return found


class Reference:
    """Compute the true values of one function, rounded to one format. Buffers are reused between blocks."""

    def __init__(self, library: Library, name: str, format: Format, block: int) -> None:
        self._library = library
        self.name = name
        self.format = format
        self.kind = format.name if format.name in CARRIED else "f32"
        self.margin = MARGIN[self.kind]
        self._format = np.array([format.bits, format.least, format.most], np.int64)
        self._truth = np.empty(block, QUICK[self.kind])
        self._doubtful = np.empty(block, np.int64)

    def carried(self, values: Array) -> Array:
        """Convert values to the type that the C code takes."""
        return np.ascontiguousarray(values, CARRIED[self.kind])

    def evaluate(self, *inputs: Array) -> None:
        """Evaluate the points of one block."""
        self._library.call(f"quick_{self.kind}_{self.name}", inputs[0].size, *inputs, self._truth)

    def errors(self, got: Array, out: Array) -> Array:
        """Return the distances of results from the values last evaluated, in ULP, to within `margin`."""
        self._library.call(f"errors_{self.kind}", got.size, got, self._truth, self._format, out)
        return out[: got.size]

    def sift(self, errors: Array, worst: float) -> tuple[int, Array]:
        """Count the results that are certainly the nearest numbers, and return the points that `judge` must decide."""
        nearest = np.zeros(1, np.int64)
        doubts = self._library.call("sift", errors.size, errors, worst, self.margin, nearest, self._doubtful)
        return int(nearest[0]), self._doubtful[:doubts]

    def judge(self, inputs: tuple[Array, ...], got: Array) -> tuple[Array, Array]:
        """Return the error of each result in ULP, and whether it is the nearest number, in quad precision."""
        errors, nearest = np.empty(got.size), np.empty(got.size, np.bool_)
        self._library.call(f"judge_{self.kind}_{self.name}", got.size, *inputs, got, self._format, errors, nearest)
        return errors, nearest
