"""Try damaged kernel text: only typed errors, and soon."""

from __future__ import annotations

import random
import time
from pathlib import Path

import weft
from weft.ir.errors import WeftError

from .figures import Figure, Tick

ROOT = Path(__file__).parents[2]
PIECES = (
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "->",
    "let ",
    "kernel ",
    "fn ",
    "sum",
    "axis=",
    "0",
    "9" * 30,
    "1e400",
)


def damaged(text: str, rng: random.Random) -> str:
    """A text with a few characters changed, repeated, removed or put in."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        end = min(end, at + rng.randint(0, 40))
        kind = rng.randrange(5)
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = (
                text[:at]
                + chr(rng.choice([0, 9, 10, 34, 39, 92, 160, 955, 0x1F600, rng.randrange(32, 127)]))
                + text[at:]
            )
        elif kind == 2:
            text = text[:at] + text[at:end] * rng.randint(2, 5) + text[end:]
        elif kind == 3:
            text = text[:at] + rng.choice(PIECES) + text[at:]
        else:
            text = text[:at] + rng.choice(PIECES) * rng.randint(1, 300) + text[end:]
    return text


def fuzzed(count: int, tick: Tick) -> list[str]:
    """Damaged examples compile or raise an error of ours; 99 of 100 within 10 ms of CPU time."""
    sources = [path.read_text() for path in sorted(ROOT.glob("examples/**/*.weft"))]
    rng, wrong, times = random.Random(19), [], []
    for number in range(count):
        text = damaged(rng.choice(sources)[:2000], rng)
        begin = time.process_time()
        try:
            weft.compile(text)
        except WeftError:
            pass
        except Exception as error:
            wrong.append(f"text {number}: {type(error).__name__}: {error}")
        times.append(time.process_time() - begin)
        tick(number)
    slow = sorted(times)[int(len(times) * 0.99)] if count >= 10_000 else 0.0
    return [*wrong, f"the slowest of 100 texts takes {slow * 1000:.1f} ms"] if slow > 0.01 else wrong


FIGURES = (Figure(19, "damaged kernel text: typed errors only", "texts", 1_000_000, 150, fuzzed),)
