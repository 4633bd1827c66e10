"""Test that a product in a C library has the bits of a call from Python, small or large."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import weft
from weft.command.main import main

from .test_matmul import numbers, same_bits

TEXT = """
kernel layer(x: f32[n, k], w: f32[k, m], b: f32[m]) -> f32[n, k] {
    let z = maximum(x @ w + b, 0)
    return z / (1 + sum(z, axis=-1, keepdims=true)) @ transpose(w)
}
"""


def test_library(tmp_path: Path) -> None:
    source, library = tmp_path / "k.weft", tmp_path / "libk.so"
    source.write_text(TEXT)
    assert main(["build", str(source), "-o", str(library), "--dense", "--cpu-levels", "3"]) == 0
    function = ctypes.CDLL(str(library)).layer
    kernel = weft.load(str(source)).layer
    for n, k, m in ((5, 7, 9), (33, 130, 200), (200, 300, 150)):
        x, w, b = numbers((n, k), "float32"), numbers((k, m), "float32", 1), numbers((m,), "float32", 2)
        out = np.empty((n, k), np.float32)
        arrays = [ctypes.c_void_p(a.ctypes.data) for a in (x, w, b)]
        sizes = [ctypes.c_int64(size) for size in (n, k, m)]
        assert function(*arrays, *sizes, ctypes.c_void_p(out.ctypes.data)) == 0
        same_bits(out, kernel(x, w, b))
