"""Write calls of Python functions between two kernels: NumPy's, those of the registry, and loops that store elements.

A function is called with objects: arguments of the caller, or arrays and numbers that kernels have computed. Its
results are checked like arguments. If the graph was compiled for something else, or the function raises an error,
Python serves the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...frontend.programs.reading.state import STATE
from ...frontend.tracing.fallback import NumpyCall, Slot
from ...ir import dims
from ...ir.dims import Dim
from ...ir.graph import Node, Value
from ...ir.layouts import C
from ...ir.ops import CONCATENATE, NUMPY, REGION, SIZE
from ...ir.orders import operand_orders
from ...ir.tuples import NamedTuple
from ..launch import call_number
from .overlaps import array_inputs, span
from .recipe import OBJECTS, Operand, Register, Unserved

if TYPE_CHECKING:
    from .serving import Serving

COPY = partial(np.array, copy=True)  # keeps the order of axes


class OutsideForm(NamedTuple):
    """How to call a function: with which objects (a `Slot` stands for an operand), and which classes it returns.

    `kinds` say how each operand is passed: as an "array", a NumPy "scalar" or a Python "number".
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    kinds: Sequence[str]
    returned: Any
    is_quiet: bool = False  # whether NumPy's errors of floating-point numbers are ignored meanwhile
    is_dense: bool = False  # whether it takes only arrays in C order


def form_of(function: Any, node: Node) -> OutsideForm:
    """Return how a recipe calls the function of a node."""
    slots = tuple(map(Slot, range(len(node.operands))))
    if hasattr(function, "kinds") and hasattr(function, "chain"):  # a loop
        return OutsideForm(function, slots, {}, function.kinds, function.returned, is_dense=True)
    arrays = (tuple, (np.ndarray,) * len(node.results))
    usual = OutsideForm(function, slots, {}, ("array",) * len(slots), arrays)
    if not isinstance(function, NumpyCall) or STATE is None or not _is_readable(function.returned):
        return usual
    kwargs = dict(function.kwargs)
    if not all(map(_can_fill, (*function.args, *kwargs.values()))):
        return usual
    return OutsideForm(function.function, function.args, kwargs, function.kinds, function.returned, is_quiet=True)


def _can_fill(tree: Any) -> bool:
    """Tell whether a recipe can put operands into an argument: in its place, or into lists and tuples."""
    if type(tree) in (list, tuple):
        return all(map(_can_fill, tree))
    return isinstance(tree, Slot) or not _has_slots(tree)


def _has_slots(tree: Any) -> bool:
    if isinstance(tree, slice):
        return any(map(_has_slots, (tree.start, tree.stop, tree.step)))
    items = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, (list, tuple)) else ()
    return isinstance(tree, Slot) or any(map(_has_slots, items))


def _is_readable(returned: Any) -> bool:
    """Tell whether a recipe can read a result of these classes: arrays in native byte order, numbers, and tuples."""
    if isinstance(returned, tuple):
        kind, items = returned
        return issubclass(kind, tuple) and all(map(_is_readable, items))
    return returned is not None and (
        returned in (np.ndarray, bool, int, float, complex) or issubclass(returned, np.generic)
    )


