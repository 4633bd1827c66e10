"""Hold a kernel whose source can be replaced while it is in use.

Each call uses one source from beginning to end. Replacing the source drops its native entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ir.source import KernelSource
from .kernel import Kernel, native_class, trace_of
from .native.call import CallForm
from .native.callables import is_native
from .native.dispatch import Chain

if TYPE_CHECKING:
    from .registry import Registry


class ReplaceableKernel:
    """Wrap a `Kernel` and make a new one for each new source. `owner` lives as long as this object."""

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
        kernel.signature_cache.served = lambda: self.chain.hits
        self._kernel = kernel
        self.__name__, self.__module__ = source.name, ""
        self.forget()

    def forget(self) -> None:
        """Drop everything learned about the old source."""
        self.chain.clear(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (known := self.chain.repeat(args, kwargs)) is not None:
            return known.run(args, kwargs)
        if (trace := trace_of((*args, *kwargs.values()))) is not None:
            return trace.apply(self, args, kwargs)  # not inlined, because the source may change
        kernel, form = self._kernel, CallForm(len(args), tuple(kwargs))
        out = kwargs.pop("out", None)
        result = kernel.serve(self, self.chain, form, kernel.parameters, {}, kernel.arguments(args, kwargs), out)
        if self._kernel is not kernel:  # the call may have left an entry of the old source behind
            self.forget()
        return result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_kernel":
            raise AttributeError(name)
        return getattr(self._kernel, name)

    def __repr__(self) -> str:
        return repr(self._kernel)


CallableReplaceable = native_class(ReplaceableKernel)
