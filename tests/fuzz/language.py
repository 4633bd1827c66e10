"""Write a random program as kernel text, so that the language is tested with the same programs as tracing.

Some programs can't be written: the language has no methods, no NumPy scalars, no dtypes as values, and dimensions with
two names never match. `kernel_text` returns None for those.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from weft.frontend.numpy.functions import FUNCTIONS
from weft.ir.dtypes import from_numpy

from .program import Program, Ref, SizeOf, Step, name
from .writing import PREFIXES, SIGNS


class _Unwritten(Exception):
    """Raised for something that the language does not have."""


def kernel_text(program: Program) -> str | None:
    """A kernel `k` with the arguments and results of a program."""
    try:
        return _kernel(program)
    except _Unwritten:
        return None


def _kernel(program: Program) -> str:
    parameters = []
    for k, x in enumerate(program.inputs):
        if x.kind != "array":
            raise _Unwritten
        shape = ", ".join("1" if n == 1 else f"d{n}" for n in x.shape)
        parameters.append(f"{name(k)}: {from_numpy(np.dtype(x.dtype))}" + (f"[{shape}]" if x.shape else ""))
    lines = [f"    let {name(k)} = {_call(program, step)}" for k, step in enumerate(program.steps, len(program.inputs))]
    results = ", ".join(name(k) for k in program.outputs)
    return "\n".join([f"kernel k({', '.join(parameters)}) {{", *lines, f"    return {results}", "}"])


def _call(program: Program, step: Step) -> str:
    root, _, function = step.call.partition(".")
    if step.pick is not None or not root:
        raise _Unwritten
    if root == "operator" and function in SIGNS and len(step.args) == 2:
        return f"({_written(program, step.args[0])}) {SIGNS[function]} ({_written(program, step.args[1])})"
    if root == "operator" and function in PREFIXES:
        return f"{PREFIXES[function]}({_written(program, step.args[0])})"
    if root == "operator" and function == "getitem":
        return f"{_written(program, step.args[0])}[{_items(program, step.args[1])}]"
    if root != "np" or function not in FUNCTIONS or "." in function:
        raise _Unwritten
    given = [_written(program, x) for x in step.args]
    given += [f"{key}={_written(program, x)}" for key, x in step.kwargs.items()]
    return f"{function}({', '.join(given)})"


def _items(program: Program, key: Any) -> str:
    items = key if isinstance(key, tuple) else (key,)
    return ", ".join(_item(program, item) for item in items)


def _item(program: Program, item: Any) -> str:
    if isinstance(item, slice):
        first, last, step = ("" if x is None else _written(program, x) for x in (item.start, item.stop, item.step))
        return f"{first}:{last}" + (f":{step}" if step else "")
    return "..." if item is Ellipsis else _written(program, item)


def _written(program: Program, x: Any) -> str:
    if isinstance(x, Ref):
        return name(x.index)
    if isinstance(x, SizeOf) and x.index < len(program.inputs) and program.inputs[x.index].shape[x.axis] != 1:
        return f"d{program.inputs[x.index].shape[x.axis]}"
    if x is None or isinstance(x, bool):
        return {None: "None", True: "true", False: "false"}[x]
    if isinstance(x, (int, float)) and np.isfinite(x):
        return repr(x)
    if isinstance(x, str):
        return f'"{x}"'
    if isinstance(x, (tuple, list)) and x:
        return "(" + ", ".join(_written(program, item) for item in x) + ("," if len(x) == 1 else "") + ")"
    raise _Unwritten
