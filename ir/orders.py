"""Choose the axis order of each output's memory as NumPy would, from the strides of the inputs.

NumPy's ufuncs keep the order of their operands: they sort the axes of a result by the operands' strides, and use C
order if operands disagree. This module repeats that op by op, using only strides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from . import dims
from .graph import Graph, Node, Value
from .layouts import GENERAL, C, classify
from .ops import (
    BROADCAST,
    CONCATENATE,
    DIAGONAL,
    GATHER,
    MATMUL,
    NUMPY,
    POSITIONS,
    RESHAPE,
    SCAN,
    SLICE,
    TRANSPOSE,
    Trait,
)
from .records import record
from .types import Guards, ints

Strides = tuple[int, ...]
_REORDERING = (TRANSPOSE, SLICE, DIAGONAL, BROADCAST, GATHER, NUMPY)  # whose results may have another order than C
LONGER = 5040  # times what a size is: a multiple of every small number


def output_orders(
    graph: Graph,
    shapes: Sequence[tuple[int, ...]],
    strides: Sequence[Strides],
    env: Mapping[str, int],
    calls: Mapping[int, Sequence[Strides]] | None = None,
    least: int = 0,
) -> tuple[tuple[int, ...], ...]:
    """Return each output's axes from outermost to innermost in memory.

    `calls` has the strides of NumPy functions' results, by call number; others are assumed to be in C order. Symbolic
    sizes count as at least `least`.
    """
    known = _walked(graph, shapes, strides, _Sizes(env, least=least), calls or {})
    return tuple(_copied(*known[v]) for v in graph.outputs)


def operand_orders(
    graph: Graph,
    shapes: Sequence[tuple[int, ...]],
    strides: Sequence[Strides],
    env: Mapping[str, int],
    calls: Mapping[int, Sequence[Strides]],
    number: int,
) -> tuple[tuple[int, ...], ...]:
    """Return the memory order of each operand of a NumPy call, as `output_orders` does for outputs."""
    node = next((n for n in graph if n.op is NUMPY and n.attrs.get("call") == number), None)
    if node is None:
        return ()
    known = _walked(graph, shapes, strides, _Sizes(env), calls, node)
    return tuple(_copied(*known[v]) for v in node.operands)


def _walked(
    graph: Graph,
    shapes: Sequence[tuple[int, ...]],
    strides: Sequence[Strides],
    sizes: _Sizes,
    calls: Mapping[int, Sequence[Strides]],
    last: Node | None = None,
) -> dict[Value, tuple[tuple[int, ...], Strides]]:
    """Compute the shape and the strides of each value, up to a node."""
    known: dict[Value, tuple[tuple[int, ...], Strides]] = {
        value: (shape, _steps(shape, _in_elements(value, stride)))
        for value, shape, stride in zip(graph.inputs, shapes, strides, strict=True)
    }
    for node in graph:
        if node is last:
            break
        for k, result in enumerate(node.results):
            shape = sizes.of(result)
            call = node.attrs.get("call")
            if node.op is NUMPY and isinstance(call, int) and call in calls:
                known[result] = (shape, _steps(shape, _in_elements(result, calls[call][k])))
            else:
                known[result] = (shape, _strides(node, shape, [known[v] for v in node.operands]))
    return known


def usual_orders(
    graph: Graph, shapes: Sequence[tuple[int, ...]], strides: Sequence[Strides], env: Mapping[str, int]
) -> tuple[tuple[int, ...], ...]:
    """Return the orders to expect for similar calls; empty arrays count as non-empty ones in C order.

    Axes may be longer in the next call, so every array is treated as if it were many times longer and had no gaps. In
    `a[:, ::2]` of two columns, a step along a row is as long as the step to the next row; in longer rows it is shorter.
    Wherever a size can be reshaped, multiples of it can, too.
    """
    if _stay_in_c(graph, shapes, strides):
        return tuple(tuple(range(v.type.rank)) for v in graph.outputs)
    wides, steps, wider = _widened(graph, shapes, strides, env)
    usual = output_orders(graph, wides, steps, wider, least=2)
    actual = output_orders(graph, shapes, strides, env)
    return usual if agree(graph, env, usual, actual) else actual


def _widened(
    graph: Graph, shapes: Sequence[tuple[int, ...]], strides: Sequence[Strides], env: Mapping[str, int]
) -> tuple[list[tuple[int, ...]], list[Strides], dict[str, int]]:
    """Return shapes, strides and sizes of arrays in the same orders that are many times longer and have no gaps."""
    wider = {name: LONGER * (n or 1) for name, n in env.items()}
    wides = [_Sizes(wider, least=2).of(value) for value in graph.inputs]
    steps = [
        tuple(k * value.type.dtype.size for k in dense(wide, memory_order(shape, s)))
        for value, wide, shape, s in zip(graph.inputs, wides, shapes, strides, strict=True)
    ]
    return wides, steps, wider


def order_guards(
    graph: Graph,
    shapes: Sequence[tuple[int, ...]],
    strides: Sequence[Strides],
    env: Mapping[str, int],
    orders: Sequence[tuple[int, ...]],
) -> Guards:
    """Return guards on computed sizes without which the results might not have these orders.

    An axis of size 1 does not take part in sorting. The signature says which axes of arguments have size 1, but not
    which computed sizes are 1, such as those of `a[:, ::3]`.
    """
    if all(v.type.rank < 2 for v in graph.outputs):
        return Guards()
    if _stay_in_c(graph, shapes, strides) and all(order == tuple(range(len(order))) for order in orders):
        return Guards()
    given = {s for v in graph.inputs for s in v.type.shape}
    made = dict.fromkeys(s for n in graph for v in n.results if v.type.rank > 1 for s in v.type.shape)
    sizes = {s: dims.evaluate(s, env) for s in made if s not in given and dims.symbols(s) and _is_known(s, env)}
    actual = {s for s, n in sizes.items() if n == 1}
    wide = _widened(graph, shapes, strides, env)
    for ones in (actual, set(), *({s} for s in sizes), set(sizes)):
        for shape, steps, numbers in ((shapes, strides, env), wide):
            set_to = {s: 1 if s in ones else max(2, dims.evaluate(s, numbers)) for s in sizes}
            known = _walked(graph, shape, steps, _Sizes(numbers, set_to), {})
            found = [_copied(*known[v]) for v in graph.outputs]
            if not _look_alike([known[v][0] for v in graph.outputs], found, orders):
                return Guards((dims.minimum(2, s), min(2, n)) for s, n in sizes.items())
    return Guards()


def _stay_in_c(graph: Graph, shapes: Sequence[tuple[int, ...]], strides: Sequence[Strides]) -> bool:
    """Tell whether all values are in C order at any size: no argument has another order, and no op changes it."""
    if any(node.op in _REORDERING for node in graph):
        return False
    return all(
        all(shape) and (len(shape) < 2 or classify(shape, own, value.type.dtype.size) == C)
        for value, shape, own in zip(graph.inputs, shapes, strides, strict=True)
    )


def follow_from_signature(graph: Graph, layouts: Sequence[str]) -> bool:
    """Tell whether the orders of results are the same in all calls with these layout classes that fit the guards.

    If memory is not in C order, sizes decide whether a reshape is a view. A slice with a step can move an axis past
    another if the strides are not those of a dense array.
    """
    if all(v.type.rank < 2 for v in graph.outputs):
        return True
    in_c = {v for v, layout in zip(graph.inputs, layouts, strict=True) if layout == C or v.type.rank < 2}
    steps = any(n.op is DIAGONAL or (n.op is SLICE and {*ints(n.attrs, "steps")} - {1, -1}) for n in graph)
    if steps and GENERAL in layouts:
        return False
    for node in graph:
        views = node.op in (TRANSPOSE, SLICE, DIAGONAL, BROADCAST)
        if node.op is RESHAPE and not node.attrs.keys() & {"order", "follows", "core", "like"}:
            if node.operands[0] not in in_c:
                return False
            in_c |= set(node.results)
        elif node.attrs.get("order") == "C" or (not views and all(v in in_c for v in node.operands)):
            in_c |= set(node.results)
        in_c |= {v for v in node.results if v.type.rank < 2 and not views}
    return True


def memory_order(shape: tuple[int, ...], strides: Strides) -> tuple[int, ...]:
    """Return the axes of an array from outermost to innermost; C order for an empty one."""
    return axis_order(len(shape), [_steps(shape, strides)]) if all(shape) else tuple(range(len(shape)))


def agree(graph: Graph, env: Mapping[str, int], a: Sequence[tuple[int, ...]], b: Sequence[tuple[int, ...]]) -> bool:
    """Tell whether two orders look the same to the caller."""
    sizes = _Sizes(env)
    return _look_alike([sizes.of(v) for v in graph.outputs], a, b)


def _look_alike(shapes: Sequence[tuple[int, ...]], a: Sequence[tuple[int, ...]], b: Sequence[tuple[int, ...]]) -> bool:
    """Compare orders; axes of size 1 and empty arrays may have any."""
    for shape, one, other in zip(shapes, a, b, strict=True):
        if all(shape) and [k for k in one if shape[k] != 1] != [k for k in other if shape[k] != 1]:
            return False
    return True


@record
class _Sizes:
    """The sizes of values in a call: `set` has some of them, and the other symbolic ones are at least `least`."""

    env: Mapping[str, int]
    set: Mapping[dims.Size, int] = {}
    least: int = 0

    def of(self, value: Value) -> tuple[int, ...]:
        return tuple(map(self._number, value.type.shape))

    def _number(self, size: dims.Size) -> int:
        """Return a size. One that only NumPy functions determine counts as 2."""
        if isinstance(size, int):
            return size
        if size in self.set:
            return self.set[size]
        return max(self.least, dims.evaluate(size, self.env) if _is_known(size, self.env) else 2)


def _is_known(size: dims.Size, env: Mapping[str, int]) -> bool:
    return dims.symbols(size) <= env.keys()


def lies_in(order: tuple[int, ...], shape: tuple[int, ...], strides: Strides) -> bool:
    """Tell whether an array's axes have this order in memory; axes of size 1 may be anywhere."""
    rank = len(shape)
    return axis_order(rank, [_steps(shape, strides)]) == axis_order(rank, [dense(shape, order)])


