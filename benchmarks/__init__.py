"""Measure time (`basics.py` and others) and accuracy (`accuracy/`)."""
