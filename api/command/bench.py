"""`weft bench`: its arguments; the work is done by `weft.bench`, which is imported only then."""

from __future__ import annotations

import argparse

EPILOG = """\
suites: calls elementwise math reductions rows mixed layouts products compile startup; without one, all of them

A row's ratio is the time of the fastest other library over Weft's: above 1, Weft is ahead. Every result is compared
with NumPy's before anything is timed. For rows that memory bounds the last column is how much Weft reaches of the speed
of a plain loop over the same arrays. `pip install weft[bench]` installs the peers.

weft bench --calibrate layers.weft softmax --arg 'x=randn(n,512):f32' --sizes 10,1000 times every variant of a kernel
that gives the same bits, and later calls, of other processes too, run the fastest at each size.
"""


def bench(args: argparse.Namespace) -> None:
    """Measures Weft beside NumPy and, if asked to, its peers; or the variants of one kernel."""
    if args.calibrate:
        from .calibrate import calibrate_kernel

        calibrate_kernel(args)
        return
    from ..bench.main import main

    main(args)


def add_bench(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.add_argument("suite", metavar="SUITE", nargs="*", help="what to measure")
    parser.add_argument(
        "--calibrate", action="store_true", help="time the variants of a kernel: weft bench --calibrate FILE [KERNEL]"
    )
    parser.add_argument(
        "--arg",
        action="append",
        type=named_value,
        default=[],
        metavar="NAME=VALUE",
        help="for --calibrate; n is a size",
    )
    parser.add_argument(
        "--peers", action="store_true", help="compare with all that are installed, not with NumPy alone"
    )
    parser.add_argument("--peer", action="append", metavar="NAME", help="compare with this one; may be given again")
    parser.add_argument("--threads", type=_positive, metavar="N", help="for every library (default: all usable cores)")
    parser.add_argument(
        "--seconds", type=_seconds, default=0.1, metavar="S", help="for each library and case (default 0.1)"
    )
    parser.add_argument(
        "--sizes", type=_sizes, default=(1_000, 100_000, 4_000_000), metavar="N,N", help="default 1000,100000,4000000"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose names contain this")
    parser.add_argument("--json", metavar="FILE", help="write what was measured")
    parser.add_argument("--markdown", metavar="FILE", help="write tables, between the marks in the file if it has them")
    parser.add_argument("--plot", metavar="FILE", help="write a picture of all ratios (SVG)")
    parser.add_argument("--read", action="append", metavar="FILE", help="show a JSON file again and measure nothing")


def named_value(text: str) -> tuple[str, str]:
    """`x=randn(4,3)` as a name and a value."""
    name, _, value = (part.strip() for part in text.partition("="))
    if not name or not value:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE, as in x=randn(4,3)")
    return name, value


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds")
    return value


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(_positive(part.strip()) for part in text.split(","))
