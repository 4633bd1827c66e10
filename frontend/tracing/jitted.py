"""Tell type checkers what `weft.jit` returns: something that is called like the function it wraps, and more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, overload

P = ParamSpec("P")
R = TypeVar("R")
Co = TypeVar("Co", covariant=True)


class Jitted(Protocol[P, Co]):
    """A jitted function. It also takes `out=`, the memory for its results."""

    __name__: str
    __qualname__: str

    @property
    def __wrapped__(self) -> Callable[P, Co]: ...

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Co: ...
    @overload
    def __call__(self, *args: Any, out: Any, **kwargs: Any) -> Co: ...
    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Jitted[P, Co]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Jitted[..., Co]: ...

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Return the compiled form for these arguments without running it; `.ir()` prints its graph."""

    def explain(self, *args: Any, **kwargs: Any) -> Any:
        """Describe how the function is compiled."""

    @property
    def signature_cache(self) -> Any:
        """The function's compiled graphs."""
