"""Run the `weft` command and return its exit status.

0 is success, 1 a user's error (shown on stderr), 2 wrong usage, 130 an interrupt, 141 a closed output pipe.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Callable

from .._version import __version__
from ..ir.errors import WeftError, nearest
from .bench import EPILOG as _BENCH
from .bench import add_bench, add_values, bench
from .build import EPILOG as _BUILD
from .build import add_build, build
from .cache import EPILOG as _CACHE
from .cache import add_cache, cache
from .completion import EPILOG as _COMPLETION
from .completion import add_completion, completion
from .dump import dump
from .explore import EPILOG as _EXPLORE
from .explore import EXPLAIN as _EXPLAIN
from .explore import add_explain, add_explore, explain, explore
from .info import info
from .listing import add_list, env
from .listing import list as list_kernels
from .opt import opt
from .profile import EPILOG as _PROFILE
from .profile import add_profile, profile
from .registry import EPILOG as _REGISTRY
from .registry import add_registry, registry
from .run import run
from .screen import show_error, show_warning

INTERRUPTED, READER_GONE = 130, 141  # the statuses that a shell reports for SIGINT and SIGPIPE

_EXAMPLES = """\
examples:
  weft list                                            kernels of the library
  weft run softmax --arg 'x=randn(4,3)'                run one of them on random numbers
  weft run layers.weft mlp --arg x=data.npy --time     run a kernel of your own, and time it
  weft explain softmax --size m=1000                   what it becomes
  weft explore softmax -o softmax.html                 the same as a page, down to assembly
  weft dump softmax --emit asm                         its machine code
  weft build layers.weft -o layers.so                  a library for C
"""
_RUN = """\
values of --arg:
  3, -0.5, true               a number, which takes the type that the kernel declares
  3:i64                       a number of that dtype
  data.npy                    an array from a file
  zeros(4,3) ones(4,3) full(2.5,4,3)
  randn(4,3) rand(4,3)        normal numbers; numbers between 0 and 1
  randint(0,10,4,3)           whole numbers from 0 to 9
  arange(10) arange(2,10,0.5) linspace(0,1,11)
  randn(4,3):f32              any of these in a dtype; by default the declared one, or NumPy's for a class
"""
_DUMP = """\
Without --types a parameter has its declared dtype and dimensions; a class takes i32 (int), u32 (uint), c64 (complex) or
f32 (float, number, any), and '...' stands for one dimension. Only whether a size is 1 changes the code: '?' and every
other number mean any size.
"""
_OPT = """\
FILE is the output of `weft dump`, an edited copy of it, or the file that a failing pass wrote. The last one lists
its own passes. The result goes to stdout, everything else to stderr.
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command with these arguments, or with those of the process."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal without µ must not make it fail
    try:
        status = _execute(argv)
        if sys.stdout is not None:
            sys.stdout.flush()  # flush now, while a failure can still be reported
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _silence_stdout()
        if isinstance(error, BrokenPipeError):
            return READER_GONE
        show_error(f"can't write the output: {error.strerror}")
        return 1
    return status


def _execute(argv: list[str] | None) -> int:
    try:
        parser, commands = _parser()
        words = sys.argv[1:] if argv is None else argv
        if not words or (words[0] not in commands and not words[0].startswith("-")):
            parser.error(_about_command(words, list(commands)))
        args, more = parser.parse_known_args(words)
        if more:
            values = " ".join(f"--arg {word}" for word in more if "=" in word and not word.startswith("-"))
            parser.error(f"unrecognized arguments: {' '.join(more)}" + (f" (write {values})" if values else ""))
    except SystemExit as end:
        return _status(end)
    handler: Callable[[argparse.Namespace], None] = args.handler
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            handler(args)
    except SystemExit as end:  # wrong usage that only the subcommand can detect
        return _status(end)
    except BrokenPipeError:
        raise
    except Exception as error:
        if args.traceback:
            traceback.print_exc()
        else:
            show_error(_told(error))
        return 1
    return 0


def _about_command(words: list[str], commands: list[str]) -> str:
    """Say that the command is missing or unknown."""
    if not words:
        return "name a command; weft --help lists them, with examples"
    return f"there is no command '{words[0]}'; {nearest(words[0], commands) or 'weft --help lists them'}"


def _status(end: SystemExit) -> int:
    return end.code if isinstance(end.code, int) else 1


def _silence_stdout() -> None:
    """Redirect a closed stdout to the null device, so that Python does not complain about it at exit."""
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)
    except (OSError, ValueError):
        return


