"""The object that users call: arguments in, results out; compiles for a signature when it first sees it."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..backends import reference
from ..ir import dims
from ..ir.dtypes import from_numpy
from ..ir.errors import TypeProblem, nearest
from ..ir.graph import Value
from ..ir.kernels import KernelLookup
from ..ir.layouts import GENERAL, SCALAR, classify
from ..ir.source import KernelSource, Structure
from .arguments import Argument, prepare
from .bounds import check_bounds
from .cache import SignatureCache
from .compiler import Lowered, Options, Request, fits, lower, orders_of
from .launch import SizesChanged
from .order import lies_in
from .results import as_outputs, check_out, fresh, overlaps

MAX_LAYOUTS = 8  # combinations of layout classes before the general one serves the rest


class Kernel:
    """A kernel of one source. Calls with new dtypes, ranks, layout classes or sizes of 1 compile; new sizes do not."""

    def __init__(self, source: KernelSource, lookup: KernelLookup, options: Options) -> None:
        self._source, self._lookup, self._options = source, lookup, options
        self.signature_cache: SignatureCache[Lowered] = SignatureCache()
        self._layouts: set[tuple[str, ...]] = set()
        self._compiling = threading.RLock()
        self.__name__ = source.name

    def __repr__(self) -> str:
        return f"<weft kernel {self._source.name}({', '.join(self._source.parameters)})>"

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        return self.run(self.arguments(args, kwargs), out)

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Argument]:
        """The arguments of a call in the order of the parameters."""
        names = self._source.parameters
        if len(args) == len(names) and not kwargs:
            return [prepare(n, x) for n, x in zip(names, args, strict=True)]
        takes = f"{self._source.name} takes {len(names)} arguments ({', '.join(names)})"
        if len(args) > len(names):
            raise TypeProblem(f"{takes}, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeProblem(f"{self._source.name} has no argument '{name}'", hint=nearest(name, list(names)))
            if name in given:
                raise TypeProblem(f"{self._source.name} got the argument '{name}' twice")
            given[name] = value
        missing = [n for n in names if n not in given]
        if missing:
            raise TypeProblem(f"{takes}; '{missing[0]}' is missing")
        return [prepare(n, given[n]) for n in names]

    def run(self, arguments: Sequence[Argument], out: Any = None) -> Any:
        """Finds or makes the compiled graph for the arguments and runs it."""
        while True:
            env: dict[str, int] = {}
            lowered, inputs = self._find(arguments, out, env)
            try:
                return self._launch(lowered, inputs, env, out)
            except SizesChanged:
                self.signature_cache.add(self._key(arguments, out)[0], self._lower(arguments, out))

    def lower(self, *args: Any, out: Any = None, **kwargs: Any) -> Lowered:
        """The graph for these arguments after all passes; nothing is run."""
        arguments = self.arguments(args, kwargs)
        found, _ = self._find(arguments, out, {})
        return found

    def explain(self, *args: Any, **kwargs: Any) -> Any:
        """What the kernel becomes for these arguments."""
        return self.lower(*args, **kwargs).explain()

    # -- compiled graphs

    def _key(self, arguments: Sequence[Argument], out: Any) -> tuple[Any, tuple[str, ...], tuple[str, ...] | None]:
        layouts = tuple(a.layout for a in arguments)
        outs = _out_layouts(out)
        combination = (*layouts, *(outs or ()))
        if combination not in self._layouts:
            if len(self._layouts) >= MAX_LAYOUTS:
                layouts = tuple(x if x == SCALAR else GENERAL for x in layouts)
                outs = outs and tuple(x if x == SCALAR else GENERAL for x in outs)
            else:
                self._layouts.add(combination)
        captures = self._source.captures() if hasattr(self._source, "captures") else ()
        types = tuple((a.dtype.name, tuple(n == 1 for n in a.array.shape)) for a in arguments)
        return (types, layouts, outs, captures), layouts, outs

    def _find(
        self, arguments: Sequence[Argument], out: Any, env: dict[str, int]
    ) -> tuple[Lowered, list[np.ndarray[Any, Any]]]:
        key, layouts, _ = self._key(arguments, out)
        arrays = [a.array for a in arguments]
        ordered = out is None and any(x == GENERAL for x in layouts)
        inputs = arrays

        def suits(lowered: Lowered) -> bool:
            nonlocal inputs
            env.clear()
            inputs = [*arrays, *lowered.built.hidden]
            return fits(lowered, inputs, env) and (not ordered or orders_of(lowered, inputs, env) == lowered.orders)

        found = self.signature_cache.find(key, suits)
        if found is None:
            with self._compiling:
                found = self._lower(arguments, out)
                self.signature_cache.add(key, found)
            suits(found)
        return found, inputs

    def _lower(self, arguments: Sequence[Argument], out: Any) -> Lowered:
        _, layouts, outs = self._key(arguments, out)
        request = Request(
            [a.type for a in arguments],
            layouts,
            [a.array.shape for a in arguments],
            [a.array.strides for a in arguments],
            outs,
        )
        return lower(self._source, request, self._lookup, self._options)

    # -- running

    def _launch(self, lowered: Lowered, inputs: list[np.ndarray[Any, Any]], env: dict[str, int], out: Any) -> Any:
        check_bounds(lowered.bounds, inputs)
        inputs = _converted(lowered, inputs)
        count = len(lowered.graph.outputs)
        wanted = as_outputs(out, count) if out is not None else (None,) * count
        for k, (value, given) in enumerate(zip(lowered.graph.outputs, wanted, strict=True)):
            if given is not None and all(dims.symbols(s) <= env.keys() for s in value.type.shape):
                check_out(given, tuple(dims.evaluate(s, env) for s in value.type.shape), value.type.dtype, k, count)
        orders = lowered.orders
        if self._options.backend == "reference":
            outputs = list(reference.run(lowered.built.graph, inputs, env, lowered.built.calls))
        else:
            outputs, calls = lowered.launcher.run(inputs, env, _memory(lowered, wanted, inputs))
            if calls:
                orders = orders_of(lowered, inputs, env, calls)
        if out is None and not lowered.writes_all_outputs:
            outputs = _fresh_outputs(outputs, orders, inputs)
        return _handed_back(lowered, outputs, wanted, out is not None)


def _converted(lowered: Lowered, inputs: list[np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """Numbers in the dtypes that a kernel declares for them."""
    typed = zip(inputs, lowered.built.graph.inputs, strict=True)
    return [x if x.dtype == v.type.dtype.numpy else x.astype(v.type.dtype.numpy) for x, v in typed]


def _memory(
    lowered: Lowered, wanted: Sequence[np.ndarray[Any, Any] | None], inputs: list[np.ndarray[Any, Any]]
) -> dict[Value, Any]:
    """How to make the memory of each output: the caller's where it can be written at once."""
    memory: dict[Value, Any] = {}
    for k, value in enumerate(lowered.graph.outputs):
        given = wanted[k]
        others = [*inputs, *(x for j, x in enumerate(wanted) if j != k and x is not None)]
        if given is not None and not overlaps(given, others):
            memory[value] = lambda shape, given=given: given
        elif given is not None:
            memory[value] = lambda shape, given=given: np.empty_like(given)
        else:
            order, dtype = lowered.orders[k], value.type.dtype
            memory[value] = lambda shape, dtype=dtype, order=order: fresh(shape, dtype, order)
    return memory


