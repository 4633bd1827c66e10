"""Write recipes: the data that tells the routines of `calls.routine` how to serve the calls of one graph.

A recipe is a header and steps. A step is the address of its routine and its operands; most operands are registers,
words in the memory of the call. Steps come in three sections, so that nothing is allocated before everything is
checked: checks and sizes, then memory and objects, then kernels and results. From the first call of a Python function
on there are no sections, because its results have to be checked, too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...ir.dims import Atom, Dim, Monomial, Size
from ...ir.source import ABSENT, Guard
from ...ir.tuples import NamedTuple
from . import abi
from .steps import HEADER, NEVER, OPERANDS, RECIPE, machine

OBJECTS, CONSTANTS, MEMORY, PLAIN = range(4)  # the parts of a call's registers, in the order in which they lie
LEAST, MOST = -(1 << 63), (1 << 63) - 1
NUMBERS = frozenset("bBhHiIlLqQfdFD")  # the types of NumPy's whole, real and complex numbers


class Unserved(Exception):
    """Raised when a call can't have a recipe."""


class Register(NamedTuple):
    """A word of a call's memory, in one of its parts.

    Where an object is expected, it is written as a negative number.
    """

    part: int
    number: int
    sign: int = 1

    def after(self, count: int) -> Register:
        return Register(self.part, self.number + count)


Operand = int | Register
Steps = list[Operand]


class Recipe:
    """A recipe in memory. It keeps alive what its steps refer to."""

    def __init__(self, words: Sequence[int], kept: Sequence[Any], functions: int = 0) -> None:
        self.functions = functions  # that it calls
        self._words = (ctypes.c_int64 * len(words))(*words)
        self.address = ctypes.addressof(self._words)
        self._kept = tuple(kept)

    @property
    def failures(self) -> int:
        """How many functions were called in vain, because they returned something that the graph was not
        compiled for.
        """
        return self["started"] - self.functions * self["calls"]

    def warm_up(self) -> None:
        """Bring what the next call needs into the CPU's cache."""
        machine().warm_up()

    def __getitem__(self, name: str) -> int:
        return int(self._words[RECIPE.index(name)])

    def __setitem__(self, name: str, value: int) -> None:
        self._words[RECIPE.index(name)] = value


