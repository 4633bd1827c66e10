"""Try the thread pool's code under the thread sanitizer, which clang adds to LLVM's text."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from weft.runtime.native import pool_code

from .figures import Figure, Tick

PROGRAM = Path(__file__).parent / "pool_races.c"
SANITIZED = "sanitize_thread nounwind"


def races(count: int, tick: Tick) -> list[str]:
    """Three callers and three workers: no race, and each element of each job is computed once."""
    return races_in(pool_code.text(platform.machine()), count, tick)


def races_in(text: str, count: int, tick: Tick) -> list[str]:
    """Compile the pool's text with the sanitizer, run the C program that calls it, and return what it reports."""
    if shutil.which("clang") is None:
        return ["clang is not installed"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        fields = [f"#define POOL_{name.upper()} {at}" for name, at in pool_code.FIELDS.items()]
        (path / "pool_fields.h").write_text("\n".join([*fields, f"#define POOL_SIZE {pool_code.SIZE}", ""]))
        (path / "pool.ll").write_text(re.sub(r"^(define .*) \{$", rf"\1 {SANITIZED} {{", text, flags=re.MULTILINE))
        command = ["clang", "-O1", "-g", "-fsanitize=thread", f"-I{folder}", "-Wno-override-module"]
        built = subprocess.run(
            [*command, str(PROGRAM), "pool.ll", "-o", "races", "-lpthread"], cwd=path, capture_output=True, text=True
        )
        if built.returncode:
            return [f"clang can't build it: {built.stderr[-500:]}"]
        found = subprocess.run([str(path / "races"), str(count)], capture_output=True, text=True)
    tick(count)
    reports = [block.strip() for block in found.stderr.split("==================") if "WARNING" in block]
    return reports if found.stdout == "done\n" else [*reports, f"{found.stdout}{found.stderr[-300:]}"]


FIGURES = (Figure(24, "thread sanitizer on the pool", "calls of each of three threads", 100_000, 0, races),)
