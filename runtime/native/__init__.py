"""Calls without the interpreter: compiled graphs in, code that Python calls directly out."""
