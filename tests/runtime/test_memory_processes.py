"""Test the memory of results among threads and processes, and the peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from weft.runtime.native import abi

MEGABYTE = 1 << 20
pytestmark = pytest.mark.skipif(not abi.has_handlers(), reason="arrays are laid out in another way here")

HAMMER = """
    import os, random, sys, threading, time
    import numpy as np, weft

    weft.set_memory_limit(8 << 20)
    add = weft.jit(lambda x, k: x + k)
    ones = [np.ones((size, 1024), np.float32) for size in (300, 512, 700)]
    for x in ones:
        add(x, 1.0), add(x, 1.0), add(x, 1.0)
    wrong = []

    def hammer(seed, rounds):
        choose, kept = random.Random(seed), []
        for k in range(rounds):
            number = seed * 1000 + k
            kept.append((number, add(choose.choice(ones), float(number))))
            if len(kept) > 4:
                number, array = kept.pop(choose.randrange(len(kept)))
                if not (array == np.float32(number + 1)).all():
                    wrong.append(number)
        for number, array in kept:
            if not (array == np.float32(number + 1)).all():
                wrong.append(number)
"""


def run(code: str, *more: str, **environment: str) -> str:
    """Return what a new process prints that runs this code."""
    text = "\n".join(textwrap.dedent(piece) for piece in (code, *more))
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, **environment}, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_threads_never_share_a_block() -> None:
    check = """
        threads = [threading.Thread(target=hammer, args=(k, 150)) for k in range(1, 5)]
        [t.start() for t in threads], [t.join() for t in threads]
        info = weft.memory_info()
        print(wrong, info.in_use, info.held <= info.limit, info.reused > 0)
    """
    assert run(HAMMER, check) == "[] 0 True True"


def test_forked_children_use_it_while_threads_do() -> None:
    check = """
        threads = [threading.Thread(target=hammer, args=(k, 200)) for k in (1, 2)]
        [t.start() for t in threads]
        children = []
        for k in range(8):
            child = os.fork()
            if not child:
                hammer(10 + k, 20)
                os._exit(1 if wrong else 0)
            children.append(child)
        failed = [os.waitstatus_to_exitcode(os.waitpid(c, 0)[1]) for c in children]
        [t.join() for t in threads]
        print(failed, wrong)
    """
    assert run(HAMMER, check, WEFT_NUM_THREADS="1") == f"{[0] * 8} []"


def test_arrays_may_end_after_the_interpreter() -> None:
    """Native code frees the data, and still exists when the last modules are gone."""
    check = """
        import numpy as np, sys, weft
        import weft.runtime.memory
        add = weft.jit(lambda x: x + 1)
        x = np.ones((1024, 1024), np.float32)
        results = [add(x) for _ in range(5)]
        sys.kept = results[0]
        class Late:
            def __init__(self, array): self.array = array
            def __del__(self): self.array = None
        np.kept = Late(results[1])
        cycle = [results[2]]; cycle.append(cycle)
        weft.runtime.memory.kept = Late(results[3])
        print("done")
    """
    assert run(check) == "done"


@pytest.mark.parametrize(("given", "shown"), [("0", "0 default_allocator"), ("5000000", "5000000 weft")])
def test_the_limit_of_the_environment(given: str, shown: str) -> None:
    check = """
        import numpy as np, weft
        result = weft.jit(lambda x: x + 1)(np.ones((1024, 1024), np.float32))
        print(weft.memory_info().limit, np._core.multiarray.get_handler_name(result))
    """
    assert run(check, WEFT_MEMORY_LIMIT=given) == shown


@pytest.mark.parametrize("given", ["much", "-1", "1.5"])
def test_a_limit_of_the_environment_that_is_none(given: str) -> None:
    check = """
        import weft
        try:
            weft.memory_info()
        except weft.errors.ValueProblem as error:
            print(error)
    """
    assert run(check, WEFT_MEMORY_LIMIT=given).startswith(f"WEFT_MEMORY_LIMIT must be a number of bytes, not {given!r}")


def test_the_list_is_given_back_when_memory_runs_out() -> None:
    check = """
        import resource
        import numpy as np, weft
        from weft.runtime.memory import empty

        byte = np.dtype(np.uint8)
        weft.set_memory_limit(1 << 30)
        results = [empty((64 << 20,), byte) for _ in range(4)]
        del results
        held = weft.memory_info().held
        with open("/proc/self/statm") as file:
            mapped = int(file.read().split()[0]) * 4096
        resource.setrlimit(resource.RLIMIT_AS, (mapped + (64 << 20), resource.RLIM_INFINITY))
        large = empty((200 << 20,), byte)
        large[::4096] = 1
        try:
            empty((400 << 20,), byte)
        except MemoryError:
            print(held >> 20, weft.memory_info().held, np._core.multiarray.get_handler_name(large))
    """
    assert run(check) == "256 0 weft"


PEAK = """
    import numpy as np, weft

    def peak():
        with open("/proc/self/status") as status:
            found = [line.split() for line in status if line.startswith(("VmHWM:", "VmRSS:"))]
        return {name.rstrip(":"): int(kilobytes) << 10 for name, kilobytes, _ in found}

    def chain(x, y):
        return np.sqrt(np.abs((x * 2 + y) * (x - y) / (y * y + 1) - x * 0.5)) + np.maximum(x, y)

    def softmax(x, y):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    def moments(x, y):
        mean = x.mean(axis=0)
        return mean, ((x - mean) ** 2).sum(axis=1)

    weft.set_threads(2)  # the pool takes memory of its own
    x, y = np.ones((4096, 2048), np.float32), np.full((4096, 2048), 2, np.float32)  # 32 MB each
    for function in (chain, softmax, moments):
        kernel = weft.jit(function)
        for _ in range(3):
            kernel(x[:600], y[:600])
        weft.set_memory_limit(0), weft.set_memory_limit(1 << 30)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = peak()["VmRSS"]
        result = kernel(x, y)
        grown = peak()["VmHWM"] - before
        results = result if isinstance(result, tuple) else (result,)
        print(function.__name__, grown < sum(r.nbytes for r in results) + (6 << 20), grown >> 20)
        del result, results
"""


@pytest.mark.parametrize("native", ["1", "0"])
def test_what_is_fused_needs_memory_for_results_only(native: str) -> None:
    """Ten operations on arrays of 32 MB, with reductions of rows, allocate only the results."""
    lines = [line.split() for line in run(PEAK, WEFT_NATIVE_CALLS=native).splitlines()]
    assert [(name, within) for name, within, _ in lines] == [
        ("chain", "True"), ("softmax", "True"), ("moments", "True"),
    ]  # fmt: skip
    assert int(lines[0][2]) >= 31, "the peak is not measured"
