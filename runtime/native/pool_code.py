"""Generate the LLVM code of the thread pool: a worker's endless loop, and a function that runs one kernel on several
threads.

The pool is memory that all threads see. A caller takes it by setting `busy`. It stores the address of its job, opens
the gate, and increments `posted`, which wakes workers. The gate counts the threads that have come through it and may
read the job. They and the caller take pieces of the job until none is left. Then the caller shuts the gate and waits
until the count is 0. A worker that finds the gate shut goes back to waiting, so no job is read after its call has
ended. A caller that finds the pool busy runs its pieces alone.

A job is a grid of pieces over a kernel's two outer loops. The cuts depend only on sizes and the kernel's estimated
time, and it does not matter which thread runs which piece. Every thread starts with its own range of pieces, the same
in each call, because its caches may still hold data of the last call. Then it helps the others.

A short job is done before a sleeping worker wakes, so only workers that are awake take part. Workers stay awake while
one call follows another. Now and then a short job wakes them, so that they are awake for the next.
"""

from __future__ import annotations

from ...backends.llvm.functions import STOPPED

LINE = 128  # fields that threads write at the same time have cache lines of their own
_SHARED = ("posted", "gate", "busy", "sleepers")
_PLAIN = (
    "job", "threads", "started", "named", "short", "syscall", "call", "starter", "drop", "clock", "save", "restore",
    "signals", "ensure", "release", "fetch", "stopped", "raised", "value", "trace", "gave",
)  # fmt: skip
FIELDS = {name: LINE * k for k, name in enumerate(_SHARED)}
FIELDS |= {name: LINE * len(_SHARED) + 8 * k for k, name in enumerate(_PLAIN)}
SIZE = max(FIELDS.values()) + 8
# A job, in its caller's stack.
_JOB = ("function", "frame", "extent0", "extent1", "piece0", "piece1", "columns", "count", "workers", "ranges")
RANGES = 16  # of pieces, at most, each with a line for the number of its next one
_JOB_FIELDS = {name: 8 * k for k, name in enumerate(_JOB)} | {"tickets": LINE, "status": LINE + 8, "next": 2 * LINE}
_JOB_SIZE = (2 + RANGES) * LINE

INTERRUPTED = 1 << 30  # in a status: a signal's handler raised
OPEN = 1 << 30
LONG = 16_000_000  # picoseconds, as estimated, of a job that is worth waking workers for
SHORT_CALLS = 16  # short jobs that find all workers asleep, until one of them wakes these
PIECES = 4  # of a job, at least, if they are no shorter than
SMALLEST = 1_000_000  # picoseconds
PIECE = 8_000_000  # picoseconds that a piece takes, as estimated: long against taking it, short against waiting for it
SOME = 64_000_000  # picoseconds of pieces, as estimated, until a caller looks at the clock: they may take far longer
PATIENCE = 16_000_000  # nanoseconds until it looks for signals
COARSE = 6  # the clock that is read in a few nanoseconds and ticks every few milliseconds
SPINS = 2000  # some tens of microseconds: longer than the pause between two calls in a loop, too short to be seen
# The system calls `futex` and `sched_yield`, and the instruction that eases waiting, on each kind of Linux.
_SYSTEMS = {"x86_64": (202, 24, "@llvm.x86.sse2.pause()"), "aarch64": (98, 124, "@llvm.aarch64.hint(i32 1)")}
_ROUNDED = {
    "grains1": ("%several", "%grain1"), "piece0": ("%some_lines", "%grain0"), "cut0": ("%extent0", "%piece0"),
    "cut1": ("%extent1", "%piece1"),
}  # fmt: skip
WAIT, WAKE = 128, 129  # operations of `futex` within one process


