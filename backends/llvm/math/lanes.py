"""Apply a function of scalars to every lane of a vector."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..code.text import Emitter, Val


def each_lane(e: Emitter, x: Val, function: Callable[[Val], Val]) -> Val:
    """Apply `function` to every lane in a loop: little code for long computations that are rarely needed."""
    return each_lane_all(e, x, lambda lane: [function(lane)], [x.elem])[0]


def each_lane_all(e: Emitter, x: Val, function: Callable[[Val], Sequence[Val]], elems: Sequence[str]) -> Sequence[Val]:
    """`each_lane` for a function with several results, of the element types `elems`."""
    if not x.lanes:
        return function(x)
    before, head, done = e.block, e.label("lane"), e.label("lanes_done")
    lane, totals = Val(e.name(), "i64", 0), [Val(e.name(), elem, x.lanes) for elem in elems]
    e.br(head)
    e.place(head)
    phis = len(e.lines)
    results = function(e.emit(f"extractelement {x.typed}, {lane.typed}", x.elem, 0))
    updated = [
        e.emit(f"insertelement {total.typed}, {result.typed}, {lane.typed}", total.elem, x.lanes)
        for total, result in zip(totals, results, strict=True)
    ]
    following = e.op("add", lane, e.const("i64", 1))
    e.cbr(e.icmp("ult", following, e.const("i64", x.lanes)), head, done)
    e.lines[phis:phis] = [
        f"  {lane.text} = phi i64 [ 0, %{before} ], [ {following.text}, %{e.block} ]",
        *(
            f"  {total.text} = phi {total.type} [ poison, %{before} ], [ {new.text}, %{e.block} ]"
            for total, new in zip(totals, updated, strict=True)
        ),
    ]
    e.place(done)
    return updated
