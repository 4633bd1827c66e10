"""Build an object file and a header from a list of C functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...backends.llvm import compile as native
from ...backends.llvm.code.control_word import controlled
from ...backends.llvm.engine import module
from ...ir.errors import TypeProblem
from ...ir.graph import Graph, Node
from ...ir.loops import walk
from ...ir.records import record
from ..bounds import Bound
from ..compiler import Lowered
from ..nests.compiling import text_of
from ..registry import Registry
from .body import Body
from .c_entry import Gate, table_text
from .cpu import cpu_text
from .ends import chooser_text
from .forms import CForm, form_of
from .header import header_text
from .loop_functions import PieceFunction
from .loop_variants import compile_pieces, key_of
from .platforms import CpuLevel, Platform
from .status import messages_text
from .threads import crew_text
from .variants import Graphs, Wanted, written_loop

if TYPE_CHECKING:
    from ...frontend.lowering.element_stores import WrittenLoop

OWN = ("version", "cpu", "message", "set_parallel")
LIBC = frozenset(("malloc", "free"))
_HEAD = re.compile(r"^define (?:internal )?(.*) \{$", re.MULTILINE)


@record
class BuiltLibrary:
    """An object file, the text of its header, and the functions it declares."""

    object_code: bytes
    header: str
    forms: tuple[CForm, ...]


class Text:
    """Collect the text of a library: its functions, and the code that they share, once each."""

    def __init__(self) -> None:
        self.functions: dict[str, None] = {}
        self.shared: dict[str, None] = {}

    def add(self, text: str) -> None:
        function: list[str] = []
        for line in text.splitlines():
            if function or line.startswith("define "):
                function.append(line)
                if line == "}":
                    self.functions["\n".join(function)] = None
                    function.clear()
            elif line:
                self.shared[line] = None

    def add_for(self, number: int, text: str) -> None:
        """Add internal functions for one CPU level."""
        self.add(_HEAD.sub(rf"define internal \1 #{number} {{", text))

    def __str__(self) -> str:
        return "\n".join([*self.shared, *self.functions, ""])


def build(
    wanted: Sequence[Wanted], prefix: str, version: str, source: str, platform: Platform, registry: Registry
) -> BuiltLibrary:
    """Build the library's object file. `prefix` starts the names of functions that are not kernels."""
    _check_names([w.name for w in wanted], prefix)
    text = Text()
    forms = [_add(text, each, platform, registry) for each in wanted]
    text.add(cpu_text(platform, prefix))
    text.add(crew_text(prefix))
    text.add(messages_text(prefix, version))
    for k, level in enumerate(platform.levels):
        text.add(f"attributes #{k} = {{ {level.attributes} }}")
    code = module.compile_module(str(text), platform.base, allowed=LIBC).object_code
    return BuiltLibrary(code, header_text(forms, prefix, version, source, platform), tuple(forms))


def _check_names(names: Sequence[str], prefix: str) -> None:
    """Refuse two functions with the same name."""
    taken = {f"{prefix}_{name}": "a function of the library itself" for name in OWN}
    for name in names:
        for own in (name, f"{name}_strided"):
            if own in taken:
                hint = "rename one, or build them into two libraries"
                raise TypeProblem(f"two functions would be named {own}: a kernel's and {taken[own]}", hint=hint)
            taken[own] = f"that of the kernel {name}"


def _add(text: Text, wanted: Wanted, platform: Platform, registry: Registry) -> CForm:
    """Add a C function and everything it calls."""
    form: CForm | None = None
    bounds: Sequence[Bound] = ()
    loops = [LibraryLoops(text, wanted, k, level, registry) for k, level in enumerate(platform.levels)]
    for kind in wanted.kinds:
        names: list[str] = []
        for each in loops:
            found = Graphs(wanted, kind, registry, each.level).by_ones()
            form, bounds = form or form_of(wanted, found[0][0].graph), found[0][0].bounds
            names += _add_level(text, found, form, kind, each)
        text.add(table_text(wanted.name, kind, names))
    assert form is not None
    text.add(Gate(form, wanted.kinds, bounds, strided=False).text())
    if form.is_strided:
        text.add(Gate(form, wanted.kinds, bounds, strided=True).text())
    return form


class LibraryLoops:
    """Add the functions of one kernel's loops that change elements, for one CPU level, once each."""

    def __init__(self, text: Text, wanted: Wanted, number: int, level: CpuLevel, registry: Registry) -> None:
        self.number, self.level = number, level
        self._text, self._wanted, self._registry = text, wanted, registry
        self._made: dict[Any, str] = {}

    def functions(self, lowered: Lowered, form: CForm) -> dict[Node, str]:
        """Add the functions that a graph needs, and return their names."""
        loops = {node: loop for node in walk(lowered.graph) if (loop := written_loop(lowered, node)) is not None}
        return {node: self._function(loop, form) for node, loop in loops.items()}

    def _function(self, loop: WrittenLoop, form: CForm) -> str:
        if key_of(loop) in self._made:
            return self._made[key_of(loop)]
        wanted, target = self._wanted, self.level.target
        name = self._made[key_of(loop)] = f"{wanted.name}.loop{len(self._made)}.{self.level.name}"
        pieces = compile_pieces(loop, wanted.numbers, frozenset(wanted.fixed), self._registry, target.vector_bytes)
        codes, nests = text_of([each.nest for each in pieces], target, f"{name}.nest")
        kernels = [kernel for code in codes for kernel in code.names]
        self._text.add_for(self.number, controlled(nests, kernels, target.triple))
        for k, (each, code) in enumerate(zip(pieces, codes, strict=True)):
            function = PieceFunction(loop, each, code, [*form.sizes, *form.fixed])
            self._text.add_for(self.number, function.text(f"{name}.piece{k}"))
        names = [f"{name}.piece{k}" for k in range(len(pieces))]
        self._text.add_for(self.number, chooser_text(name, names))
        return name


def _add_level(
    text: Text, found: Sequence[tuple[Lowered, ...]], form: CForm, kind: str, loops: LibraryLoops
) -> list[str]:
    """Add the code of each graph for one CPU level, and return the names of the functions to call."""
    number, level = loops.number, loops.level
    bodies: dict[int, str] = {}
    choosers: dict[tuple[str, ...], str] = {}

    def body(lowered: Lowered) -> str:
        if id(lowered) not in bodies:
            name = bodies[id(lowered)] = f"{form.name}.{kind}{len(bodies)}.{level.name}"
            graph = lowered.graph
            program = native.emit(Graph(name, graph.inputs, graph.nodes, graph.outputs, graph.attrs))
            text.add_for(number, controlled(program.text, program.names, level.target.triple))
            text.add_for(
                number, Body(lowered, program, form, kind != "dense", loops.functions(lowered, form)).text(name)
            )
        return bodies[id(lowered)]

    def chooser(graphs: tuple[Lowered, ...]) -> str:
        names = tuple(map(body, graphs))
        if len(names) == 1 and not graphs[0].guards:
            return names[0]
        if names not in choosers:
            choosers[names] = f"{form.name}.{kind}.any{len(choosers)}.{level.name}"
            text.add_for(number, chooser_text(choosers[names], names))
        return choosers[names]

    return [chooser(graphs) for graphs in found]
