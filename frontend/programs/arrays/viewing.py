"""Evaluate NumPy functions that return views, or the array itself: `x.T`, `np.flip`, `squeeze`, `asarray`, `x.real`.

Each rule gets a view of memory and makes another one, so nothing is copied and identity is as in NumPy: `x.squeeze()`
of an array without axes of size 1 is `x` itself, while `x.reshape(x.shape)` is a new object.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ....ir.dims import Size
from ....ir.records import replace
from ..arguments import bound_arguments, dtype_argument
from ..context import Lowering
from ..kinds import Known
from ..values import Abstract, CutProblem, Number, TupleValue, View
from .indexing import transposed

Arguments = Sequence[Abstract]
Named = Mapping[str, Abstract]
Rule = Callable[[Lowering, View, Arguments, Named], "Abstract | None"]
"""Returns None where the function makes a copy, or what it does is not known here."""


def _whole_numbers(p: Lowering, given: Abstract | None) -> list[int]:
    """Return axes that must be known at compile time."""
    if given is None:
        return []
    found = [p.number(item).known for item in (given.items if isinstance(given, TupleValue) else (given,))]
    numbers = [k for k in found if type(k) is int]
    if len(numbers) != len(found):
        raise CutProblem("axes must be known at compile time")
    return numbers


def _axes(p: Lowering, given: Abstract | None, rank: int) -> list[int]:
    found = _whole_numbers(p, given)
    if not all(-rank <= k < rank for k in found) or len({k % rank for k in found if rank}) != len(found):
        raise CutProblem("this raises AxisError: an axis is out of bounds, or given twice")
    return [k % rank for k in found]


def _is_none(given: Abstract | None) -> bool:
    return given is None or (isinstance(given, Known) and given.value is None)


def _transpose(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    given: Abstract | None = TupleValue(tuple(args)) if len(args) > 1 else (*args, *named.values(), None)[0]
    axes = range(view.rank)[::-1] if _is_none(given) else _axes(p, given, view.rank)
    if len(axes) != view.rank:
        raise CutProblem("this raises ValueError: axes don't match the array")
    return transposed(view, axes)


def _swapaxes(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    given = bound_arguments(("axis1", "axis2"), args, named)
    (a,), (b,) = (_axes(p, given[name], view.rank) for name in ("axis1", "axis2"))
    order = list(range(view.rank))
    order[a], order[b] = b, a
    return transposed(view, order)


def _moveaxis(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    given = bound_arguments(("source", "destination"), args, named)
    source, to = (_axes(p, given[name], view.rank) for name in ("source", "destination"))
    if len(source) != len(to):
        raise CutProblem("this raises ValueError: there are not as many destinations as axes")
    order = [k for k in range(view.rank) if k not in source]
    for at, axis in sorted(zip(to, source, strict=True)):
        order.insert(at, axis)
    return transposed(view, order)


def _matrix_transpose(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    if view.rank < 2:
        raise CutProblem("this raises ValueError: a matrix has two axes")
    return transposed(view, [*range(view.rank - 2), view.rank - 1, view.rank - 2])


def flipped(view: View, axes: Sequence[int]) -> View:
    """The view with some axes reversed."""
    starts: list[Size] = []
    for start, row in zip(view.starts, view.steps, strict=True):
        for k in axes:
            start = start + (view.shape[k] - 1) * row[k] if row[k] else start
        starts.append(start)
    steps = tuple(tuple(-s if k in axes else s for k, s in enumerate(row)) for row in view.steps)
    return replace(view, starts=tuple(starts), steps=steps, is_new=True)


def _flip(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    given = bound_arguments(("axis",), args, named).get("axis")
    return flipped(view, range(view.rank) if _is_none(given) else _axes(p, given, view.rank))


def _flip_along(axis: int) -> Rule:
    def make(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
        if view.rank <= axis:
            raise CutProblem("this raises ValueError: there is no such axis")
        return flipped(view, (axis,))

    return make


def _rot90(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    given = bound_arguments(("k", "axes"), args, named)
    (turns,) = _whole_numbers(p, given["k"]) if "k" in given else [1]
    axes = _axes(p, given["axes"], view.rank) if "axes" in given else [0, 1]
    if len(axes) != 2 or view.rank < 2:
        raise CutProblem("this raises ValueError: two different axes are needed")
    first, second = axes
    order = list(range(view.rank))
    order[first], order[second] = second, first
    if turns % 4 == 0:
        return replace(view, is_new=True)
    if turns % 4 == 2:
        return flipped(view, axes)
    return (
        transposed(flipped(view, (second,)), order) if turns % 4 == 1 else flipped(transposed(view, order), (second,))
    )


def _with_axes(view: View, places: Sequence[int]) -> View:
    """Insert axes of size 1 at these places of the result."""
    shape, rank = list(view.shape), view.rank + len(places)
    kept = [k for k in range(rank) if k not in places]
    sizes = dict(zip(kept, shape, strict=True))
    columns = dict(zip(kept, range(view.rank), strict=True))
    rows = tuple(tuple(row[columns[k]] if k in columns else 0 for k in range(rank)) for row in view.steps)
    return replace(view, shape=tuple(sizes.get(k, 1) for k in range(rank)), steps=rows, is_new=True)


def _expand_dims(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    given = bound_arguments(("axis",), args, named)["axis"]
    return _with_axes(view, _axes(p, given, view.rank + len(_whole_numbers(p, given))))


def _without_axes(view: View, axes: Sequence[int]) -> View:
    kept = [k for k in range(view.rank) if k not in axes]
    rows = tuple(tuple(row[k] for k in kept) for row in view.steps)
    return replace(view, shape=tuple(view.shape[k] for k in kept), steps=rows, is_new=True)


def _squeeze(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract | None:
    given = bound_arguments(("axis",), args, named).get("axis")
    if _is_none(given):
        ones = [k for k, n in enumerate(view.shape) if n == 1]
        if any(not isinstance(n, int) for n in view.shape) and not _are_given(view):
            raise CutProblem("whether an axis has size 1 depends on values")
        found = _without_axes(view, ones) if ones else view
    else:
        axes = _axes(p, given, view.rank)
        if any(view.shape[k] != 1 for k in axes):
            raise CutProblem("a squeezed axis is not known to have size 1")
        found = _without_axes(view, axes) if axes else view
    return found if found.rank else None


def _are_given(view: View) -> bool:
    """Whether the sizes are those of an argument, for which it is known which ones are 1."""
    return view.buffer.origin is not None and {*view.shape} <= {1, *view.buffer.value.type.shape}


def _at_least(rank: int) -> Rule:
    def make(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract | None:
        if args or named or not view.rank:
            return None
        if view.rank >= rank:
            return view
        return _with_axes(view, {(1, 2): [0], (1, 3): [0, 2], (2, 3): [2]}[view.rank, rank])

    return make


def _real(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    return replace(view.part(0), is_new=True) if view.dtype.kind == "complex" else view


def _imag(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    if view.dtype.kind != "complex":
        raise CutProblem("the imaginary parts of real numbers are a read-only array")
    return replace(view.part(1), is_new=True)


def _conjugate(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract | None:
    return view if view.dtype.kind != "complex" and not args and not named else None


def _viewed(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract:
    given = (*args, *named.values())
    if given and (len(given) > 1 or dtype_argument(given[0]) != view.dtype):
        raise CutProblem("an array is viewed as another dtype")
    return replace(view, is_new=True)


def _same_dtype(view: View, given: Abstract | None) -> bool:
    return _is_none(given) or dtype_argument(given) == view.dtype


def _as_array(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract | None:
    given = bound_arguments(("dtype",), args, named)
    return view if _same_dtype(view, given.get("dtype")) else None


def _array(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract | None:
    """Evaluate `np.array(x, copy=None)` and `x.astype(dtype, copy=False)`: the array itself if the dtype fits."""
    copy = named.get("copy")
    if copy is None or (isinstance(copy, Number) and copy.known is True):
        return None
    if len(named) > 1 or len(args) > 1:
        raise CutProblem("the argument 'copy' is left to Python")
    return view if _same_dtype(view, args[0] if args else None) else None


def _contiguous(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract | None:
    """Evaluate `np.ascontiguousarray`: the array itself if it is in C order."""
    if view.is_whole and view.buffer.layout == "C" and not args and not named:
        return view
    if view.buffer.origin is None and not args and not named and view.is_whole:
        return view
    raise CutProblem("whether an array is contiguous is not known at compile time")


def _ravel(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract | None:
    """The elements of a single axis are a view if they are adjacent in memory, else a copy."""
    if view.rank != 1:
        return None
    lies_dense = view.buffer.origin is None or view.buffer.layout == "C"
    steps = [step for (step,) in view.steps[: len(view.steps) - bool(view.buffer.parts)]]
    if lies_dense and not view.is_part and steps[-1] == 1 and not any(steps[:-1]):
        return replace(view, is_new=True)
    raise CutProblem("whether an array is contiguous is not known at compile time")


def _reshape(p: Lowering, view: View, args: Arguments, named: Named) -> Abstract | None:
    """A reshape that only adds or removes axes of size 1 is a view, whatever the memory order."""
    if named or not args:
        return None
    given = args[0].items if len(args) == 1 and isinstance(args[0], TupleValue) else tuple(args)
    sizes = [p.number(item) for item in given]
    wanted: list[Size] = []
    for size in sizes:
        if size.size is None or size.size == -1:
            return None
        wanted.append(size.size)
    if tuple(wanted) == view.shape:
        return replace(view, is_new=True)
    old = [k for k, n in enumerate(view.shape) if n != 1]
    new = [k for k, n in enumerate(wanted) if n != 1]
    if [p.e.facts.canonical(view.shape[k]) for k in old] != [p.e.facts.canonical(wanted[k]) for k in new]:
        return None
    places = [k for k in range(len(wanted)) if k not in new]
    found = _with_axes(_without_axes(view, [k for k in range(view.rank) if k not in old]), places)
    return found if found.rank else None


VIEW_RULES: Mapping[str, Rule] = {
    "transpose": _transpose, "permute_dims": _transpose, "swapaxes": _swapaxes, "moveaxis": _moveaxis,
    "matrix_transpose": _matrix_transpose, "flip": _flip, "flipud": _flip_along(0), "fliplr": _flip_along(1),
    "rot90": _rot90, "expand_dims": _expand_dims, "squeeze": _squeeze, "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2), "atleast_3d": _at_least(3), "real": _real, "imag": _imag, "asarray": _as_array,
    "asanyarray": _as_array, "asarray_chkfinite": _as_array, "array": _array, "ascontiguousarray": _contiguous,
    "reshape": _reshape, "ravel": _ravel,
}  # fmt: skip
VIEW_METHODS: Mapping[str, Rule] = {
    "transpose": _transpose, "swapaxes": _swapaxes, "squeeze": _squeeze, "conj": _conjugate, "conjugate": _conjugate,
    "view": _viewed, "astype": _array, "reshape": _reshape, "ravel": _ravel,
}  # fmt: skip


def viewed_attribute(p: Lowering, view: View, name: str) -> Abstract | None:
    """Evaluate an attribute that is a view: `T`, `mT`, `real`, `imag`."""
    rule = {"T": _transpose, "mT": _matrix_transpose, "real": _real, "imag": _imag}.get(name)
    return None if rule is None else rule(p, view, (), {})
