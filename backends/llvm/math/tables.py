"""Emit lookups in a table of sixteen `float` numbers that stays in registers.

A permutation looks up all lanes at once: of one register with 16 lanes under AVX-512, of two with 8 lanes under AVX2.
Vectors of those sizes exist only if the instructions do, except those that the plan splits into several registers.
Gathers would be slower than computing the values.
"""

from __future__ import annotations

from typing import NamedTuple

from ..code.text import Emitter, Val

ENTRIES = 16


class RegisterTable(NamedTuple):
    """Sixteen numbers under a unique name."""

    name: str
    numbers: tuple[float, ...]


def lookup(e: Emitter, index: Val, table: RegisterTable) -> Val:
    """The number at `index % 16`, for every lane of an `i32` index."""
    if index.lanes == ENTRIES and (e.vector_bytes is None or e.vector_bytes >= 64):
        return e.call("x86.avx512.permvar.sf.512", e.lanes_of("float", list(table.numbers)), index, suffix="")
    if index.lanes == ENTRIES // 2 and (e.vector_bytes is None or e.vector_bytes >= 32):
        halves = (list(table.numbers[:8]), list(table.numbers[8:]))
        lower, upper = (e.call("x86.avx2.permps", e.lanes_of("float", half), index, suffix="") for half in halves)
        fourth_bit = e.op("shl", index, e.const_like(index, 28))
        return e.select(e.icmp("slt", fourth_bit, e.zero_like(index)), upper, lower)
    return _from_memory(e, e.op("and", index, e.const_like(index, ENTRIES - 1)), table)


def _from_memory(e: Emitter, index: Val, table: RegisterTable) -> Val:
    symbol = f"@weft.{table.name}"
    e.declared[symbol] = f"{symbol} = private unnamed_addr constant {e.lanes_of('float', list(table.numbers)).typed}"

    def entry(at: Val) -> Val:
        return e.load(e.emit(f"getelementptr float, ptr {symbol}, {at.typed}", "ptr", 0), "float", 0, 4)

    if not index.lanes:
        return entry(index)
    result = Val("poison", "float", index.lanes)
    for lane in range(index.lanes):
        found = entry(e.extract(index, lane))
        result = e.emit(f"insertelement {result.typed}, {found.typed}, i64 {lane}", "float", index.lanes)
    return result
