"""Write results as tables for a document: one line for each row and dtype, one column for each size."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..ir.errors import FileProblem
from ..ir.support.files import is_stream, write_file
from .results import OURS, BenchResults, Outcome, geometric_mean
from .table import LOW, MICROSECONDS, UNITS, number

BEGIN, END = "<!-- weft bench: begin -->", "<!-- weft bench: end -->"


def write(path: str, results: Sequence[BenchResults]) -> None:
    """Put the tables between the marks of an existing file, or create a file."""
    made = f"{BEGIN}\n\n{text(results)}\n{END}\n"
    if os.path.exists(path) and not is_stream(path):
        old = Path(path).read_text(encoding="utf-8")
        if BEGIN not in old or END not in old:
            raise FileProblem(
                f"{path} has no lines {BEGIN} and {END}", hint="add them; the tables are written between them"
            )
        made = old[: old.index(BEGIN)] + made + old[old.index(END) + len(END) :].lstrip("\n")
    write_file(path, made.encode())


def text(results: Sequence[BenchResults]) -> str:
    """Return the text: the machine, a summary, and all rows."""
    parts = [_machine(results[0]), _summary(results)]
    for found in results:
        parts.append(f"## Every row, {_threads(found)}\n")
        parts += [_suite(found, suite) for suite in found.suites]
    return "\n".join(parts)


def _threads(results: BenchResults) -> str:
    return f"{results.threads} thread{'s' * (results.threads != 1)}"


def _machine(results: BenchResults) -> str:
    where = results.machine
    libraries = ", ".join(f"{name} {where[name]}" for name in results.libraries if name in where)
    return f"{where['cpu']}; {where['cores']} cores; {where['system']}; Python {where['python']}; {libraries}.\n"


def _summary(results: Sequence[BenchResults]) -> str:
    head = "| suite |" + "".join(f" {_threads(r)}: mean | lowest | rows | below {LOW} |" for r in results)
    lines = [head, "| --- |" + " --: | --: | --: | --: |" * len(results)]
    for suite in (*dict.fromkeys(s for r in results for s in r.suites), "all"):
        cells = []
        for found in results:
            ratios = [o.ratio for o in found.outcomes if o.ratio is not None and suite in (o.suite, "all")]
            mean = geometric_mean(ratios)
            if mean is None:
                cells.append(" | | | |")
                continue
            cells.append(f" {mean:.2f} | {min(ratios):.2f} | {len(ratios)} | {sum(r < LOW for r in ratios)} |")
        lines.append(f"| {suite} |{''.join(cells)}")
    for found in results:
        shares = sorted(o.share for o in found.outcomes if o.share is not None)
        if shares:
            lines.append(
                f"\nMemory, {_threads(found)}: {len(shares)} rows reach {shares[0]:.0%} or more of a plain "
                f"loop's speed, half of them {shares[len(shares) // 2]:.0%} or more."
            )
    return "\n".join(lines) + "\n"


def _suite(results: BenchResults, suite: str) -> str:
    found = results.of(suite)
    unit, scale = UNITS.get(suite, MICROSECONDS)
    sizes = list(dict.fromkeys(o.size for o in found))
    if suite in UNITS:  # these suites have no column for each size
        sizes = [0]
    heads = "".join(f" {size:,} |" if size else " time |" for size in sizes)
    lines = [f"### {suite} ({unit})\n", f"| row | dtype |{heads}", "| --- | --- |" + " --: |" * len(sizes)]
    rows: dict[tuple[str, str], dict[int, Outcome]] = {}
    for outcome in found:
        rows.setdefault((outcome.row, outcome.dtype), {})[outcome.size if suite not in UNITS else 0] = outcome
    for (row, dtype), by_size in rows.items():
        cells = "".join(f" {_cell(by_size.get(size), scale)} |" for size in sizes)
        lines.append(f"| `{row.replace('|', chr(92) + '|')}` | {dtype} |{cells}")
    return "\n".join(lines) + "\n"


def _cell(outcome: Outcome | None, scale: float) -> str:
    """Format Weft's time, the ratio with the best peer's name, and the share of the memory speed."""
    if outcome is None:
        return ""
    if OURS not in outcome.seconds:
        return outcome.notes.get(OURS, "")
    shown = number(outcome.seconds[OURS] * scale)
    if outcome.ratio is not None:
        ratio = f"{outcome.ratio:.2f} {outcome.best}"
        shown += f"; **{ratio}**" if outcome.ratio < LOW else f"; {ratio}"
    return shown if outcome.share is None else f"{shown}; {outcome.share:.0%}"
