"""Compile equal LLVM texts once in a run of the suite, most of them with the code generator's lower effort.

LLVM makes the same code of the same text, so all processes of a run share what one of them made; the folder is new in
every run. Everything that Weft itself does, up to the text and from the code on, is done anew in every test.

Code generation takes half of the suite's time, and the lower effort, which `weft build` ships for code that runs
seldom, takes 40 % of it. Both efforts give the same bits, so seven of eight kernels are made with it, and every
eighth with the effort that calls use. The text alone decides which, so every run compiles alike. Folders whose
subject is generated code use the effort of calls, and so does everything if WEFT_TEST_EFFORT is "shipped". Processes
that tests start compile as their users do, unless they call `install`.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.backends.llvm import compile as native
from weft.backends.llvm.engine import module
from weft.backends.llvm.engine.module import Compiled, Effort

SHARED = "WEFT_TEST_OBJECTS"
SHIPPED_IN = ("backends", "math", "kernels")  # folders
ONE_IN = 8

Compile = Callable[..., Compiled]


class Efforts:
    """Chooses how hard LLVM works on a kernel."""

    def __init__(self) -> None:
        self.always_shipped = _is_shipped()

    def enter(self, path: Path) -> None:
        """Note which file the next test is in."""
        self.always_shipped = path.parent.name in SHIPPED_IN or _is_shipped()

    def compiled(self, compile: Compile) -> Compile:
        """A compiler of kernels that chooses the effort."""

        def chosen(text: str, target: Any) -> Compiled:
            cheap = not self.always_shipped and hashlib.sha256(text.encode()).digest()[0] % ONE_IN
            return compile(text, target, effort=Effort.SELDOM if cheap else Effort.OFTEN)

        return chosen


def _is_shipped() -> bool:
    return os.environ.get("WEFT_TEST_EFFORT") == "shipped"


def install() -> Efforts:
    """Make this process compile as tests do."""
    efforts = Efforts()
    module.compile_module = compiled_once(module.compile_module)  # type: ignore[assignment]
    native.compile_module = efforts.compiled(module.compile_module)  # type: ignore[assignment]
    return efforts


def compiled_once(compile: Compile) -> Compile:
    """A compiler that first looks for code which a process of this run has made; a third of the texts come again."""
    made: dict[bytes, Compiled] = {}

    def compiled(text: str, *rest: Any, **named: Any) -> Compiled:
        key = hashlib.sha256(repr((text, rest, sorted(named.items()))).encode()).digest()
        if key not in made:
            made[key] = _shared(key, lambda: compile(text, *rest, **named))
        return made[key]

    return compiled


def _shared(key: bytes, make: Callable[[], Compiled]) -> Compiled:
    folder = os.environ.get(SHARED)
    if folder is None:
        return make()
    path = Path(folder, key.hex())
    try:
        return Compiled(path.read_bytes(), 0.0, 0.0)
    except FileNotFoundError:
        found = make()
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(found.object_code)
    unfinished.replace(path)
    return found


def begin_sharing() -> None:
    """Make the folder that the processes of a run share; those that are started later inherit it."""
    os.environ[SHARED] = tempfile.mkdtemp(prefix="weft-test-objects-")


def end_sharing() -> None:
    shutil.rmtree(os.environ.pop(SHARED))
