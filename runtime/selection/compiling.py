"""Compile variants of a graph, in a background thread or at once for a calibration."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from ...ir.errors import WeftError
from ...ir.records import replace
from ...ir.support import float_environment

if TYPE_CHECKING:
    from ...ir.kernels import KernelLookup
    from ..compiler import Lowered, Options, Variant
    from ..registry import Registry
    from .plan import VariantPlan


def compile_variants(
    plan: VariantPlan,
    variants: Mapping[str, Variant],
    lookup: KernelLookup,
    turns: threading.Semaphore,
) -> None:
    """Add the variants that compile to the plan; stop when the program ends."""
    with turns:
        for name, variant in variants.items():
            if not threading.main_thread().is_alive():
                return
            try:
                plan.made.setdefault(name, compiled(plan, variant, lookup))
            except WeftError:  # this machine can't run the variant
                continue
    plan.relink()


def compiled(plan: VariantPlan, variant: Variant, lookup: KernelLookup) -> Lowered:
    """Compile the graph with another schedule or other implementations."""
    from ..disk.finding import find_variant

    options = replace(plan.base.options, variant=variant)
    with float_environment.usual():
        made = find_variant(plan.base, options, cast("Registry", lookup), lambda: _made(plan, options, lookup))
    made = replace(made, uses=plan.base.uses)
    made.loaded.plan = plan
    assert made.launcher
    return made


def _made(plan: VariantPlan, options: Options, lookup: KernelLookup) -> Lowered:
    from ...passes.manager import PipelineOptions, run_pipeline
    from ..compiler import Lowered, passes_for

    base = plan.base
    if options.implementations:
        source = cast("Registry", lookup).selecting(plan.env, options, len(base.built.calls))
        passes = passes_for(source, options, plan.env)
        result = run_pipeline(base.result.after("input"), passes, PipelineOptions(options.verify))
        return _in_forms(base, Lowered(base.built, result, options, base.orders, base.scalars, base.any_order))
    passes = passes_for(lookup, options, plan.env)
    # Keep the call's own choices: the registry may have changed since, and does not know the sizes.
    chosen = next(k for k, step in enumerate(passes) if step.name == "select-kernels")
    result = run_pipeline(base.result.after("select-kernels"), passes[chosen + 1 :], PipelineOptions(options.verify))
    return _in_forms(base, Lowered(base.built, result, options, base.orders, base.scalars, base.any_order))


def _in_forms(base: Lowered, made: Lowered) -> Lowered:
    """Compile for all sizes of the base: in the same forms, or in one form for all sizes if their guards differ."""
    return made if set(made.guards) <= set(base.guards) else made.for_sizes({})
