"""List the kernels to compare: each with a name, a function that makes it for given options, and arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from weft.bench.row import case, cases
from weft.bench.suites import ROWS
from weft.function import traced
from weft.loading.library import entries
from weft.loading.load import load_file
from weft.runtime.compiler import Options

ROOT = Path(__file__).parents[2]
SIZE = 1000  # elements; other forms are found from the guards
FUZZ_SEED, FUZZ_COUNT = 15, 80


@dataclass(frozen=True)
class Kernel:
    """One kernel to compare: `make` returns it for given options, `args` and `out` are the arguments of a call."""

    name: str
    make: Callable[[Options], Any]
    args: Callable[[], Sequence[Any]]
    out: Callable[[Sequence[Any]], Any] = lambda args: None


def kernels() -> Iterator[Kernel]:
    """Return all kernels, in a fixed order."""
    yield from _bench()
    yield from _examples()
    yield from _library()
    yield from _chosen()
    yield from _fuzzed()


def _traced(function: Any) -> Callable[[Options], Any]:
    return lambda options: traced(function, (), options)


def _bench() -> Iterator[Kernel]:
    """Return the functions of bench rows, each once even if several rows use it: all its forms are found anyway."""
    seen = set[Any]()
    for suite, rows in ROWS.items():
        for row in rows:
            for dtype in row.dtypes:
                size = min(row.sizes or (SIZE,))

                def args(row: Any = row, size: int = size, dtype: str = dtype) -> Sequence[Any]:
                    assert (size, dtype) in cases(row, (SIZE,))
                    found = case(row, size, dtype).args
                    return found if row.into is None else found[:-1]

                kind = (row.make, dtype, tuple(tuple(n == 1 for n in np.shape(x)) for x in args()))
                if kind in seen:
                    continue
                seen.add(kind)
                yield Kernel(f"bench {suite}/{row.name} {dtype}", _traced(row.make(np)), args)


def _examples() -> Iterator[Kernel]:
    sys.path.insert(0, str(ROOT / "examples"))
    from cases import CASES, Data  # type: ignore[import-not-found]

    for each in CASES:
        if each.file.endswith(".weft"):
            make = _of_file(ROOT / "examples" / each.file, each.kernel)
        else:
            import functions  # type: ignore[import-not-found]

            make = _traced(getattr(functions, each.kernel).__wrapped__)
        yield Kernel(f"example {each.kernel}", make, lambda each=each: each.make(Data(20_000)))


def _of_file(path: Path, name: str) -> Callable[[Options], Any]:
    return lambda options: load_file(str(path), options, False, False)[name]


def _library() -> Iterator[Kernel]:
    from tests.kernels.cases import CASES, Data

    found = entries()
    for name, each in CASES.items():
        for dtype, apart in (("f4", False), ("f8", True)):

            def args(each: Any = each, dtype: str = dtype, apart: bool = apart) -> Sequence[Any]:
                made: Sequence[Any] = each.make(Data(np.random.default_rng(0), dtype, apart=apart))
                return made

            path = ROOT / "api" / "kernels" / Path(found[name].file).name
            yield Kernel(f"library {name} {dtype}{' apart' * apart}", _of_file(path, name), args)


def _chosen() -> Iterator[Kernel]:
    """Return functions that cover each loop strategy, in several layouts and dtypes."""
    from .functions import FUNCTIONS

    for function in FUNCTIONS:
        for dtype, layout in (("f4", "C"), ("f8", "F"), ("f4", "apart"), ("f2", "C")):

            def args(function: Any = function, dtype: str = dtype, layout: str = layout) -> Sequence[Any]:
                count = function.__code__.co_argcount
                return [_array(k, dtype, layout) for k in range(count)]

            yield Kernel(f"chosen {function.__name__} {dtype} {layout}", _traced(function), args)


def _array(number: int, dtype: str, layout: str) -> Any:
    shape = (40, 48) if number == 0 else (48,) if number == 1 else (40, 1)
    x = np.ones(shape, dtype)
    if layout == "F":
        return np.asfortranarray(x)
    return np.repeat(x, 2, axis=-1)[..., ::2] if layout == "apart" else x


def _fuzzed() -> Iterator[Kernel]:
    from tests.fuzz.drawing import draw

    for number in range(FUZZ_COUNT):
        program = draw(FUZZ_SEED, number)
        yield Kernel(f"fuzz {number}", _traced(program.function), program.arguments)
