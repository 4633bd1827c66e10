"""Kill processes that write to a store or a history, at random moments; whatever is found is complete.

`test_disk_store.py` runs this file in a process of its own: forking the process of the tests takes much longer.

    python killed_writers.py store|history FOLDER [COUNT]
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from weft.runtime.disk.secret import make_secret
from weft.runtime.disk.store import Store
from weft.runtime.selection.history import History
from weft.runtime.selection.workload import Workload

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
CONTENTS = [bytes((k,)) * 40_000 for k in range(4)]


def write_store(folder: str) -> None:
    store = _store(folder)
    for k in range(1_000_000):
        store.write(KEY, CONTENTS[k % 4])


def check_store(folder: str) -> bool:
    """Fail if an entry is there in part; tell whether the one that is written again and again is there."""
    found = _store(folder).read(KEY)
    assert found in (None, *CONTENTS)
    assert _store(folder).read(OTHER) == CONTENTS[0]
    return found is not None


def _store(folder: str) -> Store:
    return Store(f"{folder}/cache", f"{folder}/configuration", 1 << 30)


def write_history(folder: str) -> None:
    for k in range(1_000_000):
        _grow(folder, k % 200)


def check_history(folder: str) -> bool:
    """Fail if a record is lost or has another time, or if files are left behind; tell whether there are new records."""
    found = {record.variant: record.least for record in History(Path(folder) / "history.json")}
    assert found["first"] == 1e-6
    assert all(least == 2e-6 for variant, least in found.items() if variant != "first")
    assert len(os.listdir(folder)) <= 2, os.listdir(folder)  # the history and the file of the writer killed last
    return len(found) > 1


def _grow(folder: str, number: int, variant: str = "later", seconds: float = 2e-6) -> None:
    history = History(Path(folder) / "history.json")
    history.add(Workload(f"graph {number}", "k", 1000, 8000, 3000, 1, 0, 1), variant, seconds)
    history.save()


def main(what: str, folder: str, count: str = "200") -> None:
    if what == "store":
        make_secret(f"{folder}/configuration")
        _store(folder).write(OTHER, CONTENTS[0])
    else:
        _grow(folder, 0, "first", 1e-6)
    write, check = (write_store, check_store) if what == "store" else (write_history, check_history)
    moments, is_there, longest = random.Random(11), False, 0.01
    for _ in range(int(count)):
        child = os.fork()
        if not child:
            write(folder)
        time.sleep(moments.random() * longest)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        is_there = check(folder)
        longest *= 1 if is_there else 1.2  # the machine is slow, and writers must live until they have written
    assert is_there or int(count) < 50  # else no writer lived long enough
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
