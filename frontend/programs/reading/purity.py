"""Name the callables and attributes that have no side effect and depend on nothing but their arguments.

Everything else is left to Python: a function that is not listed here is never run ahead of time, twice or not at all.
"""

from __future__ import annotations

import builtins
import math
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from ....ir.dtypes import is_scalar_type

BUILTINS = frozenset(
    getattr(builtins, name)
    for name in (
        "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "int", "isinstance", "len",
        "list", "max", "min", "pow", "range", "reversed", "round", "slice", "sum", "tuple", "zip",
    )
)  # fmt: skip

# Functions of `numpy` that only compute. Those in FRESH never return an argument or a view of one.
FRESH = frozenset((
    "allclose", "all", "amax", "amin", "angle", "any", "append", "apply_along_axis", "arange", "argmax", "argmin",
    "argpartition", "argsort", "argwhere", "around", "array_equal", "array_equiv", "average", "bartlett",
    "bincount", "blackman", "block", "bmat", "choose", "clip", "column_stack", "compress", "concatenate", "concat",
    "convolve", "copy", "corrcoef", "correlate", "count_nonzero", "cov", "cross", "cumprod", "cumsum",
    "cumulative_prod", "cumulative_sum", "delete", "diagflat", "diff", "digitize", "dot", "dstack", "ediff1d",
    "einsum", "empty", "empty_like", "extract", "eye", "fix", "flatnonzero", "fliplr", "flipud", "full",
    "full_like", "geomspace", "gradient", "hamming", "hanning", "histogram", "histogram2d", "histogramdd", "hstack",
    "i0", "identity", "indices", "inner", "insert", "interp", "intersect1d", "in1d", "isclose", "isin", "iscomplex",
    "iscomplexobj", "isneginf", "isposinf", "isreal", "isrealobj", "isscalar", "kaiser", "kron", "lexsort",
    "linspace", "logspace", "max", "mean", "median", "min", "nanargmax", "nanargmin", "nancumprod", "nancumsum",
    "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum",
    "nanvar", "ndim", "nonzero", "ones", "ones_like", "outer", "pad", "partition", "percentile", "piecewise",
    "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval", "prod", "ptp",
    "quantile", "ravel_multi_index", "repeat", "resize", "roll", "roots", "round", "searchsorted", "select",
    "setdiff1d", "setxor1d", "shape", "sinc", "size", "sort", "sort_complex", "stack", "std", "sum", "take",
    "take_along_axis", "tensordot", "tile", "trace", "trapezoid", "trapz", "tri", "tril", "triu", "union1d",
    "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unravel_index", "unwrap", "vander",
    "var", "vdot", "vstack", "where", "zeros", "zeros_like", "result_type", "can_cast", "promote_types",
    "min_scalar_type", "finfo", "iinfo", "dtype", "broadcast_shapes", "issubdtype", "isdtype", "tril_indices",
    "triu_indices", "tril_indices_from", "triu_indices_from", "diag_indices", "diag_indices_from", "mask_indices",
))  # fmt: skip
VIEWING = frozenset((
    "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "atleast_1d",
    "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "diag", "diagonal", "dsplit", "expand_dims",
    "flip", "hsplit", "imag", "array_split", "matrix_transpose", "meshgrid", "moveaxis", "nan_to_num",
    "permute_dims", "ravel", "real", "real_if_close", "reshape", "rollaxis", "rot90", "split", "squeeze",
    "swapaxes", "transpose", "trim_zeros", "unstack", "vsplit", "astype",
))  # fmt: skip
LINALG = frozenset((
    "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
))  # fmt: skip
FFT = frozenset((
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft",
    "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
))  # fmt: skip

# Functions that only NumPy can run: a piece would add nothing but a call. A test compares them with the known ones.
RUN_BY_NUMPY = {
    np: frozenset((
        "argpartition", "argsort", "argwhere", "convolve", "corrcoef", "correlate", "cov", "delete", "digitize",
        "flatnonzero", "histogram2d", "histogramdd", "insert", "interp", "intersect1d", "isin", "kron",
        "lexsort", "median", "nanmedian", "nanpercentile", "nanquantile", "nonzero", "partition", "percentile",
        "polyfit", "quantile", "roots", "searchsorted", "setdiff1d", "setxor1d", "sort", "sort_complex", "union1d",
        "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "unwrap",
    )),
    np.linalg: frozenset((
        "cholesky", "cond", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matrix_rank", "pinv", "qr",
        "slogdet", "solve", "svd", "svdvals", "tensorinv", "tensorsolve",
    )),
    np.fft: FFT,
}  # fmt: skip

ATTRIBUTES = frozenset(("T", "mT", "real", "imag", "shape", "ndim", "size", "dtype", "itemsize", "nbytes"))
"""Attributes of arrays that are looked up in a piece."""
FRESH_METHODS = frozenset((
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "clip", "compress", "conj", "conjugate",
    "copy", "cumprod", "cumsum", "dot", "flatten", "max", "mean", "min", "nonzero", "prod", "repeat", "round",
    "searchsorted", "std", "sum", "take", "trace", "var", "choose",
))  # fmt: skip
METHODS = FRESH_METHODS | frozenset(("diagonal", "ravel", "reshape", "squeeze", "swapaxes", "transpose", "view"))
"""Methods of arrays that only compute."""
DICT_METHODS = frozenset(("get", "items", "keys", "values"))
UFUNC_METHODS = frozenset(("reduce", "accumulate", "outer", "reduceat"))


def is_pure(function: Any) -> bool:
    """Whether calling an object only computes a result from its arguments."""
    return is_fresh(function) or _numpy_name(function) in VIEWING


def is_fresh(function: Any) -> bool:
    """Whether a call only computes a result, which shares no memory with its arguments."""
    if isinstance(function, np.ufunc):
        return not str(getattr(function, "__module__", "")).startswith("numba")
    if isinstance(function, type):
        return is_scalar_type(function) or issubclass(function, np.dtype) or function in BUILTINS
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return function.__name__ in UFUNC_METHODS
    if isinstance(function, BuiltinFunctionType) and owner is math:
        return True
    if _is_own(function):
        return True
    try:
        return function in BUILTINS or _numpy_name(function) in FRESH or _is_part(function)
    except TypeError:  # it can't be hashed
        return False


def is_run_by_numpy(function: Any) -> bool:
    """Whether NumPy has to run a function, because no op does what it does."""
    name = getattr(function, "__name__", "")
    return any(name in names and getattr(home, name, None) is function for home, names in RUN_BY_NUMPY.items())


def is_users(function: Any) -> bool:
    """Whether this is a plain Python function that belongs neither to NumPy nor to Weft."""
    return isinstance(function, FunctionType) and str(function.__module__).partition(".")[0] not in ("numpy", "weft")


def _numpy_name(function: Any) -> str | None:
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) and vars(np).get(name) is function else None  # asking for np.bytes warns


def _is_part(function: Any) -> bool:
    """Whether this is a function of numpy.linalg or numpy.fft that only computes."""
    name = getattr(function, "__name__", "")
    return any(
        name in names and getattr(home, name, None) is function for home, names in ((np.linalg, LINALG), (np.fft, FFT))
    )


def _is_own(function: Any) -> bool:
    """Whether this is one of Weft's: a kernel, a jitted function, an op, a function of loops."""
    modules = getattr(function, "__module__", None), type(function).__module__
    return any(str(module).partition(".")[0] == "weft" for module in modules)
