"""Translate the functions for which Python's syntax has no expression."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .routine_types import WIDTH, Typed, lowered
from .text import Val

if TYPE_CHECKING:
    from .routine_writer import RoutineWriter

ORDERS = ("monotonic", "acquire", "release", "acq_rel", "seq_cst")
Builtin = Callable[["RoutineWriter", Sequence[ast.expr]], "Typed | None"]


def _load(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    type = w.all.type_of(args[0])
    return Typed(w.e.load(w.value(args[1]).val, lowered(type), 0, WIDTH.get(type, 8)), type)


def _store(w: RoutineWriter, args: Sequence[ast.expr]) -> None:
    value = w.fitted(w.value(args[0]), None)
    w.e.store(value.val, w.value(args[1]).val, WIDTH.get(value.type, 8))


def _order(args: Sequence[ast.expr], default: str) -> str:
    found = args[-1]
    return found.id if isinstance(found, ast.Name) and found.id in ORDERS else default


def _atomic_load(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    place, type = w.place(args[0])
    order = _order(args[1:], "") if args[1:] else "monotonic"
    text = f"load atomic {lowered(type)}, ptr {place.text} {order}, align {WIDTH.get(type, 8)}"
    return Typed(w.e.emit(text, lowered(type), 0), type)


def _atomic_store(w: RoutineWriter, args: Sequence[ast.expr]) -> None:
    place, type = w.place(args[0])
    value = w.fitted(w.value(args[1]), type)
    order = _order(args[2:], "") if args[2:] else "monotonic"
    w.e.lines.append(f"  store atomic {value.val.typed}, ptr {place.text} {order}, align {WIDTH.get(type, 8)}")


def _changed(how: str) -> Builtin:
    """Make a function that changes a place in one step and returns what was there."""

    def write(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
        place, type = w.place(args[0])
        value = w.fitted(w.value(args[1]), type)
        order = _order(args[2:], "") if args[2:] else "monotonic"
        text = f"atomicrmw {how} ptr {place.text}, {value.val.typed} {order}, align {WIDTH.get(type, 8)}"
        return Typed(w.e.emit(text, lowered(type), 0), type)

    return write


def _replaced(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    """`replaced(place, old, new)`: write the new value if the old one is there, and tell whether it was."""
    place, type = w.place(args[0])
    old, new = (w.fitted(w.value(a), type).val for a in args[1:3])
    both = w.e.emit(f"cmpxchg ptr {place.text}, {old.typed}, {new.typed} acq_rel monotonic", "", 0)
    return Typed(w.e.emit(f"extractvalue {{ {old.elem}, i1 }} {both.text}, 1", "i1", 0), "i1")


def _address(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    return Typed(w.place(args[0])[0], "ptr")


def _routine(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    """`routine(name)`: the address of a routine."""
    name = ast.unparse(args[0])
    if name not in w.all.routines:
        raise w.problem(args[0], f"nothing is called {name!r}")
    return Typed(Val(f"@{name}", "ptr", 0), "ptr")


def _extreme(how: str) -> Builtin:
    def write(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
        a, b = w.alike(w.value(args[0]), w.value(args[1]))
        return Typed(w.e.call(how, a.val, b.val), a.type)

    return write


def _below(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    """`below(a, b)`: compare as unsigned numbers, or as addresses."""
    return w.compare(w.value(args[0]), "ult", w.value(args[1]))


def _unsigned(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    return Typed(w.e.cast("zext", w.value(args[0]).val, "i64"), "i64")


def _shifted(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    """`shifted(a, bits)`: divide by a power of two, rounding down."""
    a, b = w.alike(w.value(args[0]), w.value(args[1]))
    return Typed(w.e.op("ashr", a.val, b.val), a.type)


def _remainder(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    a, b = w.alike(w.value(args[0]), w.value(args[1]))
    return Typed(w.e.op("urem", a.val, b.val), a.type)


def _invoke(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed | None:
    """`invoke(type, function, ...)`: call what an address points to; the type is None if it returns nothing."""
    is_void = isinstance(args[0], ast.Constant) and args[0].value is None
    result = "void" if is_void else w.all.type_of(args[0])
    function, *given = (w.fitted(w.value(a), None).val for a in args[1:])
    text = f"call {'void' if is_void else lowered(result)} {function.text}({', '.join(a.typed for a in given)})"
    if is_void:
        w.e.lines.append(f"  {text}")
        return None
    return Typed(w.e.emit(text, lowered(result), 0), result)


def _system_call(w: RoutineWriter, args: Sequence[ast.expr]) -> None:
    """`system_call(function, number, ...)`: call `syscall`, which takes any number of arguments."""
    function, *given = (w.fitted(w.value(a), None).val for a in args)
    w.e.emit(f"call i64 (i64, ...) {function.text}({', '.join(a.typed for a in given)})", "i64", 0)


def _reserve(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    """`reserve(bytes, align)`: memory on the stack.

    If the number of bytes is not constant, it must be at a routine's start.
    """
    name, size = w.e.name(), w.fitted(w.value(args[0]), "i64").val
    align = w.value(args[1]).val.text
    line = f"  {name} = alloca i8, i64 {size.text}, align {align}"
    (w.allocas if not size.text.startswith("%") else w.e.lines).append(line)
    return Typed(Val(name, "ptr", 0), "ptr")


def _pause(w: RoutineWriter, args: Sequence[ast.expr]) -> None:
    """`pause()`: ease waiting in a loop."""
    text = str(w.all.constants["PAUSE"])
    w.e.declared[text] = f"declare void {text.replace('i32 1', 'i32')}"
    w.e.lines.append(f"  call void {text}")


def _memory(how: str) -> Builtin:
    """Make `copy(to, from, bytes)`, `move(...)` or `clear(at, byte, bytes)`."""

    def write(w: RoutineWriter, args: Sequence[ast.expr]) -> None:
        first, second, count = (w.value(a) for a in args)
        middle = "i8" if how == "memset" else "ptr"
        symbol = f"llvm.{how}.p0{'' if how == 'memset' else '.p0'}.i64"
        w.e.declared[symbol] = f"declare void @{symbol}(ptr, {middle}, i64, i1)"
        operands = (first.val, w.fitted(second, middle).val, w.fitted(count, "i64").val)
        w.e.lines.append(f"  call void @{symbol}({', '.join(v.typed for v in operands)}, i1 false)")

    return write


def _absolute(w: RoutineWriter, args: Sequence[ast.expr]) -> Typed:
    value = w.value(args[0])
    return Typed(w.e.call("abs", value.val, Val("false", "i1", 0), suffix=".i64"), value.type)


BUILTINS: Mapping[str, Builtin] = {
    "load": _load, "store": _store, "address": _address, "routine": _routine, "invoke": _invoke,
    "system_call": _system_call,
    "reserve": _reserve, "pause": _pause, "copy": _memory("memcpy"), "move": _memory("memmove"),
    "clear": _memory("memset"), "min": _extreme("smin"), "max": _extreme("smax"), "abs": _absolute,
    "below": _below, "unsigned": _unsigned, "unsigned_remainder": _remainder, "shifted": _shifted,
    "atomic_load": _atomic_load,
    "atomic_store": _atomic_store, "replaced": _replaced, "fetch_add": _changed("add"), "fetch_sub": _changed("sub"),
    "fetch_or": _changed("or"), "fetch_and": _changed("and"), "exchange": _changed("xchg"),
}  # fmt: skip
