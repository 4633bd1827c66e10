"""Emit mathematical functions as vector code, one module per family."""
