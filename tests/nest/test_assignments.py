"""Test loops made from assignments of arrays against NumPy, in every order that a nest allows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
import weft
from weft.backends import nests, reference
from weft.backends.llvm.engine.target import host
from weft.frontend.programs.planning.pieces import Piece
from weft.ir import dims
from weft.ir.dims import Dim, Size, symbol
from weft.ir.errors import ShapeProblem, Unsupported, ValueProblem
from weft.ir.graph import Graph
from weft.ir.nest.ops import ASSIGN
from weft.ir.nest.scopes import places
from weft.ir.nest.text import parse_nest
from weft.ir.nest.verify import verify_nest
from weft.ir.text.printer import print_nest
from weft.ir.types import Guards
from weft.passes import fuse_loops, widen_loops
from weft.passes.lower_assigns import LowerAssigns
from weft.passes.manager import run_pass
from weft.passes.nest_pipeline import nest_pipeline
from weft.passes.nests import assignments
from weft.passes.nests.assignments import AssignmentLowering, NestContext
from weft.passes.nests.places import MemoryPlace
from weft.passes.nests.writing import Names
from weft.runtime.nests.compiling import compile_nests
from weft.runtime.nests.pieces import compile_piece

from tests.passes.all_inline import AllInline
from tests.programs import running

from .random_statements import draw
from .statements import Statement

Array = np.ndarray[Any, Any]
N, M, K = symbol("n"), symbol("m"), symbol("k")
SIZES = {"n": 5, "m": 7, "k": 3}


def lowered(nest: Graph, vector_bytes: int = 32) -> Graph:
    """Return the nest with loops, after verifying it and reading its text back."""
    text = print_nest(nest)
    assert print_nest(parse_nest(text)) == text
    made = nest
    for step in nest_pipeline(AllInline(), vector_bytes):
        made = step.run(made)
        verify_nest(made)
    assert not any(p.node.op is ASSIGN for p in places(made))
    again = parse_nest(print_nest(made))
    assert print_nest(again).splitlines()[2:] == print_nest(made).splitlines()[2:]
    return made


def every_way(nest: Graph, made: Graph, arrays: list[Array], **numbers: int) -> list[Array]:
    """Return the arrays after running the loops serially, in lockstep, and after running the assignment itself."""
    found = []
    for lockstep in (False, True):
        own = [a.copy(order="K") for a in arrays]
        nests.run(made, own, numbers, lockstep)
        found.append(own)
    for a, b in zip(*found, strict=True):
        assert a.tobytes() == b.tobytes()
    direct = [a.copy(order="K") for a in arrays]
    nests.run(nest, direct, numbers)
    for a, b in zip(found[0], direct, strict=True):
        close(a, b)
    return found[0]


def close(a: Array, b: Array) -> None:
    if a.dtype.kind in "fc":
        np.testing.assert_allclose(a, b, rtol=1e-5 if a.dtype.itemsize == 4 else 1e-13, atol=1e-6)
    else:
        assert np.array_equal(a, b)


def arrays_of(statement: Statement, seed: int = 0, **sizes: int) -> list[Array]:
    random, found = np.random.default_rng(seed), []
    for (_, value), layout in zip(statement.inputs.items(), statement.layouts, strict=True):
        shape = [dims.evaluate(s, {**SIZES, **sizes}) for s in value.type.shape]
        dtype = value.type.dtype.numpy
        if dtype.kind == "b":
            x = random.random(shape) < 0.5
        elif dtype.kind in "iu":
            x = random.integers(-1, min({**SIZES, **sizes}["n"], 3), shape).astype(dtype)
        else:
            x = random.standard_normal(shape).astype(dtype)
        found.append(np.asfortranarray(x) if layout == "F" else x)
    return found


Case = tuple[str, tuple[tuple[str, tuple[Size, ...]], ...], tuple[str, tuple[Size, ...]], Callable[..., Any]]
CASES: list[Case] = [
    ("chain", (("f4", (N, M)), ("f4", (M,))), ("f4", (N, M)), lambda np, a, b: np.sqrt(np.abs(a)) * b + 1),
    ("constant", (), ("f8", (N, M)), lambda np: np.full((1,), 3.5)),
    ("copied", (("f8", (M,)),), ("f8", (N, M)), lambda np, a: a + 0),
    ("transposed", (("f8", (M, N)),), ("f8", (N, M)), lambda np, a: a.T * 2),
    ("integers", (("i4", (N,)), ("i8", (N,))), ("i8", (N,)), lambda np, a, b: a * b - 3),
    ("where", (("f8", (N, M)),), ("f8", (N, M)), lambda np, a: np.where(a > 0, a, 0.5 * a)),
    ("slices", (("f8", (N + 2,)),), ("f8", (N,)), lambda np, a: a[:-2] + a[1:-1] * 2 + a[2:]),
    ("backwards", (("f8", (N,)),), ("f8", (N,)), lambda np, a: a[::-1] * 3),
    ("outer", (("f8", (N,)), ("f8", (M,))), ("f8", (N, M)), lambda np, a, b: np.outer(a, b) + a[:, None]),
    ("row sums", (("f8", (N, M)),), ("f8", (N,)), lambda np, a: a.sum(axis=1)),
    ("column sums", (("f8", (N, M)),), ("f8", (M,)), lambda np, a: a.sum(axis=0)),
    ("all", (("f8", (N, M)),), ("f8", ()), lambda np, a: a.sum()),
    ("mean and more", (("f4", (N, M)),), ("f4", (N, M)), lambda np, a: (a - a.mean(axis=0)) / a.std(axis=0)),
    ("variance", (("f8", (N, M)),), ("f8", (N,)), lambda np, a: a.var(axis=1)),
    ("three axes", (("f8", (N, M, K)),), ("f8", (M,)), lambda np, a: a.sum(axis=(0, 2))),
    ("largest", (("f8", (N, M)),), ("f8", (N,)), lambda np, a: a.max(axis=1) - a.min(axis=1)),
    ("product", (("f8", (N,)),), ("f8", ()), lambda np, a: np.prod(a)),
    ("any", (("f8", (N, M)),), ("?", (M,)), lambda np, a: np.any(a > 1, axis=0)),
    ("all true", (("f8", (N, M)),), ("?", (N,)), lambda np, a: np.all(a > -1, axis=1)),
    ("argmax", (("f8", (N, M)),), ("i8", (N,)), lambda np, a: np.argmax(a, axis=1)),
    ("argmin of columns", (("f8", (N, M)),), ("i8", (M,)), lambda np, a: np.argmin(a, axis=0)),
    ("argmax of all", (("f8", (N, M)),), ("i8", ()), lambda np, a: np.argmax(a)),
    ("softmax", (("f8", (N, M)),), ("f8", (N, M)), lambda np, a: np.exp(a) / np.exp(a).sum(axis=1, keepdims=True)),
    ("extremes and sums", (("f8", (N, M)),), ("f8", (N,)), lambda np, a: a.max(axis=1) + a.sum(axis=1) * a.argmin(1)),
    ("sum of a product", (("f8", (N, K)), ("f8", (K, M))), ("f8", (N,)), lambda np, a, b: (a @ b).sum(axis=1)),
    ("largest of a scan", (("f8", (N, M)),), ("f8", (N,)), lambda np, a: np.cumsum(a, axis=1).max(axis=1)),
    ("bits", (("i4", (N, M)),), ("i4", (N,)), lambda np, a: np.bitwise_or.reduce(a, axis=1)),
    ("no NaN", (("f8", (N, M)),), ("f8", (M,)), lambda np, a: np.fmax.reduce(a, axis=0)),
    ("joined rows", (("f8", (N, M)),), ("f8", (N * M,)), lambda np, a: a.reshape(-1) * 2),
    ("split", (("f8", (N * M,)),), ("f8", (N, M)), lambda np, a: np.reshape(a, (N, M)) + 1),
    ("softmax of columns", (("f4", (N, M)),), ("f8", (N, M)), lambda np, a: np.exp(a) / np.exp(a).sum(axis=0)),
    ("vector product", (("f8", (N,)), ("f8", (N,))), ("f8", ()), lambda np, a, b: a @ b),
    ("matrix product", (("f8", (N, K)), ("f8", (K, M))), ("f8", (N, M)), lambda np, a, b: a @ b + 1),
    ("product of sums", (("f8", (N, K)), ("f8", (K, M))), ("f8", (N, M)), lambda np, a, b: (a + 1) @ (b * 2)),
    ("matrix times vector", (("f8", (N, M)), ("f8", (M,))), ("f8", (N,)), lambda np, a, b: a @ b),
    ("vector times matrix", (("f8", (N,)), ("f8", (N, M))), ("f8", (M,)), lambda np, a, b: a @ b),
    ("stacks", (("f8", (2, N, K)), ("f8", (2, K, M))), ("f8", (2, N, M)), lambda np, a, b: a @ b),
    ("cumulative", (("f8", (N,)),), ("f8", (N,)), lambda np, a: np.cumsum(a)),
    ("cumulative rows", (("f8", (N, M)),), ("f8", (N, M)), lambda np, a: np.cumsum(a, axis=0) * 2),
    ("cumulative columns", (("f8", (N, M)),), ("f8", (N, M)), lambda np, a: np.cumprod(a, axis=1)),
    ("gather", (("f8", (N,)), ("i8", (M,))), ("f8", (M,)), lambda np, a, i: a[i] * 2),
    ("gather rows", (("f8", (N, K)), ("i4", (M,))), ("f8", (M, K)), lambda np, a, i: a[i]),
    ("count", (("i8", (N,)),), ("f8", (N,)), lambda np, a: np.arange(N) * 1.5 + a),
    ("joined", (("f8", (N,)), ("f8", (M,))), ("f8", (N + M,)), lambda np, a, b: np.concatenate([a * 2, b])),
    ("complex", (("c16", (N,)), ("c16", (N,))), ("c16", (N,)), lambda np, a, b: a * b + 1),
    ("halves", (("f2", (N,)),), ("f2", (N,)), lambda np, a: a * a + 1),
    ("widened", (("f4", (N,)),), ("f8", (N,)), lambda np, a: a + 1),
    ("triangle", (("f8", (N, N)),), ("f8", (N, N)), lambda np, a: np.triu(a)),
]  # fmt: skip


OWN_TREES = {"all", "three axes", "matrix product", "product of sums", "stacks", "sum of a product"}


def as_region(nest: Graph, arrays: list[Array]) -> Array:
    """Return the result of the assignment's regions on the reference backend."""
    context = NestContext(nest, Names(()), AllInline(), 32)
    node = nest.nodes[-1]
    graph, given = AssignmentLowering(context, node, node.operands, ()).prepared()
    for step in context.passes:
        graph = run_pass(step, graph)
    inputs = []
    for array, place in zip(arrays, given, strict=False):
        assert isinstance(place, MemoryPlace)
        inputs.append(array.transpose([place.axes.index(k) for k in range(array.ndim)]))
    (found,) = reference.run(graph, inputs, {**SIZES, **nests.sizes_of(nest, arrays)})
    return np.asarray(found)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_expressions(case: Case) -> None:
    _, given, (dtype, shape), function = case
    for layout in ("C", "F", "S"):
        names = "abcd"[: len(given)]
        layouts = [layout if len(s) > 1 or layout == "S" else "C" for _, s in (*given, (dtype, shape))]
        statement = Statement(layouts, **dict(zip(names, given, strict=True)), out=(dtype, shape))
        *inputs, out = statement.inputs.values()
        statement.assign(function, inputs, [out])
        nest = statement.nest()
        made = lowered(nest)
        for sizes in ({}, {"n": 1, "k": 1}, {"n": 9, "m": 1}, {"m": 40, "n": 2}):
            arrays = arrays_of(statement, **sizes)
            found = every_way(nest, made, arrays)[-1]
            if case[0] not in OWN_TREES:
                assert found.tobytes() == as_region(nest, arrays).tobytes()


