"""Clone a part of a graph for one chunk, backwards from the values that the chunk's task has to compute.

A piece is an ordinary graph. Each of its values is a value of the whole graph at an *index*: for each axis an `Entry`
that says whether the axis is whole, or the chunk at the task's number along a variable. So `x + x.T` takes two inputs
from x, at (i, j) and at (j, i). Sizes of chunked axes are symbols (`c0`), full sizes and offsets are arguments.

A sum whose lanes run along the reduced axes needs these as rows of `lanes` elements: their entry is `SPLIT`, two axes
`k` and `l` in the piece (one if there is a single lane), and `GONE` for further axes that are collapsed into it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import Size, symbol
from ...ir.dtypes import BOOL, WEAK_INT, DType
from ...ir.errors import Unsupported
from ...ir.graph import Graph, Node, Value
from ...ir.ops import (
    BROADCAST,
    CONSTANT,
    DECLARED,
    EACH,
    IOTA,
    NUMPY,
    RESHAPE,
    SIZE,
    SLICE,
    TABLE,
    Trait,
)  # fmt: skip
from ...ir.records import record
from ...ir.tuples import NamedTuple
from ...ir.types import Attr, Sizes, TensorType, integer, ints, sizes
from .chunk_axes import ChunkAxes, links
from .chunk_overlap import NO_MARGIN, RIGHT, slice_ends

PLAIN, SPLIT, GONE = "", "split", "gone"
FLAT = (CONSTANT, EACH, BROADCAST, RESHAPE)
# Attributes that say how an op is computed: the passes that run on a piece choose them again.
CHOSEN = frozenset(("impl", "score", "follows", "like", "core", "keep"))
PLANNED = frozenset(("order", "lanes", "steps", "chained", "composite", "chunk", "moment_part", "cut_from"))


class Entry(NamedTuple):
    """One axis of a value in a piece: the variable that numbers its chunks, if it is chunked, and its form."""

    var: int | None = None
    form: str = PLAIN


WHOLE = Entry()
Index = tuple[Entry, ...]


class NotFlat(Exception):
    """Raised when a value can't be computed with the reduced axes collapsed; it must be in memory first."""


@record
class ChunkSource:
    """An argument of a piece: an `input`, or the `merged` result of a reduction, by number and at an index.

    A `size` is a number, an `offset` is where the chunk along variable `number` begins, and an `extent` is an array
    without data that has the chunk's size along it. A `length` is how many elements a part of a composite has, a
    float of `number` bytes.
    """

    kind: str
    number: int
    index: Index = ()
    grown: int = 0


class Around(NamedTuple):
    """The elements that a piece reads before and after its chunk along a variable; `full` is the size of that axis."""

    var: int
    before: int
    after: int
    full: int


@record
class ChunkPiece:
    """A graph, and what its arguments are."""

    graph: Graph
    sources: tuple[ChunkSource, ...]
    around: tuple[Around, ...] = ()


@record
class WholeArray:
    """The graph that is split. `merged` numbers its reductions over chunks."""

    axes: ChunkAxes
    merged: Mapping[Value, int]

    @property
    def graph(self) -> Graph:
        return self.axes.graph

    @property
    def env(self) -> Mapping[str, int]:
        return self.axes.env


