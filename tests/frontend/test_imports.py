"""Test `import`: what it brings, and that no path leaves the file's folder and the search path."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from weft.frontend.language.modules import MAX_FILES
from weft.frontend.language.source import load_module, parse_module
from weft.ir.errors import FileProblem, ImportProblem, LimitExceeded, UnknownName, ValueProblem
from weft.ir.limits import Limits

COMMON = "const C = 2\nfn twice(x) = C * x\nkernel total(x: float[n]) -> float { return sum(x) }\n"
MAIN = 'import "common.weft"\nkernel f(x: f32[n]) -> f32[n] { return twice(x) + C + total(x) }\n'


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.weft").write_text(text)
    return folder


def test_import_brings_functions_constants_and_kernels(tmp_path: Path, run_kernel) -> None:
    write(tmp_path, common=COMMON, main=MAIN)
    module = load_module(tmp_path / "main.weft")
    assert list(module.kernels) == ["f"]
    x = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(run_kernel(module.kernels["f"], x)[0], 2 * x + 2 + x.sum())
    assert {Path(f).name: t for f, t in module.sources.items()} == {"main.weft": MAIN, "common.weft": COMMON}


def test_the_folder_comes_before_the_search_path(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    home = tmp_path / "home"
    home.mkdir()
    write(lib, common=COMMON, other="fn one(x) = x")
    write(home, common=COMMON.replace("twice", "thrice"), main='import "common.weft"\nimport "other.weft"')
    names = load_module(home / "main.weft", [lib]).sources
    assert [str(Path(n).relative_to(tmp_path)) for n in names] == [
        "home/main.weft", "home/common.weft", "lib/other.weft",
    ]  # fmt: skip


def test_a_folder_below_may_be_imported(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", part="fn one(x) = x")
    write(tmp_path, main='import "sub/part.weft"\nkernel f(x: f32) = one(x)')
    assert list(load_module(tmp_path / "main.weft").kernels) == ["f"]


def test_a_diamond_is_read_once_and_names_do_not_pass_through(tmp_path: Path) -> None:
    write(
        tmp_path, common=COMMON, a='import "common.weft"\nfn a(x) = twice(x)', b='import "common.weft"\nfn b(x) = C * x'
    )
    write(tmp_path, main='import "a.weft"\nimport "b.weft"\nkernel f(x: f32) = a(x) + b(x)')
    assert list(load_module(tmp_path / "main.weft").kernels) == ["f"]
    write(tmp_path, main='import "a.weft"\nkernel f(x: f32) = twice(x)')
    with pytest.raises(UnknownName, match="twice"):
        load_module(tmp_path / "main.weft")


@pytest.mark.parametrize(
    "files", [{"main": 'import "main.weft"'}, {"main": 'import "a.weft"', "a": 'import "main.weft"'}]
)
def test_cycles(tmp_path: Path, files: dict[str, str]) -> None:
    write(tmp_path, **files)
    with pytest.raises(ImportProblem, match=r"in a cycle: main\.weft -> .*main\.weft"):
        load_module(tmp_path / "main.weft")


def test_a_cycle_through_a_link(tmp_path: Path) -> None:
    write(tmp_path, main='import "link.weft"')
    (tmp_path / "link.weft").symlink_to(tmp_path / "main.weft")
    with pytest.raises(ImportProblem, match="cycle"):
        load_module(tmp_path / "main.weft")


def test_missing_file(tmp_path: Path) -> None:
    write(tmp_path, main='\nimport "nothing.weft"')
    with pytest.raises(ImportProblem, match=r"main\.weft:2:1: can't find 'nothing\.weft'"):
        load_module(tmp_path / "main.weft")


@pytest.mark.parametrize(
    "path", ["../outside.weft", "sub/../../outside.weft", "../missing.weft", "", "a\\b.weft", "a\0b"]
)
def test_paths_that_lead_out(tmp_path: Path, path: str) -> None:
    home = tmp_path / "home"
    (home / "sub").mkdir(parents=True)
    write(tmp_path, outside="fn one(x) = x")
    write(home, main=f'import "{path}"')
    with pytest.raises(ImportProblem):
        load_module(home / "main.weft")


def test_absolute_paths(tmp_path: Path) -> None:
    write(tmp_path, common=COMMON, main=f'import "{tmp_path}/common.weft"')
    with pytest.raises(ImportProblem, match="must be relative"):
        load_module(tmp_path / "main.weft")


def test_links_that_lead_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    write(tmp_path, outside="fn one(x) = x")
    write(home, main='import "link.weft"', other='import "way/outside.weft"')
    (home / "link.weft").symlink_to(tmp_path / "outside.weft")
    (home / "way").symlink_to(tmp_path)
    for name in ("main", "other"):
        with pytest.raises(ImportProblem, match="leads out of"):
            load_module(home / f"{name}.weft")


def test_a_link_that_leads_out_is_not_hidden_by_the_search_path(tmp_path: Path) -> None:
    home, lib = tmp_path / "home", tmp_path / "lib"
    home.mkdir()
    lib.mkdir()
    write(tmp_path, x="fn one(x) = x")
    write(home, main='import "x.weft"')
    (lib / "x.weft").symlink_to(tmp_path / "x.weft")
    with pytest.raises(ImportProblem, match="leads out of"):
        load_module(home / "main.weft", [lib])


def test_text_can_not_import(tmp_path: Path) -> None:
    write(tmp_path, common=COMMON)
    with pytest.raises(ImportProblem, match="only a file can import"):
        parse_module(MAIN, str(tmp_path / "main.weft"))
    assert list(parse_module(MAIN, str(tmp_path / "main.weft"), []).kernels) == ["f"]


def test_a_name_that_is_imported_can_not_be_defined(tmp_path: Path) -> None:
    write(tmp_path, common=COMMON, main='import "common.weft"\nfn twice(x) = x + x')
    with pytest.raises(ValueProblem, match=r"'twice' is defined twice(.|\n)*common\.weft:2"):
        load_module(tmp_path / "main.weft")


def test_an_error_in_an_imported_file_names_that_file(tmp_path: Path) -> None:
    write(tmp_path, common="fn f(x) = y", main='import "common.weft"')
    with pytest.raises(UnknownName, match=r"common\.weft:1:11"):
        load_module(tmp_path / "main.weft")


def test_too_many_files(tmp_path: Path) -> None:
    for i in range(MAX_FILES + 5):
        write(tmp_path, **{f"f{i}": f'import "f{i + 1}.weft"'})
    with pytest.raises(LimitExceeded, match="files are imported"):
        load_module(tmp_path / "f0.weft")


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "bytes.weft").write_bytes(b"const A = \xff")
    (tmp_path / "dir.weft").mkdir()
    for name, message in (
        ("bytes", "not UTF-8"),
        ("dir", "is not a file"),
        ("missing", "can't read"),
        ("a\0b", "can't read"),
    ):
        with pytest.raises(FileProblem, match=message):
            load_module(tmp_path / f"{name}.weft")
    write(tmp_path, main='import "bytes.weft"')
    with pytest.raises(FileProblem, match=r"main\.weft:1:1: .*bytes\.weft is not UTF-8"):
        load_module(tmp_path / "main.weft")


def test_a_byte_order_mark_is_no_character(tmp_path: Path) -> None:
    (tmp_path / "bom.weft").write_bytes(b"\xef\xbb\xbfkernel f(x: f32) = x")
    assert list(load_module(tmp_path / "bom.weft").kernels) == ["f"]


def test_a_file_that_is_too_long(tmp_path: Path) -> None:
    write(tmp_path, big="#" * (Limits().text + 1))
    with pytest.raises(LimitExceeded, match="characters"):
        load_module(tmp_path / "big.weft")
    write(tmp_path, huge="é" * 2 * Limits().text + "x" * 2)
    with pytest.raises(LimitExceeded, match="bytes"):
        load_module(tmp_path / "huge.weft")
