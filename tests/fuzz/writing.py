"""Write a random program as Python text: a function, its arguments, and a test that checks it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .inputs import Input
from .program import Program, Ref, SizeOf, Step, name

SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "and_": "&",
    "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">",
    "ge": ">=",
}  # fmt: skip
PREFIXES = {"neg": "-", "pos": "+", "invert": "~"}


def as_test(program: Program, title: str, reason: str) -> str:
    """A test that can be pasted into `tests/fuzz/test_found.py`."""
    lines = [f"def test_{title}() -> None:", *_docstring(reason)]
    for k, x in enumerate(program.inputs):
        lines.append(f"    {name(k)} = {argument(x)}")
    parameters = [name(k) for k, x in enumerate(program.inputs) if x.kind != "captured"]
    lines += ["", *(f"    {line}" for line in source(program, parameters))]
    call = ", ".join(["function", *parameters])
    if program.out is not None:
        outs = ", ".join(_out(program, k, how) for k, how in enumerate(program.out))
        call += f", out=({outs})" if len(program.out) > 1 else f", out={outs}"
    if (second := program.second()) is not None:
        more = ", ".join(argument(x) for x in second)
        call += f", again=[({more}{',' if len(second) == 1 else ''})]"
    return "\n".join([*lines, "", f"    check({call})", ""])


def source(program: Program, parameters: list[str]) -> list[str]:
    """The program as the lines of a function."""
    lines = [f"def function({', '.join(f'{p}: Any' for p in parameters)}) -> Any:"]
    for k, step in enumerate(program.steps, len(program.inputs)):
        lines.append(f"    {name(k)} = {expression(step)}")
    return [*lines, f"    return {', '.join(name(k) for k in program.outputs)}"]


def expression(step: Step) -> str:
    """A step as people write it."""
    args, (root, _, rest) = [text(a) for a in step.args], step.call.partition(".")
    named = [f"{key}={text(x)}" for key, x in step.kwargs.items()]
    if step.call == "operator.getitem":
        index = step.args[1]
        inside = ", ".join(map(text, index)) if isinstance(index, tuple) and index else args[1]
        found = f"{args[0]}[{inside}]"
    elif root == "operator" and rest in SIGNS:
        found = f"{args[0]} {SIGNS[rest]} {args[1]}"
    elif root == "operator" and rest in PREFIXES:
        found = f"{PREFIXES[rest]}{args[0]}"
    elif not root:
        found = f"{args[0]}.{rest}" + ("" if rest in ("T", "mT") else f"({', '.join([*args[1:], *named])})")
    else:
        called = rest if root == "operator" else step.call
        found = f"{called}({', '.join([*args, *named])})"
    return found if step.pick is None else f"{found}[{step.pick}]"


def text(tree: Any) -> str:
    """An argument as Python text that gives it back."""
    if isinstance(tree, Ref):
        return name(tree.index)
    if isinstance(tree, SizeOf):
        return f"{name(tree.index)}.shape[{tree.axis}]"
    if isinstance(tree, tuple):
        return f"({', '.join(map(text, tree))}{',' if len(tree) == 1 else ''})"
    if isinstance(tree, list):
        return f"[{', '.join(map(text, tree))}]"
    if isinstance(tree, slice):
        start, stop, step = ("" if x is None else text(x) for x in (tree.start, tree.stop, tree.step))
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    if tree is Ellipsis:
        return "..."
    return _number(tree)


def _number(x: Any) -> str:
    if isinstance(x, np.dtype):
        return f'np.dtype("{x.name}")'
    if isinstance(x, type):
        return x.__name__ if x.__module__ == "builtins" else f"np.{x.__name__}"
    if isinstance(x, np.generic):
        return f'np.dtype("{x.dtype.name}").type({_number(x.item())})'
    if isinstance(x, float) and not np.isfinite(x):
        return f'float("{x}")'
    if isinstance(x, complex) and not (np.isfinite(x.real) and np.isfinite(x.imag)):
        return f"complex({_number(x.real)}, {_number(x.imag)})"
    return repr(x)


def argument(x: Input) -> str:
    """The argument as Python text."""
    if x.kind == "number":
        return _number(x.make())
    if x.kind == "scalar":
        return f"np.{x.dtype}({_number(x.make().item())})"
    if x.numbers is None:
        fields = f"{x.dtype!r}, {x.shape!r}, {x.layout!r}, {x.mood!r}, {x.seed}"
        return f"Input({fields}).make()"
    numbers = f"[{', '.join(_number(n) for n in x.flat.tolist())}]"
    made = f'np.array({numbers}, "{x.dtype}")'
    made = made if len(x.shape) == 1 else f"{made}.reshape({x.shape})"
    return made if x.layout == "C" else f"LAYOUTS[{x.layout!r}]({made})"


def _out(program: Program, k: int, how: str) -> str:
    return name(int(how.split()[1])) if how.startswith("input") else f"Out({how!r})"


def _docstring(reason: str) -> list[str]:
    first, *rest = [line.rstrip() for line in reason.replace('"""', "'''").replace("\\", "/").splitlines() if line] or [
        ""
    ]
    if not rest:
        return [f'    """{first}"""']
    return [f'    """{first}', *(f"    {line}" for line in rest), '    """']


HEADER = '''"""Programs that the fuzzer found, each with what was wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..differential.arrays import LAYOUTS
from .checking import Out, check
from .inputs import Input
'''
