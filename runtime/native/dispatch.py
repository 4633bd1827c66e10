"""Keep the recipes of one callable: the newest is tried first, and a call that fits none of them goes to Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

from ...ir.support.forking import lock
from .call import NativeCall
from .callables import is_native, set_recipe
from .recipe import Recipe
from .steps import NEVER

if TYPE_CHECKING:
    from ..compiler import Lowered

MAX_RECIPES = 32
FEW_FAILURES = 8
FEWEST = 64  # native calls after which Python is asked again, at least
ASKS_AFTER = 50_000_000  # estimated picoseconds of a call that Python wants to know of
_retired: list[Served] = []  # recipes, with their code, that were dropped while a call was inside


_linked: WeakKeyDictionary[Chain, ref[Any]] = WeakKeyDictionary()  # with the callables whose recipes they hold
_pauses: list[None] = []  # one for each profile that runs


@contextmanager
def paused() -> Iterator[None]:
    """Let Python serve all calls: drop the recipes, and make no new ones."""
    _pauses.append(None)
    try:
        for chain, instance in list(_linked.items()):
            if (found := instance()) is not None:
                chain.clear(found)
        yield
    finally:
        _pauses.pop()


def is_paused() -> bool:
    """Tell whether no recipes are made now."""
    return bool(_pauses)


class Served:
    """A recipe, and what it was made for."""

    def __init__(self, lowered: Any, kind: Any, recipe: Recipe) -> None:
        self.lowered, self.kind, self.recipe = lowered, kind, recipe
        self._failures = self._blamed = 0

    def blame(self, is_to_blame: bool) -> None:
        """Count a call that Python has served after functions were called in vain."""
        before, self._failures = self._failures, self.recipe.failures
        self._blamed += is_to_blame and self._failures > before

    @property
    def misleads(self) -> bool:
        """Whether Python often has to serve calls although functions were already called for them."""
        return self._blamed > max(FEW_FAILURES, self.recipe["calls"] // 4)


class Chain:
    """The recipes of a callable, the newest first."""

    def __init__(self) -> None:
        self._served: tuple[Served, ...] = ()
        self._lock = lock()
        self._dropped_calls = self._dropped_forwarded = 0
        self._patience = self._refused = 0
        self.made = 0  # recipes so far
        self._waited: list[Served] = []  # recipes that were told to ask after a long call
        self.is_cold = False  # whether the newest recipe serves short calls without effects, and has served none
        self._misleading: tuple[tuple[Any, Any], ...] = ()  # graphs and kinds of calls whose recipes failed

    @property
    def calls(self) -> int:
        """How many calls were served natively."""
        with self._lock:
            return self._dropped_calls + sum(each.recipe["calls"] for each in self._served)

    @property
    def forwarded(self) -> int:
        """How many calls were passed on to a plan."""
        with self._lock:
            return self._dropped_forwarded + sum(each.recipe["forwarded"] for each in self._served)

    @property
    def is_asked(self) -> bool:
        """Whether a recipe has served as many calls as it may before Python is asked again."""
        return any(each.recipe["calls"] >= each.recipe["limit"] for each in self._served)

    @property
    def is_empty(self) -> bool:
        return not self._served

    def add(self, instance: Any, lowered: Lowered, call: NativeCall) -> bool:
        """Make a recipe and put it first.

        Return False if there is one already, or the graph or the call can't have one.
        """
        kind = call.kind(lowered)
        is_known = self.has(lowered, kind)
        self._drop_misleading(instance, lowered if is_known else None)
        if is_known or any(each is lowered and k == kind for each, k in self._misleading):
            return False
        from .learning import build_recipe

        is_made = self.put(instance, lowered, kind, lambda: build_recipe(lowered, call), is_last=call.overlaps(lowered))
        self.is_cold = is_made and call.is_brief(lowered)
        return is_made

    def warm_up(self, instance: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Make an extra call whose result is dropped, so that the next one finds its code and memory in the cache."""
        self.is_cold = False
        before = self.calls
        with suppress(Exception):
            instance(*args, **kwargs)
        self._dropped_calls -= self.calls - before

    def _drop_misleading(self, instance: Any, lowered: Lowered | None) -> None:
        """Drop the recipes that call functions in vain too often, and remember their calls.

        It counts only if Python has to serve the call, not if the next recipe does. The call came to Python because a
        recipe of the graph `lowered` failed; None means that there is no recipe for it.
        """
        with self._lock:
            for each in self._served:
                each.blame(lowered is None or each.lowered is lowered)
            found = [each for each in self._served if each.recipe.functions and each.misleads]
            if found:
                self._misleading = (*self._misleading, *((each.lowered, each.kind) for each in found))[-MAX_RECIPES:]
                self._link(instance, tuple(each for each in self._served if each not in found))

    def has(self, served: Any, kind: Any) -> bool:
        """Tell whether there is a recipe for such calls.

        Python is asked even so if a limit was reached, a value is wrong, or arrays overlap.
        """
        return any(each.lowered is served and each.kind == kind for each in self._served)

    def put(
        self, instance: Any, served: Any, kind: Any, build: Callable[[], Recipe | None], is_last: bool = False
    ) -> bool:
        """Build a recipe that serves something, and put it first, or last; tell whether there can be one.

        A recipe goes last if others are faster where they fit.
        """
        recipe = build() if not _pauses and self._make_room() else None
        if recipe is None:
            return False
        with self._lock:
            self.made += 1
            made, others = Served(served, kind, recipe), self._served[: MAX_RECIPES - 1]
            self._link(instance, (*others, made) if is_last else (made, *others))
        recipe.warm_up()
        return True

    def _make_room(self) -> bool:
        """Tell whether one more recipe may be made, which may evict another.

        If a program calls in more ways than there is room for, it soon stops making recipes that evict one another.
        """
        if len(self._served) < MAX_RECIPES:
            return True
        self._refused += 1
        if self._refused <= self._patience:
            return False
        self._refused, self._patience = 0, 2 * self._patience + 1
        return True

    def limit_long(self, lowered: Lowered) -> None:
        """Ask Python again only after a long call. If it was asked in vain for such a call, ask as often as before."""
        with self._lock:
            found = [each for each in self._served if each.lowered is lowered and each.recipe["limit"]]
            fresh = [each for each in found if each not in self._waited]
            for each in fresh:
                each.recipe["asks_after"], each.recipe["limit"] = ASKS_AFTER, NEVER
            self._waited = [*(each for each in self._waited if each in self._served), *fresh]
        if len(fresh) < len(found):
            self.limit(lowered, 0)

    def limit(self, lowered: Lowered, calls: int) -> None:
        """Ask Python again after this many more native calls of a graph; 0 means as many as before."""
        with self._lock:
            for each in self._served:
                if each.lowered is lowered and each.recipe["limit"]:
                    made = each.recipe["calls"]
                    each.recipe["limit"] = min(NEVER, made + (calls or max(FEWEST, made)))

    def expire(self, graphs: Iterable[Lowered]) -> None:
        """End the recipes of these graphs; the next call notices."""
        ended = list(graphs)
        with self._lock:
            for each in self._served:
                if any(each.lowered is graph for graph in ended):
                    each.recipe["limit"] = 0

    def drop_expired(self, instance: Any) -> None:
        """Return to Python if a recipe has ended."""
        if any(each.recipe["limit"] == 0 for each in self._served):
            self.clear(instance)

    def clear(self, instance: Any) -> None:
        """Send calls back to Python, which checks everything again."""
        with self._lock:
            self._patience = self._refused = 0
            self._link(instance, ())

    def _link(self, instance: Any, served: tuple[Served, ...]) -> None:
        """Make these the recipes. Dropped ones are kept while a call is in them."""
        if served:
            _linked[self] = ref(instance)
        before, self._served = self._served, served
        following, bytes = 0, 0
        for each in reversed(served):
            each.recipe["next"], following = following, each.recipe.address
            bytes = each.recipe["bytes"] = max(bytes, each.recipe["bytes"])  # one call may try all that follow
        if is_native(instance):
            set_recipe(instance, following)
        gone = [each for each in before if each not in served]
        for each in gone:
            each.recipe["next"] = 0  # a call that is inside goes on with Python, not with a recipe that may be freed
            self._dropped_calls += each.recipe["calls"]
            self._dropped_forwarded += each.recipe["forwarded"]
        _retired[:] = [each for each in (*_retired, *gone) if each.recipe["inside"]]
