"""Run `weft dump`: print a kernel's graph or code. Nothing is run."""

from __future__ import annotations

import argparse

from .backends.llvm import target
from .command_files import find_kernel
from .command_target import printing_options
from .command_types import parse_types, request_for
from .ir.dot import dot
from .ir.graph import Graph
from .ir.printer import print_graph
from .passes.manager import PipelineResult
from .runtime.compiler import lower
from .runtime.disk.graphs import StoredResult
from .settings import registry


def dump(args: argparse.Namespace) -> None:
    """Prints what a kernel becomes."""
    code = args.emit in ("llvm", "asm")
    if code and (args.after or args.after_all):
        args.wrong_usage(f"--emit {args.emit} is what comes after all passes; --after belongs to mlir and dot")
    if args.locations and args.emit != "mlir":
        args.wrong_usage("--locations belongs to --emit mlir")
    source = find_kernel(args.file, args.kernel)
    request = request_for(source, parse_types(args.types))
    if args.emit == "asm":
        target.host()  # refuses where no assembly can be made
    lowered = lower(source, request, registry, printing_options())
    if code:
        print(lowered.llvm() if args.emit == "llvm" else lowered.asm(), end="")
    elif args.after_all:
        _print_all(lowered.result, args)
    else:
        print(_text(lowered.result.after(args.after), args), end="")


def _print_all(result: PipelineResult | StoredResult, args: argparse.Namespace) -> None:
    print(f"// input\n{_text(result.snapshots[0], args)}", end="")
    for name, before, after in zip(result.passes, result.snapshots, result.snapshots[1:], strict=False):
        text = " (unchanged)\n" if after is before else f"\n{_text(after, args)}"
        print(f"\n// after {name}{text}", end="")


def _text(graph: Graph, args: argparse.Namespace) -> str:
    return dot(graph) if args.emit == "dot" else print_graph(graph, args.locations)
