"""Run `weft profile`: a Python script, with the time of each compiled function, kernel and piece."""

from __future__ import annotations

import argparse
import os
import runpy
import sys

from ..ir.errors import FileProblem

EPILOG = """\
The times go to stderr. A trace can be opened in the trace viewer of a browser.

examples:
  weft profile script.py
  weft profile -o trace.json script.py --steps 100
"""


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weft profile`."""
    parser.add_argument("-o", "--out", metavar="FILE", help="write a trace in the Chrome trace format")
    parser.add_argument("script", metavar="SCRIPT", help="a Python script")
    rest = parser.add_argument("args", metavar="ARG", nargs=argparse.REMAINDER, help="arguments of the script")
    rest.required = False  # Python 3.11 names it as missing where the script is


def profile(options: argparse.Namespace) -> None:
    """Run a script as `python script.py` does, and measure it."""
    from ..profiling import profile as measured

    if not os.path.isfile(options.script):
        raise FileProblem(f"there is no file {options.script}")
    before = sys.argv[:], sys.path[:]
    sys.argv = [options.script, *options.args]
    sys.path[0] = os.path.dirname(os.path.abspath(options.script))
    try:
        with measured(options.out):
            runpy.run_path(options.script, run_name="__main__")
    finally:
        sys.argv[:], sys.path[:] = before
