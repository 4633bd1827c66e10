"""Name the mathematical functions that native code may call instead of repeating their instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .graph import Graph, Node
from .ops import COMPLEX_FUNCTION, TABLE, Trait
from .schemas import AttributeProblem
from .walking import nodes_inside

# One instruction, not a function.
_INSTRUCTIONS = frozenset((TABLE["sqrt"],))


def function_name(node: Node) -> str | None:
    """The name of the function of floats that an op computes, if it is one."""
    if node.op is COMPLEX_FUNCTION:
        return f"complex_{node.attrs['function']}"
    if Trait.EXPENSIVE not in node.op.traits or Trait.ELEMENTWISE not in node.op.traits or node.op in _INSTRUCTIONS:
        return None
    return node.op.name if node.operands and all(v.type.dtype.kind == "float" for v in node.operands) else None


def functions_in(body: Graph) -> Iterator[str]:
    """Return the names of the functions in a body and in all bodies inside it, once for each use."""
    return (name for node in nodes_inside(body) if (name := function_name(node)) is not None)


def called_problem(body: Graph, called: Sequence[str]) -> AttributeProblem | None:
    """Describe a name in the attribute `called` that is not a function of the body."""
    known = set(functions_in(body)) if called else ()
    wrong = next((name for name in called if name not in known), None)
    return None if wrong is None else AttributeProblem("called", f"function '{wrong}' in 'called' is not used here")
