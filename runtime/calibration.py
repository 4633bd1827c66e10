"""Measure once how long this machine takes to wake a thread, and keep the time on disk.

Sleeping threads help with a call only if it takes longer than waking them: 4 µs on one machine, 40 on another. The time
is measured when a process needs its first pool and the file has none for this machine, which takes about 2 ms. It
decides where a call runs, never what it computes. `WEFT_CALIBRATION=0` measures nothing and keeps nothing.
"""

from __future__ import annotations

import _thread
import os
import time
from contextlib import suppress

from ..ir.errors import ValueProblem
from ..ir.support.files import delete_abandoned, is_plain, put_file, read_plain
from ..ir.tuples import NamedTuple
from .disk.cache import data_directory
from .native.pool_code import LONG

FORMAT = 1
MACHINES = 16  # that may share a file, in a home directory on a network
MOST_BYTES = 1 << 16
SHORTEST, LONGEST = 1e-7, 1e-2  # seconds in which a thread can wake up
WAKES = 4  # a call that takes as long as this is worth waking threads for
LEAST, MOST = LONG // 4, 16 * LONG  # picoseconds of such a call, whatever was measured
ROUNDS = 12
PAUSE = 1e-4  # seconds between them, for the other core to fall asleep
PATIENCE = 5e-3  # seconds for all


class Calibration(NamedTuple):
    """What was measured on this machine: seconds to wake a thread, and the time of day."""

    wake: float
    when: float

    @property
    def shared_from(self) -> int:
        """Return the estimated picoseconds from which sleeping threads are woken."""
        return min(max(int(WAKES * self.wake * 1e12), LEAST), MOST)


def calibration() -> Calibration | None:
    """Return what was measured on this machine, now or by an earlier process; None if it is turned off."""
    path = _path()
    if path is None:
        return None
    machines = _on_disk(path)
    key = _machine()
    if key not in machines:
        wake = measured_wake()
        if wake is None:
            return None
        kept = sorted(machines.items(), key=lambda item: item[1].when)[-(MACHINES - 1) :]
        machines = {**dict(kept), key: Calibration(wake, time.time())}
        _write(path, machines)
    return machines[key]


def shared_from() -> int:
    """Return the estimated picoseconds from which sleeping threads are woken for a call."""
    found = calibration()
    return LONG if found is None else found.shared_from


def measured_wake() -> float | None:
    """Return the shortest time in which another thread woke up; None if none can be started."""
    there, back = os.pipe(), os.pipe()

    def answer() -> None:
        with suppress(OSError):
            while os.read(there[0], 1):
                os.write(back[1], b".")
        os.close(there[0])
        os.close(back[1])

    try:
        _thread.start_new_thread(answer, ())
    except RuntimeError:
        for end in (*there, *back):
            os.close(end)
        return None
    try:
        least, last = LONGEST, time.perf_counter() + PATIENCE
        for k in range(ROUNDS):
            time.sleep(PAUSE)
            begin = time.perf_counter()
            os.write(there[1], b".")
            os.read(back[0], 1)
            end_of_turn = time.perf_counter()
            least = min(least, (end_of_turn - begin) / 2)
            if k >= 2 and end_of_turn > last:
                break
        return max(least, SHORTEST)
    finally:
        os.close(there[1])
        os.close(back[0])


def _path() -> str | None:
    """Return the file, from `WEFT_CALIBRATION` or in the user's data directory; None if `WEFT_CALIBRATION` is 0."""
    given = os.environ.get("WEFT_CALIBRATION", "").strip()
    if given == "0":
        return None
    if given and not is_plain(os.path.expanduser(given)):
        raise ValueProblem(
            f"WEFT_CALIBRATION must name a regular file, not {given!r}", hint="WEFT_CALIBRATION=0 measures nothing"
        )
    return os.path.expanduser(given or os.path.join(data_directory(), "calibration.json"))


def _machine() -> str:
    """Return a text for the CPU, the number of its cores and the system, on which the times depend."""
    import hashlib

    from .disk.version import cpu

    try:
        described = cpu()
    except OSError:
        described = ""
    text = f"{described}\n{os.cpu_count()}\n{os.uname().release}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _on_disk(path: str) -> dict[str, Calibration]:
    """Read what the file has that is plausible."""
    import json

    try:
        found = json.loads(read_plain(path, MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("machines"), dict):
        return {}
    read = {key: _from_json(item) for key, item in list(found["machines"].items())[:MACHINES]}
    return {key: item for key, item in read.items() if item is not None}


def _from_json(item: object) -> Calibration | None:
    if not isinstance(item, list) or len(item) != 2 or not all(type(x) is float for x in item):
        return None
    wake, when = item
    return Calibration(wake, when) if SHORTEST <= wake <= LONGEST and 0 <= when <= time.time() + 60 else None


def _write(path: str, machines: dict[str, Calibration]) -> None:
    import json

    text = json.dumps({"format": FORMAT, "machines": machines})
    with suppress(OSError):  # what can't be kept is measured again
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        if is_plain(path):
            delete_abandoned(path)
            put_file(path, text.encode())
