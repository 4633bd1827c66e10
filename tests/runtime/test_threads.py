"""Test threads: the same bits for every number of them, and safety under calls, forks, interrupts and exits."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.llvm.engine.library import LoadedCode
from weft.errors import ValueProblem
from weft.runtime.disk.code import machine_code
from weft.runtime.native.pool_code import FIELDS, PATIENCE, SIZE, text
from weft.runtime.threads import pool

COUNTS = (1, 2, 3, 8, 16)


@pytest.fixture(autouse=True)
def _threads_as_before() -> Iterator[None]:
    before = weft.get_threads()
    yield
    weft.set_threads(before)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layernorm(x: Any) -> Any:
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


KERNELS: dict[str, Any] = {
    "elementwise": lambda x: np.tanh(x) * 2 + x,
    "strided": lambda x: x[:, ::2] - x[:, 1::2],
    "transposed": lambda x: x.T * 2 - x.sum(),
    "softmax": softmax,
    "layernorm": layernorm,
    "total": lambda x: (x * x).sum(),
    "columns": lambda x: (x * x).sum(axis=0),
    "several": lambda x: (x.sum(), x.max(axis=0), np.exp(x), x.mean(axis=1)),
    "deviation": lambda x: (x.std(), x.std(axis=0)),
    "running": lambda x: np.cumsum(x, axis=0),
    "normalised": lambda x: x / np.linalg.norm(x),
    "place": lambda x: (x.argmax(), x.argmin(axis=0)),
}


def all_bits(result: Any) -> list[bytes]:
    results = result if isinstance(result, tuple) else (result,)
    return [np.asarray(x).tobytes() for x in results]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", KERNELS)
def test_the_same_bits_on_every_number_of_threads(name: str, dtype: str) -> None:
    x = np.random.default_rng(5).standard_normal((1301, 998)).astype(dtype)
    kernel, found = weft.jit(KERNELS[name]), []
    for count in COUNTS:
        weft.set_threads(count)
        for _ in range(3):  # the first calls are Python's, the third is native
            found.append(all_bits(kernel(x)))
    assert all(bits == found[0] for bits in found)


def test_work_is_shared() -> None:
    """Several threads run pieces, so several scratch areas are used."""
    weft.set_threads(4)
    x = np.random.default_rng(0).standard_normal((4000, 1000))
    weft.jit(softmax)(x)
    assert pool().read("started") >= 3


def test_scratch_memory_is_each_worker_s_own() -> None:
    """`exp` of a row is kept between stages in memory that threads must not share."""
    weft.set_threads(8)
    x = np.random.default_rng(1).standard_normal((3000, 700))
    kernel = weft.jit(lambda x: np.exp(x).sum(axis=1) + (np.exp(x) - np.exp(x).max(axis=1, keepdims=True)).sum(axis=1))
    weft.set_threads(1)
    expected = kernel(x)
    weft.set_threads(8)
    for _ in range(5):
        np.testing.assert_array_equal(kernel(x), expected)


def test_concurrent_callers() -> None:
    weft.set_threads(3)
    xs = [np.random.default_rng(k).standard_normal((400, 1000 + k)) for k in range(8)]
    kernel = weft.jit(softmax)
    expected = [kernel(x).tobytes() for x in xs]
    with ThreadPoolExecutor(8) as callers:
        for _ in range(6):
            assert [r.tobytes() for r in callers.map(kernel, xs)] == expected


def test_failures_in_workers_are_reported() -> None:
    x, k = np.arange(3_000_000), np.full(3_000_000, 2)
    k[-1] = -1
    kernel = weft.jit(lambda x, k: x**k)
    for _ in range(3):
        with pytest.raises(ValueError, match="negative integer powers"):
            kernel(x, k)


def test_forked_children_have_a_pool_of_their_own() -> None:
    weft.set_threads(2)
    x = np.random.default_rng(3).standard_normal((2000, 500))
    kernel = weft.jit(softmax)
    expected = [kernel(x) for _ in range(3)][-1].tobytes()
    child = os.fork()
    if child == 0:
        os._exit(0 if all(kernel(x).tobytes() == expected for _ in range(3)) else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert kernel(x).tobytes() == expected


def test_a_fork_while_another_thread_is_inside() -> None:
    weft.set_threads(2)
    x = np.random.default_rng(3).standard_normal((3000, 500))
    kernel = weft.jit(softmax)
    expected = [kernel(x) for _ in range(3)][-1].tobytes()
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            kernel(x)

    caller = threading.Thread(target=busy)
    caller.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if kernel(x).tobytes() == expected else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        caller.join()


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
        env={**os.environ, **environment}, check=False,
    )  # fmt: skip


def test_multiprocessing_works_with_a_running_pool() -> None:
    done = run("""
        import multiprocessing, numpy as np, weft
        kernel = weft.jit(lambda x: (np.exp(x) * x).sum(axis=1))
        x = np.linspace(0, 1, 2_000_000).reshape(1000, 2000)
        def work(k):
            return float(kernel(x + k).sum())
        weft.set_threads(2)
        expected = [work(k) for k in range(6)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(work, range(6)) == expected
    """)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("native", ["0", "1"])
def test_interrupts_end_a_long_call(native: str) -> None:
    """A child runs one call for many seconds; a signal ends it with KeyboardInterrupt, and the child continues."""
    code = textwrap.dedent("""
        import numpy as np, weft, weft.function
        x = np.linspace(0, 1, 4_000_000)
        def f(x):
            for _ in range(6):
                x = np.sin(x) * np.exp(x) % 3
            return x
        big = np.lib.stride_tricks.as_strided(x, (4000, x.size), (0, 8))
        kernel = weft.function.tracing(lambda a: f(a).sum(axis=1))
        kernel(x[None, :9]), kernel(x[None, :9])
        print("ready", flush=True)
        try:
            kernel(big)
            print("finished")
        except KeyboardInterrupt:
            print("interrupted", kernel(x[None, :3]).shape)
    """)
    environment = {**os.environ, "WEFT_NATIVE_CALLS": native, "WEFT_NUM_THREADS": "2"}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored where tests run in the background
    ) as child:  # fmt: skip
        try:
            assert child.stdout is not None and child.stdout.readline() == "ready\n"
            time.sleep(0.3)
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=60)
        finally:
            child.kill()
    assert out == "interrupted (1,)\n", err


def test_exit_with_a_running_pool() -> None:
    done = run("""
        import atexit, numpy as np, weft
        kernel = weft.jit(lambda x: np.exp(x) * 2)
        x = np.ones(3_000_000)
        kernel(x), kernel(x), kernel(x)
        atexit.register(lambda: print(kernel(x).shape))
    """)
    assert (done.returncode, done.stdout) == (0, "(3000000,)\n"), done.stderr


def test_a_sleeping_pool_uses_no_cpu() -> None:
    """After a call the workers spin for some microseconds and then sleep; a second of waiting costs nearly nothing."""
    done = run("""
        import numpy as np, time, weft
        weft.set_threads(4)
        kernel = weft.jit(lambda x: np.exp(x) * 2)
        kernel(np.ones(3_000_000))
        time.sleep(0.2)
        before = time.process_time()
        time.sleep(1)
        print(time.process_time() - before < 0.2)
    """)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "2", 100_000, None])
def test_bad_numbers_of_threads(count: Any) -> None:
    before = weft.get_threads()
    with pytest.raises(ValueProblem, match="the number of threads must be"):
        weft.set_threads(count)
    assert weft.get_threads() == before


def test_the_environment_says_how_many() -> None:
    code = "import weft; print(weft.get_threads())"
    assert run(code, WEFT_NUM_THREADS="7").stdout == "7\n"
    assert run(code, WEFT_NUM_THREADS="").stdout == f"{len(os.sched_getaffinity(0))}\n"
    wrong = run(code, WEFT_NUM_THREADS="many")
    assert wrong.returncode == 1 and "WEFT_NUM_THREADS must be from 1 to 1024, not 'many'" in wrong.stderr


def test_short_calls_wake_no_thread_but_now_and_then() -> None:
    code = """
        import numpy as np, weft, weft.function
        from weft.runtime import threads
        from weft.runtime.native import pool_code
        weft.set_threads(2)
        kernel, x = weft.jit(lambda x: x * 2 + 1), np.arange(60_000, dtype=np.float32)
        time = kernel.lower(x).kernels[0].attrs["cost"] * x.size
        assert threads.SHORT < time < pool_code.LONG, time
        threads.pool(), kernel(x)  # Python serves it
        started = []
        for call in range(pool_code.SHORT_CALLS):
            assert (kernel(x) == x * 2 + 1).all()
            started.append(threads.pool().read("started"))
        print(started.index(1), started[-1])
    """
    done = run(code)
    assert done.stdout == "15 1\n", done.stderr


@pytest.mark.parametrize("count", [2, 3, 16, 17, 40])
def test_every_piece_is_run_once(count: int) -> None:
    """Each thread has a range of pieces, up to the number of ranges in the pool; some ranges are empty."""
    weft.set_threads(count)
    kernel = weft.jit(lambda x: x + 1)
    for size in (30_000, 61_003, 400_000, 3_000_001):
        x = np.zeros(size)
        for _ in range(40):
            x = kernel(x)
        assert (x == 40).all()


def test_a_first_call_makes_a_pool_only_for_much_work() -> None:
    code = """
        import numpy as np, weft, weft.function
        from weft.runtime import threads
        from weft.runtime.compiler import Options
        from weft.runtime.kernel import Kernel
        source = weft.compile("kernel f(x: f32[n, m]) -> f32[n, m] { return exp(x) }").f._source
        kernel = Kernel(source, weft.registry, Options())
        x = np.ones((100, 1000), np.float32)
        made = []
        for _ in range(1000):
            kernel(x)
            made.append(bool(threads._made))
        print(made[0], made[-1], threads.is_shared(threads.SHARED - 1), threads.is_shared(threads.SHARED))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False True False True"


def test_a_loop_releases_the_lock_no_sooner_than_others_are_certain_to_get_it() -> None:
    """A waiting thread asks for the lock after 5 ms without a release; releasing sooner only makes it wait longer."""
    clock, events, raises = [100 * PATIENCE], [], [0]

    def read(_: int, at: int) -> int:
        (ctypes.c_int64 * 2).from_address(at)[:] = (0, clock[0])
        return 0

    def note(name: str, result: int | None) -> Callable[..., int | None]:
        return lambda *_: (events.append(name), result)[1]

    address, number = ctypes.c_void_p, ctypes.c_int32
    words = {
        "clock": ctypes.PYFUNCTYPE(number, number, address)(read),
        "save": ctypes.PYFUNCTYPE(address)(note("save", 1)),
        "restore": ctypes.PYFUNCTYPE(None, address)(note("restore", None)),
        "signals": ctypes.PYFUNCTYPE(number)(lambda: (events.append("signals"), raises[0])[1]),
    }
    memory = ctypes.create_string_buffer(SIZE)
    base = ctypes.addressof(memory)
    for name, word in words.items():
        ctypes.c_void_p.from_address(base + FIELDS[name]).value = ctypes.cast(word, address).value
    code = machine_code(text(platform.machine()), allowed=frozenset(("pool",)))
    library = LoadedCode(code, ["turn"], {"pool": base})
    turn = ctypes.PYFUNCTYPE(number)(library.addresses["turn"])
    released = ["save", "restore", "signals"]
    for later, expected in ((0, released), (0, ["signals"]), (PATIENCE - 1, ["signals"]), (1, released)):
        clock[0] += later
        events.clear()
        assert turn() == 0
        assert events == expected
    raises[0] = -1
    assert turn() == -1
