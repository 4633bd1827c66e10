"""Runs kernels of index notation for AVX2, for AVX-512 and on the reference backend, and compares what they give."""

from __future__ import annotations

from typing import Any

import numpy as np
from weft.backends.llvm import target
from weft.frontend.language import parse_module
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

WAYS = (Options(target=target.x86(3)), Options(target=target.x86(4)), Options(backend="reference"))
Array = np.ndarray[Any, Any]


class Kernels:
    """The kernels of a text, each compiled in every way."""

    def __init__(self, text: str) -> None:
        found = parse_module(text, "index.weft").kernels
        self._kernels = {name: [Kernel(source, Registry(), way) for way in WAYS] for name, source in found.items()}

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> Any:
            first, *others = (kernel(*args) for kernel in self._kernels[name])
            for other in others:
                demand_same(first, other)
            return first

        return call


def demand_same(a: Any, b: Any) -> None:
    """Equal to the bit, but for which NaN it is."""
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(a, b)
    assert np.array_equal(np.signbit(a), np.signbit(b)) or a.dtype.kind in "cui"
