"""Test `weft run`: arguments, results, files and times."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from weft.backends.llvm.engine import target
from weft.command.run import duration, timed
from weft.ir.errors import UnsupportedTarget

Weft = Callable[..., tuple[int, str, str]]


def test_a_kernel_runs_on_given_data(weft: Weft) -> None:
    status, out, err = weft("run", "kernels.weft", "bias", "--arg", "x=full(1.5,2,3)", "--arg", "b=arange(3)")
    assert (status, err) == (0, "")
    assert out == "out: f32[2, 3]\n[[1.5 2.5 3.5]\n [1.5 2.5 3.5]]\n"


def test_the_only_kernel_needs_no_name(weft: Weft) -> None:
    status, out, _ = weft("run", "one.weft", "--arg", "x=arange(3)")
    assert (status, out) == (0, "out: f32[3]\n[0. 2. 4.]\n")


def test_several_kernels_are_listed(weft: Weft) -> None:
    status, out, err = weft("run", "kernels.weft")
    assert (status, out) == (1, "")
    assert "kernels.weft has 5 kernels; name one of them:" in err
    assert "  softmax(x: float[..., m]) -> float[..., m]\n" in err


def test_results_have_their_declared_names(weft: Weft) -> None:
    status, out, _ = weft("run", "kernels.weft", "moments", "--arg", "x=linspace(0,4,5)")
    assert (status, out) == (0, "mean: f64 = 2.0\nvar: f64 = 2.0\n")


def test_results_without_names_are_numbered(weft: Weft) -> None:
    given = ["--arg", "x=arange(3)", "--arg", "y=ones(3)", "--arg", "c=false"]
    status, out, _ = weft("run", "kernels.weft", "chosen", *given)
    assert (status, out) == (0, "out0: f64[3]\n[1. 1. 1.]\nout1: f64[3]\n[-1.  0.  1.]\n")


def test_a_large_result_is_summarised(weft: Weft) -> None:
    _, out, _ = weft("run", "one.weft", "--arg", "x=ones(100000)")
    assert out == "out: f32[100000]\n[2. 2. 2. ... 2. 2. 2.]\n"


def test_a_number_takes_the_declared_type(weft: Weft) -> None:
    status, out, _ = weft("run", "kernels.weft", "scale", "--arg", "x=ones(2)", "--arg", "k=-3")
    assert (status, out) == (0, "out: f64[2]\n[-3. -3.]\n")


def test_data_comes_from_a_file_and_goes_to_one(weft: Weft, folder: Path) -> None:
    x = np.arange(12.0).reshape(3, 4).T
    np.save("x.npy", x)
    status, _, err = weft("run", "kernels.weft", "scale", "--arg", "x=x.npy", "--arg", "k=2", "--out", "r.npy")
    assert (status, err) == (0, "")
    np.testing.assert_array_equal(np.load("r.npy"), 2 * x)
    assert sorted(p.name for p in folder.iterdir()) == ["kernels.weft", "one.weft", "r.npy", "x.npy"]


def test_several_results_go_to_one_archive(weft: Weft) -> None:
    assert weft("run", "kernels.weft", "moments", "--arg", "x=arange(5)", "--out", "r.npz")[0] == 0
    with np.load("r.npz") as archive:
        assert {name: archive[name] for name in archive.files} == {"mean": 2.0, "var": 2.0}


def test_one_result_may_go_to_an_archive(weft: Weft) -> None:
    assert weft("run", "one.weft", "--arg", "x=ones(2)", "--out", "r.npz")[0] == 0
    with np.load("r.npz") as archive:
        np.testing.assert_array_equal(archive["out"], np.full(2, 2, np.float32))


def test_several_results_do_not_fit_one_array(weft: Weft, folder: Path) -> None:
    status, out, err = weft("run", "kernels.weft", "moments", "--arg", "x=arange(5)", "--out", "r.npy")
    assert (status, out) == (1, "")
    assert err == "error: moments has 2 results, too many for r.npy\nhint: use a .npz file\n"
    assert not (folder / "r.npy").exists()


def test_a_failed_write_leaves_nothing(weft: Weft, folder: Path) -> None:
    status, out, err = weft("run", "one.weft", "--arg", "x=ones(2)", "--out", "missing/r.npy")
    assert (status, out) == (1, "")
    assert "missing/r.npy: No such file or directory" in err
    (folder / "r.npy").mkdir()
    status, _, err = weft("run", "one.weft", "--arg", "x=ones(2)", "--out", "r.npy")
    assert status == 1 and "Is a directory" in err
    assert sorted(p.name for p in folder.iterdir()) == ["kernels.weft", "one.weft", "r.npy"]


def test_a_seed_decides_the_data(weft: Weft) -> None:
    def made(*argv: str) -> str:
        return weft("run", "kernels.weft", "softmax", "--arg", "x=randn(4)", *argv)[1]

    assert made() == made("--seed", "0") != made("--seed", "1")


def test_parameters_get_different_data(weft: Weft) -> None:
    given = ["--arg", "x=randn(3)", "--arg", "y=randn(3)", "--arg", "c=true", "--out", "r.npz"]
    assert weft("run", "kernels.weft", "chosen", *given)[0] == 0
    with np.load("r.npz") as archive:
        assert np.abs(archive["out1"]).min() > 0


def test_missing_arguments_are_named_with_their_types(weft: Weft) -> None:
    status, _, err = weft("run", "kernels.weft", "bias", "--arg", "b=ones(3)")
    assert status == 1
    assert err == (
        "error: bias needs more arguments:\n  x: f32[n, m]\n"
        "hint: give each with --arg, as in --arg 'x=ones(8,8)'\n"
    )  # fmt: skip


def test_an_unknown_argument_shows_the_nearest(weft: Weft) -> None:
    status, _, err = weft("run", "kernels.weft", "moments", "--arg", "xs=ones(3)")
    assert (status, err) == (1, "error: moments has no argument 'xs'\nhint: did you mean 'x'?\n")


def test_an_unknown_kernel_shows_the_nearest(weft: Weft) -> None:
    status, _, err = weft("run", "kernels.weft", "sofmax")
    assert (status, err) == (1, "error: kernels.weft has no kernel 'sofmax'\nhint: did you mean 'softmax'?\n")


def test_a_wrong_size_points_at_the_declaration(weft: Weft) -> None:
    status, _, err = weft("run", "kernels.weft", "bias", "--arg", "x=ones(2,3)", "--arg", "b=ones(4)")
    assert status == 1
    assert err.startswith("error: kernels.weft:1:27: bias: argument 'b' is declared f32[m]: expected m = 3 as in 'x'")
    assert "^^^^^^^^^" in err


def test_a_mistake_in_the_file_points_at_it(weft: Weft, folder: Path) -> None:
    (folder / "bad.weft").write_text("kernel f(x: f32[n]) { return y }\n")
    status, _, err = weft("run", "bad.weft", "--arg", "x=ones(2)")
    assert status == 1
    assert err.startswith("error: bad.weft:1:30: ") and "|                              ^\n" in err


@pytest.mark.parametrize("name", ["nosuch.weft", ".", "empty.weft", "binary.weft"])
def test_a_file_that_is_no_module_is_an_error(weft: Weft, folder: Path, name: str) -> None:
    (folder / "empty.weft").write_text("")
    (folder / "binary.weft").write_bytes(b"\xff\xfe\x00\x01")
    status, out, err = weft("run", name)
    assert (status, out) == (1, "")
    assert err.startswith("error: ") and name in err and "Traceback" not in err


def test_the_time_is_the_best_of_several(weft: Weft) -> None:
    _, out, _ = weft("run", "one.weft", "--arg", "x=ones(1000)", "--time")
    last = out.splitlines()[-1]
    number = r"[\d.e+]+ (s|ms|µs|ns)"
    assert re.fullmatch(rf"time: {number} per call, the best of \d+ runs of \d+ calls; {number} the first time", last)


def test_a_slow_call_is_not_repeated_for_long() -> None:
    now = [0.0]

    def two_seconds() -> None:
        now[0] += 2.0

    text = timed(two_seconds, 1.0, clock=lambda: now[0])
    assert text == "time: 2 s per call, the best of 3 runs of 1 call; 1 s the first time"


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.0, "2 s"), (0.0123, "12.3 ms"), (4.5e-6, "4.5 µs"), (7.25e-8, "72.5 ns")]
)
def test_times_have_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_the_reference_backend_runs_where_there_is_no_native_code(weft: Weft, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise UnsupportedTarget("no native code for Plan9 on mips", hint="another way")

    monkeypatch.setattr(target, "host", refuse)
    status, _, err = weft("run", "one.weft", "--arg", "x=ones(2)")
    told = "error: no native code for Plan9 on mips\nhint: use --backend reference to run it in NumPy\n"
    assert (status, err) == (1, told)
    status, out, _ = weft("run", "one.weft", "--arg", "x=ones(2)", "--backend", "reference")
    assert (status, out) == (0, "out: f32[2]\n[2. 2.]\n")
