"""Run `weft dump`: print a kernel's graph or code. Nothing is run."""

from __future__ import annotations

import argparse

from ..backends.llvm.engine import target
from ..frontend.printed import PrintedKernel
from ..ir.text.dot import dot
from ..loading.nests import is_nest
from ..passes.manager import INPUT, PipelineResult
from ..runtime.compiler import lower
from ..runtime.disk.graphs import StoredResult
from ..settings import registry
from .files import find_source, find_text, shown_name
from .target import printing_options
from .types import parse_types, request_for, request_for_types


def dump(args: argparse.Namespace) -> None:
    """Print a kernel's graph or code."""
    code = args.emit in ("llvm", "asm")
    if code and (args.after or args.after_all):
        args.wrong_usage(f"--emit {args.emit} always comes after all passes; use --after with mlir or dot")
    if args.locations and args.emit != "mlir":
        args.wrong_usage("--locations works only with --emit mlir")
    if args.emit == "asm":
        target.host()  # raises if no assembly can be made
    options = printing_options()
    text = find_text(args.file)
    if text is not None and is_nest(text):
        from .nests import dump_nest

        dump_nest(args, text, shown_name(args.file), options.machine)
        return
    source = find_source(args.file, args.kernel, options, text=text)
    if isinstance(source, PrintedKernel):
        if args.types:
            args.wrong_usage("--types can't be used with a printed graph, which has its own types")
        request = request_for_types(source.types, source.layouts)
    else:
        request = request_for(source, parse_types(args.types))
    lowered = lower(source, request, registry, options)
    if code:
        print(lowered.llvm() if args.emit == "llvm" else lowered.asm(), end="")
    elif args.after_all:
        _print_all(lowered.result, args)
    else:
        print(_text(lowered.result, args.after, args), end="")


def _print_all(result: PipelineResult | StoredResult, args: argparse.Namespace) -> None:
    print(f"// input\n{_text(result, INPUT, args)}", end="")
    for name, before, after in zip(result.passes, result.snapshots, result.snapshots[1:], strict=False):
        text = " (unchanged)\n" if after is before else f"\n{_text(result, name, args)}"
        print(f"\n// after {name}{text}", end="")


def _text(result: PipelineResult | StoredResult, after: str | None, args: argparse.Namespace) -> str:
    return dot(result.after(after)) if args.emit == "dot" else result.ir(after, args.locations)
