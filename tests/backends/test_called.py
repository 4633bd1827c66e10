"""Test that a function that is used often is emitted once and called, with the bits of code in place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import weft
from weft.ir.errors import WeftError
from weft.ir.nest.text import parse_nest
from weft.passes.planning import called
from weft.passes.share_functions import ShareFunctions

EXTREMES = [0.0, -0.0, 1e-300, -3e5, 1e9, -1e30, 1e300, np.inf, -np.inf, np.nan]


def mixed(x: Any) -> Any:
    """Use functions of one and two arguments, with one result and with two."""
    total = 0
    for k in range(1, 5):
        total = total + np.sin(x * k) / k + np.arctan2(x, k) + np.cos(x + k) % k + np.where(x > k, np.exp(x), 1)
    return total


@pytest.mark.parametrize(
    ("dtype", "function", "name"),
    [("f64", mixed, "sin"), ("f32", mixed, "arctan2"), ("c128", lambda x: np.exp(x) ** x, "complex_exp")],
)
def test_same_bits(monkeypatch: pytest.MonkeyPatch, dtype: str, function: Any, name: str) -> None:
    rng = np.random.default_rng(5)
    x = np.concatenate([EXTREMES, rng.normal(0, 30, 60)])
    with np.errstate(all="ignore"):
        x = x.astype({"f64": "f8", "f32": "f4", "c128": "c16"}[dtype])
        if dtype == "c128":
            x = x + 1j * rng.normal(0, 3, x.size)
        found = []
        for often in (1000, 1):
            monkeypatch.setattr(called, "OFTEN", often)
            kernel = weft.compile(function(weft.tensor("x", f"{dtype}[n]")))
            assert (f"@weft.{name}." in kernel.lower(x).llvm()) == (often == 1)
            found.append(kernel(x).tobytes())
    assert found[0] == found[1]


def test_text_grows_by_calls_only() -> None:
    """A term of a long sum adds a few lines, not the code of a sine."""

    def length(terms: int) -> int:
        x = weft.tensor("x", "f64[n]")
        low = weft.compile(sum(np.sin(x * k) for k in range(1, terms + 1))).lower(np.ones(1000))
        assert 'called = ["sin"]' in str(low.ir(after="choose-forms"))
        return str(low.llvm()).count("\n")

    assert (length(120) - length(20)) / 100 < 30


def test_rest_of_a_loop_is_written_once() -> None:
    """Two vectors of a step and one masked vector for what is left: three calls of each use, not four."""
    x = weft.tensor("x", "f64[n]")
    low = weft.compile(sum(np.sin(x * k) for k in range(1, 21))).lower(np.ones(1000))
    assert "unroll = 2" in str(low.ir(after="choose-forms"))
    assert len(re.findall(r"call \{[^}]*\} @weft\.sin\.", str(low.llvm()))) == 3 * 20


def test_loops_call_functions_too() -> None:
    lines = "".join(f'%e{k + 1} = "weft.exp"(%e{k}) : (tensor<f64>) -> tensor<f64>\n' for k in range(called.OFTEN))
    text = f"""
"nest.kernel"() <{{access = ["update"], layouts = ["C"]}}> ({{
^bb0(%a : memref<?xf64, #weft.dims<n>>):
  "nest.for"() ({{
    %e0 = "nest.load"(%a) {{at = #weft.dims<@i>}} : (memref<?xf64, #weft.dims<n>>) -> tensor<f64>
    {lines}
    "nest.store"(%e{called.OFTEN}, %a) {{at = #weft.dims<@i>}} : (tensor<f64>, memref<?xf64, #weft.dims<n>>) -> ()
    "nest.yield"() : () -> ()
  }}) {{var = "i", range = #weft.dims<0, n>, kind = "vector"}} : () -> ()
  "nest.yield"() : () -> ()
}}) : () -> ()
"""
    nest = parse_nest(text, "often.mlir")
    shared = ShareFunctions().run(nest)
    assert shared.attrs["called"] == ("exp",) and ShareFunctions().run(shared) is shared
    arrays = [np.linspace(-700, -1, 37) for _ in range(2)]
    for array, source in zip(arrays, (text, text.replace("access", 'called = ["exp"], access')), strict=True):
        weft.compile(source)(array)
    assert arrays[0].tobytes() == arrays[1].tobytes()
    with pytest.raises(WeftError, match="function 'sin' in 'called' is not used here"):
        weft.compile(text.replace("access", 'called = ["sin"], access'))
