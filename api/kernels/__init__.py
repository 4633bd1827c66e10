"""Look up `weft.kernels.NAME`: a kernel of the library or of the user's own.

The library's files stand beside this one, what their kernels mean in NumPy in `references`. Nothing is read before it
is named; `dir(weft.kernels)` lists what there is.
"""

from __future__ import annotations

from typing import Any

from ..named_kernels import kernels as _kernels


def __getattr__(name: str) -> Any:
    found = globals()[name] = getattr(_kernels, name)
    return found


def __dir__() -> list[str]:
    return dir(_kernels)
