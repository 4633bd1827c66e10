"""Random programs of elements, native and on the reference, against a plain interpreter, element by element."""

from __future__ import annotations

import numpy as np
import pytest
from weft.backends.llvm.engine import target
from weft.frontend.language.source import parse_module
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from .programs import draw

HEAD = "kernel run(x: f64[k], n: i64[k]) -> f64[k] = program(x, n)\n"
OPTIONS = [Options(target=target.x86(3)), Options(target=target.x86(4)), Options(backend="reference")]


@pytest.mark.parametrize("seed", range(12))
def test_a_random_program_does_what_its_text_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.concatenate([[0.0, -0.0, np.inf, np.nan, -2.5], rng.normal(size=62) * 3])
    n = np.concatenate([[0, -1, 2**62, 3, 5], rng.integers(-9, 9, 62)])
    program = draw(seed)
    text = program.text()
    with np.errstate(all="ignore"):
        want = np.array([program.run(a, b) for a, b in zip(x, n, strict=True)])
    source = parse_module(HEAD + text, "random.weft").kernels["run"]
    for options in OPTIONS:
        got = Kernel(source, Registry(), options)(x, n)
        same = (got == want) & (np.signbit(got) == np.signbit(want)) | (np.isnan(got) & np.isnan(want))
        assert same.all(), f"{options}\n{text}\n{x[~same]} {n[~same]}: {got[~same]}, not {want[~same]}"
