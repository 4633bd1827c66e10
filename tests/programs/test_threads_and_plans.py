"""Test that several threads may plan a function at once, and read its source."""

from __future__ import annotations

import ast
import threading
from typing import Any

import numpy as np
import pytest
import weft


def stepped(x: Any, k: int) -> Any:
    y = np.exp(x)[k] + x.sum()
    print(end="")
    return np.exp(x) * y


def test_a_function_is_planned_while_another_thread_plans_it() -> None:
    compiled, x, found = weft.jit(stepped), np.linspace(0, 1, 100), list[Any]()
    program = compiled._program  # type: ignore[attr-defined]
    make = program._make

    def call(k: int) -> None:
        try:
            found.append(compiled(x, k))
        except Exception as error:
            found.append(error)

    def interrupted(*args: Any) -> Any:
        program._make = make
        for k in (3, 100):
            thread = threading.Thread(target=call, args=(k,))
            thread.start()
            thread.join()
        return make(*args)

    program._make = interrupted
    np.testing.assert_allclose(compiled(x, 3), stepped(x, 3), rtol=1e-14)
    result, error = found
    np.testing.assert_allclose(result, stepped(x, 3), rtol=1e-14)
    assert isinstance(error, IndexError) and error.__context__ is None


@pytest.mark.parametrize("broken", [1, 2])
def test_a_tree_is_parsed_again_if_another_thread_got_in_between(broken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11 raises SystemError then."""
    parse, calls = ast.parse, list[str]()

    def disturbed(*args: Any, **kwargs: Any) -> Any:
        calls.append("")
        if len(calls) <= broken:
            raise SystemError("AST constructor recursion depth mismatch")
        return parse(*args, **kwargs)

    monkeypatch.setattr(ast, "parse", disturbed)
    compiled = weft.jit(stepped)
    compiled(np.ones(3), 1)
    assert len(calls) > broken and compiled.explain().pieces  # type: ignore[attr-defined]
