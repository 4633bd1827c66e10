"""Write LLVM assembly text from typed values and calls.

`Emitter` writes one function. A `Val` is an SSA name or a constant with its element type and number of lanes (0 means
scalar), so the same code works for every vector width. Text takes a tenth of the time that llvmlite's object model
needs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ....ir.tuples import NamedTuple

_SINGLE, _DOUBLE = struct.Struct(">f"), struct.Struct(">d")
BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64, "half": 16, "bfloat": 16, "float": 32, "double": 64}
INTRINSIC_NAMES = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64", "ptr": "p0"}
# Makes LLVM prefer the other side of the branch when it assigns registers.
UNLIKELY = ', !prof !{!"branch_weights", i32 1, i32 2000}'


class Val(NamedTuple):
    """A value: its text, its element type, and its lanes."""

    text: str
    elem: str
    lanes: int

    @property
    def type(self) -> str:
        return f"<{self.lanes} x {self.elem}>" if self.lanes else self.elem

    @property
    def typed(self) -> str:
        return f"<{self.lanes} x {self.elem}> {self.text}" if self.lanes else f"{self.elem} {self.text}"


def number(elem: str, value: float) -> str:
    """The text of a scalar constant; floats are written as the bits of a double, as LLVM wants them."""
    if elem == "i1":
        return "true" if value else "false"
    if elem in ("float", "double"):
        if elem == "float":
            (value,) = _SINGLE.unpack(_SINGLE.pack(value))
        return f"0x{_DOUBLE.pack(value).hex().upper()}"
    return str(int(value))


class Writing:
    """The part of a text that computes one value; a `contextmanager` would take twice as long."""

    __slots__ = ("before", "emitter", "owner")

    def __init__(self, emitter: Emitter, owner: object) -> None:
        self.emitter, self.owner = emitter, owner

    def __enter__(self) -> None:
        owners = self.emitter.owners
        self.before = owners[-1][1] if owners else None
        self.emitter.own(self.owner)

    def __exit__(self, *error: object) -> None:
        self.emitter.own(self.before)


class Emitter:
    """Writes the body of one function, block by block."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}
        self.block = "entry"
        self.active: Val | None = None  # the active lanes, if not all are
        self.memory = ""  # metadata of loads and stores: which memory they touch
        self.fails = False
        self.stops = False  # whether the code stops when it is told to
        self.streams = False  # whether there are non-temporal stores
        self.vector_bytes = 0  # how wide vectors are that one instruction handles, as far as the plan tells
        self.called: Sequence[str] = ()  # ops whose code is a function of its own
        self._functions: dict[str, Sequence[Val]] = {}  # the results of such functions by symbol
        self.zeroed: dict[str, str] = {}  # the masks of vectors that are zero outside of them, by their names
        self._count = 0
        # Whose code the names are: each entry holds from this number of names on. The explorer page shows it.
        self.owners: list[tuple[int, object]] = []
        self.inner_owners: dict[str, list[tuple[int, object]]] = {}  # the same for internal functions that it calls

    def writing(self, owner: object) -> Writing:
        """Note that the code written inside computes this value."""
        return Writing(self, owner)

    def own(self, owner: object) -> None:
        """Note that the code from here on computes this value."""
        self.owners.append((self._count, owner))

    # -- names, blocks and constants

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def label(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"

    def place(self, label: str) -> None:
        """Begin the block `label`; the block before it must have been ended."""
        self.lines.append(f"{label}:")
        self.block = label

    def br(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def cbr(self, cond: Val, yes: str, no: str, unlikely: bool = False) -> None:
        weights = UNLIKELY if unlikely else ""
        self.lines.append(f"  br i1 {cond.text}, label %{yes}, label %{no}{weights}")

    def const(self, elem: str, value: float, lanes: int = 0) -> Val:
        text = number(elem, value)
        return Val(f"splat ({elem} {text})" if lanes else text, elem, lanes)

    def const_like(self, x: Val, value: float) -> Val:
        return self.const(x.elem, value, x.lanes)

    def zero_like(self, x: Val) -> Val:
        return Val("zeroinitializer" if x.lanes else number(x.elem, 0), x.elem, x.lanes)

    def lanes_of(self, elem: str, values: list[float]) -> Val:
        """A vector constant with a value for each lane."""
        return Val("<" + ", ".join(f"{elem} {number(elem, v)}" for v in values) + ">", elem, len(values))

    def emit(self, text: str, elem: str, lanes: int) -> Val:
        self._count += 1
        name = f"%v{self._count}"
        self.lines.append(f"  {name} = {text}")
        return tuple.__new__(Val, (name, elem, lanes))  # `Val(...)` checks its arguments, and this runs most often

    # -- arithmetic

    def op(self, opcode: str, a: Val, b: Val) -> Val:
        """Any two-operand instruction whose result has the type of its operands (`fadd`, `xor`, `shl`, ...)."""
        return self.emit(f"{opcode} {a.type} {a.text}, {b.text}", a.elem, a.lanes)

    def fneg(self, a: Val) -> Val:
        return self.emit(f"fneg {a.typed}", a.elem, a.lanes)

    def fcmp(self, predicate: str, a: Val, b: Val) -> Val:
        return self.emit(f"fcmp {predicate} {a.type} {a.text}, {b.text}", "i1", a.lanes)

    def icmp(self, predicate: str, a: Val, b: Val) -> Val:
        return self.emit(f"icmp {predicate} {a.type} {a.text}, {b.text}", "i1", a.lanes)

    def select(self, cond: Val, yes: Val, no: Val) -> Val:
        return self.emit(f"select {cond.typed}, {yes.typed}, {no.typed}", yes.elem, yes.lanes)

    def not_(self, a: Val) -> Val:
        return self.op("xor", a, self.const_like(a, 1 if a.elem == "i1" else -1))

    def cast(self, opcode: str, a: Val, elem: str) -> Val:
        """A conversion (`sext`, `sitofp`, `bitcast`, ...) to another element type with the same lanes."""
        return self.emit(f"{opcode} {a.typed} to {Val('', elem, a.lanes).type}", elem, a.lanes)

    def call(self, intrinsic: str, *args: Val, elem: str | None = None, suffix: str | None = None) -> Val:
        """An LLVM intrinsic overloaded on its first argument's type, such as `fma`, `sqrt`, `fabs`, `roundeven`."""
        first = args[0]
        if suffix is None:
            suffix = f".{self.overload(first)}"
        result = Val("", elem or first.elem, first.lanes)
        symbol = f"llvm.{intrinsic}{suffix}"
        if symbol not in self.declared:
            self.declared[symbol] = f"declare {result.type} @{symbol}({', '.join(a.type for a in args)})"
        passed = ", ".join([a.typed for a in args])
        return self.emit(f"call {result.type} @{symbol}({passed})", result.elem, result.lanes)

    def call_function(self, name: str, values: Sequence[Val], body: Callable[..., Sequence[Val]]) -> Sequence[Val]:
        """Call the function of the module that `body(emitter, *values)` writes, and write it at the first call.

        No two bodies share a name. The code must not fail or stop, because it can't leave the kernel.
        """
        symbol = f"weft.{name}.{'.'.join(map(self.overload, values))}.{self.vector_bytes}"
        if symbol not in self._functions:
            self._define(symbol, [Val(f"%a{k}", v.elem, v.lanes) for k, v in enumerate(values)], body)
        types = [r.type for r in self._functions[symbol]]
        returned = f"{{ {', '.join(types)} }}"
        found = self.emit(f"call {returned} @{symbol}({', '.join(v.typed for v in values)})", "struct", 0)
        return [
            self.emit(f"extractvalue {returned} {found.text}, {k}", r.elem, r.lanes)
            for k, r in enumerate(self._functions[symbol])
        ]

    def _define(self, symbol: str, parameters: Sequence[Val], body: Callable[..., Sequence[Val]]) -> None:
        inner = Emitter()
        inner.vector_bytes = self.vector_bytes
        results = body(inner, *parameters)
        assert not inner.fails and not inner.stops
        returned, last = f"{{ {', '.join(r.type for r in results)} }}", "poison"
        for k, result in enumerate(results):
            last = inner.emit(f"insertvalue {returned} {last}, {result.typed}, {k}", "struct", 0).text
        head = f"define internal {returned} @{symbol}({', '.join(p.typed for p in parameters)}) noinline {{"
        text = "\n".join([head, "entry:", *inner.lines, f"  ret {returned} {last}", "}"])
        self.declared |= {**inner.declared, symbol: text}
        self._functions[symbol] = results

    @staticmethod
    def overload(x: Val) -> str:
        short = INTRINSIC_NAMES.get(x.elem, x.elem)
        return f"v{x.lanes}{short}" if x.lanes else short

    def fma(self, a: Val, b: Val, c: Val) -> Val:
        """`a*b + c` with one rounding."""
        return self.call("fma", a, b, c)

    def poly(self, x: Val, coefficients: list[float]) -> Val:
        """Horner's rule with FMA; the highest power comes first."""
        total = self.const_like(x, coefficients[0])
        for c in coefficients[1:]:
            total = self.fma(total, x, self.const_like(x, c))
        return total

    # -- vectors

    def splat(self, x: Val, lanes: int) -> Val:
        """A scalar in every lane (a scalar again for 0 lanes)."""
        if not lanes or x.lanes:
            return x
        if not x.text.startswith("%"):
            return Val(f"splat ({x.elem} {x.text})", x.elem, lanes)
        one = self.emit(f"insertelement <{lanes} x {x.elem}> poison, {x.typed}, i64 0", x.elem, lanes)
        return self.emit(
            f"shufflevector {one.typed}, {one.type} poison, <{lanes} x i32> zeroinitializer", x.elem, lanes
        )

    def extract(self, x: Val, lane: int) -> Val:
        return self.emit(f"extractelement {x.typed}, i64 {lane}", x.elem, 0)

    def insert(self, x: Val, element: Val, lane: int) -> Val:
        return self.emit(f"insertelement {x.typed}, {element.typed}, i64 {lane}", x.elem, x.lanes)

    def shuffle(self, a: Val, b: Val, mask: list[int]) -> Val:
        indices = ", ".join(f"i32 {i}" for i in mask)
        return self.emit(f"shufflevector {a.typed}, {b.typed}, <{len(mask)} x i32> <{indices}>", a.elem, len(mask))

    def any(self, mask: Val) -> Val:
        """Whether any lane of an `i1` vector is set, as a scalar `i1`."""
        return self.call_reduce("or", mask) if mask.lanes else mask

    def call_reduce(self, how: str, x: Val) -> Val:
        symbol = f"llvm.vector.reduce.{how}.{self.overload(x)}"
        self.declared[symbol] = f"declare {x.elem} @{symbol}({x.type})"
        return self.emit(f"call {x.elem} @{symbol}({x.typed})", x.elem, 0)

    def rare(self, mask: Val, usual: Val, handle: Callable[[], Val]) -> Val:
        """`usual`, except that `handle` computes the lanes of `mask`; its code runs only if some lane needs it."""
        return self.rare_all(mask, [usual], lambda: [handle()])[0]

    def rare_all(self, mask: Val, usual: Sequence[Val], handle: Callable[[], Sequence[Val]]) -> list[Val]:
        """`rare` for several values at once."""

        def fixed() -> list[Val]:
            return [self.select(mask, new, old) for new, old in zip(handle(), usual, strict=True)]

        return self.either(self.any(mask), fixed, usual, unlikely=True)

    def either(
        self,
        condition: Val,
        body: Callable[[], Sequence[Val]],
        otherwise: Sequence[Val] | None = None,
        unlikely: bool = False,
    ) -> list[Val]:
        """The values of `body` if a condition (a scalar) holds, otherwise others, or zeros."""
        then, done, before = self.label("then"), self.label("done"), self.block
        self.cbr(condition, then, done, unlikely)
        self.place(then)
        found = list(body())
        after = self.block
        self.br(done)
        self.place(done)
        others = [self.zero_like(x) for x in found] if otherwise is None else otherwise
        return [
            self.emit(f"phi {x.type} [ {other.text}, %{before} ], [ {x.text}, %{after} ]", x.elem, x.lanes)
            for x, other in zip(found, others, strict=True)
        ]

    def repeat(
        self, carried: list[Val], condition: Callable[[list[Val]], Val], body: Callable[[list[Val]], list[Val]]
    ) -> list[Val]:
        """Runs `body` while the condition (a scalar) on the carried values holds; returns their last values."""
        head, inside, done = self.label("head"), self.label("body"), self.label("done")
        before, phis = self.block, [Val(self.name(), v.elem, v.lanes) for v in carried]
        self.br(head)
        self.place(head)
        at = len(self.lines)
        self.lines.extend("" for _ in phis)
        self.cbr(condition(phis), inside, done)
        self.place(inside)
        after = body(phis)
        for k, (phi, start, end) in enumerate(zip(phis, carried, after, strict=True)):
            self.lines[at + k] = (
                f"  {phi.text} = phi {phi.type} [ {start.text}, %{before} ], [ {end.text}, %{self.block} ]"
            )
        self.br(head)
        self.place(done)
        return phis

    def when(self, condition: Val, body: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        """Runs `body`, which returns nothing, if the condition (a scalar) holds."""
        inside, done = self.label("then"), self.label("done")
        outside = self.label("else") if otherwise else done
        self.cbr(condition, inside, outside)
        self.place(inside)
        body()
        self.br(done)
        if otherwise:
            self.place(outside)
            otherwise()
            self.br(done)
        self.place(done)

    def fail_where(self, mask: Val) -> None:
        """Makes the kernel report failure if an active lane is set."""
        if self.active is not None and mask.lanes:
            mask = self.op("and", mask, self.active)
        bad = self.cast("zext", self.any(mask), "i32")
        self.fails = True
        status = Val("%status", "ptr", 0)
        self.store(self.op("or", self.load(status, "i32", 0, 4), bad), status, 4)

    # -- memory. Arrays may have any address, so no alignment is assumed unless a caller knows better

    def load(self, address: Val, elem: str, lanes: int, align: int = 1) -> Val:
        kind = Val("", elem, lanes).type
        return self.emit(f"load {kind}, ptr {address.text}, align {align}{self.memory}", elem, lanes)

    def store(self, x: Val, address: Val, align: int = 1) -> None:
        self.lines.append(f"  store {x.typed}, ptr {address.text}, align {align}{self.memory}")

    def stream(self, x: Val, address: Val) -> None:
        """Store an aligned vector by a non-temporal store; other threads see it when the function has ended."""
        self.streams = True
        self.declared["!0"] = "!0 = !{i32 1}"
        bytes = x.lanes * BITS[x.elem] // 8
        self.lines.append(f"  store {x.typed}, ptr {address.text}, align {bytes}, !nontemporal !0")

    def prefetch(self, pointer: Val, level: int) -> None:
        """Asks for a cache line to be brought into a cache of this level."""
        self.declared["llvm.prefetch.p0"] = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"
        self.lines.append(f"  call void @llvm.prefetch.p0(ptr {pointer.text}, i32 0, i32 {max(0, 4 - level)}, i32 1)")

    def fence(self) -> None:
        self.lines.append("  fence seq_cst")

    def offset(self, address: Val, byte_offset: Val) -> Val:
        return self.emit(f"getelementptr i8, ptr {address.text}, i64 {byte_offset.text}", "ptr", 0)

    def offsets(self, address: Val, byte_offsets: Val) -> Val:
        """A vector of addresses."""
        return self.emit(f"getelementptr i8, ptr {address.text}, {byte_offsets.typed}", "ptr", byte_offsets.lanes)

    def masked_load(self, address: Val, elem: str, mask: Val) -> Val:
        """Loads the lanes of the mask; the others are zero and not read."""
        result = Val("zeroinitializer", elem, mask.lanes)
        symbol = f"llvm.masked.load.{self.overload(result)}.p0"
        self.declared[symbol] = f"declare {result.type} @{symbol}(ptr, {mask.type}, {result.type})"
        arguments = f"ptr align 1 {address.text}, {mask.typed}, {result.typed}"
        loaded = self.emit(f"call {result.type} @{symbol}({arguments}){self.memory}", elem, mask.lanes)
        self.zeroed[loaded.text] = mask.text
        return loaded

    def masked_store(self, x: Val, address: Val, mask: Val) -> None:
        symbol = f"llvm.masked.store.{self.overload(x)}.p0"
        self.declared[symbol] = f"declare void @{symbol}({x.type}, ptr, {mask.type})"
        arguments = f"{x.typed}, ptr align 1 {address.text}, {mask.typed}"
        self.lines.append(f"  call void @{symbol}({arguments}){self.memory}")

    def gather(self, addresses: Val, elem: str, mask: Val) -> Val:
        """One load for each lane of the mask."""
        result = Val("zeroinitializer", elem, mask.lanes)
        symbol = f"llvm.masked.gather.{self.overload(result)}.{self.overload(addresses)}"
        self.declared[symbol] = f"declare {result.type} @{symbol}({addresses.type}, {mask.type}, {result.type})"
        arguments = f"{addresses.type} align 1 {addresses.text}, {mask.typed}, {result.typed}"
        return self.emit(f"call {result.type} @{symbol}({arguments}){self.memory}", elem, mask.lanes)

    def scatter(self, x: Val, addresses: Val, mask: Val) -> None:
        symbol = f"llvm.masked.scatter.{self.overload(x)}.{self.overload(addresses)}"
        self.declared[symbol] = f"declare void @{symbol}({x.type}, {addresses.type}, {mask.type})"
        arguments = f"{x.typed}, {addresses.type} align 1 {addresses.text}, {mask.typed}"
        self.lines.append(f"  call void @{symbol}({arguments}){self.memory}")
