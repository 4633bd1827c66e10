"""Test elementwise programs as text: they are read back, and a mismatch between op and body is an error."""

from __future__ import annotations

import pytest
from weft.ir.errors import VerifyProblem
from weft.ir.text.parser import parse_graph
from weft.ir.text.printer import print_graph
from weft.ir.verifier.verify import Stage, verify

TEXT = """"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<n>>):
    %0 = "weft.each"(%x) ({
    ^bb0(%a : tensor<f32>):
      %1 = "weft.while"(%a) ({
      ^bb0(%b : tensor<f32>):
        %2 = "weft.signbit"(%b) : (tensor<f32>) -> tensor<i1>
        %3 = "weft.when"(%2, %b) ({
        ^bb0(%c : tensor<f32>):
          %4 = "weft.add"(%c, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
          "weft.yield"(%4) : (tensor<f32>) -> ()
        }) : (tensor<i1>, tensor<f32>) -> tensor<f32>
        "weft.yield"(%2, %3) : (tensor<i1>, tensor<f32>) -> ()
      }) {carried = 1 : i64} : (tensor<f32>) -> tensor<f32>
      "weft.yield"(%1) : (tensor<f32>) -> ()
    }) : (tensor<?xf32, #weft.dims<n>>) -> tensor<?xf32, #weft.dims<n>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<n>>) -> ()
  }) : () -> ()
}) : () -> ()
"""


LOOP = """"builtin.module"() ({
  "weft.kernel"() <{sym_name = "f"}> ({
  ^bb0(%x : tensor<?xf32, #weft.dims<m>>, %go : tensor<i1>, %k : tensor<f32>):
    %0 = "weft.loop"(%go, %x, %k) ({
    ^bb0(%v : tensor<?xf32, #weft.dims<m>>, %k_1 : tensor<f32>):
      %1 = "weft.add"(%v, %k_1) : (tensor<?xf32, #weft.dims<m>>, tensor<f32>) -> tensor<?xf32, #weft.dims<m>>
      %2 = "weft.sum"(%1) {axes = array<i64: 0>} : (tensor<?xf32, #weft.dims<m>>) -> tensor<f32>
      %3 = "weft.signbit"(%2) : (tensor<f32>) -> tensor<i1>
      "weft.yield"(%3, %1) : (tensor<i1>, tensor<?xf32, #weft.dims<m>>) -> ()
    }) {carried = 1 : i64} : (tensor<i1>, tensor<?xf32, #weft.dims<m>>, tensor<f32>) -> tensor<?xf32, #weft.dims<m>>
    "weft.return"(%0) : (tensor<?xf32, #weft.dims<m>>) -> ()
  }) : () -> ()
}) : () -> ()
"""


@pytest.mark.parametrize("text", [TEXT, LOOP], ids=["elements", "arrays"])
def test_text_is_read_back(text: str) -> None:
    graph = parse_graph(text)
    verify(graph, Stage.PROMOTED)
    assert print_graph(graph) == text


@pytest.mark.parametrize(
    ("text", "old", "new", "problem"),
    [
        (
            TEXT,
            '"weft.yield"(%2, %3) : (tensor<i1>, tensor<f32>)',
            '"weft.yield"(%3) : (tensor<f32>)',
            "must return a bool and",
        ),
        (TEXT, "{carried = 1 : i64}", "{carried = 0 : i64}", "has 1 value to carry"),
        (TEXT, '"weft.when"(%2, %b)', '"weft.when"(%b, %b)', r"operands are \(f32, f32\)"),
        (TEXT, '"weft.when"(%2, %b)', '"weft.when"(%2)', r"operands are \(bool\)"),
        (TEXT, "^bb0(%a : tensor<f32>)", "^bb0(%a : tensor<2xf32>)", "operands are"),
        (
            LOOP,
            '"weft.yield"(%3, %1) : (tensor<i1>, tensor<?xf32, #weft.dims<m>>)',
            '"weft.yield"(%3, %2) : (tensor<i1>, tensor<f32>)',
            "body must return",
        ),
        (LOOP, '"weft.loop"(%go, %x, %k)', '"weft.loop"(%go, %x, %x)', "operands are"),
        (LOOP, '"weft.loop"(%go, %x, %k)', '"weft.loop"(%k, %x, %k)', "operands are"),
        (LOOP, "{carried = 1 : i64}", "{carried = 0 : i64}", "has 2 values to carry"),
    ],
)
def test_what_does_not_fit_is_told(text: str, old: str, new: str, problem: str) -> None:
    assert old in text
    with pytest.raises(VerifyProblem, match=problem):
        verify(parse_graph(text.replace(old, new)))
