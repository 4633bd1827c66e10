"""Emit lookups in a table of sixteen numbers that stays in registers.

A permutation looks up all lanes at once. Sixteen `float`s are one register under AVX-512 and two under AVX2; sixteen
`double`s are two registers under AVX-512. Elsewhere the lanes are loaded one by one; gathers would be slower than that.
Vectors of those sizes exist only if the instructions do, except those that the plan splits into several registers.
"""

from __future__ import annotations

from typing import NamedTuple

from ..code.text import Emitter, Val

ENTRIES = 16
SIZES = {"float": 4, "double": 8}


class RegisterTable(NamedTuple):
    """Sixteen numbers under a unique name."""

    name: str
    numbers: tuple[float, ...]


def lookup(e: Emitter, index: Val, table: RegisterTable) -> Val:
    """The number at `index % 16`, for every lane: of `float` for an `i32` index, of `double` for `i64`."""
    elem = "float" if index.elem == "i32" else "double"
    halves = [e.lanes_of(elem, list(half)) for half in (table.numbers[:8], table.numbers[8:])]
    if elem == "float" and index.lanes == 16 and e.vector_bytes >= 64:
        return e.call("x86.avx512.permvar.sf.512", e.lanes_of(elem, list(table.numbers)), index, suffix="")
    if elem == "float" and index.lanes == 8 and e.vector_bytes >= 32:
        lower, upper = (e.call("x86.avx2.permps", half, index, suffix="") for half in halves)
        fourth_bit = e.op("shl", index, e.const_like(index, 28))
        return e.select(e.icmp("slt", fourth_bit, e.zero_like(index)), upper, lower)
    if elem == "double" and index.lanes == 8 and e.vector_bytes >= 64:
        return e.call("x86.avx512.vpermi2var.pd.512", halves[0], index, halves[1], suffix="")
    if elem == "double" and index.lanes == 16 and e.vector_bytes >= 64:
        # Beside arrays of `complex64`, which has 16 lanes, there are programs in `double`.
        lower, upper = (e.shuffle(index, index, list(range(first, first + 8))) for first in (0, 8))
        return e.shuffle(lookup(e, lower, table), lookup(e, upper, table), list(range(16)))
    return _from_memory(e, e.op("and", index, e.const_like(index, ENTRIES - 1)), table, elem)


def _from_memory(e: Emitter, index: Val, table: RegisterTable, elem: str) -> Val:
    symbol = f"@weft.{table.name}"
    e.declared[symbol] = f"{symbol} = private unnamed_addr constant {e.lanes_of(elem, list(table.numbers)).typed}"

    def entry(at: Val) -> Val:
        return e.load(e.emit(f"getelementptr {elem}, ptr {symbol}, {at.typed}", "ptr", 0), elem, 0, SIZES[elem])

    if not index.lanes:
        return entry(index)
    result = Val("poison", elem, index.lanes)
    for lane in range(index.lanes):
        found = entry(e.extract(index, lane))
        result = e.emit(f"insertelement {result.typed}, {found.typed}, i64 {lane}", elem, index.lanes)
    return result
