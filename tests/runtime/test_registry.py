"""Test that registered implementations run, in functions, in the language and in expressions, until unregistered."""

from __future__ import annotations

import numpy as np
import pytest
import weft
from weft.errors import KernelFailure, LimitExceeded, ShapeProblem, TypeProblem, UnknownName, Unsupported
from weft.ir.text.parser import parse_text

X = np.linspace(-2, 2, 1000, dtype=np.float32)


@pytest.fixture(autouse=True)
def scope():
    with weft.registry.scope():
        yield
    assert weft.registry.implementations() == ()


def poly(x):
    return 1 + x + x * x / 2


def test_a_known_op_is_replaced_until_it_is_unregistered():
    jitted = weft.jit(lambda x: np.exp(x) * 2)
    text = weft.compile("kernel k(x: f32[n]) -> f32[n] = exp(x) * 2").k
    expression = weft.compile(np.exp(weft.tensor("x", "f32[n]")) * 2)
    before = [f(X) for f in (jitted, text, expression) for _ in range(3)]  # the third call is native
    made = weft.registry.register("exp", "f32 -> f32", poly)
    assert made.kind == "inline" and made.note == "traced from Python"
    for f in (jitted, text, expression):
        for _ in range(4):
            np.testing.assert_array_equal(f(X), poly(X) * 2)
        assert len(f.lower(X).kernels) == 1
        assert 'chosen = ["exp: inline custom poly, score 10"]' in f.lower(X).ir(after="select-kernels")
    np.testing.assert_allclose(jitted(X.astype(np.float64)), np.exp(X.astype(np.float64)) * 2, rtol=1e-15)
    compiled = jitted.signature_cache.misses
    assert weft.registry.unregister(made) == 1
    for k, f in enumerate((jitted, text, expression)):
        for _ in range(3):
            np.testing.assert_array_equal(f(X), before[3 * k])
    assert jitted.signature_cache.misses == compiled  # the old graph is right again


def test_inside_an_implementation_the_op_is_the_one_below():
    f = weft.jit(lambda x: np.exp(x))
    below = f(X)
    weft.registry.register("exp", "f32 -> f32", lambda x: np.exp(x) * 3, name="first")
    np.testing.assert_array_equal(f(X), below * 3)
    weft.registry.register("exp", "f32 -> f32", lambda x: np.exp(x) + np.exp(-x), name="second")
    np.testing.assert_allclose(f(X), 3 * np.exp(X) + 3 * np.exp(-X), rtol=1e-6)
    assert len(f.lower(X).kernels) == 1


def test_scopes_end_and_nest():
    f = weft.jit(lambda x: np.exp(x) + 1)
    first = weft.registry.register("exp", "f32 -> f32", lambda x: x)
    with weft.registry.scope() as registry:
        registry.register("exp", "f32 -> f32", lambda x: x * 2)
        np.testing.assert_array_equal(f(X), X * 2 + 1)
        with pytest.raises(RuntimeError), registry.scope():
            registry.unregister("exp")
            np.testing.assert_allclose(f(X), np.exp(X) + 1, rtol=1e-6)
            raise RuntimeError
        np.testing.assert_array_equal(f(X), X * 2 + 1)
    np.testing.assert_array_equal(f(X), X + 1)
    assert weft.registry.implementations("exp") == (first,)


