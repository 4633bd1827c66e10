"""State the limits on kernel text that nobody sets; the others are in `ir/limits.py`. Each is a `LimitExceeded`."""

from __future__ import annotations

MAX_SYNTAX = 200_000
"""Parts of a program in one file: names, numbers, operators, statements."""

MAX_INLINE = 200
"""Depth of one kernel's expressions once every function that it calls stands in its place."""

MAX_FILES = 64
"""Files that one file may import, directly and through others."""
