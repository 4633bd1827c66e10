"""Link an object file into a shared library with this machine's linker."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable

from ...ir.support.files import write_file

COMPILERS, LINKERS = ("cc", "gcc", "clang"), ("ld", "ld.lld")
SECONDS = 120

Find = Callable[[str], str | None]


def link_command(object_file: str, library: str, find: Find = shutil.which) -> list[str] | None:
    """Return the command that links the library, with the first compiler or linker found."""
    name = os.path.basename(library)
    for tool in filter(None, map(find, COMPILERS)):
        return [tool, "-shared", "-nostartfiles", f"-Wl,-soname,{name}", "-o", library, object_file]
    for tool in filter(None, map(find, LINKERS)):
        return [tool, "-shared", "-soname", name, "-o", library, object_file]
    return None


def link(code: bytes, name: str, find: Find = shutil.which) -> tuple[bytes, str]:
    """Link an object file and return the library's bytes, or no bytes and what went wrong."""
    with tempfile.TemporaryDirectory(prefix="weft-build-") as folder:
        object_file, library = os.path.join(folder, "kernels.o"), os.path.join(folder, name)
        write_file(object_file, code)
        problem = _link(object_file, library, find)
        if problem:
            return b"", problem
        with open(library, "rb") as file:
            return file.read(), ""


def _link(object_file: str, library: str, find: Find) -> str:
    """Run the linker and return what went wrong."""
    command = link_command(object_file, library, find)
    if command is None:
        return f"there is no linker here ({', '.join((*COMPILERS, *LINKERS))})"
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"can't run {command[0]}: {error}"
    told = (done.stderr or done.stdout).strip()[:2000]
    return f"{command[0]} could not make {os.path.basename(library)}: {told}" if done.returncode else ""
