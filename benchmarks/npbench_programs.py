"""Load programs of an NPBench checkout, call them on copies of their arguments, and compare what they leave."""

from __future__ import annotations

import copy
import importlib
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TOLERANCE = 1e-5
LEAST_SECONDS = 0.1  # short calls are repeated for this long, so that one disturbed call does not count
MOST_CALLS = 100


def described(path: Path, name: str) -> dict[str, Any]:
    """Read the suite's description of a program."""
    info: dict[str, Any] = json.loads((path / "bench_info" / f"{name}.json").read_text())["benchmark"]
    return info


def arguments(info: dict[str, Any], preset: str) -> dict[str, Any]:
    """Return a program's parameters and the arguments that its own function makes, by name."""
    values: dict[str, Any] = dict(info["parameters"][preset])
    if (init := info.get("init")) is None:
        return values
    start = getattr(importlib.import_module(module(info)), init["func_name"])
    made = start(*[values[n] for n in init["input_args"]])
    made = made if len(init["output_args"]) > 1 else (made,)
    return values | dict(zip(init["output_args"], made, strict=True))


def module(info: dict[str, Any]) -> str:
    return f"npbench.benchmarks.{info['relative_path'].replace('/', '.')}.{info['module_name']}"


def program(info: dict[str, Any], variant: str = "numpy") -> Callable[..., Any]:
    """Import a variant of a program."""
    found: Callable[..., Any] = getattr(importlib.import_module(f"{module(info)}_{variant}"), info["func_name"])
    return found


def timed(function: Callable[..., Any], args: Sequence[Any]) -> tuple[tuple[Any, float], list[Any]]:
    """Call a function on copies; return its result, the seconds it took, and the copies."""
    given = copy.deepcopy(list(args))
    start = time.perf_counter()
    result = function(*given)
    return (result, time.perf_counter() - start), given


def fastest(call: Callable[[], float], repeat: int) -> float:
    """Return the least of the seconds that `call` gives: `repeat` of them, and more if they are short."""
    times = [call() for _ in range(repeat)]
    while sum(times) < LEAST_SECONDS and len(times) < MOST_CALLS:
        times.append(call())
    return min(times)


def is_same(a: Any, b: Any) -> bool:
    """Tell whether two results are equal but for rounding."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, np.ndarray):
        if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.kind not in "fc":
            return bool(np.array_equal(a, b))
        scale = float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0)) or 1.0
        return bool(np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True))
    if isinstance(a, (float, complex, np.floating, np.complexfloating)):
        return type(a) is type(b) and bool(np.isclose(a, b, rtol=TOLERANCE, equal_nan=True))
    return type(a) is type(b) and (a is b or not hasattr(a, "__eq__") or bool(np.all(a == b)) or is_object(a))


def is_object(x: Any) -> bool:
    """Tell whether a value has no comparison of its own, such as a generator of random numbers."""
    return type(x).__eq__ is object.__eq__
