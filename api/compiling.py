"""Make kernels of functions, text, files and expressions: `jit`, `compile`, `load` and `tensor`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from .ir.errors import FileProblem, TypeProblem, UnknownName, type_of
from .ir.support.preloading import preloader
from .module import Module

if TYPE_CHECKING:  # imported when used: the front ends and the compiler take longer to import than NumPy
    from .frontend.language.source import ParsedModule as ParsedModule
    from .frontend.tracing.tracer import Tracer
    from .jitted import Jitted, P, R
    from .runtime.compiler import Options

__all__ = ["Module", "compile", "jit", "load", "tensor"]


@overload
def jit(
    function: Callable[P, R],
    *,
    static: Sequence[str] = ...,
    backend: str = ...,
    blas: bool = ...,
    whole: bool = ...,
) -> Jitted[P, R]: ...
@overload
def jit(
    *, static: Sequence[str] = ..., backend: str = ..., blas: bool = ..., whole: bool = ...
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(
    function: Callable[..., Any] | None = None,
    *,
    static: Sequence[str] = (),
    backend: str = "llvm",
    blas: bool = False,
    whole: bool = False,
) -> Any:
    """Compile a Python function written with NumPy. Use it as a decorator or as a call.

        @weft.jit
        def gelu(x):
            return 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x**3)))

        gelu(np.ones((4, 3), np.float32))

    The function is traced at its first call and compiled once for each combination of dtypes, ranks and layouts.

    static: names of arguments that are Python values, such as an axis; each value is traced separately.
    backend: "llvm" compiles to native code; "reference" runs the graph in NumPy.
    blas: multiply matrices of floats with SciPy's BLAS; the bits then depend on the CPU and the number of threads.
    whole: raise an error, before anything has happened, where a call can't run in one compiled piece. By default
        Python runs what can't be compiled; `explain()` shows it.
    """
    if function is None:
        return lambda f: jit(f, static=static, backend=backend, blas=blas, whole=whole)
    if isinstance(function, (staticmethod, classmethod)):  # either order of the decorators means the same
        return type(function)(jit(function.__func__, static=static, backend=backend, blas=blas, whole=whole))
    preloader.prepare()
    from .function import JitFunction, traced

    return function if isinstance(function, JitFunction) else traced(function, static, _options(backend, blas), whole)


def tensor(name: str, type: str) -> Tracer:
    """Declare an array to build an expression from. `weft.compile` turns the expression into a kernel.

        x = weft.tensor("x", "f32[n, m]")
        kernel = weft.compile(np.exp(x) + 1)

    name: the name of the kernel's argument.
    type: a dtype and a size for each axis; equal names mean equal sizes.
    """
    preloader.prepare()
    from .frontend.tracing import tensors

    return tensors.tensor(name, type)


def compile(
    what: Any, *, name: str | None = None, backend: str = "llvm", arguments: Sequence[str | Tracer] | None = None
) -> Any:
    """Compile kernel text, an expression or a graph.

        module = weft.compile("kernel double(x: f32[n]) -> f32[n] { return x + x }")
        module.double(np.ones(3, np.float32))

        x, y = weft.tensor("x", "f32[n]"), weft.tensor("y", "f32[n]")
        kernel = weft.compile(x - y, arguments=[y, x])

    what: one of
        - the text of a `.weft` file, which gives a module of kernels;
        - an expression of `weft.tensor`s, or a tuple of them, which gives one kernel;
        - the text of a graph, as `kernel.lower(...).ir()` and `weft dump` print it; the remaining passes are run on it;
        - the text of a loop nest, which gives a kernel that updates its arguments in place; docs/nests.md describes it;
        - a networkx graph, as `kernel.lower(...).to_networkx()` returns it.
    name: the name of the kernel, or of the text in messages.
    backend: "llvm" compiles to native code; "reference" runs the graph in NumPy.
    arguments: the tensors of an expression, or their names, in the order in which the kernel takes them. By default
        that is the order of first use, from left to right: `x - y` takes x, then y.
    """
    preloader.prepare()
    networkx = sys.modules.get("networkx")
    is_network = networkx is not None and isinstance(what, networkx.DiGraph)
    if arguments is not None and (is_network or isinstance(what, str)):
        what = "a networkx graph" if is_network else "kernel text"
        raise TypeProblem(
            f"arguments= is only for expressions; {what} names its own arguments", hint="leave arguments= out"
        )
    if isinstance(what, str):
        if "\n" not in what and what.endswith(".weft"):
            raise FileProblem(f"{what!r} is a path, not kernel text", hint=f"use weft.load({what!r})")
        if what.lstrip()[:1] in ('"', "/", "!"):
            from .loading.nests import is_nest, nest_kernel

            if is_nest(what):
                _options(backend)
                return nest_kernel(what, name or "<text>", backend)
            from .loading.printed import is_printed, printed_kernel

            if is_printed(what):
                return printed_kernel(what, name or "<text>", _options(backend))
        return _of_text(what, name or "<text>", _options(backend))
    if is_network:
        from .loading.networks import network_kernel

        return network_kernel(what, name, _options(backend))
    from .frontend.tracing.tensors import ExpressionKernel
    from .frontend.tracing.tracer import Tracer
    from .loading.load import made

    if isinstance(what, (Tracer, tuple, list)):
        from .backends import reference

        return made(ExpressionKernel(what, name or "expression", reference.run, arguments), _options(backend))
    raise TypeProblem(
        f"weft.compile takes kernel text, an expression of tensors or a networkx graph, not {type_of(what)}",
        hint="use weft.jit for a Python function, weft.load for a file",
    )


def load(
    path: str | os.PathLike[str], *, backend: str = "llvm", libraries: bool = False, watch: bool = False
) -> Module:
    """Load the kernels of a `.weft` file, of a directory of such files, or of an installed package.

        module = weft.load("kernels.weft")
        module.softmax(x)

    path: a file, a directory, or "package:NAME" for a package that declares kernels.
    backend: "llvm" compiles to native code; "reference" runs the graphs in NumPy.
    libraries: allow `extern kernel`. Loading a shared library runs its code, so this is off by default.
    watch: reload files when they change.

    A file of a directory that can't be loaded causes a warning; its error is added to the module's `problems`.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeProblem(f"weft.load takes a path, not {type_of(path)}")
    preloader.prepare()
    from .loading.load import PACKAGE, load_directory, load_file

    place, options = os.fspath(path), _options(backend)
    if not isinstance(place, str):
        raise TypeProblem("weft.load takes a path as a string, not as bytes")
    if isinstance(path, str) and path.startswith(PACKAGE):
        from .loading.packages import load_package

        return load_package(path.removeprefix(PACKAGE), options, libraries, watch)
    if os.path.isdir(place):
        return load_directory(place, options, libraries, watch)
    return load_file(place, options, libraries, watch)


def _of_text(text: str, file: str, options: Options) -> Module:
    from .loading.load import made, register_kernels
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
        raise UnknownName(f"unknown backend '{backend}'", hint="there are 'llvm' and 'reference'")
    return default_options(backend, blas)
