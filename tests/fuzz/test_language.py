"""Test random programs as kernel text: the language gives the same bits as tracing."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
from weft.backends import reference
from weft.frontend.language.source import parse_module
from weft.frontend.tracing.functions import TracedFunction
from weft.ir.errors import WeftError
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from .drawing import draw
from .language import kernel_text

SEED, COUNT, LEAST = 3, 600, 60


def test_kernel_text_gives_what_tracing_gives() -> None:
    registry, options = Registry(), Options(backend="reference")
    seen: Counter[str] = Counter()
    for number in range(COUNT):
        program = draw(SEED, number)
        text = kernel_text(program)
        if text is None:
            continue
        args = program.arguments()
        traced = _outcome(Kernel(_traced(program.function), registry, options), args)
        if isinstance(traced, Exception):
            seen["refused by NumPy's rules"] += 1
            continue
        try:
            written = Kernel(parse_module(text, f"{number}.weft").kernels["k"], registry, options)
        except WeftError as error:
            seen[f"not in the language: {type(error).__name__}"] += 1
            continue
        found = _outcome(written, args)
        if isinstance(found, WeftError):
            seen[f"not in the language: {type(found).__name__}"] += 1
            continue
        assert not isinstance(found, Exception), f"graph {number}\n{text}\n{found!r}"
        for one, other in zip(found, traced, strict=True):
            same = one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
            assert same, f"graph {number}\n{text}\n{one!r}\n{other!r}"
        seen["compared"] += 1
    assert seen["compared"] >= LEAST, seen


def _traced(function: Any) -> Any:
    return TracedFunction(function, (), lambda graph, inputs, **calls: reference.run(graph, inputs, **calls))


def _outcome(kernel: Any, args: list[Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = kernel(*args)
        except Exception as error:
            return error
    return [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]
