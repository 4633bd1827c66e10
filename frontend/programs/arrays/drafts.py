"""Record array expressions as small graphs, and emit each as one `nest.assign`.

The front end's own NumPy functions make the graph, so all of them and their dtype rules serve here as well. The
operands are views of memory and numbers; the results are written to a view, or are numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....ir import dims
from ....ir.builder import Builder, is_number_result, is_scalar_result
from ....ir.dims import LOOP, Size
from ....ir.dtypes import C64, C128, F32, F64, I64, DType
from ....ir.errors import Unsupported, WeftError
from ....ir.graph import Graph, Value
from ....ir.nest import ops
from ....ir.ops import COMPLEX, DIAGONAL, GATHER, IMAG, REAL, RESHAPE, TRANSPOSE, VIEWS
from ....ir.orders import LONGER, output_orders
from ....ir.records import replace
from ....ir.types import Attr, Guards, Sizes, TensorType
from ...maker import Maker
from ...numpy import functions
from ...numpy.concatenate import LISTS
from ...numpy.elementwise import ELEMENTWISE
from ...numpy.powers import OPERATOR
from ..arithmetic import INT, fitted_int, input_type, value_of
from ..emit import NestEmitter
from ..kinds import Known, NumpyScalar, PythonNumber
from ..planning.pieces import ArrayInput
from ..reading.purity import FRESH_METHODS, METHODS, VIEWING
from ..values import Abstract, BufferValue, CutProblem, Expression, Number, TupleValue, TwoKinds, View, whole
from .waiting import inputs_of

SAME = frozenset((
    "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "atleast_1d",
    "atleast_2d", "atleast_3d", "require", "real_if_close",
))  # fmt: skip
"""Functions that return the very array if there is nothing to do."""
REORDERING = (TRANSPOSE, RESHAPE, DIAGONAL, GATHER)  # ops whose result may lie otherwise than their operand
COMPARISONS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))  # take any int
COPYING = frozenset(("array", "astype", "nan_to_num"))  # unless `copy=` says otherwise


class Draft:
    """The graph of one statement, and the values of its inputs."""

    def __init__(self, e: NestEmitter) -> None:
        self.e = e
        self.builder = Builder("values", e.facts)
        self.leaves: dict[Value, View | Number] = {}

    @property
    def is_empty(self) -> bool:
        return not self.builder.nodes

    def leaf(self, of: View | Number) -> Value:
        """The input for a view or a number."""
        for value, known in self.leaves.items():
            if known is of or (isinstance(of, View) and isinstance(known, View) and known == of):
                return value
        if isinstance(of, View) and of.dtype.kind == "complex":
            return Maker(self.builder, None).op(COMPLEX, self.leaf(of.part(0)), self.leaf(of.part(1)))
        if isinstance(of, View):
            value = self.builder.input(f"v{len(self.leaves)}", TensorType(of.dtype, of.shape))
        elif of.pair is not None:
            kind = NumpyScalar(F32 if of.dtype == C64 else F64)
            parts = [self.leaf(Number(kind, value)) for value in of.pair]
            return Maker(self.builder, None).op(COMPLEX, *parts)
        else:
            if of.other is not None and of.settle is None:
                raise TwoKinds("a variable has two kinds where it meets an array")
            if of.other is not None and of.settle is not None:
                of.settle()
            value = self.builder.input(f"v{len(self.leaves)}", input_type(of), True)
        self.leaves[value] = of
        return value

    def reads(self, value: Value, buffer: BufferValue) -> bool:
        """Whether an expression reads a buffer."""
        for leaf in inputs_of(value):
            of = self.leaves[leaf]
            if isinstance(of, View) and of.buffer is buffer:
                return True
        return False

    def viewed(self, value: Value) -> BufferValue | None:
        """Return the memory that NumPy's result for this expression may share: that of an array that was only
        reshaped.
        """
        while value.node is not None and (value.node.op in VIEWS or self._is_leaf(value)):
            value = value.node.operands[0]
        of = self.leaves.get(value)
        return of.buffer if isinstance(of, View) else None

    def reshaped(self, value: Value) -> BufferValue | None:
        """Return the memory in C order that an expression views in another shape, if it does."""
        if value.node is None or value.node.op is not RESHAPE or "order" in value.node.attrs:
            return None
        source = value.node.operands[0]
        of = self.leaves.get(source.node.operands[0] if self._is_leaf(source) and source.node is not None else source)
        if not isinstance(of, View) or of.buffer.layout != "C" or not isinstance(of.buffer.origin, ArrayInput):
            return None
        return of.buffer if whole(of.buffer) in (of, replace(of, is_part=False)) else None

    def _is_leaf(self, value: Value) -> bool:
        """Whether a value is a complex array in memory, put together from its two parts."""
        if value.node is None or value.node.op is not COMPLEX:
            return False
        real, imag = (self.leaves.get(part) for part in value.node.operands)
        return isinstance(real, View) and isinstance(imag, View) and (real.part(1) == imag and real.is_part)

    def operand(self, x: Abstract, as_size: bool = False) -> Any:
        """Convert an argument of a NumPy function to a value of the graph or a constant; with `as_size`, an int to a
        size.
        """
        if isinstance(x, Expression):
            return x.value
        if isinstance(x, View):
            return self.leaf(x)
        if isinstance(x, Number):
            if x.known is not None:
                return x.known
            if x.size is not None and (as_size or not self._is_loose(x.size)):
                self.e.need(x.size)
                return x.size
            return self.leaf(x)
        if isinstance(x, TupleValue):
            return tuple(self.operand(i, True) for i in x.items)
        if isinstance(x, Known):
            return x.value
        raise CutProblem("an argument is not an array or a number")

    def _is_loose(self, size: dims.Size) -> bool:
        return any(name in self.e.ints and name not in self.e.needed for name in dims.symbols(size))

    def record(self, run: Callable[[], Any]) -> Any:
        """Add to the graph, and settle what was assumed about sizes meanwhile."""
        mark = len(self.e.facts.guards)
        try:
            made = run()
        except Unsupported as error:
            raise CutProblem(error.message) from error
        except WeftError as error:
            raise CutProblem(f"this raises {type(error).__name__}: {error.message}") from error
        self._settle(mark)
        return made

    def _settle(self, mark: int) -> None:
        """Check assumptions about sizes that change in loops.

        Each must be proved, become a guard without loop variables, or be checked where it is used.
        """
        facts, assumed = self.e.facts, self.e.facts.guards[mark:]
        facts.guards[mark:] = [pair for pair in assumed if not _changes(*pair)]
        for a, b in assumed:
            if not _changes(a, b) or (self.e.proves(a - b) and self.e.proves(b - a)):
                continue
            least = _least(a, b)
            if least is not None and self.e.holds(b - least):
                continue
            plus, minus = _sides(a - b)
            if not _changes(plus, minus) and facts.number(a - b) in (0, None):
                facts.assume_equal(plus, minus)
                continue
            if isinstance(a, int) or isinstance(b, int) or not self.e.is_visible(a, b):
                raise CutProblem(f"can't show that {a} is {b} in each step of a loop")
            self._meet(a, b, least)

    def _meet(self, a: Size, b: Size, least: int | None) -> None:
        """Check at run time, here, that two sizes are equal. From here on a third size stands for both."""
        e = self.e
        first, second = e.plain_size(a), e.plain_size(b)
        if least is None:
            e.check(e.op("eq", first, second), "sizes that change in a loop are not equal")
        common = e.bind_between(second, least or 0, (b if least is not None else dims.minimum(a, b)) + 1)
        e.facts.replace((a, b), common)

    def align(self, shape: Sequence[Size], wanted: Sequence[Any]) -> None:
        """Treat two shapes as equal if they differ in one size, apart from ones: a reshape only needs equal
        products.
        """
        facts = self.e.facts
        if not all(isinstance(size, (int, dims.Dim)) for size in wanted):
            return
        old, new = ([n for size in sizes if (n := facts.canonical(size)) != 1] for sizes in (shape, wanted))
        differ = [(a, b) for a, b in zip(old, new, strict=False) if a != b]
        if len(old) != len(new) or len(differ) != 1 or _changes(*differ[0]):
            return
        (a, b) = differ[0]
        if facts.number(a) is not None and facts.number(a) == facts.number(b) and b != -1:
            facts.assume_equal(a, b)

    def fit(self, value: Value, target: View) -> None:
        """Check that a value broadcasts to the array that it is written to."""
        shape = value.type.shape

        def meet() -> None:
            while len(shape) > target.rank:
                raise CutProblem("this raises ValueError: the value has more dimensions than the array")
            met = self.e.facts.broadcast([shape, target.shape])
            if not self.e.facts.agree(met, target.shape):
                raise CutProblem("this raises ValueError: the value does not fit the array")

        self.record(meet)

    def call(self, name: str, args: Sequence[Abstract], kwargs: Mapping[str, Abstract]) -> Abstract:
        """A NumPy function on arrays."""
        if not functions.is_known(name):
            raise CutProblem(f"np.{name} has no native code in loops")
        copies = kwargs.get("copy")
        if copies is not None and not (isinstance(copies, Number) and copies.known is True):
            raise CutProblem("the argument 'copy' is left to Python")
        if any(isinstance(x, Number) and x.pair is not None and x.is_python for x in args):
            self._demand_wide(args)
        as_sizes = name not in ELEMENTWISE and name != OPERATOR
        given = [self.operand(x, as_sizes) for x in args]
        named = {key: self.operand(x, True) for key, x in kwargs.items()}
        if name == "reshape" and len(given) == 2 and isinstance(given[0], Value):
            self.align(given[0].type.shape, given[1] if isinstance(given[1], tuple) else (given[1],))
        if name == OPERATOR or (name in ELEMENTWISE and name not in COMPARISONS):
            self._fit_ints(args)
        made = self.record(lambda: functions.call(self.builder, name, given, named, None))
        if isinstance(self.leaves.get(made) if isinstance(made, Value) else None, View):
            return self._leaf_result(name, made)
        found = self.result(made)
        return replace(found, is_list=True) if isinstance(found, TupleValue) and name in LISTS else found

    def _demand_wide(self, args: Sequence[Abstract]) -> None:
        """Refuse a complex number of Python next to numbers of 32 bits or less, because the result would have their
        dtype.
        """
        dtypes = [dtype for x in args if (dtype := _dtype_of(x)) is not None and dtype.kind in ("float", "complex")]
        if not all(dtype in (F64, C128) or dtype.weak for dtype in dtypes):
            raise CutProblem("a Python complex number that is not constant meets narrower numbers")

    def _fit_ints(self, args: Sequence[Abstract]) -> None:
        """Check that Python's ints fit the narrow integer arrays that they meet; otherwise NumPy raises an error."""
        arrays = [
            x.dtype if isinstance(x, View) else x.value.type.dtype for x in args if isinstance(x, (View, Expression))
        ]
        if not arrays or not all(dtype.is_integer and dtype != I64 for dtype in arrays):
            return
        for x in args:
            if isinstance(x, Number) and x.kind == INT and x.known is None:
                for dtype in arrays:
                    fitted_int(self.e, value_of(self.e, x), dtype)

    def _leaf_result(self, name: str, made: Value) -> Abstract:
        """Return the result of a function that changes nothing: the array itself, a view of all of it, or a copy."""
        of = self.leaves[made]
        assert isinstance(of, View)
        if name in SAME or (name == "squeeze" and not of.rank):
            return of
        if (name in VIEWING and name not in COPYING) or name in METHODS - FRESH_METHODS:
            return View(of.buffer, of.shape, of.starts, of.steps, of.is_part, True)
        target = self.e.allocate(of.dtype, of.shape, None, self.e.order_like(of))
        self.emit([made], [target])
        return target

    def order_of(self, value: Value) -> tuple[int, ...] | None:
        """Return the axes of a new array from outermost to innermost in memory, as NumPy lays it out."""
        used = _reached(self.builder, [value])
        views = {leaf: of for leaf, of in self.leaves.items() if leaf in used and isinstance(of, View)}
        if value.type.rank < 2 or not (
            any(n.op in REORDERING for n in self.builder.nodes if n.result in used)
            or any(not _is_c_order(self.e.order_like(of)) for of in views.values())
        ):
            return None
        inputs = [leaf for leaf in self.builder.inputs if leaf in used]
        wide = [self.e.wide_strides(views[leaf]) if leaf in views else ((), ()) for leaf in inputs]
        strides = [tuple(s * leaf.type.dtype.size for s in own) for leaf, (_, own) in zip(inputs, wide, strict=True)]
        nodes = tuple(n for n in self.builder.nodes if n.result in used)
        sizes = {name: LONGER * max(1, number) for name, number in self.e.sizes.items()}
        graph = Graph("values", tuple(inputs), nodes, (value,))
        return output_orders(graph, [shape for shape, _ in wide], strides, sizes, least=2)[0]

    def index(self, of: Abstract, items: Sequence[Any]) -> Abstract:
        """`expression[items]`, or an index with arrays."""
        base = self.operand(of)
        return self.result(self.record(lambda: functions.index(self.builder, base, items, None)))

    def result(self, made: Any) -> Abstract:
        if isinstance(made, tuple):
            return TupleValue(tuple(self.result(m) for m in made))
        if made in self.leaves:
            return self.leaves[made]
        if made.type.dtype.weak:
            made = Maker(self.builder, None).cast(made, made.type.dtype.strong)
        return Expression(made)

    def cast(self, value: Value, dtype: DType) -> Value:
        return Maker(self.builder, None).cast(value, dtype)

    def emit(self, outputs: Sequence[Value], targets: Sequence[View]) -> list[Value]:
        """Emit the graph: the first outputs go to the targets, the others become numbers of the nest."""
        e = self.e
        for value, target in zip(outputs, targets, strict=False):
            self.fit(value, target)
        for target in targets:
            e.storing(target.buffer)
        outputs, targets = self._in_parts(outputs, targets)
        used = _reached(self.builder, outputs)
        nodes = [n for n in self.builder.nodes if n.result in used]
        inputs = [v for v in self.builder.inputs if v in used]
        operands = [self._given(v) for v in inputs]
        written = [emit_view(e, t) for t in targets]
        for target in targets:
            e.written(target.buffer)
        for value in (*inputs, *(n.result for n in nodes)):
            e.need(*value.type.shape)
        attrs: dict[str, Attr] = {"writes": len(targets)}
        if e.facts.guards:
            attrs["guards"] = Guards(dict.fromkeys(e.facts.guards))
        body = Graph("values", tuple(inputs), tuple(nodes), tuple(outputs))
        self.builder._settle(inputs, nodes)
        types = [TensorType(v.type.dtype) for v in outputs[len(targets) :]]
        return list(e.node(ops.ASSIGN, [*operands, *written], types, body, **attrs).results)

    def _in_parts(self, outputs: Sequence[Value], targets: Sequence[View]) -> tuple[Sequence[Value], Sequence[View]]:
        """Replace complex outputs by their real and imaginary parts."""
        if all(t.dtype.kind != "complex" for t in targets):
            return outputs, targets
        values: list[Value] = []
        views: list[View] = []
        for value, target in zip(outputs, targets, strict=False):
            if target.dtype.kind != "complex":
                values.append(value)
                views.append(target)
                continue
            values += [self.builder.op(part, value) for part in (REAL, IMAG)]
            views += [target.part(0), target.part(1)]
        return [*values, *outputs[len(targets) :]], views

    def _given(self, value: Value) -> Value:
        of = self.leaves[value]
        return emit_view(self.e, of) if isinstance(of, View) else value_of(self.e, of)


