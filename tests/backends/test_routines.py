"""Test the translation of routines: they compute what the same text computes in Python."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from weft.backends.llvm.code.routine_types import Layout, RoutineProblem, words
from weft.backends.llvm.code.routines import Routines
from weft.backends.llvm.engine import module
from weft.backends.llvm.engine.library import LoadedCode
from weft.backends.llvm.engine.target import host

TEXT = '''
@exported
def collatz(n: i64, most: i64) -> i64:
    """How many steps it takes to 1, or -1."""
    steps = 0
    while n != 1:
        if steps >= most:
            return -1
        if n % 2 == 0:
            n = n // 2
        elif n > 100000 and n < 200000:
            n = 3 * n + 1
            steps += 1
            continue
        else:
            n = 3 * n + 1
        steps += 1
        if n < 0 or n == 7777777:
            break
    return steps


@exported
def digits(n: i64, base: i64) -> i64:
    total = 0
    for place in range(base):
        total += least(n, place) if not (n > 50 and place == 3) else -place
        n = n // base
    return total


@inline
def least(a: i64, b: i64) -> i64:
    c = a - b
    return min(a, b) + (c if c > 0 else 0)


@exported
def fields(box: Box, step: i64) -> i64:
    box.small += i32(step)
    box.next.large = fetch_add(box.large, step)
    total, is_over = multiplied(box.large, step)
    if is_over:
        return 0
    return total + i64(box.small)
'''


class Box(ctypes.Structure):
    _fields_ = [("small", ctypes.c_int32), ("large", ctypes.c_int64), ("next", ctypes.c_void_p)]


def compiled(text: str, **structures: Layout) -> Any:
    made = module.compile_module(Routines(text, structures, {}, {}).llvm(), host())
    return LoadedCode(made.object_code, ["collatz", "digits", "fields"])


def test_routines_compute_what_python_computes() -> None:
    box = Layout({"small": (0, "i32"), "large": (8, "i64"), "next": (16, "Box")}, 24)
    code = compiled(TEXT, Box=box)
    two = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    names: dict[str, Any] = {"i64": int, "exported": lambda f: f, "inline": lambda f: f, "Box": None, "i32": int}
    exec(TEXT, names)  # our own text
    for name in ("collatz", "digits"):
        function = two(code.addresses[name])
        for a in range(1, 80):
            for b in (2, 5, 10, 200):
                assert function(a, b) == names[name](a, b), (name, a, b)
    inner, outer = Box(1, 2, None), Box(3, 4, None)
    outer.next = ctypes.addressof(inner)
    found = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(code.addresses["fields"])
    assert found(ctypes.addressof(outer), 5) == 9 * 5 + 8
    assert (outer.small, outer.large, inner.large) == (8, 9, 4)
    outer.large = 1 << 62
    assert found(ctypes.addressof(outer), 4) == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return x + nothing", "nothing is called 'nothing'"),
        ("return x.small", "x has no field 'small'"),
        ("y = x", "the end is reached without a result"),
        ("return x\n    return x", "no path leads here"),
        ("return [x]", "no routine has"),
        ("return x + i32(x)", "i64 meets i32"),
        ("return strange(x)", "nothing is called 'strange'"),
    ],
)
def test_mistakes_name_the_line(body: str, message: str) -> None:
    with pytest.raises(RoutineProblem, match=message):
        Routines(f"def f(x: i64) -> i64:\n    {body}\n", {"Box": words("small")}, {}, {}).llvm()
