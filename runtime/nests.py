"""Compile loop nests and call them: the arguments are checked, then native code updates the arrays in place.

`compile_nest(nest)` gives a `NativeNest`. Its `run(buffers, numbers)` checks nothing and costs little: programs that
have checked their arrays use it. It returns when the nest is done, and raises what a `check`, a number out of range or
Ctrl-C ends the nest with. `NestKernel` is what users call; it checks every argument first.

    nest = parse_nest(text)
    compile_nest(nest).run([a, b], {"steps": 10})   # buffers in the order of the nest, sizes that no array has by name
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable, Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..ir import dims, errors
from ..ir.errors import IndexProblem, ShapeProblem, TypeProblem, ValueProblem
from ..ir.graph import Graph, Node
from ..ir.layouts import GENERAL, UNIT, C, classify
from ..ir.nest.ops import BIND, CHECK, WALK
from ..ir.nest.rules import type_shown, uses
from ..ir.nest.scopes import places
from ..ir.types import Guards
from . import threads
from .disk.code import object_code
from .size_bound import address_of

if TYPE_CHECKING:
    from ..backends.llvm.engine.target import Target
    from ..backends.llvm.nests.code import NestCode

Array = np.ndarray[Any, Any]
NATIVE = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *([ctypes.c_int64] * 5))
MOST = 1 << 31  # of a number that no array has, so that sizes stay within 64 bits
MOST_CALLS = 64  # sets of sizes and strides that a nest remembers
ZEROS = (0, 0, 0, 0, 0)


def compile_nest(nest: Graph, target: Target | None = None) -> NativeNest:
    """Compiles a verified nest for a target, or for this machine; its machine code is kept on disk."""
    return compile_nests([nest], target)[0]


def compile_nests(nests: Sequence[Graph], target: Target | None = None) -> list[NativeNest]:
    """Compiles several nests as one module, which is faster than one by one."""
    from ..backends.llvm.code.control_word import controlled
    from ..backends.llvm.engine.library import LoadedCode
    from ..backends.llvm.engine.target import host
    from ..backends.llvm.nests.emit import emit_nest

    target = target or host()
    codes = [emit_nest(nest, f"nest_{k}", target.vector_bytes) for k, nest in enumerate(nests)]
    declared = {name: text for code in codes for name, text in code.declared.items()}
    names = [name for code in codes for name in code.names]
    text = "\n".join([*(code.text for code in codes), *declared.values(), ""])
    text = _kept_apart(controlled(text, names, target.triple), names)
    library = LoadedCode(object_code(text, effort="LOOPS", target=target), names)
    return [NativeNest(nest, code, library) for nest, code in zip(nests, codes, strict=True)]


def _kept_apart(text: str, names: Sequence[str]) -> str:
    """Keeps LLVM from copying functions into both of their callers, and from calling functions of C's library."""
    for name in names:
        start = text.index(f"define internal i32 @{name}.body(")
        end = text.index(") {", start)
        text = f'{text[:end]}) noinline "no-builtins" {{{text[end + 3 :]}'
    return text


class NativeNest:
    """A nest in machine code."""

    def __init__(self, nest: Graph, code: NestCode, library: Any) -> None:
        self.nest, self.code, self._library = nest, code, library
        self.call = NATIVE(library.addresses[code.names[0]])
        self.places = size_places(nest)
        self.shares = any(e.kind == "launch" for e in code.entries)
        self._failure = next((k for k, e in enumerate(code.entries) if e.kind == "failure" and e.slot == 0), None)
        self._calls: dict[Any, NestCall] = {}

    def run(self, buffers: Sequence[Array], numbers: Mapping[str, int] | None = None) -> None:
        """Runs the nest on arrays that fit it; nothing is checked."""
        key = (*((a.shape, a.strides) for a in buffers), *(numbers or {}).items())
        found = self._calls.get(key)
        if found is None:
            if len(self._calls) >= MOST_CALLS:
                self._calls.clear()
            found = self._calls[key] = NestCall(self, buffers, numbers or {})
        found.run(buffers)

    def sizes(self, buffers: Sequence[Array], numbers: Mapping[str, int]) -> dict[str, int]:
        """The numbers of all sizes in a call."""
        found = {name: buffers[slot].shape[axis] for name, (slot, axis) in self.places.items()}
        return {**found, **numbers}

    def fail(self, words: array[int]) -> None:
        """Raises what ended the nest."""
        if self.code.asks:
            threads.raise_pending()
        if self._failure is None or not words[self._failure]:
            raise ValueProblem("the nest was stopped")
        details = [
            words[k] for k, e in enumerate(self.code.entries) if e.kind == "failure" and e.slot > 0
        ]  # in their order
        raise failure(self.code.failures[words[self._failure] - 1], details)