def test_new_ops_are_everywhere():
    assert {i.kind for i in weft.registry.unary("cube", lambda x: x * x * x)} == {"inline"}
    assert {i.kind for i in weft.registry.binary("gap", lambda x, y: np.abs(x - y))} == {"inline"}
    want = X * X * X
    np.testing.assert_array_equal(weft.ops.cube(X), want)
    np.testing.assert_array_equal(weft.call("cube", X), want)
    np.testing.assert_array_equal(weft.call("gap", X, 2.0), np.abs(X - np.float32(2)))
    assert weft.ops.cube(np.int16(5)) == 125 and weft.ops.cube(np.int16(5)).dtype == np.int16
    np.testing.assert_allclose(weft.ops.cube(X + 1j), (X + 1j) ** 3, rtol=1e-5)
    jitted = weft.jit(lambda x: weft.ops.gap(weft.ops.cube(x), 1.0) / 2)
    np.testing.assert_array_equal(jitted(X), np.abs(want - 1) / 2)
    assert len(jitted.lower(X).kernels) == 1 and " x float>" in jitted.lower(X).llvm()
    module = weft.compile("""
        fn half(x) = cube(x) / 2
        kernel k(x: float[n, m]) -> float[n, m] = half(x) + gap(cube(x), 1)
    """)
    np.testing.assert_array_equal(module.k(X.reshape(40, 25)), (want / 2 + np.abs(want - 1)).reshape(40, 25))
    expression = weft.compile(weft.ops.cube(weft.tensor("x", "f32[n]")) + 1)
    np.testing.assert_array_equal(expression(X), want + 1)
    text = expression.lower(X).ir(after="input")
    assert '"weft.cube"(%x)' in text
    assert parse_text(text, table=weft.registry.table).text() == text
    assert "cube" in dir(weft.ops)
    weft.registry.unregister("cube")
    with pytest.raises(AttributeError, match="no op is called 'cube'"):
        weft.ops.cube(X)
    with pytest.raises(UnknownName, match="unknown function 'cube'"):
        module.k(X.reshape(25, 40).astype(np.float64))


def test_a_new_op_has_the_dtypes_of_its_signatures():
    weft.registry.register("cube", "f64 -> f64", lambda x: x * x * x)
    f = weft.jit(lambda x: weft.ops.cube(x))
    assert f(X).dtype == np.float64 and f(X.astype(np.int32)).dtype == np.float64
    with pytest.raises(TypeProblem, match="'cube' is not defined for c64"):
        f(X + 1j)
    weft.registry.register("cube", "f32 -> f32", lambda x: x * x * x)
    assert f(X).dtype == np.float32
    assert weft.ops.cube(2.0) == 8.0


def test_operators_by_name():
    np.testing.assert_array_equal(weft.call("add", X, X), X + X)
    np.testing.assert_array_equal(weft.call("sub", X, 1), X - 1)
    np.testing.assert_allclose(weft.call("sum", X.reshape(40, 25), axis=1), X.reshape(40, 25).sum(1), atol=1e-5)
    out = np.empty_like(X)
    assert weft.call("add", X, X, out=out) is out
    assert weft.ops.expit(np.float32(0)) == 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_composites(dtype):
    x = np.linspace(-30, 30, 4 * 37, dtype=dtype).reshape(4, 37)
    e = np.exp(x - x.max(-1, keepdims=True))
    sigmoid, kind = 1 / (1 + np.exp(-x.astype(np.longdouble))), f"f{8 * x.itemsize}[n, m]"
    wanted = {
        "relu": np.maximum(x, 0),
        "sigmoid": sigmoid,
        "silu": x * sigmoid,
        "softplus": np.logaddexp(x, 0),
        "softmax": e / e.sum(-1, keepdims=True),
        "log_softmax": np.log(e / e.sum(-1, keepdims=True)),
        "logsumexp": np.log(np.exp(x.astype(np.longdouble)).sum(-1)),
    }
    for name, want in wanted.items():
        got = weft.call(name, x)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, rtol=50 * np.finfo(dtype).eps, atol=1e-30, err_msg=name)
        assert len(weft.compile(getattr(weft.ops, name)(weft.tensor("x", kind)) * 2).lower(x).kernels) == 1
    assert weft.ops.gelu(dtype(1)) == pytest.approx(0.8413447460685429, rel=4 * float(np.finfo(dtype).eps))
    assert weft.ops.logsumexp(np.array([-np.inf, -np.inf])) == -np.inf
    assert weft.ops.logsumexp(np.array([np.inf, 0.0])) == np.inf


