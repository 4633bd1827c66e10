"""Make a kernel from the text of a graph, as `weft dump` prints it or a user edits it.

The text is not trusted. It is fully verified, missing guards that keep reads inside arrays are added, and arguments are
checked against the types, layout classes and guards that the text declares.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ir import dims
from ..ir.dtypes import DType
from ..ir.errors import (
    LimitExceeded,
    ShapeProblem,
    Span,
    TypeProblem,
    UnknownName,
    Unsupported,
    VerifyProblem,
    nearest,
    quantity,
)
from ..ir.graph import Graph, graph_guards
from ..ir.layouts import GENERAL, SCALAR, UNIT, C, F, classify
from ..ir.nest.regions import verify_code
from ..ir.ops import NUMPY, TABLE, OpDef
from ..ir.schemas import REACHED, AttributeProblem, Stage
from ..ir.source import ArgType, Binding, Built, Guard
from ..ir.support.pickles import token
from ..ir.text.parser import Parsed, parse_text
from ..ir.types import TensorType
from ..ir.verifier.sizes import sizes_problem
from ..ir.verifier.verify import verify
from ..ir.verifier.view_bounds import with_bounds, with_guards
from ..ir.walking import walk
from .language.declared import Declared, Parameter

INPUT = "input"
_START = re.compile(r'(\s|//[^\n]*)*"(builtin\.module|weft\.kernel)"')


def is_printed(text: str) -> bool:
    """Tell whether a text is a printed graph rather than a `.weft` file."""
    return _START.match(text) is not None


def read_graph(text: str, file: str, passes: Sequence[str], table: Mapping[str, OpDef] = TABLE) -> Parsed:
    """Parse a graph and verify it for its stage in the pipeline; `passes` is the whole pipeline."""
    parsed = parse_text(text, file, table)
    after = INPUT if parsed.after is None else parsed.after
    if after not in (INPUT, *passes):
        hint = nearest(after, [INPUT, *passes]) or f"the passes are {', '.join(passes)}"
        problem = AttributeProblem("after", "")
        place = parsed.places.of_attribute(parsed.graph, problem)
        raise UnknownName(f"attribute 'after' is '{after}', but no pass has that name", place, hint)
    try:
        verify(parsed.graph, stage_after(after, passes), parsed.places, table)
        if found := sizes_problem(parsed.graph):
            owner, wrong = found
            message = wrong if isinstance(wrong, str) else wrong.message
            raise VerifyProblem(f"{parsed.graph.name}: {message}", parsed.places.of_problem(owner, wrong))
        bounded = with_bounds(parsed.graph)
        needed = verify_code(bounded, parsed.places)
    except RecursionError:
        raise LimitExceeded(f"{file} has regions nested too deeply to check") from None
    guarded = with_guards(bounded, needed)
    parsed.places.take_over(guarded, parsed.graph)
    return Parsed(guarded, parsed.places, parsed.after)


def passes_until(after: str, passes: Sequence[str]) -> tuple[str, ...]:
    """List the passes that have run on a graph that is printed after one of them."""
    return () if after == INPUT else tuple(passes[: passes.index(after) + 1])


def stage_after(after: str, passes: Sequence[str]) -> Stage:
    """Return the stage of a graph after a pass."""
    return max((REACHED[name] for name in passes_until(after, passes) if name in REACHED), default=Stage.BUILT)


class PrintedKernel:
    """The kernel in a text: a `KernelSource`. The text is parsed again for each graph that is compiled."""

    def __init__(
        self, text: str, file: str, passes: Sequence[str], table: Mapping[str, OpDef] = TABLE, is_ours: bool = False
    ) -> None:
        start = time.perf_counter()
        self._is_ours = is_ours
        self._text, self._file, self._passes, self._table = text, file, tuple(passes), table
        graph = self._read().graph
        self.parse_seconds = time.perf_counter() - start
        self.name = graph.name
        self.types: tuple[TensorType, ...] = tuple(v.type for v in graph.inputs)
        self.parameters: tuple[str, ...] = tuple(v.name or "in" for v in graph.inputs)
        if len(set(self.parameters)) != len(self.parameters):
            raise VerifyProblem(f"{self.name} has two arguments with the same name")
        self.outputs = None
        said = graph.attrs.get("layouts")
        self.layouts: tuple[str, ...] | None = tuple(map(str, said)) if isinstance(said, tuple) else None

    def __repr__(self) -> str:
        return f"<kernel {self.signature} of {self._file}>"

    def __reduce__(self) -> Any:
        return _unpickled, (self._text, self._file, self._passes, self._table, self._is_ours)

    def __dask_tokenize__(self) -> Any:
        return token(self._text, self._file, self._passes)

    @property
    def signature(self) -> str:
        """The types of the arguments, as in `softmax(x: f32[n, m])`."""
        return f"{self.name}({', '.join(f'{n}: {t}' for n, t in zip(self.parameters, self.types, strict=True))})"

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """The arguments as a `.weft` file would declare them."""
        span, found = Span(self._file, 1), []
        for name, type in zip(self.parameters, self.types, strict=True):
            shape = tuple(s if isinstance(s, int) else str(s) for s in type.shape) if type.shape else None
            dtype, called = (None, type.dtype.kind) if type.dtype.weak else (type.dtype, type.dtype.name)
            found.append(Parameter(name, Declared(called, dtype, shape, str(type), span), span))
        return tuple(found)

    def guards(self) -> list[Guard] | None:
        """None: native entries compute sizes in 64 bits, and sizes from untrusted text could overflow.

        Text that Weft has written itself, from a graph with checked sizes, needs no guards.
        """
        return [] if self._is_ours else None

    def bind(self, args: Sequence[ArgType]) -> Binding:
        sizes: dict[str, int] = {}
        for name, type, arg in zip(self.parameters, self.types, args, strict=True):
            problem = _type_problem(type, arg)
            if problem is not None:
                raise TypeProblem(f"{self.name}: argument '{name}' is declared {type}: {problem}")
            for size, number in zip(type.shape, arg.shape, strict=True):
                if dims.is_symbol(size):
                    sizes.setdefault(str(size), number)
        for name, type, arg in zip(self.parameters, self.types, args, strict=True):
            for axis, (size, number) in enumerate(zip(type.shape, arg.shape, strict=True)):
                if (wanted := dims.evaluate(size, sizes)) != number:
                    shown = size if wanted == size else f"{size} = {wanted}"
                    message = f"{self.name}: argument '{name}' is declared {type}: axis {axis} has size {number}"
                    raise ShapeProblem(f"{message}, not {shown}")
        return Binding(self.types, sizes)

    def build(self, binding: Binding, args: Sequence[ArgType] | None = None) -> Built:
        parsed = self._read()
        graph = parsed.graph
        for value, arg in zip(graph.inputs, args or (), strict=False):
            value.scalar = isinstance(arg.value, (bool, int, float, complex, np.generic))
        if any(arg.value is not None for arg in args or ()):
            self._check_guards(graph, binding.sizes)
            self._check_layouts(graph, args or ())
        return Built(graph, after=INPUT if parsed.after is None else parsed.after)

    def _read(self) -> Parsed:
        parsed = read_graph(self._text, self._file, self._passes, self._table)
        graph, places = parsed.graph, parsed.places
        for node in walk(graph):
            if node.op is NUMPY and "op" not in node.attrs:
                function = node.attrs["function"]
                raise Unsupported(
                    f"the Python function '{function}' can't be read back from printed IR", places.of(node)
                )
        after = INPUT if parsed.after is None else parsed.after
        if stage_after(after, self._passes) >= Stage.SCHEDULED and not {"layouts", "out_layouts"} <= graph.attrs.keys():
            raise VerifyProblem(
                "a scheduled kernel must have the attributes 'layouts' and 'out_layouts'", places.of(graph)
            )
        return parsed

    def _check_guards(self, graph: Graph, sizes: Mapping[str, int]) -> None:
        for left, right in graph_guards(graph):
            if not (dims.symbols(left) | dims.symbols(right)) <= sizes.keys():
                continue
            a, b = dims.evaluate(left, sizes), dims.evaluate(right, sizes)
            if a != b:
                shown = ", ".join(f"{name} = {number}" for name, number in sizes.items())
                message = f"{self.name}: the IR relies on {left} == {right}, which does not hold for {shown}"
                raise ShapeProblem(
                    message, hint="the IR was made for other sizes, or would read outside an array with these"
                )

    def _check_layouts(self, graph: Graph, args: Sequence[ArgType]) -> None:
        declared = graph.attrs.get("layouts")
        for name, said, arg in zip(
            self.parameters, declared if isinstance(declared, tuple) else (), args, strict=False
        ):
            if isinstance(arg.value, np.ndarray) and not fits_layout(arg.value, str(said)):
                own = classify(arg.value.shape, arg.value.strides, arg.value.itemsize)
                copy = {C: "np.ascontiguousarray", F: "np.asfortranarray", UNIT: "np.ascontiguousarray"}.get(str(said))
                message = f"{self.name}: argument '{name}' must have the layout class '{said}', not '{own}'"
                raise TypeProblem(message, hint=f"pass {copy}({name})" if copy else None)


def _unpickled(
    text: str, file: str, passes: tuple[str, ...], table: Mapping[str, OpDef], is_ours: bool = False
) -> PrintedKernel:
    return PrintedKernel(text, file, passes, table, is_ours)


def fits_layout(array: np.ndarray, said: str) -> bool:
    """Tell whether code for a layout class can read this array."""
    if said == GENERAL:
        return True
    if said == SCALAR or not array.ndim:
        return not array.ndim
    if said == F:
        return array.flags.f_contiguous
    is_c = array.flags.c_contiguous
    return is_c or (said == UNIT and classify(array.shape, array.strides, array.itemsize) == UNIT)


def _type_problem(type: TensorType, arg: ArgType) -> str | None:
    """Say why an argument does not fit its type, or return None."""
    if len(arg.shape) != type.rank:
        return f"expected {quantity(type.rank, 'dimension')}, got {len(arg.shape)}"
    if arg.dtype == type.dtype or _converts(arg.dtype, type.dtype, type.rank):
        return None
    return f"got {arg.dtype}"


def _converts(given: DType, wanted: DType, rank: int) -> bool:
    """Tell whether a Python number converts to the declared dtype."""
    order = ("int", "float", "complex")
    if rank or not given.weak or wanted.kind == "bool":
        return False
    kind = "int" if wanted.kind == "uint" else wanted.kind
    return order.index(given.kind) <= order.index(kind) and (not wanted.weak or kind == given.kind)
