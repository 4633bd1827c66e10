"""Run the scoreboard and write `docs/reliability.md`: `python -m tests.reliability --scale 0.01 --figures 15 16`.

`make reliability` runs all figures at full scale, which takes hours. `--scale` is the share of all tries.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path

from . import arrays, calls, disk, suites, texts
from .figures import Figure, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
ALL = tuple(
    sorted((*arrays.FIGURES, *calls.FIGURES, *disk.FIGURES, *texts.FIGURES, *suites.FIGURES), key=lambda f: f.number)
)
MISSING = {
    5: "f64 functions at 10^9 points: `make accuracy` measures 10^8",
    9: "part of figure 1, whose graphs run on AVX2, AVX-512 and narrow vectors with the same bits",
    24: "sanitizers and valgrind",
}


def tried(figure: Figure, scale: float) -> Outcome:
    count, begin = max(1, round(figure.full * scale)), time.monotonic()

    def tick(done: int) -> None:
        print(f"\r{figure.number:2d} {figure.name}: {done:,} of {count:,}", end="", file=sys.stderr, flush=True)

    failures = figure.run(count, tick)
    seconds = time.monotonic() - begin
    print(f"\r{figure.number:2d} {figure.name}: {count:,}, {len(failures)} failed, {seconds:.0f} s", file=sys.stderr)
    return Outcome(figure, count, tuple(failures), seconds)


def page(outcomes: list[Outcome], scale: float) -> str:
    """The scoreboard as a page."""
    rows = [
        f"| {o.figure.number} | {o.figure.name} | {o.count:,} {o.figure.unit} | {len(o.failures)} | {o.seconds:.0f} |"
        for o in outcomes
    ]
    done = {o.figure for o in outcomes}
    rows += [f"| {f.number} | {f.name} | not in this run | | |" for f in ALL if f not in done]
    failures = [f"- {o.figure.number}: {text}" for o in outcomes for text in o.failures[:5]]
    return "\n".join([
        "# Reliability",
        "",
        "`make reliability` tries what could break Weft, at full scale, and writes this page. It takes hours;",
        "`python -m tests.reliability --scale 0.01` takes a hundredth of the tries. `make test` runs a sample.",
        "",
        f"Last run: {time.strftime('%Y-%m-%d')}, scale {scale:g}, Python {platform.python_version()}.",
        "",
        "| figure | what | tried | failed | seconds |",
        "| ---: | --- | --- | ---: | ---: |",
        *rows,
        "",
        *(["## What failed", "", *failures, ""] if failures else []),
        "## Not measured here",
        "",
        *(f"- {number}: {reason}." for number, reason in MISSING.items()),
        "",
    ])  # fmt: skip


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
        PAGE.write_text(page(outcomes, given.scale))
    return 1 if any(o.failures for o in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
