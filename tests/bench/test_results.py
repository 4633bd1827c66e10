"""Test ratios, means, tables and stored results of a run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from weft.bench import plot, table
from weft.bench.library import TimedCall, Unable
from weft.bench.measure import measure
from weft.bench.memory import MemoryLoop
from weft.bench.results import BenchResults, Outcome, from_json, geometric_mean, joined
from weft.bench.row import Case, Function, Row, case, normal
from weft.bench.suites import startup
from weft.bench.timing import best_times
from weft.ir.errors import FileProblem
from weft.ir.records import replace

FAST = Outcome("math", "exp(x)", 1000, "f32", {"Weft": 1e-6, "NumPy": 4e-6, "JAX": 2e-6}, memory=0.9e-6)
SLOW = Outcome("math", "log(x)", 1000, "f32", {"Weft": 4e-6, "NumPy": 2e-6}, {"JAX": "gives float64"})
ALONE = Outcome("startup", "import", 0, "", {"Weft": 0.2, "NumPy": 0.1}, apart=("NumPy",))
RUN = BenchResults(
    {"cpu": "c", "cores": "2", "system": "s", "python": "3"}, 2, ("Weft", "NumPy", "JAX"), (FAST, SLOW, ALONE)
)


def test_the_ratio_is_that_of_the_best_peer() -> None:
    assert (FAST.best, FAST.ratio, FAST.share) == ("JAX", 2.0, 0.9)
    assert (SLOW.best, SLOW.ratio, SLOW.share) == ("NumPy", 0.5, None)
    assert (ALONE.best, ALONE.ratio) == ("", None)
    assert geometric_mean(o.ratio for o in RUN.outcomes) == pytest.approx(1.0)
    assert geometric_mean([]) is None


def test_json_round_trip() -> None:
    assert from_json(RUN.to_json(), "f") == RUN
    with pytest.raises(FileProblem, match="has format 0"):
        from_json(RUN.to_json().replace('"format": 1', '"format": 0'), "f")


def test_parts_of_a_run_are_joined() -> None:
    again = replace(SLOW, seconds={"Weft": 1e-6, "NumPy": 2e-6})
    second = replace(RUN, libraries=("Weft", "NumPy", "torch"), outcomes=(again, ALONE))
    both, alone = joined([replace(RUN, outcomes=(FAST, SLOW)), second, replace(RUN, threads=1)])
    assert both.outcomes == (FAST, again, ALONE) and both.libraries == ("Weft", "NumPy", "JAX", "torch")
    assert alone == replace(RUN, threads=1)


def test_lines_say_what_is_missing_and_what_is_behind() -> None:
    assert table.line(FAST, RUN.libraries).split()[-2:] == ["2.00", "90%"]
    assert table.line(SLOW, RUN.libraries).split()[-3:] == ["wrong", "0.50", "<"]
    summary = table.summary(RUN)
    assert "JAX gives float64: math: log(x)" in summary
    assert [line.split() for line in summary.splitlines() if line.startswith("  ")] == [
        ["math", "1.00", "0.50", "2", "1"],
        ["all", "1.00", "0.50", "2", "1"],
    ]


def test_dots_of_the_plot_stand_where_the_ratio_is() -> None:
    picture = plot.svg([RUN])
    assert "exp(x), 1,000 f32: 2.00 of JAX" in picture
    assert plot._y(2.0) < plot._y(1.0) < plot._y(0.5)
    assert plot._y(1e9) == plot.TOP and plot._y(1e-9) == plot.TOP + plot.HEIGHT


class Peer:
    """A library that returns what the test tells it to."""

    name = "Peer"

    def __init__(self, result: Callable[[Case], object]) -> None:
        self._result = result

    def calls(self, found: Case) -> list[TimedCall]:
        return [TimedCall(lambda count: 1e-3 * count, lambda: self._result(found))]

    def fresh(self, row: Row) -> Function:
        raise Unable("compiles nothing")


def _refuse(found: Case) -> object:
    raise Unable("has no such thing")


def _fail(found: Case) -> object:
    raise RuntimeError("broken\nin two lines")


@pytest.mark.parametrize(
    ("result", "note"),
    [
        (lambda found: found.args[0] * 2, ""),
        (lambda found: found.args[0] * 3, "gives other values"),
        (lambda found: found.args[0].astype("f8") * 2, "gives float64"),
        (_refuse, "has no such thing"),
        (_fail, "fails: RuntimeError: broken"),
    ],
)
def test_only_right_results_are_timed(result: Callable[[Case], object], note: str) -> None:
    found = case(Row("2*x", lambda np: lambda x: 2 * x, normal()), 50, "f32")
    with MemoryLoop(1) as memory:
        outcome = measure("elementwise", found, [Peer(result)], memory, 0)
    assert outcome.notes == ({"Peer": note} if note else {})
    assert outcome.seconds == ({} if note else {"Peer": pytest.approx(1e-3)})


def test_the_fastest_way_of_a_library_counts_and_lost_ones_are_left_out() -> None:
    counted: dict[str, int] = {}

    def ways(name: str, seconds: float) -> TimedCall:
        def run(count: int) -> float:
            counted[name] = counted.get(name, 0) + 1
            return seconds * count

        return TimedCall(run, lambda: None)

    times = best_times({"one": [ways("a", 2e-3), ways("b", 1e-3)], "two": [ways("c", 9e-3)]}, 0)
    assert times == {"one": pytest.approx(1e-3), "two": pytest.approx(9e-3)}
    assert counted["c"] < counted["a"] == counted["b"]


def test_new_processes_are_checked_by_what_they_print(monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {"Weft": startup.SOFTMAX["Weft"], "NumPy": startup.SOFTMAX["NumPy"], "torch": "print(1)", "JAX": "boom"}
    monkeypatch.setattr(startup, "REPEATS", 1)
    monkeypatch.setitem(startup.ROWS, "softmax", (scripts, startup.ROWS["import, text to first softmax"][1]))
    (outcome,) = startup.measure("softmax", ["Weft", "NumPy", "torch", "JAX", "numexpr"])
    assert set(outcome.seconds) == {"Weft", "NumPy"} and outcome.best == ""
    assert outcome.notes["torch"] == "prints '1'" and outcome.notes["numexpr"] == "has no such program"
    assert "NameError" in outcome.notes["JAX"]
