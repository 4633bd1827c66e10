"""Measure how far mathematical functions are from the true values: `make accuracy` writes docs/accuracy.md."""
