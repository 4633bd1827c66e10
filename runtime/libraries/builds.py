"""Remember which content came under which build ID, so that damage to a library that was loaded before is noticed.

A linker derives the build ID from what it writes, so another content under the same ID was changed afterwards: by a
broken disk or a broken copy. No other check tells that of machine code. What was loaded is remembered here and in the
cache on disk; libraries without a build ID are not.
"""

from __future__ import annotations

from .elf import Damage, Image


class Builds:
    """The builds that this process has loaded, and those that the user's cache knows."""

    def __init__(self) -> None:
        self._digests: dict[bytes, bytes] = {}

    def check(self, image: Image) -> None:
        """Raises `Damage` where a library is not what it was when it was loaded before."""
        name = image.build_id
        known = self._digests.get(name) or _on_disk(name)
        if name and known is not None and known != image.digest:
            raise Damage("it was changed after it was linked: a library of the same build ID was loaded before")

    def note(self, image: Image) -> None:
        """Remembers a library that was loaded."""
        name = image.build_id
        if name and name not in self._digests:
            self._digests[name] = image.digest
            _on_disk(name, image.digest)


def _on_disk(name: bytes, digest: bytes | None = None) -> bytes | None:
    """What the cache on disk knows of a build; `digest` is what it should know from now on."""
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
