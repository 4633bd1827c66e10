"""Run kernels of index notation for AVX2, for AVX-512 and on the reference backend, and compare the results.

Native code has the bits of the lowered graph, in which reductions have their trees. The original graph has NumPy's
order, so the last bits of sums may differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from weft.backends import reference
from weft.backends.llvm.engine import target
from weft.frontend.language.source import parse_module
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

WAYS = (Options(target=target.x86(3)), Options(target=target.x86(4)), Options(backend="reference"))
Array = np.ndarray[Any, Any]


class Kernels:
    """The kernels of a text, each compiled for all targets."""

    def __init__(self, text: str) -> None:
        found = parse_module(text, "index.weft").kernels
        self._kernels = {name: [Kernel(source, Registry(), way) for way in WAYS] for name, source in found.items()}

    def ways(self, name: str) -> list[Kernel]:
        """Return a kernel for each target."""
        return self._kernels[name]

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> Any:
            narrow, wide, by_numpy = self._kernels[name]
            found = narrow(*args)
            demand_same(found, wide(*args))
            lowered = wide.lower(*args)
            inputs = [np.asarray(x, v.type.dtype.numpy) for x, v in zip(args, lowered.graph.inputs, strict=True)]
            (defined,) = reference.run(lowered.graph, inputs)
            demand_same(found, defined)
            np.testing.assert_allclose(found, by_numpy(*args), rtol=1e-5, atol=1e-6)
            return found

        return call


def demand_same(a: Any, b: Any) -> None:
    """Check that results are equal to the bit, except for NaN payloads."""
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(a, b)
    if a.dtype.kind == "f":
        assert np.array_equal(np.signbit(a), np.signbit(b))
