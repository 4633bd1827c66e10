"""Evaluate numexpr's expressions with Weft: the functions of the `numexpr` package under the same names.

    import weft.numexpr as ne

    a, b = np.arange(1e6), np.arange(1e6)
    ne.evaluate("2*a + 3*b")

`install()` makes `import numexpr` give this module, so that pandas and others use it too.
"""

from __future__ import annotations

import sys

from . import expressions, necompiler, utils
from .expressions import E
from .necompiler import NumExpr, disassemble, evaluate, re_evaluate, validate
from .utils import (
    MAX_THREADS,
    _init_num_threads,
    detect_number_of_cores,
    detect_number_of_threads,
    get_num_threads,
    get_vml_version,
    set_num_threads,
    set_vml_accuracy_mode,
    set_vml_num_threads,
    use_vml,
)

__all__ = [
    "MAX_THREADS",
    "E",
    "NumExpr",
    "__version__",
    "detect_number_of_cores",
    "detect_number_of_threads",
    "disassemble",
    "evaluate",
    "expressions",
    "get_num_threads",
    "get_vml_version",
    "install",
    "ncores",
    "necompiler",
    "nthreads",
    "print_versions",
    "re_evaluate",
    "set_num_threads",
    "set_vml_accuracy_mode",
    "set_vml_num_threads",
    "use_vml",
    "utils",
    "validate",
]  # fmt: skip

__version__ = "2.14.2"
"""The version of numexpr whose behaviour this module has; pandas asks for it."""

ncores = detect_number_of_cores()
nthreads = _init_num_threads()


def print_versions() -> None:
    """Print the version of numexpr that this module stands for, and what it runs on."""
    import numpy as np

    from .. import __version__ as version

    print(f"numexpr: {__version__}, by Weft {version}\nNumPy: {np.__version__}\nPython: {sys.version}")
    print(f"threads: {nthreads} of {ncores} cores, at most {MAX_THREADS}")


def install() -> None:
    """Make `import numexpr` give this module in this process. Call it before pandas evaluates anything."""
    for name, module in (("", sys.modules[__name__]), (".expressions", expressions), (".necompiler", necompiler),
                         (".utils", utils)):  # fmt: skip
        sys.modules["numexpr" + name] = module