def _dtype_of(x: Abstract) -> DType | None:
    if isinstance(x, Expression):
        return x.value.type.dtype
    return x.dtype if isinstance(x, (View, Number)) else None


def _is_c_order(order: tuple[int, ...]) -> bool:
    return order == tuple(range(len(order)))


def _changes(*sizes: Size) -> bool:
    """Whether sizes depend on loops or data."""
    return any(name.startswith(LOOP) for size in sizes for name in dims.symbols(size))


def _least(a: Size, b: Size) -> int | None:
    """Find the number that a size must reach for `max(number, size)` to be that size."""
    if isinstance(a, int) or isinstance(b, int):
        return None
    (monomial, factor), *more = a.terms
    if more or factor != 1 or len(monomial) != 1 or monomial[0].name != "max":
        return None
    limits = [arg for arg in monomial[0].args if isinstance(arg, int)]
    return limits[0] if limits and a == dims.maximum(limits[0], b) else None


def _sides(size: Size) -> tuple[Size, Size]:
    """Write a size as the difference of two sizes without negative factors."""
    plus = {monomial: c for monomial, c in dims.terms_of(size) if c > 0}
    minus = {monomial: -c for monomial, c in dims.terms_of(size) if c < 0}
    return dims.from_terms(plus), dims.from_terms(minus)


