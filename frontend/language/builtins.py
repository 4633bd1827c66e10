"""Names that the language knows by itself besides its functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from ..numpy import elementwise

CONSTANTS: Mapping[str, float] = MappingProxyType(
    {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan, "euler_gamma": 0.5772156649015329}
)
"""NumPy's constants. A variable may have the same name."""

ELEMENTS = frozenset((*elementwise.ELEMENTWISE, *elementwise.ALIASES))
"""Functions of elements: what a `fn` may call."""
