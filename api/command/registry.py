"""`weft registry list | explain OP DTYPE... | stats`: the implementations of ops and their scores, on stdout."""

from __future__ import annotations

import argparse

from ..compiling import load
from ..ir.ops import TABLE
from ..ir.records import fields
from ..runtime.registry.bundled import composites
from ..runtime.registry.making import is_replaceable
from ..settings import registry as default

EPILOG = """\
A new process has registered nothing: --load reads files whose kernels are marked with @impl before the answer.
"""


def add_registry(parser: argparse.ArgumentParser) -> None:
    """The three questions that can be asked."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="FILE",
        help="a .weft file or a directory of them to register first",
    )
    questions = parser.add_subparsers(title="questions", metavar="QUESTION", required=True)

    def question(name: str, what: str) -> argparse.ArgumentParser:
        made = questions.add_parser(name, help=what, description=what, parents=[common], allow_abbrev=False)
        made.set_defaults(question=name)
        return made

    question("list", "the ops, those that can't be replaced as 'fixed', and what users have registered for them")
    explain = question("explain", "every implementation of an op: each point of its score, or why it is refused")
    explain.add_argument("op", metavar="OP", help="as in add or softmax")
    explain.add_argument("dtypes", metavar="DTYPE", nargs="+", help="of each operand, as in f32")
    explain.add_argument("--size", type=int, metavar="N", help="how many elements there are")
    question("stats", "how many ops and implementations there are, and how lookups went")


def registry(args: argparse.Namespace) -> None:
    """Answers one question."""
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
    """One line for each op with what implements it (`fixed` is what users can't replace), then the users' own."""
    for name, op in sorted(default.table.items()):
        kind = "weft" if name in composites() else "user"
        if name in TABLE:
            kind = "inline" if is_replaceable(op) else "fixed"
        print(f"{name:<18} {kind:<7} {op.doc}")
    for each in default.implementations():
        print(f"{each.op:<18} {each}")