class RecipeWriter:
    """Collects the steps of a recipe."""

    def __init__(self, positional: int, names: Sequence[str]) -> None:
        self.positional, self.names = positional, names
        self.checks: Steps = []
        self.makes: Steps = []
        self.runs: Steps = []
        self.kept: list[Any] = list(names)
        self._count = [0, 0, 0, 0]
        self._constants: dict[int, Register] = {}
        self._moved: dict[Register, Register] = {}  # registers that lie elsewhere after all
        self._joined: set[Register] = set()  # registers in a row, which can't
        self._ranges: dict[Register, int] = {}  # where the limits of a register are in the checks
        self._plain: Register | None = None
        self._notes_context = False  # whether a check writes what `plain_register` tells
        self.functions = 0  # of Python, that are called
        self._code = machine().steps

    # -- registers

    def register(self, count: int = 1, part: int = PLAIN) -> Register:
        """Reserve adjacent registers and return the first."""
        first = Register(part, self._count[part])
        self._count[part] += count
        if count > 1:
            self._joined.update(map(first.after, range(count)))
        return first

    def constant(self, value: int) -> Register:
        """Return a register that holds a number from the beginning."""
        found = self._constants.get(value)
        if found is None:
            found = self._constants[value] = self.register(part=CONSTANTS)
        return found

    @property
    def plain_register(self) -> Register:
        """The register that tells whether the thread has set no context variables."""
        if self._plain is None:
            self._plain = self.register() if machine().knows_contexts else self.constant(0)
        return self._plain

    def check_quiet(self, variable: Any) -> None:
        """Check that NumPy's error state, in a context variable, asks for no exceptions."""
        known = machine().knows_contexts
        is_plain = self.plain_register if known else self.register()
        self.check("quiet" if known else "quiet_state", self.object(variable), self.register(), is_plain)
        self._notes_context = known

    def put(self, register: Register, to: Register) -> bool:
        """Use one register for two, so that nothing has to be copied; tell whether that is possible."""
        if register.part != PLAIN or register in self._moved or register in self._joined:
            return False
        self._moved[register] = to
        return True

    def object(self, x: Any) -> int:
        """Return the address of an object, which the recipe keeps alive."""
        self.kept.append(x)
        return id(x)

    # -- steps

    def step(self, steps: Steps, name: str, *operands: Operand, more: Sequence[Operand] = ()) -> None:
        """Add a step; `more` are the words that follow its operands."""
        assert len(operands) == len(OPERANDS[name]), name
        steps.append(self._code[name])
        steps += operands
        steps += more

    def check(self, name: str, *operands: Operand, more: Sequence[Operand] = ()) -> None:
        self.step(self.checks, name, *operands, more=more)

    def check_between(self, register: Register, lowest: int = LEAST, highest: int = MOST) -> None:
        """Check the range of a number; all ranges that it must be in are checked at once."""
        at = self._ranges.get(register)
        if at is None:
            self._ranges[register] = len(self.checks) + 2
            self.check("between", register, lowest, highest)
            return
        before, after = self.checks[at : at + 2]
        assert isinstance(before, int) and isinstance(after, int)
        self.checks[at : at + 2] = max(before, lowest), min(after, highest)

    def make(self, name: str, *operands: Operand, more: Sequence[Operand] = ()) -> None:
        self.step(self.makes, name, *operands, more=more)

    def run(self, name: str, *operands: Operand, more: Sequence[Operand] = ()) -> None:
        self.step(self.runs, name, *operands, more=more)

    def new_array(
        self, dtype: Any, rank: int, row: Operand, to: Register, data: Register, like: Operand = 0,
        strides: Operand = 0, is_fortran: bool = False,
    ) -> None:  # fmt: skip
        """Make an array. `row` is the first of the registers with its sizes; without strides it is dense."""
        is_usual = rank and strides == 0
        small = "small_row" if rank == 1 else "small_array"
        step = small if is_usual and machine().makes_small_arrays else "new_array"
        kind, itemsize = self.object(dtype), dtype.itemsize
        self.make(step, kind, rank, itemsize, row, strides, int(is_fortran), like, to, data, self.plain_register)

    def new_scalar(self, dtype: Any, pointer: Register, to: Register) -> None:
        """Make an object of the NumPy number at an address."""
        if dtype.char in NUMBERS:
            kind = dtype.type
            self.run("plain_scalar", pointer, self.object(kind), abi.scalar_allocator(kind), dtype.itemsize, to)
        else:
            self.run("scalar_object", pointer, self.object(dtype), to)

    def in_order(self) -> None:
        """Drop the sections from here on: the result of a Python function is checked after it has run."""
        if self.checks is not self.runs:
            self.checks = self.makes = self.runs = [*self.checks, *self.makes, *self.runs]
            self._ranges = {}

    def aside(self, write: Callable[[], None]) -> Steps:
        """Return the steps that something writes in the first two sections, instead of adding them."""
        before = self.checks, self.makes, self._ranges
        self.checks = self.makes = found = list[Operand]()
        self._ranges = {}
        write()
        self.checks, self.makes, self._ranges = before
        return found

    def combined(self, name: str, a: Register, b: Register) -> Register:
        """Return the register of a sum, product, quotient, or of the smaller or larger number."""
        to = self.register()
        self.check(name, a, b, to)
        return to

    def finish(self) -> Recipe:
        """Put the recipe together."""
        starts, end = [], HEADER // 8
        for count in self._count:
            starts.append(end)
            end += count
        objects = self._count[OBJECTS]
        initial = [0] * objects + list(self._constants)
        begin: Steps = []
        if self.names:
            names = [id(name) for name in self.names]
            self.step(begin, "begin_named", self.positional, len(initial), len(names), more=[*initial, *names])
        else:
            self.step(begin, "begin", self.positional, len(initial), more=initial)
        if self._plain is not None and self._plain.part == PLAIN and not self._notes_context:
            self.step(begin, "context", self._plain)
        header = [0, 0, 0, NEVER, 8 * end, objects, 8 * starts[MEMORY], 0, 0, NEVER]
        sections = (self.runs,) if self.checks is self.runs else (self.checks, self.makes, self.runs)
        words = [*header, *begin, *(word for section in sections for word in section)]
        moved = self._moved

        def placed(word: Operand) -> int:
            if not isinstance(word, Register):
                return word
            at = moved.get(word, word)
            return 8 * at.sign * (starts[at.part] + at.number)

        return Recipe(list(map(placed, words)), self.kept, self.functions)


def forwarding(
    function: Any, tracer: type, untraced: type, traced: Any, out: str | None, guards: Sequence[Guard] = ()
) -> Recipe:
    """Return a recipe that passes calls on to a Python function, unless an argument is a tracer or has the name `out`.

    `traced` takes over if the function raises `untraced`. `guards` are fields of functions that must be unchanged.
    """
    kept = (function, tracer, untraced, traced, out)
    header = [0, 0, 0, NEVER, HEADER, 0, 0, 0, 0, NEVER]
    fields = [word for guard in guards for word in field_words(guard)]
    words = [*header, machine().steps["forward"], *map(id, kept), len(guards), *fields]
    return Recipe(words, (*kept, *guards))


