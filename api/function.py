"""Implement jitted functions: trace, compile and run a Python function when it is called."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import update_wrapper
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from .frontend.programs.planning.pieces import Piece
from .frontend.tracing.functions import TracedFunction, TracedKernel
from .frontend.tracing.packing import spread
from .frontend.tracing.tracer import Tracer
from .ir.errors import TraceProblem, Unsupported, WeftError
from .ir.graph import Graph
from .ir.records import replace
from .ir.support.preloading import preloader
from .pickling import reduced, runnable, tokenized
from .programs.methods import MethodProgram
from .programs.pieces import PieceProgram
from .programs.program import Program
from .programs.reasons import Reason
from .programs.report import ProgramReport, report_of
from .runtime.calling import Called, has_chunked, native_class
from .runtime.compiler import Lowered, Options, Variant
from .runtime.kernel import Kernel
from .runtime.native.call import CallForm
from .runtime.native.callables import is_native
from .runtime.native.dispatch import Chain
from .runtime.outputs import copied_to
from .settings import default_options, lookup, tuner_for

if TYPE_CHECKING:
    from .runtime.explain import Explanation

AnyProgram = Program | PieceProgram | MethodProgram
MAX_KERNELS = 256  # combinations of static arguments to keep
MAX_INSTANCES = 64  # objects to keep compiled methods for, which also keeps the objects alive


def traced(function: Any, static: Sequence[str], options: Options, whole: bool = False) -> JitFunction:
    """Wrap a Python function so that calls compile what can be compiled; with `whole`, anything else is an error."""
    source = TracedFunction(function, static, _evaluate, strict=True, unrolls=whole)
    return CallableFunction(source, options, _program(function, options), whole)


def tracing(function: Any, *, static: Sequence[str] = (), backend: str = "llvm", blas: bool = False) -> JitFunction:
    """Wrap a Python function so that every call is traced, and what a trace can't do is an error.

    Tests of the compiler use it: Python never stands in for compiled code. Unlike `jit`, results are always new arrays.
    """
    return CallableFunction(TracedFunction(function, static, _evaluate), default_options(backend, blas), None)


def _slow_trace(source: TracedFunction) -> Reason | None:
    """The reason why a function runs faster in pieces than traced as a whole, if it does."""
    if names := source.often_fixed:
        said = " and ".join(f"'{name}'" for name in sorted(names))
        return Reason(f"the values of {said} steer it, and there are many, so it is compiled in pieces")
    if source.cuts_by_numbers:
        return Reason("its slices depend on numbers, so Python makes them, and it is compiled in pieces")
    return None


def _program(function: Any, options: Options) -> Program:
    def piece(own: FunctionType, program: PieceProgram) -> JitFunction:
        return CallableFunction(TracedFunction(own, (), _evaluate, strict=True), options, program)

    def nest(lowered: Piece) -> Any:
        preloader.prepare()
        from .runtime.nests.pieces import compile_piece, interpret_piece

        return compile_piece(lowered, lookup) if options.backend == "llvm" else interpret_piece(lowered)

    return Program(function, piece, nest)


def _evaluate(graph: Graph, values: Sequence[Any], calls: Sequence[Callable[..., Any]]) -> Sequence[Any]:
    """Run a graph in NumPy, for the few traces that need actual values."""
    from .backends import reference

    return reference.run(graph, values, calls=calls)


class JitFunction(Called):
    """A jitted Python function. `weft.jit` makes it; it is traced and compiled for each signature it is called with."""

    def __init__(
        self, source: TracedFunction, options: Options, program: AnyProgram | None, whole: bool = False
    ) -> None:
        self._source, self._options, self.takes_out = source, options, source.takes_out
        self._program, self._whole = program, whole
        self._kernels: dict[TracedKernel, Kernel] = {}
        self.chain = Chain()
        self._methods: OrderedDict[int, tuple[Any, JitFunction]] = OrderedDict()
        self._wrap(source.function)
        if is_native(self):
            lookup.watch(self)

    def _wrap(self, function: Any) -> None:
        """Look like the wrapped function, as `functools.wraps` does."""
        self.__name__ = self.__qualname__ = self._source.name
        self.__wrapped__ = function
        update_wrapper(self, function, updated=())
        for name, value in vars(function).items() if isinstance(function, FunctionType) else ():
            self.__dict__.setdefault(name, value)

    def __repr__(self) -> str:
        return f"<weft function {self.__name__}>"

    def _repr_html_(self) -> str:
        import inspect

        from .runtime.views import kernel_html

        try:
            text = inspect.getsource(self.__wrapped__)
        except (OSError, TypeError):
            text = ""
        title = f"{self.__name__}{self._source.signature}"
        return kernel_html(title, text, self.__doc__ or "", self.signature_cache)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, {**self._state, "python": sys.version_info[:2]}, sys._getframe().f_back)

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        JitFunction.__init__(self, *_parts(**runnable(state)))

    def __deepcopy__(self, memo: Any) -> JitFunction:
        if not isinstance(self.__wrapped__, MethodType):
            return self
        return CallableFunction(*_parts(**{**self._state, "function": deepcopy(self.__wrapped__, memo)}))

    def __dask_tokenize__(self) -> Any:
        return tokenized(self, self._state)

    @property
    def _state(self) -> dict[str, Any]:
        """What a pickle holds: the arguments of `_parts`."""
        source, options = self._source, self._options
        return {
            "function": source.function, "static": source.static, "whole": self._whole, "strict": source.strict,
            "backend": options.backend, "blas": options.blas, "variant": options.variant,
        }  # fmt: skip

    def __get__(self, instance: Any, owner: type | None = None) -> JitFunction:
        if instance is None:
            return self
        found = self._methods.get(id(instance))
        if found is not None:
            self._methods.move_to_end(id(instance))
        if found is None or found[0] is not instance:
            source = self._source.for_instance(instance)
            program = None if self._program is None else MethodProgram(self._program, instance)
            found = (instance, CallableFunction(source, self._options, program, self._whole))
            self._methods[id(instance)] = found
            if len(self._methods) > MAX_INSTANCES:
                self._methods.popitem(last=False)
        return found[1]

    def called(self, *args: Any, **kwargs: Any) -> Any:
        program = self._program
        if not isinstance(program, Program) or not program.is_split or kwargs or self._whole:
            return super().called(*args, **kwargs)
        if not any(type(x) is Tracer for x in args) and not has_chunked(args):
            return self._planned(program, CallForm(len(args), ()), args, kwargs)
        return super().called(*args, **kwargs)

    def _planned(self, program: AnyProgram, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run a call by its program, which makes recipes for calls that are not traced."""
        if isinstance(program, PieceProgram):
            return program.call(self._compiled, args, kwargs)
        before = program.planned_calls
        program.prepare(self, form, args, kwargs)
        result = program.call(self._compiled, args, kwargs)
        if program.planned_calls != before:
            program.teach(self, form, args, kwargs)
        elif isinstance(program, Program) and not program.is_split and (reason := _slow_trace(self._source)):
            program.leave_traces(reason)
            self.forget()
        return result

    def traced_call(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(args, kwargs)

    def served(self, form: CallForm, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        if self._program is None or (self._whole and out is not None):
            return self._compiled(args, kwargs, form, out)
        if out is not None:
            return self._with_out(self._program, form, args, kwargs, out)
        if not self._whole:
            return self._planned(self._program, form, args, kwargs)
        if (obstacle := self._program.obstacle) is not None:
            return self._as_nest(TraceProblem(obstacle.text, obstacle.span), form, args, kwargs)
        try:
            return self._compiled(args, kwargs, form)
        except (TraceProblem, Unsupported) as error:
            return self._as_nest(error, form, args, kwargs)

    def _with_out(
        self, program: AnyProgram, form: CallForm, args: Sequence[Any], kwargs: dict[str, Any], out: Any
    ) -> Any:
        """Run a call with memory for its results. What can't be compiled is run by its program, and copied there."""
        if program.obstacle is None and not self._source.often_fixed:
            try:
                return self._compiled(args, kwargs, form, out)
            except (TraceProblem, Unsupported):
                pass
        return copied_to(out, program.call(self._compiled, args, kwargs))

    def _as_nest(self, refused: WeftError, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run a function that can't be traced as one nest, or raise the error."""
        assert self._program is not None and not isinstance(self._program, PieceProgram)
        found = self._program.as_nest(args, kwargs)
        if isinstance(found, Reason):
            raise type(refused)(
                refused.message, refused.span, f"as one loop nest it can't be compiled either: {found.text}"
            )
        self._program.learn_nest(self, form, args, kwargs)
        return found[0]

    def inlined(self, trace: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Become part of the trace of another function, unless Python must run this one."""
        if self._program is not None and (obstacle := self._program.obstacle) is not None:
            text = obstacle.text if self._whole else f"{self.__name__} is called by Python: {obstacle.text}"
            raise TraceProblem(text, obstacle.span)
        return self._source.inlined(args, kwargs)

    def _compiled(
        self, args: Sequence[Any], kwargs: dict[str, Any], form: CallForm | None = None, out: Any = None
    ) -> Any:
        form = form or CallForm(len(args), tuple(kwargs))
        return self._source.with_numbers(lambda: self._serve(form, args, kwargs, out))

    def _serve(self, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
        source, values = self._source.select(args, kwargs)
        kernel = self._kernel(source)
        arguments = kernel.arguments(values, {})
        places, fixed = spread(self._source.signature.parameters, form.positional, source.fixed)
        return kernel.serve(self, self.chain, form, places, fixed, arguments, out)

    def forget(self) -> None:
        """Drop the recipes: the registry has changed. The next call checks whether its graph is still valid."""
        self.chain.clear(self)

    def lower(self, *args: Any, out: Any = None, **kwargs: Any) -> Lowered:
        """Return the compiled form for these arguments without running it; `.ir()` prints its graph."""
        lowered, sizes = self.sized(*args, out=out, **kwargs)
        return replace(lowered, sizes=sizes)

    def sized(self, *args: Any, out: Any = None, **kwargs: Any) -> tuple[Lowered, dict[str, int]]:
        """Return the graph for these arguments, together with their sizes."""
        return self._source.with_numbers(lambda: self._sized(args, kwargs, out))

    def _sized(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> tuple[Lowered, dict[str, int]]:
        kernel, values = self._select(args, kwargs)
        return kernel.sized(*values, out=out)

    def in_variant(self, variant: Variant) -> JitFunction:
        """Return the same function, compiled as this variant and never as another."""
        return CallableFunction(self._source, replace(self._options, variant=variant), self._program, self._whole)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation | ProgramReport:
        """Describe how the function is compiled for these arguments.

        Without arguments, or for a function that is not compiled as a whole, describe how its calls have run so far.
        """
        program = self._program.program if isinstance(self._program, MethodProgram) else self._program
        if isinstance(program, Program) and (
            program.obstacle is not None or (not args and not kwargs and (self._source.parameters or program.cuts))
        ):
            return report_of(self.__name__, program, self.chain)
        return self.lower(*args, **kwargs).explain()

    @property
    def signature_cache(self) -> JointCache:
        """The function's compiled graphs."""
        pieces = [p.callable.signature_cache for p in getattr(self._program, "pieces", ()) if hasattr(p, "callable")]
        return JointCache(self._kernels, self.chain, pieces)

    def _select(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Kernel, tuple[Any, ...]]:
        source, values = self._source.select(args, kwargs)
        return self._kernel(source), values

    def _kernel(self, source: TracedKernel) -> Kernel:
        kernel = self._kernels.get(source)
        if kernel is None:
            kernel = self._kernels.setdefault(source, Kernel(source, lookup, self._options, tuner_for(self._options)))
            if len(self._kernels) > MAX_KERNELS:
                del self._kernels[next(iter(self._kernels))]
        return kernel


CallableFunction = native_class(JitFunction)


def _parts(
    function: Any, static: Sequence[str], whole: bool, strict: bool, backend: str, blas: bool, variant: Variant
) -> tuple[TracedFunction, Options, Program | None, bool]:
    """Return the parts of a jitted function that came in a pickle."""
    options = replace(default_options(backend, blas), variant=variant)
    source = TracedFunction(function, static, _evaluate, strict, unrolls=whole)
    return source, options, _program(function, options) if strict else None, whole


class JointCache:
    """Present the signature caches of a function with changing static arguments as one cache."""

    def __init__(self, kernels: Mapping[TracedKernel, Kernel], chain: Chain, pieces: Sequence[JointCache] = ()) -> None:
        self._kernels, self._chain, self._pieces = kernels, chain, pieces

    def __len__(self) -> int:
        return sum(len(k.signature_cache) for k in list(self._kernels.values())) + sum(map(len, self._pieces))

    @property
    def hits(self) -> int:
        own = self._chain.calls + sum(k.signature_cache.hits for k in list(self._kernels.values()))
        return own + sum(piece.hits for piece in self._pieces)

    @property
    def misses(self) -> int:
        own = sum(k.signature_cache.misses for k in list(self._kernels.values()))
        return own + sum(piece.misses for piece in self._pieces)
