"""Run a compiled graph on prepared arguments: bind sizes, allocate memory, call native code.

A graph runs step by step. Regions are native functions that read a frame, and NumPy calls run between them. A reshape
that merges axes reads a dense array in another shape. The pieces of a concatenation are written directly into the
whole. A loop runs its body, which is a graph too, on the state of the previous step.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
from ..ir.errors import ValueProblem, WeftError
from ..ir.graph import Graph, Node, Value
from ..ir.ops import CONCATENATE, GATHER, LOOP, NUMPY, POSITIONS, REGION, RESHAPE
from ..ir.orders import lies_in
from ..ir.types import integer, ints, sizes
from ..ir.walking import body_of, carried, walk
from . import threads
from .checked_sizes import LateSizes
from .memory import empty
from .size_bound import Results, SizedKernel, address_of

if TYPE_CHECKING:
    from ..backends.llvm.engine.library import LoadedCode
    from ..backends.llvm.functions import RegionCode

Array = np.ndarray[Any, Any]
NATIVE = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *([ctypes.c_int64] * 5))
ORDERED = {"min": "minimum", "max": "maximum", "reduce_fmin": "fmin", "reduce_fmax": "fmax"}
Calls = Sequence[Callable[..., tuple[Any, ...]]]
# The memory orders of a call's operands, given its number and the strides of earlier calls' results.
Orders = Callable[[int, Mapping[int, Sequence[tuple[int, ...]]]], Sequence[tuple[int, ...]]]


class NativeRegion:
    """One region: its native functions and the words of their frame."""

    def __init__(self, region: Node, function: RegionCode, addresses: Mapping[str, int]) -> None:
        self.region, self.code, self.addresses = region, function, addresses
        self.entries, self.may_fail = function.entries, function.may_fail
        self.functions = {part.name: NATIVE(addresses[part.name]) for part in function.parts}
        self.asks = function.asks
        self.ordered = [n for n in region.body or () if n.op.name in ORDERED or n.op in POSITIONS]
        self.unlooked = _unlooked_axes(region)

    def run(self, arrays: Sequence[Array], env: Mapping[str, int]) -> None:
        self._refuse_empty(env)
        SizedKernel(self, env).run(arrays)

    def problem(self, arrays: Sequence[Array], env: Mapping[str, int]) -> WeftError | None:
        """Find the invalid value by running NumPy, and return the error that NumPy gives."""
        from ..backends import reference

        assert self.region.body is not None
        try:
            reference.run(self.region.body, arrays[: len(self.region.operands)], env)
        except WeftError as error:
            return error
        return None

    def _refuse_empty(self, env: Mapping[str, int]) -> None:
        """Refuse the minimum of an empty array as NumPy does, unless the result is empty too."""
        if not self.ordered:
            return
        reduced = ints(self.region.attrs, "reduced")
        space = [dims.evaluate(s, env) for s in sizes(self.region.attrs, "space")]
        rows = [n for k, n in enumerate(space) if k not in reduced]
        if all(space[k] for k in reduced):
            return
        for node in self.ordered:
            if node.op in POSITIONS:
                raise ValueProblem(f"attempt to get {node.op.name} of an empty sequence", node.span)
            if all(rows):
                name = ORDERED[node.op.name]
                raise ValueProblem(f"zero-size array to reduction operation {name} which has no identity", node.span)


def _unlooked_axes(region: Node) -> tuple[int, ...]:
    """Return the axes along which nothing may be computed although there are indices, which NumPy would check."""
    given = [v.type.shape for n in region.body or () if n.op is GATHER for v in n.operands[1:]]
    return tuple(k for k, size in enumerate(sizes(region.attrs, "space")) if any(size not in s for s in given))


class Launcher:
    """Run a lowered graph. The launcher owns the native code, so the code lives as long as any call in it."""

    def __init__(self, graph: Graph, kernels: Mapping[Node, NativeRegion], calls: Calls, library: LoadedCode) -> None:
        self.graph, self.kernels, self.calls, self.library = graph, kernels, calls, library
        self.places = {v: (n, k) for n in walk(graph) if n.op is CONCATENATE for k, v in enumerate(n.operands)}
        # Results that kernels write in another shape: they own their memory.
        self.reshaped = {unshaped(v): v for v in reversed(graph.outputs) if v.node and v.node.op is RESHAPE}
        self.asks = any(k.asks for k in kernels.values())
        self.late_sizes = LateSizes(graph)
        ordered = len(kernels) > 1 and any(k.ordered for k in kernels.values())
        self.may_fail = ordered or any(k.may_fail for k in kernels.values()) or any(n.op is NUMPY for n in walk(graph))

    def run(
        self, inputs: Sequence[Array], env: dict[str, int], results: Results, orders: Orders = lambda *_: ()
    ) -> tuple[list[Array], dict[int, list[tuple[int, ...]]]]:
        """Run the graph; `results` allocates the outputs that regions write. Other outputs may share memory."""
        if self.asks:
            threads.raise_pending()  # a native call that was interrupted ends up here
        given: dict[Value, Array] = {}
        return self._run(self.graph, inputs, env, results, given, orders), self._call_strides(given)

    def _run(
        self,
        graph: Graph,
        inputs: Sequence[Array],
        env: dict[str, int],
        results: Results,
        given: dict[Value, Array],
        orders: Orders = lambda *_: (),
    ) -> list[Array]:
        """Run a graph or the body of a loop; `given` collects the results of NumPy functions."""
        values: dict[Value, Array] = dict(zip(graph.inputs, inputs, strict=True))
        wholes: dict[Value, Array] = {}
        for node in graph:
            operands = [values[v] for v in node.operands]
            if node.op is REGION:
                made = [self._memory(v, env, results, wholes) for v in node.results]
                self.kernels[node].run([*operands, *made], env)
            elif node.op is CONCATENATE:
                made = [self._memory(node.result, env, results, wholes)]
                for value, array in zip(node.operands, operands, strict=True):
                    part = self._part(value, env, made[0])
                    if part.size and address_of(part) != address_of(array):  # it was computed before the sizes
                        part[...] = array
            elif node.op is RESHAPE and node.result in wholes:
                made = [wholes[node.result]]
            elif node.op is RESHAPE:
                shape = tuple(dims.evaluate(s, env) for s in node.result.type.shape)
                made = [np.ascontiguousarray(operands[0]).reshape(shape)]
            elif node.op is LOOP:
                made = self._loop(node, operands, env, given)
            else:
                if "call" in node.attrs and any(v.node is not None and v.type.rank > 1 for v in node.operands):
                    wanted = orders(call_number(node), self._call_strides(given))
                    operands = list(map(_in_order, operands, wanted)) if wanted else operands
                made = self._call(node, _as_given(node, operands, given), env)
                given.update(zip(node.results, made, strict=True))
                made = [_readable(x) for x in made]
            values.update(zip(node.results, made, strict=True))
        return [given.get(v, values[v]) for v in graph.outputs]

    def _loop(self, node: Node, operands: list[Array], env: dict[str, int], given: dict[Value, Array]) -> list[Array]:
        """Run a loop and return its last state. Each step writes new memory; the memory of the step before is freed."""
        body, count = body_of(node), carried(node)
        go, state, others = operands[0], operands[1 : 1 + count], operands[1 + count :]
        while go:
            go, *state = self._run(body, [*state, *others], dict(env), {}, given)
        return state

    def _call_strides(self, given: Mapping[Value, Array]) -> dict[int, list[tuple[int, ...]]]:
        """Return the strides of NumPy functions' results, by call number."""
        calls = [n for n in self.graph if n.op is NUMPY and "call" in n.attrs]
        return {call_number(n): [given[v].strides for v in n.results] for n in calls if n.results[0] in given}

    def _memory(
        self,
        value: Value,
        env: Mapping[str, int],
        results: Results,
        wholes: dict[Value, Array],
    ) -> Array:
        """Allocate a value. A piece of a concatenation is a view of the whole, which the first piece allocates."""
        if value in wholes:
            return wholes[value]
        shape = tuple(dims.evaluate(s, env) for s in value.type.shape)
        if value in self.places and _are_known(self.places[value][0], env):
            found = self._part(value, env, self._memory(self.places[value][0].result, env, results, wholes))
        elif value in results:
            found = results[value](shape)
        elif value in self.reshaped and (output := self.reshaped[value]) in results:
            whole = results[output](tuple(dims.evaluate(s, env) for s in output.type.shape))
            if whole.flags.c_contiguous:
                wholes[output], found = whole, whole.reshape(shape)
            else:
                found = empty(shape, value.type.dtype.numpy)
        else:
            found = empty(shape, value.type.dtype.numpy)
        if value.node is not None and value.node.op is CONCATENATE:
            wholes[value] = found
        return found

    def _part(self, value: Value, env: Mapping[str, int], whole: Array) -> Array:
        """Return the part of a concatenation that a value is."""
        node, place = self.places[value]
        axis = integer(node.attrs, "axis")
        sizes = [dims.evaluate(v.type.shape[axis], env) for v in node.operands[: place + 1]]
        return whole[(slice(None),) * axis + (slice(sum(sizes[:-1]), sum(sizes)),)]

    def _call(self, node: Node, operands: list[Array], env: dict[str, int]) -> list[Array]:
        """Call a NumPy function; its results must have the types that the graph was compiled for."""
        from ..backends import reference

        if "op" in node.attrs:
            found = [np.asarray(reference.run_op(node, operands, env))]
        else:
            found = [np.asarray(x) for x in self.calls[call_number(node)](*operands)]
        self.late_sizes.take(node, found, env)
        return found


