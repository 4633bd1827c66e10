"""Tell whether calls with the signature of an example can be native."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.accesses import value_layouts
from ...ir.graph import Graph, Node, Value
from ...ir.layouts import C
from ...ir.loops import graphs
from ...ir.ops import CONCATENATE, LOOP, REGION, RESHAPE
from .call import NativeCall
from .gemm_code import is_gemm

if TYPE_CHECKING:
    from ..compiler import Lowered


def serves(lowered: Lowered, call: NativeCall) -> bool:
    """Whether a graph can be called natively in this way: all of it is kernels, and they know their results' order."""
    by_blas = {n for n in lowered.graph if is_gemm(n, lowered.launcher.calls)}
    nodes_ok = all(_is_native(graph, by_blas) for graph in graphs(lowered.graph))
    given = any(out is not None for out in call.outs)
    shape = lowered.built.structure
    plain = shape is None or shape.kind in ("single", "tuple")
    written = lowered.writes_all_outputs or _writes_dense_outputs(lowered, call, by_blas)
    fresh = written and not lowered.repeats_outputs and not lowered.any_order
    return nodes_ok and plain and fresh and not (given and lowered.launcher.may_fail)


def _is_native(graph: Graph, by_blas: set[Node]) -> bool:
    """Whether a graph, or the body of a loop, is kernels, products by BLAS, and reshapes that hand memory on."""
    layouts = value_layouts(graph)
    dense = {n for n in graph if n.op is RESHAPE and layouts[n.operands[0]] == C}
    return all(n.op in (REGION, CONCATENATE, LOOP) or n in dense or n in by_blas for n in graph)


def _writes_dense_outputs(lowered: Lowered, call: NativeCall, by_blas: set[Node]) -> bool:
    """Whether kernels and BLAS write every output, some of them in another shape, as `tile` does."""
    if len(lowered.launcher.calls) > len(by_blas) or lowered.options.backend != "llvm":
        return False
    for value, order, out in zip(lowered.graph.outputs, lowered.orders, call.outs, strict=True):
        if value.node in by_blas and order == tuple(range(len(order))):
            continue
        made = _unshaped(value, lowered)
        if made is None or (made is not value and (out is not None or order != tuple(range(len(order))))):
            return False
    return True


def _unshaped(value: Value, lowered: Lowered) -> Value | None:
    """What kernels make in memory of their own and reshapes hand on, if it is so."""
    while value.node is not None and value.node.op is RESHAPE:
        value = value.node.operands[0]
        if value in lowered.graph.outputs or value in lowered.launcher.places:
            return None
    return value if value.node is not None and value.node.op in (REGION, CONCATENATE) else None
