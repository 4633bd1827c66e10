"""Lower `sum(... for k in ...)` as the loop that it is.

    sum(np.sin(x * k) / k for k in range(1, n))       weft_total = 0
                                                      for k in range(1, n):
                                                          weft_total = weft_total + np.sin(x * k) / k
                                                      return weft_total

The loop is inlined like a function that reads the variables around it, so `k` is its own, as in Python. Its text does
not grow with the number of terms, as a trace would.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from inspect import Signature
from typing import Union

from .arithmetic import FLOAT
from .complexes import COMPLEX
from .context import Lowering
from .inlining import inline_local
from .reading.names import bound_names, reads
from .values import Abstract, CutProblem, FunctionValue, Number

TOTAL = "weft_total"
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp)
Comprehension = Union[ast.GeneratorExp, ast.ListComp]


def sum_of_terms(p: Lowering, node: ast.Call) -> Abstract:
    """The value of `sum(... for k in ...)`."""
    terms, start = node.args[0], [*node.args[1:], *(k.value for k in node.keywords if k.arg == "start")]
    assert isinstance(terms, COMPREHENSIONS)
    if len(start) != len(node.args) - 1 + len(node.keywords) or len(start) > 1:
        raise CutProblem("sum takes what to add and a start", node)
    if bound_names(g.target for g in terms.generators) & frozenset(reads(terms.generators[0].iter)):
        raise CutProblem("what is iterated over has the name of a term's variable", node)
    body = _loop(terms, start[0] if start else None)
    made = inline_local(p, FunctionValue("sum", _definition(terms), Signature(), tuple(body), p.frame), (), {})
    if isinstance(made, Number) and made.kind in (FLOAT, COMPLEX):
        raise CutProblem("since 3.12 Python's sum of its own floats is rounded only once", node)
    return made


@lru_cache(maxsize=256)
def _definition(terms: Comprehension) -> ast.Lambda:
    """What stands for the function: the same object each time, because inlined functions are told apart by identity."""
    return ast.Lambda(ast.arguments([], [], None, [], [], None, []), terms)


@lru_cache(maxsize=256)
def _loop(terms: Comprehension, start: ast.expr | None) -> Sequence[ast.stmt]:
    total = ast.Name(TOTAL, ast.Load())
    made: ast.stmt = ast.Assign([ast.Name(TOTAL, ast.Store())], ast.BinOp(total, ast.Add(), terms.elt))
    for generator in reversed(terms.generators):
        for test in reversed(generator.ifs):
            made = ast.If(test, [made], [])
        made = ast.For(generator.target, generator.iter, [made], [])
    first = ast.Assign([ast.Name(TOTAL, ast.Store())], start or ast.Constant(0))
    return [ast.fix_missing_locations(ast.copy_location(s, terms)) for s in (first, made, ast.Return(total))]
