"""Emit reductions and scans: accumulators, extremes and positions."""
