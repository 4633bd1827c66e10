"""Trace Python functions and expressions: tracers, captures, and calls that fall back to NumPy."""
