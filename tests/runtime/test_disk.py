"""Test kernels loaded from disk: the same results, errors and texts as compiled ones."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.llvm.engine import module, target
from weft.backends.llvm.functions import FrameWord, NativeFunction, RegionCode
from weft.frontend.language.source import parse_module
from weft.ir.records import fields
from weft.runtime import compiler
from weft.runtime.disk import cache as caches
from weft.runtime.disk import code, finding, graphs, key, own_code, sources, version
from weft.runtime.disk.cache import Cache, CacheWarning
from weft.runtime.disk.store import Store, Unusable
from weft.runtime.selection.compiling import compiled
from weft.runtime.selection.plan import VariantPlan
from weft.settings import default_options, lookup

from .disk_cases import CALLS, MATRIX, TEXT, described

ROOT = Path(__file__).parents[2]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """Give the test its own cache; Weft's own files may be edited while tests run."""
    made = Cache(Store(str(tmp_path / "cache"), str(tmp_path / "config"), 1 << 30))
    for user in (finding, sources, code):
        monkeypatch.setattr(user, "default_cache", lambda: made)
    monkeypatch.setattr(key, "version", lambda: "this version")
    monkeypatch.setattr(caches, "is_unchanged", lambda: True)
    return made


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """After its call, nothing may be parsed, lowered or compiled."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("compiled again")

    def start() -> None:
        monkeypatch.setattr(compiler, "complete", refuse)
        for user in (finding, compiler):
            monkeypatch.setattr(user, "lower", refuse)
        monkeypatch.setattr(module, "compile_module", refuse)
        monkeypatch.setattr("weft.frontend.language.source.parse_module", refuse)

    return start


def is_stored(lowered: Any) -> bool:
    return isinstance(lowered.result, graphs.StoredResult)


def test_second_lives_give_the_same(disk: Cache, no_compiler: Callable[[], None]) -> None:
    first = weft.compile(TEXT)
    compiled = [described(first[name](*args)) for name, args in CALLS]
    for _ in range(2):  # the second makes native entries
        assert [described(first[name](*args)) for name, args in CALLS] == compiled
    disk.flush()
    no_compiler()
    second = weft.compile(TEXT)
    for _ in range(3):
        assert [described(second[name](*args)) for name, args in CALLS] == compiled
    out = np.empty_like(MATRIX)
    assert all(is_stored(second[name].lower(*args)) for name, args in CALLS)
    assert list(second) == list(first) and disk.hits
    with pytest.raises(AssertionError, match="compiled again"):
        second.softmax(MATRIX, out=out.T.copy().T)  # a layout that was never compiled


def test_texts_are_those_of_a_compiled_kernel(disk: Cache) -> None:
    first = weft.compile(TEXT).softmax.lower(MATRIX)
    weft.compile(TEXT).softmax(MATRIX)
    disk.flush()
    second = weft.compile(TEXT).softmax.lower(MATRIX)
    assert is_stored(second) and not is_stored(first)
    assert second.ir() == first.ir()
    assert second.llvm() == first.llvm() and second.asm() == first.asm()
    assert [second.ir(after=name) for name in ("input", *second.passes)] == [
        first.ir(after=name) for name in ("input", *first.passes)
    ]
    assert second.family == first.family
    assert second.to_networkx().graph == first.to_networkx().graph
    assert "from disk" in str(second.explain()) and "fused: max sub exp sum div" in str(second.explain())


def problem(kernel: Any, *args: Any) -> tuple[type, str]:
    with pytest.raises(weft.errors.WeftError) as caught:
        kernel(*args)
    return type(caught.value), str(caught.value)


def test_errors_are_those_of_a_compiled_kernel(disk: Cache) -> None:
    text = TEXT + (
        "kernel added(x: f32[n], y: f32[n], k: int) { return x + y * k }\n"
        "kernel narrow(x: i8[n], k: int) { return x + k }\n"
    )
    wrong: list[tuple[str, tuple[Any, ...]]] = [
        ("looked_up", (np.arange(3.0), np.array([0, 3]))),
        ("best", (np.empty((3, 0), "f4"),)),
        ("added", (np.ones(3, "f4"), np.ones(4, "f4"), 2)),
        ("narrow", (np.ones(3, "i1"), 1000)),
        ("softmax", (np.ones(3, "f4"),)),
    ]
    first = weft.compile(text)
    first.looked_up(np.arange(3.0), np.array([0]))
    first.best(MATRIX)
    first.added(np.ones(3, "f4"), np.ones(3, "f4"), 2)
    first.narrow(np.ones(3, "i1"), 2)
    told = [problem(first[name], *args) for name, args in wrong]
    disk.flush()
    second = weft.compile(text)
    assert [problem(second[name], *args) for name, args in wrong] == told
    assert is_stored(second.narrow.lower(np.ones(3, "i1"), 2))


def test_one_key_serves_graphs_that_assume_different_sizes(disk: Cache, no_compiler: Callable[[], None]) -> None:
    """Ordinary, short and very long rows have separate code, which only sizes distinguish."""
    calls = [np.ones(shape, "f4") for shape in ((4, 100), (1000, 4), (2, 1_500_000))]
    first = weft.compile(TEXT).softmax
    found = [described(first(x)) for x in calls]
    assert len(first.signature_cache) == 1
    assert len(first.lower(calls[0]).loaded.siblings) == 2
    disk.flush()
    no_compiler()
    second = weft.compile(TEXT).softmax
    assert [described(second(x)) for x in reversed(calls)] == found[::-1]
    assert len(second.signature_cache) == 1


def test_variants_of_a_schedule(disk: Cache, no_compiler: Callable[[], None]) -> None:
    def made() -> tuple[Any, Any]:
        base = weft.compile(TEXT).softmax.lower(MATRIX)
        found = compiled(VariantPlan(base, {"n": 5, "m": 70}), (("unroll", 8),), lookup)
        env = {"n": 5, "m": 70}
        outputs, _ = found.launcher.run([MATRIX], env, {})
        return found, described(outputs[0])

    weft.compile(TEXT).softmax(MATRIX)
    disk.flush()
    first, bits = made()
    disk.flush()
    no_compiler()
    second, again = made()
    assert is_stored(second) and not is_stored(first) and again == bits
    assert second.options.variant == (("unroll", 8),) and second.ir() == first.ir() != second.loaded.plan.base.ir()


def test_traced_functions(disk: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    weight = np.arange(70, dtype="f4")

    def make(scale: float) -> Any:
        return weft.jit(lambda x, k: {"a": np.tanh(x * weight) * scale + k, "b": x.sum(axis=0)})

    def values(function: Any) -> Any:
        return {name: described(x) for name, x in function(MATRIX, 2).items()}

    first, other = values(make(3.0)), values(make(4.0))
    disk.flush()
    monkeypatch.setattr(finding, "complete", None)
    assert values(make(3.0)) == first and values(make(4.0)) == other
    weight[:] = 1
    assert values(make(3.0)) != first
    monkeypatch.undo()


def test_functions_of_numpy_are_not_stored(disk: Cache) -> None:
    function = weft.jit(lambda x: np.sort(x + 1) * 2)
    assert np.array_equal(function(MATRIX), np.sort(MATRIX + 1) * 2)
    disk.flush()
    again = weft.jit(lambda x: np.sort(x + 1) * 2)
    assert np.array_equal(again(MATRIX), np.sort(MATRIX + 1) * 2)
    assert not is_stored(again.lower(MATRIX))


def test_no_array_of_the_caller_is_kept(disk: Cache) -> None:
    weft.compile(TEXT).softmax(MATRIX)
    disk.flush()
    kernel = weft.compile(TEXT).softmax
    mine = MATRIX.copy()
    before = sys.getrefcount(mine)
    kernel(mine)
    assert is_stored(kernel.lower(mine)) and sys.getrefcount(mine) == before


def test_what_users_register_is_not_hidden(disk: Cache) -> None:
    x = np.ones(100, "f4")
    text = "kernel grown(x: f32[n]) { return exp(x) }"
    plain = weft.compile(text).grown(x)
    disk.flush()
    kernel = weft.compile(text).grown
    assert np.array_equal(kernel(x), plain) and is_stored(kernel.lower(x))
    with weft.registry.scope():
        weft.registry.register("exp", "f32 -> f32", lambda x: x * 5)
        assert np.array_equal(kernel(x), x * 5)
        assert np.array_equal(weft.compile(text).grown(x), x * 5)
    assert np.array_equal(kernel(x), plain)
    disk.flush()
    assert np.array_equal(weft.compile(text).grown(x), plain)


def test_what_users_register_meanwhile_is_not_stored(disk: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread registers an op after the registry was asked and before it chose."""
    x = np.ones(10, "f4")
    text = "kernel grown(x: f32[n]) { return sin(x) }"
    for user in (finding, sources):
        monkeypatch.setattr(user, "state_of", lambda _: "")
    with weft.registry.scope():
        weft.registry.register("sin", "f32 -> f32", lambda x: x * 5)
        assert np.array_equal(weft.compile(text).grown(x), x * 5)
    disk.flush()
    assert np.allclose(weft.compile(text).grown(x), np.sin(x))