def _reached(builder: Builder, outputs: Sequence[Value]) -> set[Value]:
    """The values that outputs depend on."""
    found, todo = set[Value](), list(outputs)
    while todo:
        value = todo.pop()
        if value not in found:
            found.add(value)
            todo += value.node.operands if value.node is not None else ()
    return found


def emit_view(e: NestEmitter, view: View) -> Value:
    """A view as a buffer of the nest."""
    shape = tuple(map(e.facts.canonical, view.shape))
    is_all = shape == view.shape or not any(map(_changes, shape))
    if is_all and view.is_whole and not view.buffer.parts and _is_c_order(view.buffer.order):
        return view.buffer.value
    names = tuple(e.fresh("v") for _ in shape)
    at = view.at(tuple(dims.symbol(LOOP + name) for name in names))
    e.need(*at, *view.shape)
    type_ = TensorType(view.element_dtype, shape, "memref")
    return e.node(ops.VIEW, (view.buffer.value,), (type_,), vars=names, at=Sizes(at)).result


def number_kind(value: Value) -> NumpyScalar | PythonNumber:
    """The kind of a result without dimensions."""
    if is_number_result(value):
        return PythonNumber(value.type.dtype.kind)
    return NumpyScalar(value.type.dtype)


def is_zero_dimensional(value: Value) -> bool:
    """Whether NumPy returns an array without dimensions here, and not a scalar."""
    return not value.type.shape and not is_scalar_result(value) and not is_number_result(value)


def materialized(draft: Draft, value: Expression, node: ast.AST | None = None) -> View | Number:
    """Compute an expression, into new memory or to a number."""
    made = value.value
    if not made.type.shape and not is_zero_dimensional(made):
        if made.type.dtype.kind == "complex":
            real, imag = draft.emit([draft.builder.op(part, made) for part in (REAL, IMAG)], [])
            return Number(NumpyScalar(made.type.dtype), pair=(real, imag))
        return Number(number_kind(made), draft.emit([made], [])[0])
    target = draft.e.allocate(made.type.dtype, made.type.shape, node, draft.order_of(made))
    draft.emit([made], [target])
    if (base := draft.viewed(made)) is not None:
        root, version = base.shadow or (base, base.version)
        target.buffer.shadow = root, version
        target.buffer.reshaped = draft.reshaped(made)
    return target
