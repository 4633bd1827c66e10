"""Define the suite `reductions`: whole arrays, columns or rows to one number each, and running sums."""

from __future__ import annotations

from ..row import Row, matrices, normal, uniform
from . import loops

ROWS = (
    Row("sum(x)", lambda np: lambda x: np.sum(x), uniform(0, 1), "sum(a)", loops.total, streams=True),
    Row("mean(x)", lambda np: lambda x: np.mean(x), uniform(0, 1), loops=loops.mean, streams=True),
    Row("sum(a*b)", lambda np: lambda a, b: np.sum(a * b), uniform(0, 1, 2), "sum(a*b)", loops.dot, streams=True),
    Row(
        "mean((a - b)**2)",
        lambda np: lambda a, b: np.mean((a - b) ** 2),
        normal(2),
        loops=loops.mean_square,
        streams=True,
    ),
    Row("max(x)", lambda np: lambda x: np.max(x), normal(), "max(a)", loops.largest, streams=True),
    Row("max(abs(x))", lambda np: lambda x: np.max(np.abs(x)), normal(), "max(abs(a))", streams=True),
    Row("argmax(x)", lambda np: lambda x: np.argmax(x), normal(), streams=True),
    Row("var(x)", lambda np: lambda x: np.var(x), normal()),
    Row("std(x)", lambda np: lambda x: np.std(x), normal()),
    Row("sqrt(sum(x*x))", lambda np: lambda x: np.sqrt(np.sum(x * x)), normal(), loops=loops.norm, streams=True),
    Row("log(sum(exp(x - max(x)))) + max(x)", loops.logsumexp_arrays, normal(), loops=loops.logsumexp),
    Row("any(x > 100)", lambda np: lambda x: np.any(x > 100.0), normal(), loops=loops.any_above, streams=True),
    Row("all(x < 100)", lambda np: lambda x: np.all(x < 100.0), normal(), loops=loops.all_below, streams=True),
    Row("sum(x > 0)", lambda np: lambda x: np.sum(x > 0.0), normal(), loops=loops.count, streams=True),
    Row("sum(x, axis=0)", lambda np: lambda x: np.sum(x, axis=0), matrices(), "sum(a, axis=0)", loops.sum_columns),
    Row("sum(x, axis=1)", lambda np: lambda x: np.sum(x, axis=1), matrices(), "sum(a, axis=1)", loops.sum_rows),
    Row("sum(x*x, axis=0)", lambda np: lambda x: np.sum(x * x, axis=0), matrices(), "sum(a*a, axis=0)", loops.squares),
    Row("mean(x, axis=1)", lambda np: lambda x: np.mean(x, axis=1), matrices(), loops=loops.mean_rows),
    Row("max(x, axis=0)", lambda np: lambda x: np.max(x, axis=0), matrices(), "max(a, axis=0)", loops.max_columns),
    Row("var(x, axis=0)", lambda np: lambda x: np.var(x, axis=0), matrices(), loops=loops.var_columns),
    Row("std(x, axis=1)", lambda np: lambda x: np.std(x, axis=1), matrices(), loops=loops.std_rows),
    Row("argmax(x, axis=1)", lambda np: lambda x: np.argmax(x, axis=1), matrices(), loops=loops.argmax_rows),
    Row("cumsum(x)", lambda np: lambda x: np.cumsum(x), uniform(0, 1), loops=loops.cumsum),
    Row("cumsum(x, axis=1)", lambda np: lambda x: np.cumsum(x, axis=1), matrices(), loops=loops.cumsum_rows),
)
