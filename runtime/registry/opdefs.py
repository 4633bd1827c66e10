"""Make an `OpDef` from registered implementations, so that a new name becomes an op.

The dtype rule takes the signature that matches the operands exactly, otherwise that of NumPy's promoted dtype,
otherwise the narrowest to which they can be cast. The shape rule comes from the signature, or from the body if
it is not elementwise; it also reports wrong sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.builder import Builder
from ...ir.dims import Size, symbol
from ...ir.dtypes import DType, from_numpy
from ...ir.errors import TypeProblem, WeftError
from ...ir.facts import Facts
from ...ir.graph import graph_guards
from ...ir.opdef import OpDef, make_op
from ...ir.records import record
from ...ir.rules import Attrs, DTypes, promote
from ...ir.types import TensorType
from .calls import PythonKernel
from .implementation import Implementation
from .signature import Signature

if TYPE_CHECKING:
    from .registry import Registry


def op_of(name: str, implementations: Sequence[Implementation], meaning: Callable[..., Any]) -> OpDef:
    """Make the op of these implementations; `meaning` computes it on arrays."""
    newest = implementations[-1]
    traits = "elementwise scalar" if all(_is_elementwise(i) for i in implementations) else "scalar"
    doc = f"Registered as {', '.join(dict.fromkeys(str(i.signature) for i in implementations))}."
    return make_op(
        name, len(newest.signature.inputs), _dtype_rule(name, implementations), _shape_rule(implementations), traits,
        doc, meaning,
    )  # fmt: skip


def _is_elementwise(each: Implementation) -> bool:
    shapes = {spec.dims for spec in (*each.signature.inputs, each.signature.output)}
    return each.is_elementwise and shapes <= {None, (...,)} and each.kind != "python"


def _dtype_rule(name: str, implementations: Sequence[Implementation]) -> Callable[[DTypes, Attrs], Any]:
    newest_first = implementations[::-1]

    @cache
    def resolve(operands: DTypes) -> tuple[DTypes, DTypes]:
        found = [(each, casts) for each in newest_first if (casts := _casts(each.signature, operands)) is not None]
        if not found:
            given = ", ".join(map(str, operands))
            known = "; ".join(dict.fromkeys(str(i.signature) for i in newest_first))
            raise TypeProblem(f"'{name}' is not defined for {given}", hint=f"it is defined for {known}")
        together = _promoted(operands)
        chosen, casts = min(found, key=lambda entry: _loss(operands, entry[1], together))
        return casts, (result_dtype(chosen, casts),)

    return lambda operands, attrs: resolve(tuple(operands))


def _promoted(operands: DTypes) -> DType | None:
    try:
        return promote(operands)
    except TypeProblem:
        return None


def _loss(operands: DTypes, casts: DTypes, together: DType | None) -> tuple[int, int, int]:
    """Return the cost of a cast to a signature: none, NumPy's promotion, or its bits, signed ones first."""
    if all(c == d or (d.weak and c.kind == d.kind) for c, d in zip(casts, operands, strict=True)):
        return (0, 0, 0)
    if all(c == together for c in casts):
        return (1, 0, 0)
    return (2, sum(c.bits for c in casts), sum(c.kind == "uint" for c in casts))


def _casts(signature: Signature, operands: DTypes) -> DTypes | None:
    """Return the operands' dtypes after casting; a number takes the dtype of the first array of its class."""
    if len(signature.inputs) != len(operands):
        return None
    strong = {s.name: d for s, d in reversed(list(zip(signature.inputs, operands, strict=True))) if not d.weak}
    found = []
    for spec, dtype in zip(signature.inputs, operands, strict=True):
        cast = spec.cast(dtype)
        if cast is None:
            return None
        beside = strong.get(spec.name)
        found.append(beside if dtype.weak and spec.dtype is None and beside in spec.dtypes else cast)
    return tuple(d for d in found if d is not None)


def result_dtype(each: Implementation, dtypes: Sequence[DType]) -> DType:
    """Return the result dtype of an implementation for operands of these dtypes."""
    declared = each.signature.output.dtype
    if declared is not None:
        return declared
    if each.body is not None and not isinstance(each.body, PythonKernel):
        trials = (spec.trial() for spec in each.signature.inputs)
        graph = each.body.graph([TensorType(d, t.shape) for d, t in zip(dtypes, trials, strict=True)])
        return graph.outputs[0].type.dtype
    found = each.signature.result_dtype(dtypes)
    if found is None:
        raise TypeProblem(f"'{each.signature}' must name the dtype of the result", hint="write -> f32")
    return found


def _shape_rule(implementations: Sequence[Implementation]) -> Callable[..., list[tuple[Size, ...]]]:
    def rule(facts: Facts, shapes: list[tuple[Size, ...]], attrs: Attrs) -> list[tuple[Size, ...]]:
        fitting = [i for i in implementations[::-1] if i.signature.takes_ranks(map(len, shapes))]
        each = (fitting or implementations)[-1 if not fitting else 0]
        if each.is_elementwise or each.body is None or isinstance(each.body, PythonKernel):
            return [each.signature.result_shape(facts, shapes)]
        each.signature.bind(facts, shapes)
        known = [tuple(facts.canonical(s) for s in shape) for shape in shapes]
        trials = (spec.trial().dtype for spec in each.signature.inputs)
        types = [TensorType(d, s) for d, s in zip(trials, known, strict=True)]
        try:
            graph = each.body.graph(types, facts.sizes or {})
        except WeftError as error:
            error.span = None  # the user's line is that of the call
            raise
        for left, right in graph_guards(graph):
            facts.assume_equal(left, right)
        return [graph.outputs[0].type.shape]

    return rule


@record(eq=False)
class Meaning:
    """Run the implementation that the registry chooses, on the reference backend."""

    registry: Registry
    op: str

    def run(self, *operands: Any) -> Any:
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