def test_imports_are_part_of_the_key(disk: Cache, tmp_path: Path) -> None:
    common, main = tmp_path / "common.weft", tmp_path / "main.weft"
    common.write_text("fn step(x) = x + 1\n")
    main.write_text('import "common.weft"\nkernel run(x: f32[n]) { return step(x) }\n')
    x = np.zeros(3, "f4")
    assert weft.load(main).run(x)[0] == 1
    disk.flush()
    stored = weft.load(main)
    assert stored.run(x)[0] == 1 and is_stored(stored.run.lower(x))
    late = weft.load(main)
    common.write_text("fn step(x) = x + 2\n")
    assert weft.load(main).run(x)[0] == 2
    with pytest.raises(weft.errors.FileProblem, match="have changed since it was loaded"):
        late.run(np.zeros((3,), "f4")[::2])
    main.write_text("kernel run(x: f32[n]) { return step(x) }\n")
    with pytest.raises(weft.errors.UnknownName):
        weft.load(main)
    common.unlink()


def test_imports_from_the_search_path_are_looked_for_each_time(disk: Cache, tmp_path: Path) -> None:
    """A file of that name in the importing file's own folder comes first, even if the searched folder is inside it."""
    folder, main = tmp_path / "searched", tmp_path / "main.weft"
    folder.mkdir()
    (folder / "common.weft").write_text("fn step(x) = x + 1\n")
    main.write_text('import "common.weft"\nkernel run(x: f32[n]) { return step(x) }\n')

    def parse(text: str) -> Any:
        return parse_module(text, str(main), [str(folder)])

    def is_known() -> bool:
        found = sources.open_file(str(main), lookup, lambda: parse(main.read_text()), parse, [str(folder)])
        return isinstance(found, sources.StoredModule)

    assert not is_known() and not is_known()
    (tmp_path / "common.weft").write_text("fn step(x) = x + 2\n")
    assert is_known()


