"""Damaged libraries, and those that make the linker load others, raise typed errors and do not kill the process."""

from __future__ import annotations

import ctypes
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import LibraryProblem, WeftError
from weft.ir import dtypes
from weft.ir.dims import symbol
from weft.ir.errors import Span
from weft.ir.externs import ExternArray, ExternKernel
from weft.runtime.libraries import elf_tables, handles, needs, probe
from weft.runtime.libraries.calls import library_call
from weft.runtime.libraries.elf import Damage, Image
from weft.runtime.libraries.handles import Handles
from weft.runtime.libraries.source import Libraries

from tests.runtime.test_disk_store import in_child
from tests.user_kernels.libraries import build

X = np.arange(4, dtype=np.float32)
DYNAMIC_ENTRY = struct.Struct("<QQ")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return build(tmp_path_factory.mktemp("library") / "k.so").read_bytes()


def opened(folder: Path, content: bytes, known: Handles | None = None) -> Any:
    """The kernel of a library with this content."""
    (folder / "k.so").write_bytes(content)
    (folder / "k.so").chmod(0o644)
    each = ExternArray(dtypes.BY_NAME["f32"], (symbol("n"),))
    extern = ExternKernel("twice", (each,), (each,), "k.so", "twice_f32", str(folder / "k.weft"), Span("k.weft", 1))
    return Libraries(known or Handles()).open(extern)


@cache
def spots_of(content: bytes) -> list[int]:
    return [k for k, byte in enumerate(content) if byte]


def damaged(content: bytes, seed: int) -> bytes:
    """Yield a library with one byte changed, some, or many; half of the changes are outside of zeros."""
    rng = random.Random(seed)
    made, spots = bytearray(content), spots_of(content)
    for _ in range(rng.choice((1, 1, 1, 3, 20, 100))):
        at = rng.choice(spots) if rng.random() < 0.5 else rng.randrange(len(made))
        made[at] = rng.choice((0, 255, made[at] ^ 1 << rng.randrange(8), rng.randrange(256)))
    return bytes(made)


def survives(work: Callable[[], None]) -> int:
    """Return the exit status of a child that does something; a negative one is the signal that killed it."""
    return os.waitstatus_to_exitcode(os.waitpid(in_child(work), 0)[1])


@pytest.mark.parametrize("part", range(4))
def test_no_damaged_library_kills_the_process_that_loads_it(tmp_path: Path, library: bytes, part: int) -> None:
    """Of 500 damaged libraries some load, because nothing that matters was hit; the others raise typed errors."""

    def load_all() -> None:
        found = 0
        for seed in range(125 * part, 125 * (part + 1)):
            try:
                opened(tmp_path, damaged(library, seed))
            except WeftError:
                found += 1
        assert 20 < found < 120

    assert survives(load_all) == 0


def test_what_was_loaded_before_is_known_again_and_can_be_called(tmp_path: Path, library: bytes) -> None:
    """If the linker writes a build ID, damage to code is noticed too, so calls are safe."""

    def call_all() -> None:
        known = Handles()
        assert np.array_equal(opened(tmp_path, library, known)(X)[0], 2 * X)
        has_id = bool(Image(library).build_id)
        for seed in range(100):
            content = damaged(library, seed)
            try:
                kernel = opened(tmp_path, content, known)
            except WeftError:
                continue
            if has_id and Image(content).build_id == Image(library).build_id:
                assert np.array_equal(kernel(X)[0], 2 * X)  # only bytes that are not loaded were hit

    assert survives(call_all) == 0


