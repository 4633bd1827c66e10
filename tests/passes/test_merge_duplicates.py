"""Test that attributes are equal only if they are equal to the bit and of the same kind."""

from __future__ import annotations

import itertools
import math
import struct

import pytest
from weft.ir.types import Attr, Sizes
from weft.passes.merge_duplicates import exact

OTHER_NAN = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
DIFFERENT: list[Attr] = [
    0, 0.0, -0.0, False, 1, 1.0, True, math.nan, OTHER_NAN, complex(0, 0), complex(0, -0.0), (1,), Sizes((1,)), "1", (),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), list(itertools.combinations(DIFFERENT, 2)))
def test_different_attributes_have_different_keys(a: Attr, b: Attr) -> None:
    assert exact(a) != exact(b)


@pytest.mark.parametrize("attr", DIFFERENT)
def test_equal_attributes_have_equal_keys(attr: Attr) -> None:
    assert exact(attr) == exact(attr) and hash(exact(attr)) == hash(exact(attr))
    assert exact(math.nan) == exact(float("nan"))
