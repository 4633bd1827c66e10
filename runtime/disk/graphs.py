"""Convert a compiled graph with its machine code to one cache entry and back."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from ...backends.llvm.engine.library import LoadedCode
from ...ir.errors import WeftError
from ...ir.graph import Graph, Node
from ...ir.opdef import OpDef, Trait
from ...ir.ops import NUMPY, TABLE
from ...ir.source import Built, Structure
from ...ir.walking import regions, walk
from ..launch import Launcher, NativeRegion
from ..loaded import Loaded
from .codec import JsonWriter, Reader, as_json, read_json, size

if TYPE_CHECKING:
    from ...passes.manager import Pass, PipelineResult
    from ..compiler import Lowered, Options
    from ..registry import Uses
    from ..registry.state import State

Whole = Callable[[], "Lowered"]
Known = tuple[Built, tuple[tuple[int, ...], ...], tuple[int, ...], bool]
"""A graph as it was built, the orders of its results, which of them are numbers, and whether they may lie anyhow."""


class StoredResult:
    """The result of the passes: the last graph is stored, and those in between are recomputed when needed.

    Loop nests are stored only for IR that was read as text, which may have been edited; others are made again.
    """

    def __init__(self, graph: Graph, whole: Whole, nests: list[str | None] | None) -> None:
        self.graph = graph
        self._whole, self._nests = whole, nests
        self._made: Lowered | None = None

    def _result(self) -> Any:
        self._made = self._made or self._whole()
        return self._made.result

    def whole(self) -> PipelineResult:
        """Run the passes again, for the graphs between them."""
        found: PipelineResult = self._result()
        return found

    @property
    def passes(self) -> tuple[str, ...]:
        found: tuple[str, ...] = self._result().passes
        return found

    @property
    def snapshots(self) -> tuple[Graph, ...]:
        found: tuple[Graph, ...] = self._result().snapshots
        return found

    @property
    def timings(self) -> Mapping[str, float]:
        """Return nothing, because the passes did not run."""
        return {}

    def after(self, name: str | None = None) -> Graph:
        """Return the graph after a pass."""
        found: Graph = self._with_nests() if name is None else self._result().after(name)
        return found

    def _with_nests(self) -> Graph:
        from ...ir.nest.text import read_nest
        from ...passes.manager import run_pass
        from ...passes.to_nest import ToNest

        if self._nests is None:
            return run_pass(ToNest(), self.graph)
        for region, text in zip(regions(self.graph), self._nests, strict=True):
            region.code = None if text is None else read_nest(text, "<cache>")
        return self.graph

    def with_last(self, step: Pass) -> PipelineResult:
        """Return the result with other forms."""
        found: PipelineResult = self._result().with_last(step)
        return found

    def ir(self, after: str | None = None, locations: bool = False) -> str:
        """Print the graph after a pass."""
        from ...ir.text.printer import print_graph

        return print_graph(self.after(after), locations, self.label(after))

    def label(self, after: str | None) -> str:
        """Return the pass that a printed snapshot names."""
        if after is None:  # the last graph is stored, so naming its pass does not run it
            from ...passes.to_nest import ToNest

            return ToNest.name
        found: str = self._result().label(after)
        return found


class StoredUses:
    """The condition of a stored graph: users have registered nothing for the ops it uses."""

    def __init__(self, generation: int, asked: list[str]) -> None:
        self.generation = generation
        self.implementations: dict[str, tuple[Any, ...]] = dict.fromkeys(asked, ())

    def equals(self) -> list[Any]:
        """Return nothing: a stored graph uses no implementations of users."""
        return []

    def are_current(self, state: State) -> bool:
        return state.generation == self.generation or not any(map(state.user.get, self.implementations))


def can_be_stored(lowered: Lowered) -> bool:
    """Tell whether a graph is pure data and only Weft's own: no Python function, no user's op or implementation."""
    theirs = lowered.uses is not None and any(lowered.uses.implementations.values())
    is_data = all(_is_data(graph) for graph in (lowered.graph, lowered.built.graph))
    return is_data and not theirs and not lowered.built.calls


def _is_data(graph: Graph) -> bool:
    return all(n.op is not NUMPY and _is_ours(n.op) and (n.body is None or _is_data(n.body)) for n in graph)


def _is_ours(op: OpDef) -> bool:
    """Tell whether an op comes with Weft: from the fixed table, or as a bundled kernel such as `softmax`."""
    if op.name in TABLE:
        return TABLE[op.name] is op
    from ..registry.bundled import composites

    return op.name in composites()


def content_of(lowered: Lowered, code: bytes, with_source: bool) -> bytes:
    """Serialise an entry; `with_source` is for kernels that are looked up before their graph is built."""
    writer = JsonWriter()
    places = {node: k for k, node in enumerate(walk(lowered.graph))}
    content = {
        "final": writer.graph(lowered.graph),
        "functions": [writer.function(f) for f in lowered.program.functions],
        "regions": [places[r] for r in lowered.program.regions],
        "guards": [[size(left), size(right)] for left, right in lowered.guards],
        "family": lowered.family,
        "asked": sorted(lowered.uses.implementations) if lowered.uses is not None else [],
    }
    if lowered.built.after is not None:
        content["nests"] = [_nest(region) for region in lowered.program.regions]
    if with_source:
        structure = lowered.built.structure
        assert not lowered.built.hidden
        content["source"] = {
            "graph": writer.graph(lowered.built.graph),
            "structure": None if structure is None else structure.kind,
            "orders": lowered.orders,
            "scalars": lowered.scalars,
            "any_order": lowered.any_order,
        }
    content |= {"table": writer.table, "ops": writer.ops}
    header = as_json(content)
    return struct.pack("<I", len(header)) + header + code


def _nest(region: Node) -> str | None:
    from ...ir.text.printer import print_nest

    return None if region.code is None else print_nest(region.code, locations=True)


def restored(
    content: bytes,
    options: Options,
    generation: int,
    whole: Whole,
    known: Known | None = None,
) -> Lowered | None:
    """Restore the graph of an entry; `known` supplies what entries without a source omit. None is a miss."""
    try:
        return _restored(content, options, generation, whole, known)
    except (KeyError, ValueError, TypeError, IndexError, struct.error, WeftError, RecursionError):
        return None


def _restored(content: bytes, options: Options, generation: int, whole: Whole, known: Known | None) -> Lowered:
    from ..compiler import Lowered

    start = time.perf_counter()
    (length,) = struct.unpack_from("<I", content)
    found = read_json(content[4 : 4 + length])
    reader = Reader(found["table"], _ops(found["ops"]))
    graph = reader.graph(found["final"])
    functions = [reader.function(f) for f in found["functions"]]
    built, orders, scalars, any_order = known or _source(reader, found["source"])
    library = LoadedCode(content[4 + length :], [p.name for f in functions for p in f.parts])
    nodes = list(walk(graph))
    kernels = {
        nodes[place]: NativeRegion(nodes[place], function, library.addresses)
        for place, function in zip(found["regions"], functions, strict=True)
    }
    made = Lowered(
        built, StoredResult(graph, whole, found.get("nests")), options, orders, scalars, any_order,
        uses=cast("Uses", StoredUses(generation, found["asked"])), known_guards=reader.guards(found["guards"]),
        known_family=found["family"], loaded=Loaded(Launcher(graph, kernels, (), library)),
    )  # fmt: skip
    made.loaded.seconds["from disk"] = time.perf_counter() - start
    return made


def _ops(found: Mapping[str, Any]) -> dict[str, OpDef]:
    if not found:
        return {}
    return {
        name: _deferred_op(name, arity, frozenset(Trait[t] for t in traits)) for name, (arity, traits) in found.items()
    }


def _deferred_op(name: str, arity: int | None, traits: frozenset[Trait]) -> OpDef:
    """Make the op of a bundled kernel, whose text is read only when a rule of the op is asked for.

    A graph from the disk needs to know only how the result lies in memory, which the traits say.
    """

    @cache
    def known() -> OpDef:
        from ..registry.bundled import composites
        from ..registry.opdefs import op_of

        return op_of(name, (composites()[name],), lambda *_: None)

    return OpDef(
        name, arity, lambda dtypes, attrs: known().dtypes(dtypes, attrs),
        lambda facts, shapes, attrs: known().shapes(facts, shapes, attrs), traits, "A bundled kernel.",
    )  # fmt: skip


def _source(reader: Reader, found: Any) -> Known:
    structure = found["structure"]
    built = Built(
        reader.graph(found["graph"]),
        structure=None if structure is None else Structure(structure),
    )
    return built, tuple(map(tuple, found["orders"])), tuple(found["scalars"]), found["any_order"]
