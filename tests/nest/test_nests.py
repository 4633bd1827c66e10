"""Test loop nests: text, verifier and interpreter, on the nests of `examples/nests` and on random ones."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from weft.backends import nests
from weft.ir.errors import IndexProblem, ShapeProblem, SyntaxProblem, VerifyProblem, WeftError
from weft.ir.nest import dependence
from weft.ir.nest.text import parse_nest
from weft.ir.text.printer import print_nest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser as XdslParser

from .random_nests import draw, draw_rich

EXAMPLES = Path(__file__).parents[2] / "examples" / "nests"
NAMES = sorted(p.stem for p in EXAMPLES.glob("*.mlir"))
Array = np.ndarray[Any, Any]


def text_of(name: str) -> str:
    return (EXAMPLES / f"{name}.mlir").read_text(encoding="utf-8")


def in_every_order(text: str, *arrays: Array, **numbers: int) -> list[Array]:
    """Return a nest's buffers after checking that serial, lockstep and shuffled runs give the same bits."""
    nest = parse_nest(text)
    every = []
    for lockstep in (False, True):
        for seed in (0, 1):
            own = [a.copy() for a in arrays]
            nests.run(nest, own, numbers, lockstep, seed)
            every.append(own)
    for other in every[1:]:
        assert [a.tobytes() for a in other] == [a.tobytes() for a in every[0]]
    return every[0]


def randn(*shape: int, dtype: str = "f4") -> Array:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize("name", NAMES)
def test_text_is_read_back(name: str) -> None:
    nest = parse_nest(text_of(name))
    assert nest.name == name and print_nest(nest) == text_of(name)


def test_mlir_of_another_hand_is_read() -> None:
    """Type aliases, attributes after the body, a missing name, and `mod` in an index are read."""
    nest = parse_nest("""
!a = memref<?xf32, #weft.dims<n>>
!f = tensor<f32>
"nest.kernel"() ({
^bb0(%a : !a, %b : !a):
  %c = "nest.alloc"() {place = "stack"} : () -> memref<2xf32>
  "nest.for"() ({
    %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (!a) -> !f
    "nest.store"(%0, %c) {at = #weft.dims<mod(@i, 2)>} : (!f, memref<2xf32>) -> ()
    %1 = "nest.load"(%c) {at = #weft.dims<mod(@i, 2)>} : (memref<2xf32>) -> !f
    "nest.store"(%1, %b) {at = #weft.dims<@i>} : (!f, !a) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) {access = ["read", "write"], layouts = ["S", "C"]} : () -> ()
""")
    assert parse_nest(print_nest(nest)).name == "nest"
    out = np.zeros(5, "f4")
    nests.run(nest, [np.arange(5, dtype="f4"), out])
    assert out.tolist() == [0, 1, 2, 3, 4]


def test_several_results_have_names_in_every_notation() -> None:
    """MLIR names results together (`%r:2`) or one by one (`%s, %t`); sizes are sums as people write them."""
    text = """
!a = memref<?xf64, #weft.dims<n>>
!f = tensor<f64>
"nest.kernel"() <{access = ["update"]}> ({
^bb0(%a : !a):
  %0 = "nest.load"(%a) {at = #weft.dims<-1 + (2 - 1)>} : (!a) -> !f
  NAMES = "nest.for"(%0, %0) ({
  ^bb0(%low : !f, %high : !f):
    %x = "nest.load"(%a) {at = #weft.dims<@i + -1>} : (!a) -> !f
    %l = "weft.minimum"(%low, %x) : (!f, !f) -> !f
    %h = "weft.maximum"(%high, %x) : (!f, !f) -> !f
    "nest.yield"(%l, %h) : (!f, !f) -> ()
  }) {var = "i", range = #weft.dims<1, n + 1>, kind = "serial"} : (!f, !f) -> (!f, !f)
  "nest.store"(FIRST, %a) {at = #weft.dims<0>} : (!f, !a) -> ()
  "nest.store"(SECOND, %a) {at = #weft.dims<n - 1>} : (!f, !a) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
"""
    for names, first, second in (("%r:2", "%r#0", "%r#1"), ("%s, %t", "%s", "%t"), ("%s:1, %t", "%s", "%t")):
        own = text.replace("NAMES", names).replace("FIRST", first).replace("SECOND", second)
        assert in_every_order(own, np.array([3.0, 1, 7, 2]))[0].tolist() == [1, 1, 7, 7]
        assert in_every_order(print_nest(parse_nest(own)), np.array([3.0, 1]))[0].tolist() == [1, 3]
    with pytest.raises(VerifyProblem, match="for has 2 results, but the text says 3"):
        parse_nest(text.replace("NAMES", "%r:2, %t"))
    with pytest.raises(SyntaxProblem, match="'%r' is defined twice"):
        parse_nest(text.replace("NAMES", "%r, %r"))


