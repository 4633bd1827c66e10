"""Test `weft.load` of directories and packages, and where `import` and `weft.kernels` look."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.errors import FileProblem, ImportProblem, LoadWarning, UnknownName
from weft.loading.named_kernels import Kernels

X = np.linspace(-1, 1, 6, dtype=np.float32)


@pytest.fixture(autouse=True)
def undone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("WEFT_PATH", raising=False)
    with weft.registry.scope():
        yield


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.weft").write_text(text)
    return folder


def test_a_directory_with_a_good_a_broken_and_a_shadowing_kernel(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "k",
        good="kernel plus(x: f32[n]) -> f32[n] { return x + 1 }",
        broken="kernel oops(x: f32[n]) -> f32[n] { return x +* 1 }",
        shadow="kernel exp(x: f32[n]) -> f32[n] { return x }\nkernel twice(x: f32[n]) -> f32[n] { return exp(x) }",
        impl='@impl(op="cubed")\nkernel cubed(x: f32[n]) -> f32[n] { return x * x * x }',
        astray="kernel after(x: f32[n]) -> f32[n] { return cubed(x) }",
    )
    write(folder / "below", deep="kernel deep(x: f32[n]) -> f32[n] { return x }")
    with pytest.warns(LoadWarning, match=r"broken\.weft was not loaded: .*broken\.weft:1:46: unexpected") as warned:
        kernels = weft.load(folder)
    assert len(warned) == 1 and warned[0].filename == __file__
    assert sorted(kernels) == ["after", "cubed", "exp", "plus", "twice"] and len(kernels.problems) == 1
    assert isinstance(kernels.problems[0], weft.errors.SyntaxProblem)
    assert np.array_equal(kernels.plus(X), X + 1) and np.array_equal(kernels.exp(X), X)
    assert np.allclose(kernels.twice(X), np.exp(X)), "a kernel's name does not replace an op"
    assert np.allclose(weft.jit(lambda x: np.exp(x))(X), np.exp(X))
    assert np.array_equal(kernels.after(X), kernels.cubed(X)), "a file may call what a later one registers"
    assert np.array_equal(weft.ops.cubed(X), kernels.cubed(X))
    with pytest.raises(AttributeError, match="has no kernel 'deep'"):
        kernels.deep  # noqa: B018
    with pytest.raises(FileProblem, match=r"has no \.weft files"):
        weft.load(tmp_path)


def test_kernels_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    text = "kernel f(x: f32[n]) -> f32[n] {{ return x + {} }}"
    kernels = weft.load(write(tmp_path / "k", a=text.format(1), b=text.format(2)))
    assert list(kernels) == ["a.f", "b.f"] and len(kernels) == 2
    assert kernels["a.f"](X)[0] == 0 and kernels["b.f"](X)[0] == 1
    with pytest.raises(AttributeError, match=r"2 files of .* have a kernel 'f'") as caught:
        kernels.f  # noqa: B018
    assert 'module["a.f"] or module["b.f"]' in str(caught.value)


def test_import_looks_along_the_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "fn shift(x) = x + {}"
    folder = write(tmp_path / "k", main='import "lib.weft"\nkernel f(x: f32[n]) -> f32[n] { return shift(x) }')
    with pytest.raises(ImportProblem, match=r"can't find 'lib\.weft' in"):
        weft.load(folder / "main.weft")
    write(tmp_path / "data" / "weft" / "kernels", lib=text.format(1))
    assert weft.load(folder / "main.weft").f(X)[0] == 0
    write(tmp_path / "second", lib=text.format(3))
    monkeypatch.setenv("WEFT_PATH", f"{tmp_path / 'first'}:{tmp_path / 'second'}::")
    assert weft.load(folder / "main.weft").f(X)[0] == 2
    write(tmp_path / "first", lib=text.format(2))
    assert weft.load(folder / "main.weft").f(X)[0] == 1
    write(folder, lib=text.format(4))
    assert weft.load(folder / "main.weft").f(X)[0] == 3, "the file's own folder comes first"
    with pytest.raises(ImportProblem, match="only a file can import"):
        weft.compile('import "lib.weft"')


def test_imports_do_not_leave_the_search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "secret", s="const S = 1")
    places = write(tmp_path / "path", circle='import "main.weft"')
    (places / "link.weft").symlink_to(tmp_path / "secret" / "s.weft")
    monkeypatch.setenv("WEFT_PATH", str(places))
    own = tmp_path / "own"
    for named in ("../secret/s.weft", "link.weft", str(tmp_path / "secret" / "s.weft"), "~/s.weft", ""):
        with pytest.raises(ImportProblem):
            weft.load(write(own, main=f'import "{named}"\nkernel f(x: f32) -> f32 {{ return x }}') / "main.weft")
    write(places, main='import "circle.weft"')
    with pytest.raises(ImportProblem, match=r"in a cycle: main\.weft -> circle\.weft -> main\.weft"):
        weft.load(places / "main.weft")


def test_kernels_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = Kernels()
    write(tmp_path / "p", norms="kernel n2(x: f32[n]) -> f32 { return sqrt(sum(x * x)) }")
    write(tmp_path / "p" / "many", a="kernel one(x: f32) -> f32 { return x + 1 }")
    with pytest.raises(UnknownName, match="no kernels called 'norms'"):
        kernels.norms  # noqa: B018
    monkeypatch.setenv("WEFT_PATH", str(tmp_path / "p"))
    assert np.isclose(kernels.norms.n2(X), np.linalg.norm(X)) and kernels.many.one(1.0) == 2
    assert {"many", "norms", "softmax"} <= set(dir(kernels)) and kernels.norms is kernels.norms
    assert np.array_equal(kernels.relu(X), np.maximum(X, 0)), "the library's kernels are there themselves"
    write(tmp_path / "p", tanh="kernel own(x: f32[n]) -> f32[n] { return x }")
    assert list(kernels.tanh) == ["own"], "the user's own come first"
    with pytest.raises(AttributeError, match="did you mean 'norms'"):
        kernels.norm  # noqa: B018
    with pytest.raises(UnknownName, match=r"no kernels called '\.\./p/norms'"):
        getattr(kernels, "../p/norms")


def test_packages_are_loaded_when_they_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = write(tmp_path / "site" / "weft_test_package", k="kernel two(x: f32) -> f32 { return x + 2 }")
    (package / "__init__.py").write_text("from pathlib import Path\nFILE = Path(__file__).parent / 'k.weft'\n"
        "def register():\n    import weft\n    weft.registry.unary('plus_three', lambda x: x + 3)\n"
        "def fail():\n    raise RuntimeError('no licence')\n")  # fmt: skip
    info = tmp_path / "site" / "weft_test_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weft-test-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[weft.kernels]\nwhole = weft_test_package\none = weft_test_package:FILE\n"
        "call = weft_test_package:register\nbroken = weft_test_package_none\n"
        "fails = weft_test_package:fail\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    weft.load(package / "k.weft")
    assert "weft_test_package" not in sys.modules
    assert weft.load("package:whole").two(1.0) == 3 == Kernels().one.two(1.0)
    assert len(weft.load("package:call")) == 0 and weft.ops.plus_three(X)[0] == 2
    with pytest.raises(UnknownName, match="no installed package has kernels called 'whol'") as caught:
        weft.load("package:whol")
    assert "did you mean 'whole'" in str(caught.value)
    with pytest.raises(ImportProblem, match=r"'broken' .* can't be imported"):
        weft.load("package:broken")
    with pytest.raises(ImportProblem, match="'fails' can't be loaded: RuntimeError: no licence"):
        weft.load("package:fails")
    write(package, oops="kernel oops")
    with pytest.warns(LoadWarning, match=r"oops\.weft was not loaded") as warned:
        weft.load("package:whole")
    assert warned[0].filename == __file__


def test_registering_is_all_or_nothing(tmp_path: Path) -> None:
    first = '@impl(op="fresh")\nkernel f(x: f32[n]) -> f32[n] { return x + 1 }\n'
    file = write(tmp_path, k=first) / "k.weft"
    weft.load(file)
    assert weft.ops.fresh(X)[0] == 0
    file.write_text(
        first.replace("+ 1", "+ 2") + '@impl(op="stale", hint="fast")\nkernel g(x: f32[n]) -> f32 { return x[0] }\n'
    )
    with pytest.raises(weft.errors.ValueProblem, match=r"k\.weft:3:1: unknown hint 'fast'"):
        weft.load(file)
    assert weft.ops.fresh(X)[0] == 0
    file.write_text("kernel f(x: f32[n]) -> f32[n] { return x + 1 }\n")
    weft.load(file)
    with pytest.raises(AttributeError):
        weft.ops.fresh  # noqa: B018
