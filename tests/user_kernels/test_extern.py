"""Extern kernels: kernels of shared libraries, called from Python, from other kernels and as implementations of ops."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.errors import (
    KernelFailure,
    LibraryProblem,
    MissingSymbol,
    ShapeProblem,
    TypeProblem,
    ValueProblem,
    WrongInterface,
    WrongSignature,
)

from tests.user_kernels.libraries import FAILS, STEPS, STRIDES, WAITS, build

X = np.arange(5, dtype=np.float32)
TWICE = 'extern kernel twice(x: f32[n]) -> f32[n] from "k.so" symbol "twice_f32"\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library; tests add their own files."""
    found = tmp_path_factory.mktemp("libraries")
    build(found / "k.so")
    return found


@pytest.fixture(autouse=True)
def undone() -> Iterator[None]:
    with weft.registry.scope():
        yield


def load(folder: Path, text: str, name: str = "kernels.weft", **options: object) -> weft.compiling.Module:
    (folder / name).write_text(text)
    return weft.load(folder / name, **{"libraries": True, **options})


def test_it_is_called_like_any_kernel(folder: Path) -> None:
    kernels = load(folder, TWICE)
    assert np.array_equal(kernels.twice(X), 2 * X)
    assert np.array_equal(kernels.twice(X[::-2]), 2 * X[::-2]), "it takes arrays in C order, so this one is copied"
    assert kernels.twice(X[:0]).shape == (0,) and kernels.twice(X[:1]).shape == (1,)
    unaligned = np.frombuffer(b"_" + X.tobytes(), np.float32, offset=1)
    assert np.array_equal(kernels.twice(unaligned), 2 * X)
    out = np.empty(5, np.float32)
    assert kernels.twice(X, out=out) is out and np.array_equal(out, 2 * X)
    with pytest.raises(TypeProblem, match="argument 'x' is declared f32"):
        kernels.twice(X.astype(np.float64))
    with pytest.raises(ShapeProblem, match="expected 1 dimension"):
        kernels.twice(X[None])


def test_other_kernels_call_it(folder: Path) -> None:
    text = TWICE + "kernel total(x: f32[n]) -> f32 { return sum(twice(x + 1) * 3) }\n"
    kernels = load(folder, text)
    low = kernels.total.lower(X)
    assert kernels.total(X) == np.sum((X + 1) * 6) and low.fallbacks == ("twice",) and len(low.kernels) == 2
    assert load(folder, text, backend="reference").total(X) == np.sum((X + 1) * 6)


def test_numbers_several_results_and_computed_sizes(folder: Path) -> None:
    build(folder / "many.so", STEPS, "steps", "f64[count], i64 -> f64[count - 1] f64")
    kernels = load(
        folder, 'extern kernel steps(x: f64[n], k: i64) -> (d: f64[n - 1], last: f64) from "many.so" symbol "steps"\n'
        "kernel mid(x: f64[n]) -> f64[n - 1] { let d, last = steps(x, 2); return d + last }\n",
    )  # fmt: skip
    x = X.astype(np.float64) ** 2
    steps, last = kernels.steps(x, 3)
    assert np.array_equal(steps, 3 * np.diff(x)) and last == 16.0 and isinstance(last, np.float64)
    assert np.array_equal(kernels.mid(x), 2 * np.diff(x) + 16)
    assert kernels.steps(x[:0], 3)[0].shape == (0,)


def test_strided_kernels_get_arrays_as_they_lie(folder: Path) -> None:
    build(folder / "strides.so", STRIDES, "strides", "strided f32[..., m] -> i64[m]")
    kernels = load(
        folder, 'extern kernel strides(x: f32[..., n]) -> i64[n] from "strides.so" symbol "strides"', "strided.weft"
    )
    assert kernels.strides(X[::-1])[0] == -4 and kernels.strides(X[::2])[0] == 8
    assert kernels.strides(np.zeros((7, 3), np.float32))[0] == 12


def test_a_kernel_that_fails_raises_with_its_status_and_message(folder: Path) -> None:
    build(folder / "bad.so", FAILS, "bad")
    kernels = load(folder, 'extern kernel bad(x: f32[n]) -> f32[n] from "bad.so" symbol "bad"', "bad.weft")
    with pytest.raises(KernelFailure, match=r"'bad' \(bad of .*bad\.so\) failed with status 7: no solution"):
        kernels.bad(X)


def test_other_threads_run_while_it_runs(folder: Path) -> None:
    build(folder / "wait.so", WAITS, "wait")
    kernels = load(folder, 'extern kernel wait(x: f32[n]) -> f32[n] from "wait.so" symbol "wait"', "wait.weft")
    x = np.zeros(2, np.float32)
    found: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: found.append(kernels.wait(x)))
    thread.start()
    while x[1] == 0 and thread.is_alive():
        time.sleep(0.001)
    x[0] = 3  # comes too late if the kernel runs with Python's lock
    thread.join()
    assert found and found[0][0] == 3