def kinds(nest: Graph) -> list[str]:
    """The loops of a nest and the memory that it allocates, in order."""
    shown = {"nest.for": lambda n: str(n.attrs["kind"]), "nest.walk": lambda n: "walk", "nest.alloc": lambda n: "alloc"}
    return [shown[p.node.op.name](p.node) for p in places(nest) if p.node.op.name in shown]


OVERLAPS: list[tuple[tuple[slice, ...], tuple[tuple[slice, ...], ...], list[str]]] = [
    ((slice(0, -1),), ((slice(1, None),),), ["vector"]),  # what is read comes later
    ((slice(1, None),), ((slice(0, -1),),), ["vector"]),  # backwards
    ((slice(1, -1),), ((slice(0, -2),), (slice(2, None),)), ["alloc", "vector", "vector"]),
    ((slice(None),), ((slice(None, None, -1),),), ["alloc", "vector", "vector"]),
    ((slice(0, -1), slice(None)), ((slice(1, None), slice(None)),), ["serial", "vector"]),
    ((slice(1, None), slice(None)), ((slice(0, -1), slice(None)),), ["serial", "vector"]),
    ((slice(1, None), slice(0, -1)), ((slice(0, -1), slice(1, None)),), ["serial", "vector"]),
    ((slice(1, None), slice(1, None)), ((slice(0, -1), slice(1, None)), (slice(1, None), slice(0, -1))), []),
    ((slice(None), slice(0, K)), ((slice(None), slice(K, 2 * K)),), ["serial", "vector"]),  # never meet
    ((slice(None), slice(2, 2 * K)), ((slice(None), slice(1, 2 * K - 1)),), ["serial", "vector"]),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(OVERLAPS)))