class NestCall:
    """A nest for the sizes and strides of a call; only addresses differ between such calls."""

    def __init__(self, native: NativeNest, buffers: Sequence[Array], numbers: Mapping[str, int]) -> None:
        self.native, entries = native, native.code.entries
        self.words = array("q", bytes(8 * len(entries)))
        self.pointers = [(at, entry.slot) for at, entry in enumerate(entries) if entry.kind == "pointer"]
        self.scratch: list[tuple[int, int]] = []
        self.threads: list[tuple[int, str]] = []
        env = native.sizes(buffers, numbers)
        for at, entry in enumerate(entries):
            if entry.kind == "stride":
                self.words[at] = buffers[entry.slot].strides[entry.axis]
            elif entry.kind == "size":
                self.words[at] = env[entry.symbol]
            elif entry.kind == "question":
                self.words[at] = threads.pool().question_address
            elif entry.kind in ("launch", "workers"):
                self.threads.append((at, entry.kind))
            elif entry.kind == "scratch":
                self.scratch.append((at, dims.evaluate(entry.bytes, env)))
        self.time = dims.evaluate(native.code.time, env) if native.shares else 0

    def run(self, buffers: Sequence[Array]) -> None:
        """Run the nest on arrays of these sizes and strides."""
        words, memory, workers = self.words[:], [], 1
        for at, slot in self.pointers:
            words[at] = address_of(buffers[slot])
        if self.threads:
            threads.note_work(self.time)
            workers = threads.get_threads() if threads.is_shared(self.time) else 1
            for at, kind in self.threads if workers > 1 else ():
                words[at] = threads.pool().launch_address if kind == "launch" else workers
        for at, count in self.scratch:
            memory.append(np.empty(workers * count, np.uint8))
            words[at] = address_of(memory[-1])
        if self.native.code.asks:
            threads.raise_pending()  # a native call that was interrupted ends up here
        if self.native.call(words.buffer_info()[0], *ZEROS):
            self.native.fail(words)


def failure(node: Node, details: Sequence[int]) -> errors.WeftError:
    """The error of a node that failed, as the interpreter raises it."""
    if node.op is BIND:
        return IndexProblem(f"index {details[0]} is out of bounds for axis with size {details[1]}", node.span)
    if node.op is WALK:
        names = node.attrs["combine"]
        assert isinstance(names, tuple)
        return ValueProblem(f"attempt to get {names[0]} of an empty sequence", node.span)
    if node.op is CHECK or "message" in node.attrs:
        kind = getattr(errors, str(node.attrs["error"]))
        found: errors.WeftError = kind(str(node.attrs["message"]), node.span)
        return found
    return ValueProblem("Integers to negative integer powers are not allowed.", node.span)


def size_places(
    nest: Graph, given: Container[str] | None = None, names: Sequence[str] = ()
) -> dict[str, tuple[int, int]]:
    """Return the buffer and axis that determine each size; `given` names the buffers to look at."""
    found: dict[str, tuple[int, int]] = {}
    for slot, value in enumerate(nest.inputs):
        if given is not None and names[slot] not in given:
            continue
        for axis, size in enumerate(value.type.shape):
            if dims.is_symbol(size):
                found.setdefault(str(size), (slot, axis))
    return found


