"""Tell type checkers what `weft.jit` returns: something that is called like the function it wraps, and more."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from .function import JointCache
    from .programs.report import ProgramReport
    from .runtime.compiler import Lowered
    from .runtime.explain import Explanation

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
    def __get__(self, instance: object, owner: type | None = None) -> Jitted[..., Co]:
        """Bind a method. Its arguments are not checked: mypy binds static methods, too."""

    @overload
    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered: ...
    @overload
    def lower(self, *args: Any, out: Any, **kwargs: Any) -> Lowered:
        """Return the compiled form for these arguments without running it; `.ir()` prints its graph."""

    def explain(self, *args: Any, **kwargs: Any) -> Explanation | ProgramReport:
        """Describe how the function is compiled for these arguments, or how its calls have run so far."""

    @property
    def signature_cache(self) -> JointCache:
        """The function's compiled graphs."""
