"""Run `weft run`: call a kernel, and print or save its results."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from time import perf_counter
from timeit import Timer
from typing import Any

import numpy as np

from ..frontend.language.source import LanguageKernel
from ..frontend.printed import PrintedKernel
from ..ir.dtypes import from_numpy
from ..ir.errors import FileProblem, TypeProblem, UnknownName, UnsupportedTarget, nearest
from ..ir.source import taken_by
from ..loading.nests import is_nest
from ..runtime.kernel import CallableKernel
from ..settings import default_options, registry
from .arguments import value_of
from .files import find_source, find_text, library_doc, save_arrays, shown_name

REPEATS, MIN_REPEATS, ENOUGH_SECONDS, BATCH_SECONDS = 9, 2, 3.0, 0.02
SHOWN_ELEMENTS = 64


def run(args: argparse.Namespace) -> None:
    """Run a kernel and print its results."""
    given = dict(args.arg)
    if len(given) != len(args.arg):
        args.wrong_usage("--arg gives an argument twice")
    options = default_options(args.backend)
    text = find_text(args.file)
    if text is not None and is_nest(text):
        from .nests import run_nest

        run_nest(args, text, shown_name(args.file), given)
        return
    source = find_source(args.file, args.kernel, options, args.libraries, text)
    values = arguments(source, given, args.seed, library_doc(args.file))
    kernel = CallableKernel(source, registry, options)
    start = perf_counter()
    try:
        lowered = kernel.lower(*values)
        count = len(lowered.graph.outputs)
        if args.out and args.out.endswith(".npy") and count > 1:
            raise FileProblem(f"{source.name} has {count} results, too many for {args.out}", hint="use a .npz file")
        made = kernel(*values)
    except UnsupportedTarget as error:
        raise UnsupportedTarget(error.message, error.span, "use --backend reference to run it in NumPy") from error
    first = perf_counter() - start
    results = named(source, made if count > 1 else (made,))
    if args.out:
        save_arrays(args.out, results)
    for name, result in results.items():
        print(shown(name, result))
    if args.time:
        print(timed(lambda: kernel(*values), first))


def arguments(source: LanguageKernel | PrintedKernel, given: Mapping[str, str], seed: int, doc: str = "") -> list[Any]:
    """Return the arguments in the order of the parameters. If some are missing, the error shows `doc`."""
    for name in given:
        if name not in source.parameters:
            hint = nearest(name, list(source.parameters)) or f"it is declared {source.signature}"
            raise UnknownName(f"{source.name} has no argument '{name}'", hint=hint)
    defaults = taken_by(source).defaults
    missing = [p for p in source.declared if p.name not in given and p.name not in defaults]
    if missing:
        lines = "".join(f"\n  {p}" for p in missing)
        hint = f"give each with --arg, as in --arg '{missing[0].name}={_example(missing[0].type.dims)}'"
        message = f"{source.name} needs more arguments:{lines}"
        raise TypeProblem(f"{message}\n{doc}" if doc else message, hint=hint)
    return [
        value_of(p, given[p.name], seed, k) if p.name in given else defaults[p.name]
        for k, p in enumerate(source.declared)
    ]


def _example(dims: tuple[object, ...] | None) -> str:
    """Return an example value for a declared parameter."""
    if not dims:
        return "3"
    return f"ones({','.join(str(d) if isinstance(d, int) else '8' for d in dims)})"


def named(source: LanguageKernel | PrintedKernel, results: tuple[Any, ...]) -> dict[str, Any]:
    """Name the results as declared, or by position if not all have names."""
    names = [o.name for o in source.outputs or ()]
    if not names or None in names:
        names = [f"out{k}" for k in range(len(results))] if len(results) > 1 else ["out"]
    return {str(name): result for name, result in zip(names, results, strict=True)}


def shown(name: str, result: Any) -> str:
    """Format a result: name, dtype, shape and values. Large arrays are abbreviated."""
    array = np.asarray(result)
    dtype = from_numpy(array.dtype)
    if not array.ndim:
        return f"{name}: {dtype} = {array[()]}"
    shape = ", ".join(map(str, array.shape))
    return f"{name}: {dtype}[{shape}]\n{np.array2string(array, threshold=SHOWN_ELEMENTS)}"


def timed(call: Callable[[], Any], first: float, clock: Callable[[], float] = perf_counter) -> str:
    """Time a call and describe the best of several runs; each run is long enough for the clock."""
    timer, calls = Timer(call, timer=clock), 1
    while (seconds := timer.timeit(calls)) < BATCH_SECONDS:
        calls = max(2 * calls, int(calls * BATCH_SECONDS / max(seconds, 1e-9)))
    runs, begin = [seconds], clock()
    while len(runs) < MIN_REPEATS or (len(runs) < REPEATS and clock() - begin < ENOUGH_SECONDS):
        runs.append(timer.timeit(calls))
    best = duration(min(runs) / calls)
    plural = "s" * (calls != 1)
    return (
        f"time: {best} per call, the best of {len(runs)} runs of {calls} call{plural}; {duration(first)} the first time"
    )


def duration(seconds: float) -> str:
    """Format a time with a suitable unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
