"""Find the reason why a function can't be traced as a whole, if there is one."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from ..frontend.programs.planning.pieces import Cut
from ..frontend.programs.reading import purity
from ..frontend.programs.reading.allowed import Checker, PythonScope
from ..frontend.programs.reading.source import NoSource, pausing, read_source
from ..frontend.programs.reading.unsourced import why_not_traced
from ..ir.errors import type_of
from ..ir.source import Guard
from .reasons import Reason, span_of


def obstacle_of(function: Any, rely: Callable[[Iterable[Guard]], None]) -> Reason | None:
    """Return why Python must run a function, if it must. Everything that the answer depends on is added to `rely`."""
    if isinstance(function, functools.partial):
        return obstacle_of(function.func, rely)
    if not isinstance(function, FunctionType):
        known = callable(function) and purity.is_pure(function)
        return None if known else Reason(f"{type_of(function)} is called by Python")
    if (what := pausing(function)) is not None:
        return Reason(f"{what} is run by Python")
    if not purity.is_users(function):
        return None
    source = read_source(function)
    if isinstance(source, NoSource):
        why = why_not_traced(function)
        return None if why is None else Reason(f"{source.reason}, and {why}")
    checker = Checker(PythonScope(function, source))
    cut = checker.body(source)
    rely(checker.scope.meanings.guards)
    if cut is None and checker.captured:
        name = next(iter(checker.captured))
        names = (n for n in ast.walk(source.tree) if isinstance(n, ast.Name) and n.id == name)
        cut = Cut(f"'{name}' is read from outside", next(names, source.tree))
    return None if cut is None else Reason(cut.reason, span_of(cut.node, function))
