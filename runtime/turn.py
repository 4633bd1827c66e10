"""Describe what one call runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.tuples import NamedTuple

if TYPE_CHECKING:
    from .compiler import Lowered
    from .selection.workload import Workload

DEFAULT = "default"
LONG = 50_000_000  # estimated picoseconds from which a call is worth exploring


class Turn(NamedTuple):
    """What a call runs.

    With `load` its time is to be recorded; `is_open` means that the best variant is not settled.
    """

    lowered: Lowered
    variant: str = DEFAULT
    load: Workload | None = None
    is_open: bool = False
