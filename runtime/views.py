"""Write kernels, lowered graphs and explanations as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..ir.errors import quantity
from ..ir.support.html import Html, bar, code, folded, frame, paragraph, table

if TYPE_CHECKING:
    from .compiler import Lowered
    from .explain import Explanation
    from .selection.report import Report


def kernel_html(title: str, text: str, doc: str, cache: Any) -> str:
    """Describe something callable: its declaration, its comment, its source, and how it was called so far."""
    calls = f"{quantity(cache.hits + cache.misses, 'call')}, compiled for {quantity(len(cache), 'signature')}"
    parts = [paragraph(doc)] if doc else []
    parts.append(paragraph(calls))
    if text:
        parts.append(folded("source", code(text)))
    return frame(title, parts)


def explanation_html(explanation: Explanation) -> str:
    """Show the kernels of a graph as a table, then what was not fused and where the time went."""
    count = quantity(len(explanation.kernels), "native kernel")
    return frame(f"{explanation.name}: {count}", _explained(explanation))


def _explained(explanation: Explanation) -> Iterator[Html]:
    heads = ("", "fused operations", "over", "reads, bytes", "writes, bytes", "plan")
    rows = [
        (k, " ".join(story.operations) or "a copy", story.space, story.reads, story.writes, story.plan)
        for k, story in enumerate(explanation.kernels)
    ]
    if rows:
        yield table(heads, rows)
    said = [
        *(("not fused", why) for why in explanation.unfused),
        *(("between kernels", name) for name in explanation.fallbacks),
        *(("chosen for", what) for what in explanation.chosen),
        *(("in memory", what) for what in explanation.materialised),
    ]
    if said:
        yield table(("", ""), said)
    if explanation.seconds:
        longest = max(explanation.seconds.values()) or 1.0
        times = [(what, f"{1000 * s:.2f} ms", bar(s / longest)) for what, s in explanation.seconds.items()]
        yield folded("times of the first call", table(("step", "time", ""), times))


def lowered_html(lowered: Lowered) -> str:
    """Show a lowered graph: its kernels, its passes with what each changed, and the text of the graph."""
    snapshots = lowered.result.snapshots
    rows = [
        (
            name,
            Html('<span class="dim">nothing changed</span>') if after is before else f"{_ops(before)} → {_ops(after)}",
        )
        for name, before, after in zip(lowered.passes, snapshots, snapshots[1:], strict=False)
    ]
    parts = [
        *_explained(lowered.explain()),
        folded("passes", table(("pass", "operations"), rows)),
        folded("graph after all passes", code(lowered.ir())),
    ]
    return frame(f"{lowered.graph.name}: {quantity(len(lowered.kernels), 'native kernel')}", parts)


def _ops(graph: Any) -> int:
    from ..ir.walking import walk

    return sum(1 for _ in walk(graph))


def selection_html(report: Report) -> str:
    """Show the choices between variants as a table."""
    rows: Sequence[Any] = [
        (
            choice.kernel,
            choice.size,
            choice.selection.variant,
            f"{choice.selection.seconds * 1e6:.3g} µs",
            choice.selection.reason,
            ", ".join(f"{a.variant} {a.estimate.seconds * 1e6:.3g} µs" for a in choice.selection.alternatives)
            or "none",
        )
        for choice in report.choices
    ]
    heads = ("kernel", "elements", "variant", "time", "why", "others")
    title = f"{quantity(len(report.choices), 'choice')}, {quantity(report.records, 'record')}"
    return frame(title, [table(heads, rows)] if rows else [paragraph("Nothing has been chosen in this process yet.")])