def test_a_kernel_of_the_language_replaces_softmax():
    text = """
        @impl(op="softmax", hint="vectorized")
        kernel flat(x: f32[..., m]) -> f32[..., m] { return x * 0 + 1 / m }
        kernel softmax(x: f32[n]) -> f32[n] = x
    """
    x = X.reshape(40, 25)
    f = weft.jit(lambda x: weft.ops.softmax(x) + 1)
    softmax = f(x)
    module = weft.compile(text, name="mine.weft")
    np.testing.assert_array_equal(f(x), np.full_like(x, 1 + np.float32(1) / 25))
    np.testing.assert_array_equal(module.softmax(X), X)  # a kernel's name alone replaces nothing
    assert len(f.lower(x).kernels) == 1
    weft.compile(text.replace("1 / m", "2 / m"), name="mine.weft")  # read again, it takes its own place
    (found,) = weft.registry.implementations("softmax")
    assert (found.kind, found.name, str(found.signature)) == ("weft", "flat", "f32[..., m] -> f32[..., m]")
    np.testing.assert_array_equal(f(x), np.full_like(x, 1 + np.float32(2) / 25))
    weft.registry.unregister("softmax")
    np.testing.assert_array_equal(f(x), softmax)


def test_declared_shapes():
    kernel = weft.compile("kernel rowdot(a: float[n, m], b: float[m]) -> float[n] = sum(a * b, axis=1)").rowdot
    weft.registry.register("rowdot", None, kernel)
    weft.registry.register("tail", "f32[n, m] -> f32[n]", lambda x: np.sort(x, axis=1)[:, -1])
    a, b = X.reshape(40, 25), X[:25]
    np.testing.assert_allclose(weft.ops.rowdot(a, b), a @ b, rtol=1e-4)
    f = weft.jit(lambda a, b: weft.ops.rowdot(a, b) + weft.ops.tail(a * 2))
    np.testing.assert_allclose(f(a, b), a @ b + 2 * a.max(1), rtol=1e-4)
    with pytest.raises(ShapeProblem, match="operand 1 must have"):
        weft.ops.rowdot(a, X[:24])
    with pytest.raises(ShapeProblem, match="operand 0 must be"):
        weft.ops.tail(X)


def test_sizes_choose_and_one_compile_serves_a_range():
    weft.registry.register("exp", "f32 -> f32", lambda x: x * 10, min_size=100, max_size=499)
    weft.registry.register("exp", "f32 -> f32", lambda x: x * 20, hints=["large"])
    weft.registry.register("exp", "f32 -> f32", lambda x: x * 30, hints=["small"])
    f = weft.jit(lambda x: np.exp(x) + 1)

    def factor(size: int) -> int:
        """The 15 points of a suitable hint decide, or else the newest registration."""
        return 20 if size >= 65_536 else 30

    for _ in range(4):  # at first in Python, then natively
        for size in (1000, 7, 200, 65_535, 65_536, 100_000, 2):
            x = np.ones(size, np.float32)
            np.testing.assert_array_equal(f(x), x * factor(size) + 1)
    assert f.signature_cache.misses == 2
    assert f.chain.calls > 0
    guards = f.lower(np.ones(70_000, np.float32)).ir(after="select-kernels")
    assert 'guards = ["max(65536, x0) == x0"]' in guards
    weft.registry.unregister(weft.registry.implementations("exp")[1])
    weft.registry.unregister(weft.registry.implementations("exp")[1])
    for _ in range(3):
        for size, want in ((50, np.e), (100, 10), (499, 10), (500, np.e), (150, 10)):
            x = np.ones(size, np.float32)
            np.testing.assert_allclose(f(x), x * np.float32(want) + 1, rtol=1e-6)
    assert f.signature_cache.misses == 2 + 3


def test_the_size_is_that_of_all_dimensions():
    weft.registry.register("multiply", "f32 f32 -> f32", lambda x, y: x * y + 1, min_size=1000, hints=["small"])
    f = weft.jit(lambda x, y: x * y)
    for _ in range(4):
        for rows, columns in ((20, 30), (20, 50), (50, 20), (2, 499), (1000, 70), (9, 111)):
            x = np.full((rows, columns), 3, np.float32)
            np.testing.assert_array_equal(f(x, x[0]), x * 3 + (rows * columns >= 1000))
    assert f.signature_cache.misses == 2 and f.chain.calls > 0


