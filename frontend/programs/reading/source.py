"""Read the source of a Python function as a syntax tree, and trust it only if it compiles to the function's own code.

A file may have been edited since it was imported, two lambdas may share a line, and a decorator may return another
function than the one below it. So the text found at the code object's line is compiled again, and it counts only if the
result equals the code object. Only the lines of the function are parsed: a large file takes no longer than a small one.
"""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any, TypeVar, Union

from ....ir.errors import type_of
from ....ir.records import record

LAMBDA = "<lambda>"
MOST_ENDS = 64  # places at which a function may end that are tried
LONGEST = 20_000  # lines of one function
LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF")
KNOWN_VERSIONS = ((3, 11), (3, 12), (3, 13))
_HAS_FLAG = sys.version_info >= (3, 12)  # LOAD_ATTR says by a bit that a call follows
FUTURES = 0x1FE0000  # the flags that `from __future__ import ...` sets in a code object

MOST_DISTURBANCES = 8  # by other threads, before an error is raised

Definition = Union[ast.FunctionDef, ast.Lambda]
T = TypeVar("T")


@record(eq=False)
class FunctionSource:
    """A function's syntax tree, with the line and column numbers of its file."""

    tree: Definition
    code: CodeType

    @property
    def body(self) -> list[ast.stmt]:
        """The statements; a lambda is one `return`."""
        if isinstance(self.tree, ast.FunctionDef):
            return self.tree.body
        return _lambda_body(self.tree)


@lru_cache(maxsize=256)
def _lambda_body(tree: ast.Lambda) -> list[ast.stmt]:
    """Return the statement of a lambda, the same one each time, because statements are told apart by identity."""
    return [ast.copy_location(ast.Return(tree.body), tree.body)]


@record
class NoSource:
    """Why a function's source is not known."""

    reason: str


def pausing(function: FunctionType) -> str | None:
    """Name the kind of a function that does not run to its end when it is called."""
    kinds = {
        inspect.CO_COROUTINE: "an async function",
        inspect.CO_ASYNC_GENERATOR: "an async generator",
        inspect.CO_GENERATOR: "a generator",
    }
    return next((what for flag, what in kinds.items() if function.__code__.co_flags & flag), None)


def read_source(function: Callable[..., Any]) -> FunctionSource | NoSource:
    """Find the syntax tree of a plain Python function."""
    if type(function) is not FunctionType:
        return NoSource(f"{type_of(function)} is not a plain Python function")
    if sys.version_info[:2] not in KNOWN_VERSIONS:
        return NoSource(f"the syntax of Python {sys.version_info[0]}.{sys.version_info[1]} is not known")
    code = function.__code__
    if "__class__" in code.co_freevars:
        return NoSource("it uses super() or __class__")
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not 0 < code.co_firstlineno <= len(lines):
        return NoSource("its source is not available")
    candidates = _lambdas(code, lines) if code.co_name == LAMBDA else _definitions(code, lines)
    for tree in candidates:
        if code_of(tree, code) == code:
            return FunctionSource(tree, code)
    return NoSource("its source does not compile to its code: the file has changed, or a tool has rewritten the code")


def code_of(tree: Definition, like: CodeType, more: tuple[str, ...] = ()) -> CodeType | None:
    """Compile a definition inside the same scopes as another code object; None if it can't be compiled.

    `more` are additional names of the scope around it.
    """
    statement: ast.FunctionDef | ast.ClassDef | ast.Expr
    statement = tree if isinstance(tree, ast.FunctionDef) else ast.copy_location(ast.Expr(tree), tree)
    *outer, _ = like.co_qualname.split(".")
    if outer and outer[-1].isidentifier():  # a method: the class's name is part of private names
        statement = ast.ClassDef(outer[-1], [], [], [statement], [])
    if more or like.co_flags & inspect.CO_NESTED:
        given = [ast.arg(name) for name in (*like.co_freevars, *more)]
        bound = [] if isinstance(statement, ast.Expr) else [statement.name]
        own = [name for name in bound if name not in like.co_freevars]  # a global, by which it may call itself
        body: list[ast.stmt] = [ast.Global(own), statement] if own else [statement]
        statement = ast.FunctionDef(".outer", ast.arguments([], given, None, [], [], None, []), body, [])
    module = ast.Module([ast.Import([ast.alias(name)]) for name in _imported(like)] + [statement], [])
    ast.fix_missing_locations(module)
    try:
        made = _undisturbed(
            lambda: compile(module, like.co_filename, "exec", like.co_flags & FUTURES, dont_inherit=True)
        )
    except (SyntaxError, ValueError, RecursionError):
        return None
    return next((c for c in _nested(made) if c.co_name == like.co_name and c.co_name != ".outer"), None)