def text(machine: str) -> str:
    """Return the module. `worker()` never returns; `launch` runs a kernel from a thread that holds the interpreter's
    lock."""
    futex, give_way, pause = _SYSTEMS[machine]
    places = {name: f"getelementptr (i8, ptr @pool, i64 {at})" for name, at in FIELDS.items()}
    numbers = {
        "OPEN": OPEN, "SHUT": ~OPEN, "SPINS": SPINS, "FUTEX": futex, "YIELD": give_way, "PAUSE": pause, "WAIT": WAIT,
        "WAKE": WAKE, "PIECE": PIECE, "PATIENCE": PATIENCE, "INTERRUPTED": INTERRUPTED, "JOB": _JOB_SIZE, "LINE": LINE,
        "LONG": LONG, "SHORT_CALLS": SHORT_CALLS, "PIECES": PIECES, "SMALLEST": SMALLEST,
        "SOME": SOME, "COARSE": COARSE, "STOPPED": STOPPED, "RANGES": RANGES, "DECLARED": pause.replace("i32 1", "i32"),
    }  # fmt: skip
    rounded = {f"up_{name}": _rounded_up(name, *operands) for name, operands in _ROUNDED.items()}
    offsets = {f"j_{name}": at for name, at in _JOB_FIELDS.items()}
    return _TEXT.format(**places, **numbers, **offsets, **rounded, put=_written_job())


def _rounded_up(name: str, number: str, step: str) -> str:
    """Round up to a multiple of a step, inline: LLVM would take longer to compile a function for it."""
    return (
        f"  %{name}.less = sub i64 {step}, 1\n  %{name}.more = add i64 {number}, %{name}.less\n"
        f"  %{name}.steps = sdiv i64 %{name}.more, {step}\n  %{name} = mul i64 %{name}.steps, {step}"
    )


def _written_job() -> str:
    """Write the fields of the job."""
    words = {name: f"ptr %{name}" if name in ("function", "frame") else f"i64 %{name}" for name in _JOB}
    words |= {"tickets": "i64 1", "status": "i64 0"}
    lines = []
    for name, word in words.items():
        lines.append(f"  %{name}.at = getelementptr i8, ptr %job, i64 {_JOB_FIELDS[name]}")
        lines.append(f"  store {word}, ptr %{name}.at, align 8")
    return "\n".join(lines)


