"""Put faults into Weft, one at a time, to see whether the fuzzer finds them.

Each is a mistake that somebody could make in a pass, an emitter or the runtime. None of them writes outside of the
arrays, so the tests can continue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from unittest import mock

import numpy as np
from weft.backends.llvm.code import casts, memory
from weft.backends.llvm.code.text import Emitter
from weft.backends.llvm.elements import combine, halves, integers, numbers, operations, ops
from weft.backends.llvm.loops import region_nest, vector_loops
from weft.backends.llvm.reductions import accumulators, argminmax, extremes, scan
from weft.frontend.tracing import trace
from weft.ir import indexing
from weft.ir.builder import Builder
from weft.ir.ops import SLICE, TABLE, TRANSPOSE, WHERE
from weft.ir.records import replace
from weft.ir.types import Sizes, ints, sizes
from weft.passes import canonicalize, fuse, lower_reductions, merge_duplicates
from weft.passes.nests import row_stages
from weft.passes.rules import conversions, logic
from weft.passes.rules.site import Rule, Site, constant_of, made_by
from weft.runtime import compiler, outputs

Patch = AbstractContextManager[Any]
Fault = Callable[[], Patch]


# -- passes


def _rule(name: str, rule: Rule) -> Patch:
    """A rule of `canonicalize` that comes before all others of its op."""
    op = TABLE[name]
    return mock.patch.dict(canonicalize.RULES, {op: (rule, *canonicalize.RULES.get(op, ()))})


def _is_float(site: Site) -> bool:
    return site.dtype.kind == "float"


def difference_of_equals() -> Patch:
    """x - x = 0, also for NaN and infinities."""
    return _rule("sub", lambda s: s.filled(0.0) if _is_float(s) and s.operands[0] is s.operands[1] else None)


def adding_zero() -> Patch:
    """x + 0.0 = x, also for -0.0."""
    return _rule("add", lambda s: s.operands[0] if _is_float(s) and constant_of(s.operands[1]) == 0 else None)


def product_with_zero() -> Patch:
    """x * 0.0 = 0.0, also for NaN, infinities and negative numbers."""
    return _rule("mul", lambda s: s.filled(0.0) if _is_float(s) and constant_of(s.operands[1]) == 0 else None)


def division_by_reciprocal() -> Patch:
    """x / c = x * (1/c), also where 1/c is rounded."""

    def rule(site: Site) -> Any:
        divisor = constant_of(site.operands[1])
        if not _is_float(site) or not isinstance(divisor, float) or not np.isfinite(divisor) or divisor == 0:
            return None
        return site.make(TABLE["mul"], site.operands[0], site.number(1 / divisor))

    return _rule("div", rule)


def negated_order() -> Patch:
    """not (a < b) is a >= b, also for NaN."""
    return mock.patch.dict(logic.OPPOSITE, logic.OPPOSITE_IN_ORDER)


def arms_of_where() -> Patch:
    """where(not c, a, b) becomes where(c, a, b)."""

    def rule(site: Site) -> Any:
        condition, yes, no = site.operands
        if not made_by(condition, TABLE["logical_not"]):
            return None
        assert condition.node is not None
        return site.make(WHERE, condition.node.operands[0], yes, no)

    return _rule("where", rule)


def merged_attributes() -> Patch:
    """Merge operations on the same operands, whatever their attributes."""
    plain = merge_duplicates._key

    def key(node: Any, stands_for: Any) -> Any:
        found = plain(node, stands_for)
        return found[:2] if isinstance(found, tuple) and node.operands else found

    return mock.patch.object(merge_duplicates, "_key", key)


def merged_operands() -> Patch:
    """a - b and b - a are one."""
    plain = merge_duplicates._key

    def key(node: Any, stands_for: Any) -> Any:
        found = plain(node, stands_for)
        return (found[0], tuple(sorted(found[1])), found[2]) if isinstance(found, tuple) else found

    return mock.patch.object(merge_duplicates, "_key", key)


def lossless_casts() -> Patch:
    """A cast to a narrower dtype and back is nothing."""
    return mock.patch.object(conversions, "holds_all", lambda wide, narrow: wide.kind != "bool")


def slice_of_slice() -> Patch:
    """Ignore the step of an inner slice, except for its sign."""

    def rule(site: Site) -> Any:
        inner = site.operands[0].node
        if inner is None or inner.op is not SLICE:
            return None
        first, stride = sizes(inner.attrs, "starts"), ints(inner.attrs, "steps")
        starts, steps = sizes(site.attrs, "starts"), ints(site.attrs, "steps")
        begin = Sizes(a + step * b for a, step, b in zip(first, stride, starts, strict=True))
        step = tuple((1 if a > 0 else -1) * b for a, b in zip(stride, steps, strict=True))
        return site.make(SLICE, inner.operands[0], starts=begin, steps=step, sizes=sizes(site.attrs, "sizes"))

    return _rule("slice", rule)


def transposed_twice() -> Patch:
    """Two transpositions are joined in the wrong order."""

    def rule(site: Site) -> Any:
        inner, order = site.operands[0].node, ints(site.attrs, "order")
        if inner is None or inner.op is not TRANSPOSE:
            return None
        first = ints(inner.attrs, "order")
        return site.make(TRANSPOSE, inner.operands[0], order=tuple(order[axis] for axis in first))

    return _rule("transpose", rule)


def owned_pieces() -> Patch:
    """Let `fuse` write values that something else owns into a concatenation."""
    return mock.patch.object(fuse, "with_copies", lambda graph: graph)


def exact_sums() -> Patch:
    """Let `lower-reductions` treat the order of a float sum as free."""
    return mock.patch.object(lower_reductions, "is_exact", lambda node: True)


# -- emitters


def _emitter(**emitters: Callable[..., Any]) -> Patch:
    return mock.patch.dict(ops.EMITTERS, {TABLE[name]: emit for name, emit in emitters.items()})


def signed_comparison() -> Patch:
    """Compare unsigned integers as if they were signed."""
    names = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
    plain = {name: ops.EMITTERS[TABLE[name]] for name in names}

    def compare(name: str) -> Callable[..., Any]:
        return lambda e, dtype, a, b: e.icmp(names[name], a, b) if dtype.kind == "uint" else plain[name](e, dtype, a, b)

    return _emitter(**{name: compare(name) for name in names})


def nan_ignored() -> Patch:
    """The minimum of a number and NaN is the number."""
    plain = ops.EMITTERS[TABLE["minimum"]]
    return _emitter(
        minimum=lambda e, dtype, a, b: e.call("minnum", a, b) if dtype.kind == "float" else plain(e, dtype, a, b)
    )


def negated_by_subtracting() -> Patch:
    """-x is 0 - x, also for 0.0."""
    return _emitter(neg=lambda e, dtype, x: e.op("fsub" if dtype.kind == "float" else "sub", e.zero_like(x), x))


def logical_right_shift() -> Patch:
    """Shift negative numbers to the right as if they were unsigned."""
    plain = integers.right_shift
    return _emitter(right_shift=lambda e, dtype, a, b: plain(e, replace(dtype, kind="uint"), a, b))


def shorter_polynomials() -> Patch:
    """Drop the second to last term of polynomials in mathematical functions."""
    plain = Emitter.poly
    return mock.patch.object(Emitter, "poly", lambda self, x, terms: plain(self, x, [*terms[:-2], 0.0, terms[-1]]))


def rounded_to_zero() -> Patch:
    """Integer division rounds towards zero."""
    return mock.patch.object(integers, "_rounds_up", lambda e, rest, b: e.icmp("ne", b, b))


def swapped_arms() -> Patch:
    """`where` takes the second where the condition is false."""
    plain = operations.Operations._emit

    def emit(self: Any, node: Any, values: Any) -> Any:
        return plain(self, node, [values[0], values[2], values[1]] if node.op is WHERE else values)

    return mock.patch.object(operations.Operations, "_emit", emit)


def rounded_integers() -> Patch:
    """A float becomes the nearest integer."""
    plain = casts._signed
    return mock.patch.object(casts, "_signed", lambda e, x, bits: plain(e, e.call("roundeven", x), bits))


def signed_to_float() -> Patch:
    """Convert a large unsigned integer to a negative float."""
    plain = casts.cast

    def cast(e: Any, x: Any, have: Any, want: Any) -> Any:
        wrong = have.kind == "uint" and want.name in ("f32", "f64")
        return e.cast("sitofp", x, casts.element(want)) if wrong else plain(e, x, have, want)

    return mock.patch.object(numbers, "cast", cast)


def truncated_halves() -> Patch:
    """An f32 becomes a half by dropping bits."""
    plain = halves.narrow

    def narrow(e: Any, x: Any, dtype: Any) -> Any:
        bits = e.cast("bitcast", x, "i32")
        kept = e.op("and", bits, e.const_like(bits, -(1 << (16 if dtype.name == "bf16" else 13))))
        return plain(e, e.cast("bitcast", kept, "float"), dtype)

    return mock.patch.object(halves, "narrow", narrow)


# -- loops and memory


def short_tail() -> Patch:
    """The mask of the last vector is one lane short."""
    plain = vector_loops.lane_mask

    def mask(e: Any, width: int, at: Any, stop: Any) -> Any:
        return plain(e, width, at, e.op("sub", stop, e.const("i64", 1)))

    return mock.patch.object(vector_loops, "lane_mask", mask)


def unrolled_offset() -> Patch:
    """The second vector of an unrolled loop starts one element early."""
    plain = region_nest.RegionNest.at

    def at(self: Any, node: Any, name: str, point: Any) -> Any:
        return plain(self, node, name, (max(0, point[0] - 1), *point[1:]))

    return mock.patch.object(region_nest.RegionNest, "at", at)


def gather_without_stride() -> Patch:
    """All lanes of a strided vector are its first element."""
    return mock.patch.object(memory.Memory, "_lane", lambda self, pointer, stride, lane: pointer)


def broadcast_column() -> Patch:
    """An array with fewer dimensions is read at its first column only."""
    plain = indexing.broadcast_index

    def index(shape: Any, at: Any) -> Any:
        found = plain(shape, at)
        return (*found[:-1], 0) if 0 < len(shape) < len(at) else found

    return mock.patch.object(indexing, "broadcast_index", index)


def stale_row() -> Patch:
    """Read a kept value of a row before it is written."""
    plain = row_stages.NestStages._kept

    def kept(self: Any) -> Any:
        return {value: (first - 1, place) for value, (first, place) in plain(self).items()}

    return mock.patch.object(row_stages.NestStages, "_kept", kept)


# -- reductions


def zero_for_maximum() -> Patch:
    """A maximum starts from 0."""
    plain = combine.neutral
    return mock.patch.object(
        accumulators,
        "neutral",
        lambda op, dtype: plain(TABLE["add"], dtype) if op.name == "maximum" else plain(op, dtype),
    )


def negative_zero_for_sum() -> Patch:
    """A sum starts from -0.0."""
    plain = accumulators.identity

    def identity(node: Any) -> Any:
        wrong = node.op.name == "sum" and node.result.type.dtype.kind == "float"
        return -0.0 if wrong else plain(node)

    return mock.patch.object(accumulators, "identity", identity)


def scan_from_one() -> Patch:
    """A running sum starts from 1."""
    plain = combine.neutral
    return mock.patch.object(scan, "neutral", lambda op, dtype: 1 if op.name == "add" else plain(op, dtype))


def unmasked_tail() -> Patch:
    """Use the inactive lanes of the last vector as they were loaded, as zeros."""

    found = ExitStack()
    for module in (accumulators, argminmax, extremes):
        found.enter_context(mock.patch.object(module, "masked", lambda e, x, mask, missing: x))
    return found


def neighbouring_lanes() -> Patch:
    """Combine the lanes of a total with their neighbours instead of halving."""

    def across(e: Emitter, op: Any, dtype: Any, totals: Any) -> Any:
        while len(totals) > 1:
            pairs = zip(totals[::2], totals[1::2], strict=True)
            totals = [combine.combined(e, op, dtype, a, b) for a, b in pairs]
        total = totals[0]
        while total.lanes > 1:
            even, odd = (e.shuffle(total, total, list(range(k, total.lanes, 2))) for k in (0, 1))
            total = combine.combined(e, op, dtype, even, odd)
        return e.extract(total, 0) if total.lanes else total

    return mock.patch.object(accumulators, "across_lanes", across)


# -- front end and runtime


def strong_numbers() -> Patch:
    """A Python float is taken as an f64."""
    plain = trace.Trace.operand

    def operand(self: Any, x: Any, spread: bool, span: Any) -> Any:
        return plain(self, np.float64(x) if type(x) is float else x, spread, span)

    return mock.patch.object(trace.Trace, "operand", operand)


def fixed_sizes() -> Patch:
    """A size that is used as a number is that of the first call."""
    plain = Builder.size

    def size(self: Any, expression: Any, span: Any = None) -> Any:
        number = self.facts.number(expression)
        return plain(self, expression, span) if number is None else self.constant(number, span=span)

    return mock.patch.object(Builder, "size", size)


def unchecked_guards() -> Patch:
    """Use a graph for sizes that its guards exclude."""
    return mock.patch.object(compiler.Lowered, "assumptions", [])


def ignored_overlap() -> Patch:
    """Write results into the caller's array while overlapping arguments are still read."""
    return mock.patch.object(outputs, "_overlaps", lambda out, others: False)


