"""Run `weft opt`: apply a pipeline of passes to a printed graph."""

from __future__ import annotations

import argparse
import re
import sys

from ..frontend.printed import passes_until, read_graph
from ..ir.errors import FileProblem
from ..passes.manager import INPUT, PipelineOptions, PipelineResult, run_pipeline
from ..passes.pipeline_text import parse_pipeline
from ..runtime.compiler import passes_for
from ..settings import registry
from .files import read_graph_text, shown_name
from .run import duration
from .target import printing_options

_REPLAY = re.compile(r'// weft opt --passes "([^"\n]*)"')


def opt(args: argparse.Namespace) -> None:
    """Run passes on a graph and print the result."""
    if args.file.endswith(".weft"):
        hint = f"print its graph first: weft dump {args.file} | weft opt -"
        raise FileProblem(f"{shown_name(args.file)} is kernel text, and opt takes a printed graph", hint=hint)
    text = read_graph_text(args.file)
    replay = _REPLAY.match(text)
    known = passes_for(registry, printing_options())
    if args.passes is None and replay is None:
        names = ", ".join(p.name for p in known)
        args.wrong_usage(f"--passes is missing, and the file does not name its passes; there are {names}")
    passes = parse_pipeline(args.passes if replay is None or args.passes is not None else replay.group(1), known)
    pipeline = tuple(p.name for p in known)
    parsed = read_graph(text, shown_name(args.file), pipeline, registry.table)
    options = PipelineOptions(
        verify=args.verify,
        print_after_all=args.print_after_all,
        locations=args.locations,
        emit=_aside,
        done=passes_until(parsed.after or INPUT, pipeline),
    )
    result = run_pipeline(parsed.graph, passes, options)
    print(result.ir(locations=args.locations), end="")
    if args.timing:
        _aside(_timings(result))


def _timings(result: PipelineResult) -> str:
    lines = [f"{duration(s):>9}  {name}" for name, s in zip(result.passes, result.seconds, strict=True)]
    return "\n".join([*lines, f"{duration(sum(result.seconds)):>9}  in all"])


def _aside(text: str) -> None:
    print(text, file=sys.stderr)
