"""Detect damage to a library that was loaded before, by its build ID and digest.

A linker derives the build ID from the library's content. Other content under the same ID was changed afterwards, by a
broken disk or a broken copy; no other check finds that in machine code. Loaded libraries are recorded here and in the
cache on disk, unless they have no build ID.
"""

from __future__ import annotations

from .elf import Damage, Image


class Builds:
    """The builds that this process has loaded, and those in the user's cache."""

    def __init__(self) -> None:
        self._digests: dict[bytes, bytes] = {}

    def check(self, image: Image) -> None:
        """Raise `Damage` if a library has changed since it was loaded before."""
        name = image.build_id
        known = self._digests.get(name) or _on_disk(name)
        if name and known is not None and known != image.digest:
            raise Damage("it was changed after it was linked: another library with the same build ID was loaded before")

    def note(self, image: Image) -> None:
        """Record a loaded library."""
        name = image.build_id
        if name and name not in self._digests:
            self._digests[name] = image.digest
            _on_disk(name, image.digest)


def _on_disk(name: bytes, digest: bytes | None = None) -> bytes | None:
    """Look up a build in the cache on disk, or store its `digest` if one is given."""
    from ..disk.cache import default_cache
    from ..disk.key import key_of

    cache = default_cache() if name else None
    if cache is None:
        return None
    key = key_of("build", name.hex())
    known = cache.read(key)
    if known is None and digest is not None:
        cache.write(key, digest)
    return known
