"""Describe a lowered graph in words: its kernels, what was not fused, bytes and times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ..ir import dims
from ..ir.dims import Size
from ..ir.forms import CHUNKS, EITHER, FLAT, SMALL_PRODUCT, WINDOWS, has_rows_in_lanes, region_guards, vectors_at_once
from ..ir.graph import Graph, Node, Value
from ..ir.loops import body_of, graphs, regions, walk
from ..ir.ops import CONSTANT, LOOP, NUMPY, REGION, RESHAPE, SIZE
from ..ir.records import record, replace
from ..ir.stages import region_stages
from ..ir.types import AxisGroups, Sizes, integer, ints, sizes

PASS = "pass "


@record
class KernelStory:
    """One native loop nest: its operations and their implementations, its space, and the bytes it moves.

    `depth` counts the loops over whole arrays around it.
    """

    operations: tuple[str, ...]
    choices: tuple[str, ...]
    space: str
    reduced: tuple[int, ...]
    reads: str
    writes: str
    plan: str
    sizes: str
    depth: int = 0


@record
class Explanation:
    """What a graph was compiled to; `str()` gives readable text."""

    name: str
    kernels: tuple[KernelStory, ...]
    unfused: tuple[str, ...]
    fallbacks: tuple[str, ...]
    chosen: tuple[str, ...]
    materialised: tuple[str, ...]
    seconds: Mapping[str, float]
    critical: tuple[str, ...] = ()

    @staticmethod
    def of(
        graph: Graph, passes: Mapping[str, float], stages: Mapping[str, float], fallbacks: tuple[str, ...]
    ) -> Explanation:
        own = {str(n.attrs["function"]): _registered(n) for n in walk(graph) if n.op is NUMPY and "impl" in n.attrs}
        return Explanation(
            graph.name,
            tuple(_stories(graph)),
            _texts(graph, "unfused"),
            tuple(name for name in fallbacks if name not in own),
            (*_texts(graph, "chosen"), *own.values()),
            tuple(_materialised(n) for n in walk(graph) if n.op is RESHAPE),
            _split(stages, passes),
            _critical_path(graph),
        )

    def _repr_html_(self) -> str:
        from .views import explanation_html

        return explanation_html(self)

    def __str__(self) -> str:
        count = len(self.kernels)
        lines = [f"{self.name}: {count} native kernel{'s' * (count != 1)}"]
        for k, story in enumerate(self.kernels):
            inside = " in each step of a loop" + " inside of another" * (story.depth - 1) if story.depth else ""
            over = f", reducing axes {', '.join(map(str, story.reduced))}" if story.reduced else ""
            lines += [
                f"  kernel {k}: {len(story.operations)} operations over {story.space}{over}{inside}",
                f"    fused: {' '.join(story.operations) or 'a copy'}",
                f"    implementations: {', '.join(story.choices) or 'none needed'}",
                f"    reads {story.reads} bytes, writes {story.writes} bytes",
                f"    {story.plan}",
            ]
            lines += [f"    compiled for {story.sizes}"] if story.sizes else []
        if len(self.critical) > 1:
            lines.append(f"  critical path: {' -> '.join(self.critical)}")
        lines += [f"  chosen for {what}" for what in self.chosen]
        lines += [f"  between kernels: {name}" for name in self.fallbacks]
        lines += [f"  in memory: {what}" for what in self.materialised]
        lines += [f"  not fused: {why}" for why in self.unfused]
        lines += [f"  {'  ' * (PASS in what)}{what}: {1000 * s:.2f} ms" for what, s in self.seconds.items()]
        return "\n".join(lines)


def _texts(graph: Graph, name: str) -> tuple[str, ...]:
    found: list[str] = []
    for each in graphs(graph):
        texts = each.attrs.get(name, ())
        assert isinstance(texts, tuple)
        found += map(str, texts)
    return tuple(found)


def _registered(node: Node) -> str:
    """Describe a user's registered function, which runs between compiled pieces."""
    return f"{node.attrs['function']}: {node.attrs['impl']}, score {node.attrs['score']}"


def _split(stages: Mapping[str, float], passes: Mapping[str, float]) -> dict[str, float]:
    """List where the time of the first call went, in order; the total of the passes comes before each of them."""
    seconds: dict[str, float] = {}
    for what, s in stages.items():
        seconds[what] = s
        if what == "passes":
            seconds |= {f"{PASS}{name}": each for name, each in passes.items()}
    return seconds


def _stories(graph: Graph, depth: int = 0) -> Iterator[KernelStory]:
    for node in graph:
        if node.op is REGION:
            yield replace(_story(node), depth=depth)
        elif node.op is LOOP:
            yield from _stories(body_of(node), depth + 1)


def _critical_path(graph: Graph) -> tuple[str, ...]:
    """Describe the longest chain of dependent steps, or nothing if there is only one step."""
    numbers = {region: k for k, region in enumerate(regions(graph))}
    names: dict[Node, str] = {}
    for node in graph:
        if node.op is REGION:
            names[node] = f"kernel {numbers[node]}"
        elif node.op is LOOP:
            names[node] = f"loop of {len(regions(body_of(node)))} kernels"
        elif node.op is NUMPY:
            names[node] = str(node.attrs["function"])
    if len(names) < 2:
        return ()
    import networkx as nx

    reads = nx.DiGraph()
    reads.add_nodes_from(graph)
    for node in graph:
        sources = (value.node for value in node.operands if value.node is not None)
        reads.add_weighted_edges_from((source, node, int(node in names)) for source in sources)
    return tuple(names[node] for node in nx.dag_longest_path(reads) if node in names)


