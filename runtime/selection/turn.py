"""What one call runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.tuples import NamedTuple

if TYPE_CHECKING:
    from ..compiler import Lowered
    from .workload import Workload

DEFAULT = "default"


class Turn(NamedTuple):
    """What a call runs. If `load` is given its time is wanted; `is_open` where it is not settled what is best."""

    lowered: Lowered
    variant: str = DEFAULT
    load: Workload | None = None
    is_open: bool = False
