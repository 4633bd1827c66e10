"""Put a page together: gather what it shows from a lowered graph, and write it into one file.

The file needs no network: styles and scripts are inside. Long lists are stored as data, and the page shows the part
that is in view.
"""

from __future__ import annotations

import gzip
import json
import linecache
import os
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ...backends.llvm import compile as native
from ...ir.errors import quantity
from ...ir.graph import Graph
from ...ir.ops import REGION
from ...ir.walking import nodes_inside
from ...passes.planning.borders import borders
from .. import threads
from ..compiler import Lowered
from ..explain import Explanation
from .drawing import draw
from .identity import Identities
from .listing import Change, Line, change, listing
from .machine import machine_code
from .measuring import Measurement, bytes_apart, measured_or_why_not

FOLDER = os.path.dirname(__file__)
LONGEST_FILE, AROUND = 400, 20  # lines of a source to show whole; else lines around the kernel
SAME, ADDED, CHANGED, REMOVED = range(4)
Row = list[Any]


def page(lowered: Lowered, arguments: Sequence[Any] | None = None) -> str:
    """Return the page of a lowered graph; `arguments` are what its kernels are timed on."""
    result = lowered.result.whole()
    ids = Identities(result.snapshots)
    program = lowered.program if result is lowered.result else native.emit(result.graph)
    code = machine_code(program, lowered.options.machine, ids)
    source, spans = _source(lowered, ids)
    measured, problem = measured_or_why_not(lowered, lowered.sizes, arguments, lowered.options)
    passes = list(_passes(result.passes, result.snapshots, result.seconds, ids))
    data = {
        "kin": ids.relatives(), "spans": spans, "source": source, "first": _first(passes),
        "passes": [{"name": p["name"], "lines": p["lines"]} for p in passes],
    }  # fmt: skip
    machine = {"llvm": code.llvm, "llvmOps": code.ops, "asm": code.asm, "asmLines": code.lines}
    story = lowered.explain()
    parts = {
        "name": escape(lowered.graph.name),
        "declared": escape(getattr(lowered.source, "signature", "") or f"{lowered.graph.name}(…)"),
        "chips": _chips(lowered, story, measured),
        "passes": "".join(map(_button, passes)),
        "cost": _cost(lowered, story, measured, problem),
        "graph": draw(result.graph, ids, _reasons(result.passes, result.snapshots, ids)),
        "machine": escape(f"{lowered.options.machine.cpu}, vectors of {8 * lowered.options.machine.vector_bytes} bits"),
        "css": _file("page.css"),
        "js": _file("page.js"),
        "data": _packed(data),
        "code": _packed(machine),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _file("page.html"))


def _packed(data: object) -> str:
    """Compress data for the page. The LLVM text of a large kernel shrinks to a tenth, and browsers unpack it fast."""
    return b64encode(gzip.compress(json.dumps(data, separators=(",", ":")).encode(), 6, mtime=0)).decode()


