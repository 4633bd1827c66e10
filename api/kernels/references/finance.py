"""The price of options, in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .activations import erfc


def _normal_cdf(x: Any) -> Any:
    return 0.5 * erfc(-math.sqrt(0.5) * x).astype(x.dtype)


def black_scholes(spot: Any, strike: Any, years: Any, rate: Any, volatility: Any) -> Any:
    spread = volatility * np.sqrt(years)
    gain = np.log(spot / strike) + (rate + 0.5 * volatility**2) * years
    d1 = np.where(gain == 0, 0, gain / spread)
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * _normal_cdf(d1) - discounted * _normal_cdf(d2)
    return call, discounted * _normal_cdf(-d2) - spot * _normal_cdf(-d1)
