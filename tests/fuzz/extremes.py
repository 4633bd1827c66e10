"""Run functions on extreme numbers beside NumPy: 0, 1, and numbers around 2^31, 2^32, 2^62, 2^63 and 2^64.

`python -m tests.fuzz.extremes SEED COUNT FIRST` runs cases in a process that may have little memory. It prints each
case before running it, so that `test_extremes.py`, which starts it, can tell which case ended it.
"""

from __future__ import annotations

import random
import resource
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from weft.function import tracing

NUMBERS = [0, 1, -1, 2, -3, *(s * 2**p + d for p in (31, 32, 62, 63, 64) for s in (1, -1) for d in (-1, 0, 1))]
MEMORY = 6 << 30  # of address space: arrays of 2^31 floats and more do not fit
LARGE = 1 << 30
RAISED = (ValueError, MemoryError, OverflowError, IndexError, TypeError, ZeroDivisionError)
X = np.arange(5, dtype=np.float32)

Function = Callable[[Any, int], Any]
# What NumPy has an answer to.
FUNCTIONS: Mapping[str, Function] = {
    "pad": lambda a, k: np.pad(a, (k, 1)), "pad edge": lambda a, k: np.pad(a, (1, k), mode="edge"),
    "pad wrap": lambda a, k: np.pad(a, (0, k), mode="wrap"), "tile": lambda a, k: np.tile(a, k),
    "tile twice": lambda a, k: np.tile(a, (k, 2)), "tile square": lambda a, k: np.tile(a, (k, k)),
    "repeat": lambda a, k: np.repeat(a, k), "repeat axis": lambda a, k: np.repeat(a, k, axis=0),
    "from": lambda a, k: a[k:], "to": lambda a, k: a[:k], "step": lambda a, k: a[::k or 1],
    "backwards": lambda a, k: a[k::-1], "backwards to": lambda a, k: a[:k:-1], "between": lambda a, k: a[1:k:2],
    "both": lambda a, k: a[k : -k : k or 1], "position": lambda a, k: a[k], "positions": lambda a, k: a[[0, k]],
    "zeros": lambda a, k: np.zeros(k) + a[0], "zeros of none": lambda a, k: np.zeros((0, k, k), "i1") + a[0],
    "ones": lambda a, k: np.ones((k, 3, k)) * a[0], "roll": lambda a, k: np.roll(a, k),
    "roll twice": lambda a, k: np.roll(a, (k, k), (0, 0)), "arange": lambda a, k: np.arange(k) + a[0],
    "arange between": lambda a, k: np.arange(k, k + 3) + a[0],
    "arange step": lambda a, k: np.arange(0, 3, k or 1) + a[0],
    "arange float": lambda a, k: np.arange(0.0, k) + a[0], "linspace": lambda a, k: np.linspace(0, 1, k) + a[0],
    "linspace to": lambda a, k: np.linspace(0, k, 5) + a[0], "broadcast": lambda a, k: np.broadcast_to(a, (k, 5))[:2],
    "broadcast square": lambda a, k: np.broadcast_to(a[0], (k, k))[:1, :1], "eye": lambda a, k: np.eye(k) * a[0],
    "eye of 3": lambda a, k: np.eye(3, k) * a[0], "tri": lambda a, k: np.tri(k) * a[0],
    "reshape": lambda a, k: a.reshape(k), "reshape by 5": lambda a, k: a.reshape(k, 5),
    "reshape rest": lambda a, k: np.reshape(a, (-1, k)), "reshape none": lambda a, k: a[:0].reshape(k, 0),
    "take": lambda a, k: np.take(a, k),
    "take clip": lambda a, k: np.take(a, [k, 0], mode="clip"), "shift left": lambda a, k: a.astype("i8") << k,
    "shift right": lambda a, k: a.astype("i1") >> k, "add": lambda a, k: a.astype("i8") + k,
    "multiply": lambda a, k: a.astype("i1") * k, "compare": lambda a, k: a.astype("u8") > k,
    "float": lambda a, k: a + k,
    "where": lambda a, k: np.where(a > 1, a.astype("i4"), k), "power": lambda a, k: a.astype("i8") ** k,
    "clip": lambda a, k: np.clip(a.astype("i2"), -k, k), "expand_dims": lambda a, k: np.expand_dims(a, k),
    "sum": lambda a, k: np.sum(a, axis=k), "swapaxes": lambda a, k: np.swapaxes(a, 0, k),
    "moveaxis": lambda a, k: np.moveaxis(a, 0, k), "stack": lambda a, k: np.stack([a, a], axis=k),
    "flip": lambda a, k: np.flip(a, k), "cumsum": lambda a, k: np.cumsum(a, axis=k),
    "full_like": lambda a, k: np.full_like(a, 1, shape=(k, k)), "rot90": lambda a, k: np.rot90(a[:, None] + a, k),
    "split": lambda a, k: np.array_split(a, [k])[0], "last of many": lambda a, k: np.broadcast_to(a[:1], (k,))[k - 2 :],
    "few of many": lambda a, k: np.broadcast_to(a[:1], (k,))[:: 2**61],
}  # fmt: skip
# Where NumPy wraps around, crashes, never ends or has limits of its own, an answer or a typed error will do.
ALONE: Mapping[str, Function] = {
    "take wrap": lambda a, k: np.take(a, k, mode="wrap"),
    "triu": lambda a, k: np.triu(a[:, None] + a, k),
    "tril": lambda a, k: np.tril(a[:, None] + a, k),
    "pad both": lambda a, k: np.pad(a, k), "diag": lambda a, k: np.diag(a, k),
    "trace": lambda a, k: np.trace(a[:, None] + a, k),
    "diagonal": lambda a, k: np.diagonal(a[:, None] + a, k), "eye k": lambda a, k: np.eye(3, 4, k) * a[0],
    "concatenate": lambda a, k: np.concatenate([np.broadcast_to(a[:1], (k,))] * 4),
    "stack many": lambda a, k: np.stack([np.broadcast_to(a[0], (k, 2))] * 4),
    "outer": lambda a, k: np.multiply.outer(np.broadcast_to(a, (k, 5)), np.broadcast_to(a, (k, 5))),
    "cast": lambda a, k: np.broadcast_to(a[:1].astype("i1"), (k,)).astype("c16"),
    "tile and part": lambda a, k: np.tile(a, (k, 1, 1))[0], "ndmin": lambda a, k: np.array(a, ndmin=k),
    "delete": lambda a, k: np.delete(a, k), "insert": lambda a, k: np.insert(a, k, 9),
}  # fmt: skip


