"""Compare a function compiled by Weft with NumPy and raise a `Failure` if they disagree: the oracle of the fuzzer.

No tolerance grows along a program. Three links lead from NumPy to native code. Each is exact, or bounds the error of
one operation on given operands (`docs/fuzzing.md` has the reasons):

1. "call": each traced call, alone, on the operands that Weft has at that place, against NumPy;
2. "passes": the graph as it was traced against the graph after all passes, both walked by the reference, bit for bit;
3. "native": the graph after all passes, walked by the reference, against native code for each CPU, bit for bit.

Results must also look like NumPy's to a caller: dtype, shape, memory order, scalar or array, new memory. Calls that
NumPy refuses raise the same kind of error, printed graphs are read back, and graphs are verified after every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from weft.backends import reference
from weft.backends.llvm.engine import target
from weft.frontend.tracing.functions import TracedFunction
from weft.function import tracing
from weft.ir.graph import Graph, Value
from weft.ir.records import replace
from weft.ir.text.parser import parse_graph
from weft.ir.text.printer import print_graph
from weft.runtime.checked_sizes import bind_sizes
from weft.runtime.compiler import Lowered, Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from ..differential.comparing import bits, levels, memory_order, same_numbers
from . import meanings
from .calls import check_call
from .drawing import REFUSALS, quiet
from .inputs import laid_out
from .natives import Natives
from .recording import Recorder, known_kind

Array = np.ndarray[Any, Any]
# Of computed values, order='K' and order='A' ask for strides that only NumPy's own arrays have.
STATED_REFUSAL = "keeps the memory order of an array, but a computed value has none"
NARROW = 0  # stands for code whose vectors are four times narrower than AVX-512's


class Failure(AssertionError):
    """Describes what is wrong, and in which link."""

    def __init__(self, link: str, message: str) -> None:
        super().__init__(f"{link}: {message}")
        self.link, self.message = link, message


@dataclass(frozen=True)
class Out:
    """An array of the caller for a result, in this layout, with the result's shape and dtype."""

    layout: str


def check(function: Callable[..., Any], *args: Any, out: Any = None, again: Sequence[Any] = ()) -> None:
    """Check that the function gives the same compiled, for every CPU, and in NumPy; then for further arguments."""
    shared_oracle().check(function, args, out, again)


def options(width: int) -> Options:
    """Code for a level of x86-64, or for the narrowest vectors, verified after every pass."""
    machine = target.x86(width or 3)
    return Options(target=machine if width else replace(machine, vector_bytes=16), verify=True)


class Oracle:
    """Compares functions with NumPy, and keeps the kernels of single operations.

    Without `runs` the functions themselves are not compiled; only the links up to the passes are checked.
    """

    def __init__(self, runs: bool = True) -> None:
        self.runs = runs
        natives = Natives(options(max(levels())))
        self.native, self.canonical = meanings.native(natives), meanings.canonical(natives)

    def check(
        self,
        function: Callable[..., Any],
        args: Sequence[Any],
        out: Any = None,
        again: Sequence[Any] = (),
        widths: Sequence[int] | None = None,
    ) -> None:
        """Fails unless all agree for `args`, and then for each argument list of `again`, which needs no new code."""
        source = TracedFunction(function, (), lambda graph, inputs, **calls: reference.run(graph, inputs, **calls))
        session = _Session(self, function, Recorder())
        widths = widths or (*levels(), NARROW)
        with quiet(), session.recorder.listening():
            for n, width in enumerate(widths):
                kernel = Kernel(source, Registry(), options(width))
                lowered = session.call(kernel, args, out, n == 0)
                for more in again:
                    session.call(kernel, more, None, n == 0)
                if lowered is not None and n > 0:
                    _check_text(lowered)
            if len(widths) > 1 and self.runs:
                _check_repeated(kernel, tracing(function), [args, args, args, *again, args])


