"""List the variants of a compiled graph that are worth trying for the sizes of a call."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...ir import dims
from ...ir.forms import FLAT, LONG_STEP, has_rows_in_lanes, reduces_across
from ...ir.graph import Node
from ...ir.layouts import C, F
from ...ir.ops import CONSTANT
from ...ir.types import integer, sizes
from .. import threads
from ..deferred import DEFAULT
from .choosing import Candidate
from .workload import Workload

if TYPE_CHECKING:
    from ..compiler import Lowered, Variant

PICO = 1e-12
CALL = 150e-9  # seconds for a call without its loops
UNLIKELY = 1.1  # the body's own choice is expected to be this much faster than others
CACHE = 1 << 20
STREAMED = 1 << 20  # bytes of a call from which non-temporal stores may pay off


def family_of(lowered: Lowered) -> str:
    """Name a graph: the same program, layouts and machine give the same name in every process."""
    text = f"{lowered.options.machine}\n{lowered.ir(after='input')}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def workload_of(lowered: Lowered, env: Mapping[str, int]) -> Workload:
    """Describe the work of a call with these sizes."""
    size = total = operations = 0
    for region in lowered.kernels:
        assert region.body is not None
        space = math.prod(dims.evaluate(s, env) for s in sizes(region.attrs, "space"))
        size += space
        operations += space * sum(n.op is not CONSTANT for n in region.body)
        for value in (*region.operands, *region.results):
            total += value.type.dtype.size * math.prod(dims.evaluate(s, env) for s in value.type.shape)
    rank = max((len(sizes(region.attrs, "space")) for region in lowered.kernels), default=0)
    layouts = lowered.graph.attrs.get("layouts", ())
    assert isinstance(layouts, tuple)
    strided = int(any(x not in (C, F, "scalar") for x in layouts))
    return Workload(lowered.family, lowered.graph.name, size, total, operations, rank, strided, threads.get_threads())


def variant_name(variant: Variant) -> str:
    return " ".join(f"{option}={value}" for option, value in variant) or DEFAULT


def variants_of(lowered: Lowered, load: Workload) -> dict[str, Variant]:
    """Return variants that may be faster, by name: other unrolling, vectors, tiles, threads or implementations."""
    regions = lowered.kernels
    found: list[Variant] = [()]
    unrolls = {integer(r.attrs, "unroll") for r in regions if not _has_own_unroll(r)}
    found += [(("unroll", n),) for n in (1, 2, 4, 8) if unrolls and unrolls != {n}]
    if lowered.options.machine.vector_bytes > 32:
        found.append((("vector_bytes", 32),))
    tiles = {integer(r.attrs, "tile") for r in regions if "tile" in r.attrs}
    found += [(("tile", n),) for n in (64, 256) if tiles and tiles != {n}]
    time = work_of(lowered, load)
    if load.threads > 1 and time >= threads.SHORT:
        found.append((("share", 0),))
    if load.bytes >= STREAMED and not any(r.attrs["columns"] for r in regions):
        found.append((("stream", -1 if any(r.attrs.get("stream") for r in regions) else 1),))
    found += [((f"impl {each.op}", each.name),) for each in (lowered.uses.equals() if lowered.uses is not None else ())]
    return {variant_name(v): v for v in found}


def _has_own_unroll(region: Node) -> bool:
    """Tell whether a region's form fixes the number of vectors per step, whatever `schedule` is told."""
    in_long_steps = reduces_across(region) and integer(region.attrs, "unroll") == LONG_STEP
    return in_long_steps or has_rows_in_lanes(region) or region.attrs.get("form") == FLAT


def tells_in_calls(variant: Variant) -> bool:
    """Tell whether single calls show a variant's speed: threads fall asleep between them, which makes it seem slow."""
    return all(option != "share" for option, _ in variant)


def candidates_of(lowered: Lowered, load: Workload) -> list[Candidate]:
    """Return the variants with their expected times before anything is measured."""
    work = work_of(lowered, load)
    cached = min(1.0, CACHE / max(1, load.bytes))
    found = []
    for name, variant in variants_of(lowered, load).items():
        at_once = load.threads if work >= threads.SHARED and ("share", 0) not in variant else 1
        expected = CALL + work * PICO / at_once
        found.append(Candidate(name, expected * (UNLIKELY if variant else 1.0), 0, cached))
    return found


def work_of(lowered: Lowered, load: Workload) -> int:
    """Estimate the picoseconds on one thread: the same for all variants of a graph."""
    costs = [integer(r.attrs, "cost") for r in lowered.kernels]
    return load.size * sum(costs) // max(1, len(costs))
