"""Represent methods of arrays and ufuncs as callables that compare equal, so that a trace can record them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ...ir.errors import Span, TypeProblem
from ...ir.ops import SPECIAL
from ...ir.records import record

# Python's operators and the NumPy functions that they call on arrays.
OPERATORS: Mapping[Callable[..., Any], str] = {
    operator.add: "add", operator.sub: "subtract", operator.mul: "multiply", operator.truediv: "divide",
    operator.floordiv: "floor_divide", operator.mod: "remainder", operator.pow: "power", divmod: "divmod",
    operator.and_: "bitwise_and", operator.or_: "bitwise_or", operator.xor: "bitwise_xor",
    operator.lshift: "left_shift", operator.rshift: "right_shift", operator.eq: "equal", operator.ne: "not_equal",
    operator.lt: "less", operator.le: "less_equal", operator.gt: "greater", operator.ge: "greater_equal",
    operator.neg: "negative", operator.pos: "positive", operator.abs: "absolute", operator.invert: "invert",
    operator.matmul: "matmul",
}  # fmt: skip
# Functions of numpy.linalg that have a rule under their own name.
LINALG = {getattr(np.linalg, name): name for name in ("norm", "vector_norm", "matrix_norm", "matrix_transpose")}
# Functions of numpy.linalg that are NumPy's functions on the last two axes.
ON_MATRICES = {np.linalg.diagonal: "diagonal", np.linalg.trace: "trace"}
SPECIAL_NAMES = frozenset(op.name for op in SPECIAL)
VIEWS = frozenset((
    "reshape", "ravel", "transpose", "matrix_transpose", "swapaxes", "moveaxis", "expand_dims", "squeeze",
    "broadcast_to", "broadcast_arrays", "flip", "flipud", "fliplr", "atleast_1d", "atleast_2d", "real", "imag",
    "permute_dims", "rollaxis", "rot90", "atleast_3d", "split", "array_split", "hsplit", "vsplit", "dsplit", "unstack",
    "diagonal", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "real_if_close",
))  # fmt: skip
# Functions whose result is a view if the graph says so.
SOMETIMES_VIEWS = frozenset(("diag", "einsum"))
# Functions that return the array itself, not a view, if there is nothing to do.
ITSELF = frozenset((
    "real", "squeeze", "atleast_1d", "atleast_2d", "atleast_3d", "asarray", "asanyarray", "ascontiguousarray",
    "asfortranarray", "real_if_close", "broadcast_arrays",
))  # fmt: skip


_REDUCING = "axis out keepdims where"
_OF_UFUNCS = "where casting order dtype subok signature sig"
# The keywords of arrays' methods, which are fewer than those of NumPy's functions.
KEYWORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(keywords.split())
    for names, keywords in {
        "sum prod": f"{_REDUCING} dtype initial", "min max": f"{_REDUCING} initial", "mean": f"{_REDUCING} dtype",
        "var std": f"{_REDUCING} dtype ddof mean", "any all": _REDUCING, "argmax argmin": "axis out keepdims",
        "clip": f"min max out {_OF_UFUNCS}", "round": "decimals out", "astype": "dtype order casting subok copy",
        "argsort": "axis kind order stable", "argpartition": "kth axis kind order", "cumsum cumprod": "axis dtype out",
        "dot": "b out", "trace": "offset axis1 axis2 dtype out", "diagonal": "offset axis1 axis2",
        "repeat": "repeats axis", "take": "indices axis out mode", "compress": "condition axis out",
        "choose": "choices out mode", "searchsorted": "v keys side sorter", "reshape": "order copy", "squeeze": "axis",
        "ravel flatten": "order", "conj conjugate swapaxes transpose nonzero": "",
    }.items()
    for name in names.split()
}  # fmt: skip


@record
class Method:
    """A method of an array, called with the array as its first argument."""

    name: str

    def __call__(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, self.name)(*args, **kwargs)

    def demand_keywords(self, given: Iterable[str], span: Span | None) -> None:
        """Refuse keywords that only the function of this name takes, as in `x.std(correction=1)`."""
        known = KEYWORDS.get(self.name)
        for key in given:
            if known is not None and key not in known:
                raise TypeProblem(f"{self.name}() got an unexpected keyword argument '{key}'", span)


@record
class UfuncMethod:
    """A method of a ufunc, such as `np.add.reduce`."""

    ufunc: np.ufunc
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return getattr(self.ufunc, self.name)(*args, **kwargs)


def numpy_name(function: Callable[..., Any]) -> str | None:
    """Return the name of this function in NumPy's namespace, if it has one."""
    if function in OPERATORS:
        return OPERATORS[function]
    if isinstance(function, Method):
        return "ravel" if function.name == "flatten" else function.name
    if isinstance(function, UfuncMethod):
        return f"{function.ufunc.__name__}.{function.name}"
    if function in LINALG:
        return LINALG[function]
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    return name if vars(np).get(name) is function or _is_special(function, name) else None


def _is_special(function: Callable[..., Any], name: str) -> bool:
    """Tell whether it is a SciPy function with an op; only its name and loops are compared, so SciPy is not loaded."""
    if name not in SPECIAL_NAMES or not isinstance(function, np.ufunc) or function.signature is not None:
        return False
    return (function.nin, function.nout) == (1, 1) and {"f->f", "d->d"} <= set(function.types)


def dotted(function: Callable[..., Any]) -> str:
    """Return a readable name, such as `numpy.linalg.norm`."""
    if isinstance(function, Method):
        return f"numpy.ndarray.{function.name}"
    if function is operator.getitem:
        return "numpy.ndarray.__getitem__"
    if function not in LINALG and (name := numpy_name(function)) is not None:
        return f"numpy.{name}"
    module = getattr(function, "__module__", None)
    name = getattr(function, "__name__", type(function).__name__)
    return f"{module}.{name}" if module else name