@dataclass
class _Session:
    oracle: Oracle
    function: Callable[..., Any]
    recorder: Recorder

    def call(self, kernel: Kernel, args: Sequence[Any], out: Any, in_depth: bool) -> Lowered | None:
        """Call a kernel and compare it with NumPy and the reference; `in_depth` checks all links.

        Return the graph that served the call, unless NumPy refuses the call.
        """
        saved = [_copy(x) for x in args]
        try:
            expected = self.function(*args)
        except REFUSALS as error:
            if self.oracle.runs:
                _refuses(kernel, args, error)
            return None
        outs = _outs(out, expected)
        try:
            lowered = kernel.lower(*args, out=outs)
        except Exception as error:
            if STATED_REFUSAL in str(error):
                return None
            raise Failure("refusal", f"NumPy computes it, Weft raises {_named(error)}") from error
        walk = _Walk(lowered, args)
        planned = [np.array(x) for x in walk.run(lowered.graph, self.oracle.native)]  # `out` may lie on what they view
        if in_depth:
            self._check_passes(walk)
            self._check_calls(walk)
        if not self.oracle.runs:
            return lowered
        try:
            found = kernel(*args, out=outs)
        except Exception as error:
            raise Failure("native", f"NumPy computes it, Weft raises {_named(error)}") from error
        _check_results(_tupled(found), _tupled(expected), planned, args, outs, not lowered.fallbacks)
        self._restore(args, saved, outs)
        return lowered

    def _check_passes(self, walk: _Walk) -> None:
        before = _bits(walk.run(walk.lowered.built.graph, self.oracle.canonical))
        after = _bits(walk.run(walk.lowered.graph, self.oracle.canonical))
        if before == after:
            return
        steps = zip(walk.lowered.passes, walk.lowered.result.snapshots[1:], strict=True)
        guilty = next((n for n, g in steps if _bits(walk.run(g, self.oracle.canonical)) != before), "the last one")
        wrong = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
        raise Failure("passes", f"'{guilty}' changes the outputs {wrong}")

    def _check_calls(self, walk: _Walk) -> None:
        graph = walk.lowered.built.graph
        calls = self.recorder.calls(graph)
        wanted = list(dict.fromkeys(v for c in calls for v in c.results if v.node is not None))
        everything = Graph(graph.name, graph.inputs, graph.nodes, tuple(wanted), graph.attrs)
        actual: dict[Value, Any] = dict(zip(wanted, walk.run(everything, self.oracle.canonical), strict=True))
        actual |= dict(zip(graph.inputs, walk.inputs, strict=True))
        known = {value: known_kind(value, x) for value, x in actual.items()}
        sizes = {**walk.sizes, **self.recorder.sizes(graph, walk.inputs)}
        for call in calls:
            try:
                check_call(call, known, sizes)
            except AssertionError as error:
                raise Failure("call", str(error)) from error

    def _restore(self, args: Sequence[Any], saved: Sequence[Any], outs: Any) -> None:
        """Check that arguments are unchanged, unless the caller's `out` overlaps them."""
        given = [x for x in _tupled(outs) if x is not None]
        for k, (x, before) in enumerate(zip(args, saved, strict=True)):
            if not isinstance(x, np.ndarray):
                continue
            if any(np.may_share_memory(x, y) for y in given):
                x[...] = before
            elif bits(x) != bits(before):
                raise Failure("native", f"argument {k} was changed")


class _Walk:
    """Runs of the reference on the stages of one compiled call."""

    def __init__(self, lowered: Lowered, args: Sequence[Any]) -> None:
        self.lowered = lowered
        self.inputs = [_native_order(np.asarray(x)) for x in (*args, *lowered.built.hidden)]
        self.sizes: dict[str, int] = {}
        if not bind_sizes(lowered.built.graph.inputs, self.inputs, self.sizes):
            raise Failure("native", "the graph does not fit the arguments that it was found for")

    def run(self, graph: Graph, table: meanings.Meanings) -> tuple[Any, ...]:
        try:
            return reference.run(graph, self.inputs, self.sizes, self.lowered.built.calls, table)
        except AssertionError as error:
            raise Failure("bound", str(error)) from error
        except Exception as error:
            raise Failure("reference", f"the reference raises {_named(error)}") from error


def _refuses(kernel: Kernel, args: Sequence[Any], refused: Exception) -> None:
    """Check that Weft raises the same kind of error if NumPy refuses the call."""
    try:
        kernel(*args)
    except Exception as error:
        if any(isinstance(error, kind) for kind in REFUSALS if isinstance(refused, kind)):
            return
        raise Failure("refusal", f"NumPy raises {_named(refused)}, Weft {_named(error)}") from error
    raise Failure("refusal", f"NumPy raises {_named(refused)}, Weft computes it")