def _in_elements(value: Value, strides: Strides) -> Strides:
    """Convert strides to elements. Those of packed records stay in bytes: only their order matters."""
    size = value.type.dtype.size
    return strides if any(s % size for s in strides) else tuple(s // size for s in strides)


def _steps(shape: tuple[int, ...], strides: Strides) -> Strides:
    """Return strides with 0 for axes that have no second element."""
    return tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))


def _strides(node: Node, shape: tuple[int, ...], operands: list[tuple[tuple[int, ...], Strides]]) -> Strides:
    op = node.op
    if op is TRANSPOSE:
        return tuple(operands[0][1][a] for a in ints(node.attrs, "order"))
    if op is SLICE:
        return tuple(s * k for s, k in zip(operands[0][1], ints(node.attrs, "steps"), strict=True))
    follows = node.attrs.get("follows")
    if isinstance(follows, int):  # Fortran order if this operand has it, otherwise C
        return dense(shape, tuple(range(len(shape)))[:: -1 if _is_fortran(*operands[follows]) else 1])
    like = node.attrs.get("like")
    if isinstance(like, int) and like < len(operands):  # the order of this operand only
        return dense(shape, axis_order(len(shape), [_aligned(shape, *operands[like])]))
    core = node.attrs.get("core")
    if isinstance(core, int):  # the last axes are innermost
        outer = max(0, len(shape) - core)
        return dense(shape, (*axis_order(outer, [operands[0][1][:outer]]), *range(outer, len(shape))))
    if op is RESHAPE and "order" in node.attrs:  # a copy in C order, or in the order of the operand
        return dense(shape, _copied(shape, operands[0][1]) if node.attrs["order"] == "K" else tuple(range(len(shape))))
    if op is RESHAPE:
        return _reshaped(shape, *operands[0])
    if op is DIAGONAL:
        axes, given = ints(node.attrs, "axes"), operands[0][1]
        return (*(s for k, s in enumerate(given) if k not in axes), sum(given[k] for k in axes))
    if op is CONCATENATE:
        return dense(shape, _joined_order(operands))
    if op is MATMUL:
        rank = len(shape) - 2
        stacks = [_aligned(shape[:rank], own[:-2], strides[:-2]) for own, strides in operands]
        return dense(shape, (*axis_order(rank, stacks), rank, rank + 1))
    if op is GATHER:
        return _looked_up(ints(node.attrs, "axes"), shape, operands)
    if op is BROADCAST:
        return _aligned(shape, *operands[0])
    if Trait.REDUCTION in op.traits and op not in POSITIONS:
        axes, given = ints(node.attrs, "axes"), operands[0][1]
        if node.attrs.get("keepdims"):
            kept = tuple(0 if k in axes else s for k, s in enumerate(given))
        else:
            kept = tuple(s for k, s in enumerate(given) if k not in axes)
        return dense(shape, axis_order(len(shape), [kept]))
    if Trait.ELEMENTWISE in op.traits or op is SCAN:
        return dense(shape, axis_order(len(shape), [_aligned(shape, *o) for o in operands]))
    return dense(shape, tuple(range(len(shape))))


