"""Run a split kernel on dask arrays, with dask's public functions only. Nothing is computed here.

Each stage is one `blockwise` (a task for each chunk, which dask fuses with the read before it) and one `reduction` that
merges the states; each finish is one more `blockwise`. The places of chunks are parts of their tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate, count, pairwise
from types import NoneType
from typing import Any

import dask.array as da
import numpy as np
from dask.array.overlap import overlap
from dask.graph_manipulation import clone

try:
    from dask.layers import ArraySliceDep
except ImportError:  # it is no part of dask's documented interface
    ArraySliceDep = None

from ...ir import dims
from ...ir.dtypes import from_numpy
from ...ir.errors import TypeProblem, Unsupported, ValueProblem
from ...ir.records import record
from ...ir.source import ArgType, taken_by
from ...passes.split_chunks import MOMENTS, PARTS, ChunkFinish, ChunkPartial, ChunkStage
from ..arguments import prepare
from ..calling import has_chunked
from .jobs import Job, Merging, Unpacking, job_of, merging_of
from .plan import ChunkPlan, plan_chunks

WHOLE = 1000  # the first label of axes that are not chunked
BITS = ("same", "free", "require")
PURE = ("from-zarr", "from_zarr", "fromzarr")  # the names of reads that may be done again


@record
class ChunkCall:
    """A planned kernel with its arguments, some of which are dask arrays."""

    plan: ChunkPlan
    values: tuple[Any, ...]
    name: str
    backend: str


def planned(callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any], free: bool = False) -> ChunkCall:
    """Plan a call. No block is read."""
    if not hasattr(callee, "_select") and not hasattr(callee, "_in_order"):
        raise TypeProblem(
            f"weft.dask takes a kernel, not {callee!r}", hint="make one with weft.jit(f), weft.load or weft.compile"
        )
    given: dict[int, Any] = {}

    def stand_in(value: Any) -> Any:
        if isinstance(value, (list, tuple)) and has_chunked([value]):
            held = map(stand_in, value)
            return value._make(held) if hasattr(value, "_make") else type(value)(held)
        if type(value) is dict:
            return {name: stand_in(x) for name, x in value.items()}
        if not isinstance(value, da.Array):
            return value
        meta = getattr(value, "_meta", None)
        if type(meta) not in (np.ndarray, NoneType) and not isinstance(meta, np.generic):
            raise TypeProblem(
                f"{callee.__name__}: an argument is a dask array of {type(meta).__name__}, not of NumPy arrays",
                hint="convert its chunks with x.map_blocks(np.asarray), or let dask do the operation",
            )
        if any(math.isnan(n) for n in value.shape):
            raise Unsupported(
                f"{callee.__name__}: a dask array has chunks of unknown sizes",
                hint="call its compute_chunk_sizes() first",
            )
        made = np.broadcast_to(np.zeros((), value.dtype), value.shape)
        given[id(made)] = (made, value)
        return made

    args = [stand_in(x) for x in args]
    kwargs = {name: stand_in(x) for name, x in kwargs.items()}

    def plan() -> ChunkCall:
        if hasattr(callee, "_select"):
            kernel, values = callee._select(args, kwargs)
        else:
            kernel, values = callee, callee._in_order(args, kwargs)
        if taken_by(kernel._source).sizes:
            raise Unsupported(
                f"{callee.__name__} takes a size as an argument, which dask arrays can't follow",
                hint=f"fix the size: weft.jit(lambda x: {callee.__name__}(x, 10))",
            )
        values = tuple(given[id(x)][1] if id(x) in given else x for x in values)
        types = [_type(name, x) for name, x in zip(kernel.parameters, values, strict=True)]
        chunks = [x.chunks if isinstance(x, da.Array) else tuple((n,) for n in np.shape(x)) for x in values]
        made = plan_chunks(kernel._source, types, chunks, kernel._lookup, kernel._options, free)
        return ChunkCall(made, values, callee.__name__, kernel._options.backend)

    found: ChunkCall = callee._source.with_numbers(plan) if hasattr(callee, "_select") else plan()
    return found


def _type(name: str, value: Any) -> ArgType:
    if isinstance(value, da.Array):
        return ArgType(from_numpy(value.dtype), tuple(map(int, value.shape)))
    type = prepare(name, value).type
    return type if not isinstance(type.value, np.ndarray) else ArgType(type.dtype, type.shape)


def apply(
    kernel: Any, *args: Any, bits: str = "same", reload: bool | str = "auto", split_every: int = 16, **kwargs: Any
) -> Any:
    """Run a kernel on dask arrays, lazily: the result is one dask array, or as many as the kernel returns.

        y = weft.dask.apply(standardize, x, bits="require")

    bits: "same" merges float sums in the order of one machine where the chunks allow it; "require" raises an error
        where they do not; "free" merges in the order of the chunks, with fewer calls for each chunk.
    reload: whether a kernel that passes over its data several times reads it again each time (True), keeps it in
        memory (False), or reads again what comes straight from zarr ("auto").
    split_every: how many partial results one task merges.
    """
    if bits not in BITS:
        raise ValueProblem(f"bits must be 'same', 'free' or 'require', not {bits!r}")
    if reload not in (True, False, "auto"):
        raise ValueProblem(f"reload must be True, False or 'auto', not {reload!r}")
    if type(split_every) is not int or split_every < 2:
        raise ValueProblem(f"split_every must be an integer of at least 2, not {split_every!r}")
    call = planned(kernel, args, kwargs, free=bits == "free")
    if bits == "require" and not call.plan.split.same_bits:
        raise ValueProblem(
            f"{call.name}: with these chunks, bits may differ from those without dask ({call.plan.split.reasons[0]})",
            hint="weft.dask.align(kernel, ...) rechunks the arguments, or pass bits='same'",
        )
    return _Graph(call, reload, split_every).results()


def align(kernel: Any, *args: Any, **kwargs: Any) -> Any:
    """Rechunk the arguments of a kernel so that its float sums have the bits of one machine.

    Returns the positional arguments: one, or a tuple of them.
    """
    call = planned(kernel, args, kwargs)
    wanted = {}
    for number, lengths in enumerate(call.plan.lengths):
        every, full = call.plan.split.every[number], sum(lengths)
        length = max(every, round(max(lengths) / every) * every)
        wanted[number] = tuple(min(length, full - k) for k in range(0, full, length))
    moved = {
        id(value): value.rechunk(
            {a: wanted[c] for a, c in enumerate(call.plan.classes[k]) if c is not None and wanted[c] != value.chunks[a]}
        )
        for k, value in enumerate(call.values)
        if isinstance(value, da.Array)
    }
    found = tuple(moved.get(id(x), x) for x in args)
    return found[0] if len(found) == 1 else found


def explain(kernel: Any, *args: Any, **kwargs: Any) -> str:
    """Say how a kernel would run on these dask arrays: passes over the data, tasks, and whether bits are the same."""
    call = planned(kernel, args, kwargs)
    split, lengths = call.plan.split, call.plan.lengths
    lines = [f"{call.name} on chunks:"]
    parts: list[ChunkStage | ChunkFinish] = [*split.stages, *split.finishes]
    for number, part in enumerate(parts):
        tasks = math.prod(len(lengths[c]) for c in part.space if c is not None)
        what = f"stage {number}: {', '.join(map(_shown, part.partials))}" if isinstance(part, ChunkStage) else "finish"
        lines.append(
            f"  {what}: {tasks} task{'s' * (tasks != 1)}, one for each chunk"
            + (", then merge" if isinstance(part, ChunkStage) else "")
        )
    passes = len(split.stages) + any(_reads_input(f) for f in split.finishes)
    lines.append(f"  passes over the data: {passes}")
    if split.same_bits:
        lines.append("  bits: those of one machine")
    else:
        lines += ["  bits: may differ from one machine's by a few ULP", *(f"    {reason}" for reason in split.reasons)]
    return "\n".join(lines)


def _shown(partial: ChunkPartial) -> str:
    return "sum" if partial.kind in (MOMENTS, PARTS) else partial.op


def _reads_input(finish: ChunkFinish) -> bool:
    return any(s.kind == "input" and s.index for s in finish.piece.sources)


class _Graph:
    """Builds the dask arrays of one call."""

    def __init__(self, call: ChunkCall, reload: bool | str, split_every: int) -> None:
        self.call, self.plan, self.reload, self.split_every = call, call.plan, reload, split_every
        self.labels = count(WHOLE)
        given = [*call.values, *self.plan.built.hidden]
        for each in self.plan.built.lazy:
            given[len(call.values) + each.number] = each.array
        self.constants = {k: x for k, x in enumerate(given) if not isinstance(x, da.Array) and not np.shape(x)}
        self.inputs: dict[int, Any] = {}
        for k, x in enumerate(given):
            if k not in self.constants:
                chunks = self.plan.chunks[k]
                array = x if isinstance(x, da.Array) else da.from_array(np.asarray(x), chunks=chunks)
                self.inputs[k] = array if array.chunks == chunks else array.rechunk(chunks)
        self.merged: list[Any] = []

    def results(self) -> Any:
        split, graph = self.plan.split, self.plan.graph
        for number, stage in enumerate(split.stages):
            self.merged.append(self._stage(stage, number))
        outputs: list[Any] = [None] * len(graph.outputs)
        for finish in split.finishes:
            for number, made in zip(finish.outputs, self._finish(finish, len(split.stages)), strict=True):
                outputs[number] = made
        structure = self.plan.built.structure
        if structure is None:
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        return structure.pack(outputs)

    def _stage(self, stage: ChunkStage, number: int) -> Any:
        job = job_of(stage, self.plan.split, self.constants, self.call.backend)
        vars = job.vars
        ones = {v: (1,) * self._count(stage, v) for v in vars}
        states = self._blockwise(job, vars, number, np.uint8, adjust_chunks=ones)
        axes = tuple(k for k, v in enumerate(vars) if v in stage.reduced)
        return da.reduction(
            states, _kept, partial(Merging.run, merging_of(stage, True, self.call.backend)), axis=axes,
            combine=partial(Merging.run, merging_of(stage, False)),
            concatenate=False, split_every=self.split_every, dtype=np.uint8,
            meta=np.empty((0,) * (len(vars) - len(axes)), np.uint8),
        )  # fmt: skip

    def _finish(self, finish: ChunkFinish, number: int) -> list[Any]:
        job = job_of(finish, self.plan.split, self.constants, self.call.backend)
        values = [self.plan.graph.outputs[k] for k in finish.outputs]
        shape = [dims.evaluate(s, self.plan.begun.env) for s in values[0].type.shape]
        index = tuple(a if c is not None else next(self.labels) for a, c in enumerate(finish.space))
        chunks = {a: self.plan.own_lengths(c, finish.grown[a]) for a, c in enumerate(finish.space) if c is not None}
        fresh = {label: shape[a] for a, label in enumerate(index) if finish.space[a] is None}
        types = [v.type.dtype.numpy for v in values]
        if len(values) == 1:
            return [self._blockwise(job, index, number, types[0], adjust_chunks=chunks, new_axes=fresh)]
        packed = self._blockwise(job, index, number, np.uint8, adjust_chunks=chunks, new_axes=fresh)
        return [
            da.blockwise(
                partial(Unpacking.run, Unpacking(k)), index, packed, index, dtype=dtype,
                meta=np.empty((0,) * len(index), dtype), token=f"weft-{self.call.name}",
            )
            for k, dtype in zip(finish.outputs, types, strict=True)
        ]  # fmt: skip

    def _count(self, part: ChunkStage | ChunkFinish, var: int) -> int:
        number = part.space[var]
        assert number is not None
        return len(self.plan.lengths[number])

    def _blockwise(self, job: Job, index: Sequence[int], number: int, dtype: Any, **more: Any) -> Any:
        pairs: list[Any] = []
        for var in job.placed:
            c = job.part.space[var]
            assert c is not None
            pairs += [_places(self.plan.lengths[c]), (var,)]
        # A whole axis is one block, which dask repeats along any label. A label that the result lacks would keep dask
        # from fusing this task with the reads before it.
        spare = index[0] if index else next(self.labels)
        for feed in job.blocks:
            if feed.kind == "stage":
                pairs += [self.merged[feed.number], feed.vars]
            else:
                labels = tuple(spare if v is None else v for v in feed.vars)
                pairs += [_with_margins(self._again(feed.number, number), feed.around), labels]
        return da.blockwise(
            partial(Job.run, job), tuple(index), *pairs, dtype=dtype, align_arrays=False, concatenate=None,
            meta=np.empty((0,) * len(index), dtype), token=f"weft-{self.call.name}", **more,
        )  # fmt: skip

    def _again(self, k: int, number: int) -> Any:
        """The input for a pass over the data, read again if requested."""
        array = self.inputs[k]
        if number == 0 or self.reload is False:
            return array
        if self.reload == "auto" and not array.name.startswith(PURE):
            return array
        return clone(array, seed=number)


def _with_margins(array: Any, around: Sequence[tuple[int, int]]) -> Any:
    """An array whose blocks include some elements of their neighbours, before and after along each axis."""
    if not around:
        return array
    depth = dict(enumerate(around))
    if "_array_expr" not in type(array).__module__:
        return overlap(array, depth, dict.fromkeys(depth, "none"), allow_rechunk=False)
    for axis, (before, after) in depth.items():  # in this mode `overlap` loses blocks that others need
        ends = [0, *accumulate(array.chunks[axis])]
        if before or after:
            parts = (slice(max(0, a - before), b + after) for a, b in pairwise(ends))
            whole = [array[(slice(None),) * axis + (part,)].rechunk({axis: -1}) for part in parts]
            array = da.concatenate(whole, axis=axis)
    return array


def _places(lengths: Sequence[int]) -> Any:
    """For each chunk of an axis, where it begins and ends: as a part of its task if dask can, else as an array."""
    if ArraySliceDep is not None:
        return ArraySliceDep((tuple(lengths),))
    ends = np.cumsum((0, *lengths))
    return da.from_array(np.stack([ends[:-1], ends[1:]], axis=1).reshape(-1), chunks=2)


def _kept(block: Any, axis: Any = None, keepdims: Any = None) -> Any:
    return block


def check_out(name: str, out: Any) -> None:
    """A dask array can't be written into."""
    if out is not None:
        raise TypeProblem(f"{name}: out= is not for dask arrays", hint="use the result")
