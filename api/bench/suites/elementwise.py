"""Define the suite `elementwise`: arithmetic and choices over contiguous arrays of one dtype."""

from __future__ import annotations

from ..row import Row, normal, uniform
from . import loops_choices as loops

ROWS = (
    Row("a + b", lambda np: lambda a, b: a + b, normal(2), "a + b", streams=True),
    Row("2.5*a + b", lambda np: lambda a, b: 2.5 * a + b, normal(2), "2.5*a + b", streams=True),
    Row("a*b + c*a - b", lambda np: lambda a, b, c: a * b + c * a - b, normal(3), "a*b + c*a - b", streams=True),
    Row("a + c*(b - a)", lambda np: lambda a, b, c: a + c * (b - a), uniform(0, 1, 3), "a + c*(b - a)", streams=True),
    Row(
        "polynomial of degree 5",
        lambda np: lambda x: ((((0.1 * x - 0.2) * x + 0.3) * x - 0.4) * x + 0.5) * x - 0.6,
        normal(),
        "((((0.1*a - 0.2)*a + 0.3)*a - 0.4)*a + 0.5)*a - 0.6",
        streams=True,
    ),
    Row("maximum(x, 0)", lambda np: lambda x: np.maximum(x, 0.0), normal(), "where(a > 0.0, a, 0.0)", streams=True),
    Row(
        "where(x > 0, x, 0.01*x)",
        lambda np: lambda x: np.where(x > 0.0, x, 0.01 * x),
        normal(),
        "where(a > 0.0, a, 0.01*a)",
        loops.leaky,
        streams=True,
    ),
    Row(
        "clip(x, -1, 1)",
        lambda np: lambda x: np.clip(x, -1.0, 1.0),
        normal(),
        "where(a < -1.0, -1.0, where(a > 1.0, 1.0, a))",
        streams=True,
    ),
    Row("x / (1 + abs(x))", lambda np: lambda x: x / (1.0 + np.abs(x)), normal(), "a/(1 + abs(a))", streams=True),
    Row("sqrt(a*a + b*b)", lambda np: lambda a, b: np.sqrt(a * a + b * b), normal(2), "sqrt(a*a + b*b)", streams=True),
    Row(
        "distance of points in space",
        lambda np: lambda a, b, c, d, e, f: np.sqrt((a - d) ** 2 + (b - e) ** 2 + (c - f) ** 2),
        normal(6),
        "sqrt((a - d)**2 + (b - e)**2 + (c - f)**2)",
        streams=True,
    ),
    Row(
        "where((a > 0) & (b < 0.5), a, b)",
        lambda np: lambda a, b: np.where((a > 0.0) & (b < 0.5), a, b),
        normal(2),
        "where((a > 0) & (b < 0.5), a, b)",
        loops.one_or_other,
        streams=True,
    ),
    Row("(a > b) & (a < 1)", lambda np: lambda a, b: (a > b) & (a < 1.0), normal(2), "(a > b) & (a < 1)"),
)
