"""Make kernels of functions, text, files and expressions: `jit`, `compile`, `load` and `tensor`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from .ir.errors import FileProblem, TypeProblem, UnknownName, nearest
from .module import Module

if TYPE_CHECKING:  # each front end and the compiler are imported by those who use them: they take longer than NumPy
    from .frontend.language.source import ParsedModule as ParsedModule
    from .frontend.tracing.tracer import Tracer
    from .function import JitFunction
    from .runtime.compiler import Options

__all__ = ["Module", "compile", "jit", "load", "tensor"]


@overload
def jit(
    function: Callable[..., Any], *, static: Sequence[str] = ..., backend: str = ..., blas: bool = ...
) -> JitFunction: ...
@overload
def jit(
    *, static: Sequence[str] = ..., backend: str = ..., blas: bool = ...
) -> Callable[[Callable[..., Any]], JitFunction]: ...
def jit(
    function: Callable[..., Any] | None = None,
    *,
    static: Sequence[str] = (),
    backend: str = "llvm",
    blas: bool = False,
) -> Any:
    """A function written against NumPy as a compiled one; also a decorator.

    `static` names arguments that are fixed when the function is traced. `backend="reference"` runs NumPy instead.
    `blas` has SciPy's BLAS multiply matrices of floats, whose bits depend on CPU and threads.
    """
    if function is None:
        return lambda f: jit(f, static=static, backend=backend, blas=blas)
    from .function import JitFunction, traced

    return function if isinstance(function, JitFunction) else traced(function, static, _options(backend, blas))


def tensor(name: str, type: str) -> Tracer:
    """An array to build an expression from, as in `weft.tensor("x", "f32[n, m]")`."""
    from .frontend.tracing import tensors

    return tensors.tensor(name, type)


def compile(
    what: Any, *, name: str | None = None, backend: str = "llvm", arguments: Sequence[str | Tracer] | None = None
) -> Any:
    """The text of a `.weft` file as a module of kernels, or an expression of `weft.tensor`s as one kernel.

    The text of a graph, as `weft dump` and `kernel.lower(...).ir()` print it, is one kernel, too: compilation goes on
    from the pass that it was printed after. So is a graph of networkx, as `kernel.lower(...).to_networkx()` gives it.

    `arguments` are the tensors of an expression, or their names, in the order in which the kernel takes them. Without
    it that is the order of their first use, read from left to right: `x - y` takes x, then y.
    """
    networkx = sys.modules.get("networkx")
    is_network = networkx is not None and isinstance(what, networkx.DiGraph)
    if arguments is not None and (is_network or isinstance(what, str)):
        what = "a networkx graph" if is_network else "kernel text"
        raise TypeProblem(f"{what} names its own arguments", hint="leave arguments= out")
    if isinstance(what, str):
        if "\n" not in what and what.endswith(".weft"):
            raise FileProblem(f"{what!r} is a path, not kernel text", hint=f"weft.load({what!r}) reads the file")
        if what.lstrip()[:1] in ('"', "/"):
            from .printed import is_printed, printed_kernel

            if is_printed(what):
                return printed_kernel(what, name or "<text>", _options(backend))
        return _of_text(what, name or "<text>", _options(backend))
    if is_network:
        from .networks import network_kernel

        return network_kernel(what, name, _options(backend))
    from .frontend.tracing.tensors import ExpressionKernel
    from .frontend.tracing.tracer import Tracer
    from .loading import made

    if isinstance(what, (Tracer, tuple, list)):
        from .backends import reference

        return made(ExpressionKernel(what, name or "expression", reference.run, arguments), _options(backend))
    raise TypeProblem(
        f"weft.compile takes kernel text, an expression of tensors or a networkx graph, not a {type(what).__name__}",
        hint="weft.jit compiles a Python function, weft.load a file",
    )


def load(
    path: str | os.PathLike[str], *, backend: str = "llvm", libraries: bool = False, watch: bool = False
) -> Module:
    """The kernels of a `.weft` file, of the files in a directory, or (`"package:NAME"`) of an installed package.

    `libraries=True` honours `extern kernel`: to load a library is to run its code. `watch=True` reads files again when
    they change. Files of a directory that can't be loaded are warned of, and are the module's `problems`.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeProblem(f"weft.load takes a path, not a {type(path).__name__}")
    from . import loading

    place, options = os.fspath(path), _options(backend)
    if not isinstance(place, str):
        raise TypeProblem("weft.load takes a path as text, not as bytes")
    if isinstance(path, str) and path.startswith(loading.PACKAGE):
        from .packages import load_package

        return load_package(path.removeprefix(loading.PACKAGE), options, libraries, watch)
    if os.path.isdir(place):
        return loading.load_directory(place, options, libraries, watch)
    return loading.load_file(place, options, libraries, watch)


def _of_text(text: str, file: str, options: Options) -> Module:
    from .loading import made, register_kernels
    from .runtime.disk.sources import open_text
    from .settings import lookup

    def parse(text: str) -> ParsedModule:
        from .frontend.language.source import parse_module

        return parse_module(text, file, ops=lookup)

    parsed = open_text(text, file, lookup, parse)
    register_kernels(parsed)
    module = Module(file, lambda source: made(source, options))
    module._take(file, parsed.kernels)
    return module


def _options(backend: str, blas: bool = False) -> Options:
    from .settings import default_options

    if backend not in ("llvm", "reference"):
        raise UnknownName(f"unknown backend '{backend}'", hint=nearest(backend, ["llvm", "reference"]))
    return default_options(backend, blas)
