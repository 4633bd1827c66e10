"""Kill processes that write to a store, at random moments; every entry that is found is complete.

`test_disk_store.py` runs this file in a process of its own: forking the process of the tests takes much longer.

    python killed_writers.py CACHE CONFIGURATION [COUNT]
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time

from weft.runtime.disk.secret import make_secret
from weft.runtime.disk.store import Store

KEY, OTHER = bytes(range(32)), bytes(range(1, 33))
CONTENTS = [bytes((k,)) * 40_000 for k in range(4)]


def write(store: Store) -> None:
    for k in range(1_000_000):
        store.write(KEY, CONTENTS[k % 4])


def main(folder: str, configuration: str, count: str = "200") -> None:
    def store() -> Store:
        return Store(folder, configuration, 1 << 30)

    make_secret(configuration)
    store().write(OTHER, CONTENTS[0])
    moments = random.Random(11)
    for _ in range(int(count)):
        child = os.fork()
        if not child:
            write(store())
        time.sleep(moments.random() * 0.01)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert store().read(KEY) in (None, *CONTENTS)
        assert store().read(OTHER) == CONTENTS[0]
    assert store().read(KEY) in CONTENTS
    print("done")


if __name__ == "__main__":
    main(*sys.argv[1:])