def test_another_version_or_cpu_is_a_miss(disk: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    weft.compile(TEXT).softmax(MATRIX)
    disk.flush()
    monkeypatch.setattr(key, "version", lambda: "another version")
    assert not is_stored(weft.compile(TEXT).softmax.lower(MATRIX))
    monkeypatch.setattr(key, "version", lambda: None)
    hits = disk.hits
    assert np.array_equal(weft.compile(TEXT).softmax(MATRIX), weft.compile(TEXT).softmax(MATRIX))
    assert disk.hits == hits


def test_options_are_part_of_the_key(disk: Cache) -> None:
    from weft.runtime.kernel import Kernel

    kernel = weft.compile(TEXT).softmax
    levels = [compiler.Options(target=target.x86(level)) for level in (3, 4)]
    stored = [Kernel(kernel._source, lookup, o) for o in (*levels, compiler.Options())]
    for each in stored[:2] if target.host().vector_bytes == 64 else stored[:1]:
        each(MATRIX)
        disk.flush()
        assert is_stored(Kernel(kernel._source, lookup, each._options).lower(MATRIX))
    assert not is_stored(stored[2].lower(MATRIX))
    verified = Kernel(kernel._source, lookup, compiler.Options(target=levels[0].target, verify=True))
    assert not is_stored(verified.lower(MATRIX))


def test_a_digest_of_own_files_is_remembered_until_one_changes(
    disk: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, read = tmp_path / "own", own_code._content
    for layer in own_code.LAYERS:
        (root / layer).mkdir(parents=True)
        (root / layer / "a.py").write_text(layer)
    later = time.time() + 10
    first = own_code.own_code(str(root), later, disk)
    disk.flush()
    monkeypatch.setattr(own_code, "_content", lambda *_: "read")
    assert own_code.own_code(str(root), later, disk) == first == read(str(root), own_code.stamps_of(str(root)))
    file = root / "ir" / "a.py"
    before = file.stat()
    while file.stat().st_ctime_ns == before.st_ctime_ns:
        file.write_text("IR")  # as long as before
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_mtime_ns == before.st_mtime_ns and file.stat().st_size == before.st_size
    assert own_code.own_code(str(root), later, disk) == "read"


def test_the_version_follows_every_file(tmp_path: Path) -> None:
    for layer in own_code.LAYERS:
        (tmp_path / layer / "deep").mkdir(parents=True)
        (tmp_path / layer / "deep" / "a.py").write_text(layer)
    later = (tmp_path / "ir").stat().st_mtime + 10
    first = own_code.own_code(str(tmp_path), later, None)
    assert first is not None and own_code.own_code(str(tmp_path), later, None) == first
    (tmp_path / "backends" / "deep" / "a.py").write_text("Backends")
    second = own_code.own_code(str(tmp_path), later, None)
    (tmp_path / "passes" / "b.py").write_text("")
    third = own_code.own_code(str(tmp_path), later, None)
    (tmp_path / "passes" / "b.py").rename(tmp_path / "passes" / "c.py")
    assert len({first, second, third, own_code.own_code(str(tmp_path), later, None)}) == 4
    assert own_code.own_code(str(tmp_path), (tmp_path / "passes" / "c.py").stat().st_ctime, None) is None
    assert own_code.LAYERS == ("ir", "frontend", "passes", "backends", "runtime")
    whole = version.version.__wrapped__
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(version, "own_code", lambda root, began, memory: "code")
        here = whole()
        for part in ("cpu", "llvm"):
            patch.setattr(version, part, lambda: "another")
            assert whole() != here
            patch.setattr(version, part, lambda: "")
            assert whole() is None
            patch.undo()
            patch.setattr(version, "own_code", lambda root, began, memory: "code")
    assert "flags" in version.cpu() or "Features" in version.cpu()
    assert "llvmlite" in version.llvm() or "version" in version.llvm()


def test_a_directory_that_can_not_be_used_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").mkdir(mode=0o777)
    (tmp_path / "cache").chmod(0o777)
    cache = Cache(Store(str(tmp_path / "cache"), str(tmp_path / "config"), 1 << 30))
    for user in (finding, sources, code):
        monkeypatch.setattr(user, "default_cache", lambda: cache)
    monkeypatch.setattr(key, "version", lambda: "this version")
    with pytest.warns(CacheWarning, match="nobody else may write it") as told:
        kernel = weft.compile(TEXT).softmax
        kernel(MATRIX)
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weft.compile(TEXT).softmax(MATRIX)
    assert os.listdir(tmp_path / "cache") == []


def test_a_directory_that_can_not_be_written_is_read_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "is_unchanged", lambda: True)
    cache = Cache(Store(str(tmp_path / "cache"), str(tmp_path / "config"), 1 << 30))
    cache.write(b"k" * 32, b"content")
    cache.flush()

    def full(self: Store) -> int:
        raise Unusable("the disk is full")

    monkeypatch.setattr(Store, "prepare", full)
    cache = Cache(Store(str(tmp_path / "cache"), str(tmp_path / "config"), 1 << 30))
    with pytest.warns(CacheWarning, match="the disk is full") as told:
        for other in (b"m" * 32, b"n" * 32):
            assert cache.read(other) is None
            cache.write(other, b"more")
            assert cache.read(b"k" * 32) == b"content"
    assert len(told) == 1 and (cache.hits, cache.misses) == (2, 2)


def test_entries_hold_all_that_there_is_to_hold() -> None:
    """A new field is either stored (`content_of`, the codec), or is listed here because it need not be."""
    held = {"built", "result", "options", "orders", "scalars", "any_order", "uses", "known_guards", "known_family"}
    own = {"keep", "stored", "source", "sizes", "loaded"}
    assert fields(compiler.Lowered).keys() == held | own
    names = [*RegionCode._fields, *NativeFunction._fields, *FrameWord._fields]
    assert names == [
        "entries", "whole", "chunks", "columns", "cut_from", "may_fail", "declared",
        "name", "text", "extents", "grains", "unit", "tile", "owners", "inner_owners",
        "kind", "slot", "axis", "symbol", "bytes",
    ]  # fmt: skip
    assert [*fields(compiler.Options)] == ["target", "backend", "verify", "variant", "blas"]


def test_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    make = caches.default_cache.__wrapped__
    assert make() is None  # the suite runs without
    monkeypatch.delenv("WEFT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "c"))
    assert (make().store.folder, make().store.configuration) == (str(tmp_path / "weft"), str(tmp_path / "c" / "weft"))
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "here"))
    monkeypatch.setenv("WEFT_CACHE_LIMIT", "1000")
    assert (make().store.folder, make().store.limit) == (str(tmp_path / "here"), 1000)
    monkeypatch.setenv("WEFT_CACHE_LIMIT", "much")
    with pytest.raises(weft.errors.WeftError, match="WEFT_CACHE_LIMIT"):
        make()
    assert default_options().backend == "llvm"


