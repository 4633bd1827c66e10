"""Test `weft.load(..., watch=True)`: changed files are read again, and existing kernels get the new code."""

from __future__ import annotations

import gc
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.errors import LoadWarning
from weft.loading import watching
from weft.runtime.compiler import Options
from weft.runtime.native.callables import is_native
from weft.settings import default_options

from tests.user_kernels.libraries import FAILS, build

X = np.arange(4, dtype=np.float32)
ADD = "kernel f(x: f32[n]) -> f32[n] {{ return x + {} }}\n"


@pytest.fixture(autouse=True)
def by_hand(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The thread is too slow to interfere; tests check files themselves."""
    monkeypatch.setattr(watching, "SECONDS", 3600)
    with weft.registry.scope():
        yield


def edit(file: Path, text: str) -> None:
    """Replace a file by a new one, as editors do."""
    (file.parent / "edited").write_text(text)
    os.replace(file.parent / "edited", file)


def look(module: weft.compiling.Module) -> bool:
    """Check twice, because a file is read once it has stopped changing."""
    assert not module._watch.look()
    return module._watch.look()


def test_kernels_that_are_held_get_the_new_code(tmp_path: Path) -> None:
    file = tmp_path / "k.weft"
    file.write_text(ADD.format(1))
    module = weft.load(file, watch=True)
    f = module.f
    for _ in range(4):
        assert f(X)[0] == 1
    if is_native(f) and default_options() == Options():
        assert not f.chain.is_empty, "calls are native by now"
    assert not look(module), "nothing has changed"
    edit(file, ADD.format(2) + "kernel g(x: f32[n]) -> f32[n] { return x * 0 }")
    assert look(module) and module.f is f and list(module) == ["f", "g"]
    for _ in range(4):
        assert f(X)[0] == 2 and f(x=X)[0] == 2 and f.lower(X).kernels
    file.write_text("kernel f(y: f64[n], x: f64) -> f64[n] { return y * x }")  # in place, another signature
    assert look(module) and np.array_equal(f(X.astype(np.float64), x=3.0), 3 * X) and list(module) == ["f"]


def test_a_broken_edit_keeps_the_old_kernel_and_is_reported_once(tmp_path: Path) -> None:
    file = tmp_path / "k.weft"
    file.write_text(ADD.format(1))
    module = weft.load(file, watch=True)
    edit(file, ADD.format("(("))
    with pytest.warns(
        LoadWarning, match=r"k\.weft was not loaded again, its old kernels stay: .*does not close"
    ) as warned:
        assert look(module)
        assert not module._watch.look() and not module._watch.look()
    assert len(warned) == 1 and len(module.problems) == 1 and module.f(X)[0] == 1
    os.unlink(file)
    assert not look(module) and module.f(X)[0] == 1, "a file that is gone keeps its kernels"
    file.write_text(ADD.format(3))
    assert look(module) and module.problems == () and module.f(X)[0] == 3
    edit(file, ADD.format("(("))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        assert look(module) and len(caught) == 1 and caught[0].filename == str(file), "the same mistake once more"


def test_imports_and_registrations_follow(tmp_path: Path) -> None:
    (tmp_path / "lib.weft").write_text("fn shift(x) = x + 1")
    file = tmp_path / "k.weft"
    text = '@impl(op="shifted")\nkernel f(x: f32[n]) -> f32[n] { return shift(x) }\n'
    file.write_text('import "lib.weft"\n' + text)
    module = weft.load(file, watch=True)
    user = weft.jit(lambda x: weft.ops.shifted(x) * 2)
    assert user(X)[0] == 2
    edit(tmp_path / "lib.weft", "fn shift(x) = x + 5")
    assert look(module) and module.f(X)[0] == 5 and user(X)[0] == 10
    edit(tmp_path / "lib.weft", "fn shift(x) = ")
    with pytest.warns(LoadWarning, match="lib.weft:1"):
        assert look(module)
    assert module.f(X)[0] == 5 and user(X)[0] == 10
    edit(file, text.replace("shift(x)", "x - 1").partition("\n")[2])
    assert look(module) and module.f(X)[0] == -1
    with pytest.raises(AttributeError, match="no op is called 'shifted'"):
        weft.ops.shifted  # noqa: B018


def test_a_directory_gains_files(tmp_path: Path) -> None:
    (tmp_path / "a.weft").write_text(ADD.format(1))
    (tmp_path / "b.weft").write_text("kernel b(x: f32[n]) -> f32[n] { return bump(x) }")
    with pytest.warns(LoadWarning, match="unknown function 'bump'"):
        module = weft.load(tmp_path, watch=True)
    edit(tmp_path / "a.weft", ADD.format(1) + "# again")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert look(module) and not caught and len(module.problems) == 1, "nobody has touched the broken file"
    (tmp_path / "c.weft").write_text('@impl(op="bump")\nkernel c(x: f32[n]) -> f32[n] { return x + 9 }')
    assert look(module) and list(module) == ["f", "c", "b"] and module.problems == ()
    assert module.b(X)[0] == 9 and module.f(X)[0] == 1


def test_a_library_that_is_built_again_is_loaded_again(tmp_path: Path) -> None:
    file = tmp_path / "k.weft"
    build(tmp_path / "k.so")
    file.write_text('extern kernel f(x: f32[n]) -> f32[n] from "k.so" symbol "twice_f32"')
    module = weft.load(file, watch=True, libraries=True)
    assert np.array_equal(module.f(X), 2 * X)
    build(tmp_path / "k.so", FAILS)
    assert look(module)
    with pytest.raises(weft.errors.KernelFailure, match="status 7"):
        module.f(X)
    build(tmp_path / "k.so", abi=9)
    with pytest.warns(LoadWarning, match="version 9"):
        assert look(module)
    with pytest.raises(weft.errors.KernelFailure, match="status 7"):
        module.f(X)


def test_calls_during_edits_give_one_of_the_versions(tmp_path: Path) -> None:
    file = tmp_path / "k.weft"
    text = "kernel f(a: f32[n], b: f32[n]) -> f32[n] { return a - b }"
    other = "kernel f(b: f32[n], a: f32[n]) -> f32[n] { return a - b }"
    file.write_text(text)
    module = weft.load(file, watch=True)
    f, stop, wrong = module.f, threading.Event(), []

    def call() -> None:
        while not stop.is_set():
            found = f(a=X, b=X + 1)[0]  # by name: the same in both versions
            if found != -1:
                wrong.append(found)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for k in range(20):
        edit(file, (other, text)[k % 2] + f"# {k}")
        assert look(module)
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong


def _wait_for(condition: Callable[[], bool]) -> bool:
    return any(condition() or time.sleep(0.02) for _ in range(500))


def _watches() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "weft-watch"]


def test_the_thread_looks_by_itself_and_ends_with_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "SECONDS", 0.01)
    others = set(_watches())
    file = tmp_path / "k.weft"
    file.write_text(ADD.format(1))
    held = [weft.load(file, watch=True).f]
    (thread,) = (t for t in _watches() if t not in others)
    gc.collect()
    edit(file, ADD.format(2))
    assert _wait_for(lambda: held[0](X)[0] == 2), "a kernel that is held keeps its file watched"
    held.clear()
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
    module = weft.load(file, watch=True)
    (thread,) = (t for t in _watches() if t not in others)
    module.close()
    thread.join(10)
    assert not thread.is_alive()
