"""Test the store against damage, crashes, other users, links, and many processes at once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from weft.ir.support import files
from weft.ir.support.files import PART
from weft.runtime.disk import key as keys_of
from weft.runtime.disk import store as stores
from weft.runtime.disk.hashing import is_same, mac_of
from weft.runtime.disk.secret import NAME, NoSecret, find_secret, make_secret
from weft.runtime.disk.store import ENDING, Store, Unusable

NOBODY = 65534
KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
CONTENT = bytes(random.Random(7).randbytes(700))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path / "cache"), str(tmp_path / "config"), 1 << 30)


def again(store: Store) -> Store:
    """Open the same directory as another process would."""
    return Store(store.folder, store.configuration, store.limit)


def entry(store: Store, key: bytes = KEY) -> Path:
    return Path(store.folder, key.hex() + ENDING)


def in_child(work: Callable[[], None]) -> int:
    """Run something in a forked process and return the child's id."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        os._exit(1)


def ended_well(child: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_is_written_is_read(store: Store) -> None:
    assert store.read(KEY) is None
    assert not Path(store.folder).exists()
    store.write(KEY, CONTENT)
    assert again(store).read(KEY) == CONTENT
    assert again(store).read(OTHER) is None
    assert stat.S_IMODE(os.stat(store.folder).st_mode) == 0o700
    assert stat.S_IMODE(entry(store).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(store.configuration, NAME).stat().st_mode) == 0o600
    assert os.listdir(store.folder) == [entry(store).name]


def test_every_flipped_byte_is_a_miss(store: Store) -> None:
    store.write(KEY, CONTENT)
    whole = entry(store).read_bytes()
    for at in range(len(whole)):
        entry(store).write_bytes(whole[:at] + bytes((whole[at] ^ (1 << at % 8),)) + whole[at + 1 :])
        assert store.read(KEY) is None, at
    for damaged in (b"", whole[:8], whole[:40], whole[:-1], whole + b"\0", whole[:40] + whole[40:][::-1]):
        entry(store).write_bytes(damaged)
        assert store.read(KEY) is None
    entry(store).write_bytes(whole)
    assert store.read(KEY) == CONTENT


def test_an_entry_under_another_key_is_a_miss(store: Store) -> None:
    store.write(KEY, CONTENT)
    os.rename(entry(store), entry(store, OTHER))
    assert store.read(OTHER) is None
    assert store.read(KEY) is None


def test_an_entry_of_another_secret_is_a_miss(store: Store, tmp_path: Path) -> None:
    store.write(KEY, CONTENT)
    assert Store(store.folder, str(tmp_path / "elsewhere"), 1 << 30).read(KEY) is None
    make_secret(str(tmp_path / "elsewhere"))
    assert Store(store.folder, str(tmp_path / "elsewhere"), 1 << 30).read(KEY) is None


def links(store: Store, tmp_path: Path) -> Iterator[Path]:
    """Replace an entry by a link, a directory, a pipe, or a file that others may write."""
    store.write(KEY, CONTENT)
    found = entry(store)
    elsewhere = tmp_path / "elsewhere"
    os.rename(found, elsewhere)
    found.symlink_to(elsewhere)
    yield found
    found.unlink()
    found.mkdir()
    yield found
    found.rmdir()
    os.mkfifo(found)
    yield found
    found.unlink()
    for mode in (0o620, 0o602, 0o666):
        found.write_bytes(elsewhere.read_bytes())
        found.chmod(mode)
        yield found


def test_only_plain_files_of_our_own_are_read(store: Store, tmp_path: Path) -> None:
    for found in links(store, tmp_path):
        assert store.read(KEY) is None, found.lstat()
    entry(store).chmod(0o600)
    assert store.read(KEY) == CONTENT


def test_a_file_that_is_swapped_is_not_mixed_with_the_one_that_was_checked(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is replaced between the check and the read; only the opened file is read."""
    store.write(KEY, CONTENT)
    good = entry(store).read_bytes()
    real = os.fstat

    def swap(file: int) -> os.stat_result:
        found = real(file)
        entry(store).unlink()
        entry(store).write_bytes(b"evil" * 400)
        return found

    monkeypatch.setattr(stores.os, "fstat", swap)
    assert store.read(KEY) == CONTENT
    monkeypatch.undo()
    assert store.read(KEY) is None

    def change(file: int) -> os.stat_result:
        found = real(file)
        entry(store).write_bytes(good[:-1] + b"?")  # the very file that was opened
        return found

    entry(store).write_bytes(good)
    monkeypatch.setattr(stores.os, "fstat", change)
    assert store.read(KEY) is None


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_directory_that_others_can_write_is_refused(store: Store, mode: int) -> None:
    store.write(KEY, CONTENT)
    os.chmod(store.folder, mode)
    for use in (lambda s: s.read(KEY), lambda s: s.write(KEY, CONTENT), lambda s: s.clear()):
        with pytest.raises(Unusable, match="must be your own"):
            use(again(store))


def test_a_directory_of_another_user_is_refused(store: Store) -> None:
    if os.geteuid() == 0:
        store.write(KEY, CONTENT)
        os.chown(store.folder, NOBODY, NOBODY)
    other = again(store) if os.geteuid() == 0 else Store("/", store.configuration, 1 << 30)
    with pytest.raises(Unusable, match="must be your own"):
        other.read(KEY)
    with pytest.raises(Unusable, match="must be your own"):
        other.write(KEY, CONTENT)


def test_a_directory_that_is_read_only_is_read(store: Store, tmp_path: Path) -> None:
    store.write(KEY, CONTENT)
    folders = (Path(store.folder), Path(store.configuration), tmp_path)
    paths = [p for folder in folders[:2] for p in (folder, *folder.iterdir())]
    is_root = os.geteuid() == 0

    def use() -> None:
        if is_root:
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        assert again(store).read(KEY) == CONTENT
        with pytest.raises(Unusable):
            again(store).write(OTHER, CONTENT)
        with pytest.raises(Unusable):
            Store(store.folder + "/deeper/yet", store.configuration, 1 << 30).write(KEY, CONTENT)

    for path in paths if is_root else ():
        os.chown(path, NOBODY, NOBODY)
    for folder in (tmp_path, *tmp_path.parents):
        if is_root and folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o011)
    Path(store.folder).chmod(0o500)
    assert ended_well(in_child(use))
    Path(store.folder).chmod(0o700)


def test_a_directory_that_is_deleted_is_made_again(store: Store) -> None:
    store.write(KEY, CONTENT)
    shutil.rmtree(store.folder)
    assert store.read(KEY) is None
    store.write(KEY, CONTENT)
    store.write(KEY, CONTENT)
    assert again(store).read(KEY) == CONTENT


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    folder = str(tmp_path / "config")
    assert find_secret(folder) is None
    secret = make_secret(folder)
    assert len(secret) == 32 and make_secret(folder) == secret == find_secret(folder)
    for mode in (0o640, 0o604, 0o666):
        Path(folder, NAME).chmod(mode)
        with pytest.raises(NoSecret, match="nobody else can read"):
            find_secret(folder)
    Path(folder, NAME).chmod(0o600)
    Path(folder, NAME).write_bytes(b"short")
    with pytest.raises(NoSecret, match="32 bytes"):
        make_secret(folder)
    Path(folder, NAME).rename(tmp_path / "moved")
    Path(folder, NAME).symlink_to(tmp_path / "moved")
    with pytest.raises(NoSecret):
        find_secret(folder)


@pytest.mark.parametrize(("what", "count"), [("store", "200"), ("history", "50")])
def test_no_bad_load_after_writers_were_killed(what: str, count: str, tmp_path: Path) -> None:
    program = str(Path(__file__).with_name("killed_writers.py"))
    paths = os.pathsep.join(p for p in sys.path if p)
    command = [sys.executable, program, what, str(tmp_path), count]
    found = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True)
    assert found.stdout == "done\n", found.stderr


def test_sixteen_processes_on_an_empty_directory(store: Store) -> None:
    keys = [bytes((k,)) * 32 for k in range(8)]

    def work() -> None:
        mine = again(store)
        for key in keys:
            found = mine.read(key)
            assert found in (None, key * 100)
            mine.write(key, key * 100)
            assert mine.read(key) == key * 100

    children = [in_child(work) for _ in range(16)]
    assert [ended_well(child) for child in children] == [True] * 16
    assert [again(store).read(key) for key in keys] == [key * 100 for key in keys]
    assert len(os.listdir(store.folder)) == len(keys)
    assert os.listdir(store.configuration) == [NAME]


def test_what_was_not_used_for_longest_goes_first(store: Store) -> None:
    keys = [bytes((k,)) * 32 for k in range(10)]
    for k, key in enumerate(keys):
        store.write(key, bytes(1000))
        os.utime(entry(store, key), (10_000 + k, 10_000 + k))
    abandoned = Path(store.folder, ".some.part")
    abandoned.write_bytes(b"x")
    os.utime(abandoned, (1, 1))
    assert store.read(keys[0]) is not None  # a use, which is noted
    small = Store(store.folder, store.configuration, 6_000)
    small.write(KEY, bytes(1000))
    left = {name for name, _ in small.entries()}
    assert entry(store, keys[0]).name in left and entry(store).name in left
    assert sum(size for _, size in small.entries()) <= 0.8 * 6_000
    assert not any(entry(store, key).name in left for key in keys[1:6])
    assert not abandoned.exists()
    for key in keys * 2:
        small.write(key, bytes(1000))
        assert sum(size for _, size in small.entries()) <= 6_000
    kept = len(small.entries())
    assert kept >= 4
    assert small.clear() == kept and small.entries() == []


def test_what_killed_writers_left_counts_and_goes(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next write deletes it; files that are still being written stay, and count against the limit."""
    make_secret(store.configuration)
    monkeypatch.setattr(files.os, "fsync", lambda _: os.kill(os.getpid(), signal.SIGKILL))
    for _ in range(5):  # each deletes what the one before has left
        assert not ended_well(in_child(lambda: again(store).write(OTHER, bytes(100_000))))
        assert [size for _, size in store.entries((PART,))] == [100_000 + 40]
    monkeypatch.undo()
    small = Store(store.folder, store.configuration, 50_000)
    small.write(KEY, CONTENT)
    assert os.listdir(store.folder) == [entry(store).name]
    live = Path(store.folder, ".live.part")
    with open(live, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(bytes(45_000))
        file.flush()
        for k in range(20):
            small.write(bytes((k,)) * 32, bytes(3_000))
        assert live.exists() and sum(size for _, size in small.entries((ENDING, PART))) <= 50_000
    small = Store(store.folder, store.configuration, 50_000)
    small.write(KEY, CONTENT)
    assert not live.exists() and small.read(KEY) == CONTENT
    small.write(OTHER, bytes(50_001))  # more than may be there at all
    assert small.read(OTHER) is None and small.read(KEY) == CONTENT


def test_clocks_that_jump(store: Store) -> None:
    """An entry from the future is read and dated again, otherwise evicted first; one from 1970 is read too."""
    keys = [bytes((k,)) * 32 for k in range(8)]
    for key in keys:
        store.write(key, bytes(1000))
    now, future = time.time(), time.time() + 30 * 365 * 86400
    os.utime(entry(store, keys[0]), (0, 0))
    for key in keys[1:3]:
        os.utime(entry(store, key), (future, future))
    assert store.read(keys[0]) == store.read(keys[1]) == bytes(1000)
    assert all(abs(entry(store, key).stat().st_mtime - now) < 60 for key in keys[:2])
    Store(store.folder, store.configuration, 9_000).write(KEY, bytes(1000))
    assert store.read(keys[2]) is None and store.read(keys[1]) == bytes(1000)
    abandoned = Path(store.folder, ".some.part")
    abandoned.write_bytes(b"x")
    os.utime(abandoned, (future, future))
    store.write(KEY, bytes(1000))
    again(store).write(KEY, bytes(1000))
    assert not abandoned.exists()


def test_two_versions_share_a_directory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finds its own entries and keeps the other's; one with another file format reads none of them."""
    monkeypatch.setattr(keys_of, "version", lambda: "old")
    old = keys_of.key_of("kernel", "text")
    monkeypatch.setattr(keys_of, "version", lambda: "new")
    new = keys_of.key_of("kernel", "text")
    assert old is not None and new is not None and old != new
    store.write(old, b"made by the old one")
    again(store).write(new, b"made by the new one")
    assert (store.read(old), store.read(new)) == (b"made by the old one", b"made by the new one")
    monkeypatch.setattr(stores, "MARK", b"weft\0\0\0\3")
    assert store.read(old) is None
    store.write(old, b"in the format to come")
    monkeypatch.undo()
    assert store.read(old) is None and store.read(new) == b"made by the new one"
    for foreign in ("notes.txt", f"{old.hex()}.entry2", ".keep"):
        Path(store.folder, foreign).write_bytes(bytes(5000))
    Store(store.folder, store.configuration, 600).write(KEY, bytes(100))
    assert {"notes.txt", f"{old.hex()}.entry2", ".keep"} < set(os.listdir(store.folder))


def test_entries_of_other_users_are_a_miss(store: Store) -> None:
    store.write(KEY, CONTENT)
    if os.geteuid() == 0:
        os.chown(entry(store), NOBODY, NOBODY)
        assert store.read(KEY) is None
        os.chown(entry(store), 0, 0)
        os.chown(Path(store.configuration, NAME), NOBODY, NOBODY)
        with pytest.raises(Unusable, match="a file of your own"):
            again(store).read(KEY)


def test_what_is_no_directory_or_no_secret_stays_as_it_is(tmp_path: Path) -> None:
    """A device, a pipe or a file in place of the directory or the secret is refused, and stays."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"mine")
    for name in ("pipe", "file", os.devnull):
        for use in (lambda s: s.read(KEY), lambda s: s.write(KEY, CONTENT), lambda s: s.clear()):
            with pytest.raises(Unusable, match="Not a directory"):
                use(Store(str(tmp_path / name), str(tmp_path / "config"), 1 << 30))
    configuration = tmp_path / "config"
    configuration.mkdir()
    for make in (lambda p: os.mkfifo(p, 0o600), lambda p: p.symlink_to(tmp_path / "file"), lambda p: p.mkdir(0o700)):
        secret = configuration / f"{NAME}"
        make(secret)
        kind = secret.lstat().st_mode
        with pytest.raises(Unusable):
            Store(str(tmp_path / "cache"), str(configuration), 1 << 30).write(KEY, CONTENT)
        assert secret.lstat().st_mode == kind and os.listdir(configuration) == [NAME]
        secret.rename(tmp_path / f"done{len(os.listdir(tmp_path))}")
    assert (tmp_path / "file").read_bytes() == b"mine"


def test_the_mac_is_keyed_blake2b_of_all_that_it_covers() -> None:
    secret, parts = b"s" * 32, (b"mark", b"key", b"content")
    expected = hashlib.blake2b(b"".join(parts), key=secret, digest_size=32, person=b"weft cache entry").digest()
    assert mac_of(secret, *parts) == expected
    others = [mac_of(b"t" * 32, *parts), mac_of(secret, b"mark", b"key", b"contenu"), mac_of(secret, b"mark", b"kez")]
    assert expected not in others and is_same(expected, mac_of(secret, *parts)) and not is_same(expected, others[0])
