"""Find calls that return something different each time, such as random numbers and clocks, in a traced function's code.

A trace would keep the first number forever. So the code of the function, and of the user's functions that it calls, is
searched for loads of such callables. If there are any, the function is watched while it is traced, so that only a call
that is reached is an error.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

from ...ir.errors import TraceProblem
from ...ir.source import ABSENT, contents
from ...ir.tuples import NamedTuple
from .captures import nested_codes, static_attribute
from .locate import line_of

_CLOCKS = frozenset(
    f"{name}{suffix}"
    for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time", "clock_gettime")
    for suffix in ("", "_ns")
) | {"localtime", "gmtime", "ctime", "asctime", "strftime", "sleep"}
_FUNCTIONS = frozenset((("posix", "urandom"), ("nt", "urandom"), ("uuid", "uuid1"), ("uuid", "uuid4")))
_SEEDED = frozenset(
    ("default_rng", "RandomState", "Random", "SeedSequence")
)  # these repeat their numbers if they get a seed
_GENERATORS = frozenset(("RandomState", "Generator", "Random", "SystemRandom"))
_SKIPPED = frozenset(("CACHE", "PUSH_NULL", "EXTENDED_ARG", "NOP", "PRECALL"))


class Load(NamedTuple):
    """A place where an impure callable is loaded: the offset of the instruction, its line, and a readable name."""

    offset: int
    line: int
    name: str


Loads = Mapping[CodeType, tuple[Load, ...]]


def impure_loads(functions: Mapping[FunctionType, Any]) -> dict[CodeType, tuple[Load, ...]]:
    """Find the places where functions load impure callables; `functions` maps to a method's object or `ABSENT`."""
    found: dict[CodeType, tuple[Load, ...]] = {}
    for function, instance in functions.items():
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for code in nested_codes(function.__code__):
            local = {} if instance is ABSENT else {function.__code__.co_varnames[0]: instance}
            if loads := tuple(_loads(code, function, cells, local)):
                found[code] = loads
    return found


@contextmanager
def watched(loads: Loads) -> Iterator[None]:
    """Watch the trace, and raise a `TraceProblem` at its end if one of the loads ran."""
    if not loads:
        yield
        return
    watch, before = _Watch(loads), sys.gettrace()
    sys.settrace(watch.frame)
    try:
        yield
    finally:
        sys.settrace(before)
    if watch.seen is not None:
        code, load = watch.seen
        raise TraceProblem(
            f"'{load.name}' returns something different at each call, but a trace would keep the first result",
            line_of(code.co_filename, load.line),
            "call it outside the function and pass the result in",
        )


class _Watch:
    """Watches the instructions of code that loads something impure."""

    def __init__(self, loads: Loads) -> None:
        self._loads = {code: {load.offset: load for load in found} for code, found in loads.items()}
        self.seen: tuple[CodeType, Load] | None = None

    def frame(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        if frame.f_code not in self._loads:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._instruction

    def _instruction(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        load = self._loads[frame.f_code].get(frame.f_lasti) if event == "opcode" else None
        if load is not None and self.seen is None:
            self.seen = frame.f_code, load
        return self._instruction


def _loads(
    code: CodeType, function: FunctionType, cells: Mapping[str, Any], local: Mapping[str, Any]
) -> Iterator[Load]:
    """Follow names and attributes as far as possible without running anything."""
    instructions = [i for i in dis.get_instructions(code) if i.opname not in _SKIPPED]
    local = {**local, **_local_modules(instructions)}
    owner: Any = ABSENT
    path: list[str] = []
    line = code.co_firstlineno
    for at, instruction in enumerate(instructions):
        line = instruction.starts_line or line
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and owner is not ABSENT:
            owner = _attribute(owner, str(instruction.argval))
        else:
            owner, path = _root(instruction, function, cells, local), []
        path.append(str(instruction.argval))
        if owner is ABSENT or not _is_impure(owner):
            continue
        after = instructions[at + 1] if at + 1 < len(instructions) else None
        if getattr(owner, "__name__", "") in _SEEDED and not (after and after.opname == "CALL" and not after.arg):
            continue
        yield Load(instruction.offset, line, ".".join(path))


def _local_modules(instructions: list[dis.Instruction]) -> dict[str, Any]:
    """Find the modules that `import time` inside the function binds, if they are already imported."""
    found: dict[str, Any] = {}
    for first, second in pairwise(instructions):
        if first.opname == "IMPORT_NAME" and second.opname == "STORE_FAST":
            found[str(second.argval)] = sys.modules.get(str(first.argval), ABSENT)
    return found


def _root(
    instruction: dis.Instruction, function: FunctionType, cells: Mapping[str, Any], local: Mapping[str, Any]
) -> Any:
    name = str(instruction.argval)
    if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        return function.__globals__.get(name, ABSENT)
    if instruction.opname == "LOAD_DEREF" and name in cells:
        return contents(cells[name])
    return local.get(name, ABSENT) if instruction.opname.startswith("LOAD_FAST") else ABSENT


def _attribute(owner: Any, name: str) -> Any:
    if isinstance(owner, (ModuleType, type)) or type(owner).__name__ in _GENERATORS:
        return getattr(owner, name, ABSENT)
    return static_attribute(owner, name)


def _is_impure(x: Any) -> bool:
    if isinstance(x, Iterator):  # each use takes the next
        return True
    name, module = getattr(x, "__name__", ""), getattr(x, "__module__", None) or ""
    if (module, name) in _FUNCTIONS or (module == "secrets" and callable(x)):
        return True
    if name in _SEEDED:
        return module.partition(".")[0] in ("numpy", "random")
    owner = getattr(x, "__self__", None)
    if isinstance(owner, ModuleType):
        return owner.__name__ == "time" and name in _CLOCKS
    if isinstance(owner, type):
        return owner.__module__ == "datetime" and name in ("now", "today", "utcnow")
    kind = type(owner)
    return kind.__name__ in _GENERATORS and kind.__module__.partition(".")[0] in ("numpy", "random")