def field_words(guard: Guard) -> tuple[int, int]:
    """Return the address of a field of a function or of a closure's variable, and what must be there."""
    assert not isinstance(guard.holder, dict)
    offset = abi.CELL if guard.key is None else abi.FIELDS[guard.key]
    is_null = guard.expected is ABSENT or (guard.key is not None and guard.expected is None)
    return id(guard.holder) + offset, 0 if is_null else id(guard.expected)


class SizeRegisters:
    """Computes sizes, which are polynomials, from those that arguments have shown."""

    def __init__(self, writer: RecipeWriter) -> None:
        self.w = writer
        self.known: dict[str, Register] = {}
        self._made: dict[Size | Atom, Register] = {}

    @contextmanager
    def inner(self) -> Iterator[None]:
        """Compute sizes that are known only inside this block, because its steps may be skipped."""
        before = dict(self._made)
        yield
        self._made = before

    def number(self, size: Size) -> Register:
        """Return the register that holds a size."""
        if isinstance(size, int):
            return self.w.constant(size)
        found = self._made.get(size)
        if found is None:
            found = self._made[size] = self._computed(size)
        return found

    def scaled(self, size: Size) -> tuple[Register, int]:
        """Return a register and a number whose product is a size."""
        if isinstance(size, Dim) and len(size.terms) == 1:
            ((monomial, factor),) = size.terms
            return self.number(Dim(((monomial, 1),))), factor
        return self.number(size), 1

    def _computed(self, size: Dim, bits: int = 0) -> Register:
        """Add the terms up; the result is divided by a power of two."""
        *terms, (last, plus) = (*size.terms, ((), 0)) if size.terms[-1][0] else size.terms
        assert not last
        if not terms:
            return self._linear(self.w.constant(0), 1, plus, bits)
        if len(terms) == 1:
            ((monomial, factor),) = terms
            if len(monomial) == 1 or (factor, plus, bits) == (1, 0, 0):
                return self._linear(self._product(monomial), factor, plus, bits)
        one = self.w.constant(1)
        more = [w for monomial, factor in terms for w in (factor, *self._factors(monomial, one))]
        to = self.w.register()
        self.w.check("polynomial", len(terms), plus, bits, to, more=more)
        return to

    def _divided(self, size: Size, bits: int) -> Register:
        """Return the register of a size divided by a power of two; a quotient of a quotient is divided once."""
        if isinstance(size, int):
            return self.w.constant(size >> bits)
        inner = _halved(size)
        if inner is not None and inner[0] not in self._made:
            _, divided, more, plus = inner
            return self._divided(divided + (plus << more), bits + more)
        return self._computed(size, bits)

    def _linear(self, a: Register, times: int, plus: int, bits: int) -> Register:
        if (times, plus, bits) == (1, 0, 0):
            return a
        to = self.w.register()
        self.w.check("linear", a, times, plus, bits, to)
        return to

    def _product(self, monomial: Monomial) -> Register:
        first, *others = map(self._atom, monomial)
        for other in others:
            first = self.w.combined("product", first, other)
        return first

    def _factors(self, monomial: Monomial, one: Register) -> tuple[Register, Register]:
        """Return two registers whose product is that of a monomial."""
        *others, last = monomial
        return self._product(tuple(others)) if others else one, self._atom(last)

    def _atom(self, atom: Atom) -> Register:
        if not atom.args:
            return self.known[atom.name]
        found = self._made.get(atom)
        if found is None:
            found = self._made[atom] = self._function(atom)
        return found

    def _function(self, atom: Atom) -> Register:
        if (power := _power(atom)) is not None:
            return self._divided(atom.args[0], power)
        first, *others = (self.number(a) for a in atom.args)
        step = {"floordiv": "quotient", "min": "smaller", "max": "larger"}[atom.name]
        for other in others:
            first = self.w.combined(step, first, other)
        return first


def _halved(size: Dim) -> tuple[Atom, Size, int, int] | None:
    """Read a size as an atom that divides by a power of two, and a number: the atom, its parts, and the number."""
    *terms, (last, plus) = (*size.terms, ((), 0)) if size.terms[-1][0] else size.terms
    if last or len(terms) != 1 or len(terms[0][0]) != 1 or terms[0][1] != 1:
        return None
    (atom,) = terms[0][0]
    by = _power(atom)
    return (atom, atom.args[0], by, plus) if by is not None else None


def _power(atom: Atom) -> int | None:
    """Return n if an atom divides by 2**n."""
    if atom.name != "floordiv" or not isinstance(by := atom.args[1], int) or by <= 0 or by & (by - 1):
        return None
    return by.bit_length() - 1
