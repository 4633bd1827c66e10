"""Run `weft run` and `weft dump` on a loop nest: make its arrays, run it and print what it wrote, or print its code."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from ..backends.llvm.engine.module import Effort, assembly
from ..backends.llvm.engine.target import Target
from ..frontend.language.declared import Declared, Parameter
from ..ir import dims
from ..ir.dtypes import I64
from ..ir.errors import FileProblem, Span, TypeProblem, UnknownName, nearest
from ..ir.nest.text import parse_nest
from ..ir.text.printer import print_nest
from ..loading.nests import nest_kernel
from ..runtime.nests.compiling import size_places, text_of
from ..runtime.nests.interfaces import shown as shown_type
from ..runtime.nests.kernels import NestKernel
from .arguments import value_of
from .files import save_arrays
from .run import shown, timed

Array = np.ndarray[Any, Any]


def run_nest(args: argparse.Namespace, text: str, file: str, given: Mapping[str, str]) -> None:
    """Run a nest and print the arrays that it wrote."""
    if args.kernel is not None:
        raise UnknownName(f"{file} has one nest, not a '{args.kernel}'")
    kernel = nest_kernel(text, file, args.backend)
    arrays, numbers = _arguments(kernel, given, args.seed, file)
    written = kernel.written
    if args.out and args.out.endswith(".npy") and len(written) > 1:
        raise FileProblem(
            f"{kernel.name} writes {len(written)} arrays, too many for {args.out}", hint="use a .npz file"
        )
    start = perf_counter()
    kernel(*arrays, **numbers)
    first = perf_counter() - start
    results = {kernel.parameters[k]: arrays[k] for k in written}
    if args.out:
        save_arrays(args.out, results)
    for name, result in results.items():
        print(shown(name, result))
    if args.time:
        print(timed(lambda: kernel(*arrays, **numbers), first))


def dump_nest(args: argparse.Namespace, text: str, file: str, machine: Target) -> None:
    """Print a nest as Weft writes it, or its code."""
    if args.after or args.after_all or args.types:
        args.wrong_usage("--after, --after-all and --types can't be used with a nest")
    nest = parse_nest(text, file)
    if args.emit == "dot":
        args.wrong_usage("--emit dot works only with graphs, not with a nest")
    if args.emit == "mlir":
        print(print_nest(nest, args.locations), end="")
        return
    _, code = text_of([nest], machine)
    print(code if args.emit == "llvm" else assembly(code, machine, Effort.LOOPS), end="")


def _arguments(
    kernel: NestKernel, given: Mapping[str, str], seed: int, file: str
) -> tuple[list[Array], dict[str, Any]]:
    """Make the arrays and numbers of a call. Arrays that are only written can be left out."""
    names = (*kernel.parameters, *kernel.numbers)
    for name in given:
        if name not in names:
            hint = nearest(name, list(names)) or f"it is {kernel.signature}"
            raise UnknownName(f"{kernel.name} has no argument '{name}'", hint=hint)
    declared = _declared(kernel, file)
    made = {p.name: value_of(p, given[p.name], seed, k) for k, p in enumerate(declared) if p.name in given}
    made = {name: np.asarray(x) if name in kernel.parameters else x for name, x in made.items()}
    _fill(kernel, made)
    missing = [p for p in declared if p.name not in made]
    if missing:
        lines = "".join(f"\n  {p.name}: {p.type}" for p in missing)
        raise TypeProblem(f"{kernel.name} needs more arguments:{lines}", hint="give each with --arg name=value")
    return [made[name] for name in kernel.parameters], {name: made[name] for name in kernel.numbers}


def _fill(kernel: NestKernel, made: dict[str, Any]) -> None:
    """Make the arrays that are only written, if the other arrays tell their sizes."""
    env = {name: made[name] for name in kernel.numbers if isinstance(made.get(name), int)}
    given = [name for name in kernel.parameters if name in made]
    types = dict(zip(kernel.parameters, kernel.interface.types, strict=True))
    for symbol, (slot, axis) in size_places([types[name] for name in given]).items():
        array = made[given[slot]]
        if axis < array.ndim:
            env[symbol] = array.shape[axis]
    for (name, type), how in zip(types.items(), kernel.interface.access, strict=True):
        known = all(symbol in env for size in type.shape for symbol in dims.symbols(size))
        if name not in made and how == "write" and known:
            made[name] = np.zeros([dims.evaluate(s, env) for s in type.shape], type.dtype.numpy)


def _declared(kernel: NestKernel, file: str) -> list[Parameter]:
    """The arguments as a `.weft` file would declare them."""
    span, found = Span(file, 1), []
    for name, kind in zip(kernel.parameters, kernel.interface.types, strict=True):
        shape = tuple(s if isinstance(s, int) else str(s) for s in kind.shape) if kind.shape else None
        found.append(Parameter(name, Declared(kind.dtype.name, kind.dtype, shape, shown_type(kind), span), span))
    return found + [Parameter(name, Declared("i64", I64, None, "i64", span), span) for name in kernel.numbers]
