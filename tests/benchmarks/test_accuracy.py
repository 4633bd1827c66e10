"""Test the parts of `make accuracy`: errors, points, thresholds, and the store and page of measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from benchmarks.accuracy import exact, points
from benchmarks.accuracy.emitted import code, fingerprint, thresholds
from benchmarks.accuracy.formats import C128, F16, F32, F64, Format
from benchmarks.accuracy.functions import FUNCTIONS
from benchmarks.accuracy.hard import hard_points
from benchmarks.accuracy.native import NoReference, compiler
from benchmarks.accuracy.report import is_within, render
from benchmarks.accuracy.store import Store
from benchmarks.accuracy.table import find


def error(name: str, format: Format, point: float, got: float) -> float:
    inputs = (np.array([point], format.dtype),)
    return float(exact.errors(find(name, format.name).true, format, inputs, np.array([got], format.dtype))[0])


def test_errors_are_in_ulp_of_the_true_value() -> None:
    assert error("exp", F64, 0.0, 1.0) == 0
    assert error("exp", F64, 0.0, np.nextafter(1.0, 2)) == 1
    # Below a power of two an ULP is half as much.
    assert error("exp", F64, -1e-20, 1 - 2**-53) == pytest.approx(1, abs=1e-3)
    assert error("exp", F32, 1.0, np.nextafter(np.float32(np.e), np.float32(0))) > 0.5
    assert error("sqrt", F16, 2.0, 1.0) == pytest.approx((np.sqrt(2) - 1) * 1024, abs=1e-3)


def test_infinity_counts_as_the_number_after_the_largest() -> None:
    assert error("exp", F64, 1000.0, np.inf) == 0
    assert error("exp", F64, 1000.0, F64.largest) == 1
    assert error("exp", F64, 709.0, np.inf) > 1e15


def test_a_wrong_nan_and_a_wrong_zero_are_infinitely_wrong() -> None:
    assert error("log", F64, -1.0, np.nan) == 0
    assert error("log", F64, -1.0, 0.0) == np.inf
    assert error("log", F64, 2.0, np.nan) == np.inf
    assert error("sin", F64, 5e-324, -0.0) == np.inf
    assert error("sin", F64, 5e-324, 0.0) == 1


def test_complex_errors_are_distances_in_the_plane() -> None:
    function, z = find("exp", "c128"), np.array([1 + 1j])
    true = complex(mpmath.exp(1 + 1j))
    off = np.array([true + 3 * 2.0**-51 + 4j * 2.0**-51])
    assert exact.errors(function.true, C128, (z,), off)[0] == pytest.approx(5, abs=1)


def test_the_number_nearest_to_a_multiple_of_a_quarter_turn_is_found() -> None:
    assert 6381956970095103.0 * 2.0**797 in points.nearest_to_quarter_turns(F64)


def test_neighbours_of_thresholds_are_among_the_points() -> None:
    text = code(FUNCTIONS["sinh"], F64)
    assert text is not None
    found = thresholds(text, F64)
    assert found.size > 3
    (hard,) = hard_points(FUNCTIONS["sinh"], F64, found)
    for place in (*found, np.nextafter(found[0], 0), -found[-1], 5e-324, -0.0, np.inf):
        assert place in hard


def test_random_points_have_every_exponent() -> None:
    made = points.block(F64, [points.patterns(F64)], np.random.default_rng(0), 100_000)
    exponents = np.frexp(made[np.isfinite(made)])[1]
    assert np.unique(exponents).size > 2000


def record(dtype: str, error: float, key: str) -> dict[str, Any]:
    found = {"error": error, "at": ["0.5"], "nearest": 0.5}
    return {"function": "exp", "dtype": dtype, "code": key, "planned": 2**32, "points": 2**32, "every": True} | {
        "weft": found, "numpy": found, "reference": 1e-9, "specials": [],
    }  # fmt: skip


def test_a_measurement_is_of_the_code_that_was_measured(tmp_path: Path) -> None:
    function, store = FUNCTIONS["exp"], Store(tmp_path)
    text = code(function, F32)
    assert text is not None
    store.write(function, F32, record("f32", 0.9, fingerprint(text, F32)))
    assert store.is_measured(function, F32, 10**8)
    assert not store.is_measured(function, F64, 10**8)
    store.write(function, F32, record("f32", 0.9, fingerprint(text + "\n", F32)))
    assert store.read(function, F32) is None


def test_the_page_says_what_is_over_the_bound_and_what_is_not_measured() -> None:
    function = FUNCTIONS["exp"]
    bad = record("f32", 1.01, "")
    page = render([(function, F32, bad), (function, F64, None)])
    assert "1 exceed their bound: `exp` f32" in page
    assert "| `exp` | f64 | not measured | 1.0 |" in page
    assert "| `exp` | f32 | all 2^32 | 1.0 | 1.010 | 0.5 | 50.00 % |" in page
    assert not is_within(bad) and is_within(record("c64", 1.01, ""))


def test_a_missing_compiler_is_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(NoReference, match=r"found no compiler \(tried no-such-compiler\); install gcc"):
        compiler()
