"""Loop nests of regions: they mean what their regions do, read back, can be edited, and wrong ones are refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import nests
from weft.function import tracing
from weft.ir.errors import IndexProblem, VerifyProblem
from weft.ir.graph import Node
from weft.ir.nest.regions import verify_code
from weft.ir.walking import regions
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser as XdslParser

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(16)


def numbers(*shape: int, dtype: Any = np.float32) -> Array:
    return (RNG.standard_normal(shape) * 5).astype(dtype)


def stencil(v: Any) -> Any:
    return v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:] - 4 * v[1:-1, 1:-1]


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def above(x: Any) -> Any:
    return x - x.max(axis=1, keepdims=True)


KERNELS = weft.compile("""
kernel filtered(x: f32[n, m], w: f32[a, b]) -> f32[n-a+1, m-b+1] {
    let y[i in 0..n-a+1, j in 0..m-b+1] = sum[p in 0..a, q in 0..b](x[i+p, j+q] * w[p, q])
    return y
}
kernel moved(x: f32[n, m]) -> (f32[n-1, m-2], f32[n-1, m-2]) {
    let highest[i in 0..n-1, j in 0..m-2] = max[p in 0..2, q in 0..3](x[i+p, j+q])
    let total[i in 0..n-1, j in 0..m-2] = sum[p in 0..2, q in 0..3](x[i+p, j+q])
    return highest, total
}
""")
X, Y, V = numbers(5, 7), numbers(5, 7), numbers(7)
Z = (numbers(4, 9) + 1j * numbers(4, 9)).astype(np.complex64)
CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "collapsed": (lambda x, y: x * 2 + y, (X, Y)),
    "broadcast": (lambda x, v: np.where(x > 0, x - v, v), (numbers(3, 19), numbers(19))),
    "orders": (lambda x, y: x - y, (X, np.asfortranarray(Y))),
    "fortran": (lambda x, y: x - y, (np.asfortranarray(X), np.asfortranarray(Y))),
    "strided": (lambda x, v: x[::2, ::-1] * v[None, ::-1], (numbers(9, 14)[:, ::2], V)),
    "numbers": (lambda x, k: np.tril(x) * k, (X, 3)),
    "several": (lambda x, y: (x // y, x % y, x > y), (X, Y)),
    "jammed": (stencil, (numbers(11, 9),)),
    "slice of rows": (lambda x: x[1:] - x[:-1], (X,)),
    "three axes": (lambda x, y: x[1:].transpose(0, 2, 1) + y, (numbers(3, 4, 5), numbers(2, 5, 4))),
    "reshaped": (lambda x, y: x.reshape(5, 7) + y, (numbers(35), Y)),
    "one column": (lambda x: np.exp(x).sum(axis=1, keepdims=True) + x.max(axis=1, keepdims=True), (numbers(6, 1),)),
    "gathered": (lambda x, i: x[i] * 2, (X, np.array([4, -1, 0, -5]))),
    "complex": (lambda z, w: z * w + np.conj(z[:, ::-1]), (Z, Z[::-1])),
    "complex gathered": (lambda z, i: z[:, i].imag, (Z, np.array([3, -2]))),
    "halves": (lambda x, y: x * y + 1, (X.astype(np.float16), Y.astype(np.float16))),
    "bools": (lambda x, y: ~((x > 1) & (y < 0)), (X, Y)),
    "scalar": (lambda x, y: x * y, (np.float32(3), np.float32(5))),
    "empty": (lambda x, y: x + y, (numbers(0, 4), numbers(0, 4))),
    "softmax": (softmax, (numbers(5, 67),)),
    "short rows": (softmax, (numbers(37, 9),)),
    "kept": (lambda x: np.exp(x).sum(axis=1) + above(np.exp(x)).sum(axis=1), (numbers(3, 40),)),
    "rows in lanes": (lambda x: (np.sqrt((x * x).sum(axis=0)), x.max(axis=0)), (numbers(29, 37),)),
    "kept in lanes": (lambda x: np.exp(x).sum(axis=1) + above(np.exp(x)).sum(axis=1), (numbers(21, 6),)),
    "two axes": (lambda x: x.sum(axis=(0, 2)) + x.max(axis=(0, 2)), (numbers(3, 4, 23),)),
    "collapsed columns": (lambda x: x.mean(axis=(1, 2)), (numbers(3, 4, 23),)),
    "walked together": (lambda x, v: (x * v).sum(axis=1), (numbers(7, 90), numbers(90))),
    "positions": (lambda x: (x.argmax(axis=1), x.argmin(axis=1), x.min(axis=1)), (numbers(4, 75),)),
    "positions in lanes": (lambda x: (x.argmax(axis=0), x.min(axis=0)), (numbers(19, 33),)),
    "first": (lambda x: (x > 8).argmax(axis=1), (numbers(4, 300),)),
    "scanned": (lambda x: np.cumsum(x, axis=1) / x.sum(axis=1, keepdims=True), (numbers(4, 41),)),
    "scanned in lanes": (lambda x: np.maximum.accumulate(x * 2, axis=0), (numbers(13, 35),)),
    "scanned by another op": (lambda x: np.logical_xor.accumulate(x > 0, axis=1), (numbers(3, 20),)),
    "rows of a product": (lambda x, y: softmax(x @ y), (numbers(6, 5), numbers(5, 40))),
    "short rows of a product": (lambda x, y: softmax(x @ y), (numbers(2, 19, 5), numbers(2, 5, 7))),
    "flat": (lambda x, v, w: np.where(x > v, x * w, v), (numbers(90, 5), numbers(5), numbers(90, 1))),
    "windows": (lambda x, w: KERNELS.filtered(x, w), (numbers(9, 43), numbers(3, 3))),
    "long windows": (lambda x, w: KERNELS.filtered(x, w), (numbers(9, 43), numbers(2, 11))),
    "sums of windows": (lambda x: KERNELS.moved(x), (numbers(6, 39),)),
    "nothing": (lambda x: x.sum(axis=1), (numbers(3, 0),)),
}


def results(given: Any) -> tuple[Any, ...]:
    return given if isinstance(given, tuple) else (given,)


def lowered(name: str) -> Any:
    function, args = CASES[name]
    return tracing(function).lower(*args)


def region_of(name: str) -> Node:
    (region,) = [r for r in regions(lowered(name).graph) if r.code is not None]
    return region


@pytest.mark.parametrize("name", CASES)
def test_a_nest_means_what_its_region_does(name: str) -> None:
    """The verifier accepts it, and its meaning in Python (in every order of its loops) has the bits of native code."""
    function, args = CASES[name]
    kernel = tracing(function)
    wanted = results(kernel(*args))
    graph = kernel.lower(*args).graph
    verify_code(graph)
    (region,) = [r for r in regions(graph) if r.code is not None]
    assert region.code is not None
    places = {v: np.asarray(a) for v, a in zip(graph.inputs, args, strict=True)}
    for lockstep in (False, True):
        given = [np.asarray(places[v], v.type.dtype.strong.numpy) for v in region.operands]
        if len(region.code.inputs) > len(region.operands) + len(region.results):  # a product, which tiles have written
            given.append(np.matmul(*args))
        made = [np.empty_like(np.asarray(w)) for w in wanted]
        nests.run(region.code, [*given, *made], lockstep=lockstep)
        for have, want in zip(made, wanted, strict=True):
            np.testing.assert_allclose(have, want, rtol=1e-6)


def test_every_dump_is_read_back_and_by_xdsl() -> None:
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    for name, (function, args) in CASES.items():
        text = lowered(name).ir(after="to-nest")
        XdslParser(context, text).parse_module().verify()
        again = weft.compile(text)
        for have, want in zip(results(again(*args)), results(tracing(function)(*args)), strict=True):
            assert np.array_equal(have, want), name
        assert again.lower(*args).ir().count('"nest.store"') == text.count('"nest.store"')
    function, args = CASES["several"]
    found = tracing(function).lower(*args)
    assert weft.compile(found.to_networkx()).lower(*args).ir() == weft.compile(found.ir()).lower(*args).ir()


EDITS = [
    ("collapsed", [(r"times = \d+", "times = 1"), (r"grain = \d+", "grain = 16")]),
    ("collapsed", [('kind = "vector"', 'kind = "serial"'), (", shared", "")]),
    ("collapsed", [("line = 2 : i64, ", ""), (r"width = \d+", "width = 2")]),
    ("collapsed", [("at = #weft.dims<@i>} : .tensor<f32>", "at = #weft.dims<@i>, stream} : (tensor<f32>")]),
    ("jammed", [('kind = "jammed"', 'kind = "serial"')]),
    ("jammed", [(r'kind = "jammed", times = \d', 'kind = "jammed", times = 3')]),
    ("orders", [('kind = "serial", shared', 'kind = "jammed", times = 3 : i64, shared'), ("most = 128", "most = 3")]),
    ("orders", [('kind = "vector"', 'kind = "unrolled"'), ("#weft.dims<0, x1>, kind", "#weft.dims<0, 7>, kind")]),
    ("softmax", [('kind = "serial", shared', 'kind = "jammed", times = 3 : i64, shared')]),
    ("softmax", [(r"width = \d+", "width = 4"), (r"times = \d+", "times = 8")]),
    ("softmax", [("kind = .vector., width = [0-9]+ : i64, times", 'kind = "serial", times'), (", shared", "")]),
    ("rows in lanes", [(r"times = \d+ : i64", "times = 1 : i64"), (r" +.nest.fetch.*\n", "")]),
    ("rows in lanes", [('kind = "vector", width', 'kind = "serial", width')]),
    ("kept in lanes", [("times = 1 : i64", "times = 2 : i64")]),
    ("walked together", [(r", line = \d : i64", ""), ("times = 4", "times = 5")]),
    ("flat", [(", flat", "")]),
    ("flat", [('kind = "vector"', 'kind = "serial"')]),
    ("flat", [(r"width = \d+ : i64, times", "width = 4 : i64, times"), (", shared", "")]),
    ("windows", [('kind = "jammed"', 'kind = "serial"'), (r"times = \d+", "times = 1")]),
    ("windows", [("taps = array<i64: 3, 3>", "taps = array<i64: 0, 3>"), ('kind = "vector"', 'kind = "serial"')]),
    ("windows", [("taps = array<i64: 3, 3>", "taps = array<i64: 0, 0>"), (r"width = \d+", "width = 2")]),
    ("sums of windows", [(r'kind = "jammed", times = \d', 'kind = "jammed", times = 3')]),
    ("first", [(", until", ""), (r"times = \d+", "times = 2")]),
    ("scanned", [(r"times = \d+", "times = 1")]),
    ("scanned in lanes", [('kind = "vector"', 'kind = "serial"')]),
]


@pytest.mark.parametrize(("name", "edits"), EDITS)
def test_an_edited_nest_gives_the_same_bits(name: str, edits: list[tuple[str, str]]) -> None:
    function, args = CASES[name]
    head, mark, nest = lowered(name).ir().partition('"nest.kernel"')
    for old, new in edits:
        nest, count = re.subn(old, new, nest)
        assert count, (old, nest)
    wanted = results(tracing(function)(*args))
    for have, want in zip(results(weft.compile(head + mark + nest)(*args)), wanted, strict=True):
        assert np.array_equal(have, want)


REFUSED = [
    ("collapsed", "at = #weft.dims<@i>", "at = #weft.dims<@i + 1>", "can't show that index"),
    ("collapsed", 'collapse = ["0+1"]', 'collapse = ["1+0"]', "not contiguous"),
    ("collapsed", "#weft.dims<0, x0*x1>", "#weft.dims<0, x0*x1 + 1>", "can't show that index"),
    ("collapsed", "#weft.dims<0, x0*x1>", "#weft.dims<0, q>", "'q'"),
    ("collapsed", '"read", "write"]', '"read", "update"]', "must read the operands"),
    ("collapsed", "times = 4 : i64", "times = 3 : i64", "power of two"),
    ("collapsed", '"nest.load"(%5)', '"nest.load"(%6)', "before any store"),
    ("orders", "at = #weft.dims<@i, @j>} : (tensor", "at = #weft.dims<@i, 0>} : (tensor", "can't be"),
    ("orders", "at = #weft.dims<@i, @j>", "at = #weft.dims<@i, min(@j, 3)>", "linear"),
    ("orders", '{var = "j"', '{var = "i"', "already the variable"),
    ("strided", 'kind = "vector"', 'kind = "vectors"', "must be"),
    ("orders", "most = 128", "most = 0", "'most' must be a whole number from 1"),
    ("complex", '"weft.real"', '"weft.conjugate"', "conjugate"),
    ("softmax", "load\"(%out0) {at = #weft.dims<@i, @j>", "load\"(%out0) {at = #weft.dims<@i, 0>", "move with"),
    ("softmax", "load\"(%out0) {at = #weft.dims<@i, @j>", "load\"(%out0) {at = #weft.dims<0, @j>", "at the same place"),
    ("softmax", "array<i64: 16>", "array<i64: 0>", "same 'steps'"),
    ("softmax", 'combine = "max"', 'combine = "min"', "as their walk does"),
    ("softmax", 'combine = ["max"]', 'combine = ["reduce_or"]', "not defined"),
    ("softmax", "range = #weft.dims<0, x1>", "range = #weft.dims<0, x1 + 1>", "can't show that index"),
    ("softmax", 'vars = ["j"]', 'vars = ["i"]', "already the variable"),
    ("softmax", "combine = [", "until, combine = [", "first true element"),
    ("kept in lanes", "#weft.dims<0, x1>", "#weft.dims<0, x0>", "at most 16 steps"),
    ("kept in lanes", "memref<?xf32, #weft.dims<x1>>", "memref<?xf32, #weft.dims<@i>>", "depend on loops"),
    ("rows of a product", '%product) {at = #weft.dims<@i, @j>', '%product) {at = #weft.dims<0, @j>', "row of"),
    ("rows of a product", "#weft.dims<0, x0>, kind", "#weft.dims<0, 1>, kind", "all rows"),
    ("scanned in lanes", 'kind = "serial"', 'kind = "serial", flat', "is a flat loop"),
    ("windows", "taps = array<i64: 3, 3>", "taps = array<i64: 3, 2>", "guard that the range of @l is 2"),
    ("windows", "taps = array<i64: 3, 3>", "taps = array<i64: 3>", "'taps' for each"),
    ("windows", "taps = array<i64: 3, 3>, ", "", "'taps' for each"),
    ("windows", "taps = array<i64: 3, 3>", "taps = array<i64: 3, 0>", "innermost ranges"),
    ("windows", "chained = array<i64: 1>", "chained = array<i64: 1, 0>", "as many entries"),
    ("windows", '"weft.mul"', '"weft.sub"', "sums of products"),
    ("sums of windows", "taps = array<i64: 2, 3>", "taps = array<i64: 0, 3>", "must unroll"),
    ("scanned", 'var = "j", combine', 'var = "i", combine', "along the serial or vector loop"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "message"), REFUSED)
def test_a_wrong_nest_is_refused_at_its_line(name: str, old: str, new: str, message: str) -> None:
    head, mark, rest = lowered(name).ir().partition('"nest.kernel"')
    nest, end, plan = rest.partition("}) {space")
    assert old in nest
    with pytest.raises(weft.errors.WeftError, match=message) as found:
        weft.compile(head + mark + nest.replace(old, new) + end + plan)
    assert found.value.span is not None


def test_loops_over_windows_are_around_what_is_unrolled() -> None:
    """Otherwise the terms of a sum would be added in another order."""
    text = lowered("windows").ir(after="choose-forms")
    for taps, message in (
        ("3, 0", "must unroll the innermost windows"),
        ("3, 2", "the window of w1 is 2"),
    ):
        with pytest.raises(VerifyProblem, match=message):
            weft.compile(text.replace("taps = array<i64: 3, 3>", f"taps = array<i64: {taps}>"))


def test_an_index_out_of_range_still_raises() -> None:
    function, (x, _) = CASES["gathered"]
    with pytest.raises(IndexError, match="out of bounds"):
        tracing(function)(x, np.array([5]))
    with pytest.raises((IndexProblem, VerifyProblem)):
        region = region_of("gathered")
        assert region.code is not None
        nests.run(region.code, [x, np.array([5]), np.empty((1, 7), np.float32)])
