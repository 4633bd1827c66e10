"""How much kernel text may ask for. Each limit is a `LimitExceeded` of its own, raised before the work is done."""

from __future__ import annotations

MAX_TEXT = 1_000_000
"""Characters in one file."""

MAX_DEPTH = 100
"""Brackets, blocks and operators inside one another; a chain such as `a + b + c` counts once."""

MAX_SYNTAX = 200_000
"""Parts of a program in one file: names, numbers, operators, statements."""

MAX_INLINE = 200
"""Depth of one kernel's expressions once every function that it calls stands in its place."""

MAX_FILES = 64
"""Files that one file may import, directly and through others."""