class PieceBuilder:
    """Builds the graph of one piece. If its axes are split into rows, `lanes` is the length of a row."""

    def __init__(self, whole: WholeArray, name: str, lanes: int = 1) -> None:
        self.whole, self.lanes = whole, lanes
        self.builder = Builder(name)
        self._inputs = {v: k for k, v in enumerate(whole.graph.inputs)}
        self._sources: dict[ChunkSource, Value] = {}
        self._known: dict[tuple[Value, Index], Value] = {}
        self._around: dict[int, Around] = {}

    def values(self, wanted: Sequence[tuple[Value, Index]]) -> list[Value]:
        """The piece's values for these values of the whole graph, each for the chunk itself, without a margin."""
        for value, index in wanted:
            self._need(value, index)
        demands: dict[Value, dict[Index, None]] = {}
        for value, index in wanted:
            demands.setdefault(value, {})[index] = None
        for node in reversed(self.whole.graph.nodes):
            for result in node.results:
                for index in demands.get(result, ()):
                    if result in self.whole.merged:
                        continue
                    for operand, inner in zip(
                        node.operands, _operand_indices(node, index, self.whole.env), strict=True
                    ):
                        demands.setdefault(operand, {})[inner] = None
        for value in self.whole.graph.inputs:
            for index in demands.get(value, ()):
                self._known[value, index] = self._given("input", self._inputs[value], value, index)
        for node in self.whole.graph:
            for result in node.results:
                for index in demands.get(result, ()):
                    self._known[result, index] = self._built(node, result, index)
        return [self._trimmed(value, index) for value, index in wanted]

    def _need(self, value: Value, index: Index) -> None:
        """Note the margins that a value needs."""
        for axis, (number, entry) in enumerate(zip(self.whole.axes.classes(value), index, strict=True)):
            margin = self.whole.axes.overlaps.margin(value, axis)
            if number is None or entry.var is None or margin == NO_MARGIN:
                continue
            if entry.form:
                raise NotFlat
            _, before, after, full = self._around.get(entry.var, Around(entry.var, 0, 0, self.whole.axes.full(number)))
            self._around[entry.var] = Around(entry.var, max(before, margin.before), max(after, margin.after), full)
            self.whole.axes.overlaps.need(number, max(margin.before, margin.after))

    def _trimmed(self, value: Value, index: Index) -> Value:
        """A value without the margins of its chunk."""
        made, classes = self._known[value, index], self.whole.axes.classes(value)
        pairs = enumerate(zip(classes, index, strict=True))
        cut = [a for a, (number, entry) in pairs if number is not None and entry.var in self._around]
        if not cut or value in self.whole.merged:
            return made
        starts, wanted = list[Size]([0] * len(index)), list(made.type.shape)
        for axis in cut:
            var, grown = index[axis].var, self.whole.axes.overlaps.margin(value, axis).grown
            assert var is not None
            starts[axis], wanted[axis] = symbol(f"b{var}"), symbol(f"t{var}{'m' if grown < 0 else 'p'}{abs(grown)}")
            self._source(ChunkSource("margin", var), TensorType(BOOL, (symbol(f"b{var}"),)))
            self._source(ChunkSource("count", var, (), grown), TensorType(BOOL, (wanted[axis],)))
        steps = (1,) * len(index)
        return self.builder.op(SLICE, made, starts=Sizes(tuple(starts)), steps=steps, sizes=Sizes(tuple(wanted)))

    def finish(self, outputs: Sequence[Value]) -> ChunkPiece:
        """The piece with these outputs; sizes that no other argument has come from arguments of their own."""
        bound = {str(s) for v in self.builder.inputs for s in v.type.shape}
        used = (s for n in self.builder.nodes for r in n.results for s in r.type.shape)
        for name in sorted({n for s in used for n in dims.symbols(s)} - bound):
            var = int(name[1:]) if name[1:].isdigit() else -1
            if name == f"c{var}":
                self._source(ChunkSource("extent", var), TensorType(BOOL, (symbol(name),)))
        self.builder.attrs["results"] = ("array",) * len(outputs)
        return ChunkPiece(self.builder.finish(outputs), tuple(self._sources), tuple(self._around.values()))

    def length(self, dtype: DType) -> Value:
        """An argument: how many elements a part has."""
        return self._source(ChunkSource("length", dtype.size), TensorType(dtype))

    def given(self, kind: str, number: int, value: Value, index: Index) -> Value:
        """An argument with the type that a value has at an index."""
        return self._given(kind, number, value, index)

    def _given(self, kind: str, number: int, value: Value, index: Index) -> Value:
        _check_flat(value, index)
        classes = self.whole.axes.classes(value)
        index = tuple(e if n is not None or e.form else WHOLE for n, e in zip(classes, index, strict=True))
        if kind == "merged" and any(e.var in self._around for e in index):
            raise Unsupported(
                "a stencil can't reach over chunks of a value that was reduced before",
                value.node.span if value.node else None,
                "make that axis one chunk with rechunk({axis: -1}), or split the kernel in two",
            )
        return self._source(ChunkSource(kind, number, index), TensorType(value.type.dtype, self.shape(value, index)))

    def _source(self, source: ChunkSource, type: TensorType) -> Value:
        if source not in self._sources:
            self._sources[source] = self.builder.input(f"a{len(self._sources)}", type)
        return self._sources[source]

    def _built(self, node: Node, result: Value, index: Index) -> Value:
        if result in self.whole.merged:
            return self._given("merged", self.whole.merged[result], result, index)
        if node.op is SIZE:
            (size,) = sizes(node.attrs, "size")
            return self._source(ChunkSource("size", dims.evaluate(size, self.whole.env)), TensorType(WEAK_INT))
        if node.op is NUMPY:
            name = node.attrs["function"]
            raise Unsupported(
                f"'{name}' is a call of NumPy, which can't be part of a kernel on chunks",
                node.span,
                f"call '{name}' outside the kernel and pass the result in",
            )
        if any(e.form for e in index) and node.op not in FLAT and Trait.ELEMENTWISE not in node.op.traits:
            raise NotFlat
        _check_flat(result, index)
        indices = _operand_indices(node, index, self.whole.env)
        operands = [self._known[pair] for pair in zip(node.operands, indices, strict=True)]
        attrs = self._attrs(node, result, index)
        types = None
        if node.op in DECLARED:
            types = tuple(
                TensorType(r.type.dtype, self.shape(r, index if r.type.rank == len(index) else _whole(r)))
                for r in node.results
            )
        made = self.builder.node(node.op, operands, attrs, node.span, node.body, types).results[result.index]
        along = integer(node.attrs, "axis") if node.op is IOTA else 0
        if node.op is IOTA and self.whole.axes.classes(result)[along] is not None and index[along].var is not None:
            var = index[along].var
            assert var is not None
            offset = self._source(ChunkSource("offset", var), TensorType(WEAK_INT))
            made = self.builder.op(TABLE["add"], made, offset, span=node.span)
        return made

    def _attrs(self, node: Node, result: Value, index: Index) -> dict[str, Attr]:
        dropped = CHOSEN | PLANNED if Trait.REDUCTION in node.op.traits else CHOSEN
        attrs = {name: attr for name, attr in node.attrs.items() if name not in dropped}
        if node.op in (BROADCAST, RESHAPE, IOTA):
            if node.op is IOTA and any(e.form for e in index):
                raise NotFlat
            attrs["shape"] = Sizes(self.shape(result, index))
        elif node.op is SLICE:
            attrs["sizes"] = Sizes(self.shape(result, index))
            attrs["starts"] = Sizes(self._starts(node, index))
        return attrs

    def _starts(self, node: Node, index: Index) -> tuple[Size, ...]:
        """Where a slice starts in a chunk: so far from its beginning or its end as in the whole array."""
        found = list(sizes(node.attrs, "starts"))
        for axis, (number, entry) in enumerate(zip(self.whole.axes.classes(node.operands[0]), index, strict=True)):
            if number is None or (ends := slice_ends(node, axis, self.whole.env)) is None:
                continue
            if entry.var is None:
                raise Unsupported(
                    "'slice' takes a few elements of an axis that is cut into chunks", node.span,
                    "take them outside the kernel, and pass them as an argument",
                )  # fmt: skip
            found[axis] = ends.before
            if ends.edge == RIGHT:
                size = self.shape(node.operands[0], _operand_indices(node, index, self.whole.env)[0])[axis]
                found[axis] = size - ends.reach
        return tuple(found)

    def shape(self, value: Value, index: Index) -> tuple[Size, ...]:
        """The sizes of a value at an index."""
        found: list[Size] = []
        classes = self.whole.axes.classes(value)
        for axis, (size, (var, form)) in enumerate(zip(value.type.shape, index, strict=True)):
            if form == SPLIT:
                rows: tuple[Size, Size] = (symbol("k"), symbol("l")) if var is not None else (1, 1)
                found += rows if self.lanes > 1 else rows[:1]
            elif form == PLAIN:
                if var is None:
                    found.append(size)
                elif classes[axis] is None:  # a few elements at an end, in each chunk as many
                    found.append(dims.evaluate(size, self.whole.env))
                else:
                    found.append(symbol(f"c{var}") + self.whole.axes.overlaps.margin(value, axis).grown)
        return tuple(found)


def _whole(value: Value) -> Index:
    return (WHOLE,) * value.type.rank


def _operand_indices(node: Node, index: Index, env: Mapping[str, int]) -> list[Index]:
    """The indices of a node's operands for one of its result."""
    found = []
    for operand, row in zip(node.operands, links(node, env), strict=True):
        entries = []
        for size, link in zip(operand.type.shape, row, strict=True):
            entry = WHOLE if link is None or link >= len(index) else index[link]
            entries.append(Entry(None, entry.form) if size == 1 and entry.form else entry)
        found.append(tuple(entries))
    is_kept = Trait.REDUCTION in node.op.traits and node.attrs.get("keepdims")
    if is_kept and any(index[a].form for a in ints(node.attrs, "axes")):
        raise NotFlat
    return found


def _check_flat(value: Value, index: Index) -> None:
    """Axes that are collapsed into one must all be there, or all be of size 1."""
    parts = [(s, e) for s, e in zip(value.type.shape, index, strict=True) if e.form]
    if not parts:
        return
    ones = [s == 1 for s, _ in parts]
    if all(ones):
        return
    if any(ones) or parts[0][1].form != SPLIT or parts[0][1].var is None:
        raise NotFlat
