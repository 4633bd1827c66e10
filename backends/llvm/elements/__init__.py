"""Emit the elements of values: operations, gathers, and elementwise programs."""
