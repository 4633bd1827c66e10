"""An object file in, a shared library out, by the linker of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable

from ...ir.errors import FileProblem

COMPILERS, LINKERS = ("cc", "gcc", "clang"), ("ld", "ld.lld")
SECONDS = 120

Find = Callable[[str], str | None]


def link_command(object_file: str, library: str, find: Find = shutil.which) -> list[str] | None:
    """What makes the library, for the first compiler or linker that there is."""
    name = os.path.basename(library)
    for tool in filter(None, map(find, COMPILERS)):
        return [tool, "-shared", "-nostartfiles", f"-Wl,-soname,{name}", "-o", library, object_file]
    for tool in filter(None, map(find, LINKERS)):
        return [tool, "-shared", "-soname", name, "-o", library, object_file]
    return None


def link(object_file: str, library: str, find: Find = shutil.which) -> None:
    """Makes the library; a typed error says what to run where there is no linker."""
    command = link_command(object_file, library, find)
    if command is None:
        raise FileProblem(
            f"there is no linker here ({', '.join((*COMPILERS, *LINKERS))}); {object_file} is the object file",
            hint=f"where there is one, run: cc -shared -nostartfiles -o {library} {object_file}",
        )
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FileProblem(f"can't run {command[0]}: {error}", hint=f"{object_file} is the object file") from error
    if done.returncode:
        raise FileProblem(
            f"{command[0]} could not make {library}: {(done.stderr or done.stdout).strip()[:2000]}",
            hint=f"{object_file} is the object file",
        )
