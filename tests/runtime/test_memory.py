"""Test memory of large results: it is reused, never too early, within the limit, and ordinary to NumPy."""

from __future__ import annotations

import ctypes
import gc
import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextvars import Context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import ValueProblem
from weft.runtime import memory
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.native import abi, steps
from weft.runtime.native.block_code import CHUNKS, KEPT
from weft.runtime.native.steps import CHUNKS_BEFORE

Array = np.ndarray[Any, Any]
MEGABYTE = 1 << 20
SHAPE = (1024, 1024)  # 4 MB of f32
pytestmark = pytest.mark.skipif(not abi.has_handlers(), reason="arrays are laid out in another way here")


@pytest.fixture(autouse=True)
def _limit() -> Iterator[None]:
    weft.set_memory_limit(0)
    weft.set_memory_limit(64 * MEGABYTE)
    yield
    weft.set_memory_limit(memory._default_limit())


@pytest.fixture(params=["native", "python"])
def double(request: pytest.FixtureRequest) -> Callable[[Array], Array]:
    """Return a kernel that is called natively, or always in Python."""
    native = weft.compile("kernel double(x: f32[..., n]) -> f32[..., n] { return x * 2 }").double
    if request.param == "python":
        return Kernel(native._source, weft.registry, Options())
    for _ in range(3):
        native(_ones())
    assert native.chain.calls
    return native  # type: ignore[no-any-return]


def _address(x: Array) -> int:
    return int(x.ctypes.data)


def _ones(shape: tuple[int, ...] = SHAPE) -> Array:
    return np.ones(shape, np.float32)


def test_memory_is_used_again_when_the_array_has_ended(double: Callable[[Array], Array]) -> None:
    x = _ones()
    first = double(x)
    at, before = _address(first), weft.memory_info()
    del first
    assert weft.memory_info().held == before.held + 4 * MEGABYTE
    again = double(x)
    after = weft.memory_info()
    assert _address(again) == at
    assert (after.reused, after.fresh) == (before.reused + 1, before.fresh)
    assert (after.held, after.in_use) == (before.held, before.in_use)


