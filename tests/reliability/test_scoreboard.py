"""Try a sample of each figure of the scoreboard; other tests have the figures without a sample."""

from __future__ import annotations

import pytest

from .__main__ import ALL, MISSING, page, tried
from .figures import Figure

SAMPLED = [figure for figure in ALL if figure.sample]


@pytest.mark.parametrize("figure", SAMPLED, ids=lambda f: f"{f.number} {f.unit}")
def test_sample(figure: Figure) -> None:
    assert figure.run(figure.sample, lambda done: None) == []


def test_page() -> None:
    """All 25 figures are there or said to be missing, a failure is shown, and rows of earlier runs stay."""
    assert {f.number for f in ALL} | set(MISSING) >= set(range(1, 26))
    broken = Figure(12, "out= that overlaps an argument", "cases", 10, 1, lambda count, tick: ["case 3: other bits"])
    text = page([tried(broken, 0.5)])
    row = "| 12 | out= that overlaps an argument | 5 cases | 10 | 1 | 0 |"
    assert row in text and "- 12: case 3: other bits" in text
    assert "| 16 | damaged entries are misses | not run yet |" in text
    later = page([], text.replace("not run yet", "7 entries"))
    assert "| 16 | damaged entries are misses | 7 entries |" in later
    assert row in later