def test_functions_that_can_not_be_traced_run_in_between():
    def ranks(x):
        return np.argsort(np.argsort(x)).astype(np.float32)

    made = weft.registry.register("ranks", "f32 -> f32", ranks)
    assert made.kind == "python" and "numpy.argsort" in made.note
    f = weft.jit(lambda x: weft.ops.ranks(-x) * 2 + 1)
    np.testing.assert_array_equal(f(X), ranks(-X) * 2 + 1)
    assert f.lower(X).fallbacks == ("ranks",) and len(f.lower(X).kernels) == 2
    np.testing.assert_array_equal(f(X[:5]), ranks(-X[:5]) * 2 + 1)
    exp = weft.jit(lambda x: np.exp(x) + np.sort(weft.ops.ranks(x)))
    weft.registry.register("exp", "f32 -> f32", lambda x: np.exp(x) * 2, kind="python", alignment=4096)
    np.testing.assert_allclose(exp(X), np.exp(X) * 2 + np.arange(1000), rtol=1e-6)


def test_python_kernels_that_fail_are_named():
    cases = {
        "raises": (lambda x: {}["no"], KernelFailure, "the Python kernel 'raises' of 'raises' raised KeyError: 'no'"),
        "wide": (
            lambda x: np.sort(x).astype(np.float64),
            TypeProblem,
            "'wide' must return f32, as in f32 -> f32, not float64",
        ),
        "short": (lambda x: np.sort(x)[1:], ShapeProblem, r"'short' must return shape \(1000,\) .* not \(999,\)"),
        "none": (
            lambda x: print(end="") if np.sort(x) is None else None,
            TypeProblem,
            "'none' must return one array, not a NoneType",
        ),
        "masked": (
            lambda x: np.ma.masked_array(x, x > 0),
            TypeProblem,
            "'masked' must return a plain array, not a MaskedArray",
        ),
        "writes": (lambda x: x.sort() or x, KernelFailure, "'writes' raised ValueError: .*read-only"),
    }
    for name, (function, error, message) in cases.items():
        weft.registry.register(name, "f32 -> f32", function, kind="python")
        with pytest.raises(error, match=message):
            weft.call(name, X)
    with pytest.raises(TypeProblem, match="the name of an op must be a string"):
        weft.call(np.add, X, X)


def test_the_reference_backend_runs_them_too():
    weft.registry.unary("cube", lambda x: x * x * x)
    weft.registry.register("exp", "f32 -> f32", poly)
    weft.registry.register("flipped", "f32 -> f32", lambda x: np.flip(np.sort(x)), kind="python")
    f = weft.jit(lambda x: weft.ops.flipped(weft.ops.cube(x)) + np.exp(x) + weft.ops.relu(x), backend="reference")
    np.testing.assert_allclose(f(X), np.flip(X * X * X) + poly(X) + np.maximum(X, 0), rtol=1e-6)


def test_decorator_and_builder():
    @weft.registry.register("twice", "f32 -> f32", hints=["vectorized"])
    def twice(x):
        return x * 2

    assert twice(3) == 6
    half = weft.registry.builder().with_op("half").with_signature("f32 -> f32").with_hints("small")
    made = half.with_function(lambda x: x / 2).with_variant("optimized").with_sizes(most=4000).build()
    assert (made.variant, made.constraints.max_size, made.hints) == ("optimized", 4000, {"small"})
    assert weft.registry.register(made) is made
    np.testing.assert_array_equal(weft.ops.half(weft.ops.twice(X)), X)
    with pytest.raises(Unsupported, match="no implementation of 'half' takes"):
        weft.ops.half(np.ones(5000, np.float32))
    with pytest.raises(TypeProblem, match="needs function"):
        weft.registry.builder().with_op("half").build()