def _undisturbed(make: Callable[[], T]) -> T:
    """Make a tree or its code.

    If another thread does so meanwhile, Python 3.11 may raise SystemError; then try again.
    """
    for _ in range(MOST_DISTURBANCES):
        with suppress(SystemError):
            return make()
    return make()


@lru_cache(maxsize=64)
def _imported(code: CodeType) -> list[str]:
    """Find the global names that the module imports: Python compiles a call of `np.sum` differently from `x.sum`."""
    found: dict[str, bool] = {}
    for each in (code, *_nested(code)):
        instructions = [i for i in dis.get_instructions(each) if i.opname not in ("CACHE", "PUSH_NULL")]
        for one, after in pairwise(instructions):
            if one.opname in LOADS and after.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                is_method = after.opname == "LOAD_METHOD" or (_HAS_FLAG and bool((after.arg or 0) & 1))
                found[one.argval] = found.get(one.argval, True) and not is_method
    return [name for name, is_import in found.items() if is_import]


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects inside another, the outermost first."""
    inside = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    yield from inside
    for each in inside:
        yield from _nested(each)


def _definitions(code: CodeType, lines: list[str]) -> Iterator[ast.FunctionDef]:
    """Yield the statements that may be the `def` at the code's first line, which is that of its first decorator."""
    first = code.co_firstlineno
    indent = _indent(lines[first - 1])
    last = max((end for _, end, _, _ in code.co_positions() if end is not None), default=first)
    ends = [n for n in range(last, min(len(lines), first + LONGEST)) if _starts_outside(lines[n], indent)]
    for end in [*ends[:MOST_ENDS], len(lines)]:
        text = "".join(lines[first - 1 : end])
        try:
            parsed = _undisturbed(lambda: ast.parse(f"if 1:\n{text}" if indent else text))  # noqa: B023
        except (SyntaxError, ValueError, RecursionError):
            continue
        ast.increment_lineno(parsed, first - 2 if indent else first - 1)
        inside = parsed.body[0].body if indent and isinstance(parsed.body[0], ast.If) else parsed.body
        if inside and isinstance(inside[0], ast.FunctionDef):
            yield inside[0]
        return


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _starts_outside(line: str, indent: int) -> bool:
    return bool(line.strip()) and _indent(line) <= indent and not line.lstrip().startswith("#")


def _lambdas(code: CodeType, lines: list[str]) -> Iterator[ast.Lambda]:
    """Yield the lambda whose body lies where the code's instructions say."""
    places = [p for p in code.co_positions() if None not in p and p[3] != 0]
    if not places:
        return
    (top, left), (bottom, right) = min((p[0], p[2]) for p in places), max((p[1], p[3]) for p in places)
    assert top is not None and left is not None and bottom is not None and right is not None
    if bottom > len(lines):
        return
    text = [line.encode() for line in lines[top - 1 : bottom]]
    text[-1] = text[-1][:right]
    text[0] = text[0][left:]
    try:
        body = _undisturbed(lambda: ast.parse(b"(" + b"".join(text) + b"\n)", mode="eval")).body
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(body):
        _shift(node, top, left)
    if isinstance(body, ast.Lambda):
        yield body
    place = {"lineno": code.co_firstlineno, "col_offset": 0, "end_lineno": bottom, "end_col_offset": right}
    yield ast.Lambda(_arguments(code), body, **place)


def _shift(node: Any, top: int, left: int) -> None:
    """Move a node from the text that was parsed, after a parenthesis, to its place in the file."""
    if not hasattr(node, "lineno"):
        return
    if node.lineno == 1:
        node.col_offset += left - 1
    if node.end_lineno == 1:
        node.end_col_offset += left - 1
    node.lineno += top - 1
    node.end_lineno += top - 1


def _arguments(code: CodeType) -> ast.arguments:
    """Return the parameters of a code object. Defaults belong to the function, not to its code."""
    names = [ast.arg(name) for name in code.co_varnames]
    plain, only = code.co_argcount, code.co_kwonlyargcount
    end = plain + only
    has_args, has_named = bool(code.co_flags & 0x04), bool(code.co_flags & 0x08)
    return ast.arguments(
        names[: code.co_posonlyargcount],
        names[code.co_posonlyargcount : plain],
        names[end] if has_args else None,
        names[plain:end],
        [None] * only,
        names[end + has_args] if has_named else None,
        [],
    )
