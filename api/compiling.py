"""Functions, text, files and expressions in, kernels out: `jit`, `compile`, `load` and `tensor`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

from .ir.errors import FileProblem, TypeProblem, UnknownName, nearest

if TYPE_CHECKING:  # each front end and the compiler are imported by those who use them: they take longer than NumPy
    from .frontend.language import Module as ParsedModule
    from .frontend.tracer import Tracer
    from .function import Function
    from .ir.source import KernelSource
    from .runtime.compiler import Options
    from .runtime.disk.sources import StoredModule
    from .runtime.kernel import Kernel
    from .runtime.registry import Registry

__all__ = ["Module", "compile", "jit", "load", "tensor"]


class Module:
    """The kernels of a `.weft` file, as attributes."""

    def __init__(self, parsed: ParsedModule | StoredModule, options: Options) -> None:
        self._file = parsed.file
        self._kernels = {name: _kernel(source, options) for name, source in parsed.kernels.items()}
        register_kernels(parsed)
        # Attributes of its own, which the interpreter finds faster than a small kernel runs.
        self.__dict__.update({name: kernel for name, kernel in self._kernels.items() if not name.startswith("_")})

    def __getattr__(self, name: str) -> Kernel:
        kernels: dict[str, Kernel] = self.__dict__.get("_kernels", {})
        if name in kernels:
            return kernels[name]
        if name.startswith("__"):
            raise AttributeError(name)
        hint = nearest(name, list(kernels)) or f"its kernels are {', '.join(kernels) or 'none'}"
        raise UnknownKernel(f"{self._file} has no kernel '{name}'", hint=hint)

    def __getitem__(self, name: str) -> Kernel:
        return self._kernels[name] if name in self._kernels else self.__getattr__(name)

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
    from .function import Function, traced

    return function if isinstance(function, Function) else traced(function, static, _options(backend))


def tensor(name: str, type: str) -> Tracer:
    """An array to build an expression from, as in `weft.tensor("x", "f32[n, m]")`."""
    from .frontend import expression

    return expression.tensor(name, type)


def compile(what: Any, *, name: str | None = None, backend: str = "llvm") -> Any:
    """The text of a `.weft` file as a module of kernels, or an expression of `weft.tensor`s as one kernel."""
    if isinstance(what, str):
        from .runtime.disk.sources import open_text

        if "\n" not in what and what.endswith(".weft"):
            raise FileProblem(f"{what!r} is a path, not kernel text", hint=f"weft.load({what!r}) reads the file")
        file = name or "<text>"
        return Module(open_text(what, file, _registry(), lambda text: _parsed(text, file)), _options(backend))
    from .frontend.expression import ExpressionKernel
    from .frontend.tracer import Tracer

    if isinstance(what, (Tracer, tuple, list)):
        from .backends import reference

        return _kernel(ExpressionKernel(what, name or "expression", reference.run), _options(backend))
    raise TypeProblem(
        f"weft.compile takes kernel text or an expression of weft.tensor, not a {type(what).__name__}",
        hint="weft.jit compiles a Python function, weft.load a file",
    )


def load(path: str | os.PathLike[str], *, backend: str = "llvm") -> Module:
    """The kernels of a `.weft` file."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeProblem(f"weft.load takes a path, not a {type(path).__name__}")
    if os.path.isdir(path):
        raise FileProblem(f"{os.fspath(path)} is a directory", hint="name one .weft file in it")
    from .runtime.disk.sources import open_file

    file = os.fspath(path)
    found = open_file(file, _registry(), lambda: _loaded(file), lambda text: _parsed(text, file, ()))
    return Module(found, _options(backend))


def _parsed(text: str, file: str, search_path: Sequence[str] | None = None) -> ParsedModule:
    from .frontend.language import parse_module

    return parse_module(text, file, search_path, ops=_registry())


def _loaded(file: str) -> ParsedModule:
    from .frontend.language import load_module

    return load_module(file, ops=_registry())


def _registry() -> Registry:
    from .settings import lookup

    return lookup


def register_kernels(parsed: ParsedModule | StoredModule) -> None:
    """What `@impl` asks for in a file; read again, a kernel takes the place of what was registered before."""
    for name, source in parsed.kernels.items():
        if source.impl is not None:
            traits = {key: value for key, value in source.impl.items() if key != "op"}
            _registry().register(source.impl["op"], None, source, origin=(parsed.file, name), **traits)


def _kernel(source: KernelSource, options: Options) -> Kernel:
    from .runtime.kernel import CallableKernel
    from .settings import lookup, tuner_for

    return CallableKernel(source, lookup, options, tuner_for(options))


def _options(backend: str) -> Options:
    from .settings import default_options

    if backend not in ("llvm", "reference"):
        raise UnknownName(f"unknown backend '{backend}'", hint=nearest(backend, ["llvm", "reference"]))
    return default_options(backend)
