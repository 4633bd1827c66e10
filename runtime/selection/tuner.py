"""Choose the variant that each call runs, and record measured times.

Recorded times are used at once. Beyond that, short calls are not explored. A graph with long calls gets its variants
compiled in the background; then a share of its calls tries them one after another, except those expected to take twice
the time of the best known one. Once enough is measured the choice is made, and it costs nothing from then on.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING
from weakref import WeakSet

from ...ir import dims
from ...ir.ops import LOOP
from ...ir.support.forking import lock
from ..deferred import LONG, Turn
from .candidates import candidates_of, tells_in_calls, variants_of, work_of, workload_of
from .choosing import Selection, choose, keeping
from .compiling import compile_variants
from .history import History
from .knowledge import Knowledge
from .plan import VariantPlan
from .settings import Settings
from .workload import Workload

if TYPE_CHECKING:
    from ...ir.kernels import KernelLookup
    from ..compiler import Lowered, Variant
    from ..native.dispatch import Chain

FIRST = 16  # calls of one size class before its variants are compiled
SAMPLES, MOST_SAMPLES = 4, 16  # samples of each variant before a choice is made, and if the choice is not clear
TOO_SLOW = 2.0
NEVER = 1 << 62  # native calls
SOON = 0.02  # seconds until variants are compiled, so that the call that triggers it has ended


class Tuner:
    """Choose variants for all kernels that share this tuner."""

    def __init__(self, history: History, settings: Settings) -> None:
        self.history, self.settings = history, settings
        self.plans: WeakSet[VariantPlan] = WeakSet()  # graphs that are still alive
        self._lock = lock()
        self._compiling = threading.Semaphore(settings.at_once)
        os.register_at_fork(after_in_child=self._forget_compilers)

    def _forget_compilers(self) -> None:
        """Reset the state in a forked child, which has none of the compiling threads."""
        self._compiling = threading.Semaphore(self.settings.at_once)

    def configure(self, settings: Settings) -> None:
        """Use new settings from now on."""
        with self._lock:
            self.settings = settings
            self.history.half_life = settings.half_life
            self._compiling = threading.Semaphore(settings.at_once)

    # -- calls

    def turn(self, lowered: Lowered, env: Mapping[str, int], lookup: KernelLookup, is_sample: bool) -> Turn:
        """Choose what this call runs.

        `is_sample` means that native entries serve most calls, and this is one of the few.
        """
        plan = lowered.loaded.plan or self._new_plan(lowered, env, lookup)
        if plan is None:
            return Turn(lowered)
        size = dims.evaluate(plan.size, env)
        chosen = Turn(plan.at(size), plan.name_at(size))
        load = workload_of(plan.base, env)
        explore = self.settings.explore
        if load.bucket in plan.choices or not explore or work_of(plan.base, load) < LONG:
            return chosen
        chosen = chosen._replace(is_open=True)
        with plan.lock:
            calls = plan.served[load.bucket] = plan.served.get(load.bucket, 0) + 1
            if calls == FIRST:
                self.prepare(plan, load, lookup)
        if calls <= FIRST or (not is_sample and calls % max(1, round(1 / explore))):
            return chosen
        name = min(self._worth_trying(plan, load), key=lambda n: self._samples(load, n))
        return Turn(plan.made[name], name, load, True)

    def took(self, turn: Turn, seconds: float) -> None:
        """Record the time of a trial call."""
        plan = turn.lowered.loaded.plan
        if turn.load is None or plan is None:
            return
        self.history.add(turn.load, turn.variant, seconds)
        samples = [self._samples(turn.load, name) for name in self._worth_trying(plan, turn.load)]
        if min(samples) >= SAMPLES:
            self.decide(plan, turn.load, is_final=min(samples) >= MOST_SAMPLES)

    def ask_again(self, chain: Chain, turn: Turn) -> None:
        """Set how many native calls pass before the next one comes here: few during trials, more and more later."""
        if turn.lowered.loaded.plan is not None:
            turn.lowered.loaded.plan.follow(chain)
        if not self.settings.explore:  # entries made while it was not 0 have a limit
            chain.limit(turn.lowered, NEVER)
        elif turn.is_open:
            chain.limit(turn.lowered, round(1 / self.settings.explore))
        else:
            chain.limit_long(turn.lowered)

    def _new_plan(self, lowered: Lowered, env: Mapping[str, int], lookup: KernelLookup) -> VariantPlan | None:
        """Make a plan if there is a basis for a choice: a history, or long calls."""
        if not lowered.kernels or lowered.fallbacks:  # the sizes of NumPy's results are known only after it has run
            return None
        if any(n.op is LOOP for n in lowered.graph):  # its time depends on values, not on sizes
            return None
        load = workload_of(lowered, env)
        is_known = load.family in self.history.families()
        if not is_known and (not self.settings.explore or work_of(lowered, load) < LONG):
            return None
        plan = self.plan(lowered, env)
        if is_known:
            self.recall(plan, load)
            wanted = {name for _, _, name in plan.ranges()}
            self._compile(plan, {n: v for n, v in variants_of(lowered, load).items() if n in wanted}, lookup)
        return plan

    def plan(self, lowered: Lowered, env: Mapping[str, int]) -> VariantPlan:
        """Return the plan of a graph."""
        with self._lock:
            if lowered.loaded.plan is None:
                lowered.loaded.plan = VariantPlan(lowered, env)
                self.plans.add(lowered.loaded.plan)
            return lowered.loaded.plan

    def _worth_trying(self, plan: VariantPlan, load: Workload) -> list[str]:
        """Return the compiled variants that a call can try, except those expected to take twice the best known time."""
        tried = {n for n, v in variants_of(plan.base, load).items() if tells_in_calls(v) and n in plan.made}
        expected = {c.variant: c.expected for c in candidates_of(plan.base, load) if c.variant in tried}
        known = {n: r.typical for n in expected if (r := self.history.find(load, n))}
        limit = TOO_SLOW * min(known.values(), default=math.inf)
        return [n for n, seconds in expected.items() if known.get(n, seconds) <= limit]

    def _samples(self, load: Workload, variant: str) -> float:
        record = self.history.find(load, variant)
        return record.weight if record else 0.0

    # -- choices

    def decide(self, plan: VariantPlan, load: Workload, is_final: bool) -> Selection | None:
        """Choose for a size class, if the choice is sure enough or required."""
        current = plan.name_at(load.size)
        tried = [name for name in variants_of(plan.base, load) if self.history.find(load, name)]
        if len(tried) < 2:
            return None
        settled = plan.choices.get(load.bucket)
        found = self._choice(plan, load, tried, settled and settled.variant)
        sure = found.confidence >= self.settings.confidence
        if not sure and not is_final:
            return None
        if not sure and found.variant != current:
            found = keeping(found, current)
        plan.choose({load.bucket: found})
        self.history.save()
        return found

    def recall(self, plan: VariantPlan, load: Workload) -> None:
        """Choose for every size class with records of several variants."""
        found: dict[int, Selection] = {}
        for record in self.history:
            other = record.workload
            if other.family != load.family or other.threads != load.threads or other.bucket in found:
                continue
            tried = [n for n in variants_of(plan.base, other) if self.history.find(other, n)]
            if len(tried) > 1:
                found[other.bucket] = self._choice(plan, other, tried, None)
        if found:
            plan.choose(found)

    def _choice(self, plan: VariantPlan, load: Workload, names: list[str], current: str | None) -> Selection:
        s = self.settings
        candidates = [c for c in candidates_of(plan.base, load) if c.variant in names]
        return choose(load, candidates, Knowledge(self.history), s.selector, s.weights, current, s.most_error)

    # -- variants

    def prepare(self, plan: VariantPlan, load: Workload, lookup: KernelLookup) -> None:
        """Compile the variants for such calls in the background."""
        found = variants_of(plan.base, load)
        self._compile(plan, {name: v for name, v in found.items() if tells_in_calls(v)}, lookup)

    def make(self, plan: VariantPlan, load: Workload, names: Collection[str], lookup: KernelLookup) -> None:
        """Compile variants now."""
        wanted = {n: v for n, v in variants_of(plan.base, load).items() if n in names and n not in plan.made}
        compile_variants(plan, wanted, lookup, self._compiling)

    def _compile(self, plan: VariantPlan, variants: Mapping[str, Variant], lookup: KernelLookup) -> None:
        missing = {name: v for name, v in variants.items() if name not in plan.made}
        if missing:
            assert plan.base.launcher  # the graph itself first: its variants would keep LLVM from the waiting call
            args = (plan, missing, lookup, self._compiling)
            later = threading.Timer(SOON, compile_variants, args)
            later.name = "weft variants"
            later.start()
