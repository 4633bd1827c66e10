"""Test variants in calls: the same bits whichever runs, choices by size, and a history that can't change a result."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import KernelFailure
from weft.frontend.language.source import parse_module
from weft.ir.records import replace
from weft.runtime.compiler import Options
from weft.runtime.kernel import CallableKernel
from weft.runtime.registry import Registry
from weft.runtime.selection import tuner as tuning
from weft.runtime.selection.calibrating import calibrate
from weft.runtime.selection.candidates import variants_of, workload_of
from weft.runtime.selection.choosing import Weights
from weft.runtime.selection.history import History
from weft.runtime.selection.plan import DEFAULT, VariantPlan
from weft.runtime.selection.report import report
from weft.runtime.selection.settings import Settings
from weft.runtime.selection.tuner import Tuner, Turn

MODULE = parse_module(
    """
kernel f(x: f32[n], y: f32[n]) -> f32[n] { return x * y + exp(x) }
kernel s(x: f32[n, m]) -> f32[n] { return sum(x * x, axis=1) }
""",
    "variants",
)
ONLY_TIME = Weights(1, 0, 0, 0, 0)


def kernel(tuner: Tuner, name: str = "f") -> Any:
    return CallableKernel(MODULE.kernels[name], Registry(), Options(), tuner)


def arrays(size: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(size)
    return rng.normal(size=size).astype(np.float32), rng.normal(size=size).astype(np.float32)


def wait_for_variants() -> None:
    for thread in threading.enumerate():
        if thread.name == "weft variants":
            thread.join()


@pytest.fixture
def every_call_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "LONG", 1)


def test_all_variants_give_the_same_bits() -> None:
    tuner = Tuner(History(), Settings())
    x = np.random.default_rng(0).normal(size=(300, 517)).astype(np.float32)
    for name, args in (("f", arrays(100_003)), ("s", (x,))):
        k = kernel(tuner, name)
        expected = k(*args)
        lowered, env = k.sized(*args)
        variants = variants_of(lowered, replace(workload_of(lowered, env), threads=2))
        assert {"unroll=1", "unroll=8", "share=0"} <= set(variants)
        for variant in variants.values():
            assert k.in_variant(variant)(*args).tobytes() == expected.tobytes()


@pytest.mark.usefixtures("every_call_is_long")
def test_calls_try_variants_until_it_is_settled_and_never_change(monkeypatch: pytest.MonkeyPatch) -> None:
    tuner = Tuner(History(), Settings(explore=0.5, confidence=0.5, weights=ONLY_TIME, selector="score"))
    took = tuner.took
    cost = {"unroll=8": 1e-6}
    monkeypatch.setattr(tuner, "took", lambda turn, seconds: took(turn, cost.get(turn.variant, 1.5e-6)))
    k = kernel(tuner)
    x, y = arrays(5000)
    expected = k(x, y).tobytes()
    for _ in range(200):
        assert k(x, y).tobytes() == expected
        wait_for_variants()
    plan = k.lower(x, y).loaded.plan
    assert plan.name_at(5000) == "unroll=8"
    assert plan.at(5000) is plan.made["unroll=8"]
    served = sum(plan.served.values())
    for _ in range(300):
        assert k(x, y).tobytes() == expected
    assert sum(plan.served.values()) <= served + 1  # settled: nothing is tried any more
    assert k.chain.calls > 250
    told = report(tuner)
    assert told.counts == {"unroll=8": 1}
    assert told.accuracy == 1.0
    assert "f at 5000: unroll=8 1 us" in str(told)


@pytest.mark.usefixtures("every_call_is_long")
def test_calls_do_not_try_what_only_a_calibration_tells() -> None:
    before = weft.get_threads()
    weft.set_threads(2)
    tuner = Tuner(History(), Settings(explore=0.5))
    k = kernel(tuner)
    x, y = arrays(100_000)
    for _ in range(60):
        k(x, y)
        wait_for_variants()
    lowered, env = k.sized(x, y)
    assert "share=0" in variants_of(lowered, workload_of(lowered, env))
    assert "unroll=1" in lowered.loaded.plan.made and "share=0" not in lowered.loaded.plan.made
    weft.set_threads(before)


def test_small_calls_are_left_alone() -> None:
    tuner = Tuner(History(), Settings(explore=1.0))
    k = kernel(tuner)
    x, y = arrays(100)
    for _ in range(100):
        k(x, y)
    assert k.lower(x, y).loaded.plan is None
    assert len(tuner.history) == 0
    assert k.chain.calls > 90


def test_calls_stay_native_when_exploring_is_switched_off() -> None:
    tuner = Tuner(History(), Settings(explore=0.5))
    k = kernel(tuner)
    x, y = arrays(100)
    for _ in range(10):
        k(x, y)
    tuner.configure(Settings(explore=0))
    for _ in range(1000):
        k(x, y)
    assert k.chain.calls > 900


@pytest.mark.usefixtures("every_call_is_long")
def test_what_is_twice_as_slow_as_the_best_known_is_not_tried_again() -> None:
    tuner = Tuner(History(), Settings(explore=1.0))
    k = kernel(tuner)
    x, y = arrays(4000)
    lowered, env = k.sized(x, y)
    plan, load = tuner.plan(lowered, env), workload_of(lowered, env)
    names = list(variants_of(lowered, load))
    tuner.make(plan, load, names, Registry())
    tuner.history.add(load, DEFAULT, 1e-9)  # so fast that every other one is expected to be too slow
    plan.served[load.bucket] = tuning.FIRST
    for _ in range(5):
        turn = tuner.turn(lowered, env, Registry(), is_sample=True)
        assert turn.variant == DEFAULT
        tuner.took(turn, 1e-9)
    assert [r.variant for r in tuner.history] == [DEFAULT]


def test_choices_by_size_become_ranges_that_native_calls_follow() -> None:
    tuner = Tuner(History(), Settings(explore=0, weights=ONLY_TIME, selector="score"))
    k = kernel(tuner)
    for size, best in ((50, "unroll=1"), (5000, "unroll=8"), (500_000, DEFAULT)):
        lowered, env = k.sized(*arrays(size))
        load = workload_of(lowered, env)
        for name in variants_of(lowered, load):
            for _ in range(4):
                tuner.history.add(load, name, size * 1e-9 * (1 if name == best else 3))
        tuner.make(tuner.plan(lowered, env), load, list(variants_of(lowered, load)), Registry())
        tuner.decide(tuner.plan(lowered, env), load, is_final=True)
    plan: VariantPlan = lowered.loaded.plan  # type: ignore[assignment]
    assert [name for _, _, name in plan.ranges()] == ["unroll=1", "unroll=8", DEFAULT]
    assert plan.ranges()[0][1] in range(300, 900)
    for size in (1, 50, 200, 2000, 5000, 400_000, 1_000_000) * 3:
        x, y = arrays(size)
        chosen = tuner.turn(lowered, {"n": size}, Registry(), is_sample=False)
        assert chosen == Turn(plan.at(size), plan.name_at(size))
        assert np.array_equal(k(x, y), k.in_variant(())(x, y))
    assert k.chain.calls > 5


def test_a_poisoned_history_changes_no_result(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    tuner = Tuner(History(path), Settings(time_limit=0.01))
    k = kernel(tuner)
    x, y = arrays(2000)
    expected = k(x, y).tobytes()
    timings = calibrate(tuner, Registry(), k, (x, y), {})
    assert sorted(t.least for t in timings) == [t.least for t in timings]
    assert sum(t.is_chosen for t in timings) == 1
    good = path.read_text()
    rng = random.Random(3)
    for _ in range(20):
        text = list(good)
        for _ in range(rng.randrange(1, 40)):
            text[rng.randrange(len(text))] = rng.choice('0123456789.e-+"[],{}x')
        path.write_text("".join(text))
        again = kernel(Tuner(History(path), Settings(explore=0)))
        for _ in range(4):
            assert again(x, y).tobytes() == expected
    path.write_text(good.replace('"default"', '"unroll=1000000"').replace('"unroll=1"', '"__import__"'))
    again = kernel(Tuner(History(path), Settings(explore=0)))
    assert again(x, y).tobytes() == expected
    wait_for_variants()
    assert set(again.lower(x, y).loaded.plan.made) <= set(
        variants_of(again.lower(x, y), workload_of(*again.sized(x, y)))
    )


def test_a_new_process_uses_what_was_measured(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    first = Tuner(History(path), Settings(time_limit=0.01, weights=ONLY_TIME, selector="score"))
    k = kernel(first)
    x, y = arrays(3000)
    load = workload_of(*k.sized(x, y))
    for name in variants_of(k.lower(x, y), load):
        for _ in range(4):
            first.history.add(load, name, 1e-6 if name == "unroll=1" else 5e-6)
    first.history.save()
    later = kernel(Tuner(History(path), Settings(explore=0, selector="score")))
    expected = k(x, y).tobytes()
    assert later(x, y).tobytes() == expected  # the variant is still being compiled, or is ready
    wait_for_variants()
    assert later(x, y).tobytes() == expected
    plan = later.lower(x, y).loaded.plan
    assert plan.at(3000) is plan.made["unroll=1"]


def test_implementations_that_are_declared_equal_are_variants() -> None:
    registry = Registry()
    with registry.scope():
        registry.register("exp2", "f32 -> f32", lambda x: x + x * x, name="first", same_bits=True)
        registry.register("exp2", "f32 -> f32", lambda x: x * x + x, name="second", same_bits=True)
        registry.register("exp2", "f32 -> f32", lambda x: x, name="another", variant="naive", requires=["none such"])
        source = parse_module("kernel g(x: f32[n]) -> f32[n] { return exp2(x) + 1 }", "equal").kernels["g"]
        tuner = Tuner(History(), Settings(explore=0, time_limit=0.01, weights=ONLY_TIME, selector="score"))
        k = CallableKernel(source, registry, Options(), tuner)
        x = arrays(1000)[0]
        expected = x + x * x + 1
        assert np.array_equal(k(x), expected)
        lowered, env = k.sized(x)
        load = workload_of(lowered, env)
        assert [n for n in variants_of(lowered, load) if n.startswith("impl")] == ["impl exp2=first"]
        for name in variants_of(lowered, load):
            for _ in range(4):
                tuner.history.add(load, name, 1e-6 if name == "impl exp2=first" else 2e-6)
        tuner.make(tuner.plan(lowered, env), load, list(variants_of(lowered, load)), registry)
        tuner.decide(tuner.plan(lowered, env), load, is_final=True)
        assert lowered.loaded.plan is not None
        chosen = lowered.loaded.plan.at(1000)
        assert "exp2: inline custom first" in str(chosen.ir(after="select-kernels"))
        for _ in range(4):
            assert np.array_equal(k(x), expected)


def test_what_fails_in_calibration_is_told_as_in_a_call() -> None:
    def fail(x: Any) -> Any:
        raise ValueError("no data")

    registry = Registry()
    registry.register("exp", "f32 -> f32", fail, kind="python")
    tuner = Tuner(History(), Settings(time_limit=0.01))
    failing = CallableKernel(MODULE.kernels["f"], registry, Options(), tuner)
    x = np.ones(100, np.float32)
    with pytest.raises(KernelFailure, match="'fail' of 'exp' raised ValueError: no data"):
        calibrate(tuner, registry, failing, (x, x), {})


def test_a_forked_child_compiles_variants_though_its_parent_was_about_to() -> None:
    tuner = Tuner(History(), Settings(explore=0))
    k = kernel(tuner)
    x, y = arrays(3000)
    lowered, env = k.sized(x, y)
    load, plan = workload_of(lowered, env), tuner.plan(lowered, env)
    with tuner._compiling:  # as a thread of the parent would hold it
        child = os.fork()
        if child == 0:
            worker = threading.Thread(target=tuner.make, args=(plan, load, ["unroll=8"], Registry()), daemon=True)
            worker.start()
            worker.join(60)
            os._exit(0 if "unroll=8" in plan.made else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
