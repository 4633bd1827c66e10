"""Define the kernels of the `.weft` examples as a NumPy user would write them."""

from __future__ import annotations

from typing import Any

import numpy as np

EPSILON = 1e-5


# -- elementwise.weft


def blend(a: Any, b: Any, c: Any) -> Any:
    return a * b + c * a - b


def axpy(a: Any, x: Any, y: Any) -> Any:
    return a * x + y


def haversine(lat1: Any, lon1: Any, lat2: Any, lon2: Any, radius: float) -> Any:
    dlat, dlon = np.sin(0.5 * (lat2 - lat1)), np.sin(0.5 * (lon2 - lon1))
    return 2 * radius * np.sqrt(dlat**2 + np.cos(lat1) * np.cos(lat2) * dlon**2)


def damped_wave(t: Any, rate: float, frequency: float) -> Any:
    return np.exp(-rate * t) * np.cos(2 * np.pi * frequency * t)


def polar(x: Any, y: Any) -> Any:
    r = np.sqrt(x * x + y * y)
    return r, x / r


# -- finance.weft


def _normal_cdf(x: Any) -> Any:
    t = 1 / (1 + 0.2316419 * np.abs(x))
    p = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * p
    return np.where(x >= 0, 1 - tail, tail)


def black_scholes(spot: Any, strike: Any, years: Any, rate: float, sigma: float) -> Any:
    spread = sigma * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * years) / spread
    d2 = d1 - spread
    discounted = strike * np.exp(-rate * years)
    call = spot * _normal_cdf(d1) - discounted * _normal_cdf(d2)
    return call, discounted * _normal_cdf(-d2) - spot * _normal_cdf(-d1)


def compound(start: Any, rate: Any) -> Any:
    return start * np.prod(1 + rate, axis=1)


# -- images.weft


def luminance(rgb: Any) -> Any:
    return 0.2126 * rgb[:, :, 0] + 0.7152 * rgb[:, :, 1] + 0.0722 * rgb[:, :, 2]


def blur(x: Any) -> Any:
    rows = x[:-2] + x[1:-1] + x[2:]
    return (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 9


def turn(x: Any) -> Any:
    return x.T[:, ::-1].copy()


def halve(x: Any) -> Any:
    return x.mean(axis=(1, 3))


# -- layers.weft


def bias_gelu(x: Any, b: Any) -> Any:
    x = x + b
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))))


def swish(x: Any) -> Any:
    return x * (1 / (1 + np.exp(-x)))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def logsumexp(x: Any) -> Any:
    top = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=-1)) + top[:, 0]


def layernorm(x: Any, gain: Any, bias: Any) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + EPSILON) * gain + bias


def rmsnorm(x: Any, gain: Any) -> Any:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + EPSILON) * gain


def residual_relu(x: Any, y: Any, b: Any) -> Any:
    return np.maximum(x + (y + b), 0)


# -- logic.weft


def clamped(x: Any, low: float, high: float) -> Any:
    return np.clip(x, low, high)


def quantise(x: Any, step: float) -> Any:
    return np.clip(np.rint(x / np.float32(step)), -128, 127).astype(np.int32)


def mixed_bits(x: Any) -> Any:
    h = (x ^ (x >> 16)) * np.int32(73244475)
    return (h ^ (h >> 15)) & 2147483647


def outliers(x: Any, limit: float) -> Any:
    far = np.abs(x - x.mean(axis=1, keepdims=True)) > limit
    return far.any(axis=1), far.sum()


def leap(year: Any) -> Any:
    return (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))


# -- pairs.weft


def outer_sum(a: Any, b: Any) -> Any:
    return a[:, None] + b


def squared_distances(p: Any, q: Any) -> Any:
    d = p[:, None, :] - q[None, :, :]
    return (d * d).sum(axis=-1)


def gaussian_kernel(p: Any, q: Any, width: float) -> Any:
    return np.exp(-squared_distances(p, q) / (2 * width * width))


# -- statistics.weft


def moments(x: Any) -> Any:
    mu = x.mean()
    return mu, ((x - mu) ** 2).mean()


def standardise(x: Any) -> Any:
    return (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)


def unit_range(x: Any) -> Any:
    low = x.min(axis=1, keepdims=True)
    span = x.max(axis=1, keepdims=True) - low
    return np.where(span > 0, (x - low) / span, 0)


def column_means(x: Any) -> Any:
    return x.sum(axis=0) / len(x)


def correlation(x: Any, y: Any) -> Any:
    dx, dy = x - x.mean(), y - y.mean()
    return (dx * dy).sum() / np.sqrt((dx * dx).sum() * (dy * dy).sum())