def _file(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as opened:
        return opened.read()


# -- passes


def _passes(
    names: Sequence[str], snapshots: Sequence[Graph], seconds: Sequence[float], ids: Identities
) -> Iterator[dict[str, Any]]:
    """Yield each step with its lines, or with None where nothing changed."""
    before = listing(snapshots[0], ids)
    yield {"name": "input", "lines": _rows(before), "change": None, "seconds": 0.0}
    for name, old, new, time in zip(names, snapshots, snapshots[1:], seconds, strict=False):
        after = before if new is old else listing(new, ids)
        found = change(before, after)
        rows = None if after == before else _merged(before, after, found)
        yield {"name": name, "lines": rows, "change": found, "seconds": time}
        before = after


def _rows(lines: Sequence[Line]) -> list[Row]:
    return [[*line, SAME, ""] for line in lines]


def _merged(before: Sequence[Line], after: Sequence[Line], found: Change) -> list[Row]:
    """Return the lines after a pass. Lines that it removed are shown where they were."""
    gone, new, other = set(found.removed), set(found.added), set(found.changed)
    removed: dict[int, list[Line]] = {}
    last = -1
    for line in before:
        if line.op in gone:
            removed.setdefault(last, []).append(line)
        else:
            last = line.op
    was = {line.op: f"{line.text}  {line.attrs}" for line in reversed(before)}
    rows: list[Row] = []
    for line in after:
        state = ADDED if line.op in new else CHANGED if line.op in other else SAME
        rows.append([*line, state, was[line.op] if state == CHANGED else ""])
        for old in removed.pop(line.op, ()):
            rows.append([*old, REMOVED, ""])
    return rows


def _first(passes: Sequence[Mapping[str, Any]]) -> int:
    """Return the pass to show first: `fuse`, which most people come for, or the last."""
    return next((k for k, p in enumerate(passes) if p["name"] == "fuse"), len(passes) - 1)


def _button(step: Mapping[str, Any]) -> str:
    found: Change | None = step["change"]
    if found is None:
        what = "as it was built"
    elif step["lines"] is None:
        what = "nothing changed"
    else:
        counts = (("+", found.added), ("−", found.removed), ("~", found.changed))
        what = " ".join(f"{sign}{len(ops)}" for sign, ops in counts if ops) or "attributes of the kernel"
        what += f" · {1000 * step['seconds']:.2f} ms"
    kind = ' class="same"' if found is not None and step["lines"] is None else ""
    return f'<button{kind}>{escape(step["name"])}<span class="what">{escape(what)}</span></button>'


def _reasons(names: Sequence[str], snapshots: Sequence[Graph], ids: Identities) -> dict[tuple[int, int], str]:
    """Return why kernels are apart, by the numbers of their regions."""
    if "fuse" not in names:
        return {}
    region_of = {ids[v]: ids[n] for n in nodes_inside(snapshots[-1]) if n.op is REGION for v in n.results}
    found: dict[tuple[int, int], str] = {}
    for graph in _with_bodies(snapshots[list(names).index("fuse")]):
        for border in borders(graph):
            known = [[region_of[ids[v]] for v in side if v in ids and ids[v] in region_of] for side in
                     (border.values, border.consumer)]  # fmt: skip
            if all(known):
                found[known[0][0], known[1][0]] = border.reason
    return found


def _with_bodies(graph: Graph) -> Iterator[Graph]:
    from ...ir.walking import graphs

    yield from graphs(graph)


# -- the source


def _source(lowered: Lowered, ids: Identities) -> tuple[list[dict[str, Any]], list[list[int] | None]]:
    """Return the lines of the source with their operations, and where in the line each operation is."""
    files: dict[str, dict[int, str]] = {}
    for span in ids.spans:
        if span is not None:
            files.setdefault(span.file, {})[span.line] = span.text or ""
    source = getattr(lowered.source, "parsed", lowered.source)
    texts = {file: text for file, text, *_ in getattr(source, "texts", ())}
    rows: list[dict[str, Any]] = []
    place: dict[tuple[str, int], int] = {}
    for file, known in files.items():
        text = texts[file].splitlines() if file in texts else [x.rstrip("\n") for x in linecache.getlines(file)]
        shown = dict(enumerate(text, 1)) if text else dict(sorted(known.items()))
        if len(shown) > LONGEST_FILE:
            first, last = min(known) - AROUND, max(known) + AROUND
            shown = {number: line for number, line in shown.items() if first <= number <= last}
        if len(files) > 1:
            rows.append({"text": f"# {os.path.basename(file)}", "no": "", "ops": []})
        if not any(shown.values()):
            rows.append(
                {"text": f"# {file} can't be read; only the numbers of its lines are known", "no": "", "ops": []}
            )
        for number, line in shown.items():
            place[file, number] = len(rows)
            rows.append({"text": line.expandtabs(1), "no": number, "ops": []})
    spans: list[list[int] | None] = []
    for number, span in enumerate(ids.spans):
        at = None if span is None else place.get((span.file, span.line))
        spans.append(None if at is None or span is None else [at, span.column - 1, span.length])
        if at is not None:
            rows[at]["ops"].append(number)
    return rows, spans


# -- bytes and times


def _chips(lowered: Lowered, story: Explanation, measured: Measurement | None) -> str:
    chips = [
        quantity(len(story.kernels), "kernel"),
        quantity(sum(len(k.operations) for k in story.kernels), "operation"),
    ]
    chips += [", ".join(f"{name} = {size}" for name, size in lowered.sizes.items() if "." not in name)]
    chips += [f"{_time(measured.seconds)} per call"] if measured else []
    return "".join(f'<span class="chip">{escape(chip)}</span>' for chip in chips if chip)


def _cost(lowered: Lowered, story: Explanation, measured: Measurement | None, problem: str) -> str:
    """Draw the bars: bytes moved and time, kernel by kernel, beside the speed of memory."""
    if measured is None:
        return f"<h2>Not measured</h2><p>{escape(problem)}</p>"
    apart = bytes_apart(lowered.graph, lowered.sizes)
    moved = sum(m.reads + m.writes for m in measured.kernels)
    most = max(apart, moved, 1)
    parts = [
        "<h2>Bytes moved</h2><p>An operation that is a loop of its own reads its operands from memory and stores its "
        "result. Fused operations pass values on in registers.</p><div class='bars'>",
        _bar("each operation on its own", apart / most, _bytes(apart), "memory"),
        _bar("as compiled", moved / most, _bytes(moved)),
        "</div><h2>Kernel by kernel</h2><p>Times are the best of several runs on this machine with "
        f"{quantity(threads.get_threads(), 'thread')}. The grey bar is a plain copy that moves as many bytes: "
        "a kernel as fast as the copy is as fast as memory allows.</p><div class='bars'>",
    ]
    total = sum(m.seconds for m in measured.kernels) or 1.0
    largest = max((m.reads + m.writes for m in measured.kernels), default=0) or 1
    for k, (kernel, m) in enumerate(zip(story.kernels, measured.kernels, strict=True)):
        times = f", {m.runs} times" if m.runs > 1 else ""
        named = " ".join(kernel.operations[:14]) + (" …" if len(kernel.operations) > 14 else "")
        speed = f"{(m.reads + m.writes) * m.runs / m.seconds / 1e9:.3g} GB/s" if m.seconds else ""
        longest = max(m.seconds, m.copy * m.runs) or 1.0
        share = f" · {m.seconds / total:.0%} of the time" if len(measured.kernels) > 1 else ""
        parts += [
            f'<div class="of">kernel {k}{times}{share} <small>{escape(named or "a copy")}</small></div>',
            '<span class="name">reads and writes</span><span class="stack">'
            f'<span class="bar" style="width:{100 * m.reads / largest:.2f}%"></span>'
            f'<span class="bar writes" style="width:{100 * m.writes / largest:.2f}%"></span></span>'
            f'<span class="amount">{_bytes(m.reads)} + {_bytes(m.writes)}</span>',
            _bar("time", m.seconds / longest, f"{_time(m.seconds)}, {speed}"),
            _bar("a copy of as many bytes", m.copy * m.runs / longest, _time(m.copy * m.runs), "memory"),
        ]
    return "".join([*parts, "</div>"])


def _bar(name: str, share: float, amount: str, kind: str = "") -> str:
    return (
        f'<span class="name">{escape(name)}</span><span><span class="bar {kind}" style="display:block;'
        f'width:{100 * share:.2f}%"></span></span><span class="amount">{escape(amount)}</span>'
    )


def _bytes(count: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count} bytes"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
