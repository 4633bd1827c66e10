"""Tie lines of LLVM text to operations, and lines of assembly to lines of LLVM text.

The emitter notes whose code it writes. For the assembly, every instruction of the text gets a debug location whose line
is its own, and LLVM reports which line each machine instruction comes from. Debug locations change no instruction.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from ...backends.llvm.compile import NativeProgram
from ...backends.llvm.engine import module
from ...backends.llvm.engine.target import Target
from ...ir.forms import PRODUCT
from ...ir.graph import Node, Value
from ...ir.nest import ops
from ...ir.nest.scopes import memory_of, nodes_in
from ...ir.opdef import Trait
from ...ir.ops import MATMUL, TABLE
from ...ir.tuples import NamedTuple
from ...ir.types import texts
from .identity import Identities

FIRST = 9000  # the first number of our metadata, above those that the emitter uses
_DEFINE = re.compile(r"^define .*?@([\w.]+)\(")
_RESULT = re.compile(r"^\s+%v(\d+) = ")
_STORED = re.compile(r"^\s+store .*? %v(\d+), ptr")
_LOC = re.compile(r"^\s+\.loc\s+\d+\s+(\d+)")
_LABEL = re.compile(r"^(\.LBB\w+|[A-Za-z_][\w.]*):")
_COMMENT = re.compile(r"\s+#.*$")


class MachineCode(NamedTuple):
    """LLVM text with the operation of each line, and assembly with the LLVM line of each line; -1 is none."""

    llvm: list[str]
    ops: list[int]
    asm: list[str]
    lines: list[int]


def machine_code(program: NativeProgram, target: Target, ids: Identities) -> MachineCode:
    """Compile a program and tie its lines together."""
    llvm = program.text.splitlines()
    asm, lines = instructions(module.assembly(located(program.text), target))
    return MachineCode(llvm, _owners(llvm, program, ids), asm, lines)


def _owners(lines: list[str], program: NativeProgram, ids: Identities) -> list[int]:
    notes: dict[str, tuple[list[int], list[object]]] = {}
    usual: dict[str, int] = {}
    for region, code in zip(program.regions, program.functions, strict=True):
        values = _values_of(region)
        for part in code.parts:
            usual[part.name] = ids[region]
            for symbol, said in ((part.name, part.owners), *part.inner_owners.items()):
                notes[symbol] = [count for count, _ in said], [values.get(owner, owner) for _, owner in said]
        if region.attrs["form"] == PRODUCT:
            product = next(n for n in region.body or () if n.op is MATMUL)
            usual |= {symbol: ids.get(product) for symbol in code.declared}
    found, counts, owners, default = [], list[int](), list[object](), -1
    for line in lines:
        if defined := _DEFINE.match(line):
            counts, owners = notes.get(defined[1], ([], []))
            default = usual.get(defined[1], -1)  # loops and addresses belong to the kernel as a whole
        name = _RESULT.match(line) or _STORED.match(line)
        at = bisect_right(counts, int(name[1]) - 1) - 1 if name else -1
        owner = owners[at] if at >= 0 else None
        if isinstance(owner, (Value, Node)) and owner in ids:
            found.append(ids[owner])
        else:
            found.append(default if line.startswith("  ") else -1)
        if line == "}":
            counts, owners, default = [], [], -1
    return found


def _values_of(region: Node) -> dict[object, Value]:
    """The value of the region's body that each number of its nest stands for, found by op and place in the source."""
    if region.body is None or region.code is None:
        return {}
    left, found = dict[object, list[Value]](), dict[object, Value]()
    for node in region.body:
        left.setdefault((node.op, node.span), []).append(node.result)
    arrays = dict(zip(region.code.inputs, region.body.inputs, strict=False))
    for node in nodes_in(region.code):
        same = left.get((node.op, node.span), [])
        if node.op is ops.LOAD and (array := arrays.get(memory_of(node.operands[0]))) is not None:
            found[node.result] = array
        elif same and node.results:
            found[node.result] = same.pop(0) if len(same) > 1 else same[0]
    walks = [n for n in nodes_in(region.code) if n.op is ops.WALK]
    results = [(TABLE[name], v) for n in walks for name, v in zip(texts(n.attrs, "combine"), n.results, strict=True)]
    reductions = [n for n in region.body if Trait.REDUCTION in n.op.traits]
    for op, value in results:
        same_op = [n for n in reductions if n.op is op]
        if same_op:
            found[value] = same_op[0].result
            reductions.remove(same_op[0])
    across = [n for n in nodes_in(region.code) if n.op is ops.ACROSS]
    return {**found, **{n.result: found[n.operands[0]] for n in across if n.operands[0] in found}}


def located(text: str) -> str:
    """Give each instruction a debug location: its line in this text."""
    unit, file, kind = FIRST, FIRST + 1, FIRST + 2
    notes = [
        f"!llvm.dbg.cu = !{{!{unit}}}",
        f"!llvm.module.flags = !{{!{FIRST + 3}, !{FIRST + 4}}}",
        f"!{unit} = distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, emissionKind: LineTablesOnly)",
        f'!{file} = !DIFile(filename: "kernel.ll", directory: "")',
        f"!{kind} = !DISubroutineType(types: !{{}})",
        f'!{FIRST + 3} = !{{i32 2, !"Debug Info Version", i32 3}}',
        f'!{FIRST + 4} = !{{i32 7, !"Dwarf Version", i32 4}}',
    ]
    lines, scope, last = list[str](), 0, FIRST + 4
    for number, line in enumerate(text.splitlines(), 1):
        if defined := _DEFINE.match(line):
            scope = last = last + 1
            notes.append(
                f'!{scope} = distinct !DISubprogram(name: "{defined[1]}", scope: !{file}, file: !{file}, '
                f"line: {number}, type: !{kind}, spFlags: DISPFlagDefinition, unit: !{unit})"
            )
            line = f"{line.removesuffix('{')}!dbg !{scope} {{"
        elif line.startswith("  ") and scope:
            last += 1
            notes.append(f"!{last} = !DILocation(line: {number}, scope: !{scope})")
            line = f"{line}, !dbg !{last}"
        elif line == "}":
            scope = 0
        lines.append(line)
    return "\n".join([*lines, *notes, ""])


def instructions(asm: str) -> tuple[list[str], list[int]]:
    """Return the labels and instructions of an assembly, without directives, and the line that each comes from."""
    kept, lines, at = list[str](), list[int](), -1
    for line in asm.splitlines():
        if found := _LOC.match(line):
            at = int(found[1]) - 1
        elif label := _LABEL.match(line):
            if not label[1].startswith((".Ltmp", ".Lfunc")):
                kept.append(f"{label[1]}:")
                lines.append(-1)
        elif line.startswith("\t") and not line.lstrip().startswith((".", "#")):
            kept.append("    " + " ".join(_COMMENT.sub("", line).split()))
            lines.append(at)
        elif line.lstrip().startswith(".section") and "debug" in line:
            break
    return kept, lines
