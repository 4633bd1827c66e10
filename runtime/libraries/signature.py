"""Parse the signature text of a C kernel: `f32[n, m] f32 -> f32[n]`, with `strided` in front of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...ir import dims
from ...ir.dims import Size, symbol
from ...ir.dtypes import BY_NAME
from ...ir.errors import ValueProblem, WeftError
from ...ir.externs import ExternArray, ExternDim
from ...ir.records import record
from ...ir.text.notation import parse_size

STRIDED = "strided "
_COMMA = re.compile(r",(?![^()]*\))")  # not between parentheses
_VALUE = re.compile(r"\s*,?\s*([A-Za-z_]\w*)(?:\[([^\[\]]*)\])?")


@record
class CSignature:
    """The operands and results of a C kernel; with `is_strided` it takes arrays of any layout."""

    parameters: tuple[ExternArray, ...]
    results: tuple[ExternArray, ...]
    is_strided: bool

    def __str__(self) -> str:
        return f"{' '.join(map(str, self.parameters))} -> {' '.join(map(str, self.results))}"

    def is_same(self, parameters: Sequence[ExternArray], results: Sequence[ExternArray]) -> bool:
        """Tell whether dtypes, ranks and sizes agree; the names of dimensions do not matter."""
        ours, theirs = (*self.parameters, *self.results), (*parameters, *results)
        same_counts = (len(self.parameters), len(self.results)) == (len(parameters), len(results))
        return same_counts and _numbered(ours) == _numbered(theirs)


def parse_signature(text: str) -> CSignature:
    """Parse a signature, or raise a typed error."""
    rest = text.removeprefix(STRIDED)
    left, arrow, right = rest.partition("->")
    if not arrow:
        raise ValueProblem(f"a signature must be a string such as 'f32[n] f32 -> f32[n]', not '{text}'")
    return CSignature(_values(left, text), _values(right, text), rest != text)


def _values(text: str, whole: str) -> tuple[ExternArray, ...]:
    found: list[ExternArray] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = _VALUE.match(text, at)
        if match is None or match[1] not in BY_NAME:
            raise ValueProblem(f"can't read the signature '{whole}' at '{text[at:].strip()}'")
        parts = (part.strip() for part in _COMMA.split(match[2] or ""))
        found.append(ExternArray(BY_NAME[match[1]], tuple(_dim(p, whole) for p in parts if p)))
        at = match.end()
    return tuple(found)


def _dim(part: str, whole: str) -> ExternDim:
    if part == "...":
        return ...
    try:
        return parse_size(part)
    except (WeftError, ValueError, IndexError, KeyError) as error:
        raise ValueProblem(f"'{part}' in '{whole}' is not a size") from error


def _numbered(values: Sequence[ExternArray]) -> list[ExternArray]:
    """Replace the names of dimensions by their order of appearance."""
    names: dict[str, Size] = {}
    for value in values:
        for dim in value.dims:
            for name in sorted(dims.symbols(dim)) if dim is not ... else ():
                names.setdefault(name, symbol(f"d{len(names)}"))

    def renamed(dim: ExternDim) -> ExternDim:
        return dim if dim is ... else dims.substitute(dim, names)

    return [ExternArray(v.dtype, tuple(map(renamed, v.dims))) for v in values]
