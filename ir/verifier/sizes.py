"""Check the sizes and guards in the text of a graph.

Arguments must define all symbols, and guards must be able to hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from .. import dims
from ..dims import LOOP, Size
from ..graph import Graph, Node, Value
from ..ops import NUMPY
from ..proofs import follows
from ..schemas import AttributeProblem
from ..types import Guards, Sizes

Owner = Node | Value | Graph


def sizes_problem(graph: Graph) -> tuple[Owner, str | AttributeProblem] | None:
    """Describe the first size or guard that makes no sense, with the input, node or graph that has it.

    A symbol must be a size of an argument, or of the result of a NumPy function that has run.
    """
    bound = {str(s) for v in graph.inputs for s in v.type.shape if dims.is_symbol(s)}
    for value in graph.inputs:
        if missing := _missing(value.type.shape, bound):
            return value, f"no argument has the size '{missing}'"
        if problem := argument_problem(value):
            return value, problem
    if found := _problem_in(graph, bound):
        return found
    broken = _guards_problem(graph, bound)  # now that NumPy functions have defined their sizes
    return None if broken is None else (graph, broken)


def argument_problem(value: Value) -> str | None:
    """Describe the first size of an argument that no array can have."""
    for size in value.type.shape:
        if variable := next((name for name in sorted(dims.symbols(size)) if name.startswith(LOOP)), None):
            return f"an argument can't have the size '{size}': {variable} is the variable of a loop"
        if size != 0 and follows(0 - size):
            return f"an argument can't have the size '{size}', which is never positive"
    return None


def guard_problem(guards: Guards, bound: Collection[str] | None = None) -> AttributeProblem | None:
    """Describe the first guard that can't hold, or that uses a symbol which is not `bound` (None means any size).

    A guard such as `n == k` binds k: types that had this size were printed with n.
    """
    known = None if bound is None else set(bound)
    for (left, right), text in zip(guards, guards.texts, strict=True):
        names = dims.symbols(left) | dims.symbols(right)
        if variable := next((name for name in sorted(names) if name.startswith(LOOP)), None):
            return AttributeProblem("guards", f"the guard '{text}' uses {variable}, the variable of a loop")
        unknown = sorted(names - known) if known is not None else []
        if known is not None and any(_binds(*pair, known) for pair in ((left, right), (right, left))):
            known |= names
        elif unknown:
            return AttributeProblem("guards", f"no argument has the size '{unknown[0]}' of the guard '{text}'")
        if follows(left - right - 1) or follows(right - left - 1):
            return AttributeProblem("guards", f"the guard '{text}' never holds")
    return None


def _binds(size: Size, other: Size, known: set[str]) -> bool:
    """Tell whether a size is a new symbol that stands for a known size."""
    return dims.is_symbol(size) and str(size) not in known and dims.symbols(other) <= known


def _problem_in(graph: Graph, bound: set[str]) -> tuple[Owner, str | AttributeProblem] | None:
    for node in graph:
        if node.op is NUMPY:
            bound |= {str(s) for v in node.results for s in v.type.shape if dims.is_symbol(s)}
        shapes = [v.type.shape for v in node.results]
        shapes += [tuple(attr) for attr in node.attrs.values() if isinstance(attr, Sizes)]
        if missing := next(filter(None, (_missing(shape, bound) for shape in shapes)), None):
            return node, f"no argument has the size '{missing}'"
        if problem := _guards_problem(node, bound):
            return node, problem
        if node.body is not None and (found := _problem_in(node.body, bound)):
            return found
        if node.code is not None and (missing := next((n for n in _nest_symbols(node.code) if n not in bound), None)):
            return node, f"no argument has the size '{missing}'"
    return None


def _guards_problem(of: Node | Graph, bound: set[str]) -> AttributeProblem | None:
    guards = of.attrs.get("guards")
    return guard_problem(guards, bound) if isinstance(guards, Guards) else None


def _nest_symbols(nest: Graph) -> Iterator[str]:
    """List the sizes that a loop nest uses, without the variables of its loops."""
    for node in nest:
        lists = [tuple(attr) for attr in node.attrs.values() if isinstance(attr, Sizes)]
        for size in (s for sizes_of in (*lists, *(v.type.shape for v in node.results)) for s in sizes_of):
            yield from (name for name in sorted(dims.symbols(size)) if not name.startswith(LOOP))
        if node.body is not None:
            yield from _nest_symbols(node.body)


def _missing(shape: tuple[Size, ...], bound: set[str]) -> str | None:
    return next((name for size in shape for name in sorted(dims.symbols(size)) if name not in bound), None)
