"""Test parameters with default values and parameters that are sizes, wherever a kernel's parameters are known."""

from __future__ import annotations

import copy
import ctypes
import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.command.main import main
from weft.errors import TypeProblem, ValueProblem

TEXT = """
const C = 3
fn scaled(x, s = 2.0) = x * s

# Moves x.
kernel moved(x: f64[n], by: f64 = 1e-5, times: int = -C, z: c128 = 2j) -> f64[n] = scaled(x + by) * times + imag(z)
kernel twice(x: f64[n]) = moved(x, times=2)
kernel ramp(k: size, step: f64 = 2) -> f64[k] = arange(k) * step
kernel longer(x: f64[n]) -> f64[n + 1] = ramp(n + 1) + sum(x)
kernel times_length(x: f64[k], k: size) = x * k
"""
X = np.arange(4.0)


def moved(x: np.ndarray, by: float = 1e-5, times: int = -3) -> np.ndarray:
    return (x + by) * 2.0 * times + 2


def test_defaults() -> None:
    module = weft.compile(TEXT)
    for kernel in (module.moved, pickle.loads(pickle.dumps(module.moved)), copy.deepcopy(module.moved)):
        for _ in range(3):
            np.testing.assert_array_equal(kernel(X), moved(X))
        np.testing.assert_array_equal(kernel(X, 0.5), moved(X, 0.5))
        np.testing.assert_array_equal(kernel(X, times=1), moved(X, times=1))
    assert module.moved.chain.calls  # a default is a constant of a native call
    np.testing.assert_array_equal(module.twice(X), moved(X, times=2))
    np.testing.assert_array_equal(weft.jit(lambda x: module.moved(x) + 1)(X), moved(X) + 1)
    declared = "moved(x: f64[n], by: f64 = 1e-5, times: int = -C, z: c128 = 2j) -> f64[n]"
    assert module.moved.__doc__ == f"{declared}\n\nMoves x."
    assert str(inspect.signature(module.moved)) == "(x, by=1e-05, times=-3, z=2j, *, out=None)"
    x = np.random.default_rng(0).standard_normal((3, 8))
    norm = weft.kernels.layernorm
    np.testing.assert_array_equal(norm(x, x[0], x[1]), norm(x, x[0], x[1], 1e-5))
    with pytest.raises(TypeProblem, match="'x' is missing"):
        module.moved()


def test_defaults_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "moved.weft"
    file.write_text(TEXT)
    module = weft.load(file, watch=True)
    np.testing.assert_array_equal(weft.load(file).moved(X), moved(X))  # found in the cache, with its defaults
    kernel = module.moved
    kernel(X), kernel(X)
    file.write_text(TEXT.replace("1e-5", "0.25"))
    module._watch.look(), module._watch.look()  # the first look waits for the file to settle
    for held in (kernel, weft.load(file).moved):
        np.testing.assert_array_equal(held(X), moved(X, 0.25))
    module.close()
    main(["run", str(file), "ramp", "--arg", "k=3"])
    assert capsys.readouterr().out == "out: f64[3]\n[0. 2. 4.]\n"
    file.write_text("kernel ramp(k: size, step: f64 = 2) -> f64[k] = arange(k) * step")
    main(["build", str(file), "-o", str(tmp_path / "k.so"), "--header", str(tmp_path / "k.h")])
    header, made = (tmp_path / "k.h").read_text(), np.zeros(4)
    library = ctypes.CDLL(str(tmp_path / "k.so"))
    assert library.ramp(ctypes.c_double(3), ctypes.c_int64(4), ctypes.c_void_p(made.ctypes.data)) == 0
    assert [*made] == [0, 3, 6, 9]
    assert "/* ramp(k: size, step: f64 = 2) -> f64[k]\n" in header
    assert "int ramp(double step, int64_t k, double *out);\n" in header


def test_an_op_keeps_the_defaults() -> None:
    text = "kernel _raised(x: f64[...], by: f64 = 0.5) -> f64[...] = x + by"
    with weft.registry.scope():
        weft.compile(f'@impl(op="raised_by_half")\n{text}')
        np.testing.assert_array_equal(weft.ops.raised_by_half(X), X + 0.5)


def test_sizes() -> None:
    module = weft.compile(TEXT)
    for k in (5, 7, np.int32(7), 1, 1, 0, 0, 9, 9):
        np.testing.assert_array_equal(module.ramp(k), np.arange(k) * 2.0)
    assert len(module.ramp.signature_cache) == 2 and module.ramp.chain.calls >= 3  # size 1 has its own graph
    np.testing.assert_array_equal(module.ramp(3, out=np.empty(3)), [0, 2, 4])
    np.testing.assert_array_equal(module.longer(X), np.arange(5) * 2.0 + X.sum())
    np.testing.assert_array_equal(module.times_length(X, 4), X * 4)
    longer = weft.jit(lambda x: module.ramp(x.shape[0] + 1)[1:] + x)
    np.testing.assert_array_equal(longer(X), np.arange(1, 5) * 2.0 + X)
    np.testing.assert_array_equal(weft.jit(lambda k: module.ramp(k))(3), [0, 2, 4])
    for k, error in ((5, ValueError), (-4, ValueProblem), (4.0, TypeProblem), (True, TypeProblem)):
        with pytest.raises(error, match="'k'"):
            module.times_length(X, k)
