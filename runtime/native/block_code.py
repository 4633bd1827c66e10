"""Generate the LLVM code of a free list of memory blocks, which are kept for reuse when nobody needs them.

A block begins on a page. The page before it ends in a cache line whose words all hold the size of the block. So the
size can be read 64 bytes before the data of an array, wherever in the block's first line the data begins. The newest
block is last in the list; the oldest are returned to the system when the list exceeds its limit. No system call is made
while the list is locked.
"""

from __future__ import annotations

FIELDS = {
    name: 8 * k
    for k, name in enumerate(
        (
            "lock", "limit", "held", "used", "reused", "fresh", "count", "least", "new_array", "numpy", "trace",
            "handler", "malloc", "free", "most",
        )
    )
}  # fmt: skip
SLOTS = 64  # blocks in the list
SIZE = 128 + 16 * (SLOTS + 1)

PAGE, HUGE = 4096, 1 << 21
NEAR = 2  # a block is reused for arrays down to 1 - 1 / 2**NEAR of its size
OUTSIDE = ("mmap", "munmap", "madvise", "sched_yield")


def places() -> dict[str, str]:
    """Return the addresses of the fields, as constants of the text."""
    return {f"at_{name}": f"getelementptr (i8, ptr @state, i64 {at})" for name, at in FIELDS.items()}


def text() -> str:
    """Return the module: `taken(bytes)` returns a block or null, `given(block)` keeps it, `set_limit` is for Python."""
    return _TEXT.format(
        **places(), SLOTS=SLOTS, PAGE=PAGE, HUGE=HUGE, NEAR=NEAR, LESS_PAGE=PAGE - 1, LESS_HUGE=HUGE - 1
    )


