"""Run `weft build`: compile kernels to a shared library and a C header."""

from __future__ import annotations

import argparse
import os
import re

from .._version import __version__
from ..ir.errors import FileProblem
from ..ir.support.files import OutputFile, write_files
from ..runtime.aot.build import build as build_library
from ..runtime.aot.link import link
from ..runtime.aot.platforms import platform_for
from ..settings import registry
from .c_functions import wanted_functions
from .files import find_kernels

EPILOG = """\
Each kernel becomes a C function for arrays in C order, and NAME_strided for any layout. A kernel with class types, as
in x: float[n], becomes one for each dtype: NAME_f32 and NAME_f64, i32 and i64, u32 and u64, c64 and c128, or those of
--types and --dtypes. '...' stands for one dimension unless --types says otherwise.

  weft build layers.weft -o liblayers.so                     liblayers.so and layers.h, all kernels
  weft build layers.weft softmax -o libs.so --types "x=f32[?,?,?]"
  weft build layers.weft -o k.o --types "softmax: x=f16[?,?]" --types "softmax: x=f32[?,?]"
  weft build layers.weft -o k.o --target aarch64-linux-gnu   an object file for another machine

Without a linker, the object file is written and the exit status is 1.
"""


def add_build(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", metavar="FILE", help="a .weft file, or - for stdin")
    parser.add_argument(
        "kernels", metavar="KERNEL", nargs="*", default=[], help="kernels to build (default: all of the file)"
    )
    parser.add_argument(
        "-o", "--out", required=True, type=_output, metavar="OUT", help="a library (.so) or an object file (.o)"
    )
    parser.add_argument("--header", metavar="FILE", help="the C header (default: next to OUT, its name without 'lib')")
    parser.add_argument(
        "--types",
        action="append",
        default=[],
        metavar="TYPES",
        help='argument types, such as "softmax: x=f32[?,?]"',
    )
    parser.add_argument("--dtypes", type=_names, metavar="LIST", help="dtypes for classes such as float: f32,f64")
    parser.add_argument("--prefix", default="", metavar="TEXT", help="a prefix for the name of each function")
    parser.add_argument("--dense", action="store_true", help="build no functions for strided arrays")
    parser.add_argument("--target", metavar="TRIPLE", help="another machine, such as aarch64-linux-gnu (only .o)")
    parser.add_argument("--cpu-levels", type=_levels, metavar="LIST", help="x86-64 levels: 3, 4 or 3,4 (default: 3,4)")


def build(args: argparse.Namespace) -> None:
    """Write the library and its header."""
    platform = platform_for(args.target, args.cpu_levels)
    is_library = args.out.endswith(".so")
    if is_library and not platform.is_host:
        args.wrong_usage(f"a library for {platform.base.triple} needs the linker of that machine; write -o NAME.o")
    kernels, file = find_kernels(args.file, args.kernels)
    wanted = wanted_functions(kernels, args.types, args.dtypes or (), args.prefix, args.dense)
    stem = _stem(args.out)
    made = build_library(wanted, stem, __version__, os.path.basename(file), platform, registry)
    header = args.header or os.path.join(os.path.dirname(args.out), f"{stem}.h")
    library, problem = link(made.object_code, os.path.basename(args.out)) if is_library else (b"", "")
    kept = f"{args.out.removesuffix('.so')}.o" if problem else args.out
    code = OutputFile(kept, library, 0o777) if library else OutputFile(kept, made.object_code)
    write_files(code, OutputFile(header, made.header.encode()))
    if problem:
        raise FileProblem(
            f"{problem}; the object file is {kept}",
            hint=f"run this where a linker is installed: cc -shared -nostartfiles -o {args.out} {kept}",
        )
    print(f"{args.out}, {header}: {', '.join(w.name for w in wanted)}")


def _stem(path: str) -> str:
    """Derive the prefix of the library's own functions from its path: `k` for `libk.so`."""
    name = os.path.basename(path).rpartition(".")[0].removeprefix("lib")
    name = re.sub(r"\W", "_", name, flags=re.ASCII)
    return name if name and not name[0].isdigit() else f"lib{name}"


def _output(text: str) -> str:
    if not text.endswith((".so", ".o")):
        raise argparse.ArgumentTypeError(f"'{text}' must end in .so or .o")
    return text


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _levels(text: str) -> tuple[int, ...]:
    parts = [part.strip().removeprefix("x86-64-v").removeprefix("v") for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"must be a list of levels such as 3,4, not '{text}'")
    return tuple(map(int, parts))
