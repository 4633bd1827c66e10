"""Define functions that can't be traced, one mistake each; `trace_errors.txt` holds the expected messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

TOTAL = np.zeros(4)
MASKED = np.ma.masked_array([1.0, 2.0, 3.0, 4.0], mask=[0, 1, 0, 0])
NAMES = np.array(["a", "b", "c", "d"])


def branch(x: Any) -> Any:
    if x.sum() > 0:
        return x
    return -x


def chained_comparison(x: Any) -> Any:
    return np.where(0 < x < 1, x, 0)


def logical_and(x: Any) -> Any:
    return np.where(x > 0 and x < 1, x, 0)


def python_max(x: Any) -> Any:
    return max(x[0], 0)


def float_of(x: Any) -> Any:
    return x * float(x.sum())


def math_function(x: Any) -> Any:
    return math.exp(x[0])


def as_array(x: Any) -> Any:
    from numpy import asarray  # a name that can't be seen from outside

    return asarray(x) + 1


def add_to_array(x: Any) -> Any:
    global TOTAL
    TOTAL += x
    return TOTAL


def out_argument(x: Any) -> Any:
    return np.exp(x, out=np.empty(4))


def out_of_sum(x: Any) -> Any:
    return np.sum(x, axis=0, out=np.empty(()))


def change_a_view(x: Any) -> Any:
    y = x + 1
    y[1:].reshape(3)
    y += 1
    return y


def change_dtype_in_place(x: Any) -> Any:
    count = np.ones_like(x, dtype=np.int32)
    count += x
    return count


def assign_item(x: Any) -> Any:
    y = x + 1
    y[0] = 0
    return y


def store_in_array(x: Any) -> Any:
    out = np.zeros(4)
    out[0] = x[0]
    return out


def to_list(x: Any) -> Any:
    return sum(x.tolist())


def item(x: Any) -> Any:
    return x.sum().item() + 1


def masked(x: Any) -> Any:
    return x + MASKED


def strings(x: Any) -> Any:
    return x + NAMES


def shapes(x: Any) -> Any:
    return x + np.ones(3)


def bits_of_floats(x: Any) -> Any:
    return x & 1


def axis_out_of_range(x: Any) -> Any:
    return np.mean(x, axis=1)


def index_out_of_range(x: Any) -> Any:
    return x[7]


def too_large(x: Any) -> Any:
    return x.astype(np.int8) + 1000


def fill_diagonal(x: Any) -> Any:
    y = x.reshape(2, 2)
    np.fill_diagonal(y, 0)
    return y


def printed(x: Any) -> Any:
    return np.array2string(x)


def gives_no_array(x: Any) -> Any:
    return np.einsum_path("i,i->", x, x)


def strides(x: Any) -> Any:
    return x.strides[0]


def contains(x: Any) -> Any:
    return x if 3 in x else -x


def positional_axis(x: Any) -> Any:
    return x.sum(axis="rows")


def arrays_apart(x: Any) -> Any:
    return np.concatenate(x, x)
