"""Trace Python functions and expressions: tracers, captures, what NumPy runs in between."""