def test_elementwise() -> None:
    a, b = randn(37), randn(37)[::-1].copy()
    assert np.array_equal(in_every_order(text_of("chain"), a, b, np.zeros(37, "f4"))[2], a * b + np.float32(2))
    x, y = randn(5, 7), randn(7, 5)
    assert np.array_equal(in_every_order(text_of("addt"), x, y, np.zeros((5, 7), "f4"))[2], x + y.T)


def test_reductions() -> None:
    x = randn(4, 90)
    assert np.array_equal(in_every_order(text_of("argmax"), x, np.zeros(4, "i8"))[1], x.argmax(1))
    e = np.exp(x / 2 - (x / 2).max(1, keepdims=True))
    np.testing.assert_allclose(in_every_order(text_of("softmax"), x, x)[1], e / e.sum(1, keepdims=True), rtol=1e-6)
    y = randn(300, 3)
    np.testing.assert_allclose(in_every_order(text_of("colsum"), y, y[0])[1], y.sum(0, dtype="f8"), rtol=1e-4)
    z = randn(2, 3, 4, 5)
    np.testing.assert_allclose(in_every_order(text_of("three_axis_sum"), z, z)[1], z / z.sum((0, 1, 2)), rtol=1e-4)


def test_products() -> None:
    a, b, c = randn(4, 6), randn(6, 5), randn(5)
    from scipy.special import erf

    z = a.astype("f8") @ b + c
    found = in_every_order(text_of("layer"), a, b, c, np.zeros((4, 5), "f4"))[3]
    np.testing.assert_allclose(found, z * (1 + erf(z / np.sqrt(2))) / 2, rtol=1e-5, atol=1e-6)


def test_in_place() -> None:
    a = randn(6, 6, dtype="f8")
    a = a @ a.T + 6 * np.eye(6)
    np.testing.assert_allclose(np.tril(in_every_order(text_of("cholesky"), a)[0]), np.linalg.cholesky(a))
    u = randn(8, 8, dtype="f8")
    v = u.copy()
    for i, j in [(i, j) for _ in range(2) for i in range(1, 7) for j in range(1, 7)]:
        v[i, j] = v[i - 1 : i + 2, j - 1 : j + 2].sum() / 9
    np.testing.assert_allclose(in_every_order(text_of("seidel"), u, steps=3)[0], v)
    w = randn(6, 9)
    x = w.copy()
    x[1:-1, 1:-1] = (w[:-2, 1:-1] + w[2:, 1:-1] + w[1:-1, :-2] + w[1:-1, 2:]) / 4
    np.testing.assert_allclose(in_every_order(text_of("stencil_in_place"), w)[0], x, rtol=1e-5)


def test_sizes_that_do_not_fit_are_refused() -> None:
    nest = parse_nest(text_of("stencil_in_place"))
    with pytest.raises(ShapeProblem, match=r"stencil_in_place needs .*, which does not hold for these arrays"):
        nests.run(nest, [np.zeros((0, 3), "f4")])
    with pytest.raises(ShapeProblem, match="'a' is f64"):
        nests.run(parse_nest(text_of("cholesky")), [np.zeros((2, 3))])


