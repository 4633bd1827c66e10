"""PyTorch under NumPy's names, as far as the rows use them; a module, which `torch.compile` takes as a constant."""

from __future__ import annotations

import importlib
from typing import Any

torch: Any = importlib.import_module("torch")

float32, int32, uint8 = torch.float32, torch.int32, torch.uint8
abs, arcsin, arctan2, cos, exp, log, log1p = (
    torch.abs, torch.asin, torch.atan2, torch.cos, torch.exp, torch.log, torch.log1p
)  # fmt: skip
clip, roll, sin, sqrt, tanh, where = torch.clip, torch.roll, torch.sin, torch.sqrt, torch.tanh, torch.where
any, all = torch.any, torch.all


def astype(x: Any, dtype: Any) -> Any:
    return x.to(dtype)


def maximum(x: Any, least: float) -> Any:
    return torch.clamp(x, min=least)


def sum(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    return torch.sum(x) if axis is None else torch.sum(x, dim=axis, keepdim=keepdims)


def mean(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    return torch.mean(x) if axis is None else torch.mean(x, dim=axis, keepdim=keepdims)


def max(x: Any, axis: int | None = None, keepdims: bool = False) -> Any:
    return torch.amax(x) if axis is None else torch.amax(x, dim=axis, keepdim=keepdims)


def var(x: Any, axis: int | None = None) -> Any:
    return torch.var(x, dim=axis, correction=0)


def std(x: Any, axis: int | None = None) -> Any:
    return torch.std(x, dim=axis, correction=0)


def argmax(x: Any, axis: int | None = None) -> Any:
    return torch.argmax(x, dim=axis)


def cumsum(x: Any, axis: int = 0) -> Any:
    return torch.cumsum(x, dim=axis)


def flip(x: Any) -> Any:
    return torch.flip(x, (0,))