_TEXT = """
@pool = external global [0 x i8]

define internal void @system(i64 %number, ptr %at, i64 %operation, i64 %value) {{
  %call = load ptr, ptr {syscall}, align 8
  %result = call i64 (i64, ...) %call(i64 %number, ptr %at, i64 %operation, i64 %value, ptr null, ptr null, i64 0)
  ret void
}}

; Nobody finds a piece of a job any more.
define internal void @emptied(ptr %job) {{
entry:
  %count_at = getelementptr i8, ptr %job, i64 {j_count}
  %count = load i64, ptr %count_at, align 8
  br label %empty
empty:
  %range = phi i64 [ 0, %entry ], [ %behind, %empty ]
  %line = mul i64 %range, {LINE}
  %at = add i64 %line, {j_next}
  %next = getelementptr i8, ptr %job, i64 %at
  store atomic i64 %count, ptr %next monotonic, align 8
  %behind = add i64 %range, 1
  %left = icmp slt i64 %behind, {RANGES}
  br i1 %left, label %empty, label %done
done:
  ret void
}}

; Takes pieces until none is left, or until `most` were run: those of the range `home`, then of the others. Gives how
; many were run.
define internal i64 @pieces(ptr %job, i64 %worker, i64 %home, i64 %most) {{
entry:
  %status = getelementptr i8, ptr %job, i64 {j_status}
  %function_at = getelementptr i8, ptr %job, i64 {j_function}
  %frame_at = getelementptr i8, ptr %job, i64 {j_frame}
  %function = load ptr, ptr %function_at, align 8
  %frame = load ptr, ptr %frame_at, align 8
  %extent0_at = getelementptr i8, ptr %job, i64 {j_extent0}
  %extent0 = load i64, ptr %extent0_at, align 8
  %extent1_at = getelementptr i8, ptr %job, i64 {j_extent1}
  %extent1 = load i64, ptr %extent1_at, align 8
  %piece0_at = getelementptr i8, ptr %job, i64 {j_piece0}
  %piece0 = load i64, ptr %piece0_at, align 8
  %piece1_at = getelementptr i8, ptr %job, i64 {j_piece1}
  %piece1 = load i64, ptr %piece1_at, align 8
  %columns_at = getelementptr i8, ptr %job, i64 {j_columns}
  %columns = load i64, ptr %columns_at, align 8
  %count_at = getelementptr i8, ptr %job, i64 {j_count}
  %count = load i64, ptr %count_at, align 8
  %ranges_at = getelementptr i8, ptr %job, i64 {j_ranges}
  %ranges = load i64, ptr %ranges_at, align 8
  br label %choose
choose:
  %turn = phi i64 [ 0, %entry ], [ %turns, %following ]
  %before = phi i64 [ 0, %entry ], [ %ran, %following ]
  %place = add i64 %home, %turn
  %range = urem i64 %place, %ranges
  %line = mul i64 %range, {LINE}
  %at = add i64 %line, {j_next}
  %next = getelementptr i8, ptr %job, i64 %at
  %behind = add i64 %range, 1
  %scaled = mul i64 %behind, %count
  %limit = sdiv i64 %scaled, %ranges
  br label %take
take:
  %ran = phi i64 [ %before, %choose ], [ %more, %go ]
  %enough = icmp sge i64 %ran, %most
  br i1 %enough, label %done, label %ask
ask:
  %number = atomicrmw add ptr %next, i64 1 monotonic, align 8
  %some = icmp slt i64 %number, %limit
  br i1 %some, label %run, label %following
following:
  %turns = add i64 %turn, 1
  %others = icmp slt i64 %turns, %ranges
  br i1 %others, label %choose, label %done
run:
  %more = add i64 %ran, 1
  %row = sdiv i64 %number, %columns
  %rows = mul i64 %row, %columns
  %column = sub i64 %number, %rows
  %begin0 = mul i64 %row, %piece0
  %begin1 = mul i64 %column, %piece1
  %after0 = add i64 %begin0, %piece0
  %after1 = add i64 %begin1, %piece1
  %end0 = call i64 @llvm.smin.i64(i64 %after0, i64 %extent0)
  %end1 = call i64 @llvm.smin.i64(i64 %after1, i64 %extent1)
  %result = call i32 %function(ptr %frame, i64 %begin0, i64 %end0, i64 %begin1, i64 %end1, i64 %worker)
  %bad = icmp ne i32 %result, 0
  br i1 %bad, label %note, label %go
note:
  %was = atomicrmw or ptr %status, i32 %result monotonic, align 4
  %told = and i32 %result, {STOPPED}
  %stops = icmp ne i32 %told, 0
  br i1 %stops, label %end, label %go
end:
  call void @emptied(ptr %job)
  br label %done
go:
  br label %take
done:
  ret i64 %ran
}}

define void @worker() {{
entry:
  %name = atomicrmw add ptr {named}, i64 1 monotonic, align 8
  %home = add i64 %name, 1
  %first = load atomic i32, ptr {posted} acquire, align 4
  br label %idle
idle:
  %seen = phi i32 [ %first, %entry ], [ %now, %back ]
  br label %spin
spin:
  %turn = phi i32 [ 0, %idle ], [ %turns, %again ]
  %posted = load atomic i32, ptr {posted} acquire, align 4
  %new = icmp ne i32 %posted, %seen
  br i1 %new, label %awake, label %again
again:
  call void {PAUSE}
  %turns = add i32 %turn, 1
  %patient = icmp slt i32 %turns, {SPINS}
  br i1 %patient, label %spin, label %sleep
sleep:
  %more = atomicrmw add ptr {sleepers}, i32 1 seq_cst, align 4
  %word = zext i32 %seen to i64
  call void @system(i64 {FUTEX}, ptr {posted}, i64 {WAIT}, i64 %word)
  %less = atomicrmw sub ptr {sleepers}, i32 1 seq_cst, align 4
  br label %awake
awake:
  %now = load atomic i32, ptr {posted} acquire, align 4
  %gate = atomicrmw add ptr {gate}, i32 1 acq_rel, align 4
  %open = and i32 %gate, {OPEN}
  %is_open = icmp ne i32 %open, 0
  br i1 %is_open, label %enter, label %back
enter:
  %job = load ptr, ptr {job}, align 8
  %tickets = getelementptr i8, ptr %job, i64 {j_tickets}
  %ticket = atomicrmw add ptr %tickets, i64 1 monotonic, align 8
  %workers_at = getelementptr i8, ptr %job, i64 {j_workers}
  %workers = load i64, ptr %workers_at, align 8
  %wanted = icmp slt i64 %ticket, %workers
  br i1 %wanted, label %work, label %back
work:
  %ran = call i64 @pieces(ptr %job, i64 %ticket, i64 %home, i64 9223372036854775807)
  br label %back
back:
  %left = atomicrmw sub ptr {gate}, i32 1 acq_rel, align 4
  br label %idle
}}

; The time in nanoseconds.
define internal i64 @now() {{
  %at = alloca [2 x i64], align 8
  %clock = load ptr, ptr {clock}, align 8
  %failed = call i32 %clock(i32 {COARSE}, ptr %at)
  %seconds = load i64, ptr %at, align 8
  %second = getelementptr i8, ptr %at, i64 8
  %rest = load i64, ptr %second, align 8
  %whole = mul i64 %seconds, 1000000000
  %time = add i64 %whole, %rest
  ret i64 %time
}}

; Runs pieces in the calling thread and looks for signals now and then. A handler that raises ends the job.
define internal void @call_pieces(ptr %job, i64 %most, ptr %thread) {{
entry:
  %start = call i64 @now()
  br label %some
some:
  %since = phi i64 [ %start, %entry ], [ %since, %time ], [ %now, %look ]
  %ran = call i64 @pieces(ptr %job, i64 0, i64 0, i64 %most)
  %all = icmp slt i64 %ran, %most
  br i1 %all, label %done, label %time
time:
  %now = call i64 @now()
  %passed = sub i64 %now, %since
  %is_due = icmp sge i64 %passed, {PATIENCE}
  br i1 %is_due, label %look, label %some
look:
  %restore = load ptr, ptr {restore}, align 8
  call void %restore(ptr %thread)
  %signals = load ptr, ptr {signals}, align 8
  %raised = call i32 %signals()
  %save = load ptr, ptr {save}, align 8
  %again = call ptr %save()
  %ends = icmp ne i32 %raised, 0
  br i1 %ends, label %end, label %some
end:
  %status = getelementptr i8, ptr %job, i64 {j_status}
  %was = atomicrmw or ptr %status, i32 {INTERRUPTED} monotonic, align 4
  call void @emptied(ptr %job)
  br label %done
done:
  ret void
}}

; Gives other threads of Python a turn, from a thread that holds the interpreter's lock, and looks for signals. Only a
; thread that has waited for 5 ms (`sys.setswitchinterval`) is certain to get the lock when it is released; each release
; makes it wait anew. So the lock is not released again for a longer time than that.
define i32 @turn() {{
entry:
  %now = call i64 @now()
  %last = load i64, ptr {gave}, align 8
  %passed = sub i64 %now, %last
  %is_due = icmp uge i64 %passed, {PATIENCE}
  br i1 %is_due, label %give, label %look
give:
  %save = load ptr, ptr {save}, align 8
  %thread = call ptr %save()
  %restore = load ptr, ptr {restore}, align 8
  call void %restore(ptr %thread)
  %after = call i64 @now()
  store i64 %after, ptr {gave}, align 8
  br label %look
look:
  %signals = load ptr, ptr {signals}, align 8
  %raised = call i32 %signals()
  ret i32 %raised
}}

; What a loop that may not end asks now and then: whether to stop. In the main thread a signal runs its handler. What
; that raises waits in the pool until the call is back in Python; workers on the same frame are told to stop.
define i32 @question(ptr %frame) {{
entry:
  %stopped = load atomic ptr, ptr {stopped} monotonic, align 8
  %ours = icmp eq ptr %stopped, %frame
  br i1 %ours, label %stop, label %look
look:
  %ensure = load ptr, ptr {ensure}, align 8
  %release = load ptr, ptr {release}, align 8
  %state = call i32 %ensure()
  %raised = call i32 @turn()
  %ends = icmp ne i32 %raised, 0
  br i1 %ends, label %keep, label %go_on
keep:
  %fetch = load ptr, ptr {fetch}, align 8
  call void %fetch(ptr {raised}, ptr {value}, ptr {trace})
  store atomic ptr %frame, ptr {stopped} monotonic, align 8
  call void %release(i32 %state)
  br label %stop
go_on:
  call void %release(i32 %state)
  ret i32 0
stop:
  ret i32 1
}}

; `unit` is the time of one iteration of both loops in picoseconds, the grains are what pieces are multiples of, and
; `tile` is how long they are at most along the inner loop.
define i32 @launch(
    ptr %function, ptr %frame, i64 %extent0, i64 %extent1, i64 %unit, i64 %grain0, i64 %grain1, i64 %tile, i64 %workers
) {{
entry:
  %job = alloca [{JOB} x i8], align {LINE}
  %at_least = call i64 @llvm.smax.i64(i64 %unit, i64 1)
  %units = mul i64 %extent0, %extent1
  %time = mul i64 %units, %at_least
  %is_long = icmp sge i64 %time, {LONG}
  br i1 %is_long, label %cut, label %look_round
look_round:
  %born = load i32, ptr {started}, align 8
  %sleeping = load atomic i32, ptr {sleepers} monotonic, align 4
  %is_awake = icmp sgt i32 %born, %sleeping
  br i1 %is_awake, label %cut, label %count_short
count_short:
  %short_before = load i64, ptr {short}, align 8
  %short_now = add i64 %short_before, 1
  store i64 %short_now, ptr {short}, align 8
  %over = urem i64 %short_now, {SHORT_CALLS}
  %is_due = icmp eq i64 %over, 0
  br i1 %is_due, label %cut, label %at_once
at_once:
  %found = call i32 %function(ptr %frame, i64 0, i64 %extent0, i64 0, i64 %extent1, i64 0)
  ret i32 %found
cut:
  %part_time = sdiv i64 %time, {PIECES}
  %no_shorter = call i64 @llvm.smax.i64(i64 %part_time, i64 {SMALLEST})
  %piece_of_time = call i64 @llvm.smin.i64(i64 %no_shorter, i64 {PIECE})
  %fits = sdiv i64 %piece_of_time, %at_least
  %several = call i64 @llvm.smax.i64(i64 %fits, i64 1)
{up_grains1}
  %at_most = call i64 @llvm.smin.i64(i64 %grains1, i64 %tile)
  %whole = icmp sge i64 %at_most, %extent1
  %width = call i64 @llvm.smax.i64(i64 %extent1, i64 1)
  %piece1 = select i1 %whole, i64 %width, i64 %at_most
  %lines = sdiv i64 %several, %piece1
  %some_lines = call i64 @llvm.smax.i64(i64 %lines, i64 1)
{up_piece0}
{up_cut0}
{up_cut1}
  %rows = sdiv i64 %cut0, %piece0
  %columns = sdiv i64 %cut1, %piece1
  %count = mul i64 %rows, %columns
  %ranges = call i64 @llvm.smin.i64(i64 %workers, i64 {RANGES})
{put}
  br label %range
range:
  %number = phi i64 [ 0, %cut ], [ %numbers, %range ]
  %scaled = mul i64 %number, %count
  %begin = sdiv i64 %scaled, %ranges
  %range_line = mul i64 %number, {LINE}
  %range_at = add i64 %range_line, {j_next}
  %next = getelementptr i8, ptr %job, i64 %range_at
  store i64 %begin, ptr %next, align 8
  %numbers = add i64 %number, 1
  %more_ranges = icmp slt i64 %numbers, %ranges
  br i1 %more_ranges, label %range, label %ready
ready:
  %piece_lines = mul i64 %piece0, %piece1
  %piece_time = mul i64 %piece_lines, %at_least
  %many = sdiv i64 {SOME}, %piece_time
  %most = call i64 @llvm.smax.i64(i64 %many, i64 1)
  %others = sub i64 %workers, 1
  %helped = icmp sgt i64 %others, 0
  %started = load i64, ptr {started}, align 8
  %missing = icmp slt i64 %started, %others
  %starts = and i1 %helped, %missing
  br i1 %starts, label %start, label %release
start:
  %call = load ptr, ptr {call}, align 8
  %starter = load ptr, ptr {starter}, align 8
  %nothing = call ptr %call(ptr %starter)
  %went_wrong = icmp eq ptr %nothing, null
  br i1 %went_wrong, label %raised_there, label %started_there
raised_there:
  ret i32 {INTERRUPTED}
started_there:
  %drop = load ptr, ptr {drop}, align 8
  call void %drop(ptr %nothing)
  br label %release
release:
  %save = load ptr, ptr {save}, align 8
  %thread = call ptr %save()
  br i1 %helped, label %claim, label %alone
claim:
  %took = cmpxchg ptr {busy}, i32 0, i32 1 acq_rel monotonic, align 4
  %ours = extractvalue {{ i32, i1 }} %took, 1
  br i1 %ours, label %post, label %alone
alone:
  call void @call_pieces(ptr %job, i64 %most, ptr %thread)
  br label %finish
post:
  store ptr %job, ptr {job}, align 8
  %opened = atomicrmw or ptr {gate}, i32 {OPEN} acq_rel, align 4
  %before = atomicrmw add ptr {posted}, i32 1 seq_cst, align 4
  %asleep = load atomic i32, ptr {sleepers} seq_cst, align 4
  %wakes = icmp ne i32 %asleep, 0
  br i1 %wakes, label %wake, label %work
wake:
  call void @system(i64 {FUTEX}, ptr {posted}, i64 {WAKE}, i64 %others)
  br label %work
work:
  call void @call_pieces(ptr %job, i64 %most, ptr %thread)
  %shut = atomicrmw and ptr {gate}, i32 {SHUT} acq_rel, align 4
  %began = call i64 @now()
  br label %wait
wait:
  %turn = phi i32 [ 0, %work ], [ %turns, %ease ], [ 0, %give_way ], [ 0, %look ], [ 0, %stop ]
  %since = phi i64 [ %began, %work ], [ %since, %ease ], [ %since, %give_way ], [ %now, %look ], [ %now, %stop ]
  %inside = load atomic i32, ptr {gate} acquire, align 4
  %some = icmp ne i32 %inside, 0
  br i1 %some, label %ease, label %leave
ease:
  call void {PAUSE}
  %turns = add i32 %turn, 1
  %patient = icmp slt i32 %turns, {SPINS}
  br i1 %patient, label %wait, label %give_way
give_way:
  call void @system(i64 {YIELD}, ptr null, i64 0, i64 0)
  %now = call i64 @now()
  %waited = sub i64 %now, %since
  %long = icmp sge i64 %waited, {PATIENCE}
  br i1 %long, label %look, label %wait
look:
  %back = load ptr, ptr {restore}, align 8
  call void %back(ptr %thread)
  %signals = load ptr, ptr {signals}, align 8
  %raised = call i32 %signals()
  %again = call ptr %save()
  %ends = icmp ne i32 %raised, 0
  br i1 %ends, label %stop, label %wait
stop:
  store atomic ptr %frame, ptr {stopped} monotonic, align 8
  %ended_at = getelementptr i8, ptr %job, i64 {j_status}
  %was = atomicrmw or ptr %ended_at, i32 {INTERRUPTED} monotonic, align 4
  br label %wait
leave:
  store atomic ptr null, ptr {stopped} monotonic, align 8
  store atomic i32 0, ptr {busy} release, align 4
  br label %finish
finish:
  %restore = load ptr, ptr {restore}, align 8
  call void %restore(ptr %thread)
  %status_at = getelementptr i8, ptr %job, i64 {j_status}
  %status = load atomic i32, ptr %status_at monotonic, align 4
  ret i32 %status
}}

declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare void {DECLARED}
"""
