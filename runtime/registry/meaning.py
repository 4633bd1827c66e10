"""Run an op that is not in the fixed table for the reference backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.builder import Builder
from ...ir.dims import symbol
from ...ir.dtypes import from_numpy
from ...ir.facts import Facts
from ...ir.records import record
from ...ir.types import TensorType

if TYPE_CHECKING:
    from .registry import Registry


@record(eq=False)
class Meaning:
    """Runs the implementation that the registry chooses, on the reference backend."""

    registry: Registry
    op: str

    def __call__(self, *operands: Any) -> Any:
        from ...backends import reference
        from ...passes.promote_dtypes import PromoteDtypes
        from ...passes.select_kernels import SelectKernels

        arrays = [np.asarray(x) for x in operands]
        sizes = {f"x{k}_{axis}": n for k, x in enumerate(arrays) for axis, n in enumerate(x.shape)}
        builder = Builder(self.op, Facts(sizes))
        inputs = []
        for k, x in enumerate(arrays):
            shape = tuple(1 if n == 1 else symbol(f"x{k}_{axis}") for axis, n in enumerate(x.shape))
            inputs.append(builder.input(f"x{k}", TensorType(from_numpy(x.dtype), shape)))
        op = self.registry.find_op(self.op)
        assert op is not None, self.op
        graph = PromoteDtypes().run(builder.finish([builder.op(op, *inputs)]))
        selection = self.registry.selecting(sizes, None, 0)
        chosen = SelectKernels(selection).run(graph)
        return reference.run(chosen, arrays, sizes, selection.calls)[0]
