"""Test that the vectors of a step go through a function one after another, before the next function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.llvm.elements.operations import Operations

compute = Operations.compute


def test_functions_take_all_vectors_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    emitted = list[str]()

    def noted(self: Any, node: Any, operands: Any) -> Any:
        emitted.append(node.op.name)
        return compute(self, node, operands)

    monkeypatch.setattr(Operations, "compute", noted)
    x = np.linspace(-720.0, 720.0, 4001)  # rare arguments as well, in some vectors only
    with np.errstate(all="ignore"):
        found, alone = weft.jit(lambda x: np.log(np.exp(x) + 1))(x), np.log(np.exp(x) + 1)
        assert [name for name in emitted if name in ("exp", "log")][:4] == ["exp", "exp", "log", "log"]
        assert np.allclose(found, alone, rtol=1e-15)


def test_functions_of_walks_come_after_their_walks() -> None:
    x = np.array([[0.5, 4.0, -1.0], [2.0, 1.5, 3.0]])
    with np.errstate(invalid="ignore"):
        assert np.allclose(weft.jit(lambda x: np.log(x.max(axis=0)))(x), np.log(x.max(axis=0)), rtol=1e-15)
