"""Find the sizes of this machine's caches, and how much of the last one a program can count on."""

from __future__ import annotations

import os
from functools import cache

FOLDER = "/sys/devices/system/cpu/cpu0/cache"
UNITS = {"K": 1 << 10, "M": 1 << 20}
OWN = 3 / 4  # of a last-level cache that a few cores share (Zen), beside what else they need
SHARED = 1 / 6  # of one that all cores of a server share, among them those of other virtual machines
OPERAND = 1 / 2  # of a second-level cache, but all of it on Zen: measured on a Xeon (Cascade Lake) and on Zen 4

LEAST_CORE, MOST_CORE = 1 << 18, 1 << 22  # bytes of a second-level cache that only one core, or a few of them, use


@cache
def cache_sizes() -> tuple[int, ...]:
    """The bytes of the data caches from the first level on; none if the system does not tell."""
    found: dict[int, int] = {}
    try:
        for index in sorted(os.listdir(FOLDER)):
            if not index.startswith("index") or _read(index, "type") == "Instruction":
                continue
            found[int(_read(index, "level"))] = _bytes(_read(index, "size"))
    except (OSError, ValueError):
        return ()
    return tuple(found[level] for level in sorted(found))


def written_sizes() -> str:
    """The sizes of the second- and third-level caches as the system writes them, for keys of code that depends
    on them.
    """
    found = []
    for index in ("index2", "index3"):
        try:
            found.append(_read(index, "size"))
        except OSError:
            found.append("")
    return " ".join(found)


def _read(index: str, name: str) -> str:
    with open(f"{FOLDER}/{index}/{name}", "rb", buffering=0) as file:
        return file.read().decode("ascii").strip()


def _bytes(text: str) -> int:
    unit = UNITS.get(text[-1:], 1)
    return int(text[:-1] if unit > 1 else text) * unit


def shared_cache(cpu: str) -> int:
    """The bytes of the last-level cache that a program on this CPU can count on; 0 if there is none, or unknown."""
    sizes = cache_sizes()
    if len(sizes) < 3:
        return 0
    return int(sizes[-1] * (OWN if _is_zen(cpu) else SHARED))


def core_cache(cpu: str) -> int:
    """The bytes of a core's second-level cache that one operand can count on; 0 if that is unknown or implausible."""
    sizes = cache_sizes()
    if len(sizes) < 2 or not LEAST_CORE <= sizes[1] <= MOST_CORE:
        return 0
    return int(sizes[1] * (1 if _is_zen(cpu) else OPERAND))


def _is_zen(cpu: str) -> bool:
    return cpu.startswith("znver")
