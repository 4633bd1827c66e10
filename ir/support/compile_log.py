"""Log what is compiled, to the logger `weft.compile`.

`WEFT_LOG=compile` shows it on stderr. A program that configures `logging` itself needs no variable. Otherwise `logging`
is not imported: that takes longer than starting from the cache.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

NAME = "weft.compile"


def log_compile(name: str, what: str, seconds: Mapping[str, float]) -> None:
    """Log that something was compiled, and where the time went."""
    logger = _asked() or _configured()
    if logger is not None:
        parts = ", ".join(f"{step} {1000 * s:.1f} ms" for step, s in seconds.items())
        logger.info("%s: %s in %.1f ms (%s)", name, what, 1000 * sum(seconds.values()), parts)


@cache
def _asked() -> Any:
    """Return the logger if `WEFT_LOG` asks for it, with a handler if the program has none."""
    if "compile" not in os.environ.get("WEFT_LOG", "").replace(",", " ").split():
        return None
    import logging

    logger = logging.getLogger(NAME)
    logger.setLevel(logging.INFO)
    if not logger.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
        logger.addHandler(handler)
    return logger


def _configured() -> Any:
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return None
    logger = logging.getLogger(NAME)
    return logger if logger.isEnabledFor(logging.INFO) else None
