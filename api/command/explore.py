"""Run `weft explore` and `weft explain`: show how a kernel is compiled, on a page or in words."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from ..frontend.language.declared import Parameter
from ..ir.errors import UnknownName, nearest, quantity
from ..ir.support.files import is_stream, write_file
from ..loading.nests import is_nest
from ..runtime.compiler import Lowered
from ..runtime.kernel import CallableKernel
from ..settings import default_options, registry
from .bench import add_values
from .files import find_source, find_text
from .run import arguments

SIZES = {1: 1 << 20, 2: 512}  # of a dimension whose size is not given, by the rank of the largest parameter
SIZE = 64  # in more dimensions
EXPLAIN = """\
Parameters without --arg get random numbers; --size sets their dimensions.

examples:
  weft explain softmax
  weft explain layers.weft mlp --arg 'x=randn(4096,64):f32'
"""
EPILOG = """\
The page is one file that needs no network. Parameters without --arg get random numbers; --size sets their dimensions.

examples:
  weft explore softmax -o softmax.html
  weft explore layers.weft mlp --arg 'x=randn(4096,64):f32' -o mlp.html
  weft explore heat.weft --size n=1000000 -o heat.html
"""


def add_explore(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weft explore`."""
    add_explain(parser)
    parser.add_argument("-o", "--output", metavar="PAGE", help="the page to write (default KERNEL.html)")


def add_explain(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `weft explain`."""
    parser.add_argument("file", metavar="FILE", help="a .weft file, - for stdin, or a library kernel such as softmax")
    parser.add_argument("kernel", metavar="KERNEL", nargs="?", help="optional if the file has only one kernel")
    add_values(parser, "an argument of the kernel")
    parser.add_argument("--size", action="append", default=[], metavar="NAME=N", type=_size, help="a dimension's size")


def explore(args: argparse.Namespace) -> None:
    """Write the page of a kernel."""
    lowered, values = lowered_with_values(args)
    path = args.output or f"{lowered.graph.name}.html"
    page = lowered.html(values).encode()
    write_file(path, page)
    if not is_stream(path):
        print(f"{path}: {len(page) / 1e3:.0f} kB, {quantity(len(lowered.kernels), 'kernel')}")


def explain(args: argparse.Namespace) -> None:
    """Print which kernels a graph became, what was not fused and why."""
    print(lowered_with_values(args)[0].explain())


def lowered_with_values(args: argparse.Namespace) -> tuple[Lowered, list[Any]]:
    """Lower the kernel that the arguments name, on the given values or on random ones."""
    options = default_options()
    text = find_text(args.file)
    if text is not None and is_nest(text):
        args.wrong_usage("a loop nest has no passes to show; use weft dump")
    source = find_source(args.file, args.kernel, options, text=text)
    usual = SIZES.get(max((len(p.type.dims or ()) for p in source.declared), default=1), SIZE)
    sizes = dict(args.size)
    _check_names(sizes, source.name, source.declared)
    given = {p.name: _generated(p, sizes, usual) for p in source.declared} | dict(args.arg)
    values = arguments(source, given, seed=0)
    return CallableKernel(source, registry, options).lower(*values), values


def _check_names(sizes: Mapping[str, int], kernel: str, parameters: Sequence[Parameter]) -> None:
    """Refuse the size of a dimension that no parameter has."""
    known = list(dict.fromkeys(name for p in parameters for name in p.type.names))
    for name in sizes:
        if name not in known:
            hint = nearest(name, known) or (f"it has {', '.join(known)}" if known else None)
            raise UnknownName(f"{kernel} has no dimension '{name}'", hint=hint)


def _generated(param: Parameter, sizes: Mapping[str, int], usual: int) -> str:
    """Return the text of an argument for a parameter: random numbers between 0 and 1, or ones."""
    declared = param.type
    if declared.dims is None:
        return "1"
    shape = ",".join(
        str(d if isinstance(d, int) else sizes.get(str(d), 4 if d is ... else usual)) for d in declared.dims
    )
    fractions = declared.name in ("float", "number", "any", "f16", "bf16", "f32", "f64", "c64", "c128", "complex")
    return f"rand({shape})" if fractions else f"ones({shape})"


def _size(text: str) -> tuple[str, int]:
    name, equals, number = text.partition("=")
    if not equals or not number.strip().isdecimal():
        raise argparse.ArgumentTypeError(f"must be a dimension's name and a number such as n=1000, not '{text}'")
    return name.strip(), int(number)
