from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from weft.backends.llvm.code.text import Val
from weft.backends.llvm.math.hyperbolic import SINH_NORMAL, cosh, sinh
from weft.backends.llvm.math.hyperbolic_tangent import NODE_DENSITY, tanh

from .accuracy import around, check_accuracy, check_same_as_numpy, check_same_bits, specials, spread, uniform
from .harness import DTYPES, Array

FUNCTIONS = [(sinh, mpmath.sinh, np.sinh), (cosh, mpmath.cosh, np.cosh), (tanh, mpmath.tanh, np.tanh)]
OVERFLOW = {"float": 89.4, "double": 710.4}
# Where `2^k + 2^-k` begins to round, and where the tangent becomes 1.
EXACT = {"float": [7.97, 8.32, 9.01], "double": [18.37, 18.7, 19.06]}
# Where one node of the tangent of `float` gives way to the next.
NODE_CHANGES = [(octave * quarter / 4 - 1) / NODE_DENSITY for octave in (1, 2, 4, 8) for quarter in (4, 5, 6, 7)]


def points(elem: str) -> Array:
    changes = [(k + 0.5) * np.log(2) for k in (0, 1, 2, 3, 20)] + [0.2554, 0.4259, 0.602, *NODE_CHANGES]
    return np.concatenate(
        [
            uniform(elem, -2, 2, 1500),
            uniform(elem, -25, 25, 1500),
            spread(elem, 1e-30, OVERFLOW[elem], 1000),
            uniform(elem, SINH_NORMAL[elem] - 1, OVERFLOW[elem], 500),
            around(elem, [*changes, *EXACT[elem], SINH_NORMAL[elem], np.finfo(DTYPES[elem]).tiny]),
        ]
    )


@pytest.mark.parametrize("elem", DTYPES)
@pytest.mark.parametrize(("emit", "true", "numpy"), FUNCTIONS)
def test_hyperbolic(emit: Callable[..., Val], true: Callable[..., Any], numpy: Callable[..., Array], elem: str) -> None:
    check_accuracy(emit, true, elem, points(elem), bound=0.95)
    check_same_bits(emit, elem, np.concatenate([points(elem), specials(elem)]))
    exact = specials(elem)
    check_same_as_numpy(emit, numpy, elem, exact[np.abs(exact) != 1])
