"""The pipeline: one tuple, read from top to bottom."""

from __future__ import annotations

from .canonicalize import Canonicalize
from .drop_dead import DropDead
from .fuse import Fuse
from .lower_reductions import LowerReductions
from .manager import Pass
from .merge_duplicates import MergeDuplicates
from .promote_dtypes import PromoteDtypes
from .schedule import Schedule

PIPELINE: tuple[Pass, ...] = (
    PromoteDtypes(),
    Canonicalize(),
    MergeDuplicates(),
    DropDead(),
    Fuse(),
    LowerReductions(),
    Schedule(),
)
