"""`weft run`, `dump` and `build` with a kernel of the library in place of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from weft.command.files import find_kernel
from weft.command.main import main
from weft.frontend.language.declared import Parameter
from weft.loading.library import entries


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("WEFT_PATH", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_run_takes_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "gemv", "--arg", "alpha=2", "--arg", "a=ones(2,3)", "--arg", "x=arange(3):f64",
                 "--arg", "beta=0", "--arg", "y=zeros(2)"]) == 0  # fmt: skip
    assert capsys.readouterr().out == "out: f64[2]\n[6. 6.]\n"


def example(param: Parameter) -> str:
    """A value that a parameter takes: every size that is not a number is 4."""
    name, dims = param.type.name, param.type.dims
    if dims is None:
        return {"bool": "true", "int": "3"}.get(name, "0.5")
    sizes = ",".join(str(size) if isinstance(size, int) else "4" for size in dims)
    return {"int": f"randint(0,4,{sizes})", "bool": f"randint(0,2,{sizes}):bool"}.get(name, f"rand({sizes})")


@pytest.mark.parametrize("name", entries())
def test_every_kernel_runs_by_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    declared = find_kernel(name, None).declared
    given = [word for p in declared for word in ("--arg", f"{p.name}={example(p)}")]
    assert main(["run", name, "--backend", "reference", *given]) == 0
    assert ": " in capsys.readouterr().out


def test_without_arguments_it_says_what_the_kernel_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "axpy"]) == 1
    assert capsys.readouterr().err == (
        "error: axpy needs more arguments:\n  a: number\n  x: number[...]\n  y: number[...]\n"
        "a x + y, element by element.\n"
        "hint: give each with --arg, as in --arg 'a=3'\n"
    )


def test_files_come_first_then_the_users_own(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "kernel f(x: f32[n]) -> f32[n] {{ return x + {} }}"
    own = folder / "data" / "weft" / "kernels"
    own.mkdir(parents=True)
    for place, number in ((own / "relu.weft", 1), (folder / "relu", 2)):
        place.write_text(text.format(number))
        assert main(["run", "relu", "--arg", "x=zeros(2)"]) == 0
        assert capsys.readouterr().out == f"out: f32[2]\n[{number}. {number}.]\n"


def test_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    for argv, message in (
        (["sofmax"], "error: there is neither a file nor a kernel called 'sofmax'\nhint: did you mean 'softmax'?\n"),
        (["softmax", "relu"], "error: softmax is a library kernel, so it has no kernel 'relu'\n"),
        (["softmax.weft"], "error: can't read 'softmax.weft': No such file or directory\n"),
    ):
        assert main(["dump", *argv]) == 1
        assert capsys.readouterr().err.startswith(message)


def test_dump_and_build_take_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dump", "tanh", "--after", "input"]) == 0
    assert '"weft.tanh"(%x)' in capsys.readouterr().out
    assert main(["build", "sqrt", "-o", "k.o"]) == 0
    assert "sqrt_f32" in capsys.readouterr().out
