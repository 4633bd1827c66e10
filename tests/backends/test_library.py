"""Test the loader of machine code: relocations of both architectures, memory protection, and refusals."""

from __future__ import annotations

import ctypes
import gc
import struct
from contextlib import suppress
from pathlib import Path

import llvmlite.binding as llvm
import pytest
from weft.backends.llvm.engine import module, objects, target
from weft.backends.llvm.engine.library import BadObject, LoadedCode, image_bytes, linked, read_image
from weft.backends.llvm.engine.linking import ObjectLayout, link

TEXT = """
@table = external global [4 x i64]
@own = global i64 5
@constant = private constant [4 x i32] [i32 10, i32 20, i32 30, i32 40]
declare ptr @memcpy(ptr, ptr, i64)
declare i64 @outside(i64)

define i64 @twice(i64 %x) noinline { %y = add i64 %x, %x ret i64 %y }

define i64 @run(ptr %to, i64 %k) {
  %copied = call ptr @memcpy(ptr %to, ptr @constant, i64 16)
  %word = load i64, ptr getelementptr (i8, ptr @table, i64 16)
  %old = load i64, ptr @own
  %new = add i64 %old, 1
  store i64 %new, ptr @own
  %there = call i64 @outside(i64 %k)
  %double = call i64 @twice(i64 %there)
  %a = add i64 %word, %double
  %b = add i64 %a, %old
  ret i64 %b
}
"""
OPEN = frozenset(("table", "outside"))


def compiled(triple: str | None = None) -> bytes:
    if triple is None:
        return module.compile_module(TEXT, target.host(), OPEN).object_code
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(reloc="pic", codemodel="small")
    parsed = llvm.parse_assembly(TEXT)
    parsed.triple = triple
    return bytes(machine.emit_object(parsed))


@pytest.mark.parametrize("is_linked", [False, True])
def test_code_runs_with_routines_and_data_from_outside(is_linked: bool) -> None:
    table = (ctypes.c_int64 * 4)(1, 2, 300, 4)
    outside = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda k: k * 1000)
    places = {"table": ctypes.addressof(table), "outside": ctypes.cast(outside, ctypes.c_void_p).value or 0}
    library = LoadedCode(linked(compiled()) if is_linked else compiled(), ["run", "twice"], places)
    run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(library.addresses["run"])
    to = (ctypes.c_int32 * 4)()
    assert [run(ctypes.addressof(to), 7) for _ in range(2)] == [300 + 14000 + 5, 300 + 14000 + 6]
    assert list(to) == [10, 20, 30, 40]


def protections(address: int) -> str:
    for line in Path("/proc/self/maps").read_text().splitlines():
        low, high = (int(x, 16) for x in line.split()[0].split("-"))
        if low <= address < high:
            return line.split()[1]
    return ""


def test_no_memory_is_both_writable_and_executable() -> None:
    library = LoadedCode(compiled(), ["run"], {"table": 4096, "outside": 4096})
    image = link(ObjectLayout(objects.read(compiled()), 4096))
    base = library.addresses["run"] - image.functions["run"]
    assert [protections(base + start) for start in (0, image.constants, image.data)] == ["r-xp", "r--p", "rw-p"]
    del library
    gc.collect()
    assert protections(base) == ""


def test_every_damaged_byte_is_refused_or_harmless_to_the_loader() -> None:
    """Damaged bytes, which the cache's MAC would detect, give a typed error or an image, never another exception."""
    code = compiled()
    for at in range(len(code)):
        with suppress(BadObject):
            link(ObjectLayout(objects.read(damaged(code, at)), 4096))
    whole = linked(code)
    outside = {"table": 1 << 40, "outside": 1 << 41, "memcpy": 1 << 42}
    for at in (*range(len(whole) - len(read_image(whole, 4096).content)), *range(0, len(whole), 64)):
        for given in (damaged(whole, at), whole[:at]):
            with suppress(BadObject):
                read_image(given, 4096).placed(1 << 32, outside)
    with pytest.raises(BadObject, match="not an image"):
        read_image(whole, 1 << 16)  # pages of another machine


def damaged(code: bytes, at: int) -> bytes:
    return code[:at] + bytes((code[at] ^ 0xFF,)) + code[at + 1 :]


def test_an_image_is_read_as_it_was_written() -> None:
    for triple in (None, "aarch64-linux-gnu"):
        image = link(ObjectLayout(objects.read(compiled(triple)), 4096))
        found = read_image(image_bytes(image), 4096)
        assert found._replace(fixups=()) == image._replace(fixups=())
        assert [(at, k, more % (1 << 64)) for at, k, more in image.fixups] == list(found.fixups)


def test_missing_names_are_refused() -> None:
    with pytest.raises(BadObject, match="there is no address for the external symbol 'table'"):
        link(ObjectLayout(objects.read(compiled()), 4096)).placed(1 << 32, {"outside": 1, "memcpy": 1})
    with pytest.raises(BadObject, match="no function 'missing'"):
        LoadedCode(compiled(), ["missing"], {"table": 1, "outside": 1})


def test_arm_code_points_where_it_should() -> None:
    """AArch64 instructions are decoded by hand: page and offset of constants and of the table, and calls."""
    found = objects.read(compiled("aarch64-linux-gnu"))
    layout, base = ObjectLayout(found, 4096), 0x7_0000_0000
    outside = {"table": 0x1234_5678_9000, "outside": 0x2222_0000_0010, "memcpy": 0x3333_0000_0000}
    image = link(layout).placed(base, outside)
    seen: set[str] = set()
    for r in found.relocations:
        at = layout.places[r.section] + r.offset
        (word,) = struct.unpack_from("<I", image, at)
        symbol = found.symbols[r.symbol]
        own = base + layout.symbol(r.symbol) + r.addend if symbol.section is not None else 0
        slot = base + layout.slots[r.symbol] if r.symbol in layout.slots else 0
        if r.kind in (275, 311):
            assert word & 0x9F000000 == 0x90000000  # adrp
            pages = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
            reached = (base + at >> 12) + (pages - (1 << 21) if pages >> 20 else pages)
            assert reached == (own if r.kind == 275 else slot) >> 12
        elif r.kind in (277, 278, 284, 285, 286, 299, 312):
            scale = {277: 0, 278: 0, 284: 1, 285: 2, 286: 3, 299: 4, 312: 3}[r.kind]
            assert (word >> 10 & 0xFFF) << scale == (slot if r.kind == 312 else own) & 0xFFF
        else:
            assert r.kind in (282, 283)
            distance = (word & 0x03FFFFFF) << 2
            reached = base + at + (distance - (1 << 28) if distance >> 27 else distance)
            assert reached == (own or base + layout.stubs[r.symbol])
        seen.add(symbol.name)
    assert {"table", "outside", "memcpy", "own", "twice"} <= seen
    for symbol, at in layout.stubs.items():
        assert struct.unpack_from("<IIQ", image, at) == (0x58000050, 0xD61F0200, outside[found.symbols[symbol].name])
        assert struct.unpack_from("<Q", image, layout.slots[symbol]) == (outside[found.symbols[symbol].name],)
