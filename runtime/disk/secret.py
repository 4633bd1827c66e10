"""Read or create the secret that cache entries are signed with.

It is stored outside the cache: somebody who can write to the cache but can't read this file can't make code run.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

LENGTH = 32
NAME = "cache-secret"


class NoSecret(Exception):
    """Raised when no secret can be trusted; the message says why."""


def configuration() -> str:
    """Return the user's directory for Weft's settings."""
    return os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "weft")


def find_secret(folder: str) -> bytes | None:
    """Return the secret, or None if there is none yet."""
    path = os.path.join(folder, NAME)
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NoSecret(f"{path}: {error.strerror}") from error
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise NoSecret(f"{path} must be a file of your own that nobody else can read (mode 0600)")
        secret = os.read(file, LENGTH + 1)
    finally:
        os.close(file)
    if len(secret) != LENGTH:
        raise NoSecret(f"{path} does not have {LENGTH} bytes; delete it and a new one is made")
    return secret


def make_secret(folder: str) -> bytes:
    """Return the secret, and create it if needed; if several processes do so at once, one wins."""
    found = find_secret(folder)
    if found is not None:
        return found
    from ...ir.support.files import put_file

    path = os.path.join(folder, NAME)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            put_file(path, os.urandom(LENGTH), keeps_old=True)
    except OSError as error:
        raise NoSecret(f"{path}: {error.strerror}") from error
    made = find_secret(folder)
    if made is None:
        raise NoSecret(f"{path} is gone")
    return made
