"""Define the pipeline: one tuple of passes, read from top to bottom."""

from __future__ import annotations

from ..ir.kernels import KernelLookup
from ..ir.records import replace
from .canonicalize import Canonicalize
from .choose_forms import ChooseForms
from .drop_dead import DropDead
from .fuse import Fuse
from .lower_reductions import LowerReductions
from .manager import Pass
from .merge_duplicates import MergeDuplicates
from .planning.size_classes import LARGE
from .promote_dtypes import PromoteDtypes
from .schedule import Schedule
from .select_kernels import SelectKernels
from .split_complex import SplitComplex
from .split_pieces import SplitPieces
from .to_nest import ToNest
from .widen_halves import WidenHalves


def form_passes(chosen: Pass) -> tuple[Pass, ...]:
    """The passes that run again for other sizes: `choose-forms` with these sizes, and what follows it."""
    return (chosen, ToNest())


def pipeline(
    lookup: KernelLookup,
    vector_bytes: int,
    variant: tuple[tuple[str, int], ...] = (),
    sizes: str = "",
    cache: int = LARGE,
    core_cache: int = 0,
) -> tuple[Pass, ...]:
    """All passes, for a source of kernels and a machine's vector size.

    A variant sets options of `schedule`; `sizes` are those of a call (`m=8,n=4096`), for which forms are chosen, and
    `cache` is the part of the last-level cache that a call can count on. `core_cache` is a core's own, 0 if unknown.
    """
    return (
        PromoteDtypes(),
        Canonicalize(lookup),
        MergeDuplicates(),
        DropDead(),
        SelectKernels(lookup),
        SplitComplex(),
        WidenHalves(),
        SplitPieces(),
        Fuse(),
        LowerReductions(),
        replace(Schedule(vector_bytes, core_cache=core_cache), **dict(variant)),
        ChooseForms(sizes, cache=cache),
        ToNest(),
    )
