"""Time `mandelbrot` of docs/control-flow.md against the same loop in C, both on one thread.

    python benchmarks/mandelbrot.py

The two take turns, and the best time of each counts. The C compiler is `cc`, with `-O3 -march=native`. Every result is
compared before anything is timed. GCC may contract products and sums, so a few pixels at the edge may differ.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import weft

WEFT = """
fn escape(cr: f64, ci: f64, limit: i32) -> i32 {
    var zr = 0.0; var zi = 0.0; var k = 0
    while k < limit and zr*zr + zi*zi <= 4.0 {
        let t = zr*zr - zi*zi + cr
        zi = 2.0*zr*zi + ci
        zr = t
        k += 1
    }
    return k
}
kernel mandelbrot(re: f64[w], im: f64[h], limit: i32) -> i32[h, w] = escape(re[None, :], im[:, None], limit)
"""
C = """
void mandelbrot(const double *re, const double *im, long w, long h, int limit, int *out) {
    for (long y = 0; y < h; y++) for (long x = 0; x < w; x++) {
        double zr = 0, zi = 0; int k = 0;
        while (k < limit && zr*zr + zi*zi <= 4.0) {
            double t = zr*zr - zi*zi + re[x]; zi = 2.0*zr*zi + im[y]; zr = t; k++;
        }
        out[y*w + x] = k;
    }
}
"""
SIZE, LIMIT, ROUNDS = 1000, 200, 7
VIEWS = {"whole": (-2.0, 0.6, -1.2, 1.2), "seahorses": (-0.75, -0.73, 0.1, 0.12)}


def best(functions: list[Callable[[], object]]) -> list[float]:
    """Return the shortest time of each, in seconds, measured in turns."""
    found = [float("inf")] * len(functions)
    for _ in range(ROUNDS):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function()
            found[k] = min(found[k], time.perf_counter() - start)
    return found


def main() -> None:
    weft.set_threads(1)
    kernel = weft.compile(WEFT).mandelbrot
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "m.c", Path(folder) / "m.so"
        source.write_text(C)
        flags = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, "-o", str(library), str(source)], check=True)
        native = ctypes.CDLL(str(library)).mandelbrot
    native.argtypes = [ctypes.c_void_p] * 2 + [ctypes.c_long] * 2 + [ctypes.c_int, ctypes.c_void_p]
    for name, (left, right, low, high) in VIEWS.items():
        re, im = np.linspace(left, right, SIZE), np.linspace(low, high, SIZE)
        out = np.empty((SIZE, SIZE), np.int32)

        def in_c(re: np.ndarray = re, im: np.ndarray = im, out: np.ndarray = out) -> None:
            native(re.ctypes.data, im.ctypes.data, SIZE, SIZE, LIMIT, out.ctypes.data)

        def ours(re: np.ndarray = re, im: np.ndarray = im) -> np.ndarray:
            return kernel(re, im, LIMIT)

        in_c()
        assert np.mean(ours() != out) < 0.01
        c, own = best([in_c, ours])
        print(f"{name:10} C {c * 1e3:7.1f} ms, weft {own * 1e3:6.1f} ms: {c / own:.1f} times as fast")


if __name__ == "__main__":
    main()
