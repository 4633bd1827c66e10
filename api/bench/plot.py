"""Draw results as SVG: one dot per case, by suite and by ratio to the best peer, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from .results import BenchResults, Outcome, geometric_mean

LEFT, TOP, BAND, HEIGHT, BOTTOM = 60, 56, 104, 420, 48
LOWEST, HIGHEST = 0.25, 64.0
COLOURS = ("#1f6f8b", "#c1553b", "#6a8d3a", "#7a5ba6")
TITLE = "Time of the best peer over the time of Weft; above 1, Weft is ahead"
GOLDEN = 0.618034
INK, GRID = "#333333", "#dddddd"


def svg(results: Sequence[BenchResults]) -> str:
    """Draw one band for each suite, with one column of dots for each run."""
    suites = list(dict.fromkeys(o.suite for r in results for o in r.outcomes if o.ratio is not None))
    width = LEFT + BAND * len(suites) + 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + BOTTOM}" '
        f'font-family="sans-serif" font-size="12" fill="{INK}">',
        f'<rect width="{width}" height="{TOP + HEIGHT + BOTTOM}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{TITLE}</text>',
    ]
    parts += _legend(results) + _grid(width)
    for place, suite in enumerate(suites):
        left = LEFT + BAND * place
        parts.append(_text(left + BAND / 2, TOP + HEIGHT + 20, suite, "middle"))
        for k, found in enumerate(results):
            middle = left + BAND * (k + 1) / (len(results) + 1)
            parts += _column(found.of(suite), middle, BAND / (len(results) + 1) / 2.6, COLOURS[k % len(COLOURS)])
    return "\n".join([*parts, "</svg>", ""])


def _legend(results: Sequence[BenchResults]) -> list[str]:
    parts = []
    for k, found in enumerate(results):
        x = LEFT + 150 * k
        plural = "s" * (found.threads != 1)
        parts.append(f'<circle cx="{x + 5}" cy="36" r="4" fill="{COLOURS[k % len(COLOURS)]}"/>')
        parts.append(_text(x + 14, 40, f"{found.threads} thread{plural}, line: mean", "start"))
    return parts


def _grid(width: int) -> list[str]:
    """Draw a line for each power of two, a strong one at 1."""
    parts, value = [], LOWEST
    while value <= HIGHEST:
        y, colour = _y(value), INK if value == 1 else GRID
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{width - 20}" y2="{y:.1f}" stroke="{colour}"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{value:g}", "end"))
        value *= 2
    return parts


def _column(outcomes: Sequence[Outcome], middle: float, reach: float, colour: str) -> list[str]:
    """Draw dots side by side, and the geometric mean; each dot has a tooltip."""
    parts = []
    shown = [o for o in outcomes if o.ratio is not None]
    for k, outcome in enumerate(shown):
        x = middle + reach * (2 * (GOLDEN * k % 1) - 1)  # spread evenly, the same in each picture
        size = f", {outcome.size:,} {outcome.dtype}" if outcome.size else ""
        label = escape(f"{outcome.row}{size}: {outcome.ratio:.2f} of {outcome.best}")
        parts.append(
            f'<circle cx="{x:.1f}" cy="{_y(outcome.ratio or 1):.1f}" r="2.6" fill="{colour}" fill-opacity="0.6">'
            f"<title>{label}</title></circle>"
        )
    mean = geometric_mean(o.ratio for o in shown)
    if mean is not None:
        y = _y(mean)
        parts.append(
            f'<line x1="{middle - 1.3 * reach:.1f}" y1="{y:.1f}" x2="{middle + 1.3 * reach:.1f}" y2="{y:.1f}" '
            f'stroke="{colour}" stroke-width="3"/>'
        )
    return parts


def _y(ratio: float) -> float:
    """Return the position of a ratio; ratios beyond the picture are drawn at its edge."""
    inside = min(max(ratio, LOWEST), HIGHEST)
    return TOP + HEIGHT * (math.log(HIGHEST / inside) / math.log(HIGHEST / LOWEST))


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