def test_a_result_begins_where_its_operand_does_in_a_line_of_the_cache() -> None:
    kernel = weft.compile("kernel add(x: f32[n], y: f32[n]) -> f32[n] { return x + y }").add
    gc.collect()  # other tests may have left cycles
    before = weft.memory_info().in_use
    room = np.ones(1 << 17, np.float32)
    aligned = room[-_address(room) % 64 // 4 :][: 1 << 16]
    for _ in range(3):
        kernel(aligned, aligned)
    for first in (0, 4, 8, 12):
        x = aligned[first : first + 50_001]
        for other in (aligned[:50_001], x):
            found = kernel(x, other)
            assert _address(found) % 64 == 4 * first
            assert found.flags.owndata
            assert (found == 2).all()
            found.resize(60_000)  # a block of its own again, and what was there is kept
            assert (found[:50_001] == 2).all()
            assert (found[50_001:] == 0).all()
            del found
    assert weft.memory_info().in_use == before


def test_not_while_anything_refers_to_it(double: Callable[[Array], Array]) -> None:
    x = _ones()
    result = double(x)
    views: list[Any] = [result[3:5], memoryview(result), result.T.reshape(-1, order="F")]
    at = _address(result)
    del result
    while views:
        other = double(x)
        assert _address(other) != at
        other[...] = 7
        assert (np.asarray(views[0]) == 2).all()
        del views[0]
    other = double(x)
    assert _address(double(x)) == at or _address(other) == at


@pytest.mark.parametrize("shape", [(MEGABYTE,), SHAPE, (64, 128, 128)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_it_looks_like_any_other_array(double: Callable[[Array], Array], shape: tuple[int, ...], order: Any) -> None:
    x = np.asarray(_ones(shape), order=order)
    result, usual = double(x), x * 2
    assert np._core.multiarray.get_handler_name(result) == "weft"
    assert type(result) is np.ndarray
    assert result.base is None
    assert str(result.flags) == str(usual.flags)
    assert (result.strides, result.dtype) == (usual.strides, usual.dtype)
    np.testing.assert_array_equal(result, usual)


def test_axes_in_any_order(double: Callable[[Array], Array]) -> None:
    for axes in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)):
        for shape in ((64, 128, 256), (3, 4, 5)):
            x = np.ascontiguousarray(_ones(shape).transpose(axes)).transpose(np.argsort(axes))
            for _ in range(3):
                result, usual = double(x), x * 2
                assert result.base is None
                assert (result.strides, str(result.flags)) == (usual.strides, str(usual.flags))
                np.testing.assert_array_equal(result, usual)


@pytest.mark.parametrize("order", [None, (0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
@pytest.mark.parametrize("shape", [(128, 128, 128), (3, 4, 5), (0, 4, 5), (3, 0, 5), (1, 4, 5)])
def test_empty_arrays_are_laid_out_as_numpy_lays_them_out(shape: tuple[int, ...], order: Any) -> None:
    axes = order or (0, 1, 2)
    usual = np.empty(tuple(shape[k] for k in axes)).transpose(np.argsort(axes))
    found = memory.empty(shape, np.dtype(np.float64), order)
    assert (found.shape, found.strides, found.flags.num & ~4) == (usual.shape, usual.strides, usual.flags.num)
    assert found.flags.owndata


@pytest.mark.parametrize("native", [True, False])
def test_what_one_kernel_hands_to_another_comes_from_the_list_too(native: bool) -> None:
    text = "kernel f(x: f64[n, m]) -> f64[n, m] { return x - cumsum(flip(cumsum(x, axis=0), axis=1), axis=1) }"
    kernel = weft.compile(text).f
    if not native:
        kernel = Kernel(kernel._source, weft.registry, Options())
    x = np.ones(SHAPE)
    expected = x - np.cumsum(np.flip(np.cumsum(x, axis=0), 1), axis=1)
    for _ in range(3):
        np.testing.assert_array_equal(kernel(x), expected)
    assert len(kernel.lower(x).kernels) > 1
    before = weft.memory_info()
    for _ in range(3):
        np.testing.assert_array_equal(kernel(x), expected)
    after = weft.memory_info()
    assert after.fresh == before.fresh
    assert after.reused >= before.reused + 6
    assert after.in_use == before.in_use


def test_small_results_are_left_to_numpy(double: Callable[[Array], Array]) -> None:
    before = weft.memory_info()
    result = double(_ones((15, 15)))
    assert np._core.multiarray.get_handler_name(result) == "default_allocator"
    assert weft.memory_info() == before


def _chunks(kilobytes: int) -> int:
    """Return how many chunks of a size the list has."""
    return ctypes.c_int64.from_address(memory.blocks().base + CHUNKS + 64 * kilobytes).value


def test_chunks_serve_results_that_the_c_library_keeps_nothing_for() -> None:
    """In a context without variables: pytest's has some, which might choose another allocator."""
    Context().run(_look_at_chunks)


def _look_at_chunks() -> None:
    """1 to 64 KB: made after some calls, used again, aligned with the operand, bounded, resized, and off if asked."""
    machine, handler = steps.machine(), np._core.multiarray.get_handler_name
    add = weft.compile("kernel add(x: f64[n], y: f64[n]) = x + y").add
    multiply = weft.compile("kernel multiply(x: f64[n, n], y: f64[n, n]) = x @ y").multiply
    machine.write("blocks", 0)
    machine.write("chunks", 0)
    x = np.arange(200.0)[8:]  # 1.5 KB: a chunk of two
    names = [handler(add(x, x)) for _ in range(CHUNKS_BEFORE + 100)]
    assert names.index("weft") >= CHUNKS_BEFORE and set(names[names.index("weft") :]) == {"weft"}
    assert handler(add(x[:100], x[:100])) == "default_allocator"
    for first in range(0, 8, 2):
        found = add(x[first:], x[first:])
        assert _address(found) % 64 == _address(x[first:]) % 64 and (found == 2 * x[first:]).all()
    square = x[:144].reshape(12, 12)
    found = [multiply(square, square) for _ in range(5)][-1]
    assert handler(found) == "weft" and _address(found) % 64 == 0
    kept = add(x, x)[5:7]  # a view keeps the chunk
    many = [add(x, x) for _ in range(KEPT + 3)]
    assert len({_address(each) for each in many}) == len(many)
    places = {_address(each) for each in many}
    del many
    assert _chunks(2) == KEPT and kept.tolist() == [26.0, 28.0]
    again = add(x, x)
    assert _address(again) in places and _chunks(2) == KEPT - 1
    again.resize(5_000, refcheck=False)  # 40 KB
    assert again[:192].tolist() == (2 * x).tolist() and not again[192:].any() and _chunks(2) == KEPT
    again.resize(20_000, refcheck=False)  # a block
    again.resize(3, refcheck=False)  # less than a chunk
    assert again.tolist() == [16.0, 18.0, 20.0]
    weft.set_memory_limit(0)
    assert _chunks(2) == 0 and handler(add(x, x)) == "default_allocator"
    del kept
    assert _chunks(2) == 0


def test_resizing_keeps_what_is_there(double: Callable[[Array], Array]) -> None:
    result = double(_ones())
    in_use = weft.memory_info().in_use
    result.resize((3 * 1024, 1024), refcheck=False)
    assert weft.memory_info().in_use == in_use + 8 * MEGABYTE
    assert (result[:1024] == 2).all()
    assert (result[1024:] == 0).all()
    result.resize((10, 10), refcheck=False)
    assert weft.memory_info().in_use == in_use - 4 * MEGABYTE
    assert (result == 2).all()
    result.resize((20, 20), refcheck=False)
    assert (result.ravel()[:100] == 2).all()
    assert not result.ravel()[100:].any()
    result.resize(SHAPE, refcheck=False)
    assert result.sum() == 200
    assert weft.memory_info().in_use == in_use


def test_the_list_stays_within_its_limit_and_drops_the_oldest(double: Callable[[Array], Array]) -> None:
    weft.set_memory_limit(9 * MEGABYTE)
    results = [double(_ones()) for _ in range(4)]
    places = [_address(r) for r in results]
    while results:
        del results[0]
        assert weft.memory_info().held <= 9 * MEGABYTE
    assert weft.memory_info().held == 8 * MEGABYTE
    assert {_address(x) for x in [double(_ones()), double(_ones())]} <= set(places[2:])
    del results
    huge = double(_ones((3 * 1024, 1024)))
    held = weft.memory_info().held
    del huge
    assert weft.memory_info().held <= held


def test_a_lower_limit_gives_back_at_once(double: Callable[[Array], Array]) -> None:
    results = [double(_ones()) for _ in range(3)]
    del results
    assert weft.memory_info().held == 12 * MEGABYTE
    weft.set_memory_limit(5 * MEGABYTE)
    assert (weft.memory_info().held, weft.memory_info().limit) == (4 * MEGABYTE, 5 * MEGABYTE)


def test_off_is_off(double: Callable[[Array], Array]) -> None:
    kept = double(_ones())
    del kept
    kept = double(_ones())
    weft.set_memory_limit(0)
    before = weft.memory_info()
    assert before.held == 0
    result = double(_ones())
    assert np._core.multiarray.get_handler_name(result) == "default_allocator"
    del result, kept
    after = weft.memory_info()
    assert (after.held, after.limit, after.reused, after.fresh) == (0, 0, before.reused, before.fresh)
    assert after.in_use == before.in_use - 4 * MEGABYTE


def test_a_block_serves_what_is_little_smaller_only(double: Callable[[Array], Array]) -> None:
    at = _address(double(_ones((5 * 1024, 1024))))
    assert _address(double(_ones((4 * 1024 + 900, 1024)))) == at
    assert _address(double(_ones((1024, 1024)))) != at
    assert _address(double(_ones((6 * 1024, 1024)))) != at


def test_many_blocks() -> None:
    weft.set_memory_limit(1 << 33)
    dtype = np.dtype(np.uint8)
    results = [memory.empty((MEGABYTE + k,), dtype) for k in range(200)]
    assert len({_address(r) for r in results}) == 200
    for k, result in enumerate(results):
        result[0] = result[-1] = k
    assert [(int(r[0]), int(r[-1])) for r in results] == [(k, k) for k in range(200)]
    del results, result
    assert weft.memory_info().held < 65 * (MEGABYTE + 4096)


def test_the_default_limit_knows_a_container(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("WEFT_MEMORY_LIMIT", raising=False)
    own, parent, missing = tmp_path / "own", tmp_path / "parent", tmp_path / "missing"
    own.write_text("max\n")
    parent.write_text("536870912\n")
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", (str(own), str(missing)))
    assert memory._default_limit() == min(1 << 30, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 16)
    monkeypatch.setattr(memory, "CONTAINER_LIMITS", (str(own), str(parent)))
    assert memory._default_limit() == 32 * MEGABYTE


@pytest.mark.parametrize("limit", [-1, 1.5, True, "1", 1 << 63])
def test_what_is_no_limit(limit: Any) -> None:
    with pytest.raises(ValueProblem, match="must be a whole number of bytes"):
        weft.set_memory_limit(limit)


def test_numpy_may_allocate_by_the_same_functions() -> None:
    """With this handler for all of NumPy, zeros are zero in used memory, and impossible sizes are refused."""
    blocks = memory.blocks()
    dirty = memory.empty((4 * MEGABYTE,), np.dtype(np.uint8))
    dirty[...] = 255
    at = _address(dirty)
    del dirty
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(abi.numpy_table()[abi.GET_HANDLER - 1])
    before = set_handler(blocks._handler)
    try:
        zeros = np.zeros(4 * MEGABYTE, np.uint8)
        small = np.zeros(10)
        with pytest.raises(MemoryError):
            np.empty(1 << 60, np.uint8)
        with pytest.raises(MemoryError):
            np.zeros((1 << 62, 1), np.uint8)
    finally:
        set_handler(before)
    assert np._core.multiarray.get_handler_name(zeros) == "weft"
    assert _address(zeros) == at
    assert not zeros.any()
    assert not small.any()
    zeros.resize(8 * MEGABYTE, refcheck=False)
    assert not zeros.any()


def test_more_memory_than_there_is(double: Callable[[Array], Array]) -> None:
    wide = np.broadcast_to(np.float32(1), (1 << 24, 1 << 24))
    before = weft.memory_info()
    with pytest.raises(MemoryError):
        double(wide)
    after = weft.memory_info()
    assert (after.in_use, after.fresh) == (before.in_use, before.fresh)


def test_tracemalloc_sees_it() -> None:
    memory.empty(SHAPE, np.dtype(np.float32))
    tracemalloc.start()
    try:
        result = memory.empty(SHAPE, np.dtype(np.float32))
        assert tracemalloc.get_traced_memory()[0] >= 4 * MEGABYTE
        del result
        assert tracemalloc.get_traced_memory()[0] < MEGABYTE
    finally:
        tracemalloc.stop()


def test_unknown_layouts_use_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abi, "has_handlers", lambda: False)
    monkeypatch.setattr(steps, "_made", [])
    assert np._core.multiarray.get_handler_name(memory.empty(SHAPE, np.dtype(np.float32))) == "default_allocator"
    assert weft.memory_info() == (0, 0, 0, 0, 0)
    kernel = weft.jit(lambda x: x * 3)
    for _ in range(3):
        assert np._core.multiarray.get_handler_name(kernel(_ones())) == "default_allocator"


def test_a_list_that_was_being_changed_is_forgotten_by_a_forked_child() -> None:
    blocks = memory.blocks()
    memory.empty(SHAPE, np.dtype(np.float32))
    assert blocks.read("count") == 1
    blocks._forget_others()
    assert blocks.read("count") == 1
    ctypes.c_int64.from_address(blocks.base + CHUNKS + 64).value = 1
    blocks.write("lock", 1)
    blocks._forget_others()
    assert (blocks.read("count"), weft.memory_info().held, _chunks(1)) == (0, 0, 0)
    assert memory.empty(SHAPE, np.dtype(np.float32)).shape == SHAPE
