"""Functions, text, files and expressions in, kernels out: `jit`, `compile`, `load` and `tensor`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from .backends import reference
from .frontend.expression import ExpressionKernel, tensor
from .frontend.traced import TracedFunction, TracedKernel
from .frontend.tracer import Tracer
from .ir.errors import FileProblem, TypeProblem, UnknownName, nearest
from .ir.graph import Graph
from .runtime.compiler import Lowered, Options
from .runtime.kernel import Kernel
from .settings import default_options, registry

if TYPE_CHECKING:  # the parser is imported by those who parse
    from .frontend.language import Module as ParsedModule

__all__ = ["Function", "Module", "compile", "jit", "load", "tensor"]


def _evaluate(graph: Graph, values: Sequence[Any]) -> Sequence[Any]:
    return reference.run(graph, values)


class Function:
    """A jitted Python function: traced and compiled for each signature that it is called with."""

    def __init__(self, source: TracedFunction, options: Options) -> None:
        self._source, self._options = source, options
        self._kernels: dict[TracedKernel, Kernel] = {}
        self._methods: dict[int, tuple[Any, Function]] = {}
        self.__wrapped__ = source.function
        self.__name__ = source.name
        self.__doc__ = source.function.__doc__

    def __repr__(self) -> str:
        return f"<weft function {self.__name__}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Function:
        if instance is None:
            return self
        found = self._methods.get(id(instance))
        if found is None or found[0] is not instance:
            found = (instance, Function(self._source.for_instance(instance), self._options))
            self._methods[id(instance)] = found
        return found[1]

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        if any(isinstance(x, Tracer) for x in (*args, *kwargs.values())):
            return self._source.function(*args, **kwargs)  # inside another trace: part of that graph
        kernel, values = self._select(args, kwargs)
        return kernel(*values, out=out)

    def lower(self, *args: Any, out: Any = None, **kwargs: Any) -> Lowered:
        """The graph for these arguments after all passes; nothing is run."""
        kernel, values = self._select(args, kwargs)
        return kernel.lower(*values, out=out)

    def explain(self, *args: Any, **kwargs: Any) -> Any:
        """What the function becomes for these arguments."""
        return self.lower(*args, **kwargs).explain()

    @property
    def signature_cache(self) -> Any:
        """The compiled graphs of the function."""
        if len(self._kernels) == 1:
            return next(iter(self._kernels.values())).signature_cache
        return JointCache([k.signature_cache for k in self._kernels.values()])

    def _select(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Kernel, tuple[Any, ...]]:
        source, values = self._source.select(args, kwargs)
        kernel = self._kernels.get(source)
        if kernel is None:
            kernel = self._kernels.setdefault(source, Kernel(source, registry, self._options))
        return kernel, values


class JointCache:
    """The signature caches of a function whose fixed arguments differ from call to call, as one."""

    def __init__(self, caches: Sequence[Any]) -> None:
        self._caches = caches

    def __len__(self) -> int:
        return sum(map(len, self._caches))

    @property
    def hits(self) -> int:
        return sum(c.hits for c in self._caches)

    @property
    def misses(self) -> int:
        return sum(c.misses for c in self._caches)


class Module:
    """The kernels of a `.weft` file, as attributes."""

    def __init__(self, parsed: ParsedModule, options: Options) -> None:
        self._file = parsed.file
        self._kernels = {name: Kernel(source, registry, options) for name, source in parsed.kernels.items()}

    def __getattr__(self, name: str) -> Kernel:
        kernels: dict[str, Kernel] = self.__dict__.get("_kernels", {})
        if name in kernels:
            return kernels[name]
        if name.startswith("__"):
            raise AttributeError(name)
        hint = nearest(name, list(kernels)) or f"its kernels are {', '.join(kernels) or 'none'}"
        raise UnknownKernel(f"{self._file} has no kernel '{name}'", hint=hint)

    def __getitem__(self, name: str) -> Kernel:
        return self.__getattr__(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __dir__(self) -> list[str]:
        return sorted(self._kernels)

    def __repr__(self) -> str:
        return f"<weft module {self._file}: {', '.join(self._kernels)}>"


class UnknownKernel(UnknownName, AttributeError):
    """A kernel that a module does not have."""


@overload
def jit(function: Callable[..., Any], *, static: Sequence[str] = ..., backend: str = ...) -> Function: ...
@overload
def jit(*, static: Sequence[str] = ..., backend: str = ...) -> Callable[[Callable[..., Any]], Function]: ...
def jit(function: Callable[..., Any] | None = None, *, static: Sequence[str] = (), backend: str = "llvm") -> Any:
    """A function written against NumPy as a compiled one; also a decorator.

    `static` names arguments that are fixed when the function is traced. `backend="reference"` runs NumPy instead.
    """
    if function is None:
        return lambda f: jit(f, static=static, backend=backend)
    if isinstance(function, Function):
        return function
    return Function(TracedFunction(function, static, _evaluate), _options(backend))


def compile(what: Any, *, name: str | None = None, backend: str = "llvm") -> Any:
    """The text of a `.weft` file as a module of kernels, or an expression of `weft.tensor`s as one kernel."""
    if isinstance(what, str):
        from .frontend.language import parse_module

        if "\n" not in what and what.endswith(".weft"):
            raise FileProblem(f"{what!r} is a path, not kernel text", hint=f"weft.load({what!r}) reads the file")
        return Module(parse_module(what, name or "<text>"), _options(backend))
    if isinstance(what, (Tracer, tuple, list)):
        return Kernel(ExpressionKernel(what, name or "expression", _evaluate), registry, _options(backend))
    raise TypeProblem(
        f"weft.compile takes kernel text or an expression of weft.tensor, not a {type(what).__name__}",
        hint="weft.jit compiles a Python function, weft.load a file",
    )


def load(path: str | os.PathLike[str], *, backend: str = "llvm") -> Module:
    """The kernels of a `.weft` file."""
    if os.path.isdir(path):
        raise FileProblem(f"{os.fspath(path)} is a directory", hint="name one .weft file in it")
    from .frontend.language import load_module

    return Module(load_module(path), _options(backend))


def _options(backend: str) -> Options:
    if backend not in ("llvm", "reference"):
        raise UnknownName(f"unknown backend '{backend}'", hint=nearest(backend, ["llvm", "reference"]))
    return default_options(backend)
