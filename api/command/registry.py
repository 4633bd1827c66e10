"""Run `weft registry list`, `explain OP DTYPE...` and `stats`: print the implementations of ops and their scores."""

from __future__ import annotations

import argparse

from ..compiling import load
from ..ir.ops import TABLE
from ..ir.records import fields
from ..runtime.registry.bundled import composites
from ..runtime.registry.making import is_replaceable
from ..settings import registry as default

EPILOG = """\
A new process has nothing registered. --load first reads files with kernels marked @impl.
"""


def add_registry(parser: argparse.ArgumentParser) -> None:
    """Add the three subcommands."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="FILE",
        help="first register the kernels of a .weft file or a directory",
    )
    questions = parser.add_subparsers(title="questions", metavar="QUESTION", required=True)

    def question(name: str, what: str) -> argparse.ArgumentParser:
        made = questions.add_parser(name, help=what, description=what, parents=[common], allow_abbrev=False)
        made.set_defaults(question=name)
        return made

    question("list", "list the ops ('fixed' ones can't be replaced) and the implementations that users registered")
    explain = question("explain", "show every implementation of an op with its score, or why it is refused")
    explain.add_argument("op", metavar="OP", help="an op, such as add or softmax")
    explain.add_argument("dtypes", metavar="DTYPE", nargs="+", help="the dtype of each operand, such as f32")
    explain.add_argument("--size", type=int, metavar="N", help="the number of elements")
    question("stats", "count the ops, the implementations and the lookups")


def registry(args: argparse.Namespace) -> None:
    """Answer one question."""
    for path in args.load:
        load(path)
    if args.question == "explain":
        print(default.explain(args.op, *args.dtypes, size=args.size))
    elif args.question == "stats":
        stats = default.stats()
        for name in fields(stats):
            print(f"{name.replace('_', ' '):<15} {getattr(stats, name)}")
    else:
        _list()


def _list() -> None:
    """Print one line for each op and its kind (`fixed` can't be replaced), then the users' implementations."""
    for name, op in sorted(default.table.items()):
        kind = "weft" if name in composites() else "user"
        if name in TABLE:
            kind = "inline" if is_replaceable(op) else "fixed"
        print(f"{name:<18} {kind:<7} {op.doc}")
    for each in default.implementations():
        print(f"{each.op:<18} {each}")
