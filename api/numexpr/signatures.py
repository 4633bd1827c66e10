"""Give each operation the kinds that it is defined for, and cast operands to them.

A signature is the result's letter and those of the operands: `gt` has `bdd`, so two doubles give a bool. If several
fit, the one with the lowest kinds is used.
"""

from __future__ import annotations

from typing import Final

from .kinds import CODES, RANKED

_INTS, _REALS, _NUMBERS = "il", "fd", "ilfdc"


def _same(letters: str, operands: int) -> tuple[str, ...]:
    return tuple(letter * (operands + 1) for letter in letters)


def _tests(letters: str, operands: int) -> tuple[str, ...]:
    return tuple("b" + letter * operands for letter in letters)


_ARITHMETIC = ("add", "sub", "mul", "div", "pow")
_ORDERED = ("gt", "ge")
_EQUAL = ("eq", "ne")
_BITS = ("and", "or", "xor")
_FLOAT_FUNCTIONS = (
    "sqrt", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh",
    "log", "log1p", "log10", "log2", "exp", "expm1", "conj",
)  # fmt: skip

SIGNATURES: Final[dict[str, tuple[str, ...]]] = {
    **{name: _same(_NUMBERS, 2) for name in _ARITHMETIC},
    **{name: _same("ilfd", 2) for name in ("mod", "floordiv")},
    **{name: _same(_INTS, 2) for name in ("lshift", "rshift")},
    **{name: _same("bil", 2) for name in _BITS},
    **{name: _tests("ilfds", 2) for name in _ORDERED},
    **{name: _tests("bilfdcs", 2) for name in _EQUAL},
    **{name: _same(_REALS + "c", 1) for name in _FLOAT_FUNCTIONS},
    **{name: _same(_REALS, 1) for name in ("ceil", "floor", "trunc")},
    **{name: _same(_NUMBERS, 1) for name in ("abs", "sign", "round", "neg", "ones_like")},
    **{name: _same(_REALS, 2) for name in
       ("fmod", "arctan2", "hypot", "nextafter", "copysign", "maximum", "minimum")},
    **{name: _tests("fdc", 1) for name in ("isnan", "isfinite", "isinf")},
    "signbit": _tests(_REALS, 1),
    "invert": _same("bil", 1),
    "copy": _same("bilfdcs", 1),
    "where": tuple(f"{letter}b{letter}{letter}" for letter in "bilfdc"),
    "real": ("dc",), "imag": ("dc",), "complex": ("cdd",),
    "contains": ("bss",),
    **{name: _same(_NUMBERS, 1) for name in ("sum", "prod")},
    **{name: _same("ilfd", 1) for name in ("min", "max")},
}  # fmt: skip

_RANKS = {CODES[kind]: rank for rank, kind in enumerate(RANKED)}
_KINDS = {code: kind for kind, code in CODES.items()}


def operand_kinds(operation: str, kind: str, operands: list[str]) -> list[str]:
    """Return the kinds to which the operands of an operation are cast."""
    have = "".join(CODES[k] for k in operands)
    fitting = [s[1:] for s in SIGNATURES[operation] if s[0] == CODES[kind] and _fits(have, s[1:])]
    if not fitting:
        # pandas compares this text with numexpr's.
        raise NotImplementedError(f"couldn't find matching opcode for '{operation}_{CODES[kind]}{have}'")
    best = min(fitting, key=lambda s: [_RANKS.get(letter, 0) for letter in s])
    return [_KINDS[letter] for letter in best]


def _fits(have: str, want: str) -> bool:
    if len(have) != len(want):
        return False
    return all(h == w if "s" in (h, w) else _RANKS[h] <= _RANKS[w] for h, w in zip(have, want, strict=True))
