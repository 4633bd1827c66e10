"""Compute single elements of arrays as numbers in a loop nest.

Views become part of indices. A number is computed in the outermost block in which all its operands have values, so it
stays out of loops on which it does not depend.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...ir import dims
from ...ir.dims import LOOP, Size
from ...ir.dtypes import BOOL, I64
from ...ir.errors import Unsupported
from ...ir.graph import Node, Value
from ...ir.indexing import Index, broadcast_index, gather_target, gathered_index, operand_index
from ...ir.nest import ops
from ...ir.ops import CONSTANT, FLOW, GATHER, IOTA, SCAN, SIZE, TABLE, WHERE, Trait
from ...ir.types import Attr, Sizes, integer, ints
from .places import MemoryPlace
from .writing import Names, NestBlock, own_attrs

ADD, LT = TABLE["add"], TABLE["lt"]
SCANS = {combined: name for name, combined in ops.COMBINERS.items()}


class NestElements:
    """Computes elements of one region. `axes` are the indices of its loops, by the names of `ir/indexing.py`.

    `places` tells where its operands are; `given` has operands that are numbers, and the results of reductions.
    """

    def __init__(
        self, places: Mapping[Value, MemoryPlace], given: dict[Value, Value], axes: dict[str, Size], names: Names
    ) -> None:
        self.places, self.given, self.axes, self.names = places, given, axes, names
        self.blocks: dict[Value, NestBlock] = {}  # where each number was computed
        self.kept: dict[tuple[Value, Index], MemoryPlace] = {}  # elements that an earlier stage left in memory

    def at(self, block: NestBlock, value: Value, index: Index) -> Value:
        """Return an element of an array as a number, computed in this block or around it."""
        if value in self.given:
            return self.given[value]
        if (found := block.known((value, index))) is not None:
            return found
        home, number = self._computed(block, value, index)
        home.elements[(value, index)] = number
        self.blocks[number] = home
        return number

    def index(self, index: Index) -> Index:
        """An index in terms of the variables of the nest."""
        return tuple(dims.substitute(i, self.axes) for i in index)

    def _computed(self, block: NestBlock, value: Value, index: Index) -> tuple[NestBlock, Value]:
        node = value.node
        if value in self.places or (value, index) in self.kept:
            place = self.kept.get((value, index)) or self.places[value]
            at = place.at(self.index(index))
            home = block.home_of(at)
            return home, home.load(place.buffer, at)
        if node is None or len(node.results) > 1 or node.op in FLOW:
            raise Unsupported(f"{node.op.name if node else value.name} has no loop nest", node.span if node else None)
        if Trait.VIEW in node.op.traits:
            (operand,) = node.operands
            number = self.at(block, operand, operand_index(node, operand, index))
            return self.blocks.get(number, block.chain()[-1]), number
        if node.op in (CONSTANT, SIZE):
            outermost = block.chain()[-1]
            dtype = value.type.dtype.strong
            return outermost, outermost.number(node.op, (), own_attrs(node), dtype)
        if node.op is IOTA:
            (along,) = self.index((index[integer(node.attrs, "axis")],))
            home = block.home_of((along,))
            return home, home.number(SIZE, (), {"size": Sizes((along,))}, I64)
        if node.op is GATHER:
            return self._gathered(block, node, index)
        if node.op is SCAN:
            return self._scanned(block, node, index)
        if Trait.ELEMENTWISE not in node.op.traits:
            raise Unsupported(f"{node.op.name} has no loop nest", node.span)
        operands = [self.at(block, v, operand_index(node, v, index)) for v in node.operands]
        home = self._deepest(block, operands)
        return home, home.number(node.op, operands, own_attrs(node), value.type.dtype.strong)

    def _deepest(self, block: NestBlock, numbers: list[Value]) -> NestBlock:
        """The block in which the last of some numbers is computed."""
        homes = [self.blocks[n] for n in numbers if n in self.blocks]
        return max(homes, key=lambda b: b.depth, default=block.chain()[-1])

    def _gathered(self, block: NestBlock, node: Node, index: Index) -> tuple[NestBlock, Value]:
        """Look an element up. An index from the end is counted from the front, and one out of range is an error."""
        source, *arrays = node.operands
        target = gather_target(node, index)
        found: list[Size] = []
        home = block.chain()[-1]
        for axis, array in zip(ints(node.attrs, "axes"), arrays, strict=True):
            number, size = self.at(block, array, broadcast_index(array.type.shape, target)), source.type.shape[axis]
            own = self._deepest(block, [number])
            if "named" not in node.attrs:
                number = _from_the_front(own, number, size)
            name = self.names.fresh("at")
            own.add(ops.BIND, (number,), {"var": name, "range": Sizes((0, size))})
            found.append(dims.symbol(LOOP + name))
            own.names = own.names | {LOOP + name}
            home = max(home, own, key=lambda b: b.depth)
        at = gathered_index(node, index, tuple(found))
        number = self.at(block, source, at)
        return max(home, self._deepest(block, [number]), key=lambda b: b.depth), number

    def _scanned(self, block: NestBlock, node: Node, index: Index) -> tuple[NestBlock, Value]:
        axis = integer(node.attrs, "axis")
        (along,) = self.index((index[axis],))
        combine = SCANS.get(str(node.attrs["combine"]))
        if combine is None or not dims.is_symbol(along):
            raise Unsupported(f"a scan by {node.attrs['combine']} has no loop nest", node.span)
        home = block.home_of((along,))
        number = self.at(home, node.operands[0], index)
        attrs: dict[str, Attr] = {"var": str(along)[len(LOOP) :], "combine": combine}
        return home, home.add(ops.SCAN, (number,), attrs, (number.type,)).result


def _from_the_front(block: NestBlock, number: Value, size: Size) -> Value:
    zero = block.number(CONSTANT, (), {"value": 0, "dtype": I64}, I64)
    length = block.number(SIZE, (), {"size": Sizes((size,))}, I64)
    is_negative = block.number(LT, (number, zero), {}, BOOL)
    return block.number(WHERE, (is_negative, block.number(ADD, (number, length), {}, I64), number), {}, I64)
