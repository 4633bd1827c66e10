"""Random kernels with loops over whole arrays, native and on the reference, against a plain NumPy interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from weft.backends.llvm.engine import target
from weft.frontend.language.source import parse_module
from weft.runtime.compiler import Options
from weft.runtime.kernel import CallableKernel
from weft.runtime.registry import Registry

from .array_programs import draw

OPTIONS = [Options(), Options(target=target.x86(3), verify=True), Options(backend="reference")]


@pytest.mark.parametrize("seed", [*range(7), 8, 1001])
def test_a_random_kernel_does_what_its_text_says(seed: int) -> None:
    rng, program = np.random.default_rng(seed), draw(seed)
    x, y = rng.integers(-9, 9, (2, 19))
    text = program.text()
    (source,) = parse_module(text, "random.weft").kernels.values()
    for options in OPTIONS:
        kernel = CallableKernel(source, Registry(), options)
        for p in (0, 3, -7):  # the second call makes a native entry
            for found, wanted in zip(kernel(x, y, p), program.run(x, y, p), strict=True):
                np.testing.assert_array_equal(found, wanted, f"{options}\n{text}\n{p}")
