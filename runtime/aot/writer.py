"""Provide the steps of which C functions are built: words in memory, checks, calls."""

from __future__ import annotations

from ...backends.llvm.code.text import Emitter, Val
from .sizes import SizeCode

NULL = Val("null", "ptr", 0)


class CallWriter:
    """Write the text of one function step by step."""

    def __init__(self) -> None:
        self.e = Emitter()
        self.sizes = SizeCode(self.e)
        self.allocas: list[str] = []
        self.begins: list[str] = []  # runs before anything else
        self.exits: set[str] = set()  # where checks lead that do not hold

    def number(self, value: int, elem: str = "i64") -> Val:
        return self.e.const(elem, value)

    def at(self, base: Val, offset: int) -> Val:
        return self.e.offset(base, self.number(offset)) if offset else base

    def field(self, obj: Val, offset: int, elem: str = "ptr") -> Val:
        return self.e.load(self.at(obj, offset), elem, 0, 4 if elem == "i32" else 8)

    def put(self, x: Val, base: Val, offset: int) -> None:
        self.e.store(x, self.at(base, offset), 8)

    def demand(self, condition: Val, otherwise: str) -> None:
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
