"""Generate code for sizes, which are polynomials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...backends.llvm.code.text import Emitter, Val
from ...ir.dims import Atom, Size, terms_of

MOST = float(1 << 60)  # bytes of one array, as estimated, that native calls count


class SizeCode:
    """Compute sizes from those of the arguments."""

    def __init__(self, e: Emitter) -> None:
        self.e = e
        self.known: dict[str, Val] = {}
        self._made: dict[Size, Val] = {}

    def bind(self, values: Mapping[str, Val]) -> None:
        self.known.update(values)

    def number(self, size: Size) -> Val:
        if isinstance(size, int):
            return self.e.const("i64", size)
        if size not in self._made:
            total = self.e.const("i64", 0)
            for monomial, factor in size.terms:
                term = self.e.const("i64", factor)
                for atom in monomial:
                    term = self._times(term, self._atom(atom))
                total = term if total.text == "0" else self.e.op("add", total, term)
            self._made[size] = total
        return self._made[size]

    def estimate(self, size: Size) -> Val:
        """Compute an upper bound of a size as a float, which unlike an integer never wraps around."""
        e = self.e
        total = e.const("double", 0.0)
        for monomial, factor in terms_of(size):
            term = e.const("double", float(min(abs(factor), 1 << 63)))
            for atom in monomial:
                term = e.op("fmul", term, self._estimated(atom))
            total = term if total.text == e.const("double", 0.0).text else e.op("fadd", total, term)
        return total

    def _estimated(self, atom: Atom) -> Val:
        if not atom.args:
            return self.e.cast("sitofp", self.known[atom.name], "double")
        first, *others = (self.estimate(a) for a in atom.args)
        if atom.name == "floordiv":
            return first
        for other in others:
            first = self.e.select(self.e.fcmp("ogt", first, other), first, other)
        return first

    def fits(self, shape: Sequence[Size], itemsize: int) -> Val:
        """Tell whether the number of bytes can be counted, with room to spare; empty axes do not hide the others."""
        e, one = self.e, self.e.const("double", 1.0)
        total = e.const("double", float(itemsize))
        for size in shape:
            number = self.estimate(size)
            total = e.op("fmul", total, e.select(e.fcmp("ogt", number, one), number, one))
        return e.fcmp("olt", total, e.const("double", MOST))

    def _times(self, a: Val, b: Val) -> Val:
        return b if a.text == "1" else self.e.op("mul", a, b)

    def _atom(self, atom: Atom) -> Val:
        if not atom.args:
            return self.known[atom.name]
        first, *others = (self.number(a) for a in atom.args)
        if atom.name == "floordiv":
            return self._floordiv(first, others[0])
        for other in others:
            first = self.e.call("smin" if atom.name == "min" else "smax", first, other)
        return first

    def _floordiv(self, a: Val, b: Val) -> Val:
        """Divide and round down; the divisor is positive."""
        e = self.e
        below = e.icmp("slt", e.op("srem", a, b), e.const("i64", 0))
        return e.op("sub", e.op("sdiv", a, b), e.cast("zext", below, "i64"))