def _fresh_outputs(
    outputs: list[np.ndarray[Any, Any]], orders: Sequence[tuple[int, ...]], inputs: list[np.ndarray[Any, Any]]
) -> list[np.ndarray[Any, Any]]:
    """Outputs that share memory with no input and with no other output, in NumPy's order."""
    found: list[np.ndarray[Any, Any]] = []
    for x, order in zip(outputs, orders, strict=True):
        others = [*inputs, *(y for y in found if y is not x)]
        if overlaps(x, others) or not x.flags.writeable or not lies_in(order, x.shape, x.strides):
            copy = fresh(x.shape, from_numpy(x.dtype), order)
            copy[...] = x
            x = copy
        found.append(x)
    return found


def _handed_back(
    lowered: Lowered, outputs: list[np.ndarray[Any, Any]], wanted: Sequence[np.ndarray[Any, Any] | None], has_out: bool
) -> Any:
    """Results as NumPy would give them: in the caller's arrays, as scalars, as a tuple."""
    for k, given in enumerate(wanted):
        if given is not None and outputs[k] is not given:
            check_out(given, outputs[k].shape, lowered.graph.outputs[k].type.dtype, k, len(wanted))
            given[...] = outputs[k]
            outputs[k] = given
    pairs = zip(outputs, lowered.scalars, strict=True)
    packed = [x if not scalar or has_out else x[()] for x, scalar in pairs]
    structure = lowered.built.structure or Structure("single" if len(packed) == 1 else "tuple")
    return structure.pack(packed)


def _out_layouts(out: Any) -> tuple[str, ...] | None:
    if out is None:
        return None
    given = out if isinstance(out, (tuple, list)) else (out,)
    return tuple(classify(x.shape, x.strides, x.itemsize) if isinstance(x, np.ndarray) else "C" for x in given)