def number_names(nest: Graph) -> tuple[str, ...]:
    """The sizes of a nest that no array has, which a call passes by name."""
    used: dict[str, None] = {}
    guards = nest.attrs.get("guards", Guards())
    assert isinstance(guards, Guards)
    for size in [s for pair in guards for s in pair] + [s for v in nest.inputs for s in v.type.shape]:
        used |= dict.fromkeys(sorted(dims.symbols(size)))
    for place in places(nest):
        used |= dict.fromkeys(sorted(uses(place.node)))
        own = place.node.attrs.get("guards", Guards())
        assert isinstance(own, Guards)
        for a, b in own:
            used |= dict.fromkeys(sorted(dims.symbols(a) | dims.symbols(b)))
    known = size_places(nest)
    return tuple(name for name in used if not name.startswith(dims.LOOP) and name not in known)


class RunnableNest(Protocol):
    """A nest that can run: in machine code, or step by step in Python."""

    def run(self, buffers: Sequence[Array], numbers: Mapping[str, int] | None = None) -> None:
        """Run it on arrays that fit it."""


class NestKernel:
    """A nest as a callable: `kernel(a, b, steps=10)` updates its arguments in place and returns nothing."""

    def __init__(self, nest: Graph, make: Callable[[Graph], RunnableNest] = compile_nest) -> None:
        self.nest, self.name, self._make = nest, nest.name, make
        self.parameters = tuple(v.name or f"arg{k}" for k, v in enumerate(nest.inputs))
        self.numbers = number_names(nest)
        access = nest.attrs["access"]
        assert isinstance(access, tuple)
        self.written = tuple(k for k, how in enumerate(access) if how != "read")
        self._native: RunnableNest | None = None
        self._checked: dict[Any, list[tuple[int, int]]] = {}

    def __repr__(self) -> str:
        return f"<nest {self.signature}>"

    @property
    def signature(self) -> str:
        """The buffers and numbers that a call passes, as in `seidel(a: f64[n, n], *, steps)`."""

        given = [
            f"{n}: {type_shown(v.type).removeprefix('memref ')}"
            for n, v in zip(self.parameters, self.nest.inputs, strict=True)
        ]
        return f"{self.name}({', '.join([*given, *(('*', *self.numbers) if self.numbers else ())])})"

    def __call__(self, *arrays: Array, **numbers: Any) -> None:
        """Run the nest; the arrays that it writes are changed."""
        self.native.run(arrays, self.checked(arrays, numbers))

    @property
    def native(self) -> RunnableNest:
        """The machine code, compiled when it is first needed."""
        if self._native is None:
            self._native = self._make(self.nest)
        return self._native

    def checked(self, arrays: Sequence[Any], numbers: Mapping[str, Any]) -> dict[str, int]:
        """Checks the arguments of a call; returns the sizes that no array has."""
        found = {name: self._number(name, value) for name, value in numbers.items()}
        try:
            key = (*[(a.__class__, a.dtype, a.shape, a.strides) for a in arrays], *found.items())
        except AttributeError:
            key = ()
        if key not in self._checked:
            self._check(arrays, found)
            if len(self._checked) >= MOST_CALLS:
                self._checked.clear()
            self._checked[key] = [_reach(a) for a in arrays]
        self._check_memory(arrays, self._checked[key])
        return found

    def _check(self, arrays: Sequence[Any], numbers: Mapping[str, int]) -> None:
        """Checks what calls with the same types, sizes and strides have in common."""
        if len(arrays) != len(self.parameters):
            raise TypeProblem(f"{self.signature} takes {len(self.parameters)} arrays, not {len(arrays)}")
        if set(numbers) != set(self.numbers):
            wrong = sorted(set(numbers) ^ set(self.numbers))
            what = "missing" if wrong[0] in self.numbers else "unknown"
            raise TypeProblem(f"{self.signature}: {', '.join(wrong)} is {what}")
        for name, value, given in zip(self.parameters, self.nest.inputs, arrays, strict=True):
            if not isinstance(given, np.ndarray):
                raise TypeProblem(f"{self.name}: '{name}' must be an array, not a {type(given).__name__}")
            if given.ndim != value.type.rank or given.dtype != value.type.dtype.numpy:
                raise TypeProblem(
                    f"{self.name}: '{name}' must be {value.type}, not {given.dtype} with {given.ndim} dimensions"
                )
        self._check_sizes(arrays, numbers)
        self._check_layouts(arrays)

    def _number(self, name: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeProblem(f"{self.name}: {name} must be a whole number, not {value!r}")
        if not 0 <= value < MOST:
            raise ValueProblem(f"{self.name}: {name} must be from 0 to {MOST - 1}, not {value}")
        return int(value)

    def _check_sizes(self, arrays: Sequence[Array], numbers: Mapping[str, int]) -> None:
        env = {name: arrays[slot].shape[axis] for name, (slot, axis) in size_places(self.nest).items()}
        env |= numbers
        for name, value, given in zip(self.parameters, self.nest.inputs, arrays, strict=True):
            shape = tuple(dims.evaluate(s, env) for s in value.type.shape)
            if shape != given.shape:
                raise ShapeProblem(f"{self.name}: '{name}' must have shape {shape} here, not {given.shape}")
        guards = self.nest.attrs.get("guards", Guards())
        assert isinstance(guards, Guards)
        for a, b in guards:
            if dims.evaluate(a, env) != dims.evaluate(b, env):
                text = Guards(((a, b),)).texts[0]
                raise ShapeProblem(f"{self.name} needs {text}, which does not hold for these arrays")

    def _check_layouts(self, arrays: Sequence[Array]) -> None:
        layouts = self.nest.attrs.get("layouts") or (C,) * len(arrays)
        assert isinstance(layouts, tuple)
        for k, (name, given, layout) in enumerate(zip(self.parameters, arrays, layouts, strict=True)):
            if not fits(given, str(layout)):
                raise ValueProblem(
                    f"{self.name}: '{name}' must have layout {layout}, not strides {given.strides}",
                    hint="pass a copy, such as np.ascontiguousarray gives",
                )
            if k in self.written and overlaps_itself(given):
                raise ValueProblem(f"{self.name}: elements of '{name}' overlap, but the nest writes to it")

    def _check_memory(self, arrays: Sequence[Array], reaches: Sequence[tuple[int, int]]) -> None:
        """Checks that what is written may be, and that nothing overlaps it."""
        places = [address_of(a) for a in arrays]
        for k in self.written:
            if not arrays[k].flags.writeable:
                raise ValueProblem(f"{self.name}: '{self.parameters[k]}' is read-only, but the nest writes to it")
            low, high = places[k] + reaches[k][0], places[k] + reaches[k][1]
            for other, (before, after) in enumerate(reaches):
                if other == k or places[other] + before >= high or low >= places[other] + after:
                    continue
                if np.shares_memory(arrays[k], arrays[other]):
                    first, second = (self.parameters[i] for i in sorted((k, other)))
                    raise ValueProblem(f"{self.name}: '{first}' and '{second}' share memory, and the nest writes to it")


def _reach(given: Array) -> tuple[int, int]:
    """The bytes that an array touches, from its address: the first one, and the one behind the last."""
    if not given.size:
        return 0, 0
    spans = [(n - 1) * s for n, s in zip(given.shape, given.strides, strict=True)]
    return sum(min(0, s) for s in spans), sum(max(0, s) for s in spans) + given.itemsize


def fits(given: Array, layout: str) -> bool:
    """Whether an array has a layout class or a stricter one."""
    have = classify(given.shape, given.strides, given.itemsize)
    if layout in ("S", GENERAL) or have == layout:
        return True
    return (layout == UNIT and have == C) or have == "scalar" or (layout == "F" and given.flags.f_contiguous)


def overlaps_itself(given: Array) -> bool:
    """Whether two indices of an array may mean the same memory."""
    if not given.size:
        return False
    axes = sorted((abs(s), n) for s, n in zip(given.strides, given.shape, strict=True) if n > 1)
    reach = given.itemsize
    for stride, size in axes:
        if stride < reach:
            return True
        reach = stride * size
    return False