def _copied(shape: tuple[int, ...], strides: Strides) -> tuple[int, ...]:
    """Lay out axes as `astype` and `copy` do: unlike a ufunc, they put a broadcast axis innermost."""
    order = tuple(sorted(range(len(shape)), key=lambda axis: -abs(strides[axis])))
    return axis_order(len(shape), [dense(shape, order)])


def _is_fortran(shape: tuple[int, ...], strides: Strides) -> bool:
    """Tell whether an array is contiguous in Fortran order but not in C order."""
    backwards = tuple(range(len(shape)))[::-1]
    return all(shape) and strides == dense(shape, backwards) != dense(shape, backwards[::-1])


def _joined_order(operands: list[tuple[tuple[int, ...], Strides]]) -> tuple[int, ...]:
    """Sort axes as `concatenate` does: by the strides of all arrays. One array in C order outweighs the others."""
    order: list[int] = []
    for axis in range(len(operands[0][0])):
        target = len(order)
        for before in range(len(order) - 1, -1, -1):
            swaps = [
                abs(strides[axis]) > abs(strides[order[before]])
                for shape, strides in operands
                if shape[axis] != 1 and shape[order[before]] != 1
            ]
            if not swaps:
                continue
            if not all(swaps):
                break
            target = before
        order.insert(target, axis)
    return tuple(order)


