"""Run the scoreboard and write `docs/reliability.md`: `python -m tests.reliability --scale 0.01 --figures 15 16`.

`make reliability` runs all figures at full scale, which takes hours. `--scale` is the share of all tries.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from . import arrays, calls, disk, races, suites, texts, valgrind
from .figures import Figure, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
ALL = tuple(
    sorted(
        (figure for part in (arrays, calls, disk, races, suites, texts, valgrind) for figure in part.FIGURES),
        key=lambda f: f.number,
    )
)
MISSING = {
    5: "f64 functions at 10^9 points: `make accuracy` measures 10^8",
    9: "part of figure 1, whose graphs run on AVX2, AVX-512 and narrow vectors with the same bits",
}


def tried(figure: Figure, scale: float) -> Outcome:
    count, begin = max(1, round(figure.full * scale)), time.monotonic()

    def tick(done: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{figure.number:2d} {figure.name}: {done:,} of {count:,}", end="", file=sys.stderr, flush=True)

    failures = figure.run(count, tick)
    seconds = time.monotonic() - begin
    print(f"\r{figure.number:2d} {figure.name}: {count:,}, {len(failures)} failed, {seconds:.0f} s", file=sys.stderr)
    return Outcome(figure, count, tuple(failures), seconds)


def page(outcomes: list[Outcome], old: str = "") -> str:
    """The scoreboard as a page. Figures that were not in this run keep the row that they have in the old page."""
    day = time.strftime("%Y-%m-%d")
    kept = {_head(line): line for line in old.splitlines() if line.startswith("| ")}
    rows = {head: kept.get(head, f"{head} not run yet | | | | |") for head in map(_row, ALL)}
    for o in outcomes:
        tried, full = f"{o.count:,} {o.figure.unit}", f"{o.figure.full:,}"
        rows[_row(o.figure)] = f"{_row(o.figure)} {tried} | {full} | {len(o.failures)} | {o.seconds:.0f} | {day} |"
    failures = [f"- {o.figure.number}: {text}" for o in outcomes for text in o.failures[:5]]
    return "\n".join([
        "# Reliability",
        "",
        "`make reliability` tries what could break Weft, at full scale, and writes this page. It takes hours;",
        "`python -m tests.reliability --scale 0.01` takes a hundredth of the tries, and `--figures 15 16` runs",
        "only some. Figure 24 needs valgrind and clang. `make test` runs a sample.",
        "",
        "| figure | what | tried | full scale | failed | seconds | when |",
        "| ---: | --- | --- | ---: | ---: | ---: | --- |",
        *rows.values(),
        "",
        *(["## What failed", "", *failures, ""] if failures else []),
        "## Not measured here",
        "",
        *(f"- {number}: {reason}." for number, reason in MISSING.items()),
        "",
    ])  # fmt: skip


def _row(figure: Figure) -> str:
    return f"| {figure.number} | {figure.name} |"


def _head(line: str) -> str:
    """Return the first two cells of a row."""
    return "|".join(line.split("|")[:3]) + "|"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description="The scoreboard of reliability.")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full number of tries")
    parser.add_argument("--figures", type=int, nargs="*", help="only these")
    parser.add_argument("--write", action="store_true", help="write docs/reliability.md")
    given = parser.parse_args()
    chosen = [f for f in ALL if not given.figures or f.number in given.figures]
    outcomes = [tried(figure, given.scale) for figure in chosen]
    for outcome in outcomes:
        for failure in outcome.failures:
            print(f"{outcome.figure.number}: {failure}")
    if given.write:
        PAGE.write_text(page(outcomes, PAGE.read_text()))
    return 1 if any(o.failures for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
