"""Test random programs: each gives graphs or one of Weft's own errors."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from weft.frontend.language.source import LanguageKernel, parse_module
from weft.frontend.numpy.functions import FUNCTIONS
from weft.ir.dtypes import CLASSES
from weft.ir.errors import WeftError
from weft.ir.source import ArgType
from weft.ir.types import TensorType

SIZES = {"n": 3, "m": 4}

leaves = st.sampled_from(
    ["x", "y", "i", "k", "b", "n", "m", "0", "1", "-2", "3.5", "1e300", "18446744073709551615", "true", "None", "...",
     "C", "pi", "f32", "float", '"text"', "(1, 2)", "()", "2j", "inf"]
)  # fmt: skip
operators = st.sampled_from(
    ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>", "<", "<=", "==", "!=", "and", "or", "@"]
)
names = st.sampled_from([*sorted(FUNCTIONS), "f32", "i32", "half", "pair", "g"])
keywords = st.sampled_from(["", "", "axis=", "keepdims=", "dtype=", "ddof="])


def deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    arguments = st.lists(st.tuples(keywords, inner).map("".join), max_size=3).map(", ".join)
    bound = st.one_of(st.just(""), inner)
    item = st.one_of(inner, st.tuples(bound, st.just(":"), bound).map("".join), st.just("::-1"))
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda t: f"({' '.join(t)})"),
        st.tuples(st.sampled_from(["-", "~", "not ", "+"]), inner).map(lambda t: f"({t[0]}{t[1]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(names, arguments).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(inner, st.lists(item, min_size=1, max_size=3)).map(lambda t: f"{t[0]}[{', '.join(t[1])}]"),
    )


expressions = st.recursive(leaves, deeper, max_leaves=8)
statements = st.one_of(
    st.tuples(st.sampled_from(["let a", "var a", "var v", "let a: f32[n, m]", "let a, c"]), expressions).map(
        " = ".join
    ),
    st.tuples(st.sampled_from(["v = ", "v += ", "v **= ", "w //= "]), expressions).map("".join),
    st.tuples(expressions, expressions, expressions).map(lambda t: f"if {t[0]} {{ v = {t[1]} }} else {{ v = {t[2]} }}"),
)


def argument(kernel: LanguageKernel, at: int) -> ArgType:
    declared = kernel.declared[at].type
    dtype = declared.dtype or CLASSES[declared.name][-1]
    return ArgType(dtype, tuple(SIZES.get(str(d), 2) if isinstance(d, str) else 2 for d in declared.dims or ()))


def lowered(text: str) -> int:
    """Lower all kernels of a text and return the number of graphs."""
    count = 0
    try:
        for kernel in parse_module(text, "fuzz.weft").kernels.values():
            binding = kernel.bind([argument(kernel, i) for i in range(len(kernel.parameters))])
            graph = kernel.build(binding).graph
            assert all(isinstance(v.type, TensorType) and not v.type.dtype.weak for v in graph.outputs)
            count += 1
    except WeftError as error:
        assert str(error)
    return count


HEAD = """\
const C = 2
fn half(x) = x / 2
kernel pair(p: float[..., m]) -> (float, float[...]) { return max(p), sum(p, axis=-1) }
"""
PARAMS = "x: f32[n, m], y: f64[m], i: i32[n, m], k: i32, b: bool"


@settings(max_examples=400, deadline=None)
@given(expressions)
def test_random_expressions(expression: str) -> None:
    lowered(f"{HEAD}fn g(x) = x * 3\nkernel f({PARAMS}) = {expression}\n")


@settings(max_examples=300, deadline=None)
@given(st.lists(statements, max_size=4), expressions)
def test_random_bodies(body: list[str], expression: str) -> None:
    lines = "\n".join(["var v = x", "var w = 1", *body, f"return {expression}"])
    lowered(f"{HEAD}fn g(x) = x\nkernel f({PARAMS}) {{\n{lines}\n}}\n")


@settings(max_examples=300, deadline=None)
@given(st.lists(statements, max_size=4), expressions)
def test_random_functions(body: list[str], expression: str) -> None:
    lines = "\n".join(["var v = x", "var w = 1", *body, f"return {expression}"])
    functions = f"fn h(x, y, i, k, b, n, m) {{\n{lines}\n}}\nfn g(x) = x\n"
    lowered(f"{HEAD}{functions}kernel f({PARAMS}) = h(x, y, i, k, b, 2, 3.5)\n")


def test_a_right_program_is_lowered() -> None:
    assert lowered(f"{HEAD}kernel f({PARAMS}) = half(x) + y\n") == 2