REFUSED = {
    # what is changed, by what, and what is said of it
    "a load of what an earlier step stored": (
        "chain", '"nest.load"(%a) {at = #weft.dims<@i>}', '"nest.load"(%o) {at = #weft.dims<@i>}',
        "its access is write",
    ),
    "a store to what is only read": (
        "chain", '"nest.store"(%4, %o)', '"nest.store"(%4, %b)', "stores to %b, which the nest only reads",
    ),
    "an index past the end": (
        "chain", "%0 = \"nest.load\"(%a) {at = #weft.dims<@i>}", "%0 = \"nest.load\"(%a) {at = #weft.dims<@i + 1>}",
        r"can't show that index @i \+ 1 of axis 0 of %a is below n",
    ),
    "an index before the start": (
        "chain", "%0 = \"nest.load\"(%a) {at = #weft.dims<@i>}", "%0 = \"nest.load\"(%a) {at = #weft.dims<@i - 1>}",
        "is at least 0",
    ),
    "a variable of no loop": (
        "chain", "%0 = \"nest.load\"(%a) {at = #weft.dims<@i>}", "%0 = \"nest.load\"(%a) {at = #weft.dims<@j>}",
        "no loop around it has the variable @j",
    ),
    "vectors along a recurrence": (
        "seidel", 'range = #weft.dims<1, n - 1>, kind = "serial"} : (tensor<f64>)',
        'range = #weft.dims<1, n - 1>, kind = "vector"} : (tensor<f64>)',
        "carries values, so it must be serial or unrolled",
    ),
    "rows of Gauss-Seidel at once": (
        "seidel", '{var = "i", range = #weft.dims<1, n - 1>, kind = "serial"}',
        '{var = "i", range = #weft.dims<1, n - 1>, kind = "jammed"}',
        r"can't be a jammed loop: the load of %a .* and the store to %a .* access the same element 1 iteration apart",
    ),
    "rows of Gauss-Seidel shared": (
        "seidel", '{var = "i", range = #weft.dims<1, n - 1>, kind = "serial"}',
        '{var = "i", range = #weft.dims<1, n - 1>, kind = "serial", shared}',
        "can't be shared between threads: the load",
    ),
    "columns of Cholesky at once": (
        "cholesky", '{var = "j", range = #weft.dims<0, @i>, kind = "serial"}',
        '{var = "j", range = #weft.dims<0, @i>, kind = "vector"}', "may access the same element in any two iterations",
    ),
    "a range of its own variable": (
        "cholesky", '{var = "j", range = #weft.dims<0, @i>, kind = "serial"}',
        '{var = "j", range = #weft.dims<0, @j>, kind = "serial"}', "no loop around it has the variable @j",
    ),
    "an unknown attribute": ("chain", "times = 4 : i64", "tims = 4 : i64", "unknown attribute 'tims'; did you mean"),
    "a width that is none": ("chain", "width = 16 : i64", "width = 5 : i64", "'width' must be a power of two"),
    "another dtype": (
        "chain", '"weft.mul"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f32>',
        '"weft.mul"(%0, %1) : (tensor<f32>, tensor<f32>) -> tensor<f64>', "mul returns f32, but the text says f64",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_refused(what: str) -> None:
    name, old, new, message = REFUSED[what]
    assert old in text_of(name)
    with pytest.raises(VerifyProblem, match=message) as found:
        parse_nest(text_of(name).replace(old, new), "edited.mlir")
    span = found.value.span
    assert span is not None and span.file == "edited.mlir" and span.line > 1


def test_a_running_value_goes_along_the_innermost_loop() -> None:
    """With a loop between there would be a running value for each of its steps, which no code has."""
    text = """
!a = memref<?x?xf64, #weft.dims<n, m>>
"nest.kernel"() <{access = ["update"]}> ({
^bb0(%a : !a):
  "nest.for"() ({
    "nest.for"() ({
      %0 = "nest.load"(%a) {at = #weft.dims<@i, @j>} : (!a) -> tensor<f64>
      %1 = "nest.scan"(%0) {var = "j", combine = "add"} : (tensor<f64>) -> tensor<f64>
      "nest.store"(%1, %a) {at = #weft.dims<@i, @j>} : (tensor<f64>, !a) -> ()
      "nest.yield"() : () -> ()
    }) {var = "j", range = #weft.dims<0, m>, kind = "serial"} : () -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
"""
    x = randn(3, 4, dtype="f8")
    assert np.array_equal(in_every_order(text, x)[0], np.cumsum(x, 1))
    with pytest.raises(VerifyProblem, match="runs along @i, but the loop over @j is between"):
        parse_nest(text.replace('{var = "j", combine', '{var = "i", combine'))


def test_loop_variables_and_buffers_stay_in_nests() -> None:
    from weft.ir.text.parser import parse_graph

    kernel = '"weft.kernel"() <{{sym_name = "k"}}> ({{ ^bb0(%x : {0}): "weft.return"(%x) : ({0}) -> () }}) : () -> ()'
    for type_text in ("memref<4xf32>", "tensor<?xf32, #weft.dims<@i>>"):
        with pytest.raises(SyntaxProblem, match="is only for nests"):
            parse_graph(kernel.format(type_text))


def test_numbers_from_data_are_checked() -> None:
    text = """
!a = memref<?xi64, #weft.dims<n>>
!b = memref<?xf64, #weft.dims<m>>
"nest.kernel"() <{access = ["read", "update"]}> ({
^bb0(%k : !a, %b : !b):
  "nest.for"() ({
    %0 = "nest.load"(%k) {at = #weft.dims<@i>} : (!a) -> tensor<i64>
    "nest.bind"(%0) {var = "p", range = #weft.dims<0, m>} : (tensor<i64>) -> ()
    %1 = "nest.load"(%b) {at = #weft.dims<@p>} : (!b) -> tensor<f64>
    %2 = "weft.constant"() {value = 1.0 : f64, dtype = f64} : () -> tensor<f64>
    %3 = "weft.add"(%1, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "nest.store"(%3, %b) {at = #weft.dims<@p>} : (tensor<f64>, !b) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
"""
    (_, counts) = in_every_order(text, np.array([0, 2, 2, 2, 1]), np.zeros(3))
    assert counts.tolist() == [1, 1, 3]
    with pytest.raises(IndexProblem, match="index 3 is out of bounds for axis with size 3"):
        in_every_order(text, np.array([0, 3]), np.zeros(3))
    with pytest.raises(VerifyProblem, match="may access the same element in any two iterations"):
        parse_nest(text.replace('kind = "serial"', 'kind = "vector"'))


def verdicts(seeds: range) -> tuple[int, int]:
    """Return how many random nests the verifier accepts, which must give the same in every order, and how many it
    refuses."""
    accepted = refused = 0
    for seed in seeds:
        text = draw(seed)
        try:
            parse_nest(text)
        except WeftError as error:
            assert re.search("can't be|shared", str(error)), f"seed {seed}: {error}"
            refused += 1
            continue
        rank = 2 if "memref<?x?" in text else 1
        indices = np.arange(9) % 4
        in_every_order(text, randn(*(9, 8)[:rank], dtype="f8"), randn(*(9, 8)[:rank], dtype="f8") + 3, indices)
        accepted += 1
    return accepted, refused


def test_what_is_accepted_gives_the_same_in_every_order() -> None:
    accepted, refused = verdicts(range(120))
    assert accepted > 30 and refused > 30


FAULTS = {
    "the sign of a distance": lambda distance, first, second, strict: (
        abs(distance) if isinstance(distance, int) and not strict else distance, first, second, strict,
    ),
    "distances of jammed and shared loops": lambda distance, first, second, strict: (distance, first, second, False),
    "accesses of which nothing is known": lambda distance, first, second, strict: (
        0 if isinstance(distance, dependence.Meeting) else distance, first, second, strict,
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_table_is_found(fault: str) -> None:
    right = dependence._is_allowed
    with (
        mock.patch.object(dependence, "_is_allowed", lambda *args: right(*FAULTS[fault](*args))),
        pytest.raises(AssertionError),
    ):
        verdicts(range(400))


MUTATIONS = {
    # how each file of refused/ may be changed and stays wrong
    "jammed_rows": (("", ""), ('"jammed", width = 2 : i64', '"serial", shared'), ('"jammed", width', '"vector", width'),
                    ("@i + 1, @j - 1", "@i + 1, @j")),
    "load_after_store": (("", ""), ("@j + 1", "@j + 1 - 2*floordiv(@j, 2)"), ("width = 4 : i64", "shared"),
                         ('kind = "vector", width = 4 : i64', 'kind = "jammed"')),
    "vector_around_serial": (("", ""), ("@i - 1, @j + 1", "@i, @j + 1"), ('"vector"', '"jammed"'),
                             ('"vector"', '"serial", shared')),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTATIONS)
def test_dependences_are_refused_with_both_accesses(name: str) -> None:
    text = (Path(__file__).parent / "refused" / f"{name}.mlir").read_text(encoding="utf-8")
    for old, new in MUTATIONS[name]:
        assert old in text
        with pytest.raises(VerifyProblem) as found:
            parse_nest(text.replace(old, new), "edited.mlir")
        both = r"the load of %a at .* in line (\d+) and the store to %a at .* in line (\d+)"
        accesses = re.search(both, str(found.value))
        assert accesses is not None, str(found.value)
        lines = text.splitlines()
        assert "nest.load" in lines[int(accesses[1]) - 1] and "nest.store" in lines[int(accesses[2]) - 1]
        assert found.value.span is not None and '"nest.for"' in lines[found.value.span.line - 1]


def test_xdsl_reads_every_nest() -> None:
    """The examples as they stand, and what is printed of random nests that the verifier accepts."""
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    texts = [text_of(name) for name in NAMES]
    for seed in range(60):
        try:
            texts.append(print_nest(parse_nest(draw_rich(seed))))
        except VerifyProblem:
            continue
    assert len(texts) > len(NAMES) + 10
    for text in texts:
        module = XdslParser(context, text).parse_module()
        module.verify()
        assert next(iter(module.body.block.ops)).regions
