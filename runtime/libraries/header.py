"""Find the folder with the C header of extern kernels."""

from __future__ import annotations

import os


def include_dir() -> str:
    """Return the folder of `weft_kernel.h`, which C kernels include.

    cc -shared -fPIC -I"$(python -c 'import weft; print(weft.include_dir())')" kernel.c -o libkernel.so
    """
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
