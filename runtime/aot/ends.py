"""Generate the ends of a library's functions: they free memory and return the status.

A function that does not fit the sizes returns `OTHER_SIZES` and has done nothing; `chooser_text` tries the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...backends.llvm.code.text import Val
from .memory_code import NO_MEMORY, CallMemory
from .status import Status
from .writer import CallWriter

NEXT = "next"
TOLD = "told"  # the status that another function returned
OTHER_SIZES = -1
STATUS = Val("%status", "ptr", 0)


class LibcHeap:
    """Allocate memory with `malloc`."""

    def __init__(self, w: CallWriter) -> None:
        self.w = w

    def take(self, bytes: Val) -> Val:
        self.w.e.declared["malloc"] = "declare ptr @malloc(i64)"
        at_least = self.w.e.call("umax", bytes, self.w.number(1))  # malloc(0) may return null
        return self.w.invoke(Val("@malloc", "ptr", 0), "ptr", at_least)

    def free(self, taken: Val) -> None:
        self.w.e.declared["free"] = "declare void @free(ptr)"
        self.w.invoke(Val("@free", "ptr", 0), "void", taken)


def return_if_failed(w: CallWriter, found: Val) -> None:
    """Return the status of another function, unless it succeeded."""
    w.e.store(found, STATUS, 8)
    w.demand(w.same(found, w.number(0, "i32")), TOLD)


def write_ends(w: CallWriter, memory: CallMemory) -> None:
    """Free the memory and return the status."""
    e = w.e
    w.allocas.append(f"  {STATUS.text} = alloca i64, align 8")
    w.begins.append(f"  store i64 0, ptr {STATUS.text}, align 8")
    e.br("finish")
    statuses = {NEXT: OTHER_SIZES, NO_MEMORY: Status.NO_MEMORY, "failed": Status.BAD_INDEX}
    for label in sorted(w.exits):
        e.place(label)
        if label != TOLD:
            known = statuses.get(label)
            e.store(w.number(Status[label.upper()] if known is None else known, "i32"), STATUS, 8)
        e.br("finish")
    e.place("finish")
    memory.free()
    e.lines.append(f"  ret i32 {e.load(STATUS, 'i32', 0, 8).text}")


def copy_elements(
    w: CallWriter,
    itemsize: int,
    shape: Sequence[Val],
    source: tuple[Val, Sequence[Val]],
    target: tuple[Val, Sequence[Val]],
) -> None:
    """Copy an array; source and target are addresses with strides."""
    e, elem = w.e, f"i{8 * itemsize}"

    def along(axis: int, here: Val, there: Val) -> None:
        if axis == len(shape):
            e.store(e.load(here, elem, 0, 1), there, 1)
            return

        def step(carried: list[Val]) -> list[Val]:
            k, a, b = carried
            along(axis + 1, a, b)
            return [e.op("add", k, w.number(1)), e.offset(a, source[1][axis]), e.offset(b, target[1][axis])]

        e.repeat([w.number(0), here, there], lambda c: e.icmp("slt", c[0], shape[axis]), step)

    along(0, source[0], target[0])


def chooser_text(name: str, bodies: Sequence[str]) -> str:
    """Generate a function that runs the first of several graphs that fits the sizes."""
    lines = [f"define i32 @{name}(ptr %words) {{"]
    for k, body in enumerate(bodies):
        lines += [
            f"  %found{k} = call i32 @{body}(ptr %words)",
            f"  %other{k} = icmp eq i32 %found{k}, {OTHER_SIZES}",
            f"  br i1 %other{k}, label %after{k}, label %done{k}",
            f"done{k}:\n  ret i32 %found{k}\nafter{k}:",
        ]
    return "\n".join([*lines, f"  ret i32 {Status.BAD_SIZE}", "}", ""])
