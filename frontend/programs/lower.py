"""Lower a piece: statements of a function with the kinds of their live-in variables, to one nest."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from ...ir import dims
from ...ir.dims import LOOP, Size, symbol
from ...ir.dtypes import BF16, I64, DType
from ...ir.graph import Graph, Node, Value
from ...ir.nest import ops
from ...ir.types import Guards, Sizes, TensorType
from .arithmetic import INT, value_of
from .calls import call
from .complexes import of_parts, part_dtype
from .context import NEVER, RETURN, RETURNED, Lowering, Sources
from .emit import NestEmitter, memory_type
from .inlining import inline
from .kinds import Array, FixedSlice, Kind, Known, NumpyScalar, PythonNumber, Tuple, Unknown
from .piece_nodes import every, failures, used, without_unread
from .planning.pieces import (
    ArrayInput,
    ComplexResult,
    Cut,
    EitherResult,
    FreshInput,
    FreshResult,
    Input,
    KnownResult,
    NumberInput,
    NumberOutput,
    NumberResult,
    Path,
    Piece,
    ReshapedResult,
    Result,
    SameResult,
    ShortenedResult,
    TupleResult,
    ViewOf,
    ViewResult,
)
from .reading.names import Liveness
from .statements import statement
from .values import (
    Abstract,
    BufferValue,
    CutProblem,
    Number,
    NumberKind,
    SliceValue,
    TupleValue,
    TwoKindsResult,
    Unset,
    View,
    constant,
    dtype_of,
    plain,
    straight,
    whole,
)

HALVES = (BF16,)


def _no_source(function: FunctionType) -> str:
    return "functions are not read here"


def lower_piece(
    statements: Sequence[ast.stmt],
    live_in: Mapping[str, Kind],
    live_out: Sequence[str],
    names: Callable[[str], Kind | None],
    sample: Mapping[str, object] | None = None,
    sources: Sources = _no_source,
    name: str = "piece",
    paths: Mapping[int, str] | None = None,
    is_general: bool = False,
) -> Piece | Cut:
    """Lower statements to one nest, or tell why that can't be done.

    `names` looks up names that are not variables. `sample` holds the live-in values of the current call: what can't be
    proved but holds there becomes a guard. `sources` reads the functions that are inlined. `paths` are expressions that
    are inputs, by the identity of their nodes. A general nest takes slices with any step; other nests are made for the
    current step, which is faster.
    """

    def lowered(tracks_kinds: bool) -> Piece | Cut:
        inputs = _Inputs(live_in, sample or {}, NestEmitter(name, {}, tracks_kinds, is_general))
        return inputs.lower(statements, live_out, names, sources, paths or {})

    try:
        try:
            return lowered(tracks_kinds=False)
        except TwoKindsResult:
            return lowered(tracks_kinds=True)
    except CutProblem as problem:
        return Cut(problem.reason, problem.node or statements[0])
    except RecursionError:
        return Cut("the statements are nested too deeply", statements[0])


class _Inputs:
    """Turn the live-in values into buffers and sizes of the nest."""

    def __init__(self, live_in: Mapping[str, Kind], sample: Mapping[str, object], emitter: NestEmitter) -> None:
        self.e = emitter
        self.sizes: dict[str, int] = {}
        self.paths: dict[str, Path] = {}  # of ints, by symbol
        self.buffers: list[BufferValue] = []
        self.taken: set[str] = set()
        self.loads: list[tuple[BufferValue, Value]] = []
        self.env: dict[str, Any] = {
            key: self._value(kind, (key,), sample.get(key)) for key, kind in live_in.items()
        }  # fmt: skip
        self.e.sizes.update(self.sizes)
        self.e.facts.sizes = self.e.sizes if self.e.sizes else None

    def _value(self, kind: Kind, path: Path, actual: object) -> Any:
        if isinstance(kind, Array):
            return self._array(kind, path, actual)
        if isinstance(kind, NumpyScalar):
            return of_parts(kind, self._numbers(kind.dtype, path))
        if isinstance(kind, PythonNumber):
            return self._python(kind, path, actual)
        if isinstance(kind, Tuple):
            parts = actual if isinstance(actual, tuple) else (None,) * len(kind.items)
            items = tuple(self._value(k, (*path, str(i)), parts[i]) for i, k in enumerate(kind.items))
            return TupleValue(items, path=path)
        if isinstance(kind, FixedSlice):
            return SliceValue(*(None if x is None else constant(x) for x in (kind.start, kind.stop, kind.step)))
        if isinstance(kind, Unknown):
            return Unset(f"'{path[0]}' is a {kind.type_name}")
        return kind

    def _array(self, kind: Array, path: Path, actual: object) -> Any:
        if kind.dtype in HALVES:
            return Unset(f"'{path[0]}' is an array of {kind.dtype}, which loops do not support yet")
        shape: list[Size] = []
        for axis, one in enumerate(kind.ones):
            taken = self._taken(f"{'_'.join(path)}_{axis}")
            shape.append(1 if one else symbol(taken))
            if isinstance(actual, np.ndarray) and not one:
                self.sizes[taken] = actual.shape[axis]
        parts = kind.dtype.kind == "complex"
        value = Value(memory_type(kind.dtype, shape), name=self._taken("_".join(path)))
        layout = kind.layout if not parts or kind.layout == "C" else "general"
        lies = kind.order or (tuple(range(kind.rank))[::-1] if kind.layout == "F" else None)
        buffer = BufferValue(value, ArrayInput(path, parts), kind.writeable, layout, parts, lies=lies)
        self.buffers.append(buffer)
        return whole(buffer)

    def _numbers(self, dtype: DType, path: Path) -> list[Value]:
        if dtype in HALVES:
            raise CutProblem(f"'{path[0]}' is a number of {dtype}, which loops do not support yet")
        if dtype.kind == "complex":
            return [self._number(part_dtype(dtype), path, part) for part in (0, 1)]
        return [self._number(dtype, path)]

    def _number(self, dtype: DType, path: Path, part: int | None = None) -> Value:
        buffer = BufferValue(
            Value(TensorType(dtype, (), "memref"), name=self._taken("_".join(path))), NumberInput(path, part)
        )
        self.buffers.append(buffer)
        loaded = self.e.node(ops.LOAD, (buffer.value,), (TensorType(dtype),), at=Sizes(())).result
        self.loads.append((buffer, loaded))
        return loaded

    def _python(self, kind: PythonNumber, path: Path, actual: object) -> Number:
        if kind.value is not None:
            return constant(kind.value)
        if kind.name != "int":
            return of_parts(kind, self._numbers(dtype_of(kind), path))
        value = self._number(I64, path)
        taken = self._taken("_".join(path) + "_n")
        self.paths[taken] = path
        if type(actual) is int:
            self.sizes[taken] = abs(actual)
        if not kind.is_negative:
            self.e.ints[taken] = value
            return Number(kind, size=symbol(taken))
        self.e.ints[taken] = self.e.op("neg", value)  # sizes are at least 0
        return Number(
            plain(kind), size=-symbol(taken), parts=("subtract", constant(0), Number(INT, size=symbol(taken)))
        )

    def _taken(self, name: str) -> str:
        clean = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name)
        while clean in self.taken:
            clean += "_"
        self.taken.add(clean)
        return clean

    def lower(
        self,
        statements: Sequence[ast.stmt],
        live_out: Sequence[str],
        names: Callable[[str], Kind | None],
        sources: Sources,
        paths: Mapping[int, str],
    ) -> Piece | Cut:
        after = frozenset(live_out)
        live = Liveness(statements)
        p = Lowering(self.e, statement, call, inline, self.env, _resolver(names), live.at, after, sources, paths)
        p.block(statements)
        return _Outputs(self, p).piece(live_out)


def _resolver(names: Callable[[str], Kind | None]) -> Callable[[str], Abstract | None]:
    def find(name: str) -> Abstract | None:
        kind = names(name)
        if isinstance(kind, PythonNumber) and kind.value is not None:
            return constant(kind.value)
        if kind is None or isinstance(kind, Known):
            return kind
        raise CutProblem(f"'{name}' from outside the function is not passed to the piece")

    return find


class _Outputs:
    """Turn the live-out values into results of the piece."""

    def __init__(self, inputs: _Inputs, p: Lowering) -> None:
        self.inputs, self.p, self.e = inputs, p, p.e
        self.buffers = list(inputs.buffers)
        self._lists: list[TupleValue] = []  # that are results
        self._shortened: set[BufferValue] = set()

    def piece(self, live_out: Sequence[str]) -> Piece | Cut:
        p = self.p
        flag = p.env.get(RETURN, NEVER)
        if flag.known is None:
            raise CutProblem("whether the function returns here depends on data", p.node)
        returned = self._result(p.env.get(RETURNED)) if flag.known else None
        results = [(name, self._result(p.env.get(name, Unset(f"'{name}' has no value")))) for name in live_out]
        nodes, guards = self.e.finish()
        return self._assembled(nodes, guards, results, returned)

    def _result(self, value: Any) -> Result:
        value = self.p.settled(value)
        if isinstance(value, Number):
            if value.other is not None:
                return self._either(value, value.other)
            if value.known is not None:
                return KnownResult(value.known)
            if value.pair is not None:
                return ComplexResult(self._stored(value.pair[0]), self._stored(value.pair[1]), value.kind)
            return NumberResult(self._stored(value_of(self.e, value)), value.kind)
        if isinstance(value, View):
            return self._array(value)
        if isinstance(value, TupleValue):
            if value.path is not None:
                return SameResult(value.path)
            if value.is_list and any(value is other for other in self._lists):
                raise CutProblem("a list is returned twice")
            self._lists += [value] if value.is_list else []
            return TupleResult(tuple(self._result(item) for item in value.items), value.is_list)
        if isinstance(value, Known):
            return KnownResult(value.value)
        raise CutProblem(value.name if isinstance(value, Unset) else "a result is neither a number nor an array")

    def _either(self, value: Number, other: NumberKind) -> Result:
        """A number of one kind or another."""
        if value.is_first is None:
            raise TwoKindsResult("a result may have either of two kinds")
        number = value_of(self.e, value)
        first = NumberResult(self._stored(number), value.kind)
        second = NumberResult(first.buffer, other)
        if dtype_of(other) != number.type.dtype:  # an int, in the place of a float
            zero = self.e.constant(0.0, number.type.dtype)
            number = self.e.cast(self.e.select(value.is_first, zero, number), dtype_of(other))
            second = NumberResult(self._stored(number), other)
        return EitherResult(first, second, self._stored(value.is_first))

    def _stored(self, number: Value) -> int:
        """Store a number in a buffer of its own, and return its place."""
        dtype = number.type.dtype
        buffer = BufferValue(Value(TensorType(dtype, (), "memref"), name=f"r{len(self.buffers)}"), NumberOutput(dtype))
        self.buffers.append(buffer)
        self.e.store(number, whole(buffer), ())
        return len(self.buffers) - 1

    def _array(self, view: View) -> Result:
        buffer = view.buffer
        origin = buffer.reshaped.origin if buffer.reshaped is not None else None
        if isinstance(origin, ArrayInput) and view.is_whole and not view.is_new:
            self.e.need(*view.shape)
            return ReshapedResult(origin.path, view.shape)
        if buffer.shadow is not None:
            raise CutProblem("a result may be a view of another array")
        if buffer in self._shortened:
            raise CutProblem("an array whose size depends on data is returned twice")
        if buffer.origin is None and any(map(_depends_on_data, view.shape)):
            return self._first_part(view)
        self.e.need(*view.shape, *view.starts)
        if isinstance(buffer.origin, ArrayInput):
            is_same = view.is_whole and not view.is_new
            return SameResult(buffer.origin.path) if is_same else ViewResult(buffer.origin.path, _view_of(view))
        if buffer.origin is None:
            self._fresh(buffer)
        place = self.buffers.index(buffer)
        return FreshResult(place, None if view.is_whole and not view.is_new else _view_of(view))

    def _first_part(self, view: View) -> Result:
        """Return an array whose size depends on data, in memory that has room for the largest."""
        buffer = view.buffer
        if (view.starts, view.steps) != straight(buffer.order, buffer.parts) or not self.e.is_visible(*view.shape):
            raise CutProblem("a result is a view that depends on data")
        self._shortened.add(buffer)
        sizes = tuple(
            None if size == full else self._stored(self.e.size_number(size))
            for size, full in zip(view.shape, whole(buffer).shape, strict=True)
        )
        self._fresh(buffer)
        return ShortenedResult(self.buffers.index(buffer), sizes)

    def _fresh(self, buffer: BufferValue) -> None:
        """Makes local memory a buffer of the caller."""
        view = whole(buffer)
        node = buffer.value.node
        assert node is not None
        self.e.head.remove(node)
        buffer.value.node, buffer.value.name = None, f"fresh{len(self.buffers)}"
        buffer.origin = FreshInput(view.dtype, view.shape, buffer.parts, buffer.order)
        self.buffers.append(buffer)

    def _assembled(
        self, nodes: Sequence[Node], guards: Guards, results: list[tuple[str, Result]], returned: Result | None
    ) -> Piece:
        nodes = without_unread(nodes)
        known = used(nodes)
        loads = {value: buffer for buffer, value in self.inputs.loads}
        dropped = {buffer for value, buffer in loads.items() if value not in known}
        nodes = [n for n in nodes if not (n.op is ops.LOAD and n.result in loads and n.result not in known)]
        kept = [b for b in self.buffers if b not in dropped]
        if any(isinstance(b.origin, ArrayInput) and b.value not in known for b in kept):
            mentioned = self._symbols(nodes, guards) | _mentioned([r for _, r in results] + [returned])
            kept = [b for b in kept if not isinstance(b.origin, ArrayInput) or b.value in known or _gives(b, mentioned)]
        place = {b: k for k, b in enumerate(kept)}
        old = {k: place[b] for k, b in enumerate(self.buffers) if b in place}
        access = tuple("read" if not b.written else _access(b) for b in kept)
        attrs: dict[str, Any] = {"access": access, "layouts": tuple(b.layout for b in kept)}
        if guards:
            attrs["guards"] = guards
        nest = Graph(self.e.root.name, tuple(b.value for b in kept), tuple(nodes), (), attrs)
        written = tuple(k for k, b in enumerate(kept) if b.written and isinstance(b.origin, ArrayInput))
        arrays = [k for k, b in enumerate(kept) if isinstance(b.origin, ArrayInput)]
        apart = tuple((a, b) for a in written for b in arrays if a != b and not (b in written and b < a))
        may_fail, late = failures(nest, {kept[k].value for k in written})
        origins: list[Input] = []
        for buffer in kept:
            assert buffer.origin is not None
            origins.append(buffer.origin)
        return Piece(
            nest, tuple(origins), tuple((s, self.inputs.paths[s]) for s in sorted(self.e.needed)),
            tuple((n, _moved(r, old)) for n, r in results), None if returned is None else _moved(returned, old),
            apart, written if late else (), may_fail, written, self.p.meanings.guards,
        )  # fmt: skip

    def _symbols(self, nodes: Sequence[Node], guards: Guards) -> frozenset[str]:
        found: set[str] = set()
        for a, b in guards:
            found |= dims.symbols(a) | dims.symbols(b)
        for node in every(nodes):
            for attr in node.attrs.values():
                if isinstance(attr, Sizes):
                    found |= {n for size in attr for n in dims.symbols(size)}
            for value in node.results:
                found |= {n for size in value.type.shape for n in dims.symbols(size)}
        for buffer in self.buffers:
            if isinstance(buffer.origin, FreshInput):
                found |= {n for size in buffer.origin.shape for n in dims.symbols(size)}
        return frozenset(found)


def _mentioned(results: Sequence[Result | None]) -> frozenset[str]:
    """The symbols in the views among results."""
    found: set[str] = set()
    for result in results:
        if isinstance(result, TupleResult):
            found |= _mentioned(result.items)
        elif isinstance(result, ReshapedResult):
            found |= {n for size in result.shape for n in dims.symbols(size)}
        elif isinstance(result, (ViewResult, FreshResult)) and result.view is not None:
            found |= {n for size in (*result.view.shape, *result.view.starts) for n in dims.symbols(size)}
    return frozenset(found)


def _gives(buffer: BufferValue, symbols: frozenset[str]) -> bool:
    """Tell whether a size of an array is used although its elements are not."""
    return any(dims.symbols(size) & symbols for size in buffer.value.type.shape)


def _access(buffer: BufferValue) -> str:
    return "update" if isinstance(buffer.origin, (ArrayInput, FreshInput)) else "write"


def _moved(result: Result, places: Mapping[int, int]) -> Result:
    if isinstance(result, NumberResult):
        return NumberResult(places[result.buffer], result.kind)
    if isinstance(result, EitherResult):
        first, second = (NumberResult(places[r.buffer], r.kind) for r in (result.first, result.second))
        return EitherResult(first, second, places[result.is_first])
    if isinstance(result, ComplexResult):
        return ComplexResult(places[result.real], places[result.imag], result.kind)
    if isinstance(result, ShortenedResult):
        return ShortenedResult(places[result.buffer], tuple(None if k is None else places[k] for k in result.sizes))
    if isinstance(result, FreshResult):
        return FreshResult(places[result.buffer], result.view)
    if isinstance(result, TupleResult):
        return TupleResult(tuple(_moved(item, places) for item in result.items), result.is_list)
    return result


def _depends_on_data(size: Size) -> bool:
    return any(name.startswith(LOOP) for name in dims.symbols(size))


def _view_of(view: View) -> ViewOf:
    sizes = (*view.shape, *view.starts)
    if any(map(_depends_on_data, sizes)):
        raise CutProblem("a result is a view that depends on data")
    order = view.buffer.order  # the parts of a complex number are no axis of the caller's array
    places = [order.index(axis) for axis in range(len(order))]
    part = view.starts[-1] if view.is_part else None
    assert part is None or isinstance(part, int)
    return ViewOf(view.shape, tuple(view.starts[k] for k in places), tuple(view.steps[k] for k in places), part)
