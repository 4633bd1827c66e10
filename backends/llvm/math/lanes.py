"""A vector and a function of scalars in, a vector of results out."""

from __future__ import annotations

from collections.abc import Callable

from ..text import Emitter, Val


def each_lane(e: Emitter, x: Val, function: Callable[[Val], Val]) -> Val:
    """`function` of every lane, by a loop: little code for long computations that are rarely needed."""
    if not x.lanes:
        return function(x)
    before, head, done = e.block, e.label("lane"), e.label("lanes_done")
    lane, total = Val(e.name(), "i64", 0), Val(e.name(), x.elem, x.lanes)
    e.br(head)
    e.place(head)
    phis = len(e.lines)
    result = function(e.emit(f"extractelement {x.typed}, {lane.typed}", x.elem, 0))
    updated = e.emit(f"insertelement {total.typed}, {result.typed}, {lane.typed}", x.elem, x.lanes)
    following = e.op("add", lane, e.const("i64", 1))
    e.cbr(e.icmp("ult", following, e.const("i64", x.lanes)), head, done)
    e.lines[phis:phis] = [
        f"  {lane.text} = phi i64 [ 0, %{before} ], [ {following.text}, %{e.block} ]",
        f"  {total.text} = phi {total.type} [ poison, %{before} ], [ {updated.text}, %{e.block} ]",
    ]
    e.place(done)
    return updated