def test_a_build_is_remembered_on_disk(tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[Any, bytes] = {}
    cache = SimpleNamespace(read=kept.get, write=kept.__setitem__)
    monkeypatch.setattr("weft.runtime.disk.cache.default_cache", lambda: cache)
    monkeypatch.setattr("weft.runtime.disk.key.version", lambda: "this version")
    monkeypatch.setattr(Image, "build_id", property(lambda self: b"some build"))
    opened(tmp_path, library)
    assert list(kept.values()) == [Image(library).digest]
    at = library.index(b"f32[n] -> f32[n]")
    with pytest.raises(LibraryProblem, match="it was changed after it was linked"):
        opened(tmp_path, library[:at] + b"F" + library[at + 1 :])
    assert opened(tmp_path, library + b"what strip leaves") is not None
    monkeypatch.setattr(Image, "build_id", property(lambda self: b""))
    with pytest.raises(LibraryProblem, match="can't read the signature"):
        opened(tmp_path, library[:at] + b"F" + library[at + 1 :])


def constructors(content: bytes) -> Iterator[bytes]:
    """Libraries whose initialiser faults, hangs, or ends the process."""
    image = Image(content)
    initialisers = image.tags.get(elf_tables.INIT_ARRAY)
    start = image.tags.get(elf_tables.INIT)
    if initialisers is not None:
        relocations = elf_tables._relocations(image)
        start = int(relocations["addend"][relocations["offset"] == initialisers][0])
    assert start is not None
    (at,) = [start - s.address + s.offset for s in image.loaded if s.address <= start < s.end]
    for code in (b"\x0f\x0b", b"\xeb\xfe", b"\xb8\xe7\x00\x00\x00\xbf\x07\x00\x00\x00\x0f\x05"):
        yield content[:at] + code + content[at + len(code) :]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the initialisers are machine code")
def test_initialisers_that_kill_or_stop_are_met_in_a_child(
    tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not {elf_tables.INIT, elf_tables.INIT_ARRAY} & Image(library).tags.keys():
        return  # linked without a compiler: there is none to change
    monkeypatch.setattr(probe, "SECONDS", 1)
    before = set(os.listdir("/proc/self/fd"))
    reasons = (r"\(SIGILL\)", "takes longer than 1 seconds", r"\(exit status 7\)")
    for content, reason in zip(constructors(library), reasons, strict=True):
        known = Handles()
        for _ in range(2):  # the second time it is remembered
            with pytest.raises(LibraryProblem, match=reason):
                opened(tmp_path, content, known)
            monkeypatch.setattr(handles, "what_kills", None)
        monkeypatch.setattr(handles, "what_kills", probe.what_kills)
    assert set(os.listdir("/proc/self/fd")) == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_child_has_no_thread_to_hand_the_lock_to() -> None:
    """Without care a child waits for ever while other threads compute, if the fork takes longer than their patience."""
    is_over, before = False, sys.getswitchinterval()

    def compute() -> None:
        while not is_over:
            sum(range(1000))

    others = [threading.Thread(target=compute) for _ in range(3)]
    for other in others:
        other.start()
    try:
        sys.setswitchinterval(1e-5)
        found = {probe._ending(lambda libc: [libc.getpid() for _ in range(2000)], 5) for _ in range(4)}
    finally:
        is_over = True
        sys.setswitchinterval(before)
        for other in others:
            other.join()
    assert found == {""}


def test_a_child_that_is_late_once_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    endings = iter((probe._LATE, ""))
    monkeypatch.setattr(probe, "_ending", lambda work, seconds: next(endings))
    assert probe.what_kills("lib.so", 0, ()) == "" and next(endings, None) is None


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the kernels are machine code")
def test_the_first_call_of_a_kernel_is_tried_in_a_child(
    tmp_path: Path, library: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Damage in machine code that was never loaded before shows in the call; a slow one says nothing."""
    image = Image(library)
    start = elf_tables.find_symbol(image, elf_tables.check_tables(image), "twice_f32")
    assert start is not None
    (at,) = [start - s.address + s.offset for s in image.loaded if s.address <= start < s.end]
    for code, reason in ((b"\x0f\x0b", "SIGILL"), (b"\xb8\xe7\x00\x00\x00\xbf\x07\x00\x00\x00\x0f\x05", "status 7")):
        kernel = opened(tmp_path, library[:at] + code + library[at + len(code) :])
        for _ in range(2):
            with pytest.raises(LibraryProblem, match=f"kills the process that calls it .*{reason}"):
                kernel(X)
    monkeypatch.setattr(probe, "CALL_SECONDS", 0)
    endless = library_call(opened(tmp_path, library[:at] + b"\xeb\xfe" + library[at + 2 :]))
    assert endless is not None
    assert probe.what_kills_a_call(ctypes.cast(endless._function, ctypes.c_void_p).value or 0, 0) == ""
    monkeypatch.undo()
    kernel = opened(tmp_path, library)
    assert np.array_equal(kernel(X)[0], 2 * X)
    monkeypatch.setattr("weft.runtime.libraries.calls.what_kills_a_call", None)  # once is enough
    assert np.array_equal(kernel(X)[0], 2 * X)


def test_a_child_that_others_waited_for(tmp_path: Path, library: bytes) -> None:
    """A program that ignores SIGCHLD never learns how its children ended."""
    old = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert np.array_equal(opened(tmp_path, library)(X)[0], 2 * X)
        content = next(constructors(library)) if elf_tables.INIT in Image(library).tags else None
        if content is not None:
            with pytest.raises(LibraryProblem, match="kills the process that loads it"):
                opened(tmp_path, content)
    finally:
        signal.signal(signal.SIGCHLD, old)


def with_entry(content: bytes, tag: int, value: int) -> bytes:
    """Return a library with one more entry in its dynamic section, in place of the first terminator."""
    image = Image(content)
    (dynamic,) = [s for s in image.segments if s.kind == 2]
    at = dynamic.offset + 16 * len(image.entries)
    assert not any(content[at : at + 32])
    return content[:at] + DYNAMIC_ENTRY.pack(tag, value) + content[at + 16 :]


def test_names_that_are_no_text_are_told_all_the_same(tmp_path: Path, library: bytes) -> None:
    content = library.replace(b"twice_f32_signature\0", b"twice_f32_signatur\xff\0")
    at = Image(content)._strings.index(b"twice_f32_signatur\xff")
    with pytest.raises(LibraryProblem, match="can't be loaded as a shared library: cannot open shared object"):
        opened(tmp_path, with_entry(content, 1, at))


def test_libraries_that_have_the_linker_load_others_are_refused(tmp_path: Path, library: bytes) -> None:
    for tag, reason in (
        (needs.RUNPATH, "an empty part of its RUNPATH means the working directory"),
        (needs.RPATH, "an empty part of its RPATH means the working directory"),
        (1, "it needs '', which is looked for in the working directory"),
        *((tag, f"it makes the linker load other libraries through {name}") for tag, name in needs._LOADERS.items()),
    ):
        with pytest.raises(LibraryProblem, match=f"k.so is not loaded: {reason}"):
            opened(tmp_path, with_entry(library, tag, 0))
    with pytest.raises(LibraryProblem, match="outside its string table"):
        opened(tmp_path, with_entry(library, needs.RUNPATH, 1 << 40))


def test_paths_that_lead_where_others_can_write_are_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o1777)
    (tmp_path / "link").symlink_to("open")
    (tmp_path / "libc.so").touch(0o644)
    good, others = str(tmp_path), "others can write to"
    runpaths = {
        "": "an empty part", f"{good}:": "an empty part", f":{good}": "an empty part", ".": "working directory",
        "lib": "'lib' in its RUNPATH means the working directory", "$LIB": "working directory",
        "$ORIGIN/../lib": "leads out of", f"{good}:${{ORIGIN}}/../cwd": "leads out of",
        f"{good}/open": others, f"{good}/open/not/there": others, f"{good}/link": others, "/tmp/not-there-yet": others,
        good: "", f"{good}/not-there": "", "$ORIGIN": "", "$ORIGIN/lib:/usr/lib": "",
    }  # fmt: skip
    needed = {
        "./libx.so": "working directory", "sub/libx.so": "working directory", "$ORIGIN/libx.so": "working directory",
        f"{good}/open/libx.so": others, f"{good}/libc.so": "", "libc.so.6": "",
    }  # fmt: skip
    for tag, cases in ((needs.RUNPATH, runpaths), (needs.RPATH, runpaths), (1, needed)):
        for text, reason in cases.items():
            image: Any = SimpleNamespace(
                tags={tag: 0}, texts=lambda asked, tag=tag, text=text: [text] if asked == tag else []
            )
            reason = reason.replace("RUNPATH", "RPATH") if tag == needs.RPATH else reason
            if not reason:
                needs.check_needs(image, "k.so", None)
                continue
            with pytest.raises(LibraryProblem, match=reason.replace("'", ".")):
                needs.check_needs(image, "k.so", None)


def test_a_relative_search_path_runs_nothing_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        return  # the entries themselves are tried above
    evil, trusted = tmp_path / "evil", tmp_path / "trusted"
    evil.mkdir()
    trusted.mkdir()
    mark = tmp_path / "ran"
    (evil / "e.c").write_text(
        f'#include <stdio.h>\n__attribute__((constructor)) void f(void) {{ fclose(fopen("{mark}", "w")); }}\nint e;\n'
    )
    subprocess.run([compiler, "-shared", "-fPIC", "e.c", "-o", "libe.so"], cwd=evil, check=True)
    source = build(trusted / "k.so").with_suffix(".c")
    (trusted / "k.weft").write_text('extern kernel twice(x: f32[n]) -> f32[n] from "k.so" symbol "twice_f32"\n')
    monkeypatch.chdir(evil)
    for flags in (["-Wl,-rpath,"], ["-Wl,-rpath,.", "-Wl,--disable-new-dtags"], ["-Wl,-rpath,$ORIGIN/../cwd"]):
        linked = [*flags, "-Wl,--no-as-needed", f"-L{evil}", "-le", "-o", str(trusted / "k.so")]
        subprocess.run([compiler, "-shared", "-fPIC", f"-I{weft.include_dir()}", str(source), *linked], check=True)
        (trusted / "k.so").chmod(0o644)
        with pytest.raises(LibraryProblem):
            weft.load(trusted / "k.weft", libraries=True)
        assert not mark.exists()


def test_every_check_is_reached_by_damage(library: bytes) -> None:
    """The checks raise nothing but `Damage`, and most of them are reached."""
    found: set[str] = set()
    for seed in range(500, 900):
        try:
            elf_tables.check_tables(Image(damaged(library, seed)))
        except Damage as damage:
            found.add(str(damage))
    assert len(found) >= 12, found
