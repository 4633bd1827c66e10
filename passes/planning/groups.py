"""Decide which values of a flat graph one loop nest computes: the decisions of `fuse`.

A group iterates over a space; some axes may be reduced, or scans may run along one. Its members are the values that the
loops must produce: reductions, scans, and values that have to be in memory. Everything else is computed at the index
where it is needed, by following operands from the members. If that meets a member of the same group at the index of the
current iteration, it stays inside the group; any other read of a member goes through memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.accesses import home_index
from ...ir.dims import LOOP, Size, symbol
from ...ir.graph import Graph, Node, Value
from ...ir.indexing import Index, is_affine, loop_variables, operand_elements
from ...ir.ops import CONCATENATE, GATHER, IMAG, REAL, SCAN, Trait
from ...ir.types import integer, ints
from .factors import is_product, kept_factors, product_loops, row_space
from .sizes import size_makers, used_symbols

ANYWHERE = symbol(f"{LOOP}anywhere")  # an index that only the call knows
MOST_TOTALS = 12  # reductions of one group: their totals need registers, and compile time grows with the square
MAX_COPIES = 4  # a cheap value may be computed at this many different indices before it is kept in memory


class Group:
    """One future kernel: its iteration space, the axes reduced and scanned in it, and its members in order."""

    def __init__(self, space: tuple[Size, ...], reduced: tuple[int, ...], scanned: tuple[int, ...] = ()) -> None:
        self.space, self.reduced, self.scanned = space, reduced, scanned
        self.members: list[Value] = []
        self.reads: set[Value] = set()
        self.feeds_on: set[Group] = set()

    def home(self, value: Value) -> Index | None:
        """The index at which an iteration of this group computes `value`, if its shape fits."""
        return home_index(self.space, self.reduced, value.type.shape)

    def needs(self) -> set[Group]:
        """Every group that must have run before this one."""
        found, pending = set[Group](), list(self.feeds_on)
        while pending:
            group = pending.pop()
            if group not in found:
                found.add(group)
                pending += group.feeds_on
        return found


def is_inline(node: Node) -> bool:
    """Whether a node can be computed at any index from its operands."""
    if Trait.ELEMENTWISE in node.op.traits or node.op is GATHER:
        return True
    return Trait.VIEW in node.op.traits and is_affine(node)


def is_reduction(value: Value) -> bool:
    return value.node is not None and Trait.REDUCTION in value.node.op.traits


def is_window(node: Node) -> bool:
    """Whether a node is only a view of memory."""
    return node.op in (REAL, IMAG) or (Trait.VIEW in node.op.traits and is_affine(node))


def looked_up(node: Node) -> Value | None:
    """The operand that a `gather` needs in memory, unless it is already a view of memory."""
    if node.op is not GATHER:
        return None
    root = _behind(node.operands[0])
    return node.operands[0] if root.node is not None and is_inline(root.node) else None


def _behind(value: Value) -> Value:
    """Return the value that a view is a view of."""
    while value.node is not None and is_window(value.node):
        value = value.node.operands[0]
    return value


def is_scan(value: Value) -> bool:
    return value.node is not None and value.node.op is SCAN


def stands_alone(node: Node) -> bool:
    """Whether a node runs outside of loops, on arrays in memory."""
    return not (is_inline(node) or is_reduction(node.result) or is_scan(node.result) or is_product(node.result))


class Grouping:
    """Places every value that loops must produce into a group."""

    def __init__(self, graph: Graph, mixed: bool = True) -> None:
        self.graph, self.mixed = graph, mixed
        self.kept: set[Value] = set(graph.outputs)
        for node in graph:
            if stands_alone(node):
                self.kept.update(node.operands)
            if (source := looked_up(node)) is not None:
                self.kept.add(source)
            self.kept |= kept_factors(node, is_inline)
        self.kept |= _siblings(self.kept)
        self.makers = size_makers(graph)
        self.wholes = {v: n for n in graph if n.op is CONCATENATE for v in n.operands}
        self.groups: list[Group] = []
        self.group_of: dict[Value, Group] = {}
        self.notes: list[str] = []
        self.refusals: dict[tuple[Value, Group], str] = {}
        while True:
            self.place_all()
            again = self.computed_too_often()
            if not again:
                break
            self.kept |= _siblings(again)

    def is_member(self, value: Value) -> bool:
        node = value.node
        if is_reduction(value) or is_scan(value) or is_product(value):
            return True
        return node is not None and is_inline(node) and value in self.kept

    def place_all(self) -> None:
        self.groups, self.group_of, self.notes = [], {}, []
        self.refusals = {}
        self.visits: dict[Value, set[tuple[Group, Index]]] = {}
        for node in self.graph:
            for value in node.results:
                if self.is_member(value):
                    self.place(value)
        for value in self.graph.outputs:
            if value.node is None and value not in self.group_of and "carried" not in self.graph.attrs:
                self.copy_out(value)

    def place(self, value: Value) -> None:
        node = value.node
        assert node is not None
        reduced = ints(node.attrs, "axes") if is_reduction(value) else ()
        scanned = (integer(node.attrs, "axis"),) if is_scan(value) else ()
        shape = node.operands[0].type.shape if is_reduction(value) else value.type.shape
        if is_product(value):
            shape, reduced = product_loops(node)
        full = [g for g in self.groups if is_reduction(value) and sum(map(is_reduction, g.members)) >= MOST_TOTALS]
        for group in reversed(self.groups):
            if group in full or is_product(value):
                continue
            if self.try_join(value, group, shape, reduced, scanned):
                return
        if full:
            reason = f"one loop nest makes at most {MOST_TOTALS} reductions"
            self.notes.append(f"{_label(value)} is not fused with {_label(full[-1].members[-1])}: {reason}")
        group = Group(shape, reduced, scanned)
        self.groups.append(group)
        self.add(value, group, *self.walk(value, group))
        if is_product(value):
            for source in dict.fromkeys(self.group_of[v] for v in self.graph_order(group.reads) if v in self.group_of):
                self.refuse(value, source, "a product reads whole rows and columns, so its operands are made first")

    def copy_out(self, value: Value) -> None:
        """Copy an argument that is returned, so that results are always fresh arrays."""
        group = Group(value.type.shape, ())
        group.members.append(value)
        group.reads.add(value)
        self.groups.append(group)

    def try_join(
        self,
        value: Value,
        group: Group,
        shape: tuple[Size, ...],
        reduced: tuple[int, ...],
        scanned: tuple[int, ...],
    ) -> bool:
        """Add the value to the group if one loop nest can compute both; otherwise note why they stay apart."""
        space, merged = group.space, group.reduced or (reduced if shape == group.space else ())
        walked = group.scanned or (scanned if shape == group.space else ())
        of_product = is_product(group.members[0])
        if of_product and is_reduction(value) and row_space(group.members[0], shape, reduced):
            space, merged = shape, reduced
        trial = Group(space, merged, walked)
        trial.members = group.members
        own_index = trial.home(value)
        reads, visits = self.walk(value, trial)
        inside = {v for v in reads if self.group_of.get(v) is group}
        local = {v for v in inside if reads[v] == {trial.home(v)}}
        if not inside and not (group.reads & reads.keys()):
            return False
        reason = None
        is_row = own_index is not None and bool(inside) and not is_reduction(value) and not scanned
        if of_product and not inside:
            return False
        if not self.mixed and self.mixes(value, group):
            reason = "reductions are kept apart from products and scans"
        elif of_product and not is_row and (scanned or space != shape):
            reason = "a product is made in tiles, not row by row"
        elif shape != space and not is_row:
            reason = f"they iterate over different spaces, {_shape(space)} and {_shape(shape)}"
        elif reduced and merged != reduced:
            reason = f"they reduce different axes, {merged} and {reduced} of {_shape(space)}"
        elif (scanned and walked != scanned) or (walked and merged and walked != merged):
            reason = f"they walk along different axes of {_shape(space)}"
        elif inside != local or not inside.isdisjoint(_gathered(value, visits)):
            reason = "one needs elements of the other that a different iteration computes"
        elif any(group is s or group in s.needs() for v in reads.keys() - inside for s in self.sources_of(v)):
            reason = "a value between them must be computed in full first"
        if reason:
            self.refuse(value, group, reason)
            return False
        group.space, group.reduced, group.scanned = space, merged, walked
        self.add(value, group, reads, visits)
        return True

    def refuse(self, value: Value, group: Group, reason: str) -> None:
        """Note why a value is not computed in a group that it shares data with."""
        self.refusals[value, group] = reason
        self.notes.append(f"{_label(value)} is not fused with {_label(group.members[-1])}: {reason}")

    def mixes(self, value: Value, group: Group) -> bool:
        """Whether a reduction would meet a product or a scan."""
        members = (value, *group.members)
        return any(map(is_reduction, members)) and any(is_product(v) or is_scan(v) for v in members)

    def add(self, value: Value, group: Group, reads: dict[Value, set[Index]], visits: set[tuple[Value, Index]]) -> None:
        group.members.append(value)
        self.group_of[value] = group
        for leaf in reads:
            source = self.group_of.get(leaf)
            if source is not group:
                group.reads.add(leaf)
                group.feeds_on |= set(self.sources_of(leaf))
        for inner, index in visits:
            self.visits.setdefault(inner, set()).add((group, index))

    def graph_order(self, values: set[Value]) -> list[Value]:
        """Return values that nodes make, in the order of the graph."""
        return [v for node in self.graph for v in node.results if v in values]

    def sources_of(self, leaf: Value) -> Iterator[Group]:
        """The group that computes a value, or the groups that feed the node outside of loops that does."""
        pending, seen = [leaf], set[Value]()
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in self.group_of:
                yield self.group_of[value]
            elif value.node is not None:
                pending += value.node.operands

    def walk(self, value: Value, group: Group) -> tuple[dict[Value, set[Index]], set[tuple[Value, Index]]]:
        """Find what the group reads to compute `value`, and at which index, and the values inside that it computes."""
        reads: dict[Value, set[Index]] = {}
        visits: set[tuple[Value, Index]] = set()
        node = value.node
        assert node is not None
        self.read_sizes(node, reads)
        if is_reduction(value):
            pending = [(node.operands[0], loop_variables(node.operands[0].type.shape))]
        else:
            index = group.home(value) or loop_variables(value.type.shape)
            pending = operand_elements(node, index, ANYWHERE)
        while pending:
            inner, index = pending.pop()
            if (inner, index) in visits:
                continue
            if inner.node is None or self.is_member(inner) or not is_inline(inner.node):
                reads.setdefault(inner, set()).add(index)
                continue
            visits.add((inner, index))
            self.read_sizes(inner.node, reads)
            pending += operand_elements(inner.node, index, ANYWHERE)
        return reads, visits

    def read_sizes(self, node: Node, reads: dict[Value, set[Index]]) -> None:
        """Add the NumPy functions whose results define sizes that the group uses."""
        if not self.makers:
            return
        whole: Node | None = node
        while whole is not None:
            for name in used_symbols(whole) & self.makers.keys():
                reads.setdefault(self.makers[name], set())
            whole = self.wholes.get(whole.result)

    def computed_too_often(self) -> set[Value]:
        """Find values that would be recomputed too often: expensive ones at a second index, cheap ones at many."""
        found = set()
        for value, places in self.visits.items():
            node = value.node
            if node is None or not node.operands or not value.type.shape or Trait.VIEW in node.op.traits:
                continue
            if len(node.results) > 1:  # one computation gives them all
                places = set().union(*(self.visits.get(r, ()) for r in node.results))
            expensive = Trait.EXPENSIVE in node.op.traits
            per_group = max(sum(1 for g, _ in places if g is group) for group, _ in places)
            if (expensive and len(places) > 1) or per_group > MAX_COPIES:
                found.add(value)
        return found


def _gathered(value: Value, visits: set[tuple[Value, Index]]) -> set[Value]:
    """The values that must be in memory before this one is computed, because gathers on the way read them."""
    nodes = [v.node for v in (value, *(inner for inner, _ in visits))]
    return {_behind(n.operands[0]) for n in nodes if n is not None and n.op is GATHER}


def _siblings(values: set[Value]) -> set[Value]:
    """The values and the other results of the same nodes."""
    return values | {r for v in values if v.node is not None and len(v.node.results) > 1 for r in v.node.results}


def _label(value: Value) -> str:
    return f"{value.node.op.name if value.node else value.name}{_shape(value.type.shape)}"


def _shape(shape: tuple[Size, ...]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"