def _check_repeated(kernel: Kernel, jitted: Any, calls: Sequence[Sequence[Any]]) -> None:
    """Check that `jit`, whose later calls native code may serve, always gives the same as the kernel."""
    for number, args in enumerate(calls):
        wanted, found = (_outcome(f, args) for f in (kernel, jitted))
        if wanted != found:
            raise Failure("repeated", f"call {number} of the jitted function differs: {found[:2]} for {wanted[:2]}")


def _outcome(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, ...]:
    """Return the result of a call in a form that can be compared to the bit."""
    try:
        results = _tupled(function(*args))
    except Exception as error:
        return type(error), str(error)
    forms = [(type(x), x.dtype, x.shape, memory_order(np.asarray(x))) for x in results]
    return forms, len(results), _bits(results)


def _check_text(lowered: Lowered) -> None:
    """Check that printed text can be read back to the same graph."""
    for graph in (lowered.built.graph, lowered.graph):
        text = print_graph(graph)
        if print_graph(parse_graph(text)) != text:
            raise Failure("text", f"printed and read back, the graph is another:\n{text}")


def _check_results(
    found: tuple[Any, ...],
    expected: tuple[Any, ...],
    planned: Sequence[Any],
    args: Sequence[Any],
    outs: Any,
    ordered: bool,
) -> None:
    if len(found) != len(expected):
        raise Failure("form", f"{len(found)} results for {len(expected)}")
    given = outs if isinstance(outs, tuple) else (outs,) * len(found)
    for k, (x, numpys, plan, out) in enumerate(zip(found, expected, planned, given, strict=True)):
        if out is not None and x is not out:
            raise Failure("form", f"output {k} is not the array that was given for it")
        try:
            _same_form(x, numpys, out is not None, ordered)
        except AssertionError as error:
            raise Failure("form", f"output {k}: {error}") from error
        try:
            same_numbers(np.asarray(x), np.asarray(plan))
        except AssertionError as error:
            raise Failure("native", f"output {k}, compared with the reference: {error}") from error
        others = [*(a for a in args if isinstance(a, np.ndarray)), *(y for j, y in enumerate(found) if j != k)]
        if out is None and any(np.may_share_memory(x, y) for y in others if isinstance(y, np.ndarray)):
            raise Failure("form", f"output {k} shares memory with an argument or another output")


def _same_form(x: Any, numpys: Any, given: bool, ordered: bool) -> None:
    """Compare dtype, shape, scalar or array, and memory order.

    A NumPy function between kernels reads their results in C order, so its own result may have another order.
    """
    numpys = numpys if isinstance(numpys, (np.ndarray, np.generic)) else np.asarray(numpys)[()]
    kinds = (numpys.dtype, numpys.dtype.newbyteorder("="))  # `astype` keeps the byte order that it is asked for
    assert x.dtype in kinds, f"dtype {x.dtype} for {numpys.dtype}"
    assert x.shape == numpys.shape, f"shape {x.shape} for {numpys.shape}"
    if given:
        return
    assert isinstance(x, np.ndarray) == isinstance(numpys, np.ndarray), f"{type(x)} for {type(numpys)}"
    if isinstance(x, np.ndarray) and ordered:
        # NumPy may hand back a view with gaps or steps back; Weft gives the dense array that a copy of it would be.
        dense = np.array(numpys, order="K", copy=True)
        assert memory_order(x) == memory_order(dense), f"strides {x.strides} for {dense.strides} of shape {x.shape}"


def _outs(out: Any, expected: Any) -> Any:
    """The arrays for the results of a call."""
    if not isinstance(out, tuple):
        return _out(out, expected)
    return tuple(_out(o, e) for o, e in zip(out, _tupled(expected), strict=True))


def _out(out: Any, expected: Any) -> Any:
    if not isinstance(out, Out):
        return out
    return laid_out(np.zeros(np.shape(expected), expected.dtype.newbyteorder("=")), out.layout)


def _tupled(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def _bits(results: Sequence[Any]) -> list[bytes]:
    return [bits(x) for x in results]


def _copy(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _native_order(x: Array) -> Array:
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


@cache
def shared_oracle() -> Oracle:
    """Return one oracle for all programs of a process, so that kernels of single operations are compiled once."""
    return Oracle()
