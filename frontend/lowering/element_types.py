"""Find one dtype for each variable of a function from its assignments.

A variable keeps one dtype. One that starts from a literal is weak until something strong is assigned to it; one that
stays weak takes the dtype that its uses ask for if that has 32 bits or more, and otherwise i64, f64 or c128.
"""

from __future__ import annotations

from collections.abc import Hashable

from ...ir.dtypes import DType
from ...ir.errors import Span, TypeProblem
from ...ir.graph import Value
from ...ir.rules import promote
from ...ir.types import TensorType
from ..maker import Maker
from ..weak import Operand, Weak, kind_fits, take, weakened

_ORDER = ("int", "float", "complex")
NARROWEST = 32  # a counter should not wrap around just because it was multiplied by a small integer


class Cell:
    """The dtype of one variable, during the search and afterwards; `weak` is its kind if it stays weak."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.dtype: DType | None = None
        self.weak: DType | None = None
        self.asked: set[DType] = set()

    def meet(self, dtype: DType, span: Span | None) -> None:
        """Note that a value of this dtype is assigned."""
        have = self.dtype
        if have is None or have == dtype:
            self.dtype = dtype
        elif have.weak and dtype.weak:
            self.dtype = max(have, dtype, key=lambda d: _ORDER.index(d.kind))
        elif have.weak and dtype.kind != "bool":
            self.dtype = promote((have, dtype))
        elif not (dtype.weak and kind_fits(dtype, have)):
            hint = f"convert it: {have.strong}(...), or declare the variable with a type"
            raise TypeProblem(f"{self.what} is {have}, but {dtype} is assigned to it", span, hint)

    def join(self, dtype: DType, span: Span | None) -> None:
        """Add one of several bounds, which are promoted together."""
        if self.dtype is not None and not self.dtype.weak and not dtype.weak:
            self.dtype = promote((self.dtype, dtype))
        else:
            self.meet(dtype, span)

    def settle(self) -> None:
        """Make the dtype strong from here on."""
        assert self.dtype is not None
        if not self.dtype.weak:
            return
        self.weak, found = self.dtype, self.dtype.strong
        if self.asked:
            wanted = promote(tuple(sorted(self.asked, key=str)))
            found = wanted if wanted.bits >= NARROWEST or not wanted.is_integer else found
        self.dtype = found

    def read(self, maker: Maker, value: Value) -> Operand:
        """Return the variable for use in an expression; a weak one takes the dtype it meets."""
        if self.weak is None:
            return value
        return weakened(maker, self.weak, value)

    def probe(self, maker: Maker) -> Operand:
        """Do the same during the search, and remember which dtypes are asked for."""
        assert self.dtype is not None
        kind = self.dtype.kind

        def note(dtype: DType, _: object) -> Value:
            if dtype.kind == kind or (kind == "int" and dtype.kind == "uint"):
                self.asked.add(dtype)
            return unknown(dtype)

        return Weak(maker, self.dtype, (), note) if self.dtype.weak else unknown(self.dtype)

    def take(self, maker: Maker, x: Operand) -> Value:
        """Convert an operand to the dtype of the variable."""
        assert self.dtype is not None
        return take(maker, x, self.dtype)


def unknown(dtype: DType) -> Value:
    """Return a sample number of a dtype."""
    return Value(TensorType(dtype), name="unknown")


class Cells:
    """The variables of one function for given argument dtypes, by the statements that declare them."""

    def __init__(self) -> None:
        self.found: dict[Hashable, Cell] = {}

    def get(self, key: Hashable, what: str) -> Cell:
        if key not in self.found:
            self.found[key] = Cell(what)
        return self.found[key]

    def state(self) -> tuple[DType | None, ...]:
        return tuple(cell.dtype for cell in self.found.values())

    def settle(self) -> None:
        for cell in self.found.values():
            cell.settle()
