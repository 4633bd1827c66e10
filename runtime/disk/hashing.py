"""Compute digests and MACs by BLAKE2b (RFC 7693).

BLAKE2b takes a secret as it is, so a MAC needs no further construction. It comes from the interpreter itself:
`hashlib` and `hmac` load OpenSSL for what they have beside it, which takes a twentieth of the start of a process.
"""

from __future__ import annotations

from _operator import _compare_digest as is_same  # what `hmac.compare_digest` is without OpenSSL

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that has it from OpenSSL alone
    from hashlib import blake2b

__all__ = ["LENGTH", "blake2b", "digest_of", "is_same", "mac_of"]

LENGTH = 32


def digest_of(data: bytes) -> bytes:
    """The digest of some bytes."""
    return blake2b(data, digest_size=LENGTH).digest()


def mac_of(secret: bytes, *parts: bytes) -> bytes:
    """The MAC of parts that stand one behind the other; all but the last must be of fixed lengths."""
    found = blake2b(key=secret, digest_size=LENGTH, person=b"weft cache entry")
    for part in parts:
        found.update(part)
    return found.digest()
