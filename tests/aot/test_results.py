"""Test that C functions give the same bits as Python: each kind of kernel, size and layout, on each CPU level."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.llvm.engine import target

from tests.aot.calling import Loaded, built, sizes_of

Array = np.ndarray[Any, Any]
EMPTY = 5
TEXT = (Path(__file__).parent / "kernels.weft").read_text()
LEVELS = [level for level, bytes in ((3, 32), (4, 64)) if target.host().vector_bytes >= bytes]
SIZES = (0, 1, 7, 1000)
STRIDED = (
    "normalised",
    "totals",
    "moments",
    "joined",
    "reshaped",
    "twice",
    "turned",
    "smoothed",
    "averaged",
    "layered",
)
PARALLEL = {"normalised_f64": (301, 2000), "totals": (2000, 501), "moments": (700_001,), "averaged": (300, 2000)}


@pytest.fixture(scope="module", params=LEVELS)
def library(request: Any) -> Loaded:
    return Loaded(built(TEXT, [request.param], dense_only=True), "k")


@pytest.fixture(scope="module", params=LEVELS)
def strided(request: Any) -> Loaded:
    return Loaded(built(TEXT, [request.param], STRIDED, dtypes=["f32"]), "k")


@cache
def python(layout: str) -> Any:
    """Make the kernels in Python, separately for each layout: after eight combinations they use the general one."""
    return weft.compile(TEXT)


def arrays(n: int, m: int) -> dict[str, tuple[Any, ...]]:
    rng = np.random.default_rng(n * 1009 + m)
    f4, f8 = rng.standard_normal((n, m), np.float32), rng.standard_normal(n)
    return {
        "normalised_f32": (f4,),
        "normalised_f64": (f4.astype(np.float64),),
        "totals": (f4,),
        "moments": (f8,),
        "axpy": (np.float64(0.1), f8, f8[::-1].copy()),
        "turned": (f8.astype(np.complex64) * 1j + 1, np.complex64(0.5 - 2j)),
        "halves": (f8.astype(np.float16), np.bool_(n % 2)),
        "marks": (rng.integers(-100, 100, (n, m), np.int8), np.int8(-3)),
        "joined": (f8.astype(np.float32), f4[:1].reshape(-1)),
        "flat": (f4,),
        "reshaped": (f4,),
        "twice": (f8.astype(np.float32),),
        "picked": (f8.astype(np.float32), rng.integers(-n, max(1, n), m if n else 0)),
        "smoothed": (f4, np.float32(n % 5)),
        "averaged": (f4, np.float32(0.3)),
        "counted": (f8.astype(np.float32), rng.integers(-n, max(1, n), m if n else 0), -int(n == 7 and m > 0)),
        "layered": (f8, m % 5 - 1),
        "inside": (f8.astype(np.float32), f8[::-1].astype(np.float32)),
    }


def kernel(name: str, layout: str = "dense") -> Any:
    return python(layout)[name.removesuffix("_f32").removesuffix("_f64")]


@cache
def expected(n: int, m: int) -> dict[str, list[Array] | None]:
    """Return Python's result, or None if Python raises an error."""
    found: dict[str, list[Array] | None] = {}
    for name, arguments in arrays(n, m).items():
        try:
            given = kernel(name)(*arguments)
        except ValueError:
            found[name] = None
            continue
        found[name] = [np.asarray(x) for x in (given if isinstance(given, tuple) else (given,))]
    return found


@pytest.mark.parametrize("n", SIZES)
def test_dense_arrays_give_the_bits_of_python(library: Loaded, n: int) -> None:
    for m in SIZES:
        for name, arguments in arrays(n, m).items():
            wanted, sizes = expected(n, m)[name], sizes_of(library.forms[name], arguments)
            if wanted is None:
                results = [np.zeros((), item.dtype.numpy) for item in library.forms[name].results]
                assert library.dense(name, arguments, results, sizes) == EMPTY, (name, m)
                continue
            results = [np.full(x.shape, 77, x.dtype) for x in wanted]
            assert library.dense(name, arguments, results, sizes) == 0, (name, m)
            assert [x.tobytes() for x in results] == [x.tobytes() for x in wanted], (name, m)


