"""Emit matrix products: panels of one factor are packed, and a tile of sums is kept in registers.

    for each panel of some vectors along one axis:
      for each block of rows along the other:
        for each block of terms:
          pack the panel's factor: vectors for each term, one behind another
          for some rows at a time: add the products of the block's terms to the sums in registers
        the rest of the body, for every vector of sums

A sum is one chain of FMAs over the terms in order, from 0 on, whatever the blocks are. Vectors lie along the axis along
which results are contiguous in memory. Small products, of one vector and few terms, read both factors in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.accesses import address, coefficient_of
from ....ir.dims import LOOP
from ....ir.errors import Unsupported
from ....ir.graph import Graph, Node
from ....ir.nest import ops
from ....ir.nest.scopes import LoopVariable, base, needed_for, variables
from ....ir.types import sizes
from ..code.casts import element
from ..code.frame import LINE
from ..code.text import BITS, Val
from ..loops.vector_loops import lane_mask
from . import numbers
from .function import NestFunction, Points
from .loops import vector_point
from .memory import strides_in
from .points import Point

Run = Callable[[Val, "list[Val]"], "list[Val]"]
ROWS, TERMS = 240, 256  # of a block: sums and the packed panel stay in a core's cache
FEW_TERMS = 16
WIDE, NARROW = (6, 4), (6, 2)  # rows by vectors in registers, of which there are 32 and 16


def product(f: NestFunction, node: Node, points: Points) -> None:
    """Emits a `nest.product`."""
    for point in points:
        if point.vector is not None:
            raise Unsupported("a product can't be inside a vector loop", node.span)
        _ProductEmitter(f, node).stacked(point, 0)


class _ProductEmitter:
    def __init__(self, f: NestFunction, node: Node) -> None:
        assert node.body is not None
        self.f, self.node = f, node
        (self.total,) = node.body.inputs
        self.dtype = self.total.type.dtype
        if self.dtype.kind not in ("float", "int", "uint") or self.dtype.size < 4:
            raise Unsupported(f"a product of {self.dtype} has no native code in nests", node.span)
        self.elem = element(self.dtype)
        *self.outer, rows, columns, self.terms = variables(node)
        (terms,) = (n for n in node.body if n.op is ops.TERMS)
        split = node.body.nodes.index(terms)
        before, after = node.body.nodes[:split], node.body.nodes[split + 1 :]
        self.after = Graph("after", (), after, ())
        left, right = terms.operands
        if _is_along(f, after, rows, columns):
            (rows, columns), (left, right) = (columns, rows), (right, left)
        self.rows, self.columns = rows, columns
        self.single, self.packed = (left, needed_for(left, before)), (right, needed_for(right, before))
        self.tall, self.vectors = WIDE if f.module.vector_bytes == 64 else NARROW
        self.width = f.module.vector_bytes * 8 // BITS[self.elem]
        self.panel_width = self.width * self.vectors
        self.bytes = BITS[self.elem] // 8
        self.panel = _aligned(f, f.frame.scratch(LINE + TERMS * self.panel_width * self.bytes))
        self.sums = _aligned(f, f.frame.scratch(LINE + ROWS * self.panel_width * self.bytes))

    def stacked(self, point: Point, depth: int) -> None:
        """Run the loops over all variables but the last three."""
        if depth == len(self.outer):
            self.matrix(point)
            return
        variable = self.outer[depth]

        def run(at: Val, _: list[Val]) -> list[Val]:
            self.stacked(point.step(variable.name, at), depth + 1)
            return []

        self.f.repeat(*self.range(variable, point), 1, (), run)

    def range(self, variable: LoopVariable, point: Point) -> tuple[Val, Val]:
        first, end = (numbers.scalar(self.f, s, point) for s in (variable.first, variable.end))
        return first, end

    def matrix(self, point: Point) -> None:
        f, (rows, last_row), (columns, last_column) = (
            self.f,
            self.range(self.rows, point),
            self.range(self.columns, point),
        )

        def panel(at: Val, _: list[Val]) -> list[Val]:
            masks = [self.mask(at, last_column, k) for k in range(self.vectors)]
            f.repeat(rows, last_row, ROWS, (), lambda row, _: self.block(point, row, last_row, at, masks))
            return []

        def panels() -> None:
            f.repeat(columns, last_column, self.panel_width, (), panel)

        terms, last_term = self.range(self.terms, point)
        e = f.e
        few = e.icmp("sle", e.op("sub nsw", last_term, terms), e.const("i64", FEW_TERMS))
        narrow = e.icmp("sle", e.op("sub nsw", last_column, columns), e.const("i64", self.width))
        e.when(
            e.op("and", few, narrow),
            lambda: self.small(point, (rows, last_row), (columns, last_column), (terms, last_term)),
            panels,
        )

    def small(self, point: Point, rows: tuple[Val, Val], columns: tuple[Val, Val], terms: tuple[Val, Val]) -> None:
        """Computes a product whose rows are one vector each, row by row."""
        f, e, column = self.f, self.f.e, columns[0]
        mask = lane_mask(e, self.width, *columns)

        def row(at: Val, _: list[Val]) -> list[Val]:
            inner = point.step(self.rows.name, at)

            def term(k: Val, sums: list[Val]) -> list[Val]:
                (left, left_body), (right, right_body) = self.single, self.packed
                one = inner.step(self.terms.name, k)
                f.body(left_body, [one])
                line = vector_point(f, point.step(self.terms.name, k), self.columns.name, column, self.width, 0)
                f.body(right_body, [line := line.masked(mask)])
                x, y = e.splat(one.values[left], self.width), e.splat(line.values[right], self.width)
                return [self.multiply_add(x, y, sums[0])]

            found = f.repeat(*terms, 1, [e.const(self.elem, 0, self.width)], term)
            made = vector_point(f, inner, self.columns.name, column, self.width, 0).masked(mask)
            made.values[self.total] = found[1]
            f.body(self.after, [made])
            return []

        f.repeat(*rows, 1, (), row)

    def mask(self, at: Val, end: Val, k: int) -> Val:
        start = numbers.plus(self.f, at, self.f.e.const("i64", k * self.width))
        return lane_mask(self.f.e, self.width, start, end)

    def block(self, point: Point, first: Val, end: Val, column: Val, masks: Sequence[Val]) -> list[Val]:
        """Computes the sums of a block of rows and one panel, then runs the rest of the body for them."""
        f, e = self.f, self.f.e
        last = e.call("smin", e.op("add nsw", first, e.const("i64", ROWS)), end)
        zero = e.const(self.elem, 0, self.width)
        self.each_row(first, last, lambda at, _: self.put_sums(e.op("sub nsw", at, first), [zero] * self.vectors))
        terms, last_term = self.range(self.terms, point)

        def some_terms(start: Val, _: list[Val]) -> list[Val]:
            stop = e.call("smin", e.op("add nsw", start, e.const("i64", TERMS)), last_term)
            self.pack(point, start, stop, column, masks)
            (rest,) = f.repeat(
                first,
                last,
                self.tall,
                (),
                lambda at, _: self.tile(point, at, first, start, stop, self.tall),
                whole=True,
            )
            f.repeat(rest, last, 1, (), lambda at, _: self.tile(point, at, first, start, stop, 1))
            return []

        f.repeat(terms, last_term, TERMS, (), some_terms)
        self.each_row(first, last, lambda at, _: self.finish(point, at, first, column, masks))
        return []

    def each_row(self, first: Val, last: Val, run: Run) -> None:
        self.f.repeat(first, last, 1, (), run)

    def pack(self, point: Point, start: Val, stop: Val, column: Val, masks: Sequence[Val]) -> None:
        """Writes the vectors of a panel's factor, term by term."""
        f, e, (factor, body) = self.f, self.f.e, self.packed

        def run(term: Val, _: list[Val]) -> list[Val]:
            inner = point.step(self.terms.name, term)
            own = [
                vector_point(f, inner, self.columns.name, column, self.width, k).masked(mask)
                for k, mask in enumerate(masks)
            ]
            f.body(body, own)
            for k, (p, mask) in enumerate(zip(own, masks, strict=True)):
                x = e.splat(p.values[factor], self.width)
                e.store(e.select(mask, x, e.zero_like(x)), self.at(self.panel, e.op("sub nsw", term, start), k))
            return []

        f.repeat(start, stop, 1, (), run)

    def tile(self, point: Point, row: Val, first: Val, start: Val, stop: Val, tall: int) -> list[Val]:
        """Adds products to the sums of some rows."""
        f, e, (factor, body) = self.f, self.f.e, self.single
        places = [e.op("add nsw", e.op("sub nsw", row, first), e.const("i64", r)) for r in range(tall)]
        steps = [point.step(self.rows.name, numbers.plus(f, row, e.const("i64", r))) for r in range(tall)]

        def run(term: Val, sums: list[Val]) -> list[Val]:
            own = [p.step(self.terms.name, term) for p in steps]
            f.body(body, own)
            place = e.op("sub nsw", term, start)
            packed = [self.vector(self.panel, place, k) for k in range(self.vectors)]
            numbers_of = [e.splat(p.values[factor], self.width) for p in own]
            return [
                self.multiply_add(x, y, sums[r * self.vectors + k])
                for r, x in enumerate(numbers_of)
                for k, y in enumerate(packed)
            ]

        before = [self.vector(self.sums, at, k) for at in places for k in range(self.vectors)]
        _, *after = f.repeat(start, stop, 1, before, run)
        for r, at in enumerate(places):
            self.put_sums(at, after[r * self.vectors : (r + 1) * self.vectors])
        return []

    def multiply_add(self, x: Val, y: Val, total: Val) -> Val:
        e = self.f.e
        return e.fma(x, y, total) if self.dtype.kind == "float" else e.op("add", total, e.op("mul", x, y))

    def finish(self, point: Point, row: Val, first: Val, column: Val, masks: Sequence[Val]) -> list[Val]:
        """Run the rest of the body, after the factors, for the sums of one row."""
        f, inner = self.f, point.step(self.rows.name, row)
        place = f.e.op("sub nsw", row, first)
        own = []
        for k, mask in enumerate(masks):
            made = vector_point(f, inner, self.columns.name, column, self.width, k).masked(mask)
            made.values[self.total] = self.vector(self.sums, place, k)
            own.append(made)
        f.body(self.after, own)
        return []

    # -- memory of the panel and of the sums

    def at(self, memory: Val, line: Val, k: int) -> Val:
        e = self.f.e
        offset = e.op("mul nsw", line, e.const("i64", self.panel_width * self.bytes))
        return e.offset(memory, e.op("add nsw", offset, e.const("i64", k * self.width * self.bytes)))

    def vector(self, memory: Val, line: Val, k: int) -> Val:
        return self.f.e.load(self.at(memory, line, k), self.elem, self.width)

    def put_sums(self, line: Val, values: Sequence[Val]) -> list[Val]:
        for k, value in enumerate(values):
            self.f.e.store(value, self.at(self.sums, line, k))
        return []


def _aligned(f: NestFunction, memory: Val) -> Val:
    """The first cache line in memory."""
    with f.nest.at(f.nest.entry):
        e = f.e
        address = e.emit(f"ptrtoint ptr {memory.text} to i64", "i64", 0)
        missing = e.op("and", e.op("sub", e.const("i64", 0), address), e.const("i64", LINE - 1))
        return e.offset(memory, missing)


def _is_along(f: NestFunction, nodes: Sequence[Node], rows: LoopVariable, columns: LoopVariable) -> bool:
    """Whether results are contiguous along the rows of a product rather than along its columns."""
    stores = [n for n in nodes if n.op is ops.STORE]
    along = [sum(_steps_by_one(f, n, v) for n in stores) for v in (rows, columns)]
    return along[0] > along[1]


def _steps_by_one(f: NestFunction, node: Node, variable: LoopVariable) -> bool:
    owner, index = base(node.operands[-1], sizes(node.attrs, "at"))
    step = coefficient_of(address(index, strides_in(f, owner)), LOOP + variable.name)
    return step == owner.type.dtype.size
