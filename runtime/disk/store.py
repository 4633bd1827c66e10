"""Store bytes under keys: one signed file for each key, written completely or not at all.

A file holds a mark, a MAC (keyed BLAKE2b over the mark, the key and the content, with a secret from outside the
directory) and the content. It is read once through one descriptor, so the verified bytes are the returned bytes. Any
doubt is a miss. The directory is opened once, and everything happens relative to that descriptor.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress

from ...ir.support.forking import lock
from .hashing import LENGTH as MAC
from .hashing import is_same, mac_of
from .secret import NoSecret, find_secret, make_secret

MARK = b"weft\0\0\0\2"
ENDING = ".entry"
MOST = 1 << 28  # bytes of one entry
AGE = 3600  # seconds after which a use is recorded again
SCAN = 64  # writes between two checks of the total size: other processes write too
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class Unusable(Exception):
    """Raised when the directory or the secret can't be used; the message says why."""


class Store:
    """A directory of entries with 32-byte keys. It raises `Unusable` for the whole directory, and nothing else."""

    def __init__(self, folder: str, configuration: str, limit: int) -> None:
        self.folder, self.configuration, self.limit = folder, configuration, limit
        self._folder: int | None = None
        self._opening = lock()
        self._secret: bytes | None = None
        self._writes = self._room = 0  # bytes that can be written before the limit may be reached

    def read(self, key: bytes) -> bytes | None:
        """Return the entry of a key; None is a miss."""
        try:
            folder = self._open(make=False)
            self._secret = self._secret or find_secret(self.configuration)
        except NoSecret as error:
            raise Unusable(str(error)) from error
        if folder is None or self._secret is None:
            return None
        try:
            file = os.open(key.hex() + ENDING, _READ, dir_fd=folder)
        except OSError:
            return None
        try:
            found = os.fstat(file)
            if not _is_ours(found) or not stat.S_ISREG(found.st_mode) or not MAC < found.st_size <= MOST:
                return None
            data = _read_all(file, found.st_size)
            if len(data) <= len(MARK) + MAC or not data.startswith(MARK):
                return None
            content = data[len(MARK) + MAC :]
            if not is_same(data[len(MARK) : len(MARK) + MAC], self._mac(key, content)):
                return None
            if abs(time.time() - found.st_mtime) > AGE:  # the clock may have been set back since
                with suppress(OSError):
                    os.utime(file)
            return content
        except OSError:
            return None
        finally:
            os.close(file)

    def prepare(self) -> int:
        """Create the directory and the secret if needed, and return the writable directory."""
        try:
            folder = self._open(make=True)
            self._secret = self._secret or make_secret(self.configuration)
        except NoSecret as error:
            raise Unusable(str(error)) from error
        assert folder is not None
        if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder):
            raise Unusable(f"{self.folder} can't be written")
        return folder

    def write(self, key: bytes, content: bytes) -> None:
        """Store an entry in place of an old one, unless it exceeds the limit by itself."""
        from ...ir.support.files import put_file
        from .eviction import evict

        folder = self.prepare()
        size = len(MARK) + MAC + len(content)
        if size > self.limit:
            return
        if size > self._room or self._writes % SCAN == SCAN - 1:  # evict before writing: this process may be killed
            self._room = self.limit - evict(folder, self.limit, size)
        self._writes += 1
        self._room -= size
        try:
            put_file(key.hex() + ENDING, MARK + self._mac(key, content) + content, folder)
        except FileNotFoundError:
            # The directory was deleted; the next entry recreates it. Another thread may still use the old descriptor.
            self._folder = None
            return
        except OSError as error:
            raise Unusable(f"{self.folder}: {error.strerror}") from error

    def entries(self, endings: tuple[str, ...] = (ENDING,)) -> list[tuple[str, int]]:
        """Return the names and sizes of all entries, or of files with other endings."""
        folder = self._open(make=False)
        if folder is None:
            return []
        found = []
        for name in os.listdir(folder):
            if name.endswith(endings):
                with suppress(OSError):
                    found.append((name, os.stat(name, dir_fd=folder, follow_symlinks=False).st_size))
        return found

    def clear(self) -> int:
        """Delete all entries and unfinished files, and return how many entries there were."""
        from ...ir.support.files import PART

        folder = self._open(make=False)
        count = 0
        for name in os.listdir(folder) if folder is not None else ():
            if name.endswith((ENDING, PART)):
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
                    count += name.endswith(ENDING)
        return count

    def _mac(self, key: bytes, content: bytes) -> bytes:
        assert self._secret is not None
        return mac_of(self._secret, MARK, key, content)

    def _open(self, make: bool) -> int | None:
        """Open the directory, which must belong to the user and be writable by nobody else."""
        with self._opening:
            if self._folder is None:
                self._folder = self._opened(make)
            return self._folder

    def _opened(self, make: bool) -> int | None:
        try:
            if make:
                os.makedirs(os.path.dirname(os.path.abspath(self.folder)), exist_ok=True)
                with suppress(FileExistsError):
                    os.mkdir(self.folder, 0o700)
            folder = os.open(self.folder, _FOLDER)
        except FileNotFoundError:
            if make:
                raise Unusable(f"{self.folder} can't be made") from None
            return None
        except OSError as error:
            raise Unusable(f"{self.folder}: {error.strerror}") from error
        if not _is_ours(os.fstat(folder)):
            os.close(folder)
            raise Unusable(f"{self.folder} must be your own, and nobody else may write it (mode 0700)")
        return folder

    def __del__(self) -> None:
        if self._folder is not None:
            os.close(self._folder)


def _is_ours(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _read_all(file: int, size: int) -> bytes:
    """Read everything, up to one byte more than expected: a file that grows meanwhile fails verification."""
    parts = []
    left = size + 1
    while left and (part := os.read(file, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
