"""Read a file only if nobody except this user and root can change what its path leads to.

Every folder on the way, also through links, and the file itself must belong to this user or to root, and nobody else
may write to it. A folder such as /tmp is safe although all may write to it: because of the sticky bit nobody can move
another user's files, and what follows on the path must belong to this user or to root.
"""

from __future__ import annotations

import os
import stat

from ...ir.errors import LibraryProblem, Span

LINKS = 40  # links on one path, as the kernel counts them
LONGEST = 1 << 31  # bytes
OTHERS = stat.S_IWGRP | stat.S_IWOTH


def read_trusted(path: str, span: Span | None = None) -> bytes:
    """Return the bytes of the file that was checked, read once."""
    try:
        return _read(path, span)
    except LibraryProblem:
        raise
    except OSError as error:
        raise LibraryProblem(f"can't read the library {path}: {error.strerror}", span) from error


def check_searched(path: str, span: Span | None = None) -> None:
    """Refuse a path where others could put a file.

    All folders on the way are checked, and the last may not be sticky.
    """
    try:
        at = _walk(path, span, may_end_early=True)
        found = os.lstat(at)
    except OSError as error:
        if isinstance(error, LibraryProblem):
            raise
        raise LibraryProblem(f"can't check {path}: {error.strerror}", span) from error
    _check(at, found, span, sticky=False)


def _read(path: str, span: Span | None) -> bytes:
    real = _walk(path, span)
    descriptor = os.open(real, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise LibraryProblem(f"the library {path} must be a regular file", span)
        _check(real, found, span)
        if found.st_size > LONGEST:
            raise LibraryProblem(f"the library {path} must not have more than {LONGEST} bytes", span)
        return file.read(LONGEST)


def _walk(path: str, span: Span | None, may_end_early: bool = False) -> str:
    """Check every folder and link on the way, and return where the path leads, or how far it leads."""
    waiting = os.path.abspath(path).split(os.sep)[:0:-1]
    at, links = os.sep, 0
    _check(at, os.lstat(at), span)
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            at = os.path.dirname(at)
            continue
        here = os.path.join(at, part)
        try:
            found = os.lstat(here)
        except FileNotFoundError:
            if may_end_early:
                return at
            raise
        if stat.S_ISLNK(found.st_mode):
            links += 1
            if links > LINKS:
                raise LibraryProblem(f"the path of the library {path} has more than {LINKS} links", span)
            _check_owner(here, found, span)
            target = os.readlink(here)
            at = os.sep if os.path.isabs(target) else at
            waiting += target.split(os.sep)[::-1]
            continue
        if waiting:
            _check(here, found, span)
        at = here
    return at


def _check(path: str, found: os.stat_result, span: Span | None, sticky: bool = True) -> None:
    _check_owner(path, found, span)
    is_sticky = sticky and stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
    if found.st_mode & OTHERS and not is_sticky:
        raise LibraryProblem(
            f"others can write to {path}, so its code is not loaded", span, f"if it is yours: chmod go-w {path}"
        )


def _check_owner(path: str, found: os.stat_result, span: Span | None) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise LibraryProblem(
            f"{path} belongs to another user (number {found.st_uid}), so its code is not loaded",
            span,
            "copy it to a folder that belongs to you",
        )
