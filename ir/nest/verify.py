"""Check that a nest is well-formed, stays inside its buffers, and may run its loops as their kinds say.

Everything here is proved for all sizes, from the ranges of loops and the guards of the nest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from ..accesses import coefficient_of
from ..dims import LOOP, Size, maximum, substitute, symbols
from ..errors import Span, VerifyProblem, quantity
from ..functions import called_problem
from ..graph import Graph, Node, Value
from ..layouts import CLASSES, GENERAL, SCALAR, C, byte_strides
from ..limits import limiter
from ..proofs import follows
from ..schemas import AttributeProblem, parse_schema, schema_problem
from ..text.places import Places
from ..types import Guards, Sizes, axis_groups, integer, sizes, texts
from ..verifier.sizes import argument_problem, guard_problem
from .dependence import dependence_problem
from .ops import ASSIGN, GRAPHS, KERNEL, LOAD, LOOPS, SCAN, STORE, VIEW
from .rules import node_problem, uses
from .scopes import (
    Location,
    LoopVariable,
    MemoryAccess,
    accesses,
    base,
    bound_before,
    has_loop_inside,
    places,
    variables,
)

MOST_SHARED = 2
FAR = 1 << 40  # more than any index


def verify_nest(nest: Graph, where: Places | None = None, guards_ends: bool = False) -> Guards:
    """Raises a `VerifyProblem` at the first mistake.

    Returns the guards that the nest needs in addition: `max(0, n - 1) == n - 1` if it reads row 0 of n. If an index
    can't be proved to be inside its buffer, `guards_ends` asks for guards on its smallest and largest value.
    """
    verifier = _NestVerifier(nest, where, guards_ends)
    verifier.run()
    return Guards((maximum(0, size), size) for size in verifier.needed)


class _NestVerifier:
    def __init__(self, nest: Graph, where: Places | None, guards_ends: bool) -> None:
        self.nest = nest
        self.guards_ends = guards_ends
        self.where = where
        self.places = places(nest)
        guards = nest.attrs.get("guards", ())
        equal = guards if isinstance(guards, Guards) else ()
        self.facts: list[Size] = [size for a, b in equal for size in ((b,) if a == maximum(0, b) else (a - b, b - a))]
        self.needed: list[Size] = []

    def run(self) -> None:
        self.kernel()
        self.values(self.nest, set())
        for place in self.places:
            limiter.check_time(place.node.span)
            self.node(place)
        found = accesses(self.places)
        for access in found:
            limiter.check_time(access.place.node.span)
            self.bounds(access)
        for place in self.places:
            if place.node.op is VIEW:
                self.view(place)
        access_of = self.access_of()
        for access in found:
            self.may(access, access_of)
        for place in self.places:
            if place.node.op in LOOPS:
                inner = [a for a in found if place.node in a.place.around]
                if problem := dependence_problem(self.nest, place.node, inner, self.facts):
                    raise self.fail(place.node, problem)

    def fail(self, what: Node | Value | Graph, problem: str | AttributeProblem) -> VerifyProblem:
        place: Span | None = what.span if isinstance(what, Node) else None
        if self.where is not None:
            place = self.where.of_problem(what, problem) or place
        name = what.op.name if isinstance(what, Node) else self.nest.name
        return VerifyProblem(f"{name}: {problem if isinstance(problem, str) else problem.message}", place)

    def kernel(self) -> None:
        if wrong := schema_problem(parse_schema(KERNEL), self.nest.attrs):
            raise self.fail(self.nest, wrong)
        for name in ("access", "layouts"):
            given = self.nest.attrs.get(name, self.nest.inputs)
            if isinstance(given, tuple) and len(given) != len(self.nest.inputs):
                entries, buffers = quantity(len(given), "entry", "entries"), quantity(len(self.nest.inputs), "buffer")
                raise self.fail(self.nest, AttributeProblem(name, f"'{name}' has {entries} for {buffers}"))
        if wrong := called_problem(self.nest, texts(self.nest.attrs, "called")):
            raise self.fail(self.nest, wrong)
        guards = self.nest.attrs.get("guards")
        if isinstance(guards, Guards) and (wrong := guard_problem(guards)):
            raise self.fail(self.nest, wrong)
        layouts = texts(self.nest.attrs, "layouts") if "layouts" in self.nest.attrs else ()
        for value, layout in zip(self.nest.inputs, layouts, strict=False):
            if layout == SCALAR and value.type.rank:
                message = (
                    f"%{value.name} has {quantity(value.type.rank, 'dimension')}, so its layout can't be '{SCALAR}'"
                )
                raise self.fail(self.nest, AttributeProblem("layouts", message))
        if self.nest.outputs or any(v.type.kind != "memref" for v in self.nest.inputs):
            raise self.fail(self.nest, "must take buffers and return nothing")
        for value in self.nest.inputs:
            if problem := argument_problem(value):
                raise self.fail(value, problem)

    def values(self, graph: Graph, visible: set[Value]) -> None:
        """Check that every value is computed before it is used, in this body or around it."""
        visible = visible | set(graph.inputs)
        for node in graph:
            for i, value in enumerate(node.operands):
                if value not in visible:
                    raise self.fail(node, f"operand {i} is used before it is computed")
            if node.body is not None and node.op not in GRAPHS:
                self.values(node.body, visible)
            visible.update(node.results)
        if any(value not in visible for value in graph.outputs):
            raise self.fail(self.nest, "a body returns a value that is not in scope")

    def node(self, place: Location) -> None:
        node = place.node
        if problem := node_problem(node) or self.line_problem(node):
            raise self.fail(node, problem)
        known = self.variables(place)
        taken = {v.name for v in known}
        for variable in variables(node):
            if variable.name in taken:
                raise self.fail(node, f"@{variable.name} is already the variable of a loop around it")
            if not variable.name.isidentifier():
                raise self.fail(node, f"'{variable.name}' is not a valid name of a variable")
            self.in_scope(node, symbols(variable.first) | symbols(variable.end), taken)
            if not follows(variable.first, self.known(place)):
                raise self.fail(node, f"can't show that {variable} begins at 0 or later")
            taken.add(variable.name)
        if node.op is VIEW and "vars" in node.attrs:
            names = node.attrs["vars"]
            taken |= set(map(str, names if isinstance(names, tuple) else ()))
        self.in_scope(node, uses(node), taken)
        if node.attrs.get("shared"):
            self.shared(place)
        if node.op is SCAN:
            self.scan(place)
        if node.op is ASSIGN:
            self.assign(place)

    def in_scope(self, node: Node, names: Iterable[str], variables: set[str]) -> None:
        """Check that these names are variables of loops that are known here."""
        for name in sorted(names):
            if name.startswith(LOOP) and name[len(LOOP) :] not in variables:
                raise self.fail(node, f"no loop around it has the variable {name}")

    def line_problem(self, node: Node) -> AttributeProblem | None:
        """Describe a loop that is aligned to the cache lines of a buffer that does not exist."""
        if node.op in LOOPS and "line" in node.attrs and integer(node.attrs, "line") >= len(self.nest.inputs):
            buffers = quantity(len(self.nest.inputs), "buffer")
            return AttributeProblem("line", f"the nest has {buffers}, so 'line' can't be {node.attrs['line']}")
        return None

    def shared(self, place: Location) -> None:
        """Checks that shared loops are the outermost, at most two, with nothing between them."""
        outer = [n for n in place.around if n.attrs.get("shared")]
        if len(outer) >= MOST_SHARED:
            raise self.fail(place.node, f"at most {MOST_SHARED} shared loops can be nested")
        if outer and (place.around[-1] is not outer[-1] or len(outer[-1].body or ()) != 1):
            raise self.fail(place.node, "must be the only node in the shared loop around it")

    def assign(self, place: Location) -> None:
        """Checks that an assignment runs once for each step, and writes only what may be written."""
        for loop in place.around:
            if loop.op in LOOPS and (loop.attrs.get("kind", "serial") != "serial" or loop.attrs.get("shared")):
                raise self.fail(place.node, "can only be inside serial loops")
        writes = integer(place.node.attrs, "writes")
        for value in place.node.operands[len(place.node.operands) - writes :]:
            buffer, _ = base(value, (0,) * value.type.rank)
            if self.access_of().get(buffer) == "read":
                raise self.fail(place.node, f"stores to %{buffer.name}, which the nest only reads")

    def scan(self, place: Location) -> None:
        """Check that a running value goes along the innermost loop, and that its steps run in order."""
        name = str(place.node.attrs["var"])
        loops = list(place.loops)
        while loops and all(v.name != name for v in variables(loops[0])):
            loops.pop(0)
        if not loops:
            raise self.fail(place.node, f"no loop around it has the variable @{name}")
        for loop in loops:
            kind = "flat" if loop.attrs.get("flat") else loop.attrs.get("kind")
            if loop.attrs.get("shared") or kind in ("flat", "jammed") or (kind == "vector" and has_loop_inside(loop)):
                own = variables(loop)[0].name
                how = "shared between threads" if loop.attrs.get("shared") else f"a {kind} loop"
                raise self.fail(place.node, f"runs along @{name} in order, but the loop over @{own} is {how}")
        if loops[1:]:
            inner = next((f"the loop over @{v.name}" for v in variables(loops[1])), "a `nest.while`")
            raise self.fail(place.node, f"runs along @{name}, but {inner} is between")

    def variables(self, place: Location) -> list[LoopVariable]:
        around = [v for n in place.around for v in variables(n)]
        return [*around, *bound_before(place, self.nest)]

    def known(self, place: Location) -> list[Size]:
        return [*(fact for v in self.variables(place) for fact in v.facts), *self.facts]  # proofs use the first ones

    def bounds(self, access: MemoryAccess) -> None:
        node = access.place.node
        around = self.variables(access.place) if self.guards_ends else []
        self.inside(node, sizes(node.attrs, "at"), node.operands[-1], self.known(access.place), around)

    def inside(
        self, node: Node, at: Sizes, buffer: Value, known: Sequence[Size], around: Sequence[LoopVariable] = ()
    ) -> None:
        """Checks an index; `around` are the variables whose ends may be guarded."""
        for axis, (index, size) in enumerate(zip(at, buffer.type.shape, strict=True)):
            named = f"index {index} of axis {axis} of %{buffer.name or 'memory'}"
            least, most = ("at least 0", "always negative"), (f"below {size}", f"never below {size}")
            for room, (wanted, never) in ((index, least), (size - 1 - index, most)):
                if follows(room, [*known, *self.needed]):
                    continue
                if follows(-1 - room, known):
                    raise self.fail(node, f"{named} is {never}")
                if not self.guard(room) and not self.guard_least(room, around):
                    raise self.fail(node, f"can't show that {named} is {wanted}")

    def guard(self, size: Size) -> bool:
        """Add the guard that a size is at least 0 if it depends only on the sizes of a call; tell whether it does."""
        if isinstance(size, int) or any(name.startswith(LOOP) for name in size.symbols):
            return False
        self.needed.append(size)
        return True

    def guard_least(self, size: Size, around: Sequence[LoopVariable]) -> bool:
        """Add the guard that the least value of a size is at least 0, unless a loop around it has no steps."""
        unless: Size = 0
        for variable in reversed(around):
            factor = coefficient_of(size, LOOP + variable.name)
            if not isinstance(factor, int):
                return False
            if factor:
                end = variable.first if factor > 0 else variable.end - 1
                size = substitute(size, {LOOP + variable.name: end})
                unless = unless + maximum(0, 1 - variable.end + variable.first) * FAR
        if isinstance(size, int) or any(name.startswith(LOOP) for name in symbols(size) | symbols(unless)):
            return False
        self.needed.append(size + unless)
        return True

    def view(self, place: Location) -> None:
        """Checks that a view stays inside its buffer, and that the axes that it collapses are contiguous."""
        node = place.node
        if "collapse" in node.attrs:
            self.collapsed(node)
            return
        names = node.attrs["vars"]
        assert isinstance(names, tuple)
        own = [LoopVariable(str(n), 0, s) for n, s in zip(names, node.results[0].type.shape, strict=True)]
        known = [*self.known(place), *(fact for v in own for fact in v.facts)]
        self.inside(node, sizes(node.attrs, "at"), node.operands[0], known)

    def collapsed(self, node: Node) -> None:
        buffer = node.operands[0]
        if buffer.node is not None and buffer.node.op is VIEW:
            raise self.fail(node, "can only collapse axes of a buffer, not of a view")
        layouts = self.nest.attrs.get("layouts") or (C,) * len(self.nest.inputs)
        assert isinstance(layouts, tuple)
        layout = str(layouts[self.nest.inputs.index(buffer)]) if buffer in self.nest.inputs else C
        strides = byte_strides(layout if layout in CLASSES else GENERAL, buffer.type.shape, 1, "b")
        for group in axis_groups(node.attrs, "collapse"):
            real = [axis for axis in group if buffer.type.shape[axis] != 1]
            for outer, inner in pairwise(real):
                if strides[outer] != strides[inner] * buffer.type.shape[inner]:
                    raise self.fail(node, f"axes {outer} and {inner} of %{buffer.name} are not contiguous")

    def access_of(self) -> Mapping[Value, str]:
        given = self.nest.attrs["access"]
        assert isinstance(given, tuple)
        return dict(zip(self.nest.inputs, map(str, given), strict=True))

    def may(self, access: MemoryAccess, access_of: Mapping[Value, str]) -> None:
        node, buffer = access.place.node, access.buffer
        if node.op is STORE and access_of.get(buffer) == "read":
            raise self.fail(node, f"stores to %{buffer.name}, which the nest only reads")
        if node.op is LOAD and access_of.get(buffer) == "write" and not self.is_written_before(access):
            raise self.fail(node, f"loads from %{buffer.name} before any store to it, but its access is write")

    def is_written_before(self, access: MemoryAccess) -> bool:
        """Whether a store to the buffer precedes the load."""
        before = [p for p in self.places if p.order < access.place.order]
        assigned = [v for p in before if p.node.op is ASSIGN for v in p.node.operands]
        stored = [p.node.operands[-1] for p in before if p.node.op is STORE]
        return any(base(v, (0,) * v.type.rank)[0] is access.buffer for v in (*assigned, *stored))
