"""Look up `weft.kernels.NAME`: a kernel of the library or of the user.

    weft.kernels.softmax(x)

The library's files are in this folder, and their NumPy equivalents in `references`. A kernel is loaded when it is first
used; `dir(weft.kernels)` lists all of them.
"""

from __future__ import annotations

from typing import Any

from ..loading.named_kernels import kernels as _kernels


def __getattr__(name: str) -> Any:
    found = globals()[name] = getattr(_kernels, name)
    return found


def __dir__() -> list[str]:
    return dir(_kernels)
