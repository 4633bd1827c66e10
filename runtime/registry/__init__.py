"""Register implementations of ops, and find the best one by op name and dtypes."""

from .registry import Registry
from .resolve import Resolution, Uses

__all__ = ["Registry", "Resolution", "Uses"]
