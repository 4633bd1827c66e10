"""Implementations of ops by name and dtypes: what users register, what is bundled, and which one is chosen."""

from .registry import Registry
from .resolve import Resolution, Uses

__all__ = ["Registry", "Resolution", "Uses"]