def _looked_up(
    axes: tuple[int, ...], shape: tuple[int, ...], operands: list[tuple[tuple[int, ...], Strides]]
) -> Strides:
    """Put the axes of index arrays outside the remaining ones; if none remain, keep the index arrays' own order."""
    (own, strides), *indices = operands
    left = [k for k in range(len(own)) if k not in axes]
    if not left:
        return dense(shape, axis_order(len(shape), [_aligned(shape, *o) for o in indices]))
    first, count = axes[0], len(shape) - len(left)
    places = [k if k < first else k + count for k in range(len(left))]
    kept = _copied(tuple(own[k] for k in left), tuple(strides[k] for k in left))
    return dense(shape, (*range(first, first + count), *(places[k] for k in kept)))


def _aligned(shape: tuple[int, ...], own: tuple[int, ...], strides: Strides) -> Strides:
    """Return the strides of an operand broadcast to a shape."""
    missing = len(shape) - len(own)
    return (0,) * missing + _steps(own, strides)


def _reshaped(shape: tuple[int, ...], own: tuple[int, ...], strides: Strides) -> Strides:
    """Return a view's strides if each group of merged or split axes is contiguous, as in NumPy; otherwise C order."""
    old = [(n, s) for n, s in zip(own, strides, strict=True) if n != 1]
    found: list[int] = []
    for size in reversed(shape):
        if size == 1:
            found.append(0)
            continue
        while old and size and old[-1][0] % size and len(old) > 1 and old[-2][1] == old[-1][0] * old[-1][1]:
            (outer, _), (inner, step) = old[-2:]
            old[-2:] = [(outer * inner, step)]
        if not old or not size or old[-1][0] % size:
            return dense(shape, tuple(range(len(shape))))
        whole, step = old.pop()
        found.append(step)
        if whole != size:
            old.append((whole // size, step * size))
    return tuple(reversed(found))


def axis_order(rank: int, operands: list[Strides]) -> tuple[int, ...]:
    """Sort axes from outermost to innermost, by the strides of all operands."""
    inner_first = list(range(rank))[::-1]
    for position in range(1, rank):
        axis, target = inner_first[position], position
        for before in range(position - 1, -1, -1):
            swap = _should_swap(axis, inner_first[before], operands)
            if swap is None:
                continue
            if not swap:
                break
            target = before
        inner_first.insert(target, inner_first.pop(position))
    return tuple(inner_first[::-1])


def _should_swap(axis: int, inner: int, operands: list[Strides]) -> bool | None:
    """Tell whether `axis` belongs inside `inner`; None if no operand decides it."""
    answer: bool | None = None
    for strides in operands:
        if strides[axis] == 0 or strides[inner] == 0:
            continue
        if abs(strides[inner]) <= abs(strides[axis]):
            answer = False
        elif answer is None:
            answer = True
    return answer


def dense(shape: tuple[int, ...], order: tuple[int, ...]) -> Strides:
    """Return the strides, in elements, of an array without gaps whose axes have this order."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = 0 if shape[axis] == 1 else step
        step *= max(1, shape[axis])
    return tuple(strides)
