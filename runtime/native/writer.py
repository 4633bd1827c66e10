"""Provide the steps of which native calls are built: words of the table, fields of objects, checks, calls."""

from __future__ import annotations

from typing import Any

from ...backends.llvm.code.text import Emitter, Val
from . import abi
from .sizes import SizeCode
from .table import WordTable

NULL = Val("null", "ptr", 0)
MISS, FAIL = "miss", "fail"  # to the next entry, and back to the caller with the interpreter's error


class CallWriter:
    """Write the text of one function step by step."""

    def __init__(self, table: WordTable) -> None:
        self.table = table
        self.e = Emitter()
        self.sizes = SizeCode(self.e)
        self.allocas: list[str] = []
        self.begins: list[str] = []  # runs before anything else
        self.exits: set[str] = set()  # where checks lead that do not hold

    def number(self, value: int, elem: str = "i64") -> Val:
        return self.e.const(elem, value)

    def word(self, key: Any, content: int, elem: str = "ptr") -> Val:
        """Load a word of the table."""
        return self.e.load(self.place(key, content), elem, 0, 8)

    def place(self, key: Any, content: int) -> Val:
        return self.e.emit(f"getelementptr i8, ptr @table, i64 {8 * self.table.word(key, content)}", "ptr", 0)

    def object(self, x: Any) -> Val:
        """Load the address of an object that the table keeps alive."""
        at = self.e.emit(f"getelementptr i8, ptr @table, i64 {8 * self.table.object(x)}", "ptr", 0)
        return self.e.load(at, "ptr", 0, 8)

    def interpreter(self, name: str) -> Val:
        return self.word(name, abi.address(name))

    def numpy(self, place: int) -> Val:
        return self.word(("numpy", place), abi.numpy_table()[place])

    def at(self, base: Val, offset: int) -> Val:
        return self.e.offset(base, self.number(offset)) if offset else base

    def field(self, obj: Val, offset: int, elem: str = "ptr") -> Val:
        return self.e.load(self.at(obj, offset), elem, 0, 4 if elem == "i32" else 8)

    def put(self, x: Val, base: Val, offset: int) -> None:
        self.e.store(x, self.at(base, offset), 8)

    def demand(self, condition: Val, otherwise: str = MISS) -> None:
        """Continue only if the condition holds."""
        on = self.e.label("on")
        self.exits.add(otherwise)
        self.e.cbr(condition, on, otherwise)
        self.e.place(on)

    def same(self, a: Val, b: Val) -> Val:
        return self.e.icmp("eq", a, b)

    def reserve(self, bytes: int, cleared: bool = False) -> Val:
        """Reserve memory on the call's stack."""
        name = self.e.name()
        self.allocas.append(f"  {name} = alloca i8, i64 {max(8, bytes)}, align 16")
        if cleared:
            self.begins.append(f"  store i64 0, ptr {name}, align 8")
        return Val(name, "ptr", 0)

    def invoke(self, function: Val, result: str, *args: Val) -> Val:
        text = f"call {result} {function.text}({', '.join(a.typed for a in args)})"
        if result == "void":
            self.e.lines.append(f"  {text}")
            return NULL
        return self.e.emit(text, result, 0)

    def count(self, place: Val, step: int) -> None:
        """Add to a counter in memory: of calls, of running calls, or of references."""
        self.e.store(self.e.op("add", self.e.load(place, "i64", 0, 8), self.number(step)), place, 8)

    def release(self, obj: Val) -> None:
        """Drop one reference; dropping the last frees the object."""
        e = self.e
        self.count(obj, -1)
        gone = self.same(e.load(obj, "i64", 0, 8), self.number(0))
        e.when(gone, lambda: void(self.invoke(self.interpreter("_Py_Dealloc"), "void", obj)))


def void(_: Val) -> None:
    """Discard the result of a call that has none."""
