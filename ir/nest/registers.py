"""Find the elements that an innermost loop loads and stores again and again, and that can stay in registers meanwhile.

In `a[i, j] -= a[i, k] * a[k, j]` in a loop over k, `a[i, j]` is such an element: the verifier's proofs show that no
other access of the loop meets it. It is loaded before the loop and stored after it.
"""

from __future__ import annotations

from ..dims import LOOP, Size, symbols
from ..graph import Graph, Node, Value
from ..ops import CONSTANT, DEMAND, SIZE, TABLE
from ..types import Guards
from . import ops
from .dependence import Meeting, meeting
from .scopes import MemoryAccess, accesses, places, variables

Element = tuple[Value, tuple[Size, ...]]  # the buffer that owns the memory, and the index in it
MAY_FAIL = (DEMAND, TABLE["power"])


def kept_elements(nest: Graph, loop: Node) -> dict[Element, Node]:
    """Return the elements that may stay in registers during a loop, each with one of its accesses."""
    assert loop.body is not None
    if loop.operands or not any(n.op is ops.STORE for n in loop.body) or not all(map(_is_plain, loop.body)):
        return {}
    inner = set(loop.body.nodes)
    own = [a for a in accesses(places(nest)) if a.place.node in inner]
    moving = LOOP + variables(loop)[0].name
    plain = [a for a in own if a.collapsed is None and a.buffer.type.dtype.kind != "complex"]
    fixed = [a for a in plain if not any(moving in symbols(i) for i in a.at)]
    stored = {(a.buffer, a.at): a for a in fixed if a.is_store}
    found = {}
    for element, access in stored.items():
        others = [a for a in own if a.buffer is access.buffer and a.at != access.at]
        is_loaded = any((a.buffer, a.at) == element and not a.is_store for a in own)
        if is_loaded and all(_never_meet(nest, loop, other, access) for other in others):
            found[element] = access.place.node
    return found


def _is_plain(node: Node) -> bool:
    """Tell whether a node can neither fail nor loop."""
    return node.op in (ops.LOAD, ops.STORE, CONSTANT, SIZE) or (
        node.body is None and node.op not in ops.OPS and node.op not in MAY_FAIL
    )


def _never_meet(nest: Graph, loop: Node, other: MemoryAccess, access: MemoryAccess) -> bool:
    guards = nest.attrs.get("guards", Guards())
    assert isinstance(guards, Guards)
    facts = [size for a, b in guards for size in (a - b, b - a)]
    return meeting(nest, loop, variables(loop)[0].name, other, access, facts) is Meeting.NEVER