class OutsideCalls:
    """Writes the calls of a graph. Kernels make objects of the values in `arrays`, because functions read them."""

    def __init__(self, serving: Serving, functions: Sequence[Node]) -> None:
        self.serving, self.w = serving, serving.w
        self.graph, self._functions = serving.graph, serving.lowered.launcher.calls
        self.forms = {n: form_of(self._functions[call_number(n)], n) for n in functions}
        taken = [pair for n, form in self.forms.items() for pair in zip(n.operands, form.kinds, strict=True)]
        self.arrays = {
            v for v, kind in taken if kind == "array" and v.node is not None and v.node.op in (REGION, CONCATENATE)
        }
        self.owned: list[Register] = []  # objects to release in the end
        self._objects: dict[Value, Operand] = {}
        self._handed_out: list[Register] = []  # where results of functions lie that are results of the call
        self._read_by_kernels = {v for n in self.graph if n.op is not NUMPY for v in n.operands}

    def made(self, value: Value, to: Register) -> None:
        """Record the object of an array that a kernel writes."""
        self._objects[value] = to._replace(sign=-1)

    def known(self, node: Node) -> None:
        """Note where a constant is, or a size."""
        w, pointer = self.w, self.w.register()
        if node.attrs["op"] == SIZE.name:
            size = node.attrs["size"]
            assert isinstance(size, (int, Dim))
            w.make("here", self.serving.arguments.in_row([self.serving.number(size)]), pointer)
        else:
            from ...backends import reference

            value = np.array(reference.run_op(node, [], {}), node.result.type.dtype.numpy)
            w.kept.append(value)
            pointer = w.constant(value.ctypes.data)
        self.serving.pointers[node.result] = pointer

    def new_object(self) -> Register:
        """Return a register for an object that is released at the end."""
        self.owned.append(self.w.register(part=OBJECTS))
        return self.owned[-1]

    def write(self, node: Node) -> None:
        """Write one call. Afterwards the addresses and sizes of its results are known."""
        w, form, serving = self.w, self.forms[node], self.serving
        w.in_order()
        operands = self._operands(node, form)
        given = (*form.args, *form.kwargs.values())
        places = [self._filled(x, operands) for x in given]
        names = w.object(tuple(form.kwargs)) if form.kwargs else 0
        items, made = w.register(len(places) + 1), self.new_object()
        state: tuple[Operand, ...] = (0, 0, 0, 0)
        if form.is_quiet:
            ignore = _ignoring()
            state = w.object(STATE), w.plain_register, w.object(ignore()), w.object(ignore)
        function = w.object(form.function)
        w.functions += 1
        w.run("call_python", function, names, len(form.args), len(places), items, made, *state, more=places)
        parts = self._parts(made._replace(sign=-1), form.returned)
        if len(parts) != len(node.results):
            raise Unserved
        known = set(serving.sizes.known)
        for value, (kind, place) in zip(node.results, parts, strict=True):
            self._take(value, kind, place)
        serving.arguments.settle_late(serving.lowered.launcher.late_sizes.guards(node))
        late = serving.sizes.known.keys() - known
        footprints = [f for f in serving.lowered.footprints if any(dims.symbols(s) & late for s in f.shape)]
        serving.arguments.check_footprints(footprints)

    # -- operands

    def _operands(self, node: Node, form: OutsideForm) -> list[Operand]:
        found = [self._object(v, kind) for v, kind in zip(node.operands, form.kinds, strict=True)]
        if form.is_dense:
            return [self._dense(x, kind) for x, kind in zip(found, form.kinds, strict=True)]
        if all(v.node is None or v.type.rank < 2 for v in node.operands):
            return found
        call, graph = self.serving.call, self.serving.lowered.built.graph
        arrays = [given.array for given in call.inputs]
        pairs = [
            pair for v, x in zip(graph.inputs, arrays, strict=True) for pair in zip(v.type.shape, x.shape, strict=True)
        ]
        env = {str(size): n for size, n in pairs if dims.is_symbol(size)}
        shapes, strides = [x.shape for x in arrays], [x.strides for x in arrays]
        orders = operand_orders(graph, shapes, strides, env, {}, call_number(node))
        for k, (value, order) in enumerate(zip(node.operands, orders, strict=False)):
            if value in self.arrays and order != tuple(range(len(order))):
                copy = self.new_object()
                self.w.run("copied_array", found[k], self.w.object(_ordering(order)), copy, 0, 0, 0)
                found[k] = copy._replace(sign=-1)
        return found

    def _dense(self, place: Operand, kind: str) -> Operand:
        """Return the place of an operand in C order."""
        if kind != "array":
            return place
        to = self.new_object()
        self.w.run("dense_array", place, self.w.object(np.ascontiguousarray), to, 0, 0, 0)
        return to._replace(sign=-1)

    def _filled(self, tree: Any, operands: Sequence[Operand]) -> Operand:
        """Return the place of an argument; lists and tuples of operands are made for each call."""
        if isinstance(tree, Slot):
            return operands[tree.index]
        if not _has_slots(tree):
            return self.serving.arguments.constant(tree)
        w, items = self.w, list[Register]()
        for item in tree:
            items.append(w.register(part=OBJECTS))
            w.run("given", self._filled(item, operands), items[-1])
        to = self.new_object()
        w.run("pack_list" if type(tree) is list else "pack_tuple", len(items), to, more=items)
        return to._replace(sign=-1)

    def _object(self, value: Value, kind: str) -> Operand:
        """Return the place of an operand's object."""
        w, serving = self.w, self.serving
        if kind != "array":
            return self._number(value, kind)
        if value in self._objects:
            return self._objects[value]
        if value in serving.graph.inputs:
            given = serving.call.inputs[serving.graph.inputs.index(value)]
            if given.is_size:
                raise Unserved
            if type(given.given) is np.ndarray:
                return serving.arguments.place(given)
        elif value in serving.pieces:
            raise Unserved  # a view of a larger array
        to, data = self.new_object(), w.register()
        rank = value.type.rank
        row = serving.arguments.row(value.type.shape) if rank else 8  # any register will do
        w.new_array(value.type.dtype.numpy, rank, row, to, data)
        w.run("copy_bytes", serving.pointers[value], data, serving.bytes(value))
        self.made(value, to)
        return self._objects[value]

    def _number(self, value: Value, kind: str) -> Operand:
        """Make an object of the number at an address: one of NumPy, or of Python."""
        w, to, dtype = self.w, self.new_object(), value.type.dtype
        pointer = self.serving.pointers[value]
        if kind == "number" and dtype.strong.name in ("f64", "i64"):
            w.run("float_object" if dtype.strong.name == "f64" else "int_object", pointer, to)
        elif kind == "number" and dtype.kind == "bool":
            w.run("truth_object", pointer, w.object(True), w.object(False), to)
        else:
            w.new_scalar(dtype.numpy, pointer, to)
            if kind == "number":
                w.run("python_number", to, w.object("item"))
        return to._replace(sign=-1)

    # -- results

    def _parts(self, place: Register, returned: Any) -> list[tuple[type, Register]]:
        """Check the classes of a result; return those of its parts, and where they are."""
        if not isinstance(returned, tuple):
            return [(returned, place)]
        kind, classes = returned
        items = self.w.register(len(classes))
        self.w.check("pair", place, self.w.object(kind), len(classes), items)
        places = [items.after(k)._replace(sign=-1) for k in range(len(classes))]
        return [part for at, inner in zip(places, classes, strict=True) for part in self._parts(at, inner)]

    def _take(self, value: Value, kind: type, place: Register) -> None:
        """Check a result, and record where kernels and later functions find it."""
        w, serving, type = self.w, self.serving, value.type
        self._check_out(value)
        if kind is not np.ndarray:
            if type.rank or (issubclass(kind, np.generic) and kind is not type.dtype.numpy.type):
                raise Unserved
            serving.pointers[value] = serving.arguments.number(place, kind, type.dtype)
            return
        # The order of what kernels compute from it was settled for arrays in C order.
        is_sorted = type.rank > 1 and value in self._read_by_kernels
        dense, itemsize = self.new_object(), type.dtype.numpy.itemsize
        w.run("dense_array", place, w.object(np.ascontiguousarray), dense, int(is_sorted), 0, 0)
        example = np.broadcast_to(np.zeros((), type.dtype.numpy), [s if isinstance(s, int) else 2 for s in type.shape])
        serving.arguments.array(dense._replace(sign=-1), value, type.shape, example, C)
        self._objects[value] = place
        for k, output in enumerate(serving.graph.outputs):
            if output is value and not serving.lowered.scalars[k] and k not in serving.given:
                ranges = [span(serving, v) for v in (*array_inputs(serving), *self._made_outputs())]
                own = w.register(2)
                more = [*ranges, *self._handed_out]
                w.run("own_array", place, w.object(COPY), serving.objects[k], itemsize, len(more), own, more=more)
                self._handed_out.append(own)

    def _made_outputs(self) -> list[Value]:
        """List the results that kernels have written to memory of their own so far."""
        serving = self.serving
        pairs = zip(serving.graph.outputs, serving.lowered.scalars, strict=True)
        return [v for v, is_number in pairs if not is_number and v in serving.pointers and v.node not in self.forms]

    def _check_out(self, value: Value) -> None:
        """Copy a result to the array that the caller passes for it, if that is in C order."""
        for output, out in zip(self.serving.graph.outputs, self.serving.call.outs, strict=True):
            if output is value and out is not None:
                if not out.array.flags.c_contiguous:
                    raise Unserved
                self.serving.copy_to_out(value)


