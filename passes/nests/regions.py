"""Lower one region to loops: rows outside, then for each stage a walk along the columns or a loop that writes.

    for each row:
      walk along the columns: reductions of the first stage, and what the stage writes
      walk or loop along the columns: the next stage
      store the results of the row

Reductions keep their trees (`lower-reductions`), with one exception: columns of several axes are one walk inside
another, so that vectors run along one axis only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from ...ir.accesses import home_index
from ...ir.dims import LOOP, Size, symbol
from ...ir.dtypes import I64
from ...ir.errors import Unsupported
from ...ir.forms import RESULT
from ...ir.graph import Node, Value
from ...ir.indexing import loop_name, loop_variables
from ...ir.nest import ops
from ...ir.ops import CONSTANT, MATMUL, POSITIONS, TABLE
from ...ir.products import factor_index
from ...ir.stages import RegionStages, needed_in, region_stages
from ...ir.types import Attr, Sizes, TensorType, axis_groups, integer, ints, sizes
from ..planning.kept_values import values_between_stages
from ..planning.loops import scanned_axes
from .elements import NestElements
from .places import MemoryPlace
from .writing import Names, NestBlock

Places = Mapping[Value, MemoryPlace]
Scratch = Callable[[Value, tuple[Size, ...]], Value]
STEMS = "ijklpqrs"
ACROSS_MEMORY = 16


class RegionLowering:
    """Writes the loops of one region into a block.

    `places` has the operands and results in memory, `numbers` the operands that are numbers. Axes in `backwards` run
    from their end. `scratch` allocates memory for values that several stages need. Results without a place are numbers,
    which `run` returns.
    """

    def __init__(
        self,
        region: Node,
        places: Places,
        numbers: Mapping[Value, Value],
        names: Names,
        scratch: Scratch,
        backwards: frozenset[int] = frozenset(),
    ) -> None:
        assert region.body is not None
        self.region, self.body, self.results = region, region.body, places
        self.numbers: dict[Value, Value] = {}
        self.scratch = scratch
        self.space, self.reduced = tuple(sizes(region.attrs, "space")), ints(region.attrs, "reduced")
        self.rows = [axis for group in axis_groups(region.attrs, "rows") for axis in group]
        self.columns = [axis for group in axis_groups(region.attrs, "columns") for axis in group]
        self.vector, self.scanned = integer(region.attrs, "vector"), scanned_axes(region)
        self.product_node = next((n for n in region.body if n.op is MATMUL), None)
        used = range(len(self.space)) if self.product_node is not None else sorted((*self.rows, *self.columns))
        self.variables = {axis: names.fresh(STEMS[k % len(STEMS)]) for k, axis in enumerate(used)}
        axes: dict[str, Size] = {}
        for axis, name in self.variables.items():
            own = symbol(LOOP + name)
            axes[loop_name(axis)] = self.space[axis] - 1 - own if axis in backwards else own
        inner = dict(zip(self.body.inputs, region.operands, strict=True))
        self.elements = NestElements(
            {v: places[outer] for v, outer in inner.items() if outer in places},
            {v: numbers[outer] for v, outer in inner.items() if outer in numbers},
            axes,
            names,
        )
        width, unroll = region.attrs.get("width"), region.attrs.get("unroll")
        self.speed: dict[str, Attr] = {}
        if isinstance(width, int):
            self.speed["width"] = width
        if isinstance(unroll, int):
            # Walks across memory go through some lines of it at a time.
            self.speed["times"] = ACROSS_MEMORY if self.columns and self.vector in self.rows else unroll

    def run(self, block: NestBlock) -> dict[Value, Value]:
        """Writes the loops; returns the numbers of results that have no place."""
        if self.product_node is not None:
            self.product(block, self.product_node)
            return self.numbers
        self.around(block, self.rows, self.row)
        return self.numbers

    def around(self, block: NestBlock, axes: Sequence[int], write: Callable[[NestBlock], None]) -> None:
        """Write loops over some axes; `write` fills them."""
        if not axes:
            write(block)
            return
        name = self.variables[axes[0]]
        inner = NestBlock(block, (LOOP + name,))
        self.around(inner, axes[1:], write)
        kind = "vector" if axes[0] == self.vector and axes[0] not in self.scanned else "serial"
        block.loop(inner, name, self.space[axes[0]], kind, self.speed)

    def row(self, block: NestBlock) -> None:
        """Write the code of one row: its stages, and its own results."""
        stages = region_stages(self.region)
        kept = self.kept_values(stages)
        for stage, (reductions, outputs) in enumerate(zip(stages.reductions, stages.outputs, strict=True)):
            written = [(self.region.results[slot - len(self.body.inputs)], v) for slot, v in outputs]
            left = {v: place for v, (first, place) in kept.items() if first == stage}
            if self.columns and reductions:
                self.walks(block, reductions, written, left)
            else:
                if written:
                    self.around(block, self.columns, partial(self.write, written=written, left=left))
                for node in reductions:
                    self.elements.given[node.result] = total = self.single(block, node)
                    self.elements.blocks.setdefault(total, block)
            self.elements.kept |= {(v, loop_variables(self.space)): place for v, place in left.items()}
        for slot, value in stages.row_outputs:
            result = self.region.results[slot - len(self.body.inputs)]
            index = home_index(self.space, self.reduced, value.type.shape)
            assert index is not None
            self.store(block, self.elements.at(block, value, index), result, index)

    def write(self, block: NestBlock, written: Sequence[tuple[Value, Value]], left: Places) -> None:
        """Compute elements of results and values that later stages need, then store them."""
        index = loop_variables(self.space)
        numbers = [(result, self.elements.at(block, value, index)) for result, value in written]
        for value, place in left.items():
            block.store(self.elements.at(block, value, index), place.buffer, place.at(self.elements.index(index)))
        for result, number in numbers:
            self.store(block, number, result, index)

    def kept_values(self, stages: RegionStages) -> dict[Value, tuple[int, MemoryPlace]]:
        """Return expensive values that several stages need, each with the first such stage and its memory."""
        kept = values_between_stages(self.region, stages, has_scratch=True)
        needed = needed_in(self.region, stages, {}) if kept else {}
        reads = {place.base for place in self.elements.places.values()}
        found = {}
        for value, where in kept.items():
            kind, _, number = where.partition(" ")
            place = self.results.get(self.region.results[int(number)]) if kind == RESULT else None
            if place is None or place.base in reads:
                axes = (*self.columns, *((self.vector,) if self.vector in self.rows else ()))
                buffer = self.scratch(value, tuple(self.space[a] for a in axes))
                place = MemoryPlace(buffer, axes, (0,) * len(axes))
            found[value] = (min(needed[value]), place)
        return found

    def store(self, block: NestBlock, number: Value, result: Value, index: tuple[Size, ...]) -> None:
        if result not in self.results:
            self.numbers[result] = number
            return
        place = self.results[result]
        block.store(number, place.buffer, place.at(self.elements.index(index)))

    # -- reductions

    def walks(
        self, block: NestBlock, reductions: Sequence[Node], written: Sequence[tuple[Value, Value]], left: Places
    ) -> None:
        """Walk along the columns for the reductions of one stage, and store what the stage writes.

        Reductions with the same tree share a walk. `argmin` and `argmax` have walks of their own, in C order.
        """
        together: dict[object, list[Node]] = {}
        for node in reductions:
            together.setdefault(node if node.op in POSITIONS else node.attrs["steps"], []).append(node)
        for nodes in together.values():
            is_flat = nodes[0].op in POSITIONS and len(self.columns) > 1
            columns = sorted(self.columns) if is_flat else self.columns
            totals = self.walk(block, columns, nodes, written, left, is_flat)
            self.elements.given.update(zip((n.result for n in nodes), totals, strict=True))
            written, left = (), {}

    def walk(
        self,
        block: NestBlock,
        axes: Sequence[int],
        reductions: Sequence[Node],
        written: Sequence[tuple[Value, Value]],
        left: Places,
        is_flat: bool,
    ) -> list[Value]:
        """Adds a walk over some axes, outermost first; returns one number for each reduction."""
        has_vectors = self.vector in axes and not is_flat
        own = list(axes[:1] if has_vectors and len(axes) > 1 else axes)
        names = [self.variables[a] for a in own]
        inner = NestBlock(block, [LOOP + n for n in names])
        if len(own) < len(axes):
            outputs = self.walk(inner, axes[1:], reductions, written, left, is_flat)
        else:
            self.write(inner, written, left)
            index = loop_variables(self.space)
            outputs = [self.elements.at(inner, n.operands[0], index) for n in reductions]
        is_vector = has_vectors and len(own) == len(axes)
        types, combine, steps = [], [], []
        for node, element in zip(reductions, outputs, strict=True):
            name = node.op.name
            if name not in ops.COMBINERS and node.op not in POSITIONS:
                raise Unsupported(f"{name} has no loop nest", node.span)
            combine.append(name)
            steps.append(integer(node.attrs, "steps"))
            lanes = integer(node.attrs, "lanes")
            if node.op in POSITIONS:
                types.append(TensorType(I64))
            elif is_vector:
                types.append(TensorType(element.type.dtype, (lanes,), "vector"))
            else:
                types.append(TensorType(element.type.dtype))
        attrs: dict[str, Attr] = {
            "vars": tuple(names),
            "range": Sizes(size for a in own for size in (0, self.space[a])),
            "kind": "vector" if is_vector else "serial",
            "combine": tuple(combine),
            "steps": tuple(steps),
            **(self.speed if is_vector else {}),
        }
        walk = block.add(ops.WALK, (), attrs, types, inner.body((), outputs))
        found = []
        for node, lanes_of in zip(reductions, walk.results, strict=True):
            if lanes_of.type.kind == "vector":
                total = TensorType(lanes_of.type.dtype)
                lanes_of = block.add(ops.ACROSS, (lanes_of,), {"combine": node.op.name}, (total,)).result
            self.elements.blocks[lanes_of] = block
            found.append(lanes_of)
        return found

    def single(self, block: NestBlock, node: Node) -> Value:
        """Return a reduction of one element: the element, combined with the neutral element of a sum or product."""
        number = self.elements.at(block, node.operands[0], loop_variables(self.space))
        if node.op in POSITIONS:
            return block.number(CONSTANT, (), {"value": 0, "dtype": I64}, I64)
        if node.op.name not in ("sum", "prod"):
            return number
        dtype = number.type.dtype
        neutral: float | int = 0 if node.op.name == "sum" else 1
        value = float(neutral) if dtype.kind == "float" else neutral
        start = block.number(CONSTANT, (), {"value": value, "dtype": dtype}, dtype)
        return block.number(TABLE[ops.COMBINERS[node.op.name]], (start, number), {}, dtype)

    # -- products

    def product(self, block: NestBlock, node: Node) -> None:
        """Write a matrix product: stacks are outer loops, and later operations are computed for each sum."""
        stacked = [a for a in range(node.result.type.rank - 2) if self.space[a] != 1]
        self.around(block, stacked, lambda inner: self.matrix(inner, node))

    def matrix(self, block: NestBlock, node: Node) -> None:
        rank = node.result.type.rank
        own = [rank - 2, rank - 1, rank]
        inner = NestBlock(block, [LOOP + self.variables[a] for a in own])
        index = loop_variables(self.space[:rank])
        left, right = node.operands
        factors = [
            self.elements.at(inner, left, factor_index(left.type.shape, index, True)),
            self.elements.at(inner, right, factor_index(right.type.shape, index, False)),
        ]
        inner.add(ops.TERMS, factors)
        total = Value(TensorType(node.result.type.dtype), name="t")
        self.elements.given[node.result] = total
        self.elements.blocks[total] = inner
        for value, result in zip(self.body.outputs, self.region.results, strict=True):
            self.store(inner, self.elements.at(inner, value, index), result, index)
        bounds = Sizes(size for a in own for size in (0, self.space[a]))
        attrs: dict[str, Attr] = {"vars": tuple(self.variables[a] for a in own), "range": bounds}
        block.add(ops.PRODUCT, (), attrs, (), inner.body((total,)))
