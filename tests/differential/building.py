"""Build a graph with the `Builder` and compile it for every level of x86-64.

This is for testing ops directly, without a front end. `checked` compares native code on all levels with the reference
on the lowered graph, bit for bit, and returns the result together with NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from weft.backends import reference
from weft.backends.llvm.engine import target
from weft.ir.builder import Builder
from weft.ir.dims import Size, symbol
from weft.ir.facts import Facts
from weft.ir.graph import Value
from weft.ir.ops import NUMPY
from weft.ir.source import ArgType, Binding, Built
from weft.ir.types import TensorType
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from .comparing import bits, levels, same_numbers

Build = Callable[..., Any]


@dataclass(frozen=True)
class Program:
    """A kernel source: `make` gets a builder and the inputs, and returns one value or several."""

    make: Build
    count: int
    name: str = "program"

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(f"x{k}" for k in range(self.count))

    def bind(self, args: Sequence[ArgType]) -> Binding:
        """Give every size its own symbol, unless it is 1."""
        types, numbers = [], dict[str, int]()
        for k, arg in enumerate(args):
            shape: list[Size] = []
            for axis, n in enumerate(arg.shape):
                shape.append(1 if n == 1 else symbol(f"n{k}_{axis}"))
                numbers[f"n{k}_{axis}"] = n
            types.append(TensorType(arg.dtype, tuple(shape)))
        return Binding(tuple(types), numbers)

    def build(self, binding: Binding, args: Sequence[ArgType] | None) -> Built:
        builder = Builder(self.name, Facts(binding.sizes))
        inputs = [builder.input(n, t) for n, t in zip(self.parameters, binding.types, strict=True)]
        made = self.make(builder, *inputs)
        return Built(builder.finish([made] if isinstance(made, Value) else list(made)))


class Compiled:
    """One program for AVX2 and for AVX-512."""

    def __init__(self, make: Build, count: int) -> None:
        source = Program(make, count)
        self.kernels = {
            level: Kernel(source, Registry(), Options(target=target.x86(level), verify=True)) for level in levels()
        }

    @property
    def kernel(self) -> Kernel:
        """The kernel for AVX2, which every supported machine runs."""
        return self.kernels[3]

    def checked(self, *args: Any) -> list[Any]:
        """Return the results after checking that all levels and the reference give the same bits, without fallbacks."""
        found: dict[str, list[Any]] = {}
        for level, kernel in self.kernels.items():
            found[f"level {level}"] = _listed(kernel(*args))
            lowered = kernel.lower(*args)
            assert not any(n.op is NUMPY for n in lowered.graph), lowered.ir()
            inputs = [np.asarray(x) for x in args]
            found[f"the lowered graph for level {level}"] = list(reference.run(lowered.graph, inputs))
        found["the graph that was built"] = list(reference.run(lowered.built.graph, inputs))
        first = found["level 3"]
        for name, results in found.items():
            for k, (a, b) in enumerate(zip(first, results, strict=True)):
                if bits(a) != bits(b):
                    same_numbers(np.asarray(a), np.asarray(b))
                    raise AssertionError(f"{name} differs from level 3 in the dtype or shape of output {k}")
        return first


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple) else [result]
