"""Define the suite `math`: expressions dominated by mathematical functions."""

from __future__ import annotations

from typing import Any

from ..row import Inputs, Row, normal, uniform
from . import loops_choices as loops


def _black_scholes(np: Any) -> Any:
    """Price a call option; the normal distribution is a polynomial, because NumPy has no erf."""

    def price(spot: Any, strike: Any, time: Any) -> Any:
        root = np.sqrt(time)
        d1 = (np.log(spot / strike) + 0.065 * time) / (0.3 * root)
        d2 = d1 - 0.3 * root
        k1 = 1.0 / (1.0 + 0.2316419 * np.abs(d1))
        k2 = 1.0 / (1.0 + 0.2316419 * np.abs(d2))
        p1 = k1 * (0.319381530 + k1 * (-0.356563782 + k1 * (1.781477937 + k1 * (-1.821255978 + k1 * 1.330274429))))
        p2 = k2 * (0.319381530 + k2 * (-0.356563782 + k2 * (1.781477937 + k2 * (-1.821255978 + k2 * 1.330274429))))
        q1 = 1.0 - 0.3989422804014327 * np.exp(-0.5 * d1 * d1) * p1
        q2 = 1.0 - 0.3989422804014327 * np.exp(-0.5 * d2 * d2) * p2
        n1 = np.where(d1 > 0.0, q1, 1.0 - q1)
        n2 = np.where(d2 > 0.0, q2, 1.0 - q2)
        return spot * n1 - strike * np.exp(-0.02 * time) * n2

    return price


def _black_scholes_text() -> str:
    """Write the same for numexpr, which binds no names and finds common subexpressions itself."""
    d1 = "((log(a/b) + 0.065*c)/(0.3*sqrt(c)))"
    d2 = f"({d1} - 0.3*sqrt(c))"

    def distribution(d: str) -> str:
        k = f"(1/(1 + 0.2316419*abs({d})))"
        series = f"{k}*(0.319381530 + {k}*(-0.356563782 + {k}*(1.781477937 + {k}*(-1.821255978 + {k}*1.330274429))))"
        q = f"(1.0 - 0.3989422804014327*exp(-0.5*{d}*{d})*{series})"
        return f"where({d} > 0, {q}, 1 - {q})"

    return f"a*{distribution(d1)} - b*exp(-0.02*c)*{distribution(d2)}"


def _haversine(np: Any) -> Any:
    def distance(lat1: Any, lon1: Any, lat2: Any, lon2: Any) -> Any:
        s = np.sin(0.5 * (lat2 - lat1))
        t = np.sin(0.5 * (lon2 - lon1))
        return 12742.0 * np.arcsin(np.sqrt(s * s + np.cos(lat1) * np.cos(lat2) * t * t))

    return distance


def _options() -> Inputs:
    prices, times = uniform(50, 150, 2), uniform(0.1, 2)
    return lambda rng, n, dtype: (*prices(rng, n, dtype), *times(rng, n, dtype))


ROWS = (
    Row("exp(x)", lambda np: lambda x: np.exp(x), normal(), "exp(a)"),
    Row("log(x)", lambda np: lambda x: np.log(x), uniform(0.1, 20), "log(a)"),
    Row("tanh(x)", lambda np: lambda x: np.tanh(x), normal(), "tanh(a)"),
    Row("sin(a)*cos(b)", lambda np: lambda a, b: np.sin(a) * np.cos(b), uniform(-10, 10, 2), "sin(a)*cos(b)"),
    Row("x**1.5", lambda np: lambda x: x**1.5, uniform(0.1, 20), "a**1.5"),
    Row("arctan2(a, b)", lambda np: lambda a, b: np.arctan2(a, b), normal(2), "arctan2(a, b)"),
    Row("log(1 + exp(x))", lambda np: lambda x: np.log(1.0 + np.exp(x)), normal(), "log(1 + exp(a))"),
    Row("log1p(exp(x))", lambda np: lambda x: np.log1p(np.exp(x)), normal(), "log1p(exp(a))"),
    Row("sigmoid", lambda np: lambda x: 1.0 / (1.0 + np.exp(-x)), normal(), "1/(1 + exp(-a))"),
    Row("x*sigmoid(x)", lambda np: lambda x: x / (1.0 + np.exp(-x)), normal(), "a/(1 + exp(-a))"),
    Row(
        "tanh-gelu",
        lambda np: lambda x: 0.5 * x * (1.0 + np.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))),
        normal(),
        "0.5*a*(1 + tanh(0.7978845608028654*(a + 0.044715*a*a*a)))",
    ),
    Row(
        "x*tanh(log1p(exp(x)))",
        lambda np: lambda x: x * np.tanh(np.log1p(np.exp(x))),
        normal(),
        "a*tanh(log1p(exp(a)))",
    ),
    Row(
        "normal density",
        lambda np: lambda x, mu, s: np.exp(-0.5 * ((x - mu) / s) ** 2) / (s * 2.5066282746310002),
        uniform(0.5, 2, 3),
        "exp(-0.5*((a - b)/c)**2)/(c*2.5066282746310002)",
    ),
    Row(
        "-y*log(p) - (1-y)*log(1-p)",
        lambda np: lambda y, p: -y * np.log(p) - (1.0 - y) * np.log(1.0 - p),
        uniform(0.01, 0.99, 2),
        "-a*log(b) - (1 - a)*log(1 - b)",
    ),
    Row(
        "haversine",
        _haversine,
        uniform(-1.5, 1.5, 4),
        "12742.0*arcsin(sqrt(sin(0.5*(c - a))**2 + cos(a)*cos(c)*sin(0.5*(d - b))**2))",
    ),
    Row("Black-Scholes", _black_scholes, _options(), _black_scholes_text(), loops.black_scholes),
)