def test_explain_names_what_was_chosen():
    weft.registry.register("exp", "f32 -> f32", poly, hints=["vectorized"])
    weft.registry.register("flipped", "f32 -> f32", lambda x: np.flip(np.sort(x)), kind="python", name="mine")
    found = weft.jit(lambda x: weft.ops.flipped(np.exp(x)) + np.sort(x)).explain(X)
    assert found.chosen == ("exp: inline custom poly, score 30", "flipped (mine): python custom, score 10")
    assert found.fallbacks == ("numpy.sort",)
    assert "  chosen for exp: inline custom poly, score 30\n" in str(found)


def test_operands_of_several_dtypes_are_promoted_as_in_numpy():
    weft.registry.binary("gap", lambda x, y: np.abs(x - y))
    i, b = np.arange(5, dtype=np.int32), np.array([True, False])
    for x, y in (
        (i, 2.5),
        (i, 2),
        (b, 2),
        (i, i.astype(np.float32)),
        (X[:5], 3),
        (X[:5], X[:5].astype(np.float64)),
        (2, 3.5),
    ):
        got, want = weft.ops.gap(x, y), np.abs(np.subtract(x, y))
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_sizes_of_0_and_1():
    k = weft.compile("kernel k(x: f32[n, m]) -> f32[n, m] = softmax(x) + 1").k
    for f in (k, weft.jit(lambda x: weft.ops.softmax(x) + 1)):
        for shape in ((3, 4), (0, 3), (1, 1), (3, 1)):
            got = f(np.zeros(shape, np.float32))
            np.testing.assert_array_equal(got, np.full(shape, 1 + np.float32(1) / max(1, shape[1])))
        with pytest.raises(ValueError, match="zero-size array to reduction operation maximum") as caught:
            f(np.zeros((3, 0), np.float32))
        assert "composites.weft" not in str(caught.value)


def test_implementations_of_implementations_have_an_end():
    for k in range(65):
        weft.registry.register("exp", "f32 -> f32", lambda x: np.exp(x) + 1, name=f"level{k}")
    with pytest.raises(LimitExceeded, match="more than 64 deep, at 'level0' of 'exp'"):
        weft.ops.exp(X)
    weft.registry.unregister(weft.registry.implementations("exp")[-1])
    np.testing.assert_allclose(weft.ops.exp(X), np.exp(X) + 64, rtol=1e-6)


def test_reductions_get_their_axes():
    x = X.reshape(4, 10, 25)
    f = weft.jit(lambda x: np.sum(x, axis=(0, 2)) + np.sum(x * 2, axis=1, keepdims=True).sum())
    weft.registry.register("sum", "f32 -> f32", lambda x, axis, keepdims: np.sum(np.abs(x), axis, keepdims=keepdims))
    want = np.abs(x).sum((0, 2)) + np.abs(np.abs(x * 2).sum(1)).sum()
    np.testing.assert_allclose(f(x), want, rtol=1e-5)

    @weft.registry.register("max", "f32 -> f32", kind="python")
    def largest(x, axis, keepdims):
        return np.sort(x, axis=axis[0]).take([-1], axis[0]) if keepdims else np.max(x, axis)

    g = weft.jit(lambda x: x.max(axis=1, keepdims=True) + x.max(), whole=True)
    np.testing.assert_array_equal(g(x), x.max(1, keepdims=True) + x.max())
    weft.registry.register("max", "f32 -> f32", lambda x, axis, keepdims: x, kind="python", name="wrong")
    with pytest.raises(ShapeProblem, match="the Python kernel 'wrong' of 'max' must return shape"):
        g(x)
    with pytest.raises(Unsupported, match="can't implement 'min'"):
        weft.registry.register("min", None, weft.compile("kernel k(x: f32[n]) -> f32 = x[0]").k)


def test_other_registries_know_nothing_of_this_one():
    other = weft.Registry()
    other.unary("apart", lambda x: x + 1)
    assert other.lookup("apart", "f32").implementation.kind == "inline"
    with pytest.raises(UnknownName):
        weft.registry.lookup("apart", "f32")
