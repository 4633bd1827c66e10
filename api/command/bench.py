"""Define the arguments of `weft bench`; `weft.bench` does the work and is imported only then."""

from __future__ import annotations

import argparse

EPILOG = """\
suites: calls elementwise math reductions rows mixed layouts products library compile startup; without one, all of them

A row's ratio is the time of the fastest other library over Weft's: above 1, Weft is ahead. Every result is compared
with NumPy's before anything is timed. For memory-bound rows the last column compares Weft's speed with that
of a plain loop over the same arrays. `pip install weft[bench]` installs the peers.

weft bench --calibrate layers.weft softmax --arg 'x=randn(n,512):f32' --sizes 10,1000 times every variant of a kernel
that gives the same bits. Later calls, also in other processes, run the fastest variant at each size.
"""


def bench(args: argparse.Namespace) -> None:
    """Compare Weft with NumPy and other libraries, or time the variants of one kernel."""
    if args.calibrate:
        from .calibrate import calibrate_kernel

        calibrate_kernel(args)
        return
    from ..bench.main import main

    main(args)


def add_bench(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("suite", metavar="SUITE", nargs="*", help="suites to run (default: all)")
    parser.add_argument(
        "--calibrate", action="store_true", help="time the variants of a kernel: weft bench --calibrate FILE [KERNEL]"
    )
    add_values(parser, "an argument for --calibrate; n stands for each size")
    parser.add_argument("--peers", action="store_true", help="compare with all installed peers, not only with NumPy")
    parser.add_argument("--peer", action="append", metavar="NAME", help="compare with this peer; can be repeated")
    parser.add_argument("--threads", type=_positive, metavar="N", help="threads for each library (default: all cores)")
    parser.add_argument(
        "--seconds", type=_seconds, default=0.1, metavar="S", help="time for each library and case (default 0.1)"
    )
    parser.add_argument(
        "--sizes",
        type=_sizes,
        default=(1_000, 100_000, 4_000_000),
        metavar="N,N",
        help="default 1000,100000,4000000",
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="run only rows whose names contain this")
    parser.add_argument("--json", metavar="FILE", help="write the results as JSON")
    parser.add_argument("--markdown", metavar="FILE", help="write tables; an existing file needs marks for them")
    parser.add_argument("--plot", metavar="FILE", help="write a plot of all ratios as SVG")
    parser.add_argument("--read", action="append", metavar="FILE", help="only show the results in a JSON file")


def add_values(parser: argparse.ArgumentParser, help: str) -> None:
    """Add `--arg NAME=VALUE`, which can be repeated."""
    parser.add_argument("--arg", action="append", type=_named_value, default=[], metavar="NAME=VALUE", help=help)


def _named_value(text: str) -> tuple[str, str]:
    """Split `x=randn(4,3)` into a name and a value."""
    name, _, value = (part.strip() for part in text.partition("="))
    if not name or not value:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, such as x=randn(4,3), not '{text}'")
    return name, value


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a positive whole number, not '{text}'")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds, not '{text}'")
    return value


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(_positive(part.strip()) for part in text.split(","))
