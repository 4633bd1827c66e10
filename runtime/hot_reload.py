"""Hold a kernel whose source can be replaced while it is in use.

Each call uses one source from beginning to end. Replacing the source drops its recipes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..ir.source import KernelSource
from .calling import Called, native_class, with_own_doc
from .kernel import Kernel
from .native.call import CallForm
from .native.callables import is_native
from .native.dispatch import Chain

if TYPE_CHECKING:
    from .registry import Registry


@with_own_doc
class ReplaceableKernel(Called):
    """Wrap a `Kernel`, and make a new one for each new source. `owner` lives as long as this object."""

    def __init__(
        self, source: KernelSource, make: Callable[[KernelSource], Kernel], lookup: Registry, owner: object
    ) -> None:
        self._make, self._owner = make, owner
        self.chain = Chain()
        self.replace(source)
        if is_native(self):
            lookup.watch(self)

    def replace(self, source: KernelSource) -> None:
        """Switch to a new source; calls that are already running finish with the old one."""
        kernel = self._make(source)
        kernel.signature_cache.served = lambda: self.chain.calls
        self._kernel = kernel
        self.__name__, self.__module__ = source.name, ""
        self.forget()

    def forget(self) -> None:
        """Drop everything learned about the old source."""
        self.chain.clear(self)

    def served(self, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
        kernel = self._kernel
        result = kernel.serve_for(self, self.chain, form, args, kwargs, out)
        if self._kernel is not kernel:  # the call may have left a recipe of the old source behind
            self.forget()
        return result

    def inlined(self, trace: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Add a call of this object, because its source may change."""
        return trace.apply(self, args, kwargs)

    def __reduce__(self) -> Any:
        return self._kernel.__reduce__()  # the other process has no file to watch

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_kernel":
            raise AttributeError(name)
        return getattr(self._kernel, name)

    @property
    def __signature__(self) -> Any:
        return self._kernel.__signature__

    def described(self) -> str | None:
        """Return what `help()` shows."""
        return self._kernel.__doc__

    def __repr__(self) -> str:
        return repr(self._kernel)


CallableReplaceable = native_class(ReplaceableKernel)
