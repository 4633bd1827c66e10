"""Run `weft bench --calibrate`: time all variants of a kernel on generated arguments.

The letter n in an argument is replaced by each of the sizes in turn.
"""

from __future__ import annotations

import argparse
import re
import sys

from ..runtime.kernel import CallableKernel
from ..runtime.selection.calibrating import Timing, calibrate
from ..settings import default_options, registry, tuner
from .files import find_kernel
from .run import arguments, duration

BAR = 24
HEAD = f"{'variant':<20}{'mean':>12}{'least':>12}{'most':>12}{'deviation':>12}{'calls/s':>12}{'GB/s':>8}"


def calibrate_kernel(args: argparse.Namespace) -> None:
    """Time the variants of a kernel at each size, and store the times for all processes."""
    if not 1 <= len(args.suite) <= 2:
        args.wrong_usage("--calibrate takes FILE [KERNEL]")
    given = dict(args.arg)
    file, name = (*args.suite, None)[:2]
    assert file is not None
    source = find_kernel(file, name)
    kernel = CallableKernel(source, registry, default_options(), tuner)
    follows_size = any(_uses_size(text) for text in given.values())
    for size in args.sizes if follows_size else args.sizes[:1]:
        values = arguments(source, {k: _with_size(text, size) for k, text in given.items()}, seed=0)
        timings = calibrate(tuner, registry, kernel, values, {}, _progress)
        print(f"{source.name}, n = {size}\n{HEAD}" if follows_size else f"{source.name}\n{HEAD}")
        for timing in timings:
            print(_line(timing))


def _uses_size(text: str) -> bool:
    return _with_size(text, 0) != text


def _with_size(text: str, size: int) -> str:
    """Replace n by a number, as in `randn(n, 64):f32`."""
    return re.sub(r"(?<=[(,])\s*n\s*(?=[,)])", str(size), text)


def _line(timing: Timing) -> str:
    times = "".join(f"{duration(s):>12}" for s in (timing.mean, timing.least, timing.most, timing.deviation))
    mark = "  <- chosen" if timing.is_chosen else ""
    return f"{timing.variant:<20}{times}{timing.throughput:>12,.0f}{timing.bandwidth / 1e9:>8.1f}{mark}"


def _progress(name: str, done: int, total: int) -> None:
    if sys.stderr is None or not sys.stderr.isatty():
        return
    full = BAR * done // total
    bar = "" if done == total else f"[{'#' * full}{'.' * (BAR - full)}] {done}/{total} {name}"
    sys.stderr.write(f"\r\x1b[K{bar}")
    sys.stderr.flush()