_TEXT = """
@state = external global [0 x i8]
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare i32 @madvise(ptr, i64, i32)
declare i32 @sched_yield()
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)

define internal void @lock() {{
entry:
  br label %try
try:
  %was = atomicrmw xchg ptr {at_lock}, i64 1 acquire, align 8
  %taken = icmp ne i64 %was, 0
  br i1 %taken, label %wait, label %done
wait:
  %yielded = call i32 @sched_yield()
  br label %try
done:
  ret void
}}

define internal void @unlock() {{
  store atomic i64 0, ptr {at_lock} release, align 8
  ret void
}}

define internal void @add(ptr %field, i64 %step) {{
  %was = atomicrmw add ptr %field, i64 %step monotonic, align 8
  ret void
}}

; A block from the system. Large ones begin where huge pages do.
define internal ptr @mapped(i64 %bytes) {{
entry:
  %huge = icmp uge i64 %bytes, {HUGE}
  %grain = select i1 %huge, i64 {LESS_HUGE}, i64 {LESS_PAGE}
  %outside = xor i64 %grain, -1
  %more = add i64 %bytes, %grain
  %capacity = and i64 %more, %outside
  %room = add i64 %capacity, %grain
  %length = add i64 %room, 1
  %base = call ptr @mmap(ptr null, i64 %length, i32 3, i32 34, i32 -1, i64 0)
  %start = ptrtoint ptr %base to i64
  %failed = icmp eq i64 %start, -1
  br i1 %failed, label %none, label %some
none:
  ret ptr null
some:
  %behind = add i64 %start, {PAGE}
  %up = add i64 %behind, %grain
  %data = and i64 %up, %outside
  %first = sub i64 %data, {PAGE}
  %head = sub i64 %first, %start
  %end = add i64 %data, %capacity
  %after = add i64 %start, %length
  %tail = sub i64 %after, %end
  %before = icmp ne i64 %head, 0
  br i1 %before, label %cut_head, label %headless
cut_head:
  %cut1 = call i32 @munmap(ptr %base, i64 %head)
  br label %headless
headless:
  %beyond = icmp ne i64 %tail, 0
  br i1 %beyond, label %cut_tail, label %tailless
cut_tail:
  %rest = inttoptr i64 %end to ptr
  %cut2 = call i32 @munmap(ptr %rest, i64 %tail)
  br label %tailless
tailless:
  %block = inttoptr i64 %data to ptr
  br i1 %huge, label %advise, label %done
advise:
  %advised = call i32 @madvise(ptr %block, i64 %capacity, i32 14)
  br label %done
done:
  %at = getelementptr i8, ptr %block, i64 -64
  %one = insertelement <8 x i64> poison, i64 %capacity, i64 0
  %all = shufflevector <8 x i64> %one, <8 x i64> poison, <8 x i32> zeroinitializer
  store <8 x i64> %all, ptr %at, align 64
  ret ptr %block
}}

define internal void @unmapped(ptr %block) {{
  %at = getelementptr i8, ptr %block, i64 -64
  %capacity = load i64, ptr %at, align 8
  %length = add i64 %capacity, {PAGE}
  %base = getelementptr i8, ptr %block, i64 -{PAGE}
  %result = call i32 @munmap(ptr %base, i64 %length)
  ret void
}}

; The place of a block in the list.
define internal ptr @slot(i64 %k) {{
  %bytes = shl i64 %k, 4
  %offset = add i64 %bytes, 128
  %at = getelementptr i8, ptr @state, i64 %offset
  ret ptr %at
}}

; Takes a block out of the list, which is locked.
define internal ptr @removed(i64 %k) {{
  %at = call ptr @slot(i64 %k)
  %block = load ptr, ptr %at, align 8
  %size_at = getelementptr i8, ptr %at, i64 8
  %capacity = load i64, ptr %size_at, align 8
  %count = load i64, ptr {at_count}, align 8
  %less = sub i64 %count, 1
  store i64 %less, ptr {at_count}, align 8
  %later = sub i64 %less, %k
  %bytes = shl i64 %later, 4
  %next = getelementptr i8, ptr %at, i64 16
  call void @llvm.memmove.p0.p0.i64(ptr %at, ptr %next, i64 %bytes, i1 false)
  %held = load i64, ptr {at_held}, align 8
  %left = sub i64 %held, %capacity
  store i64 %left, ptr {at_held}, align 8
  ret ptr %block
}}

; Gives the oldest blocks back to the system until the list, which is locked, holds no more than a limit.
define internal void @trim(i64 %limit) {{
entry:
  br label %look
look:
  %held = load i64, ptr {at_held}, align 8
  %count = load i64, ptr {at_count}, align 8
  %over = icmp ugt i64 %held, %limit
  %full = icmp ugt i64 %count, {SLOTS}
  %much = or i1 %over, %full
  br i1 %much, label %drop, label %done
drop:
  %oldest = call ptr @removed(i64 0)
  call void @unlock()
  call void @unmapped(ptr %oldest)
  call void @lock()
  br label %look
done:
  ret void
}}

define void @set_limit(i64 %limit) {{
  call void @lock()
  store i64 %limit, ptr {at_limit}, align 8
  call void @trim(i64 %limit)
  call void @unlock()
  ret void
}}

; A block for so many bytes: the newest of the list that is not much larger, or a new one, for which the whole list is
; given back if the system has no memory otherwise.
define internal ptr @taken(i64 %bytes) {{
begin:
  %allowed = load i64, ptr {at_most}, align 8
  %refused = icmp ugt i64 %bytes, %allowed
  br i1 %refused, label %too_much, label %entry
too_much:
  ret ptr null
entry:
  %part = lshr i64 %bytes, {NEAR}
  %more = add i64 %bytes, %part
  %large = icmp uge i64 %bytes, {HUGE}
  %grain = select i1 %large, i64 {HUGE}, i64 {PAGE}
  %most = add i64 %more, %grain
  call void @lock()
  %count = load i64, ptr {at_count}, align 8
  br label %look
look:
  %left = phi i64 [ %count, %entry ], [ %k, %try ]
  %none = icmp eq i64 %left, 0
  br i1 %none, label %missing, label %try
try:
  %k = sub i64 %left, 1
  %at = call ptr @slot(i64 %k)
  %size_at = getelementptr i8, ptr %at, i64 8
  %size = load i64, ptr %size_at, align 8
  %enough = icmp uge i64 %size, %bytes
  %near = icmp ule i64 %size, %most
  %fits = and i1 %enough, %near
  br i1 %fits, label %found, label %look
found:
  %old = call ptr @removed(i64 %k)
  call void @unlock()
  call void @add(ptr {at_reused}, i64 1)
  call void @add(ptr {at_used}, i64 %size)
  ret ptr %old
missing:
  call void @unlock()
  %first = call ptr @mapped(i64 %bytes)
  %failed = icmp eq ptr %first, null
  br i1 %failed, label %again, label %made
again:
  call void @lock()
  call void @trim(i64 0)
  call void @unlock()
  %second = call ptr @mapped(i64 %bytes)
  %hopeless = icmp eq ptr %second, null
  br i1 %hopeless, label %nothing, label %made
nothing:
  ret ptr null
made:
  %new = phi ptr [ %first, %missing ], [ %second, %again ]
  %capacity_at = getelementptr i8, ptr %new, i64 -64
  %capacity = load i64, ptr %capacity_at, align 8
  call void @add(ptr {at_fresh}, i64 1)
  call void @add(ptr {at_used}, i64 %capacity)
  ret ptr %new
}}

; Puts a block into the list as the newest.
define internal void @given(ptr %block) {{
  %capacity_at = getelementptr i8, ptr %block, i64 -64
  %capacity = load i64, ptr %capacity_at, align 8
  %less = sub i64 0, %capacity
  call void @add(ptr {at_used}, i64 %less)
  call void @lock()
  %count = load i64, ptr {at_count}, align 8
  %at = call ptr @slot(i64 %count)
  store ptr %block, ptr %at, align 8
  %size_at = getelementptr i8, ptr %at, i64 8
  store i64 %capacity, ptr %size_at, align 8
  %more = add i64 %count, 1
  store i64 %more, ptr {at_count}, align 8
  %held = load i64, ptr {at_held}, align 8
  %total = add i64 %held, %capacity
  store i64 %total, ptr {at_held}, align 8
  %limit = load i64, ptr {at_limit}, align 8
  call void @trim(i64 %limit)
  call void @unlock()
  ret void
}}
"""
