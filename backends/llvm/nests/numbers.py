"""Compute sizes over loop variables, and addresses in buffers.

A variable along the lanes of a vector stands for one number per lane. Sizes that do not depend on a loop are computed
in the function's entry. The terms of an address are added from the outermost loop to the innermost one, so that LLVM
can hoist each term.
"""

from __future__ import annotations

from ....ir import dims
from ....ir.accesses import coefficient_of
from ....ir.dims import LOOP, Atom, Dim, Monomial, Size
from ....ir.types import Guards
from ..code.frame import folded
from ..code.text import Val
from .function import NestFunction
from .points import Point


def number(f: NestFunction, size: Size, point: Point) -> Val:
    """Return a size at a point: a scalar, or a vector if it differs from lane to lane."""
    if not _loops(size):
        return f.frame.size(size)
    total: Val | None = None
    for _, part in _by_depth(size, point):
        found = _sum(f, part, point)
        total = found if total is None else plus(f, total, found)
    assert total is not None
    return total


def scalar(f: NestFunction, size: Size, point: Point) -> Val:
    """A size at the first lane of a point's vectors."""
    name = point.vector
    point.vector = None
    try:
        return number(f, size, point)
    finally:
        point.vector = name


def time_of(f: NestFunction, cost: Size, point: Point) -> Val:
    """Return a time as a number, without the parts that depend on inner loops or on data."""
    unknown = [name for name in dims.symbols(cost) if name.startswith(LOOP) and name not in point.env]
    return scalar(f, dims.substitute(cost, dict.fromkeys(unknown, 1)), point)


def moved(f: NestFunction, base: Val, offset: Size, point: Point) -> Val:
    """Add a number of bytes to an address, for the first lane. The constant is added last, because instructions have an
    offset for it."""
    name, e = point.vector, f.e
    point.vector = None
    for _, part in _by_depth(offset, point):
        amount = part if isinstance(part, int) else _sum(f, part, point)
        if amount == 0:
            continue
        amount = e.const("i64", amount) if isinstance(amount, int) else amount
        base = e.emit(f"getelementptr i8, ptr {base.text}, i64 {amount.text}", "ptr", 0)
    point.vector = name
    return base


def stride_of(offset: Size, point: Point) -> Size | None:
    """Return by how many bytes an address moves from lane to lane, or None if no size says it."""
    names = {name for name in dims.symbols(offset) if point.varies((name,))}
    if not names:
        return 0
    own = f"{LOOP}{point.vector}"
    if names != {own}:
        return None
    stride = coefficient_of(offset, own)
    rest = offset - stride * dims.symbol(own)
    return None if own in dims.symbols(rest) or _loops(stride) else stride


def holds(f: NestFunction, guards: Guards, point: Point) -> Val:
    """Whether all of some guards hold."""
    total = f.e.const("i1", 1)
    for a, b in guards:
        total = f.e.op("and", total, f.e.icmp("eq", scalar(f, a, point), scalar(f, b, point)))
    return total


def lane_numbers(f: NestFunction, width: int) -> Val:
    return f.e.lanes_of("i64", list(range(width)))


def plus(f: NestFunction, a: Val, b: Val) -> Val:
    if a.text == "0":
        return b
    return a if b.text == "0" else _both(f, "add", a, b)


def times(f: NestFunction, a: Val, b: Val) -> Val:
    if a.text == "1":
        return b
    return a if b.text == "1" else _both(f, "mul", a, b)


def _both(f: NestFunction, opcode: str, a: Val, b: Val) -> Val:
    lanes = max(a.lanes, b.lanes)
    return f.e.op(opcode, f.e.splat(a, lanes), f.e.splat(b, lanes))


def _loops(size: Size) -> list[str]:
    return [name for name in dims.symbols(size) if name.startswith(LOOP)]


def _by_depth(size: Size, point: Point) -> list[tuple[int, Size]]:
    """Split a size into terms by their innermost variable, outermost first; the constant is last."""
    places = {name: k for k, name in enumerate(point.env)}
    parts: dict[int, dict[Monomial, int]] = {}
    for monomial, factor in dims.terms_of(size):
        names = _loops(Dim(((monomial, 1),))) if monomial else []
        depth = max((places[name] for name in names), default=-1) if monomial else len(places)
        parts.setdefault(depth, {})[monomial] = factor
    return [(depth, _plain(parts[depth])) for depth in sorted(parts)]


def _plain(terms: dict[Monomial, int]) -> Size:
    """Add terms as they are, because `from_terms` would move them into a `min`."""
    return terms[()] if list(terms) == [()] else Dim(tuple(terms.items()))


def _sum(f: NestFunction, size: Size, point: Point) -> Val:
    if not _loops(size):
        return f.frame.size(size)
    total = f.e.const("i64", 0)
    for monomial, factor in dims.terms_of(size):
        fixed = tuple(a for a in monomial if not _loops(dims.of_atom(a)))
        term = f.frame.size(Dim(((fixed, factor),)) if fixed else factor)
        for atom in monomial:
            if atom not in fixed:
                term = times(f, _atom(f, atom, point), term)
        total = plus(f, total, term)
    return total


def _atom(f: NestFunction, atom: Atom, point: Point) -> Val:
    e = f.e
    if not atom.args:
        own = point.env[atom.name]
        if atom.name != f"{LOOP}{point.vector}":
            return own
        return e.op("add nsw", e.splat(own, point.width), lane_numbers(f, point.width))
    values = [number(f, a, point) for a in atom.args]
    lanes = max(v.lanes for v in values)
    return folded(e, atom.name, [e.splat(v, lanes) for v in values])
