"""Find the folder with the C header of extern kernels."""

from __future__ import annotations

import os


def include_dir() -> str:
    """The folder of `weft_kernel.h`, for the compiler's `-I`."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
