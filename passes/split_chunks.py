"""`split-chunks`: cut a graph into pieces that run chunk by chunk, with merges in between.

Given: the graph of a kernel after `lower-reductions`, made for the full shape, and where its inputs are cut.

    (x - x.mean(axis=0)) / x.std(axis=0), x cut along axis 0

Made: a stage for each reduction over chunks, and a finish for each output.

    stage 0   for each chunk  sum(x)                        then merge
    stage 1   for each chunk  sum(x - mu), sum((x - mu)²)   then merge
    finish    for each chunk  (x - mu) / sd

Reductions that go over the same space and need the same stages before them share a stage: one task for each chunk. A
value between stages is computed again in each piece that needs it, as fusion does.

How partial results are merged keeps the bits of one machine where it can. Integer sums, maxima and positions can be
merged in any order. A float sum is a tree over blocks (`lower_reductions`): a chunk that begins at a block computes
whole nodes of the tree, named by (level, number), with their lanes; siblings are added wherever they meet, and the rest
from the newest to the oldest, as one machine does. Other float sums are merged in the order of the chunks; `reasons`
says which they are, and `Split.same_bits` is then false.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from ..ir.builder import Builder
from ..ir.composites import Composite, is_exact, recognise
from ..ir.dims import evaluate
from ..ir.errors import Unsupported
from ..ir.graph import Graph, Node, Value
from ..ir.ops import POSITIONS, REGION, TABLE, Trait
from ..ir.records import record
from ..ir.types import axis_groups, integer, ints
from .planning.chunk_axes import ChunkAxes
from .planning.chunk_composites import ChunkJoin, PartSums, join_of
from .planning.chunk_overlap import NO_MARGIN
from .planning.chunk_pieces import GONE, SPLIT, WHOLE, ChunkPiece, Entry, Index, NotFlat, PieceBuilder, WholeArray

EXACT, TREE, IN_ORDER, POSITION = "exact", "tree", "in order", "position"
PARTS, MOMENTS, TOTAL = "parts", "moments", "total"  # of composites


@record
class ChunkPartial:
    """How the partial results of one reduction are merged.

    `lanes` is the place of the axis of lanes in a node of a tree, -1 if it has none; `block` is the length of a block
    in elements, `row` how many elements one row of the chunked axis has, `full` the number of elements in all. What
    comes from moments names in `of` the reduction that has them.
    """

    number: int
    op: str
    kind: str
    axes: tuple[int, ...]
    keepdims: bool
    width: int = 1
    lanes: int = -1
    block: int = 0
    row: int = 1
    full: int = 0
    of: int = -1


@record
class ChunkWalk:
    """One kernel of a stage, and the reductions that it computes; `before` holds the kernels that must run first.

    `slots` are the numbers of the outputs of each reduction, if they are shared. `part` is the length of a part of
    composites, -1 if a chunk is one part, and 0 without composites.
    """

    piece: ChunkPiece
    partials: tuple[ChunkPartial, ...]
    before: ChunkPiece | None = None
    var: int = 0
    part: int = 0
    slots: tuple[tuple[int, ...], ...] = ()


@record
class ChunkStage:
    """Reductions over one space: the class of each of its axes, and the axes that are reduced over.

    `grown` says for each axis by how much it is longer than the inputs along it, as it is after stencils.
    """

    space: tuple[int | None, ...]
    reduced: tuple[int, ...]
    walks: tuple[ChunkWalk, ...]
    joins: tuple[ChunkJoin, ...] = ()
    grown: tuple[int, ...] = ()

    @property
    def partials(self) -> tuple[ChunkPartial, ...]:
        return tuple(p for w in self.walks for p in w.partials)


@record
class ChunkFinish:
    """Outputs over one space, which one piece computes; `outputs` are their numbers."""

    space: tuple[int | None, ...]
    piece: ChunkPiece
    outputs: tuple[int, ...]
    grown: tuple[int, ...] = ()


@record
class ChunkSplit:
    """A graph in pieces. `stage_of` has the stage of each reduction, and `reasons` says why bits may differ.

    At multiples of `every`, one number for each class of axes, chunks may begin without changing bits.
    """

    stages: tuple[ChunkStage, ...]
    finishes: tuple[ChunkFinish, ...]
    stage_of: tuple[int, ...]
    reasons: tuple[str, ...]
    every: tuple[int, ...] = ()

    @property
    def same_bits(self) -> bool:
        return not self.reasons


def flattened(graph: Graph) -> Graph:
    """The graph without regions: their nodes stand in the graph itself."""
    builder = Builder(graph.name)
    values: dict[Value, Value] = {v: v for v in graph.inputs}

    def copy(body: Graph) -> None:
        for node in body:
            operands = tuple(values[v] for v in node.operands)
            if node.op is REGION:
                assert node.body is not None
                values.update(zip(node.body.inputs, operands, strict=True))
                copy(node.body)
                values.update(zip(node.results, (values[v] for v in node.body.outputs), strict=True))
                continue
            types = tuple(r.type for r in node.results)
            made = builder.node(node.op, operands, node.attrs, node.span, node.body, types)
            values.update(zip(node.results, made.results, strict=True))

    copy(graph)
    return Graph(graph.name, graph.inputs, tuple(builder.nodes), tuple(values[v] for v in graph.outputs), graph.attrs)


def split(axes: ChunkAxes, starts: Sequence[Sequence[int]], env: Mapping[str, int], free: bool = False) -> ChunkSplit:
    """Split a flat graph whose chunked axes are known.

    `starts` has for each class of axes where its chunks begin; `env` has the full sizes. With `free`, float sums are
    merged in the order of the chunks, without the tree of one machine.
    """
    return _ChunkSplitter(axes, starts, env, free).split()


class _ChunkSplitter:
    def __init__(self, axes: ChunkAxes, starts: Sequence[Sequence[int]], env: Mapping[str, int], free: bool) -> None:
        self.axes, self.starts, self.env, self.graph, self.free = axes, starts, env, axes.graph, free
        self.every = [1] * len(axes.members)
        self.crossing = [n for n in self.graph if axes.reduced(n)]
        numbers = {n.result: k for k, n in enumerate(self.crossing)}
        self.whole = WholeArray(axes, numbers)
        self.reasons: list[str] = []
        self.composites = {n: c for n in self.crossing if (c := self._composite(n)) is not None}

    def split(self) -> ChunkSplit:
        groups: dict[tuple[object, ...], list[Node]] = {}
        depths = self._depths()
        for node in self.crossing:
            space, reduced = self.axes.classes(node.operands[0]), ints(node.attrs, "axes")
            key = (depths[node.result], space, reduced, self._grown(node.operands[0]))
            groups.setdefault(key, []).append(node)
        keys = sorted(groups, key=lambda key: str(key[0]).zfill(9))
        stage_of = {self.whole.merged[n.result]: k for k, key in enumerate(keys) for n in groups[key]}
        stages = tuple(self._stage(groups[key]) for key in keys)
        return ChunkSplit(
            stages,
            self._finishes(),
            tuple(stage_of[k] for k in range(len(stage_of))),
            tuple(dict.fromkeys(self.reasons)),
            tuple(self.every),
        )

    def _depths(self) -> dict[Value, int]:
        """How many reductions over chunks come before each value, itself included."""
        depths = dict.fromkeys(self.graph.inputs, 0)
        for node in self.graph:
            needed = (self.composites[node][0].u,) if node in self.composites else node.operands
            depth = max((depths[v] for v in needed), default=0)
            depths |= dict.fromkeys(node.results, depth + (node.result in self.whole.merged))
        return depths

    def _finishes(self) -> tuple[ChunkFinish, ...]:
        spaces: dict[tuple[object, ...], list[int]] = {}
        for k, value in enumerate(self.graph.outputs):
            spaces.setdefault((self.axes.classes(value), value.type.shape), []).append(k)
        found = []
        for numbers in spaces.values():
            classes = self.axes.classes(self.graph.outputs[numbers[0]])
            piece = PieceBuilder(self.whole, self.graph.name)
            outputs = piece.values([(self.graph.outputs[k], _plain(classes)) for k in numbers])
            grown = self._grown(self.graph.outputs[numbers[0]])
            found.append(ChunkFinish(classes, piece.finish(outputs), tuple(numbers), grown))
        return tuple(found)

    def _grown(self, value: Value) -> tuple[int, ...]:
        return tuple(self.axes.overlaps.margin(value, a).grown for a in range(value.type.rank))

    def _stage(self, nodes: Sequence[Node]) -> ChunkStage:
        space = self.axes.classes(nodes[0].operands[0])
        shared = [self.composites[n] for n in nodes if n in self.composites]
        made = list[ChunkWalk]()
        known = set[Node](c.node for c, _ in shared)
        for part, is_moment in sorted({(part, _is_moment(c)) for c, part in shared}):
            same = [c for c, own in shared if (own, _is_moment(c)) == (part, is_moment)]
            walk, derived = self._part_walk(space, part, same, [n for n in nodes if n not in known])
            made.append(walk)
            known |= derived
        walks: dict[tuple[object, ...], list[Node]] = {}
        for node in nodes:
            if node not in known:
                walks.setdefault(self._tree(node) or (), []).append(node)
        made += (self._walk(space, tree, same) for tree, same in walks.items())
        joins = tuple(join_of(self.whole, c, _plain(self.axes.classes(c.shift)), self.graph.name) for c, _ in shared)
        grown = self._grown(nodes[0].operands[0])
        return ChunkStage(space, ints(nodes[0].attrs, "axes"), tuple(made), joins, grown)

    def _in_rows(
        self, space: tuple[int | None, ...], wanted: Sequence[Value], group: Sequence[int], length: int
    ) -> tuple[PieceBuilder, list[Value], ChunkPiece | None, Index]:
        """A piece that has values in rows of `length` elements along the axes of a group, and what must run
        before it.
        """
        index = tuple(
            Entry(a, SPLIT) if a == group[0] else Entry(None, GONE) if a in group else e
            for a, e in enumerate(_plain(space))
        )
        if length == 1 and len(group) == 1:
            index = _plain(space)
        try:
            if any(self.axes.overlaps.margin(v, group[0]) != NO_MARGIN for v in wanted):
                raise NotFlat
            piece = PieceBuilder(self.whole, self.graph.name, length)
            return piece, piece.values([(v, index) for v in wanted]), None, index
        except NotFlat:
            first = PieceBuilder(self.whole, f"{self.graph.name}_values")
            before = first.finish(first.values([(v, _plain(space)) for v in wanted]))
            piece = PieceBuilder(self.whole, self.graph.name, length)
            return piece, [piece.given("before", k, v, index) for k, v in enumerate(wanted)], before, index

    def _composite(self, node: Node) -> tuple[Composite, int] | None:
        """The composite of a sum that is computed in one pass with the reduction that it needs, and its parts.

        A part has as many elements as on one machine, or -1 if each chunk is one part.
        """
        found = recognise(node)
        if found is None or found.reference.result not in self.whole.merged:
            return None
        if self.free:
            self.reasons.append(f"{_shown(node)}: bits are free")
            return found, -1
        shape, axes = node.operands[0].type.shape, ints(node.attrs, "axes")
        full = math.prod(evaluate(shape[a], self.env) for a in axes)
        if "composite" not in node.attrs or full < integer(node.attrs, "cut_from"):
            return None
        blocks = integer(node.attrs, "moment_part" if "moment_part" in node.attrs else "chunk")
        part = blocks * integer(node.attrs, "lanes") * integer(node.attrs, "steps")
        return found, part if self._group(node, part) is not None else -1

    def _part_walk(
        self, space: tuple[int | None, ...], part: int, composites: Sequence[Composite], others: Sequence[Node]
    ) -> tuple[ChunkWalk, set[Node]]:
        """One walk for composites with parts of this length, and the other reductions that it gives as well.

        Either all of them are moments, or none is. A kernel joins the moments of all parts that it is given.
        """
        axes, us = ints(composites[0].node.attrs, "axes"), list(dict.fromkeys(c.u for c in composites))
        group = axis_groups(composites[0].node.attrs, "order")[0] if part > 0 else ()
        first = next(a for a in axes if space[a] is not None)
        before, attrs, is_moment = None, composites[0].node.attrs, _is_moment(composites[0])
        if part > 0:
            length = 1 if is_moment else part
            piece, values, before, index = self._in_rows(space, us, group, length)
            place = sum(_width(e, length) for e in index[: group[0]])
            tree = {"lanes": 1} if attrs["lanes"] == 1 else {}
            if is_moment:
                tree["moment_part"] = integer(attrs, "moment_part" if "moment_part" in attrs else "chunk")
            sums = PartSums(piece, [place if is_moment else place + 1], tree)
        else:
            piece = PieceBuilder(self.whole, self.graph.name)
            values, sums, place = piece.values([(u, _plain(space)) for u in us]), PartSums(piece, axes), -1
        of, derived = dict(zip(us, values, strict=True)), set[Node]()
        partials, slots = list[ChunkPartial](), list[tuple[int, ...]]()
        shape = us[0].type.shape
        whole = group[1:] if part > 0 else [a for a in axes if space[a] is None]
        row = math.prod(evaluate(shape[a], self.env) for a in whole)
        having = dict[Value, int]()
        for c in composites:
            number, keepdims = self.whole.merged[c.node.result], bool(c.node.attrs.get("keepdims"))
            own = having.setdefault(c.u, number) if is_moment else -1
            kind = MOMENTS if is_moment else PARTS
            partials.append(ChunkPartial(number, c.kind, kind, axes, keepdims, 1, place, part, row, of=own))
            slots.append(sums.slots(c, of[c.u]) if own in (number, -1) else ())
            for n in others:
                if n not in derived and n.op is c.reference.op and n.operands[0] is c.u:
                    number, keepdims = self.whole.merged[n.result], bool(n.attrs.get("keepdims"))
                    kind = TOTAL if is_moment else EXACT
                    partials.append(ChunkPartial(number, n.op.name, kind, axes, keepdims, lanes=place, of=own))
                    slots.append(() if is_moment else (sums.reference(c, of[c.u]),))
                    derived.add(n)
        walk = ChunkWalk(piece.finish(sums.outputs), tuple(partials), before, first, part, tuple(slots))
        return walk, derived

    def _walk(self, space: tuple[int | None, ...], tree: tuple[object, ...], nodes: Sequence[Node]) -> ChunkWalk:
        if not tree:
            return self._plain_walk(space, nodes)
        (lanes, group) = tree
        assert isinstance(lanes, int) and isinstance(group, tuple)
        piece, values, before, index = self._in_rows(space, [n.operands[0] for n in nodes], group, lanes)
        place = sum(_width(e, lanes) for e in index[: group[0]])
        others = [
            sum(_width(e, lanes) for e in index[:a]) for a in ints(nodes[0].attrs, "axes") if index[a].form != GONE
        ]
        outputs, slots = dict[tuple[object, Value], Value](), list[tuple[int, ...]]()
        for n, v in zip(nodes, values, strict=True):
            if (n.op, v) not in outputs:
                total = piece.builder.op(n.op, v, axes=tuple(others), keepdims=False, lanes=1, span=n.span)
                outputs[n.op, v] = total
            slots.append((list(outputs).index((n.op, v)),))
        shape = nodes[0].operands[0].type.shape
        row = math.prod(evaluate(shape[a], self.env) for a in group[1:])
        full = math.prod(evaluate(shape[a], self.env) for a in group)
        lane_axis = place - sum(o < place for o in others) if lanes > 1 else -1
        partials = tuple(
            ChunkPartial(
                self.whole.merged[n.result], n.op.name, TREE, ints(n.attrs, "axes"), bool(n.attrs.get("keepdims")),
                lanes, lane_axis, lanes * integer(n.attrs, "steps"), row, full,
            )
            for n in nodes
        )  # fmt: skip
        return ChunkWalk(piece.finish(list(outputs.values())), partials, before, group[0], slots=tuple(slots))

    def _plain_walk(self, space: tuple[int | None, ...], nodes: Sequence[Node]) -> ChunkWalk:
        """Reductions of a whole chunk each."""
        piece = PieceBuilder(self.whole, self.graph.name)
        values = piece.values([(n.operands[0], _plain(space)) for n in nodes])
        outputs, partials = list[Value](), list[ChunkPartial]()
        for node, value in zip(nodes, values, strict=True):
            axes, keepdims = ints(node.attrs, "axes"), bool(node.attrs.get("keepdims"))
            outputs.append(piece.builder.op(node.op, value, axes=axes, keepdims=keepdims, span=node.span))
            kind, row = EXACT if is_exact(node) else IN_ORDER, 1
            if node.op in POSITIONS:
                kind, row = POSITION, self._row_of_position(node, space)
                best = TABLE[node.op.name.removeprefix("arg")]
                outputs.append(piece.builder.op(best, value, axes=axes, keepdims=keepdims, span=node.span))
            number = self.whole.merged[node.result]
            partials.append(ChunkPartial(number, node.op.name, kind, axes, keepdims, row=row))
        first = next(a for a in ints(nodes[0].attrs, "axes") if space[a] is not None)
        return ChunkWalk(piece.finish(outputs), tuple(partials), var=first)

    def _row_of_position(self, node: Node, space: tuple[int | None, ...]) -> int:
        """How many positions one step along the chunked axis is."""
        axes, shape = ints(node.attrs, "axes"), node.operands[0].type.shape
        if any(space[a] is not None for a in axes[1:]):
            raise Unsupported(
                f"'{node.op.name}' over several axes can't be split: only the first of them may be cut into chunks",
                node.span,
                "make the others one chunk with rechunk({axis: -1})",
            )
        return math.prod(evaluate(shape[a], self.env) for a in axes[1:])

    def _tree(self, node: Node) -> tuple[object, ...] | None:
        """The lanes and the group of axes of a sum whose tree can be cut at the chunks' boundaries, else None."""
        if is_exact(node) or node.op in POSITIONS:
            return None
        if "chained" in node.attrs or integer(node.attrs, "steps") == 0:
            self.reasons.append(f"{_shown(node)}: it is one chain over windows")
            return None
        lanes = integer(node.attrs, "lanes")
        group = self._group(node, lanes * integer(node.attrs, "steps"))
        return None if group is None else (lanes, group)

    def _group(self, node: Node, block: int) -> tuple[int, ...] | None:
        """The axes of a sum that is added up in blocks of this many elements, if all chunks begin at a block."""
        order, shape = axis_groups(node.attrs, "order"), node.operands[0].type.shape
        cut, shown = self.axes.reduced(node), _shown(node)
        if len(order) > 1:
            self.reasons.append(f"{shown}: it is added up in runs that are not contiguous")
            return None
        if not order or cut != order[0][:1] or order[0] != tuple(range(order[0][0], order[0][-1] + 1)):
            self.reasons.append(f"{shown}: more than the first of the axes that it adds up is cut into chunks")
            return None
        (group,) = order
        row = math.prod(evaluate(shape[a], self.env) for a in group[1:])
        number = self.axes.classes(node.operands[0])[group[0]]
        assert number is not None
        every = block // math.gcd(row, block)
        self.every[number] = math.lcm(self.every[number], every)
        if self.free:
            self.reasons.append(f"{shown}: bits are free")
            return None
        if any(start * row % block for start in self.starts[number]):
            self.reasons.append(f"{shown}: chunks do not begin at multiples of {every} along axis {group[0]}")
            return None
        return group


