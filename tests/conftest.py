"""Options of the test suite, and kernels run by the reference backend."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any

import hypothesis
import numpy as np
import pytest
import weft
from weft.backends import reference
from weft.frontend.language.source import LanguageKernel, parse_module
from weft.function import tracing
from weft.ir import dtypes
from weft.ir.source import ArgType

from .compiling import begin_sharing, end_sharing, install

# Times that the user's own kernels took are none of the tests' business, nor theirs of the user's.
os.environ["WEFT_HISTORY"] = "0"
# What is shared between threads must not depend on how fast they wake up now.
os.environ["WEFT_CALIBRATION"] = "0"


Evaluate = Callable[..., tuple[Any, ...]]

# Every test compiles anew: a kernel that an earlier run compiled would hide an error. The cache's tests have their own.
os.environ["WEFT_CACHE"] = "0"


efforts = install()

# The same examples in every run: what fails here fails for everyone.
hypothesis.settings.register_profile("weft", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("weft")


# In these folders compiled code is compared with NumPy, so Python must not stand in where a compile fails.
TRACED = frozenset(("differential", "backends", "products", "math", "fuzz", "kernels", "index", "printed", "ir"))


@pytest.fixture(autouse=True)
def _traced(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.path.parent.name in TRACED:
        monkeypatch.setattr(weft, "jit", tracing)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="rewrite expected texts with what comes out")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        begin_sharing()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        end_sharing()


def pytest_collection_finish(session: pytest.Session) -> None:
    # Thousands of collected tests are not garbage: looking through them again and again takes a tenth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_runtest_setup(item: pytest.Item) -> None:
    efforts.enter(item.path)


def argument(x: Any) -> ArgType:
    """Return what the runtime tells a kernel about this argument."""
    if type(x) in (int, float, complex):
        return ArgType(dtypes.WEAK[type(x).__name__], (), x)
    array = np.asarray(x)
    return ArgType(dtypes.from_numpy(array.dtype), array.shape, x)


def run(kernel: LanguageKernel, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The outputs of a kernel, by the reference backend."""
    binding = kernel.bind([argument(a) for a in args])
    graph = kernel.build(binding).graph
    arrays = [np.asarray(a, t.dtype.numpy) for a, t in zip(args, binding.types, strict=True)]
    return reference.run(graph, arrays, binding.sizes)


@pytest.fixture
def run_kernel() -> Evaluate:
    """Runs a kernel that was parsed before."""
    return lambda kernel, *args: run(kernel, args)


@pytest.fixture
def evaluate() -> Evaluate:
    """The outputs of the last kernel in a text for these arguments."""

    def evaluated(text: str, *args: Any) -> tuple[Any, ...]:
        return run(list(parse_module(text, "test.weft").kernels.values())[-1], args)

    return evaluated


@pytest.fixture
def argument_type() -> Callable[[Any], ArgType]:
    return argument
