"""Run one op by its own native code, as a separate kernel.

The reference does not repeat mathematical functions bit by bit. If a run of a graph needs the exact bits of native
code, it takes them from here: the op alone, on flat arrays, compiled once per signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from weft.ir.builder import Builder
from weft.ir.dims import symbol
from weft.ir.dtypes import WEAK, DType, from_numpy
from weft.ir.facts import Facts
from weft.ir.ops import OpDef
from weft.ir.source import ArgType, Binding, Built
from weft.ir.types import TensorType
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

Array = np.ndarray[Any, Any]
MAX_KERNELS = 4000


class OneOp:
    """A kernel source: one op on vectors of one length."""

    def __init__(self, op: OpDef, attrs: Mapping[str, Any], dtypes: Sequence[DType]) -> None:
        self.op, self.attrs, self.dtypes = op, attrs, dtypes
        self.name = op.name
        self.parameters = tuple(f"x{k}" for k in range(len(dtypes)))

    def bind(self, args: Sequence[ArgType]) -> Binding:
        size = args[0].shape[0]
        shape = (symbol("n"),) if size != 1 else (1,)
        return Binding(tuple(TensorType(d, shape) for d in self.dtypes), {"n": size} if size != 1 else {})

    def build(self, binding: Binding, args: Sequence[ArgType] | None) -> Built:
        builder = Builder(self.name, Facts(dict(binding.sizes)))
        operands = [builder.input(n, t) for n, t in zip(self.parameters, binding.types, strict=True)]
        return Built(builder.finish([builder.op(self.op, *operands, **self.attrs)]))


class Natives:
    """Kernels of single ops, made when they are first needed."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._kernels: dict[Any, Kernel] = {}

    def run(self, op: OpDef, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Array:
        """Run the op on operands that broadcast; Python numbers take the dtype of the other operand."""
        given = tuple(WEAK[type(x).__name__] if type(x) in (int, float, complex) else _dtype(x) for x in operands)
        compute, _ = op.dtypes(given, attrs)
        arrays = np.broadcast_arrays(*(np.asarray(x, d.numpy) for x, d in zip(operands, compute, strict=True)))
        key = (op.name, tuple(sorted(attrs.items())), compute)
        kernel = self._kernels.get(key)
        if kernel is None:
            if len(self._kernels) >= MAX_KERNELS:
                self._kernels.clear()
            kernel = self._kernels[key] = Kernel(OneOp(op, attrs, compute), Registry(), self.options)
        # One element more than there are, so that every length is served by one kernel.
        flat = [np.concatenate([x.ravel(), np.ones(2, x.dtype)]) for x in arrays]
        found: Array = kernel(*flat)[:-2].reshape(arrays[0].shape)
        return found


def _dtype(x: Any) -> DType:
    return from_numpy(np.asarray(x).dtype)
