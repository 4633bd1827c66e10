"""Test non-temporal stores: the same bits for any alignment, on each CPU level."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from weft.backends.llvm.engine import target
from weft.frontend.language.source import parse_module
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

MODULE = parse_module(
    """
kernel one(x: f32[n], y: f32[n]) -> f32[n] { return x * y + 1 }
kernel rows(x: f64[n, m], y: f64[m]) -> (a: f64[n, m], b: f64[n, m]) { return x * y, x - y }
kernel narrow(x: i16[n]) -> i16[n] { return x * 3 }
kernel neighbours(x: f64[n, m]) -> f64[n - 2, m] { return x[:-2] + x[1:-1] * 2 - x[2:] }
kernel truth(x: f32[n]) -> bool[n] { return x > 0.5 }
""",
    "streams",
)
STREAM = (("stream", 1),)


def arguments(name: str, size: int, offset: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(size)
    if name == "neighbours":
        return (rng.random((7, size + offset))[:, offset:],)
    if name == "rows":
        return rng.random((7, size + offset))[:, offset:], rng.random(size)
    if name == "narrow":
        return (rng.integers(0, 99, size + offset).astype(np.int16)[offset:],)
    return tuple(rng.random(size + offset).astype(np.float32)[offset:] for _ in range(2 if name == "one" else 1))


def described(results: Any) -> list[bytes]:
    return [x.tobytes() for x in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("level", [3, 4])
@pytest.mark.parametrize("name", MODULE.kernels)
def test_streams_give_the_same_bits(name: str, level: int) -> None:
    machine = target.x86(level)
    plain, streams = (
        Kernel(MODULE.kernels[name], Registry(), Options(target=machine, variant=v)) for v in ((), STREAM)
    )
    for size in (0, 1, 5, 64, 1000, 5003):
        for offset in (0, 1, 3):
            args = arguments(name, size, offset)
            expected, found = described(plain(*args)), described(streams(*args))
            assert expected == found
            if name == "one":
                out = np.zeros(size + 4, np.float32)
                streams(*args, out=out[offset : offset + size])
                assert [out[offset : offset + size].tobytes()] == expected
                assert not out[:offset].any() and not out[offset + size :].any()
    assert ("vmovnt" in streams.lower(*args).asm()) == (name != "truth")
    assert "vmovnt" not in plain.lower(*args).asm()


def test_a_function_waits_once_for_its_streams() -> None:
    """Other threads read the result when the function has ended, so there is no fence after each row."""
    kernel = Kernel(MODULE.kernels["neighbours"], Registry(), Options(target=target.x86(4), variant=STREAM))
    text = kernel.lower(*arguments("neighbours", 1000, 0)).llvm()
    _, last = text.split("  fence seq_cst\n")
    assert "head" not in last[: last.index("\n}")]  # no loop comes after it, or around it