def _story(region: Node) -> KernelStory:
    assert region.body is not None
    named = [n for n in region.body if n.op not in (CONSTANT, SIZE)]
    choices: dict[str, int] = {}
    for node in named:
        if "impl" in node.attrs:
            key = f"{node.attrs['impl']} (score {node.attrs['score']})"
            choices[key] = choices.get(key, 0) + 1
    return KernelStory(
        tuple(n.op.name for n in named),
        tuple(f"{count} x {key}" for key, count in choices.items()),
        str(sizes(region.attrs, "space")).removeprefix("#weft.dims"),
        ints(region.attrs, "reduced"),
        _bytes(region.operands),
        _bytes(region.results),
        _plan(region),
        _sizes(region),
    )


def _bytes(values: Sequence[Value]) -> str:
    total: dims.Size = 0
    for value in values:
        total = total + dims.product((value.type.dtype.size, *value.type.shape))
    return str(total)


def _plan(region: Node) -> str:
    attrs = region.attrs
    if "registers" in attrs:
        (rows, vectors), blocks = ints(attrs, "registers"), ints(attrs, "blocks")
        stages = ""
        if "row_width" in attrs:
            lanes = ", a row in each lane," if has_rows_in_lanes(region) else ""
            stages = f"; stages over rows in vectors of {attrs['row_width']}{lanes} when a block of rows is finished"
        if attrs.get("form") == SMALL_PRODUCT:
            return (
                f"tiles of at most {rows * vectors // 2} rows by 2 vectors of {attrs['width']}, for few terms{stages}"
            )
        return (
            f"tiles of {rows} rows by {vectors} vectors of {attrs['width']}; "
            f"blocks of {blocks[0]} rows, {blocks[1]} columns and {blocks[2]} terms{stages}"
        )
    loops = [f"{kind} {' '.join(_groups(region, kind).texts) or 'none'}" for kind in ("rows", "columns")]
    loops.append(f"vectors of {attrs['width']} along axis {attrs['vector']}, {_at_once(region)}")
    if "jam" in attrs:
        axis, count = ints(attrs, "jam")
        loops.append(f"{count} rows together along axis {axis}")
    return "; ".join([*loops, *_form(region), *_memory(region)])


def _groups(region: Node, kind: str) -> AxisGroups:
    groups = region.attrs[kind]
    assert isinstance(groups, AxisGroups)
    return groups


def _at_once(region: Node) -> str:
    """Describe how many vectors a step processes; column reductions may use another number."""
    stages = region_stages(region)
    walks = [(r, vectors_at_once(region, r)) for r, o in zip(stages.reductions, stages.outputs, strict=True) if r or o]
    reducing, others = ({count for r, count in walks if bool(r) is wanted} for wanted in (True, False))
    if len(reducing | others) < 2:
        return f"{next(iter(reducing | others), integer(region.attrs, 'unroll'))} at once"
    return f"{others.pop()} at once, {reducing.pop()} where it reduces"


def _form(region: Node) -> Iterator[str]:
    attrs = region.attrs
    if has_rows_in_lanes(region):
        yield "a row in each lane"
    if attrs["form"] == FLAT:
        yield "through several short rows at a time"
    if attrs["form"] == CHUNKS:
        yield f"columns in chunks of {attrs['chunk']} blocks"
    if attrs["form"] == EITHER:
        yield f"in chunks of {attrs['chunk']} blocks from {attrs['cut_from']} columns on"
    if "lines" in attrs:
        yield f"{attrs['lines']} lines together, aligned to the first"
    if attrs.get("shared_walks"):
        yield "sums share a walk with what they need"
    if attrs.get("early_exit"):
        yield "a walk is over at the first true element"
    if attrs.get("spread"):
        yield "the last stage line by line"
    if attrs["form"] == WINDOWS:
        taps = " by ".join(str(n) if n else "any" for n in ints(attrs, "taps"))
        yield f"windows of {taps} along {', '.join(map(str, ints(attrs, 'windows')))} in registers"


def _memory(region: Node) -> Iterator[str]:
    attrs, first = region.attrs, len(region.operands)
    for node in region.body or ():
        if "keep" in node.attrs:
            yield f"{node.op.name} kept in {node.attrs['keep']}"
    if "peel" in attrs:
        slot = integer(attrs, "peel")
        yield f"aligned to {f'operand {slot}' if slot < first else f'result {slot - first}'}"
    if attrs.get("stream"):
        yield "non-temporal stores"
    if "prefetch" in attrs:
        ahead, level = ints(attrs, "prefetch")
        yield f"prefetches {ahead} {'chunk' if attrs.get('shared_walks') else 'lines'} ahead into cache {level}"


def _sizes(region: Node) -> str:
    """Describe the sizes that a region's form is for."""
    return " and ".join(_guard(left, right) for left, right in region_guards(region))


def _guard(left: Size, right: Size) -> str:
    """Write an equality the way people say it: `min(16, m) == m` is m <= 16."""
    for bound, sign in ((dims.minimum, "<="), (dims.maximum, ">=")):
        for limit in _numbers(left):
            if bound(right, limit) == left:
                return f"{right} {sign} {limit}"
    return f"{right} == {left}"


def _numbers(size: Size) -> list[int]:
    """Return the numbers among the arguments of a minimum or maximum."""
    if isinstance(size, int):
        return []
    return [arg for monomial, _ in size.terms for atom in monomial for arg in atom.args if isinstance(arg, int)]


def _materialised(node: Node) -> str:
    return f"reshape of {Sizes(node.operands[0].type.shape)} to {Sizes(node.result.type.shape)} merges axes"
