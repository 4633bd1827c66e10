"""Lower one assignment of arrays: run the graph's passes, allocate every region's results, write the loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import LOOP, Size
from ...ir.dtypes import BOOL, I64
from ...ir.errors import Unsupported
from ...ir.facts import Facts
from ...ir.graph import Graph, Node, Value, graph_guards
from ...ir.indexing import Index, loop_variables, reshape_index
from ...ir.kernels import KernelLookup
from ...ir.nest import ops
from ...ir.nest.rules import guards_in
from ...ir.nest.scopes import Location, LoopVariable, bound_before, variables
from ...ir.ops import BROADCAST, CONCATENATE, REGION, RESHAPE, SIZE, TABLE, TRANSPOSE
from ...ir.proofs import follows
from ...ir.rewrite import Rewriter
from ...ir.types import Attr, Sizes, TensorType, axis_groups, integer
from ..choose_forms import ChooseForms
from ..fuse import Fuse
from ..manager import run_pass
from ..pipeline import pipeline
from ..to_nest import ToNest
from .overlap import reads_first
from .places import MemoryPlace, are_apart, axis_order, layout_class, most, whole
from .regions import STEMS, RegionLowering, Scratch
from .rewriting import Around, NestRewriter
from .writing import Names, NestBlock


class NestContext:
    """What the assignments of one nest share: names, layouts, guards that they need."""

    def __init__(self, nest: Graph, names: Names, source: KernelLookup, vector_bytes: int) -> None:
        self.nest, self.names = nest, names
        steps = (p for p in pipeline(source, vector_bytes) if not isinstance(p, (ChooseForms, ToNest)))
        self.passes = tuple(Fuse(mixed=False) if isinstance(p, Fuse) else p for p in steps)
        layouts = nest.attrs.get("layouts", ())
        assert isinstance(layouts, tuple)
        self.layouts = {v: str(name) for v, name in zip(nest.inputs, layouts, strict=False)}
        self.guards: list[tuple[Size, Size]] = []  # that assignments need in addition
        self.known = set(graph_guards(nest))
        self.facts = [size for a, b in graph_guards(nest) for size in (a - b, b - a)]

    def visit(self, rewriter: NestRewriter, node: Node, around: Around, block: NestBlock) -> None:
        """Replace an assignment by loops, and copy any other node."""
        if node.op is not ops.ASSIGN:
            rewriter.copy(node, around, block)
            return
        results = AssignmentLowering(self, node, rewriter.operands(node), around).run(block)
        rewriter.values.update(zip(node.results, results, strict=True))


class AssignmentLowering:
    """Lowers one assignment. `operands` are its operands in the new nest, `around` the nodes around it in the old."""

    def __init__(self, context: NestContext, node: Node, operands: Sequence[Value], around: tuple[Node, ...]) -> None:
        assert node.body is not None
        self.context, self.node, self.around = context, node, around
        writes = integer(node.attrs, "writes")
        split = len(operands) - writes
        self.given, self.targets = operands[:split], operands[split:]
        place = Location(node, around, 0)
        scope = (*(v for n in around for v in variables(n)), *bound_before(place, context.nest))
        self.ranges: dict[str, LoopVariable] = {v.name: v for v in scope}
        self.facts = [*context.facts, *(fact for v in scope for fact in v.facts)]
        self.places: dict[Value, MemoryPlace] = {}
        self.numbers: dict[Value, Value] = {}

    def run(self, block: NestBlock) -> list[Value]:
        """Write the loops, and return the numbers that the assignment computes."""
        graph, places = self.prepared()
        for step in self.context.passes:
            graph = run_pass(step, graph)
        self.demand(block, graph_guards(graph))
        for value, source in zip(graph.inputs, places, strict=True):
            if isinstance(source, MemoryPlace):
                self.places[value] = source
            else:
                self.numbers[value] = source
        copies = self.find_memory(block, graph)
        for node in graph:
            if node.op is REGION:
                self.region(block, node)
            elif node.op is RESHAPE:
                self.merge(block, node)
            elif node.op is not CONCATENATE:
                raise Unsupported(f"{node.attrs.get('function', node.op.name)} has no loop nest", node.span)
        for value, target in copies:
            self.copy(block, value, target)
        return [self.number(block, v) for v in graph.outputs[len(self.targets) :]]

    def prepared(self) -> tuple[Graph, list[MemoryPlace | Value]]:
        """Return the graph with arrays in the axis order of memory and results in the shapes of their buffers."""
        body = self.node.body
        assert body is not None
        rewriter = Rewriter(Graph(body.name, body.inputs, body.nodes, body.outputs, guards_in(self.node)))
        builder, layouts = rewriter.builder, list[str]()
        builder.inputs.clear()
        found: list[MemoryPlace | Value] = []
        for value, given in zip(body.inputs, self.given, strict=True):
            if given.type.kind != "memref":
                rewriter.values[value] = builder.input(value.name or "in", value.type)
                rewriter.values[value].scalar = True
                layouts.append("scalar")
                found.append(given)
                continue
            order = axis_order(given, self.context.layouts)
            layouts.append(layout_class(given, order, self.context.layouts))
            shape = tuple(value.type.shape[k] for k in order)
            new = builder.input(value.name or "in", TensorType(value.type.dtype, shape))
            place = whole(given)
            if order != tuple(range(len(order))):
                new = builder.op(TRANSPOSE, new, order=tuple(order.index(k) for k in range(len(order))))
                place = MemoryPlace(given, tuple(order.index(k) for k in range(len(order))), place.starts)
            rewriter.values[value] = new
            found.append(place)
        for node in body:
            if node.op is RESHAPE:
                _match_sizes(builder.facts, node.operands[0].type.shape, node.result.type.shape)
            rewriter.copy(node)
        outputs = [rewriter.get(v) for v in body.outputs]
        for k, target in enumerate(self.targets):
            outputs[k] = _fitted(builder, outputs[k], target.type.shape)
        out_layouts = [layout_class(t, tuple(range(t.type.rank)), self.context.layouts) for t in self.targets]
        builder.attrs["layouts"] = tuple(layouts)
        builder.attrs["out_layouts"] = (*out_layouts, *("scalar" for _ in outputs[len(self.targets) :]))
        return builder.finish(outputs), found

    # -- guards

    def demand(self, block: NestBlock, guards: Sequence[tuple[Size, Size]]) -> None:
        """Demand equalities: by guards of the nest if they depend on its sizes only, by checks if loop variables
        matter.
        """
        for left, right in guards:
            if left == right or (left, right) in self.context.known:
                continue
            if follows(left - right, self.facts) and follows(right - left, self.facts):
                continue
            if not any(name.startswith(LOOP) for name in dims.symbols(left) | dims.symbols(right)):
                self.context.guards.append((left, right))
                continue
            numbers = [block.number(SIZE, (), {"size": Sizes((size,))}, I64) for size in (left, right)]
            attrs: dict[str, Attr] = {"error": "ValueProblem", "message": f"{left} must be equal to {right}"}
            block.add(ops.CHECK, (block.number(TABLE["eq"], numbers, {}, BOOL),), attrs)

    # -- memory

    def find_memory(self, block: NestBlock, graph: Graph) -> list[tuple[Value, MemoryPlace]]:
        """Give every result of a region memory. Return the results that must be copied to their targets at the end."""
        copies: list[tuple[Value, MemoryPlace]] = []
        targets = [whole(t) for t in self.targets]
        for k, (value, target) in enumerate(zip(graph.outputs, targets, strict=False)):
            if value in self.places or not self.may_write(graph, value, target, [*targets[:k], *targets[k + 1 :]]):
                copies.append((value, target))
            else:
                self.places[value] = target
        for node in reversed(graph.nodes):
            if node.op is CONCATENATE:
                self.pieces(block, node)
        for node in graph:
            for value in node.results:
                if value not in self.places and any(s != 1 for s in value.type.shape):
                    self.places[value] = whole(self.allocated(block, value, value.type.shape))
        return copies

    def may_write(self, graph: Graph, value: Value, target: MemoryPlace, others: Sequence[MemoryPlace]) -> bool:
        """Tell whether a result may be written directly to its target: nothing later reads the old content."""
        node = value.node
        if node is None or node.op not in (REGION, CONCATENATE, RESHAPE):
            return False
        if any(o.base is target.base and not are_apart(o, target) for o in others):
            return False
        places = {v: self.places[v] for v in graph.inputs if v in self.places}
        overlapping = {v for v, p in places.items() if p.base is target.base and not are_apart(p, target)}
        if node.op is not REGION:
            return not overlapping
        later = graph.nodes[graph.nodes.index(node) + 1 :]
        return not any(v in overlapping for n in later for v in n.operands)

    def pieces(self, block: NestBlock, node: Node) -> None:
        """Place the pieces of a concatenation in its memory."""
        if node.result not in self.places:
            self.places[node.result] = whole(self.allocated(block, node.result, node.result.type.shape))
        place, axis = self.places[node.result], integer(node.attrs, "axis")
        offset: Size = 0
        for piece in node.operands:
            starts = tuple(s + offset if a == axis else s for a, s in zip(place.axes, place.starts, strict=True))
            self.places[piece] = MemoryPlace(place.buffer, place.axes, starts)
            offset = offset + piece.type.shape[axis]

    def scratch(self, block: NestBlock) -> Scratch:
        """Allocate memory for values between stages: once per value, even if its region is lowered several times."""
        made: dict[Value, Value] = {}

        def allocate(value: Value, shape: tuple[Size, ...]) -> Value:
            if value not in made:
                made[value] = self.allocated(block, value, shape)
            return made[value]

        return allocate

    def allocated(self, block: NestBlock, value: Value, shape: tuple[Size, ...]) -> Value:
        """Allocate an array with its largest sizes, so that one allocation serves all steps of loops."""
        bounds = [most(s, self.ranges) for s in shape]
        known = [s for s in bounds if s is not None]
        if len(known) == len(bounds):
            shape = tuple(dims.maximum(0, s) for s in known)
        node = Node(ops.ALLOC, (), {"place": "call"}, (TensorType(value.type.dtype, shape, "memref"),), self.node.span)
        block.nodes.append(node)
        return node.result

    # -- loops

    def region(self, block: NestBlock, region: Node) -> None:
        """Write the loops of a region in an order in which they may overwrite what the assignment reads."""
        scratch = self.scratch(block)
        if self.overwrite(block, region, self.places, scratch):
            return
        first = NestBlock(None, (), self.node.span)
        kept = {v: whole(self.allocated(first, v, v.type.shape)) for v in self.narrow(region)}
        for value, place in kept.items():
            self.copy(first, value, place)
        if kept and self.overwrite(first, region, {**self.places, **kept}, scratch):
            block.nodes += first.nodes
            return
        spare = {v: whole(self.allocated(block, v, v.type.shape)) for v in region.results if v in self.places}
        self.write(block, RegionLowering(region, {**self.places, **spare}, self.numbers, self.context.names, scratch))
        for value, place in spare.items():
            target, self.places[value] = self.places[value], place
            self.copy(block, value, target)
            self.places[value] = target

    def overwrite(
        self, block: NestBlock, region: Node, places: Mapping[Value, MemoryPlace], scratch: Scratch
    ) -> bool:  # fmt: skip
        """Write loops that read every element before they overwrite it, if such an order exists; tell whether
        it does.
        """
        stored = {places[v].buffer for v in region.results if v in places}
        written = {places[v].base for v in region.results if v in places}
        loaded = {places[v].buffer for v in region.operands if v in places}
        overlapping = {b for b in loaded if whole(b).base in written}
        if not overlapping:
            self.write(block, RegionLowering(region, places, self.numbers, self.context.names, scratch))
            return True
        for backwards in self.directions(region):
            trial = NestBlock(None, (), self.node.span)
            lowering = RegionLowering(region, places, self.numbers, self.context.names, scratch, backwards)
            found = lowering.run(trial)
            if reads_first(trial.nodes, self.around, overlapping, stored, self.facts):
                block.nodes += trial.nodes
                self.numbers.update(found)
                return True
        return False

    def narrow(self, region: Node) -> list[Value]:
        """The operands with fewer axes than a result that lies in the same memory, such as a row or a column of it.

        A copy of these is cheaper than a copy of the result.
        """
        results = [v for v in region.results if v in self.places]
        axes = {self.places[v].base: sum(s != 1 for s in v.type.shape) for v in results}
        given = [v for v in dict.fromkeys(region.operands) if v in self.places]
        return [v for v in given if sum(s != 1 for s in v.type.shape) < axes.get(self.places[v].base, 0)]

    def write(self, block: NestBlock, lowering: RegionLowering) -> None:
        own = NestBlock(None, (), self.node.span)
        self.numbers.update(lowering.run(own))
        block.nodes += own.nodes

    def directions(self, region: Node) -> Iterator[frozenset[int]]:
        """Yield sets of axes to run backwards, the empty one first. A region with columns keeps its own order."""
        columns, rows = axis_groups(region.attrs, "columns"), axis_groups(region.attrs, "rows")
        axes = [] if columns else [axis for group in rows for axis in group]
        for chosen in chain.from_iterable(combinations(axes, k) for k in range(len(axes) + 1)):
            yield frozenset(chosen)

    def merge(self, block: NestBlock, node: Node) -> None:
        """Write an array with merged axes, element by element of the operand."""
        (operand,), shape = node.operands, node.result.type.shape
        names, index = self.counted(operand.type.shape)
        merged = reshape_index(shape, operand.type.shape, index) or _merged_index(shape, operand.type.shape, index)
        if merged is None and 1 < len(shape) < len(index):  # then as people mostly write it, with guards for that
            kept = len(shape) - 1
            rest = dims.product(operand.type.shape[kept:])
            self.demand(block, list(zip(shape, (*operand.type.shape[:kept], rest), strict=True)))
            merged = _merged_index((*operand.type.shape[:kept], rest), operand.type.shape, index)
        if merged is None:
            raise Unsupported(f"a reshape of {operand.type} to {node.result.type} has no loop nest", node.span)
        self.each(block, operand, names, index, self.places[node.result], merged)

    def copy(self, block: NestBlock, value: Value, target: MemoryPlace) -> None:
        """Copies an array to its target."""
        names, index = self.counted(value.type.shape)
        self.each(block, value, names, index, target, index)

    def counted(self, shape: tuple[Size, ...]) -> tuple[list[str], Index]:
        """Make new variables for the axes of an array, and the index that they form."""
        names = [self.context.names.fresh(STEMS[k % len(STEMS)]) for k in range(len(shape))]
        return names, tuple(0 if s == 1 else dims.symbol(LOOP + n) for n, s in zip(names, shape, strict=True))

    def each(
        self, block: NestBlock, value: Value, names: Sequence[str], index: Index, target: MemoryPlace, at: Index
    ) -> None:
        """Copies every element of an array, at its index, to an index of a target."""
        shape, inner = value.type.shape, NestBlock(None, (), self.node.span)
        if value in self.numbers:
            number = self.numbers[value]
        else:
            number = inner.load(self.places[value].buffer, self.places[value].at(index))
        inner.store(number, target.buffer, target.at(at))
        kind = "vector"
        for k in reversed([k for k, size in enumerate(shape) if size != 1]):
            outer = NestBlock(None, (), self.node.span)
            outer.loop(inner, names[k], shape[k], kind, {})
            inner, kind = outer, "serial"
        block.nodes += inner.nodes

    def number(self, block: NestBlock, value: Value) -> Value:
        if value in self.numbers:
            return self.numbers[value]
        place = self.places[value]
        return block.load(place.buffer, place.at(loop_variables(value.type.shape)))


def _fitted(builder: Builder, value: Value, shape: tuple[Size, ...]) -> Value:
    """Reshape an array to the shape of the buffer that it is written to."""
    if value.type.rank > len(shape):
        value = builder.op(RESHAPE, value, shape=Sizes(value.type.shape[value.type.rank - len(shape) :]))
    if builder.facts.agree(value.type.shape, shape):
        return value
    return builder.op(BROADCAST, value, shape=Sizes(shape))


def _match_sizes(facts: Facts, old: Sequence[Size], new: Sequence[Size]) -> None:
    """Demand that the two sizes in which a reshape differs are equal; all others are known to be."""
    pairs = list(zip(*([s for s in map(facts.canonical, shape) if s != 1] for shape in (old, new)), strict=False))
    counts = {sum(facts.canonical(s) != 1 for s in shape) for shape in (old, new)}
    differing = [(a, b) for a, b in pairs if a != b]
    if len(counts) == 1 and len(differing) == 1:
        facts.assume_equal(*differing[0])


def _merged_index(new: Sequence[Size], old: Sequence[Size], index: Index) -> Index | None:
    """The index after a reshape that merges neighbouring axes into one, whose size the guards know."""
    before = 0
    while before < min(len(new), len(old)) and new[before] == old[before]:
        before += 1
    after = 0
    while after < min(len(new), len(old)) - before and new[-1 - after] == old[-1 - after]:
        after += 1
    if len(new) - before - after != 1 or len(old) - before - after < 1:
        return None
    total: Size = 0
    for axis in range(before, len(old) - after):
        total = total * old[axis] + index[axis]
    return (*index[:before], total, *index[len(old) - after :])