def _shown(node: Node) -> str:
    return f"{node.op.name} over axes {ints(node.attrs, 'axes')}"


def _is_moment(composite: Composite) -> bool:
    return composite.kind.startswith("moment")


def _plain(space: Sequence[int | None]) -> Index:
    return tuple(WHOLE if number is None else Entry(a) for a, number in enumerate(space))


def _width(entry: Entry, lanes: int) -> int:
    return {SPLIT: 2 if lanes > 1 else 1, GONE: 0}.get(entry.form, 1)


def other_trees(inside: Sequence[Node], split: ChunkSplit, lower: Callable[[Graph], Graph]) -> list[str]:
    """The sums inside chunks for which the passes choose another tree in a piece than in the whole graph.

    `inside` are the whole graph's operations that lie inside chunks, after `lower-reductions`.
    """
    known: dict[object, set[object]] = {}
    for node in inside:
        if _has_tree(node):
            known.setdefault(_origin(node), set()).add(_shape_of_tree(node))
    found = []
    for part in (*split.stages, *split.finishes):
        walks = part.walks if isinstance(part, ChunkStage) else ()
        pieces = [part.piece] if isinstance(part, ChunkFinish) else [p for w in walks for p in (w.before, w.piece) if p]
        for piece in pieces:
            if not any(_has_tree(n) and n.attrs.get("lanes") is None and _origin(n) in known for n in piece.graph):
                continue
            for node in flattened(lower(piece.graph)):
                if _has_tree(node) and known.get(_origin(node), {_shape_of_tree(node)}) != {_shape_of_tree(node)}:
                    found.append(f"{node.op.name} inside chunks: the passes fuse it in another way there")
    return list(dict.fromkeys(found))


def _has_tree(node: Node) -> bool:
    return Trait.REDUCTION in node.op.traits and node.op not in POSITIONS and not is_exact(node)


def _origin(node: Node) -> object:
    return node.span, node.op, ints(node.attrs, "axes"), node.result.type.dtype, node.operands[0].type.rank


def _shape_of_tree(node: Node) -> object:
    names = ("order", "lanes", "steps", "chained", "composite", "moment_part", "cut_from")
    return tuple(node.attrs.get(name) for name in names)
