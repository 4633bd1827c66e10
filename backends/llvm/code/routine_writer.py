"""Translate one routine (`routines.py`) to LLVM text in SSA form."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .routine_calls import BUILTINS
from .routine_types import NUMBER, WIDTH, Edge, RoutineProblem, Typed, lowered, marks
from .text import UNLIKELY, Emitter, Val

if TYPE_CHECKING:
    from .routines import Routines

ARITHMETIC: dict[type, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "sdiv", ast.Mod: "srem", ast.BitAnd: "and",
    ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "lshr", ast.Div: "fdiv",
}  # fmt: skip
COMPARISONS: dict[type, str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "slt", ast.LtE: "sle", ast.Gt: "sgt", ast.GtE: "sge",
}  # fmt: skip


class RoutineWriter:
    """Writes one routine in SSA form. `names` is None in code that no path reaches."""

    def __init__(self, routines: Routines, node: ast.FunctionDef) -> None:
        self.all, self.node, self.e = routines, node, Emitter()
        self.allocas: list[str] = []
        self.open_ends: dict[str, int] = {}  # by block, the line for its branch
        self.loops: list[tuple[list[Edge], list[Edge]]] = []  # of each loop around: edges out of it, and to its head
        self.names: dict[str, Typed] | None = {
            name: Typed(Val(f"%{name}", lowered(type), 0), type) for name, type in routines.parameters(node).items()
        }
        self.is_step = "step" in marks(node)

    def write(self) -> list[str]:
        found = self.all.parameters(self.node)
        parameters = ", ".join(f"{lowered(type)} %{name}" for name, type in found.items())
        linkage = "" if {"exported", "step"} & marks(self.node) else "internal "
        self.e.block = "begin"
        self.block(self.node.body)
        if self.names is not None:
            if self.all.result_of(self.node) != "void":
                raise self.problem(self.node, "the end is reached without a result")
            self.e.lines.append("  ret void")
        head = f"define {linkage}{self.all.result_of(self.node)} @{self.node.name}({parameters}) {{\nentry:"
        return [head, *self.allocas, "  br label %begin", "begin:", *self.e.lines, "}", ""]

    def problem(self, node: ast.AST, message: str) -> RoutineProblem:
        return RoutineProblem(f"{self.node.name}, line {getattr(node, 'lineno', '?')}: {message}")

    # -- statements

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            if self.names is None:
                raise self.problem(node, "no path leads here")
            self.statement(node, self.names)

    def statement(self, node: ast.stmt, names: dict[str, Typed]) -> None:
        match node:
            case ast.Expr(ast.Constant()):
                return
            case ast.Expr(ast.Call() as call):
                self.call(call)
            case ast.Assign([ast.Tuple(targets)], ast.Call() as call):
                for target, value in zip(targets, self.pair(call), strict=True):
                    assert isinstance(target, ast.Name)
                    names[target.id] = value
            case ast.Assign([target], value):
                self.assign(target, self.value(value))
            case ast.AnnAssign(ast.Name(name), annotation, ast.expr() as value):
                names[name] = self.fitted(self.value(value), self.all.type_of(annotation))
            case ast.AugAssign(target, operator, value):
                before = self.value(_read(target))
                self.assign(target, self.combine(node, operator, before, self.value(value)))
            case ast.If():
                self.choose(node)
            case ast.While():
                self.repeat(node)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), [end])):
                names[name] = Typed(self.e.const("i64", 0), "i64")
                step = ast.parse(f"{name} += 1").body
                test = ast.Compare(ast.Name(name, ast.Load()), [ast.Lt()], [end])
                self.repeat(ast.copy_location(ast.While(test, [*node.body, *step], []), node))
            case ast.Return():
                self.leave(node)
            case ast.Break():
                self.loops[-1][0].append(self.gone())
            case ast.Continue():
                self.loops[-1][1].append(self.gone())
            case _:
                raise self.problem(node, f"no routine has {ast.unparse(node)!r}")

    def gone(self) -> Edge:
        """End the current path; the branch is written when its target is known."""
        assert self.names is not None
        edge = Edge(self.names, self.e.block)
        self.e.lines.append("")
        self.open_ends[edge.block] = len(self.e.lines) - 1
        self.names = None
        return edge

    def assign(self, target: ast.expr, value: Typed) -> None:
        assert self.names is not None
        if isinstance(target, ast.Name):
            before = self.names.get(target.id)
            self.names[target.id] = self.fitted(value, before.type if before else None)
            return
        place, type = self.place(target)
        self.e.store(self.fitted(value, type).val, place, WIDTH.get(type, 8))

    def choose(self, node: ast.If) -> None:
        yes, no = self.e.label("then"), self.e.label("else")
        assert self.names is not None
        before = dict(self.names)
        self.branch(node.test, yes, no)
        edges = []
        for label, body in ((yes, node.body), (no, node.orelse)):
            self.e.place(label)
            self.names = dict(before)
            self.block(body)
            if self.names is not None:
                edges.append(self.gone())
        self.join(edges)

    def join(self, edges: list[Edge]) -> None:
        """Continue where these paths meet, if there are any."""
        if not edges:
            self.names = None
            return
        done = self.e.label("done")
        self.close(edges, done)
        self.e.place(done)
        self.names = {}
        for name, first in edges[0].names.items():
            if not all(name in edge.names for edge in edges):
                continue
            found = [edge.names[name] for edge in edges]
            if all(value.val.text == first.val.text for value in found):
                self.names[name] = first
                continue
            type = next((v.type for v in found if v.type != NUMBER), "i64")
            sources = ", ".join(f"[ {v.val.text}, %{e.block} ]" for v, e in zip(found, edges, strict=True))
            self.names[name] = Typed(self.e.emit(f"phi {lowered(type)} {sources}", lowered(type), 0), type)

    def close(self, edges: list[Edge], label: str) -> None:
        for edge in edges:
            self.e.lines[self.open_ends.pop(edge.block)] = f"  br label %{label}"

    def repeat(self, node: ast.While) -> None:
        assert self.names is not None
        head, inside, leave = self.e.label("head"), self.e.label("body"), self.e.label("leave")
        changed = {n.id for x in node.body for n in ast.walk(x) if isinstance(n, ast.Name) and _is_written(n)}
        before, first = self.names, self.e.block
        carried = [name for name in before if name in changed]
        phis = {name: self._carried(before[name]) for name in carried}
        self.e.br(head)
        self.e.place(head)
        at = len(self.e.lines)
        self.e.lines += ["" for _ in carried]
        self.names = before | phis
        endless = isinstance(node.test, ast.Constant)
        around = dict(self.names)
        if endless:
            self.e.br(inside)
        else:
            self.branch(node.test, inside, leave)
        self.loops.append(([], []))
        self.e.place(inside)
        self.names = dict(around)
        self.block(node.body)
        outward, again = self.loops.pop()
        again += [self.gone()] if self.names is not None else []
        self.close(again, head)
        for k, name in enumerate(carried):
            value = before[name]
            sources = [f"[ {value.val.text}, %{first} ]"]
            sources += [f"[ {edge.names[name].val.text}, %{edge.block} ]" for edge in again]
            self.e.lines[at + k] = f"  {phis[name].val.text} = phi {phis[name].val.elem} {', '.join(sources)}"
        if not endless:
            self.e.place(leave)
            self.names = dict(around)
            outward.append(self.gone())
        self.join(outward)

    def _carried(self, value: Typed) -> Typed:
        type = "i64" if value.type == NUMBER else value.type
        return Typed(Val(self.e.name(), lowered(type), 0), type)

    def leave(self, node: ast.Return) -> None:
        if self.is_step and isinstance(node.value, ast.Call) and self.jump(node.value):
            pass
        elif node.value is None:
            self.e.lines.append("  ret void")
        else:
            result = self.all.result_of(self.node)
            self.e.lines.append(f"  ret {self.fitted(self.value(node.value), result).val.typed}")
        self.names = None

    def jump(self, call: ast.Call) -> bool:
        """Write the jump to another step; tell whether it is one."""
        assert isinstance(call.func, ast.Name) and self.names is not None
        target, at = call.func.id, Typed(Val("%op", "ptr", 0), "ptr")
        if target == "proceed":
            size = self.all.structures[self.node.name].size if self.node.name in self.all.structures else 8
            extra = self.value(call.args[0]) if call.args else Typed(self.e.const("i64", 0), NUMBER)
            at = self.combine(call, ast.Add(), at, self.combine(call, ast.Add(), extra, self._number(size)))
        elif target == "jump":
            at = self.value(call.args[0])
        elif target not in self.all.routines or "step" not in marks(self.all.routines[target]):
            return False
        code = f"@{target}" if target in self.all.routines else self.e.load(at.val, "ptr", 0, 8).text
        found = self.e.emit(f"musttail call ptr {code}(ptr {at.val.text}, ptr %call, ptr %args)", "ptr", 0)
        self.e.lines.append(f"  ret ptr {found.text}")
        return True

    # -- conditions

    def branch(self, test: ast.expr, yes: str, no: str) -> None:
        match test:
            case ast.BoolOp(op, values):
                for value in values[:-1]:
                    following = self.e.label("and" if isinstance(op, ast.And) else "or")
                    self.branch(value, *((following, no) if isinstance(op, ast.And) else (yes, following)))
                    self.e.place(following)
                self.branch(values[-1], yes, no)
            case ast.UnaryOp(ast.Not(), operand):
                self.branch(operand, no, yes)
            case ast.Call(ast.Name("unlikely"), [operand]):
                truth = self.truth(operand)
                self.e.lines.append(f"  br i1 {truth.text}, label %{yes}, label %{no}{UNLIKELY}")
            case _:
                self.e.cbr(self.truth(test), yes, no)

    def truth(self, node: ast.expr) -> Val:
        found = self.value(node)
        return found.val if found.type == "i1" else self.e.icmp("ne", found.val, _zero(found))

    # -- values

    def value(self, node: ast.expr) -> Typed:
        match node:
            case ast.Constant(bool() as truth):
                return Typed(self.e.const("i1", truth), "i1")
            case ast.Constant(None):
                return Typed(Val("null", "ptr", 0), "ptr")
            case ast.Constant(int() as number):
                return self._number(number)
            case ast.Name(name):
                return self.name(node, name)
            case ast.Attribute():
                place, kind = self.place(node)
                return Typed(self.e.load(place, lowered(kind), 0, WIDTH.get(kind, 8)), kind)
            case ast.BinOp(left, operator, right):
                return self.combine(node, operator, self.value(left), self.value(right))
            case ast.UnaryOp(ast.USub(), operand):
                return self.combine(node, ast.Sub(), self._number(0), self.value(operand))
            case ast.UnaryOp(ast.Not(), operand):
                return Typed(self.e.not_(self.truth(operand)), "i1")
            case ast.UnaryOp(ast.Invert(), operand):
                return self.combine(node, ast.BitXor(), self.value(operand), self._number(-1))
            case ast.BoolOp(op, values):
                first, *others = map(self.truth, values)
                for other in others:
                    first = self.e.op("and" if isinstance(op, ast.And) else "or", first, other)
                return Typed(first, "i1")
            case ast.Compare(left, [operator], [right]):
                return self.compare(self.value(left), COMPARISONS[type(operator)], self.value(right))
            case ast.IfExp(test, yes, no):
                chosen = self.truth(test)
                a, b = self.alike(self.value(yes), self.value(no))
                return Typed(self.e.select(chosen, a.val, b.val), a.type)
            case ast.Call():
                found = self.call(node)
                if found is None:
                    raise self.problem(node, f"{ast.unparse(node)} has no value")
                return found
        raise self.problem(node, f"no routine has {ast.unparse(node)!r}")

    def name(self, node: ast.expr, name: str) -> Typed:
        if self.names is not None and name in self.names:
            return self.names[name]
        if name in self.all.constants:
            constant = self.all.constants[name]
            assert isinstance(constant, int)
            return self._number(constant)
        if name in self.all.variables:
            return Typed(Val(f"@{name}", "ptr", 0), self.all.variables[name])
        if name in self.all.routines:
            return Typed(Val(f"@{name}", "ptr", 0), "ptr")
        raise self.problem(node, f"nothing is called {name!r}")

    def _number(self, number: int) -> Typed:
        return Typed(self.e.const("i64", number), NUMBER)

    def place(self, node: ast.expr) -> tuple[Val, str]:
        """Return the address of a field, or a pointer's own address, and the type that it points to."""
        if not isinstance(node, ast.Attribute):
            return self.value(node).val, "i64"
        base = self.value(node.value)
        layout = self.all.structures.get(base.type)
        if layout is None or node.attr not in layout.fields:
            raise self.problem(node, f"{ast.unparse(node.value)} has no field {node.attr!r}")
        offset, type = layout.fields[node.attr]
        return self.e.offset(base.val, self.e.const("i64", offset)) if offset else base.val, type

    def fitted(self, value: Typed, type: str | None) -> Typed:
        """Give a literal its type. Other values have the right one, except for the structure that they point to."""
        if value.type == NUMBER and type in ("double", "float"):
            return Typed(self.e.const(type, int(value.val.text)), type)
        if value.type == NUMBER:
            type = "i64" if type in (None, NUMBER) else type
            assert type is not None
            return Typed(value.val._replace(elem=lowered(type)), type)
        if type is not None and lowered(type) != lowered(value.type):
            raise RoutineProblem(f"{self.node.name}: {value.val.text} is a {value.type}, not a {type}")
        return value if type in (None, "ptr") else Typed(value.val, type or value.type)

    def alike(self, a: Typed, b: Typed) -> tuple[Typed, Typed]:
        """Give literals the type of the other side."""
        if a.type == NUMBER:
            return self.fitted(a, b.type), self.fitted(b, None)
        return a, self.fitted(b, a.type if b.type == NUMBER else None)

    def combine(self, node: ast.AST, operator: ast.operator, left: Typed, right: Typed) -> Typed:
        if left.type == NUMBER and right.type == NUMBER:
            return self._number(_folded(operator, int(left.val.text), int(right.val.text)))
        if lowered(left.type) == "ptr":
            step = self.fitted(right, "i64").val
            if isinstance(operator, ast.Sub):
                step = self.e.op("sub", self.e.const("i64", 0), step)
            return Typed(self.e.offset(left.val, step) if step.text != "0" else left.val, "ptr")
        left, right = self.alike(left, right)
        if left.type != right.type:
            raise self.problem(node, f"{left.type} meets {right.type}")
        kind = ARITHMETIC[type(operator)]
        if left.type in ("float", "double"):
            kind = kind if kind.startswith("f") else f"f{kind}"
        return Typed(self.e.op(kind, left.val, right.val), left.type)

    def compare(self, left: Typed, how: str, right: Typed) -> Typed:
        left, right = self.alike(left, right)
        if left.type in ("float", "double"):
            return Typed(self.e.fcmp({"eq": "oeq", "ne": "une"}.get(how, f"o{how[1:]}"), left.val, right.val), "i1")
        return Typed(self.e.icmp(how, left.val, right.val), "i1")

    # -- calls

    def call(self, node: ast.Call) -> Typed | None:
        if not isinstance(node.func, ast.Name):
            raise self.problem(node, f"{ast.unparse(node.func)} can't be called")
        name = node.func.id
        if name in BUILTINS:
            return BUILTINS[name](self, node.args)
        if name in ("i8", "i16", "i32", "i64", "float", "double", "ptr") or name in self.all.structures:
            return self.cast(name, self.value(node.args[0]))
        routine = self.all.routines.get(name)
        if routine is None:
            raise self.problem(node, f"nothing is called {name!r}")
        types = self.all.parameters(routine)
        given = [self.fitted(self.value(a), t) for a, t in zip(node.args, types.values(), strict=True)]
        if "inline" in marks(routine):
            return self.inlined(routine, dict(zip(types, given, strict=True)))
        result = self.all.result_of(routine)
        text = f"call {result} @{name}({', '.join(v.val.typed for v in given)})"
        if result == "void":
            self.e.lines.append(f"  {text}")
            return None
        returned = "ptr" if "step" in marks(routine) else self.all.type_of(routine.returns)
        return Typed(self.e.emit(text, result, 0), returned)

    def inlined(self, routine: ast.FunctionDef, given: dict[str, Typed]) -> Typed | None:
        """Write a routine's body here; it returns at its end only."""
        around, self.names = self.names, given
        *body, last = routine.body
        self.block(body)
        found = None
        if isinstance(last, ast.Return) and last.value is not None:
            found = self.value(last.value)
        else:
            self.block([last])
        self.names = around
        return found

    def cast(self, type: str, value: Typed) -> Typed:
        source, target = lowered(value.type), lowered(type)
        if value.type == NUMBER:
            return self.fitted(value, type)
        if source == target:
            return Typed(value.val, type)
        if target == "ptr" or source == "ptr":
            return Typed(self.e.cast("inttoptr" if target == "ptr" else "ptrtoint", value.val, target), type)
        if target in ("float", "double"):
            wider = {"float": "fptrunc", "double": "fpext"}[target]
            return Typed(self.e.cast(wider if source in ("float", "double") else "sitofp", value.val, target), type)
        wider = "zext" if source == "i1" else "sext"
        return Typed(self.e.cast(wider if WIDTH[target] > WIDTH[source] else "trunc", value.val, target), type)

    def pair(self, node: ast.Call) -> list[Typed]:
        """Return the results of a function that has two: a number, and whether it overflowed."""
        assert isinstance(node.func, ast.Name)
        how = {"added": "sadd", "multiplied": "smul"}.get(node.func.id)
        if how is None:
            raise self.problem(node, f"{node.func.id} does not return two values")
        a, b = self.alike(self.value(node.args[0]), self.value(node.args[1]))
        symbol = f"llvm.{how}.with.overflow.i64"
        self.e.declared[symbol] = f"declare {{ i64, i1 }} @{symbol}(i64, i64)"
        both = self.e.emit(f"call {{ i64, i1 }} @{symbol}({a.val.typed}, {b.val.typed})", "", 0)
        return [
            Typed(self.e.emit(f"extractvalue {{ i64, i1 }} {both.text}, {k}", type, 0), type)
            for k, type in enumerate(("i64", "i1"))
        ]


def _read(target: ast.expr) -> ast.expr:
    """Return the expression that reads what a statement assigns to."""
    return ast.parse(ast.unparse(target), mode="eval").body


def _is_written(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _zero(value: Typed) -> Val:
    return Val("null" if value.val.elem == "ptr" else "0", value.val.elem, 0)


def _folded(operator: ast.operator, a: int, b: int) -> int:
    operations: dict[type, Callable[[int, int], int]] = {
        ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__, ast.FloorDiv: int.__floordiv__,
        ast.LShift: int.__lshift__, ast.BitAnd: int.__and__, ast.BitOr: int.__or__, ast.BitXor: int.__xor__,
    }  # fmt: skip
    return operations[type(operator)](a, b)