def _are_known(node: Node, env: Mapping[str, int]) -> bool:
    """Tell whether the sizes of operands and results are known: some follow from what NumPy's functions return."""
    return all(
        name in env for v in (*node.operands, *node.results) for size in v.type.shape for name in dims.symbols(size)
    )


def unshaped(value: Value) -> Value:
    """Return the value behind reshapes."""
    while value.node is not None and value.node.op is RESHAPE:
        value = value.node.operands[0]
    return value


def noting_strides(calls: Calls, strides: dict[int, list[tuple[int, ...]]]) -> Calls:
    """Wrap NumPy functions so that they record the strides of their results, by call number."""

    def noting(number: int, call: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
        def run(*operands: Any) -> tuple[Any, ...]:
            found = call(*operands)
            strides[number] = [np.asarray(x).strides for x in found]
            return found

        return run

    return [noting(number, call) for number, call in enumerate(calls)]


def _in_order(x: Array, order: tuple[int, ...]) -> Array:
    """Return the array with its axes in this order in memory, as NumPy would have passed it."""
    if lies_in(order, x.shape, x.strides):
        return x
    return np.ascontiguousarray(x.transpose(order)).transpose(tuple(map(order.index, range(x.ndim))))


def _as_given(node: Node, operands: list[Array], given: Mapping[Value, Array]) -> list[Array]:
    """Return the operands of a NumPy function; another function's results keep their byte order."""
    raw = [given.get(v, x) for v, x in zip(node.operands, operands, strict=True)]
    return [x if r.dtype.isnative else r for r, x in zip(raw, operands, strict=True)]


def _readable(x: Array) -> Array:
    """Make a NumPy result readable for compiled code: dense and in native byte order."""
    return np.ascontiguousarray(x, x.dtype.newbyteorder("=")).reshape(x.shape)


def call_number(node: Node) -> int:
    """Return the number of the function that a node calls."""
    found = node.attrs["call"]
    assert isinstance(found, int)
    return found
