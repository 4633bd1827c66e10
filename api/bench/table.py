"""Print outcomes as lines for a screen."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.errors import quantity
from ..ir.support.html import Html, frame, table
from .results import OURS, BenchResults, Outcome, geometric_mean

LOW = 0.95  # ratio to the best peer below which a row is marked
UNITS = {"compile": ("ms", 1e3), "startup": ("ms", 1e3)}
MICROSECONDS = ("µs", 1e6)


def heading(suite: str, libraries: Sequence[str], threads: int) -> str:
    """Return the line above a suite's rows."""
    unit, plural = UNITS.get(suite, MICROSECONDS)[0], "s" * (threads != 1)
    columns = "".join(f"{name:>10}" for name in libraries)
    return (
        f"\n{suite}: {unit} per call, {threads} thread{plural}\n"
        f"{'':<38}{'size':>10} {'dtype':<8}{columns}{'ratio':>8}{'memory':>8}"
    )


def line(outcome: Outcome, libraries: Sequence[str]) -> str:
    """Format one row: times, the ratio to the best peer, and the share of the memory speed if that is the limit."""
    scale = UNITS.get(outcome.suite, MICROSECONDS)[1]
    times = "".join(f"{cell(outcome, name, scale):>10}" for name in libraries)
    size = f"{outcome.size:,}" if outcome.size else ""
    share = "" if outcome.share is None else f"{outcome.share:.0%}"
    mark = " <" if outcome.ratio is not None and outcome.ratio < LOW else ""
    text = f"{outcome.row:<38}{size:>10} {outcome.dtype:<8}{times}{ratio(outcome.ratio):>8}{share:>8}{mark}"
    return text.rstrip()


def cell(outcome: Outcome, name: str, scale: float) -> str:
    """Format a time, or a word for why there is none; the notes give the full reason."""
    if name in outcome.seconds:
        return number(outcome.seconds[name] * scale)
    note = outcome.notes.get(name, "")
    return "wrong" if note.startswith("gives") else "fails" if note.startswith("fails") else "-"


def number(value: float) -> str:
    """Format a number with three digits, and thousands in full."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def html(results: BenchResults) -> str:
    """Write all outcomes as tables, for notebooks."""
    parts: list[Html] = []
    for suite in results.suites:
        unit, scale = UNITS.get(suite, MICROSECONDS)
        heads = (suite, "size", "dtype", *(f"{name}, {unit}" for name in results.libraries), "ratio", "memory")
        rows = [
            (
                o.row, o.size or "", o.dtype, *(cell(o, name, scale) for name in results.libraries), ratio(o.ratio),
                "" if o.share is None else f"{o.share:.0%}",
            )
            for o in results.of(suite)
        ]  # fmt: skip
        parts.append(table(heads, rows))
    return frame(f"{quantity(results.threads, 'thread')}, {results.machine.get('cpu', '')}", parts)


def summary(results: BenchResults) -> str:
    """Summarise geometric means, rows slower than a peer, the share of the memory speed, and missing times."""
    lines = ["", "best peer's time over Weft's: geometric mean, lowest, rows, rows below 0.95"]
    for suite in (*results.suites, "all"):
        found = results.of(suite) if suite != "all" else list(results.outcomes)
        ratios = [o.ratio for o in found if o.ratio is not None]
        if ratios:
            low = sum(r < LOW for r in ratios)
            mean = geometric_mean(ratios)
            lines.append(f"  {suite:<12}{ratio(mean):>7}{min(ratios):>7.2f}{len(ratios):>6}{low:>6}")
    shares = sorted(o.share for o in results.outcomes if o.share is not None)
    if shares:
        middle = shares[len(shares) // 2]
        lines.append(f"share of the memory's speed in {len(shares)} rows: lowest {shares[0]:.0%}, median {middle:.0%}")
    return "\n".join(lines + _notes(results))


def _notes(results: BenchResults) -> list[str]:
    """List every reason once, with its rows."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for outcome in results.outcomes:
        for name, note in outcome.notes.items():
            found.setdefault((name, note), {})[f"{outcome.suite}: {outcome.row}"] = None
    lines = []
    for (name, note), rows in found.items():
        shown = list(rows)
        more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
        lines.append(f"{name} {note}: {'; '.join(shown[:3])}{more}")
    return sorted(lines, key=lambda text: (not text.startswith(OURS), text))
