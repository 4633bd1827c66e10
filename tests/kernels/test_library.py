"""Test that every library kernel exists, is documented, and agrees with its NumPy reference."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import weft
from weft.loading.library import entries

from tests.kernels.cases import CASES, Case, Data

PROMISED = [
    *("add", "sub", "mul", "div", "axpy", "dot", "sum", "nrm2", "asum", "argmax", "cumsum"),
    *("relu", "leaky_relu", "sigmoid", "tanh", "gelu", "gelu_tanh", "silu", "softplus", "elu"),
    *("softmax", "log_softmax", "logsumexp", "layernorm", "rmsnorm", "cross_entropy"),
    *("sin", "cos", "exp", "log", "sqrt", "gemm", "gemv", "ger", "trmm", "symm", "syrk"),
    *("conv1d", "conv2d", "conv2d_nchw", "maxpool", "attention", "causal_attention"),
    *("nbody", "jacobi", "heat2d", "life"),
    *("cosine_similarity", "pairwise_distance", "haversine", "black_scholes", "mandelbrot", "julia"),
    *("ema", "iir"),
    *("min_plus", "shortest_paths", "ising_energy", "anneal", "amplify"),
]
SIZES = {"plain": {}, "apart": {"apart": True}, "one": {"n": 1, "m": 1, "k": 1}, "empty": {"n": 0}}
LAYOUTS = [("f4", "plain"), ("f4", "apart"), ("f8", "plain"), ("f8", "one"), ("f8", "empty")]


def flat(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def check(case: Case, got: Any, expected: Any) -> None:
    """Check dtype, shape, positions of NaN, and the distance that the case allows."""
    for a, b in zip(flat(got), flat(expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if b.dtype.kind == "c":
            a, b = np.stack((a.real, a.imag)), np.stack((b.real, b.imag))
        if b.dtype.kind != "f":
            assert np.array_equal(a, b)
            continue
        unit = np.spacing(np.maximum(np.abs(b), b.dtype.type(case.scale)))
        with np.errstate(invalid="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            far = np.where(same, 0, np.abs(a - b) / unit)
        assert np.max(far, initial=0) <= case.ulps


def test_all_that_was_promised_is_there() -> None:
    assert set(entries()) == set(PROMISED) == set(CASES)
    assert set(PROMISED) <= set(dir(weft.kernels))
    for name, entry in entries().items():
        kernel = getattr(weft.kernels, name)
        assert len(entry.doc) > 10 and entry.doc[-1] == "." and entry.doc in kernel.__doc__
        assert kernel.__doc__.startswith(f"{name}(") and entry.signature == kernel._source.signature
        assert kernel.reference.__name__ == name


@pytest.mark.parametrize("name", CASES)
def test_against_numpy(name: str) -> None:
    case, kernel = CASES[name], getattr(weft.kernels, name)
    for seed, (dtype, sizes) in enumerate(LAYOUTS):
        if (sizes == "empty" and not case.empty) or (case.long and (dtype, sizes) == LAYOUTS[0]):
            continue
        args = case.make(Data(np.random.default_rng(seed), dtype, **SIZES[sizes]))
        with np.errstate(all="ignore"):
            expected = kernel.reference(*args)
        check(case, kernel(*args), expected)


def test_it_is_loaded_when_it_is_named() -> None:
    code = (
        "import sys, weft; assert 'weft.kernels' not in sys.modules and 'weft.loading.library' not in sys.modules\n"
        "names = dir(weft.kernels); assert 'softmax' in names and 'llvmlite' not in sys.modules\n"
        "from weft.kernels import relu; import numpy as np; print(relu(np.array([-1, 2])), relu is weft.kernels.relu)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[0 2] True\n", "")