def test_overlapping_views(case: int) -> None:
    """Results are as if the right side were computed first; a temporary is only used if no order works."""
    target, sources, expected = OVERLAPS[case]
    sizes = (N, 2 * K if isinstance(target[-1].stop, Dim) else M)[: len(target)]
    statement = Statement(["C"], a=("f8", sizes))
    (a,) = statement.inputs.values()
    views = [sliced(statement, a, index) for index in (*sources, target)]
    statement.assign(lambda np, *xs: sum(xs[1:], xs[0] * 2), views[:-1], views[-1:])
    made = lowered(statement.nest())
    assert not expected or kinds(made) == expected
    for shape in ((5, 7), (9, 4), (1, 1), (2, 3), (0, 4)):
        if isinstance(target[-1].stop, Dim):
            shape = (shape[0], shape[1] // 2 * 2)
        x, numbers = np.random.default_rng(case).standard_normal(shape[: len(sizes)]), {"k": shape[1] // 2}
        y = x.copy()
        right = [tuple(_numbered(part, numbers) for part in index) for index in (target, *sources)]
        y[right[0]] = sum((y[index] for index in right[2:]), y[right[1]] * 2)
        assert np.array_equal(every_way(statement.nest(), made, [x], **numbers)[0], y)


def sliced(statement: Statement, buffer: Any, index: tuple[slice, ...]) -> Any:
    """Return the view that a basic slice makes; bounds are clamped as in Python."""
    names, at, shape = [], [], []
    for axis, (part, size) in enumerate(zip(index, buffer.type.shape, strict=True)):
        step, name = part.step or 1, f"v{axis}"
        names.append(name)
        if step < 0:
            at.append(size - 1 - symbol(f"@{name}"))
            shape.append(size)
            continue
        # Where the slice is not empty, a start from the front is what it says.
        first = part.start if isinstance(part.start, Dim) or (part.start or -1) >= 0 else _clamped(part.start, size, 0)
        end = _clamped(part.stop, size, size)
        at.append(first + step * symbol(f"@{name}"))
        shape.append(dims.maximum(0, dims.floordiv(end - first + step - 1, step)))
    return statement.view(buffer, names, at, shape)


def _numbered(part: slice, numbers: dict[str, int]) -> slice:
    return slice(*(dims.evaluate(k, numbers) if isinstance(k, Dim) else k for k in (part.start, part.stop, part.step)))


def _clamped(k: Any, size: Size, default: Size) -> Size:
    if k is None:
        return default
    if isinstance(k, Dim):
        return k
    return dims.minimum(k, size) if k >= 0 else dims.maximum(0, size + k)


def test_what_has_no_loops_is_refused() -> None:
    statement = Statement(["C", "C"], a=("f8", (N, 2 * M)), out=("f8", (2 * N, M)))
    a, out = statement.inputs.values()
    statement.assign(lambda np, a: np.reshape(a, (2 * N, M)), [a], [out])
    with pytest.raises(Unsupported, match=r"a reshape of .* has no loop nest"):
        LowerAssigns(AllInline(), 32).run(statement.nest())
    with pytest.raises(Unsupported, match="no native code before `lower-assigns`"):
        compile_nests([statement.nest()])


def test_native_code_gives_the_bits_of_the_interpreter() -> None:
    """Every expression in one of the layouts, with one and three threads; functions have their own last digits."""
    statements, made = [], []
    for k, (name, given, (dtype, shape), function) in enumerate(CASES):
        layout = "CFS"[k % 3]
        layouts = [layout if len(s) > 1 or layout == "S" else "C" for _, s in (*given, (dtype, shape))]
        statement = Statement(layouts, **dict(zip("abcd", given, strict=False)), out=(dtype, shape))
        *inputs, out = statement.inputs.values()
        statement.assign(function, inputs, [out])
        statements.append((name, statement))
        made.append(lowered(statement.nest(), host().vector_bytes))
    before = weft.get_threads()
    try:
        for (name, statement), nest, native in zip(statements, made, compile_nests(made), strict=True):
            for sizes in ({}, {"n": 19, "m": 1}, {"n": 9, "m": 34}):
                arrays = arrays_of(statement, **sizes)
                wanted = [a.copy(order="K") for a in arrays]
                nests.run(nest, wanted)
                for threads in (1, 3):
                    weft.set_threads(threads)
                    found = [a.copy(order="K") for a in arrays]
                    native.run(found)
                    if "softmax" in name:
                        np.testing.assert_allclose(found[-1], wanted[-1], rtol=1e-6)
                    else:
                        assert found[-1].tobytes() == wanted[-1].tobytes(), (name, sizes)
    finally:
        weft.set_threads(before)


def test_reshapes_by_guards() -> None:
    """Sizes that a reshape needs to be equal become guards of the nest."""
    for given, result, guard in (((N, 1, M), (N, K), "k == m"), ((N, M, 2), (K, symbol("p")), "p == 2*m")):
        statement = Statement(["C", "C"], a=("f8", given), out=("f8", result))
        a, out = statement.inputs.values()
        statement.assign(lambda np, a, shape=result: np.reshape(a * 2, shape), [a], [out])
        made = LowerAssigns(AllInline(), 32).run(statement.nest())
        found = made.attrs["guards"]
        assert isinstance(found, Guards) and {guard, " == ".join(guard.split(" == ")[::-1])} & set(found.texts)
        shape = [dims.evaluate(s, SIZES) for s in given]
        x = np.arange(np.prod(shape), dtype="f8").reshape(shape)
        y = np.zeros((5, 7 if len(shape) == 3 and shape[1] == 1 else 14))
        nests.run(made, [x, y])
        assert np.array_equal(y.ravel(), 2 * x.ravel())
        with pytest.raises(ShapeProblem):
            nests.run(made, [x, np.zeros((y.size, 1))])


def drawn_arrays(seed: int, nest: Graph) -> list[Array]:
    random = np.random.default_rng(seed)
    shape = (4 + seed % 5, 4 + seed % 4)
    layouts = nest.attrs["layouts"]
    assert isinstance(layouts, tuple)
    return [np.array(random.integers(-9, 9, shape), order="F" if name == "F" else "C") for name in layouts]


def differs(seed: int) -> bool:
    """Whether the loops of a random assignment give something else than the assignment, in any order."""
    nest = draw(seed)
    made, given = nest, drawn_arrays(seed, nest)
    for step in nest_pipeline(AllInline(), 32):
        made = step.run(made)
    wanted = [a.copy(order="K") for a in given]
    nests.run(nest, wanted)
    for lockstep in (False, True):
        found = [a.copy(order="K") for a in given]
        nests.run(made, found, lockstep=lockstep)
        if any(not np.array_equal(a, b) for a, b in zip(found, wanted, strict=True)):
            return True
    return False


def test_random_assignments() -> None:
    """Whole numbers, so that any order of a sum gives the same; a sixth of the nests also verify."""
    for seed in range(150):
        assert not differs(seed), seed
        if seed % 6 == 0:
            lowered(draw(seed))


def test_faults_are_found() -> None:
    """Loops that store before others read, and a vector loop where a step needs the one before, are noticed."""
    for name in ("reads_first", "may_write"):
        target = assignments if name == "reads_first" else AssignmentLowering
        with mock.patch.object(target, name, lambda *_: True):
            assert any(differs(seed) for seed in range(60)), name
    with mock.patch.object(widen_loops, "dependence_problem", lambda *_: None):
        assert any(differs(seed) for seed in range(200))
    with mock.patch.object(fuse_loops, "meeting", lambda *_: 0):
        assert any(differs(seed) for seed in range(200))


def test_guards_that_passes_add_hold_for_pieces() -> None:
    """A reshape whose rows are not those of the first call is left to Python."""

    def flat(x: Any, rows: int, columns: int) -> Any:
        for _ in range(2):
            y = np.reshape(x * 2, (rows, columns))
        return y

    x = np.arange(24.0).reshape(2, 3, 4)
    piece, _ = running.lowered(flat, [x, 2, 12])
    assert isinstance(piece, Piece)
    native = compile_piece(piece, AllInline())
    assert np.array_equal(native.run({"x": x, "rows": 2, "columns": 12})[0], 2 * x.reshape(2, 12))
    for other, rows, columns in ((x.reshape(3, 2, 4), 2, 12), (x, 2, 13)):
        with pytest.raises(ValueProblem, match="break a guard"):
            native.run({"x": other, "rows": rows, "columns": columns})
