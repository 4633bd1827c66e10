"""Emit the loops of regions, one class for each form."""
