"""Test every row of `weft bench`: Weft, numexpr's text and the Numba loops agree with NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from weft.bench import check, memory
from weft.bench.library import NumPy, Weft
from weft.bench.row import Case, Row, case
from weft.bench.suites import ROWS, SUITES, compiles

ALL = [(suite, row) for suite, rows in ROWS.items() for row in rows] + [("compile", row) for row in compiles.ROWS]
SIZE = 2600  # five rows of 512, and more than one vector everywhere


def tiny(row: Row, dtype: str) -> Case:
    return case(row, min((*(row.sizes or ()), SIZE)), dtype)


def names(suite: str, row: Row) -> str:
    return f"{suite}: {row.name}"


def test_suites_are_those_of_the_issue() -> None:
    assert SUITES == (
        "calls", "elementwise", "math", "reductions", "rows", "mixed", "layouts", "products", "library", "compile",
        "startup",
    )  # fmt: skip
    for suite, rows in ROWS.items():
        assert len(rows) >= 8 and len({(r.name, r.dtypes) for r in rows}) == len(rows), suite


@pytest.mark.parametrize(("suite", "row"), ALL, ids=[names(*found) for found in ALL])
def test_weft_is_right(suite: str, row: Row) -> None:
    found = tiny(row, row.dtypes[0])
    right = check.answer(found)
    for library in (NumPy(), Weft()):
        for call in library.calls(found):
            assert check.problem(call.result(), right) == ""
    assert math.isfinite(float(np.abs(right.values).max())), "a row whose largest value is infinite checks nothing"


WRITTEN = [(suite, row) for suite, row in ALL if row.loops and not row.into]


@pytest.mark.parametrize(("suite", "row"), WRITTEN, ids=[names(*found) for found in WRITTEN])
def test_loops_are_right(suite: str, row: Row) -> None:
    found = tiny(row, row.dtypes[-1])
    assert row.loops is not None
    result: Any = row.loops(np, range)(*found.args)
    assert check.problem(np.asarray(result), check.answer(found)) == ""


@pytest.mark.parametrize(("dtype", "other_dtype"), [(np.float32, "float64"), (np.float64, "float32")])
def test_wrong_results_are_seen(dtype: Any, other_dtype: str) -> None:
    row = next(r for r in ROWS["elementwise"] if r.name == "a + b")
    right = check.answer(tiny(row, "f32" if dtype is np.float32 else "f64"))
    exact = np.asarray(right.values, dtype)
    assert check.problem(exact, right) == ""
    assert check.problem(exact.astype(other_dtype), right) == f"gives {other_dtype}"
    assert check.problem(exact[:-1], right) == f"gives shape ({SIZE - 1},)"
    other = exact.copy()
    other[7] += 0.01
    assert check.problem(other, right) == "gives other values"
    other[7] = np.nan
    assert check.problem(other, right) == "gives other values"


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("threads", [1, 3])
def test_the_plain_loop_reads_and_writes_all(dtype: str, threads: int) -> None:
    streams = {r.name: r for r in (*ROWS["elementwise"], *ROWS["reductions"]) if r.streams}
    with memory.MemoryLoop(threads) as plain:
        for name in ("a*b + c*a - b", "sum(a*b)"):
            found = case(streams[name], 600_001, dtype)
            right = check.answer(found).values
            assert memory.applies(found, right)
            call = plain.call(found, right)
            assert call.run(1) > 0
            wanted = np.sum(found.args, axis=0, dtype=np.float64)
            got = call.result()
            if right.size > 1:
                np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-4)
            else:
                assert float(got.sum()) == pytest.approx(float(wanted.sum()), rel=1e-3)
    assert not memory.applies(tiny(streams["sum(a*b)"], dtype), np.float64(0))