def _told(error: Exception) -> str:
    """Describe an error. Anything that is neither Weft's nor the system's error is reported as a bug."""
    if isinstance(error, WeftError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory{f': {error}' if str(error) else ''}"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
    return f"{type(error).__name__}: {error}\nhint: this is a bug in Weft; --traceback shows where it happened"


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Make the parser of the command, and those of the subcommands by name."""
    parser = argparse.ArgumentParser(
        prog="weft",
        description="Compile and run array kernels, and show what they are compiled to.",
        epilog=_EXAMPLES,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"weft {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--traceback", action="store_true", help="show where in Weft an error came from")

    parsers: dict[str, argparse.ArgumentParser] = {}

    def command(handler: Callable[[argparse.Namespace], None], what: str, epilog: str = "") -> argparse.ArgumentParser:
        made = commands.add_parser(
            handler.__name__,
            help=what,
            description=what,
            epilog=epilog,
            parents=[common],
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(handler=handler, wrong_usage=made.error, parsers=parsers)
        parsers[handler.__name__] = made
        return made

    _add_run(command(run, "run a kernel on given or generated data", _RUN))
    _add_dump(command(dump, "print the graph of a kernel after a pass, or its code", _DUMP))
    add_explain(command(explain, "say which kernels a graph becomes, and what was not fused and why", _EXPLAIN))
    _add_opt(command(opt, "run passes on a printed graph", _OPT))
    add_explore(command(explore, "write a page that shows a kernel going through its passes", _EXPLORE))
    add_build(command(build, "build a C library with a header from kernels", _BUILD))
    add_profile(command(profile, "run a Python script and print the time of its compiled functions", _PROFILE))
    add_bench(command(bench, "compare the speed of Weft with NumPy and other compilers", _BENCH))
    add_registry(command(registry, "show the implementations of ops and how they are chosen", _REGISTRY))
    add_cache(command(cache, "show or clear the compiled kernels on disk", _CACHE))
    add_list(command(list_kernels, "list the kernels of a file or of the library"))
    command(env, "list the environment variables and their values")
    command(info, "show versions, the machine, and whether native code works")
    add_completion(command(completion, "print a script that completes commands in a shell", _COMPLETION))
    return parser, parsers


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_kernel(parser)
    add_values(parser, "an argument of the kernel")
    parser.add_argument("--seed", type=_natural, default=0, metavar="N", help="seed for generated data (default 0)")
    parser.add_argument("--out", type=_array_file, metavar="FILE", help="save the result as .npy, several as .npz")
    parser.add_argument("--time", action="store_true", help="time the call")
    parser.add_argument(
        "--libraries", action="store_true", help="allow extern kernels, which run code of shared libraries"
    )
    parser.add_argument("--backend", choices=("llvm", "reference"), default="llvm", help="reference runs NumPy")


def _add_dump(parser: argparse.ArgumentParser) -> None:
    _add_kernel(parser)
    parser.add_argument(
        "--types",
        action="append",
        default=[],
        metavar="TYPES",
        help='argument types, such as "x=f32[?,?], k=i32"',
    )
    parser.add_argument("--emit", choices=("mlir", "llvm", "asm", "dot"), default="mlir", help="default: mlir")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--after", metavar="PASS", help="print the graph after this pass; 'input' is before the first")
    which.add_argument("--after-all", action="store_true", help="print the graph after each pass")
    parser.add_argument("--locations", action="store_true", help="print source locations too (mlir)")


def _add_opt(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a printed graph, or - for stdin")
    parser.add_argument("--passes", metavar="LIST", help='passes to run, such as "promote-dtypes,fuse"; "" runs none')
    parser.add_argument("--print-after-all", action="store_true", help="print the graph after each pass")
    parser.add_argument("--timing", action="store_true", help="print how long each pass took")
    parser.add_argument("--verify", action="store_true", help="check the graph before and after each pass")
    parser.add_argument("--locations", action="store_true", help="print source locations too")


def _add_kernel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a .weft file, - for stdin, or a library kernel such as softmax")
    parser.add_argument("kernel", metavar="KERNEL", nargs="?", help="optional if the file has only one kernel")


def _natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number of 0 or more, not '{text}'")
    return int(text)


def _array_file(text: str) -> str:
    if not text.endswith((".npy", ".npz")):
        raise argparse.ArgumentTypeError(f"'{text}' must end in .npy or .npz")
    return text