def test_an_empty_array_overlaps_nothing(library: Loaded) -> None:
    memory = np.zeros(12_000, np.uint8)
    result = memory[4000:8000].view(np.float32)
    for start in range(0, 12_000, 100):
        empty = np.lib.stride_tricks.as_strided(memory[start : start + 4].view(np.float32), (0, 1000), (4000, 4))
        result[:] = 77
        assert library.dense("totals", (empty,), [result], [0, 1000]) == 0, start
        assert not result.any()


def spread(x: Array, step: int) -> Array:
    """The same elements with gaps between them, backwards along the last axis."""
    wide = np.full([step * n + 3 for n in x.shape], 99, x.dtype)
    view = wide[tuple(slice(0, step * n, step) for n in x.shape)][..., ::-1]
    view[...] = x
    return view


def in_rows(x: Array) -> Array:
    """Return the same elements in rows with gaps between them."""
    wide = np.zeros((*x.shape[:-1], x.shape[-1] + 5), x.dtype)
    wide[..., : x.shape[-1]] = x
    return wide[..., : x.shape[-1]]


LAYOUTS = {
    "dense": lambda x: x,
    "rows": lambda x: in_rows(x) if x.ndim > 1 else x,
    "fortran": np.asfortranarray,
    "spread": lambda x: spread(x, 2),
}


@cache
def expected_in(layout: str, n: int, m: int) -> dict[str, list[Array]]:
    """Return what Python writes into results of a layout."""
    found = {}
    for name, given in arrays(n, m).items():
        plain = expected(n, m)[name]
        if name.removesuffix("_f32") in STRIDED and plain is not None:
            found[name] = [laid_out(layout, np.zeros_like(x)) for x in plain]
            out = tuple(found[name]) if len(plain) > 1 else found[name][0]
            kernel(name, layout)(*(laid_out(layout, x) for x in given), out=out)
    return found


def laid_out(layout: str, x: Any) -> Any:
    return LAYOUTS[layout](x) if np.ndim(x) else x


@pytest.mark.parametrize("layout", LAYOUTS)
def test_strided_arrays_give_the_bits_of_python(strided: Loaded, layout: str) -> None:
    for n, m in ((1, 7), (7, 1), (33, 65), (0, 3)):
        for name, wanted in expected_in(layout, n, m).items():
            arguments = [laid_out(layout, x) for x in arrays(n, m)[name]]
            results = [laid_out(layout, np.zeros_like(x)) for x in wanted]
            assert strided.strided(name, arguments, results) == 0, (name, n, m)
            assert [x.tobytes() for x in results] == [x.tobytes() for x in wanted], (name, n, m)


def test_nothing_is_written_outside_of_results(strided: Loaded) -> None:
    x, wide = np.ones((3, 4), np.float32), np.full((6, 8), 5, np.float32)
    assert strided.strided("normalised_f32", (x,), (wide[::2, ::2],)) == 0
    assert (wide[1::2] == 5).all() and (wide[:, 1::2] == 5).all() and (wide[::2, ::2] == 0.25).all()


def test_pieces_run_by_the_program_give_the_same_bits(library: Loaded) -> None:
    """The program runs pieces from last to first, each with its own scratch memory."""
    pieces: list[int] = []
    piece_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
    crew_type = ctypes.CFUNCTYPE(None, ctypes.c_void_p, piece_type, ctypes.c_void_p, ctypes.c_int64)

    def run(context: int, piece: Any, work: int, count: int) -> None:
        pieces.append(count)
        for k in reversed(range(count)):
            piece(work, k)

    crew = crew_type(run)
    library.function("k_set_parallel", None)(crew, None, ctypes.c_int64(3))
    try:
        for name, shape in PARALLEL.items():
            is_f32 = name in ("totals", "averaged")
            x = np.random.default_rng(1).standard_normal(shape).astype(np.float32 if is_f32 else np.float64)
            arguments = (x, np.float32(0.3)) if name == "averaged" else (x,)
            before = len(pieces)
            given = kernel(name)(*arguments)
            wanted = [np.asarray(y) for y in (given if isinstance(given, tuple) else (given,))]
            results = [np.zeros_like(y) for y in wanted]
            assert library.dense(name, arguments, results, x.shape) == 0
            assert [y.tobytes() for y in results] == [y.tobytes() for y in wanted], name
            assert len(pieces) > before, name
    finally:
        library.function("k_set_parallel", None)(None, None, ctypes.c_int64(0))
    assert set(pieces) == {3}