SCRIPT = """
import sys
import numpy as np
of_numpy = set(sys.modules)
import weft.runtime.disk.key as key, weft.runtime.disk.cache as caches
key.version, caches.is_unchanged = lambda: "fixed", lambda: True
import weft
kernel = weft.compile({text!r}).softmax
x = np.linspace(-3, 3, 64 * 512, dtype="f4").reshape(64, 512)
print(hash(kernel(x).tobytes()))
slow = {{"llvmlite", "lark", "networkx", "scipy", "dataclasses", "hashlib", "_hashlib", "hmac", "pathlib", "fractions",
        "json", "array"}}
heavy = [m for m in sys.modules.keys() - of_numpy if m.split(".")[0] in slow]
ours = ("weft.frontend", "weft.passes", "weft.ir.builder", "weft.ir.accesses", "weft.runtime.registry",
        "weft.runtime.selection", "weft.runtime.blas", "weft.runtime.native.loops")
print(sorted(heavy + [m for m in sys.modules if m.startswith(ours)]))
traced = weft.jit(lambda x: np.exp(x).sum(axis=0))
print(hash(traced(x).tobytes()), [m for m in sys.modules if m.startswith(("llvmlite", "weft.passes"))][:1])
for _ in range(3):
    y = kernel(x)
print(hash(y.tobytes()), [m for m in sys.modules if m.startswith("llvmlite")][:1])
"""


def test_a_new_process_loads_no_compiler(tmp_path: Path) -> None:
    environment = {
        **os.environ, "WEFT_CACHE": "1", "WEFT_CACHE_DIR": str(tmp_path / "cache"), "PYTHONHASHSEED": "1",
        "XDG_CONFIG_HOME": str(tmp_path / "config"), "WEFT_HISTORY": str(tmp_path / "history.json"),
    }  # fmt: skip
    (tmp_path / "history.json").write_text("{}")  # the first call does not read it
    script = SCRIPT.format(text=TEXT)
    runs = [
        subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    (bits, heavy, traced, again), (bits2, heavy2, traced2, again2) = (run.stdout.splitlines() for run in runs)
    assert "llvmlite" in heavy and "weft.passes.fuse" in heavy
    assert heavy2 == "[]"
    assert traced2 == f"{traced.split()[0]} []"
    assert bits == bits2 and again2 == f"{bits2} []" and again.startswith(bits)
    assert [run.stderr for run in runs] == ["", ""]