def test_impl_makes_it_an_implementation(folder: Path) -> None:
    kernels = load(
        folder,
        '@impl(op="twofold", hint="large")\n' + TWICE
        + '@impl(op="exp")\nextern kernel mine(x: f32[n]) -> f32[n] from "k.so" symbol "twice_f32"\n',
        "impl.weft",
    )  # fmt: skip
    assert np.array_equal(kernels.twice(X), 2 * X)
    assert np.array_equal(weft.ops.twofold(X), 2 * X) and np.array_equal(weft.call("twofold", X), 2 * X)
    found = weft.registry.lookup("twofold", "f32", size=100_000)
    assert (found.implementation.kind, found.score) == ("library", 25)
    f = weft.jit(lambda x: np.exp(x - 1) + 1)
    assert np.array_equal(f(X), 2 * (X - 1) + 1) and f.lower(X).fallbacks == ("exp (mine)",)
    assert 'impl = "library custom"' in f.lower(X).ir()
    weft.registry.unregister("exp")
    assert np.allclose(f(X), np.exp(X - 1) + 1)
    text = "kernel more(x: f32[n]) -> f32[n] { return twofold(x) + 1 }"
    assert np.array_equal(weft.compile(text).more(X), 2 * X + 1)


def test_a_kernel_that_calls_it_is_an_implementation_too(folder: Path) -> None:
    load(
        folder, TWICE + '@impl(op="mixed")\nkernel mixed(x: f32[n]) -> f32[n] { return twice(x + 1) - x }\n', "mix.weft"
    )
    assert np.array_equal(weft.ops.mixed(X), X + 2)
    f = weft.jit(lambda x: np.median(x) + weft.ops.mixed(weft.ops.mixed(x)))
    assert np.array_equal(f(X), X + 6) and f.lower(X).fallbacks == ("numpy.median", "twice", "twice")


@pytest.mark.parametrize(
    ("made", "declared", "error", "message"),
    [
        ({}, TWICE.replace("k.so", "missing.so"), LibraryProblem, "library .*missing.so does not exist"),
        ({}, TWICE.replace("twice_f32", "thrice"), MissingSymbol, "has no symbol 'thrice'"),
        ({"abi": 2}, TWICE, WrongInterface, "version 2 of Weft's C interface, this is version 1"),
        ({"abi": None}, TWICE, WrongInterface, "does not say which interface"),
        (
            {"signature": "f64[n] -> f64[n]"},
            TWICE,
            WrongSignature,
            "'twice_f32' of .* is f64.n. -> f64.n., and 'twice'",
        ),
        ({"signature": "f32[n] -> f32[m]"}, TWICE, WrongSignature, "is declared f32.n. -> f32.n."),
        ({"signature": "f32[n, m] -> f32[n]"}, TWICE, WrongSignature, "and 'twice' is declared"),
        ({"signature": "f32[n] f32 -> f32[n]"}, TWICE, WrongSignature, "and 'twice' is declared"),
        ({"signature": "nonsense"}, TWICE, WrongSignature, "signature must be .* not 'nonsense'"),
        ({}, TWICE.replace("f32[n] from", "float[n] from"), TypeProblem, "must have one dtype, not 'float"),
        ({}, TWICE.replace("twice_f32", "a b"), ValueProblem, "'a b' is not the name of a C function"),
    ],
)
def test_what_does_not_fit_is_a_typed_error(
    tmp_path: Path, made: dict[str, object], declared: str, error: type[Exception], message: str
) -> None:
    build(tmp_path / "k.so", **made)  # type: ignore[arg-type]
    with pytest.raises(error, match=message) as caught:
        load(tmp_path, declared)
    assert "kernels.weft:1:1" in str(caught.value) or error is TypeProblem


def test_names_of_dimensions_do_not_matter(tmp_path: Path) -> None:
    build(tmp_path / "k.so", signature="f32[rows] -> f32[rows]")
    assert np.array_equal(load(tmp_path, TWICE).twice(X), 2 * X)


def test_a_library_that_is_half_written_is_refused(tmp_path: Path) -> None:
    """Mapping beyond the end of a file would kill the process."""
    build(tmp_path / "whole.so")
    whole = (tmp_path / "whole.so").read_bytes()
    for length in (0, 10, 64, 500, len(whole) // 2):
        (tmp_path / "k.so").write_bytes(whole[:length])
        (tmp_path / "k.so").chmod(0o755)
        with pytest.raises(LibraryProblem, match="can't be loaded as a shared library"):
            load(tmp_path, TWICE)
    foreign, name = (183, "aarch64") if platform.machine() == "x86_64" else (62, "x86_64")
    (tmp_path / "k.so").write_bytes(whole[:18] + bytes([foreign]) + whole[19:])
    with pytest.raises(LibraryProblem, match=f"k.so can't be loaded as a shared library: it is for {name}"):
        load(tmp_path, TWICE)
    (tmp_path / "k.so").write_bytes(whole)
    assert np.array_equal(load(tmp_path, TWICE).twice(X), 2 * X)


def test_what_is_no_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k.so").write_text("text")
    with pytest.raises(LibraryProblem, match=r"k\.so can't be loaded as a shared library: (?!.*proc)"):
        load(tmp_path, TWICE)
    (tmp_path / "k.so").unlink()
    (tmp_path / "k.so").mkdir()
    with pytest.raises(LibraryProblem, match="Is a directory"):
        load(tmp_path, TWICE)
