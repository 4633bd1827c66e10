"""Define the pipeline of nests: from what a front end writes to what a backend translates."""

from __future__ import annotations

from ..ir.kernels import KernelLookup
from .forward_stores import ForwardStores
from .fuse_loops import FuseLoops
from .interchange_loops import InterchangeLoops
from .jam_loops import JamLoops
from .lower_assigns import LowerAssigns
from .manager import Pass
from .place_asks import PlaceAsks
from .share_functions import ShareFunctions
from .turn_walks import TurnWalks
from .unroll_loops import UnrollLoops
from .widen_loops import WidenLoops


def nest_pipeline(lookup: KernelLookup, vector_bytes: int) -> tuple[Pass, ...]:
    """All passes, for a source of kernels and a machine's vector size."""
    return (
        LowerAssigns(lookup, vector_bytes), FuseLoops(), ForwardStores(), InterchangeLoops(), TurnWalks(), WidenLoops(),
        JamLoops(), UnrollLoops(), PlaceAsks(), ShareFunctions(),
    )  # fmt: skip
