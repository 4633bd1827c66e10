"""Emit the ops of a nest: bodies, numbers, loads and stores, and the proofs that an index is in range.

A bound that can't be proved from the ranges of loops becomes a guard at the entry if possible: `a[i]` in a loop up to
`n` needs `n <= len(a)`. Otherwise a `nest.bind` checks the index at run time, and the piece may fail.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir import dims
from ...ir.builder import Builder
from ...ir.dims import LOOP, Size
from ...ir.dtypes import C64, F32, F64, I64, DType
from ...ir.errors import Span
from ...ir.facts import Facts
from ...ir.graph import Graph, Node, Value
from ...ir.nest import ops
from ...ir.opdef import OpDef
from ...ir.ops import CAST, CONSTANT, SIZE, TABLE, WHERE
from ...ir.orders import LONGER, dense, memory_order
from ...ir.proofs import follows
from ...ir.types import Attr, Guards, Sizes, TensorType
from .arrays.extents import largest
from .planning.pieces import SIZE_END
from .values import BufferValue, CutProblem, Number, View, straight


def memory_type(dtype: DType, shape: Sequence[Size]) -> TensorType:
    """The type of a buffer; complex numbers are two floats along a last axis."""
    if dtype.kind != "complex":
        return TensorType(dtype, tuple(shape), "memref")
    return TensorType(F32 if dtype == C64 else F64, (*shape, 2), "memref")


class NestScope:
    """A body that is being built, and what is known in it: sizes that are at least 0, and ranges of its variables."""

    __slots__ = ("before", "bound", "builder", "casts", "facts", "is_loop", "loaded", "ranges")

    def __init__(self, builder: Builder, is_loop: bool = False) -> None:
        self.builder, self.is_loop = builder, is_loop
        self.before: tuple[Any, ...] = ([], {}, {}, {})  # the equalities of sizes that were known around it
        self.facts: list[Size] = []
        self.ranges: list[tuple[str, Size, Size]] = []
        self.loaded: dict[tuple[Value, tuple[Size, ...]], Value] = {}  # elements that were not stored to since
        self.casts: dict[tuple[Value, DType], Value] = {}
        self.bound: dict[Value, Size] = {}  # numbers from data that are sizes in this body


class NestEmitter:
    """Emits one nest. `sizes` has the numbers of sizes in the current call, where they are known."""

    def __init__(
        self, name: str, sizes: Mapping[str, int], tracks_kinds: bool = False, is_general: bool = False
    ) -> None:
        self.tracks_kinds = tracks_kinds  # of numbers that are of one kind or another
        self.is_general = is_general  # not made for one value of a number where any value would do
        self.facts = Facts(sizes or None)
        self.sizes = dict(sizes)
        self.root = Builder(name, self.facts)
        self.scopes = [NestScope(self.root)]
        self.guards: list[Size] = []  # sizes that must be at least 0 when the nest is called
        self.ints: dict[str, Value] = {}  # Python ints of the caller by symbol, as numbers
        self.needed: set[str] = set()  # symbols of Python ints that are used as sizes
        self.names: dict[str, int] = {}
        self.span: Span | None = None
        self.before_store: Callable[[BufferValue], None] | None = None
        self.head: list[Node] = []  # allocations, which come first

    # -- bodies

    @property
    def scope(self) -> NestScope:
        return self.scopes[-1]

    @property
    def builder(self) -> Builder:
        return self.scopes[-1].builder

    def enter(self, is_loop: bool = False) -> NestScope:
        scope = NestScope(Builder("body", self.facts), is_loop)
        scope.before = self.facts.state()
        self.scopes.append(scope)
        return scope

    def pop(self) -> None:
        """End a body. Sizes that are equal because of its variables are not known to be equal outside it."""
        self.facts.restore(self.scopes.pop().before, keep_guards=True)

    def leave(self, outputs: Sequence[Value]) -> Graph:
        builder = self.scopes[-1].builder
        self.pop()
        return Graph("body", tuple(builder.inputs), tuple(builder.nodes), tuple(outputs))

    def node(
        self, op: OpDef, operands: Sequence[Value] = (), types: Sequence[TensorType] = (),
        body: Graph | None = None, **attrs: Attr,
    ) -> Node:  # fmt: skip
        return self.builder.node(op, operands, attrs, self.span, body, tuple(types))

    def fresh(self, name: str) -> str:
        """Return a name for a loop variable that is not used yet."""
        count = self.names.get(name, 0)
        self.names[name] = count + 1
        return f"{name}_{count}" if count else name

    # -- numbers

    def constant(self, value: bool | int | float | complex, dtype: DType) -> Value:
        return self.node(CONSTANT, (), (TensorType(dtype),), value=value, dtype=dtype).result

    def op(self, name: str, *operands: Value) -> Value:
        """Emit an op on numbers that already have the dtypes in which it computes."""
        op = TABLE[name]
        _, gives = op.dtypes(tuple(v.type.dtype for v in operands), {})
        return self.node(op, operands, (TensorType(gives[0]),)).result

    def cast(self, value: Value, dtype: DType) -> Value:
        if value.type.dtype == dtype:
            return value
        key = (value, dtype)
        if key not in self.scope.casts:
            self.scope.casts[key] = self.node(CAST, (value,), (TensorType(dtype),), to=dtype).result
        return self.scope.casts[key]

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        if yes is no:
            return yes
        return self.node(WHERE, (condition, yes, no), (yes.type,)).result

    def size_number(self, size: Size) -> Value:
        """A size as an i64."""
        return self.plain_size(self.facts.canonical(size))

    def plain_size(self, size: Size) -> Value:
        """Return a size as an i64, whatever it is known to be equal to."""
        if isinstance(size, int):
            return self.constant(size, I64)
        self.need(size)
        return self.node(SIZE, (), (TensorType(I64),), size=Sizes((size,))).result

    def need(self, *sizes: Size) -> None:
        """Note that Python ints are used as sizes, so that they are passed as sizes."""
        for size in sizes:
            self.needed |= {name for name in dims.symbols(size) if name in self.ints}

    def check(self, condition: Value, message: str, error: str = "ValueProblem") -> None:
        """Leave the piece if a condition does not hold."""
        self.node(ops.CHECK, (condition,), error=error, message=message)

    # -- proofs

    @property
    def known(self) -> list[Size]:
        """Sizes that are at least 0 at this place."""
        return [*self.guards, *(fact for scope in self.scopes for fact in scope.facts)]

    def proves(self, size: Size) -> bool:
        """Tell whether a size is proved to be at least 0. Ints that the proof uses are then passed as sizes."""
        size = self.facts.canonical(size)
        if isinstance(size, int):
            return size >= 0
        near = self._reach(size.symbols)
        relevant = [f for f in self.known if not isinstance(f, int) and not f.symbols.isdisjoint(near)]
        if not follows(size, relevant):
            return False
        self.need(size, *relevant)
        return True

    def _reach(self, names: frozenset[str]) -> frozenset[str]:
        """Return the symbols that facts connect with these."""
        found = set(names)
        for scope in reversed(self.scopes):
            for name, first, end in reversed(scope.ranges):
                if LOOP + name in found:
                    found |= dims.symbols(first) | dims.symbols(end)
        return frozenset(found)

    def holds(self, size: Size) -> bool:
        """Whether a size is at least 0: proved, or guarded at the entry if it holds in the current call."""
        size = self.facts.canonical(size)
        if self.proves(size):
            return True
        least = self.least(size)
        if least is None or isinstance(least, int):
            return isinstance(least, int) and least >= 0
        if self.proves(least):
            return True
        if least.symbols <= self.sizes.keys() and dims.evaluate(least, self.sizes) < 0:
            return False
        self.guard(least)
        return True

    def guard(self, size: Size) -> None:
        """Demand at the entry that a size without loop variables is at least 0."""
        self.need(size)
        if size not in self.guards:
            self.guards.append(size)

    def least(self, size: Size) -> Size | None:
        """Return the smallest value of a size, without loop variables; None if it depends on data or is not linear."""
        for scope in reversed(self.scopes):
            for name, first, end in reversed(scope.ranges):
                mine = LOOP + name
                if mine not in dims.symbols(size):
                    continue
                factor = dict(dims.terms_of(size)).get((dims.Atom(mine),), 0)
                rest = size - dims.symbol(mine) * factor
                if not factor or mine in dims.symbols(rest):
                    return None
                size = rest + (first if factor > 0 else end - 1) * factor
        return None if any(n.startswith(LOOP) for n in dims.symbols(size)) else size

    def most(self, size: Size) -> Size | None:
        """Return the largest value of a size, without loop variables."""
        least = self.least(-size)
        return None if least is None else -least

    def is_visible(self, *sizes: Size) -> bool:
        """Whether the variables in sizes have values here."""
        names = {LOOP + name for scope in self.scopes for name, _, _ in scope.ranges}
        return all(n in names for size in sizes for n in dims.symbols(size) if n.startswith(LOOP))

    # -- variables and memory

    def variable(self, name: str, first: Size, end: Size) -> Size:
        """Note a new variable of this scope with its range; return it as a size."""
        own = dims.symbol(LOOP + name)
        self.scope.facts += [own - first, end - 1 - own]
        self.scope.ranges.append((name, first, end))
        self.need(first, end)
        return own

    def bind(self, value: Value, end: Size, name: str = "b") -> Size:
        """Return a number from data as a size from 0 to `end`. The piece fails if it is out of range."""
        for scope in reversed(self.scopes):
            if value in scope.bound and self.holds(end - 1 - scope.bound[value]):
                return scope.bound[value]
        taken = self.fresh(name)
        self.need(end)
        self.node(ops.BIND, (value,), (), var=taken, range=Sizes((0, end)))
        found = self.scope.bound[value] = self.variable(taken, 0, end)
        return found

    def bind_between(self, value: Value, first: Size, end: Size) -> Size:
        """Return a number from data as a new size in a range. The piece fails if it is out of range."""
        taken = self.fresh("same")
        self.need(first, end)
        self.node(ops.BIND, (value,), (), var=taken, range=Sizes((first, end)))
        return self.variable(taken, first, end)

    def load(self, view: View, index: Sequence[Size]) -> Value:
        at, loaded = view.at(tuple(index)), self.scope.loaded
        self.need(*at)
        key = (view.buffer.value, at)
        if key not in loaded:
            loaded[key] = self.node(
                ops.LOAD, (view.buffer.value,), (TensorType(view.element_dtype),), at=Sizes(at)
            ).result
        return loaded[key]

    def store(self, value: Value, view: View, index: Sequence[Size]) -> None:
        at = view.at(tuple(index))
        self.need(*at)
        self.storing(view.buffer)
        self.written(view.buffer)
        self.node(ops.STORE, (value, view.buffer.value), (), at=Sizes(at))

    def storing(self, buffer: BufferValue) -> None:
        """Read what must be read before a store."""
        if buffer.shadow is not None:
            raise CutProblem("an array that may be a view of another is changed")
        if self.before_store is not None:
            self.before_store(buffer)

    def written(self, buffer: BufferValue) -> None:
        """Note a store to a buffer: elements that were loaded may have changed."""
        buffer.written = True
        buffer.version += 1
        for scope in self.scopes:
            for key in [key for key in scope.loaded if key[0] is buffer.value]:
                del scope.loaded[key]

    def allocate(
        self, dtype: DType, shape: Sequence[Size], node: ast.AST | None = None, order: tuple[int, ...] | None = None
    ) -> View:
        """Allocate memory for an array once, at the entry. If the shape depends on loops, it gets its largest size.

        `order` are the axes from outermost to innermost; C order without it.
        """
        whole: list[Size] = []
        order = order or tuple(range(len(shape)))
        for size in (shape[axis] for axis in order):
            most = self.most(size) if any(n.startswith(LOOP) for n in dims.symbols(size)) else size
            if most is None:
                ranges = {LOOP + name: (first, end) for scope in self.scopes for name, first, end in scope.ranges}
                most = largest(size, ranges)
            if most is None or (isinstance(most, int) and most >= SIZE_END - 1):
                raise CutProblem(f"the size {size} of an array depends on data", node)
            whole.append(most if self.proves(most) else dims.maximum(0, most))
        self.need(*whole, *shape)
        parts = dtype.kind == "complex"
        made = Node(ops.ALLOC, (), {"place": "call"}, (memory_type(dtype, whole),), self.span)
        self.head.append(made)
        return View(BufferValue(made.result, None, parts=parts, order=order), tuple(shape), *straight(order, parts))

    def wide_strides(self, view: View) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shape and the strides of a view as they are in long arrays without gaps."""
        sizes = {name: LONGER * max(1, number) for name, number in self.sizes.items()}
        buffer = view.buffer
        memory = buffer.value.type.shape[:-1] if buffer.parts else buffer.value.type.shape
        steps = dense(tuple(_wide(size, sizes) for size in memory), buffer.lies)
        found = [sum(row[k] * step for row, step in zip(view.steps, steps, strict=False)) for k in range(view.rank)]
        return tuple(_wide(size, sizes) for size in view.shape), tuple(found)

    def order_like(self, view: View) -> tuple[int, ...]:
        """Return the axes of an array from outermost to innermost, as `np.zeros_like` keeps them."""
        return memory_order(*self.wide_strides(view))

    def size_of(self, number: Number, end: Size = SIZE_END) -> Size:
        """Return a Python int as a size of at least 0: unchanged, or bound to its value."""
        if number.size is not None:
            return number.size
        assert number.value is not None
        return self.bind(number.value, end)

    def _strongest(self) -> list[Size]:
        """The guards that do not follow from others."""
        kept = list(self.guards)
        for size in self.guards:
            rest = [other for other in kept if other is not size]
            if follows(size, rest):
                kept = rest
        return kept

    def finish(self) -> tuple[list[Node], Guards]:
        assert len(self.scopes) == 1
        own = [(dims.maximum(0, size), size) for size in self._strongest()]
        pairs = [*self.facts.guards, *own]
        if any(n.startswith(LOOP) for pair in pairs for size in pair for n in dims.symbols(size)):
            raise CutProblem("sizes that change in a loop would have to be equal")
        for a, b in pairs:
            self.need(a, b)
        return [*self.head, *self.root.nodes], Guards(dict.fromkeys(pairs))


def _wide(size: Size, sizes: Mapping[str, int]) -> int:
    """Replace a size by one in long arrays. A size that depends on loops or data is long, too."""
    if isinstance(size, int):
        return size
    return max(2, dims.evaluate(size, sizes)) if dims.symbols(size) <= sizes.keys() else LONGER
