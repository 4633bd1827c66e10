"""Write files atomically: a full disk, an error or a crash leaves the old file or the new one, never a part.

Content goes to a temporary file beside the target, is flushed to the disk, and replaces the target by
one rename. Nothing else in Weft opens a file for writing; a test checks that. A path that leads to a device, a pipe or
one of the process's open files, as /dev/null and /dev/stdout do, is written to and never replaced.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import IO

from ..errors import FileProblem
from ..tuples import NamedTuple

PART = ".part"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SHOWN = 50  # characters of the name that the temporary file's name contains: names have at most 255 bytes
_LINKS = 40  # links on one path, as Linux counts

Content = bytes | Callable[[IO[bytes]], object]  # bytes, or a function that writes them to a file


class OutputFile(NamedTuple):
    """A file to write. A new file gets `mode` without the umask; an existing one keeps its mode."""

    path: str
    content: Content
    mode: int = 0o666


def write_file(path: str, content: Content) -> None:
    """Writes the file that a user named."""
    write_files(OutputFile(path, content))


def write_files(*outputs: OutputFile) -> None:
    """Writes files that belong together: if one can't be written, none changes."""
    parts: list[_PartFile] = []
    path = ""
    try:
        for path, content, mode in outputs:
            if is_stream(path):
                _write_stream(path, content)
                continue
            place = os.path.realpath(path)
            parts.append(_PartFile(place, None))
            parts[-1].write(content, mode, _replaced(place))
        for part in parts:
            path = part.path
            part.put()
    except OSError as error:
        raise FileProblem(f"can't write {path}: {error.strerror or error}") from error
    finally:
        for part in parts:
            part.drop()


def put_file(path: str, content: bytes, folder: int | None = None, keeps_old: bool = False) -> None:
    """Writes a private file that only this user can read. It raises `OSError`.

    `folder` is an open directory that the path is relative to. With `keeps_old` an existing file stays,
    and `FileExistsError` is raised.
    """
    part = _PartFile(path, folder)
    try:
        part.write(content, 0o600)
        part.put(keeps_old)
    finally:
        part.drop()


def delete_abandoned(path: str) -> None:
    """Delete the temporary files that killed writers left beside a path, unless locks don't work here."""
    head, name = os.path.split(path)
    with suppress(OSError):
        for other in os.listdir(head or "."):
            if other.startswith(f".{name[:_SHOWN]}.") and other.endswith(PART):
                with suppress(OSError):
                    if not is_being_written(os.path.join(head, other)):
                        os.unlink(os.path.join(head, other))


def is_being_written(path: str, folder: int | None = None) -> bool:
    """Tell whether another process holds the lock of a temporary file, or locks don't work here."""
    import fcntl

    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(file)


def is_stream(path: str) -> bool:
    """Whether a path must be written in place: a device, a pipe, or a file descriptor of a process."""
    try:
        kind = os.stat(path).st_mode
    except OSError:
        return False
    is_plain = stat.S_ISREG(kind) or stat.S_ISDIR(kind)
    return not is_plain or _descriptor(path) is not None


def is_plain(path: str) -> bool:
    """Whether a path is a plain file (not a link to one), or does not exist yet."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def read_plain(path: str, limit: int) -> bytes:
    """Read a plain file. Raise `OSError` if the path is anything else, also a link, or if the file is too long."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
        return file.read(limit)


class _PartFile:
    """A temporary file beside `path`. It is locked while it is written, so that other processes leave it alone."""

    def __init__(self, path: str, folder: int | None) -> None:
        self.path, self._folder = path, folder
        head, name = os.path.split(path)
        self._name = os.path.join(head, f".{name[:_SHOWN]}.{os.urandom(8).hex()}{PART}")
        self._file: IO[bytes] | None = None
        self._is_there = False

    def write(self, content: Content, mode: int, old: os.stat_result | None = None) -> None:
        import fcntl

        descriptor = os.open(self._name, _NEW, mode, dir_fd=self._folder)
        self._is_there = True
        self._file = open(descriptor, "wb")  # noqa: SIM115 (open until it is in place)
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if old is not None:
            with suppress(OSError):
                os.fchown(descriptor, old.st_uid, old.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
        _fill(self._file, content)
        os.fsync(descriptor)

    def put(self, keeps_old: bool = False) -> None:
        """Moves it into place."""
        if keeps_old:
            os.link(self._name, self.path, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            return
        os.rename(self._name, self.path, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        self._is_there = False

    def drop(self) -> None:
        """Closes the file, and deletes it if it was not moved into place."""
        if self._is_there:
            with suppress(OSError):
                os.unlink(self._name, dir_fd=self._folder)
        if self._file is not None:
            with suppress(OSError):  # bytes that could not be written are written again
                self._file.close()


def _fill(file: IO[bytes], content: Content) -> None:
    if callable(content):
        content(file)
    else:
        file.write(content)
    file.flush()


def _replaced(path: str) -> os.stat_result | None:
    """The file to replace, if there is one. This user must be allowed to write it."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return found


def _write_stream(path: str, content: Content) -> None:
    """Writes to a stream, after flushing what was printed before."""
    for printed in (sys.stdout, sys.stderr):
        if printed is not None:
            printed.flush()
    own = _descriptor(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY) if own is None or own < 0 else os.dup(own)
    with open(descriptor, "wb") as file:
        _fill(file, content)


def _descriptor(path: str) -> int | None:
    """The file descriptor of this process that a path names; -1 if it belongs to another process."""
    for _ in range(_LINKS):
        folder = os.path.realpath(os.path.dirname(os.path.abspath(path))).split(os.sep)
        if folder[:2] == ["", "proc"] and folder[-1] == "fd" and len(folder) >= 4:
            number = os.path.basename(path)
            return int(number) if folder[2] == str(os.getpid()) and number.isdecimal() else -1
        if not os.path.islink(path):
            return None
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    return None
