"""Emit Weft's vector code for a function and a format, and read its properties.

The code's hash tells whether a measurement is still of today's code. The constants that it compares with are its
thresholds, and the numbers beside them are the arguments at which it changes its method.
"""

from __future__ import annotations

import hashlib
import re
import struct

import numpy as np
from weft.backends.llvm.code.text import Emitter, Val
from weft.backends.llvm.elements.ops import EMITTERS
from weft.backends.llvm.math.complex_table import COMPLEX
from weft.ir import dtypes
from weft.ir.ops import TABLE

from .formats import F32, Array, Format
from .functions import Function

LANES = 4
_HINT = re.compile(r", !prof .*")
_COMPARE = re.compile(r"= [fi]cmp .*")
_CONSTANT = re.compile(r"\b(?:float|double) 0x([0-9A-F]{16})|\b(?:i32|i64) (-?\d+)")


def code(function: Function, format: Format) -> str | None:
    """Return the text of the vector code, or nothing if the backend has no such op. Halves are computed in f32."""
    op = TABLE.get(function.language)
    if op is None or (function.language not in COMPLEX if format.is_complex else op not in EMITTERS):
        return None
    computed = F32 if format.bits < F32.bits else format.part
    elem = "double" if computed.name == "f64" else "float"
    e = Emitter()
    values = [Val(f"%x{i}", elem, LANES) for i in range(function.arity * (1 + format.is_complex))]
    if format.is_complex:
        COMPLEX[function.language](e, *values)
    else:
        EMITTERS[op](e, dtypes.parse(computed.name), *values)
    return "\n".join(e.lines)


def fingerprint(text: str, format: Format) -> str:
    """Return the code's hash without the hints for LLVM, which change no result."""
    return hashlib.sha256(f"{format.name}\n{_HINT.sub('', text)}".encode()).hexdigest()[:16]


def thresholds(text: str, format: Format) -> Array:
    """Return the constants that the code compares with, and related numbers: not all comparisons are with `|x|`."""
    found = set()
    for line in _COMPARE.findall(text):
        for real, whole in _CONSTANT.findall(line):
            found.add(struct.unpack(">d", bytes.fromhex(real))[0] if real else _reinterpreted(int(whole), format))
    known = np.array([abs(value) for value in sorted(found) if np.isfinite(value) and value])
    with np.errstate(all="ignore"):
        derived = np.concatenate([known, np.sqrt(known), known * known, 1 + known, np.abs(1 - known), 1 / known])
    return np.unique(derived[np.isfinite(derived) & (derived <= format.largest)])


def _reinterpreted(bits: int, format: Format) -> float:
    """Return a threshold on the bits of a number as that number."""
    computed = F32 if format.bits < F32.bits else format.part
    size = 8 * computed.dtype.itemsize
    return float(np.array(bits & ((1 << (size - 1)) - 1), computed.pattern).view(computed.dtype))
