"""Normalisations and losses along the last axis, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def log_softmax(x: Any) -> Any:
    shifted = x - x.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def logsumexp(x: Any) -> Any:
    largest = x.max(axis=-1, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0)
    return shift[..., 0] + np.log(np.exp(x - shift).sum(axis=-1))


def layernorm(x: Any, weight: Any, bias: Any, eps: Any = 1e-5) -> Any:
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + eps) * weight + bias


def rmsnorm(x: Any, weight: Any, eps: Any = 1e-6) -> Any:
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps) * weight


def cross_entropy(logits: Any, labels: Any) -> Any:
    chosen = np.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    return np.mean(logsumexp(logits) - chosen)
