"""An object file in, a shared library out, by the linker of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
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


def link(code: bytes, library: str, find: Find = shutil.which) -> None:
    """Makes the library. Where that does not work the object file is left in its place, and the error names it."""
    with tempfile.TemporaryDirectory(prefix="weft-build-") as folder:
        object_file = os.path.join(folder, "kernels.o")
        write(object_file, code)
        problem = _link(object_file, library, find)
    if problem is None:
        return
    kept = f"{library.removesuffix('.so')}.o"
    write(kept, code)
    raise FileProblem(
        f"{problem}; {kept} is the object file",
        hint=f"where there is a linker, run: cc -shared -nostartfiles -o {library} {kept}",
    )


def _link(object_file: str, library: str, find: Find) -> str | None:
    """Runs the linker; gives what went wrong."""
    command = link_command(object_file, library, find)
    if command is None:
        return f"there is no linker here ({', '.join((*COMPILERS, *LINKERS))})"
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"can't run {command[0]}: {error}"
    told = (done.stderr or done.stdout).strip()[:2000]
    return f"{command[0]} could not make {library}: {told}" if done.returncode else None


def write(path: str, content: bytes) -> None:
    """Writes a file."""
    try:
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise FileProblem(f"can't write {path}: {error.strerror or error}") from error