def _ordering(order: tuple[int, ...]) -> Callable[[Any], Any]:
    """Return the function that copies an array in C order to one whose axes lie in this order."""
    if order == tuple(range(len(order)))[::-1]:
        return np.asfortranarray
    turned = tuple(map(order.index, range(len(order))))
    return lambda x: np.ascontiguousarray(x.transpose(order)).transpose(turned)


def _ignoring() -> Callable[[], Any]:
    """Return the object for NumPy's state in which all floating-point errors are ignored."""
    from numpy._core.umath import _make_extobj

    return partial(_make_extobj, all="ignore")


def first_parts(pieces: Mapping[Value, tuple[Node, int]], place: Mapping[Node | None, int]) -> dict[Node, int]:
    """Say in which part of the graph each concatenation gets the first of the elements that are written into it."""
    first: dict[Node, int] = {}
    for value in pieces:
        part, around = place.get(value.node), pieces.get(value)
        if part is None:
            raise Unserved
        while around is not None:
            whole = around[0]
            first[whole] = min(part, first.get(whole, part))
            around = pieces.get(whole.result)
    return first


def segments(nodes: Sequence[Node], functions: Sequence[Node]) -> list[tuple[list[Node], Node | None]]:
    """Split the nodes of a graph at the functions: each part is what comes before a function."""
    found: list[tuple[list[Node], Node | None]] = []
    before: list[Node] = []
    for node in nodes:
        if node in functions:
            found.append((before, node))
            before = []
        else:
            before.append(node)
    return [*found, (before, None)]
