"""Emit the elements of values: operations, gathers, and programs of elements."""
