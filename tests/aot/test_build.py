"""Test `weft build`: names, header, targets, and refusals."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.backends.llvm.engine import target
from weft.backends.llvm.engine.objects import read
from weft.command.main import main
from weft.ir.errors import Unsupported
from weft.runtime.aot.variants import Graphs

from tests.aot.calling import Loaded, built, wanted_of

HERE = Path(__file__).parent
TEXT = """
kernel scaled(x: float[..., m], k: int) -> float[..., m] = x * k
kernel joined(default: f32[n], int: f32[m], n_: f32) = concatenate((default, int + n_))
"""
LIBC = {"malloc", "free", "memcpy", "memset", "memmove"}

Weft = Callable[..., tuple[int, str, str]]


@pytest.fixture
def weft_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Weft:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.weft").write_text(TEXT)

    def run(*args: str) -> tuple[int, str, str]:
        status = main(["build", "f.weft", *args])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def test_functions_are_named_after_kernels_and_dtypes(weft_build: Weft) -> None:
    def names(*args: str) -> str:
        status, out, err = weft_build(*args, "-o", "f.o", "--dense", "--cpu-levels", "3")
        assert status == 0, err
        return out.strip().partition(": ")[2]

    assert names() == "scaled_f32, scaled_f64, joined"
    assert names("scaled", "--dtypes", "f16,f64") == "scaled_f16, scaled_f64"
    assert names("scaled", "--types", "x=f32[?,?,?]", "--prefix", "my_") == "my_scaled_f32"
    assert names("scaled", "--types", "scaled: k=i8", "--types", "x=f64[3]") == "scaled_f32_i8, scaled_f64"


def test_the_header_documents_every_parameter(weft_build: Weft) -> None:
    assert weft_build("-o", "libf.so", "--cpu-levels", "3", "--types", "scaled: x=f32[?,?]")[0] == 0
    header = Path("f.h").read_text()
    assert "int scaled_f32(const float *x, int64_t k, int64_t x_0, int64_t m, float *out);" in header
    assert "int scaled_f32_strided(const weft_array *x, int64_t k, const weft_array *out);" in header
    assert " *   out  result: f32[x_0, m]" in header
    assert "int joined(const float *default_, const float *int_, float n_, int64_t n, int64_t m, float *out);" in header
    assert header.count("#ifndef F_H") == header.count('extern "C" {') == 1
    library = ctypes.CDLL("./libf.so")
    library.f_version.restype = library.f_cpu.restype = ctypes.c_char_p
    assert (library.f_version(), library.f_cpu()) == (weft.__version__.encode(), b"x86-64-v3")


def test_without_a_linker_the_object_file_is_left(weft_build: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    status, out, err = weft_build("joined", "-o", "libf.so", "--dense", "--cpu-levels", "3")
    assert (status, out) == (1, "")
    assert "there is no linker here" in err and "cc -shared -nostartfiles -o libf.so libf.o" in err
    assert {p.name for p in Path().iterdir()} == {"f.weft", "libf.o", "f.h"}
    assert read(Path("libf.o").read_bytes()).undefined <= LIBC


def test_what_does_not_fit_together_is_refused(weft_build: Weft) -> None:
    def refused(status: int, words: str, *args: str) -> None:
        found, out, err = weft_build(*args)
        assert (found, out) == (status, "") and words in err

    refused(2, "must end in .so or .o", "-o", "f.dll")
    refused(2, "needs the linker of that machine", "-o", "f.so", "--target", "aarch64-linux-gnu")
    refused(1, "no native code for the target 'sparc-sun-solaris'", "-o", "f.o", "--target", "sparc-sun-solaris")
    refused(1, "no native code for x86-64-v2", "-o", "f.o", "--target", "x86_64-linux-gnu", "--cpu-levels", "2,3")
    refused(1, "f.weft has no kernel 'scale'", "scale", "-o", "f.o")
    refused(1, "--types: no kernel 'joint' is built", "-o", "f.o", "--types", "joint: x=f32[?]")
    refused(1, "two functions would be named scaled_f32_i32", "scaled", "-o", "f.o", *["--types", "k=i32"] * 2)
    Path("f.weft").write_text("kernel f_cpu(x: f32[n]) = x\n")
    refused(1, "two functions would be named f_cpu", "-o", "f.o")
    Path("f.weft").write_text("kernel exp(x: f32[n]) = x\n")
    refused(1, "'exp' is already a name in C", "-o", "f.o")


def test_what_runs_in_python_is_refused() -> None:
    with weft.registry.scope():
        weft.registry.register("strange", "f32 -> f32", lambda x: np.array([float(v) for v in x], x.dtype))
        with pytest.raises(Unsupported, match="f: strange runs in Python"):
            built("kernel f(x: f32[n]) -> f32[n] = strange(x) + 1", [3])


def test_kernels_may_call_the_same_function() -> None:
    terms = " + ".join(f"sin(x * {k})" for k in range(30))
    text = f"kernel f(x: f64[n]) -> f64[n] = {terms}\nkernel g(x: f64[n]) -> f64[n] = 1 + {terms}\n"
    loaded, x, out = Loaded(built(text, [3], dense_only=True), "k"), np.arange(3.0), np.zeros(3)
    assert loaded.dense("g", (x,), (out,), (3,)) == 0
    assert out.tolist() == weft.compile(text).g(x).tolist()


def test_another_machine_gets_an_object_file() -> None:
    text = (HERE / "kernels.weft").read_text()
    object_file = read(built(text, None, dense_only=True, triple="aarch64-linux-gnu").object_code)
    assert object_file.machine == 183 and object_file.undefined <= LIBC


def test_a_library_of_several_levels_runs_the_best() -> None:
    loaded = Loaded(built(TEXT, [3, 4], ["joined"], dense_only=True), "k")
    best = b"x86-64-v4" if target.host().vector_bytes == 64 else b"x86-64-v3"
    assert loaded.function("k_cpu", ctypes.c_char_p)() == best
    x, out = np.arange(3, dtype=np.float32), np.zeros(5, np.float32)
    assert loaded.dense("joined", (x, x[:2], np.float32(0.5)), (out,), (3, 2)) == 0
    assert out.tolist() == [0, 1, 2, 0.5, 1.5]


def test_numbers_of_a_class_are_those_of_python() -> None:
    loaded = Loaded(built("kernel f(x: i8[n], k: int) -> i8[n] = x + k", [3], dense_only=True), "k")
    x, out = np.array([-3, 120], np.int8), np.zeros(2, np.int8)
    assert loaded.dense("f", (x, np.int64(100)), (out,), (2,)) == 0
    assert out.tolist() == [97, -36]
    assert (
        loaded.dense("f", (x, np.int64(128)), (out,), (2,)) == loaded.dense("f", (x, np.int64(-129)), (out,), (2,)) == 9
    )


def test_sizes_that_a_kernel_does_not_take_are_refused() -> None:
    loaded = Loaded(built("kernel first(x: f32[n, m]) -> f32[m] = x[0]", [3], dense_only=True), "k")
    x, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.full(3, 7, np.float32)
    assert loaded.dense("first", (x,), (out,), (0, 3)) == 1 and out.tolist() == [7, 7, 7]
    assert loaded.dense("first", (x,), (out,), (2, 3)) == 0 and out.tolist() == [0, 1, 2]


def test_memory_is_given_back_even_where_there_is_no_more() -> None:
    taken: dict[int, object] = {}
    limit = [0]

    def take(size: int) -> int | None:
        if len(taken) == limit[0]:
            return None
        block = ctypes.create_string_buffer(size)
        taken[ctypes.addressof(block)] = block
        return ctypes.addressof(block)

    def give_back(address: int | None) -> None:
        if address is not None:
            del taken[address]

    malloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(take)
    free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(give_back)
    own = {name: ctypes.cast(f, ctypes.c_void_p).value or 0 for name, f in (("malloc", malloc), ("free", free))}
    text = "kernel f(x: f32[n, m]) { return reshape(x, (n * m,)), reshape(2 * x, (m * n,)) }"
    loaded = Loaded(built(text, [3]), "k", own)
    x, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.zeros((2, 12), np.float32)
    found = []
    for count in range(3):
        limit[0] = count
        found.append(loaded.strided("f", (np.asfortranarray(x),), (out[0, ::2], out[1, ::2])))
        assert not taken
    assert found == [7, 7, 0]
    assert out[:, ::2].tolist() == [[0, 1, 2, 3, 4, 5], [0, 2, 4, 6, 8, 10]]


def test_sizes_of_one_get_graphs_of_their_own_where_sums_differ() -> None:
    """A column of one row is summed like a row, and an array of one element can't be rolled by two."""
    text = """
    kernel s(x: f32[n, m]) = sum(x, axis=0)
    kernel e(x: f32[n, m]) = x + 1
    kernel r(x: f32[n]) = roll(x, 2)
    """
    counts = {}
    for wanted, level in wanted_of(text):
        graphs = Graphs(wanted, "dense", weft.registry, level).by_ones()
        usual = {id(g) for g in graphs[0]}
        counts[wanted.name] = [len({id(g) for g in own} - usual) for own in graphs]
    assert counts == {"s": [0, 0, 1, 0], "e": [0, 0, 0, 0], "r": [0, 1]}
