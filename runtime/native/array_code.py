"""Generate the LLVM code that makes NumPy arrays whose data is a block of the free list, and that frees them.

NumPy frees and resizes an array's data with functions that the array itself names. If a resize makes the data small, it
moves to memory from the C library's `malloc`, behind 64 bytes whose first word is 0. A block has its size in that word.
"""

from __future__ import annotations

from . import abi, block_code

LEAST = 1 << 16  # bytes from which an array's data is a block; smaller data comes from the C library without new pages
OWNED, C_ARRAY, F_ARRAY = 0x4, 0x501, 0x502  # NumPy's flags; the last two are of aligned, writeable arrays
TRACED = 389047  # NumPy's domain in tracemalloc
OUTSIDE = (*block_code.OUTSIDE, "malloc", "free")
EXPORTED = ("block_malloc", "block_calloc", "block_realloc", "block_free", "new_array", "set_limit")


def text() -> str:
    """Return the whole module, including the list of blocks."""
    return block_code.text() + _TEXT.format(
        **block_code.places(), LEAST=LEAST, OWNED=OWNED, C_ARRAY=C_ARRAY, F_ARRAY=F_ARRAY, TRACED=TRACED,
        HANDLER=abi.HANDLER, FLAGS=abi.FLAGS,
    )  # fmt: skip


_TEXT = """
declare ptr @malloc(i64)
declare void @free(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare i64 @llvm.umin.i64(i64, i64)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)
declare {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64, i64)

define ptr @block_malloc(ptr %context, i64 %bytes) {{
entry:
  %large = icmp uge i64 %bytes, {LEAST}
  br i1 %large, label %block, label %small
block:
  %absurd = icmp slt i64 %bytes, 0
  br i1 %absurd, label %nothing, label %take
take:
  %taken = call ptr @taken(i64 %bytes)
  ret ptr %taken
small:
  %length = add i64 %bytes, 64
  %base = call ptr @malloc(i64 %length)
  %failed = icmp eq ptr %base, null
  br i1 %failed, label %nothing, label %made
made:
  store i64 0, ptr %base, align 8
  %size_at = getelementptr i8, ptr %base, i64 8
  store i64 %bytes, ptr %size_at, align 8
  %data = getelementptr i8, ptr %base, i64 64
  ret ptr %data
nothing:
  ret ptr null
}}

define ptr @block_calloc(ptr %context, i64 %count, i64 %size) {{
entry:
  %product = call {{ i64, i1 }} @llvm.umul.with.overflow.i64(i64 %count, i64 %size)
  %bytes = extractvalue {{ i64, i1 }} %product, 0
  %absurd = extractvalue {{ i64, i1 }} %product, 1
  br i1 %absurd, label %nothing, label %take
take:
  %data = call ptr @block_malloc(ptr %context, i64 %bytes)
  %failed = icmp eq ptr %data, null
  br i1 %failed, label %nothing, label %clear
clear:
  call void @llvm.memset.p0.i64(ptr %data, i8 0, i64 %bytes, i1 false)
  ret ptr %data
nothing:
  ret ptr null
}}

define void @block_free(ptr %context, ptr %data, i64 %bytes) {{
entry:
  %none = icmp eq ptr %data, null
  br i1 %none, label %done, label %some
some:
  %base = getelementptr i8, ptr %data, i64 -64
  %capacity = load i64, ptr %base, align 8
  %small = icmp eq i64 %capacity, 0
  br i1 %small, label %outside, label %block
outside:
  call void @free(ptr %base)
  ret void
block:
  %in_line = call ptr @llvm.ptrmask.p0.i64(ptr %data, i64 -64)
  call void @given(ptr %in_line)
  ret void
done:
  ret void
}}

define ptr @block_realloc(ptr %context, ptr %data, i64 %bytes) {{
entry:
  %new = call ptr @block_malloc(ptr %context, i64 %bytes)
  %failed = icmp eq ptr %new, null
  %none = icmp eq ptr %data, null
  %same = or i1 %failed, %none
  br i1 %same, label %done, label %copy
copy:
  %base = getelementptr i8, ptr %data, i64 -64
  %capacity = load i64, ptr %base, align 8
  %size_at = getelementptr i8, ptr %data, i64 -56
  %size = load i64, ptr %size_at, align 8
  %small = icmp eq i64 %capacity, 0
  %address = ptrtoint ptr %data to i64
  %lead = and i64 %address, 63
  %room = sub i64 %capacity, %lead
  %old = select i1 %small, i64 %size, i64 %room
  %kept = call i64 @llvm.umin.i64(i64 %old, i64 %bytes)
  call void @llvm.memcpy.p0.p0.i64(ptr %new, ptr %data, i64 %kept, i1 false)
  call void @block_free(ptr %context, ptr %data, i64 %old)
  br label %done
done:
  ret ptr %new
}}

; An array whose data is a block. It is called as NumPy's own function is, but the size in bytes stands for the data,
; and for the last argument how far behind the beginning of a line the data begins.
define ptr @new_array(
    ptr %type, ptr %dtype, i32 %rank, ptr %sizes, ptr %strides, i64 %bytes, i32 %fortran, i64 %lead) {{
entry:
  %make = load ptr, ptr {at_numpy}, align 8
  %length = add i64 %bytes, %lead
  %taken = call ptr @block_malloc(ptr null, i64 %length)
  %block = getelementptr i8, ptr %taken, i64 %lead
  %failed = icmp eq ptr %taken, null
  br i1 %failed, label %plain, label %wrap
plain:
  %usual = call ptr %make(ptr %type, ptr %dtype, i32 %rank, ptr %sizes, ptr %strides, ptr null, i32 %fortran, ptr null)
  ret ptr %usual
wrap:
  %turned = icmp ne i32 %fortran, 0
  %kind = select i1 %turned, i32 {F_ARRAY}, i32 {C_ARRAY}
  %made = call ptr %make(ptr %type, ptr %dtype, i32 %rank, ptr %sizes, ptr %strides, ptr %block, i32 %kind, ptr null)
  %refused = icmp eq ptr %made, null
  br i1 %refused, label %back, label %own
back:
  call void @block_free(ptr null, ptr %block, i64 %bytes)
  ret ptr null
own:
  %flags_at = getelementptr i8, ptr %made, i64 {FLAGS}
  %flags = load i32, ptr %flags_at, align 4
  %owned = or i32 %flags, {OWNED}
  store i32 %owned, ptr %flags_at, align 4
  %handler = load ptr, ptr {at_handler}, align 8
  %references = load i64, ptr %handler, align 8
  %another = add i64 %references, 1
  store i64 %another, ptr %handler, align 8
  %handler_at = getelementptr i8, ptr %made, i64 {HANDLER}
  store ptr %handler, ptr %handler_at, align 8
  %trace = load ptr, ptr {at_trace}, align 8
  %traced = call i32 %trace(i32 {TRACED}, ptr %block, i64 %bytes)
  ret ptr %made
}}
"""
