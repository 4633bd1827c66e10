"""Read texts, kernels and arrays from files, and write results to `.npy` and `.npz` files."""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

import numpy as np

from ..frontend.language.source import LanguageKernel, ParsedModule, load_module, parse_module
from ..frontend.printed import PrintedKernel, is_printed
from ..ir.errors import FileProblem, LimitExceeded, UnknownName, nearest
from ..ir.support.files import write_file
from ..ir.tuples import NamedTuple
from ..loading.library import entries
from ..loading.load import open_libraries, register_kernels
from ..loading.named_kernels import find_own
from ..loading.printed import read_kernel
from ..runtime.compiler import Options
from ..settings import registry, search_path

MAX_BYTES = 64 << 20  # the longest printed graph
STDIN = "-"

Array = np.ndarray[Any, Any]


def find_kernel(path: str, name: str | None, libraries: bool = False, text: str | None = None) -> LanguageKernel:
    """Find a kernel by name in a `.weft` file, or its only one.

    A path that is not a file may name a kernel on the search path or in the library. `libraries` allows extern kernels.
    `text` is what was read from stdin.
    """
    module, name = _module(path, name, libraries, text)
    kernels = module.kernels
    listed = "\n".join(f"  {k.signature}" for k in kernels.values())
    if name is None and len(kernels) > 1:
        raise UnknownName(f"{module.file} has {len(kernels)} kernels; name one of them:\n{listed}")
    if name is None:
        return next(iter(kernels.values()))
    return _named(module, name)


def find_text(path: str) -> str | None:
    """Read stdin, or a file other than a `.weft` file, that may hold a printed graph or a nest."""
    if path == STDIN:
        return _stdin()
    return read_graph_text(path) if os.path.isfile(path) and not path.endswith(".weft") else None


def find_source(
    path: str, name: str | None, options: Options, libraries: bool = False, text: str | None = None
) -> LanguageKernel | PrintedKernel:
    """Find what to run or print: the kernel of a printed graph, or a kernel that `find_kernel` finds.

    `text` is the result of `find_text`, if that was called before.
    """
    text = text if text is not None else find_text(path)
    if text is None or not (is_printed(text) or path.endswith(".mlir")):
        return find_kernel(path, name, libraries, text if path == STDIN else None)
    if name is not None:
        raise UnknownName(f"{shown_name(path)} is a printed graph and has one kernel, not a '{name}'")
    return read_kernel(text, shown_name(path), options)


def shown_name(path: str) -> str:
    """Return a file's name for messages."""
    return "<stdin>" if path == STDIN else path


def find_kernels(path: str, names: Sequence[str]) -> tuple[list[LanguageKernel], str]:
    """Find kernels by name in a `.weft` file, or all of them; also return the file's name."""
    module, name = _module(path, names[0] if names else None)
    wanted = names or ([name] if name else module.kernels)
    return [_named(module, name) for name in dict.fromkeys(wanted)], module.file


def _module(
    path: str, name: str | None, libraries: bool = False, text: str | None = None
) -> tuple[ParsedModule, str | None]:
    """Load a file's kernels, and return the name of the wanted one; `path` may be the name of a library kernel."""
    if path == STDIN:
        module = parse_module(_stdin() if text is None else text, "<stdin>", ops=registry)
    else:
        path, name = _located(path, name)
        externs = open_libraries() if libraries else None
        module = load_module(path, search_path(), ops=registry, externs=externs)
    register_kernels(module)
    if not module.kernels:
        raise UnknownName(f"{module.file} has no kernel", hint="define one: kernel f(x: f32[n]) { return x + 1 }")
    return module, name


def _located(path: str, name: str | None) -> tuple[str, str | None]:
    """Find the file and the kernel. Files come first, then the search path by name, then the library."""
    if os.path.exists(path) or not path.isidentifier():
        return path, name
    own = find_own(path)
    if own is not None and os.path.isfile(own):
        return own, name
    entry = entries().get(path)
    if entry is None:
        hint = nearest(path, list(entries())) or "weft list shows the library; a file needs its suffix .weft"
        raise UnknownName(f"there is neither a file nor a kernel called '{path}'", hint=hint)
    if name is not None:
        raise UnknownName(f"{path} is a library kernel, so it has no kernel '{name}'", hint="name one of them")
    return entry.file, path


def library_doc(path: str) -> str:
    """Return the documentation of a library kernel, or nothing if `path` is not one."""
    is_library = not os.path.exists(path) and find_own(path) is None and path in entries()
    return entries()[path].doc if is_library else ""


def _named(module: ParsedModule, name: str) -> LanguageKernel:
    kernels = module.kernels
    if name not in kernels:
        hint = nearest(name, list(kernels)) or f"it has {', '.join(kernels)}"
        raise UnknownName(f"{module.file} has no kernel '{name}'", hint=hint)
    return kernels[name]


def read_graph_text(path: str) -> str:
    """Read the text of a printed graph."""
    if path == STDIN:
        return _stdin()
    try:
        with open(path, "rb") as file:
            return _decoded(file.read(MAX_BYTES + 1), path)
    except (OSError, ValueError) as error:
        if isinstance(error, (FileProblem, LimitExceeded)):
            raise
        raise FileProblem(f"can't read {path}: {getattr(error, 'strerror', None) or error}") from error


def read_array(path: str) -> Array:
    """Read the array in a `.npy` file."""
    try:
        found = np.load(path, allow_pickle=False)
    except OSError as error:
        raise FileProblem(f"can't read {path}: {error.strerror or error}") from error
    except MemoryError:
        raise
    except Exception as error:  # NumPy's reader raises many kinds of errors for a broken header
        raise FileProblem(f"{path} is not an array that NumPy can read: {error}") from error
    if not isinstance(found, np.ndarray):
        raise FileProblem(f"{path} holds several arrays", hint="save one of them with np.save")
    return found


def save_arrays(path: str, arrays: Mapping[str, Any]) -> None:
    """Write one result to `.npy`, or all by name to `.npz`. The file is written completely or not at all."""
    if path.endswith(".npz"):
        write_file(path, lambda file: _write_all(file, arrays))
    else:
        (only,) = arrays.values()
        write_file(path, lambda file: _write_array(file, np.asarray(only)))


class _Plain(NamedTuple):
    """Hide that a file is a system file: NumPy writes those through C, where a full disk may go unnoticed."""

    write: Callable[[Any], int]


def _write_array(file: IO[bytes], array: Array) -> None:
    np.lib.format.write_array(_Plain(file.write), array, allow_pickle=False)


def _write_all(file: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Write arrays by name without `np.savez`, whose own keywords clash with some names."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _stdin() -> str:
    if sys.stdin is None:
        raise FileProblem("there is no stdin to read")
    return _decoded(sys.stdin.buffer.read(MAX_BYTES + 1), "stdin")


def _decoded(data: bytes, path: str) -> str:
    if len(data) > MAX_BYTES:
        raise LimitExceeded(f"{path} is longer than {MAX_BYTES >> 20} MB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileProblem(f"{path} is not UTF-8 text (byte {error.start})") from error
