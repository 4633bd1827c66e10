"""Test which libraries are loaded: only on request, from the declared path, and if others can't change them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import weft
from weft.command.main import main
from weft.errors import LibraryProblem
from weft.runtime.libraries import trust

from tests.user_kernels.libraries import build

TWICE = 'extern kernel twice(x: f32[n]) -> f32[n] from "{}" symbol "twice_f32"\n'
X = np.arange(4, dtype=np.float32)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return build(tmp_path_factory.mktemp("library") / "k.so").read_bytes()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    path.chmod(0o644)
    return path


def twice(file: Path, named: str) -> weft.compiling.Module:
    file.write_text(TWICE.format(named))
    return weft.load(file, libraries=True)


def test_only_who_asks_for_libraries_gets_them(tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "k.so", library)
    file = tmp_path / "k.weft"
    assert np.array_equal(twice(file, "k.so").twice(X), 2 * X)
    (tmp_path / "user.weft").write_text('import "k.weft"\nkernel f(x: f32[n]) -> f32[n] { return twice(x) }')
    monkeypatch.setenv("WEFT_PATH", str(tmp_path))
    asks = [
        lambda: weft.load(file),
        lambda: weft.load(tmp_path / "user.weft"),
        lambda: weft.compile(TWICE.format(tmp_path / "k.so")),
        lambda: weft.kernels.k,
    ]
    for ask in asks:
        with pytest.raises(LibraryProblem, match="which is not allowed by default"):
            ask()
    assert np.array_equal(weft.load(tmp_path / "user.weft", libraries=True).f(X), 2 * X)
    with pytest.warns(weft.errors.LoadWarning, match="which is not allowed by default"):
        assert len(weft.load(tmp_path).problems) == 2


def test_the_command_must_be_asked_too(tmp_path: Path, library: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "k.so", library)
    (tmp_path / "k.weft").write_text(TWICE.format("k.so"))
    command = ["run", str(tmp_path / "k.weft"), "--arg", "x=full(2,3):f32"]
    assert main(command) == 1 and "which is not allowed by default" in capsys.readouterr().err
    assert main([*command, "--libraries"]) == 0 and "[4. 4. 4.]" in capsys.readouterr().out


def test_paths_are_absolute_or_relative_to_the_file(
    tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "here" / "k.so", library)
    (tmp_path / "kernels").mkdir()
    file = tmp_path / "kernels" / "k.weft"
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "here"))
    for named in ("k.so", "./k.so", "libm.so.6"):
        with pytest.raises(LibraryProblem, match=r"library .*kernels.* does not exist"):
            twice(file, named)
    for named in (str(tmp_path / "here" / "k.so"), "../here/k.so"):
        assert np.array_equal(twice(file, named).twice(X), 2 * X)


@pytest.mark.parametrize("mode", [0o666, 0o664, 0o602])
def test_a_file_that_others_can_write_is_refused(tmp_path: Path, library: bytes, mode: int) -> None:
    put(tmp_path / "k.so", library).chmod(mode)
    with pytest.raises(LibraryProblem, match=r"others can write to .*k\.so"):
        twice(tmp_path / "k.weft", "k.so")


def test_folders_above_it_count(tmp_path: Path, library: bytes) -> None:
    place = put(tmp_path / "a" / "b" / "k.so", library)
    file = tmp_path / "k.weft"
    for folder in (tmp_path / "a", tmp_path / "a" / "b"):
        folder.chmod(0o777)
        with pytest.raises(LibraryProblem, match=f"others can write to {folder}, so its code"):
            twice(file, "a/b/k.so")
        folder.chmod(0o1777)  # where nobody can move what is another's
        assert np.array_equal(twice(file, str(place)).twice(X), 2 * X)
        folder.chmod(0o755)


def test_links_lead_through_folders_that_count_too(tmp_path: Path, library: bytes) -> None:
    put(tmp_path / "safe" / "k.so", library)
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "link.so").symlink_to(tmp_path / "safe" / "k.so")
    (tmp_path / "second.so").symlink_to("open/link.so")
    file = tmp_path / "k.weft"
    assert np.array_equal(twice(file, "second.so").twice(X), 2 * X)
    (tmp_path / "open").chmod(0o777)
    for named in ("open/link.so", "second.so", "safe/../open/link.so"):
        with pytest.raises(LibraryProblem, match=f"others can write to {tmp_path / 'open'}"):
            twice(file, named)
    (tmp_path / "circle.so").symlink_to("circle.so")
    with pytest.raises(LibraryProblem, match="more than 40 links"):
        twice(file, "circle.so")


def test_what_belongs_to_others_is_refused(tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    place = put(tmp_path / "k.so", library)
    if os.geteuid() == 0:
        os.chown(place, 12345, 12345)
    else:
        monkeypatch.setattr(trust.os, "geteuid", lambda: 12345)
    with pytest.raises(LibraryProblem, match="belongs to another user"):
        twice(tmp_path / "k.weft", "k.so")


def test_what_was_checked_is_what_runs(tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is replaced after the check is not loaded, and overwriting it later changes nothing."""
    place = put(tmp_path / "k.so", library)
    read = trust.read_trusted

    def swapped(*args: object) -> bytes:
        found = read(*args)  # type: ignore[arg-type]
        place.write_bytes(b"something else")
        return found

    monkeypatch.setattr("weft.runtime.libraries.source.read_trusted", swapped)
    kernels = twice(tmp_path / "k.weft", "k.so")
    assert place.read_bytes() == b"something else" and np.array_equal(kernels.twice(X), 2 * X)


def test_it_can_be_loaded_without_files_in_memory(
    tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weft.runtime.libraries.handles import Handles

    monkeypatch.delattr(os, "memfd_create", raising=False)
    loaded = Handles().load(library, "k.so", None)
    assert loaded.handle.twice_f32 is not None and not list(Path(tmp_path).glob("weft-library-*"))
