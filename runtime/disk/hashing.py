"""Compute digests and MACs with BLAKE2b (RFC 7693).

BLAKE2b accepts a secret directly, so a MAC needs no other construction. It is built into the interpreter: `hashlib` and
`hmac` load OpenSSL, which takes a twentieth of a process's start-up time.
"""

from __future__ import annotations

from _operator import _compare_digest as is_same  # `hmac.compare_digest` without OpenSSL

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that has it only from OpenSSL
    from hashlib import blake2b

__all__ = ["LENGTH", "blake2b", "digest_of", "is_same", "mac_of"]

LENGTH = 32


def digest_of(data: bytes) -> bytes:
    """Return the digest of some bytes."""
    return blake2b(data, digest_size=LENGTH).digest()


def mac_of(secret: bytes, *parts: bytes) -> bytes:
    """Return the MAC of concatenated parts; all but the last must have fixed lengths."""
    found = blake2b(key=secret, digest_size=LENGTH, person=b"weft cache entry")
    for part in parts:
        found.update(part)
    return found.digest()
