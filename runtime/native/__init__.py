"""Serve calls of compiled graphs natively, without the interpreter."""
