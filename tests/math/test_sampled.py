"""Test every function that `make accuracy` measures, through the public API, at a few points of every kind."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.accuracy import exact
from benchmarks.accuracy.emitted import code
from benchmarks.accuracy.formats import FORMATS, Array
from benchmarks.accuracy.plan import BLOCK, point_blocks
from benchmarks.accuracy.report import bound
from benchmarks.accuracy.subjects import kernel, wrong_specials
from benchmarks.accuracy.table import find, rows

POINTS = {"f16": 50, "bf16": 50, "f32": 200, "f64": 300, "c64": 20, "c128": 30}


def few(inputs: tuple[Array, ...], count: int) -> tuple[Array, ...]:
    chosen = np.random.default_rng(0).integers(0, inputs[0].size, count)
    return tuple(x[chosen] for x in inputs)


@pytest.mark.parametrize(("name", "dtype"), [(function.name, format.name) for function, format in rows()])
def test_sampled_accuracy(name: str, dtype: str) -> None:
    function, format = find(name, dtype), FORMATS[dtype]
    text, compiled = code(function, format), kernel(function, format)
    assert text is not None and compiled is not None, "no code of its own"
    with np.errstate(all="ignore"):
        for block in point_blocks(function, format, text, BLOCK):
            inputs = few(block, POINTS[dtype])
            errors = np.nan_to_num(exact.errors(function.true, format, inputs, compiled(*inputs)), posinf=np.inf)
            worst = int(errors.argmax())
            assert errors[worst] <= bound(format), f"{errors[worst]:.3f} ULP at {[x[worst] for x in inputs]}"
    assert wrong_specials(function, format, compiled) == []
