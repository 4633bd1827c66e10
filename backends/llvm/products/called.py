"""Emit internal functions that other functions of the same region call, and the calls."""

from __future__ import annotations

from ....ir.graph import Node
from ..code.text import Val
from ..functions import FrameWord
from .product import Product


class CalledProduct(Product):
    """An internal function `i32 symbol(ptr frame, ptr memory, i64 ..., i64 worker)`; it returns 0 unless it fails."""

    names: tuple[str, ...]  # the names of its integer parameters

    def __init__(self, region: Node, entries: dict[FrameWord, int], owner: str, symbol: str) -> None:
        super().__init__(region, entries, owner)
        self.symbol = symbol
        self.memory = Val("%memory", "ptr", 0)
        self.write()
        words = ", ".join(f"i64 %{name}" for name in (*self.names, "worker"))
        head = f"define internal i32 @{symbol}(ptr noalias %frame, ptr noalias %memory, {words}) noinline {{"
        self.text = "\n".join([head, *self.finished(), "}"])

    def write(self) -> None:
        """Writes the body."""
        raise NotImplementedError

    def call(self, caller: Product, memory: Val, *numbers: Val) -> None:
        """Emits a call from another function."""
        e = caller.e
        e.declared |= {**self.e.declared, self.symbol: self.text}
        e.inner_owners |= {**self.e.inner_owners, self.symbol: self.e.owners}
        words = ", ".join(x.typed for x in (*numbers, caller.parameter("worker")))
        found = e.emit(f"call i32 @{self.symbol}(ptr %frame, {memory.typed}, {words})", "i32", 0)
        if self.e.fails:
            e.fail_where(e.icmp("ne", found, e.const("i32", 0)))
