"""What a user's file with Weft means to type checkers: `make types` checks it, and nothing runs it.

A line that must be an error has an ignore comment with the error's code: mypy reports ignores that nothing needs.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt
import weft
from weft.frontend.tracing.tracer import Tracer
from weft.module import Module
from weft.runtime.compiler import Lowered
from weft.runtime.explain import Explanation
from weft.runtime.kernel import Kernel

Floats = npt.NDArray[np.float64]


@weft.jit
def scaled(x: Floats, k: float = 2.0) -> Floats:
    return x * k


@weft.jit(static=("axis",), whole=True)
def both(x: Floats, axis: int) -> tuple[Floats, int]:
    return x, axis


class Model:
    def __init__(self, w: Floats) -> None:
        self.w = w

    @weft.jit
    def predict(self, x: Floats) -> Floats:
        return x * self.w

    @staticmethod
    @weft.jit
    def doubled(x: Floats) -> Floats:
        return x * 2


def functions(x: Floats) -> None:
    assert_type(scaled(x), Floats)
    assert_type(scaled(x, k=3.0), Floats)
    assert_type(scaled(x, out=x), Floats)
    assert_type(both(x, axis=0), tuple[Floats, int])
    assert_type(scaled.lower(x), Lowered)
    assert_type(scaled.lower(x).ir(after="fuse"), str)
    assert_type(scaled.lower(x).explain(), Explanation)
    assert_type(str(scaled.explain()), str)
    scaled("x")  # type: ignore[call-overload]
    scaled(x, wrong=1)  # type: ignore[call-overload]
    scaled.lower("x")  # type: ignore[call-overload]
    weft.jit(scaled, fastmath=True)  # type: ignore[call-overload]


def methods(model: Model, x: Floats) -> None:
    assert_type(model.predict(x), Floats)
    assert_type(model.predict.lower(x), Lowered)
    assert_type(model.doubled(x), Floats)
    assert_type(Model.predict(model, x), Floats)


def kernels(x: Floats) -> None:
    t = weft.tensor("t", "f64[n]")
    assert_type(t, Tracer)
    assert_type(weft.compile(t - 1, name="less"), Any)  # the result depends on the value: a kernel, or a module
    assert_type(weft.load("kernels.weft"), Module)
    assert_type(weft.load("kernels.weft").softmax, Kernel)
    assert_type(weft.load("kernels.weft").softmax.explain(x), Explanation)
    assert_type(weft.kernels.softmax(x), Any)
    assert_type(weft.get_threads(), int)
    weft.jitt(scaled)  # type: ignore[attr-defined]
    weft.set_threads("two")  # type: ignore[arg-type]