def always_c() -> Patch:
    """Results are in C order, whatever order NumPy gives."""

    def in_c(graph: Any, *args: Any, **kwargs: Any) -> Any:
        return tuple(tuple(range(value.type.rank)) for value in graph.outputs)

    return mock.patch.multiple(compiler, output_orders=in_c, usual_orders=in_c)


# By what the programs are about that show a fault soonest.
IN_PASSES: Mapping[str, tuple[Fault, ...]] = {
    "algebra": (difference_of_equals, adding_zero, product_with_zero, division_by_reciprocal, negated_order,
                arms_of_where, merged_operands, strong_numbers),
    "conversions": (lossless_casts,),
    "views": (slice_of_slice, transposed_twice),
    "reductions": (fixed_sizes,),
    "everything": (merged_attributes,),
}  # fmt: skip
IN_CODE: Mapping[str, tuple[Fault, ...]] = {
    "algebra": (nan_ignored, negated_by_subtracting, swapped_arms, ignored_overlap),
    "integers": (signed_comparison, logical_right_shift, rounded_to_zero),
    "conversions": (rounded_integers, signed_to_float),
    "views": (owned_pieces, gather_without_stride, broadcast_column, always_c),
    "reductions": (exact_sums, stale_row, zero_for_maximum, scan_from_one, unmasked_tail, neighbouring_lanes,
                   truncated_halves),
    "functions": (shorter_polynomials, unrolled_offset),
    "everything": (short_tail, unchecked_guards, negative_zero_for_sum),
}  # fmt: skip
