"""Test short programs as people write them against plain Python, with three sets of data."""

from __future__ import annotations

import contextlib
import inspect
import io
from typing import Any

import numpy as np
import pytest
import weft

from tests.programs import everyday

PROGRAMS = [f for f in vars(everyday).values() if inspect.isfunction(f) and f.__module__ == everyday.__name__]


def argument(name: str, seed: int) -> Any:
    """Make an argument, as its name asks for it."""
    r = np.random.default_rng(seed * 97 + sum(map(ord, name)))
    n = (12, 9, 15)[seed]
    x = r.normal(size=n)
    if name == "ro":
        x.flags.writeable = False
    if name == "nx":
        x[[1, 4]] = np.nan
    made: dict[str, Any] = {
        "m": x[0] + r.normal(size=(6, 6)), "img": r.random((12, 10)), "b2": r.random((6, 7)) < 0.4,
        "pts": r.normal(size=(8, 2)), "iv": r.integers(0, 8, n), "jv": r.integers(0, 8, n), "n": 2 + seed,
        "t": 0.25 * (seed + 1), "s": 0.3 * (seed + 1), "rng": np.random.default_rng(seed), "txt": "abcabacab"[seed:],
        "u8": r.integers(0, 256, (6, 8)).astype(np.uint8), "f": np.asfortranarray(r.normal(size=(4, 5))),
        "e": np.zeros(0), "cx": 0.5 * x + 0.5j * x[::-1], "st": everyday.State(x, x[::-1].copy()),
    }  # fmt: skip
    return made.get(name, x)


def seen(x: Any) -> Any:
    """What can be seen of a value; the last bits of floats are not compared."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
        return x.dtype, x.shape, x.strides if x.size > 1 else (), x.flags.writeable, np.round(x, 10).tolist()
    if isinstance(x, np.ndarray):
        return x.dtype, x.shape, x.flags.writeable, x.tolist()
    if isinstance(x, everyday.State):
        return seen([x.pos, x.vel])
    if isinstance(x, (tuple, list)):
        return type(x), [seen(item) for item in x]
    if isinstance(x, np.random.Generator):
        return str(x.bit_generator.state)
    return type(x), repr(round(x, 10) if isinstance(x, (float, complex)) and x == x and not x.imag else x)


def outcome(function: Any, program: Any, seed: int) -> Any:
    given = [argument(name, seed) for name in inspect.signature(program).parameters]
    with contextlib.redirect_stdout(io.StringIO()) as printed, np.errstate(all="ignore"):
        try:
            found = function(*given)
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
    arrays = [x for x in (found if isinstance(found, (tuple, list)) else [found]) if isinstance(x, np.ndarray)]
    old = [x for x in given if isinstance(x, np.ndarray)]
    shared = [np.shares_memory(x, y) for x in arrays for y in (*old, *arrays)]
    return repr(seen(found)), [repr(seen(x)) for x in given], printed.getvalue(), shared, [found is x for x in given]


@pytest.mark.filterwarnings("ignore")
def test_everyday_programs() -> None:
    counts = {"whole": 0, "native": 0}
    for program in PROGRAMS:
        jitted = weft.jit(program, backend="reference")
        for seed in (0, 1, 2):
            assert outcome(jitted, program, seed) == outcome(program, program, seed), program.__name__
        counts["whole"] += jitted.explain().is_whole
        counts["native"] += jitted.explain().native_pieces > 0
    assert len(PROGRAMS) == 47 and counts["whole"] >= 22 and counts["native"] >= 40, counts