def cases(seed: int, count: int) -> list[tuple[str, int]]:
    """Yield pairs of a function's name and a number, about equally many for every function."""
    names = [*FUNCTIONS, *ALONE]
    every = [(name, k) for name in names for k in NUMBERS]
    return random.Random(seed).sample(every, min(count, len(every)))


def problem(name: str, k: int) -> str | None:
    """Describe what is wrong with a function of a number; None if nothing is."""
    function = FUNCTIONS.get(name) or ALONE[name]
    found = _outcome(tracing(lambda v: function(v, k)))
    if isinstance(found, BaseException) and not isinstance(found, RAISED):
        return f"{type(found).__name__}: {found}"
    if name in ALONE:
        return None
    expected = _outcome(lambda v: function(v, k))
    if isinstance(expected, BaseException):
        return None if isinstance(found, BaseException) or _is_memory(expected) else f"NumPy raises {expected!r}"
    expected = np.asarray(expected)
    if isinstance(found, BaseException):
        is_refused = expected.dtype == object or expected.size > LARGE or "no numbers that Weft" in str(found)
        return None if is_refused else f"{type(found).__name__} where NumPy has {expected!r}: {found}"
    found = np.asarray(found)
    same = found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()
    return None if same else f"{found!r} for {expected!r}"


def _is_memory(error: BaseException) -> bool:
    """Tell whether NumPy runs out of memory for an array that Weft never makes."""
    return isinstance(error, MemoryError) or "array is too big" in str(error) or "Maximum allowed" in str(error)


def _outcome(function: Callable[[Any], Any]) -> Any:
    try:
        return function(X)
    except Exception as error:
        return error


def main(seed: int, count: int, first: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    for at, (name, k) in enumerate(cases(seed, count)):
        if at >= first:
            print(f"case {at} {name} of {k}", flush=True)
            if (wrong := problem(name, k)) is not None:
                print(f"wrong {name} of {k}: {wrong}".replace("\n", " "), flush=True)
    print("done", flush=True)


if __name__ == "__main__":
    main(*(int(n) for n in sys.argv[1:4]))
