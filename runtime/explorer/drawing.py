"""Lay out a graph as SVG: operations in layers, kernels and loops as boxes around them, reasons on the borders.

Layers follow the longest path from the inputs. Inside a layer, nodes move towards the middle of their neighbours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from textwrap import wrap

from ...ir.graph import Graph, Node, Value
from ...ir.ops import CONSTANT, LOOP, NUMPY, REGION, SIZE
from ...ir.records import record
from ...ir.types import sizes
from .identity import Identities
from .listing import type_text, value_text

LETTER, ROW, GAP, PAD, TITLE = 7.0, 26.0, 14.0, 14.0, 24.0
LAYER, LABEL_WIDTH, LABEL_LINE = 34.0, 42, 14.0
ASIDE = 46.0  # how far an arrow that skips layers goes around what is between
MANY = 4  # readers of an input from which on its name is written into them, in place of arrows
Reasons = Mapping[tuple[int, int], str]


@record
class Box:
    """Something drawn: its size, what is inside relative to its corner, and the classes that style it."""

    key: object
    width: float
    height: float
    svg: str


@record
class Arrow:
    """An arrow between two boxes; `reason` says why they are not one."""

    source: object
    target: object
    type: str
    reason: str


def draw(graph: Graph, ids: Identities, reasons: Reasons) -> str:
    """Return the SVG of a graph."""
    numbers = _Numbers()
    body, width, height = _layout(*_parts(graph, ids, reasons, numbers))
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    arrow = (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="graph">{arrow}{body}</svg>'


class _Numbers:
    """Count kernels in the order in which they run."""

    def __init__(self) -> None:
        self.kernels = 0

    def next(self) -> int:
        self.kernels += 1
        return self.kernels - 1


def _parts(
    graph: Graph, ids: Identities, reasons: Reasons, numbers: _Numbers, given: Sequence[Value] | None = None
) -> tuple[list[Box], list[Arrow]]:
    """Return the boxes of a graph and the arrows between them. Constants are written into their readers."""
    boxes: list[Box] = []
    edges: list[Arrow] = []
    of: dict[Value, object] = {}
    hidden = {v: _written(n) for n in graph if n.op in (CONSTANT, SIZE) for v in n.results}
    readers = Counter(v for n in graph for v in dict.fromkeys(n.operands))
    for k, value in enumerate(graph.inputs):
        name = _label(given[k]) if given and k < len(given) else value.name or "input"
        if readers[value] > MANY and given is not None:
            hidden[value] = name
        if value in readers or value in graph.outputs:
            of[value] = value
            boxes.append(_pill(value, f"{name}: {type_text(value.type)}", "in", ids[value]))
    for node in graph:
        if node.results and all(v in hidden for v in node.results):
            continue
        boxes.append(_box(node, ids, reasons, numbers, hidden))
        for value in dict.fromkeys(node.operands):
            if value not in hidden and value in of:
                edges.append(Arrow(of[value], node, type_text(value.type), _reason(of[value], node, ids, reasons)))
        of.update(dict.fromkeys(node.results, node))
    for k, value in enumerate(graph.outputs if given is None else ()):
        key = ("out", k)
        boxes.append(_pill(key, f"result: {type_text(value.type)}", "out", ids[value]))
        if value in of:
            edges.append(Arrow(of[value], key, type_text(value.type), ""))
    return boxes, edges


def _reason(source: object, target: Node, ids: Identities, reasons: Reasons) -> str:
    """Return why two neighbours are not one kernel."""
    if not isinstance(source, Node):
        return ""
    if source.op is REGION and target.op is REGION:
        return reasons.get((ids[source], ids[target]), "")
    other = source if source.op is not REGION else target
    if REGION not in (source.op, target.op):
        return ""
    if other.op is NUMPY:
        return f"NumPy runs {other.attrs['function']}, on arrays in memory"
    if other.op is LOOP:
        return "a loop over whole arrays keeps its state in memory"
    return f"a {other.op.name} reads an array in memory"


def _box(node: Node, ids: Identities, reasons: Reasons, numbers: _Numbers, hidden: Mapping[Value, str]) -> Box:
    if node.op in (REGION, LOOP) and node.body is not None:
        title = f"kernel {numbers.next()}" if node.op is REGION else "loop"
        if node.op is REGION:
            title += f" over [{', '.join(map(str, sizes(node.attrs, 'space')))}]"
        inside, own, height = _layout(*_parts(node.body, ids, reasons, numbers, node.operands))
        width = max(own, LETTER * len(title) + 2 * PAD)
        kind = "region" if node.op is REGION else "loop"
        svg = (
            f'<g class="{kind}" data-op="{ids[node]}"><rect class="frame" width="{width:.1f}" '
            f'height="{height + TITLE:.1f}" rx="8"/><text class="title" x="{PAD}" y="17">{escape(title)}</text></g>'
            f'<g transform="translate({(width - own) / 2:.1f} {TITLE - 6})">{inside}</g>'
        )
        return Box(node, width, height + TITLE, svg)
    text = node.op.name if node.op is not NUMPY else f"numpy {node.attrs['function']}"
    written = [hidden[v] for v in node.operands if v in hidden]
    text += f" {', '.join(written)}" if written else ""
    return _pill(node, text, "numpy" if node.op is NUMPY else "op", ids[node])


def _written(node: Node) -> str:
    """Return the text of a constant or a size."""
    return value_text(node.attrs["value"]) if node.op is CONSTANT else ", ".join(map(str, sizes(node.attrs, "size")))


def _label(value: Value) -> str:
    """Return a name for what a kernel is given: its own, or the operation that made it."""
    node = value.node
    if node is None:
        return value.name or "input"
    inside = node.body.outputs[value.index].node if node.op is REGION and node.body is not None else node
    return inside.op.name if inside is not None else "copy"


def _pill(key: object, text: str, kind: str, number: int) -> Box:
    shown = text if len(text) <= 44 else f"{text[:43]}…"
    width = LETTER * len(shown) + 18
    svg = (
        f'<g class="{kind}" data-op="{number}"><title>{escape(text)}</title><rect width="{width:.1f}" height="{ROW}" '
        f'rx="{ROW / 2}"/><text x="{width / 2:.1f}" y="17" text-anchor="middle">{escape(shown)}</text></g>'
    )
    return Box(key, width, ROW, svg)


def _layout(boxes: Sequence[Box], edges: Sequence[Arrow]) -> tuple[str, float, float]:
    """Place boxes in layers, and return their SVG with its size."""
    if not boxes:
        return "", 2 * PAD, 2 * PAD
    layer = _layers(boxes, edges)
    rows: list[list[Box]] = [[] for _ in range(max(layer.values()) + 1)]
    for box in boxes:
        rows[layer[box.key]].append(box)
    _order(rows, edges)
    labels = {edge: wrap(edge.reason, LABEL_WIDTH) for edge in edges if edge.reason}
    x = _across(rows, edges)
    y, tops = PAD, list[float]()
    for k, row in enumerate(rows):
        tops.append(y)
        below = [lines for edge, lines in labels.items() if layer[edge.source] == k]
        lines = sum(len(text) for text in below) + len(below)
        y += max(box.height for box in row) + LAYER + (lines * LABEL_LINE if below else 0)
    height = y - LAYER + PAD
    width = max(x[box.key] + box.width for box in boxes) + PAD
    if any(layer[edge.target] - layer[edge.source] > 1 for edge in edges):
        width += ASIDE / 2
    if labels:
        width = max(width, LABEL_WIDTH * 6.2 + 4 * PAD)
    by_key = {box.key: box for box in boxes}
    parts = [_arrow(edge, by_key, x, tops, layer) for edge in edges]
    parts += [f'<g transform="translate({x[b.key]:.1f} {tops[layer[b.key]]:.1f})">{b.svg}</g>' for b in boxes]
    parts += _labels(labels, by_key, x, tops, layer)
    return "".join(parts), width, height


def _layers(boxes: Sequence[Box], edges: Sequence[Arrow]) -> dict[object, int]:
    """Return the longest path to each box, then move each box down to just above its first reader."""
    layer: dict[object, int] = {box.key: 0 for box in boxes}
    into: dict[object, list[object]] = {}
    for edge in edges:
        into.setdefault(edge.target, []).append(edge.source)
    for box in boxes:  # boxes are in topological order
        layer[box.key] = max((layer[source] + 1 for source in into.get(box.key, ())), default=0)
    readers: dict[object, list[object]] = {}
    for edge in edges:
        readers.setdefault(edge.source, []).append(edge.target)
    for box in reversed(boxes):
        if box.key in readers:
            layer[box.key] = min(layer[target] for target in readers[box.key]) - 1
    used = {row: k for k, row in enumerate(sorted(set(layer.values())))}
    return {key: used[row] for key, row in layer.items()}


def _order(rows: list[list[Box]], edges: Sequence[Arrow]) -> None:
    """Sort each row by the mean place of its neighbours, downwards and upwards, twice."""
    for down in (True, False, True, False):
        near: dict[object, list[object]] = {}
        for edge in edges:
            one, other = (edge.target, edge.source) if down else (edge.source, edge.target)
            near.setdefault(one, []).append(other)
        place = {box.key: k / max(1, len(row)) for row in rows for k, box in enumerate(row)}
        for row in rows if down else reversed(rows):
            means = {b.key: _mean([place[o] for o in near.get(b.key, ())], place[b.key]) for b in row}
            row.sort(key=lambda b: means[b.key])
            place |= {box.key: (k + 0.5) / len(row) for k, box in enumerate(row)}


def _across(rows: list[list[Box]], edges: Sequence[Arrow]) -> dict[object, float]:
    """Return the left edges: each row is packed, then boxes move to the middle of their neighbours where room is."""
    near: dict[object, list[object]] = {}
    for edge in edges:
        near.setdefault(edge.source, []).append(edge.target)
        near.setdefault(edge.target, []).append(edge.source)
    x: dict[object, float] = {}
    widest = max(sum(b.width + GAP for b in row) for row in rows)
    half = {b.key: b.width / 2 for row in rows for b in row}
    for row in rows:
        left = PAD + (widest - sum(b.width + GAP for b in row)) / 2
        for box in row:
            x[box.key] = left
            left += box.width + GAP
    for _ in range(4):
        for row in rows:
            wanted = [
                _mean([x[o] + half[o] for o in near.get(b.key, ())], x[b.key] + half[b.key]) - half[b.key] for b in row
            ]
            for box, left in zip(row, _spread(row, wanted), strict=True):
                x[box.key] = left
    first = min(x.values())
    return {key: left - first + PAD for key, left in x.items()}


def _spread(row: Sequence[Box], wanted: Sequence[float]) -> list[float]:
    """Place boxes side by side, as near to the wanted places as their widths allow."""
    blocks: list[tuple[float, float, int]] = []  # left edge, width and boxes of groups that touch
    for box, want in zip(row, wanted, strict=True):
        left, width, count = want, box.width + GAP, 1
        while blocks and blocks[-1][0] + blocks[-1][1] > left:
            before, size, several = blocks.pop()
            left = (before * several + (left - size) * count) / (several + count)
            width, count = size + width, several + count
        blocks.append((left, width, count))
    found: list[float] = []
    for left, _, count in blocks:
        for box in row[len(found) : len(found) + count]:
            found.append(left)
            left += box.width + GAP
    return found


def _mean(places: Sequence[float], default: float) -> float:
    return sum(places) / len(places) if places else default


def _arrow(
    edge: Arrow,
    boxes: Mapping[object, Box],
    x: Mapping[object, float],
    tops: Sequence[float],
    layer: Mapping[object, int],
) -> str:
    source, target = boxes[edge.source], boxes[edge.target]
    x0, y0 = x[edge.source] + source.width / 2, tops[layer[edge.source]] + source.height
    x1, y1 = x[edge.target] + target.width / 2, tops[layer[edge.target]] - 1
    bend = max(14.0, (y1 - y0) / 2)
    if layer[edge.target] - layer[edge.source] > 1 and abs(x1 - x0) < ASIDE:  # past the boxes between them
        x0, y0 = x0 + source.width / 2, y0 - source.height / 2
        x1, y1 = x1 + target.width / 2 + 1, y1 + target.height / 2 + 1
        side = max(x0, x1) + ASIDE
        path = f"M{x0:.1f} {y0:.1f}C{side:.1f} {y0:.1f} {side:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
    else:
        path = f"M{x0:.1f} {y0:.1f}C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    kind = "edge border" if edge.reason else "edge"
    return f'<path class="{kind}" d="{path}" marker-end="url(#tip)"><title>{escape(edge.type)}</title></path>'


def _labels(
    labels: Mapping[Arrow, Sequence[str]],
    boxes: Mapping[object, Box],
    x: Mapping[object, float],
    tops: Sequence[float],
    layer: Mapping[object, int],
) -> Iterator[str]:
    """Write the reasons between the boxes, those below one row under each other."""
    used: dict[int, float] = {}
    for edge, lines in labels.items():
        source, row = boxes[edge.source], layer[edge.source]
        bottom = tops[row] + max(b.height for b in boxes.values() if layer[b.key] == row)
        y = used.get(row, bottom + 12)
        used[row] = y + (len(lines) + 1) * LABEL_LINE
        width = max(map(len, lines)) * 6.2 + 16
        left = max(PAD / 2, x[edge.source] + source.width / 2 - width / 2)
        rows = "".join(
            f'<text x="{width / 2:.1f}" y="{13 + k * LABEL_LINE:.1f}" text-anchor="middle">{escape(text)}</text>'
            for k, text in enumerate(lines)
        )
        height = len(lines) * LABEL_LINE + 5
        yield (
            f'<g class="reason" transform="translate({left:.1f} {y:.1f})"><title>not fused: {escape(edge.reason)}'
            f'</title><rect width="{width:.1f}" height="{height:.1f}" rx="4"/>{rows}</g>'
        )
