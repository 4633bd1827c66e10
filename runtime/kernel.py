"""Implement kernels: find or compile the graph for a call's signature, and run it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
from ..ir.errors import TraceProblem, VerifyProblem
from ..ir.layouts import GENERAL, SCALAR, classify
from ..ir.orders import agree
from ..ir.records import replace
from ..ir.source import Guard, KernelSource, taken_by
from ..ir.support.forking import lock
from ..ir.support.preloading import preloader
from ..ir.support.progress import compiling
from ..ir.tuples import NamedTuple
from .arguments import CallArgument, in_order, prepare, prepare_size
from .bounds import check_bounds, converted
from .cache import SignatureCache
from .calling import Called, native_class, with_own_doc
from .checked_sizes import SizesChanged, checked_calls
from .compiler import Lowered, Options, Request, Variant, bind_call, call_orders, orders_of
from .deferred import Turn
from .disk.finding import find_or_lower
from .launch import noting_strides
from .native.call import CallForm
from .native.callables import is_native
from .native.dispatch import Chain
from .native.learning import learn
from .outputs import as_outputs, changed_arrays, check_out, fresh_outputs, handed_back, memory_of

if TYPE_CHECKING:
    from .explain import Explanation
    from .registry import Registry
    from .selection.tuner import Tuner

MAX_REBUILDS = 4  # rebuilds for one call whose NumPy functions return other types or sizes every time
Layouts = tuple[tuple[str, ...], tuple[str | None, ...] | None, bool]
MAX_LAYOUTS = 8  # combinations of layout classes to compile before general code serves the rest


class Found(NamedTuple):
    """A compiled graph for a call, its inputs, and whether it was compiled just now."""

    lowered: Lowered
    inputs: list[np.ndarray[Any, Any]]
    is_new: bool


@with_own_doc
class Kernel(Called):
    """A callable kernel. New dtypes, ranks, layout classes or sizes of 1 compile; other new sizes do not.

    The exception is the first call with sizes that have their own form (`ir/forms.py`), such as short rows.
    """

    def __init__(self, source: KernelSource, lookup: Registry, options: Options, tuner: Tuner | None = None) -> None:
        self._source, self._lookup, self._options, self._tuner = source, lookup, options, tuner
        self._takes = taken_by(source)
        self.signature_cache: SignatureCache[Lowered] = SignatureCache()
        self._is_usual = replace(options, variant=(), blas=False) == Options()
        self._layouts: set[tuple[str | None, ...]] = set()
        self._compiling = lock()
        self.chain = Chain()
        self.signature_cache.served = lambda: self.chain.calls
        self.__name__ = source.name
        self.remake: tuple[Callable[..., Any], tuple[Any, ...]] | None = None  # for pickles, if not from the source
        if is_native(self):
            lookup.watch(self)

    def __repr__(self) -> str:
        shown = getattr(self._source, "shown_parameters", self._source.parameters)
        return f"<weft kernel {self._source.name}({', '.join(shown)})>"

    def described(self) -> str:
        """Return the declaration and the comment above it, for `help()`."""
        declared = getattr(self._source, "signature", None) or f"{self._source.name}({', '.join(self.parameters)})"
        comment = getattr(self._source, "comment", "")
        return f"{declared}\n\n{comment}" if comment else str(declared)

    def _repr_html_(self) -> str:
        from .views import kernel_html

        title, _, comment = (self.__doc__ or "").partition("\n\n")
        return kernel_html(title, getattr(self._source, "text", ""), comment, self.signature_cache)

    def __reduce__(self) -> Any:
        return self.remake or (_unpickled, (self._source, self._lookup, self._options, self._tuner))

    def __dask_tokenize__(self) -> Any:
        from ..ir.support.pickles import token

        return token("weft.kernel", self._source, self._options.backend, self._options.blas, self._options.variant)

    def served(self, form: CallForm, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Any:
        return self.serve_for(self, self.chain, form, args, kwargs, out)

    def serve_for(
        self,
        instance: Any,
        chain: Chain,
        form: CallForm,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        out: Any,
    ) -> Any:
        """Serve a call of `instance`, which is this kernel or stands for it; labels of pandas and xarray are kept."""
        names = self._source.parameters
        labels = None
        if any(type(x).__module__.startswith(("pandas", "xarray")) for x in (*args, *kwargs.values())):
            from .labels import labels_of

            labels = labels_of(self._source.name, names, args, kwargs)
        result = self.serve(instance, chain, form, names, {}, self.arguments(args, kwargs), out)
        return result if labels is None or out is not None else labels.put_on(result)

    def inlined(self, trace: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        from ..frontend.tracing.inlining import KernelCall

        return trace.apply(KernelCall(self._source), tuple(self._in_order(args, kwargs)), {})

    @property
    def __signature__(self) -> Any:
        """The parameters with their defaults, for `inspect.signature`; `out` takes an array for the result."""
        from inspect import Parameter, Signature

        names, defaults, _ = self._takes
        kind, other = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
        found = [Parameter(name, kind, default=defaults.get(name, Parameter.empty)) for name in names]
        return Signature(found if "out" in names else [*found, Parameter("out", other, default=None)])

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the arguments, in order."""
        return self._source.parameters

    def serve(
        self,
        instance: Any,
        chain: Chain,
        form: CallForm,
        parameters: Sequence[str],
        fixed: Mapping[str, Any],
        arguments: Sequence[CallArgument],
        out: Any,
    ) -> Any:
        """Run a call for `instance`, and learn from it so that calls with the same signature run faster."""
        chain.drop_expired(instance)
        generation = self._lookup.generation
        result, turn = self.run(arguments, out, is_sample=not chain.is_empty)
        guards = self._guards()
        if is_native(instance) and self._is_usual:
            named = dict(zip(self._source.parameters, arguments, strict=True))
            learn(instance, chain, form, turn.lowered, named, out, parameters, fixed, guards)
            if self._tuner is not None:
                self._tuner.ask_again(chain, turn)
        if self._lookup.generation != generation:  # the learned entries may belong to an outdated graph
            chain.clear(instance)
        return result

    def forget(self) -> None:
        """Drop the native entries: the registry has changed. The next call checks whether its graph is still valid."""
        self.chain.clear(self)

    def _guards(self) -> list[Guard] | None:
        """List what must be unchanged besides the arguments; None if identity can't tell."""
        return self._source.guards() if hasattr(self._source, "guards") else []

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[CallArgument]:
        """Prepare the arguments of a call, in the order of the parameters."""
        given = zip(self._takes.names, self._in_order(args, kwargs), strict=True)
        sizes = self._takes.sizes
        return [prepare_size(n, x) if n in sizes else prepare(n, x) for n, x in given]

    def _in_order(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        names, defaults, _ = self._takes
        if len(args) == len(names) and not kwargs:
            return args
        return in_order(self._source.name, names, args, kwargs, defaults)

    def run(self, arguments: Sequence[CallArgument], out: Any = None, is_sample: bool = False) -> tuple[Any, Turn]:
        """Find or compile the graph for the arguments and run it; return the result and what ran.

        `is_sample` means that native entries serve most calls, and this call is one of the few that come here.
        """
        tried: list[Lowered] = []
        rebuilds = 0
        while rebuilds <= MAX_REBUILDS:
            env: dict[str, int] = {}
            found = self._find(arguments, out, env, tried)
            lowered, inputs = found.lowered, found.inputs
            if (refused := lowered.built.refused) is not None:
                raise type(refused)(refused.message, refused.span, refused.hint)  # a kept one would keep the arguments
            turn = self._tuner.turn(lowered, env, self._lookup, is_sample) if self._tuner else Turn(lowered)
            names, built = self._source.parameters, lowered.built
            changed = changed_arrays(built, names, arguments, out) if built.updates else None
            try:
                return self._launch(turn, inputs, [a.given for a in arguments], env, out, changed), turn
            except SizesChanged:
                tried.append(lowered)
                rebuilds += found.is_new
        raise TraceProblem(
            f"{self._source.name}: {', '.join(lowered.fallbacks)} returns a new dtype, rank or shape at every call",
            hint="call it outside the kernel and pass the result in",
        )

    def lower(self, *args: Any, out: Any = None, **kwargs: Any) -> Lowered:
        """Return the compiled form for these arguments without running it; `.ir()` prints its graph."""
        lowered, sizes = self.sized(*args, out=out, **kwargs)
        return replace(lowered, source=self._source, sizes=sizes)

    def sized(self, *args: Any, out: Any = None, **kwargs: Any) -> tuple[Lowered, dict[str, int]]:
        """Return the graph for these arguments, together with their sizes."""
        env: dict[str, int] = {}
        return self._find(self.arguments(args, kwargs), out, env).lowered, env

    def in_variant(self, variant: Variant) -> Kernel:
        """Return the same kernel, compiled as this variant and never as another."""
        return type(self)(self._source, self._lookup, replace(self._options, variant=variant))

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Describe how the kernel is compiled for these arguments."""
        return self.lower(*args, **kwargs).explain()

    # -- compiled graphs

    def _key(self, arguments: Sequence[CallArgument], out: Any) -> tuple[Any, Layouts]:
        """Return the signature and the layout classes: of the arguments, of `out`, and whether they are general."""
        layouts = tuple(a.layout for a in arguments)
        outs = _out_layouts(out)
        combination = (*layouts, *(outs or ()))
        general = combination not in self._layouts and len(self._layouts) >= MAX_LAYOUTS
        if general:
            layouts = tuple(x if x == SCALAR else GENERAL for x in layouts)
            outs = outs and tuple(x and GENERAL for x in outs)
        captures = self._source.captures() if hasattr(self._source, "captures") else ()
        types = tuple((a.dtype.name, _kind_of_number(a.given), tuple(n == 1 for n in a.array.shape)) for a in arguments)
        return (types, layouts, outs, general, captures), (layouts, outs, general)

    def _find(
        self, arguments: Sequence[CallArgument], out: Any, env: dict[str, int], tried: Sequence[Lowered] = ()
    ) -> Found:
        """Find or compile the graph for the arguments, skipping those already `tried`."""
        key, asked = self._key(arguments, out)
        layouts, outs, general = asked
        arrays = [a.array for a in arguments]
        ordered = None in (outs or (None,))
        inputs = arrays

        def bind(lowered: Lowered, has_code: bool = True) -> bool:
            nonlocal inputs
            env.clear()
            inputs = [*arrays, *lowered.built.hidden]
            if any(lowered.built is t.built for t in tried) or not bind_call(lowered, inputs, env, has_code):
                return False
            if not ordered or lowered.any_order or (GENERAL not in layouts and lowered.has_settled_orders):
                return True
            return agree(lowered.built.graph, env, orders_of(lowered, inputs, env), lowered.orders)

        def bind_current(lowered: Lowered) -> bool:
            return self._lookup.is_current(lowered.uses) and bind(lowered, has_code=False)

        is_new = False
        found = self.signature_cache.find(key, bind_current)
        if found is None:
            with self._compiling:  # another thread may have compiled it meanwhile
                found = self.signature_cache.find(key, bind_current)
                if found is None:
                    found, is_new = self._lower(arguments, asked, bind), True
                    self.signature_cache.add(key, found)
                    if not general:
                        self._layouts.add((*layouts, *(outs or ())))
            if not bind(found, has_code=False):
                raise VerifyProblem(
                    f"{self._source.name}: the graph does not match the arguments that it was built for"
                )
        return Found(found if bind(found) else self._sibling(found, env, bind), inputs, is_new)

    def _sibling(self, lowered: Lowered, env: dict[str, int], bind: Callable[[Lowered], bool]) -> Lowered:
        """Return the same graph in forms for these sizes, compiling it if needed."""
        sizes = dict(env)
        with self._compiling:
            siblings = lowered.loaded.siblings
            found = next(filter(bind, siblings), None)
            if found is None:
                make = partial(lowered.for_sizes, sizes)
                found = lowered.stored(bind, make) if lowered.stored is not None else make()
                found.loaded.siblings = siblings
                siblings.append(found)
            if not bind(found):
                raise VerifyProblem(
                    f"{self._source.name}: the graph does not match the arguments that it was built for"
                )
        return found

    def _lower(self, arguments: Sequence[CallArgument], asked: Layouts, bind: Callable[[Lowered], bool]) -> Lowered:
        layouts, outs, general = asked
        request = Request(
            [a.type for a in arguments],
            layouts,
            [a.array.shape for a in arguments],
            [a.array.strides for a in arguments],
            outs,
            general,
        )
        preloader.prepare()
        with compiling(self._source.name):
            return find_or_lower(self._source, request, self._lookup, self._options, bind)

    # -- running

    def _launch(
        self,
        turn: Turn,
        inputs: list[np.ndarray[Any, Any]],
        passed: list[Any],
        env: dict[str, int],
        out: Any,
        changed: Sequence[np.ndarray[Any, Any] | None] | None = None,
    ) -> Any:
        """Run a compiled graph; `changed` holds the arguments to write outputs to once all outputs are computed."""
        lowered = turn.lowered
        check_bounds(lowered.bounds, passed)
        for footprint in lowered.footprints:
            footprint.check(env)
        inputs = converted(lowered.built.graph, inputs, [*passed, *lowered.built.hidden])
        count = len(lowered.graph.outputs)
        wanted = as_outputs(out, count) if out is not None else (None,) * count
        for k, (value, given) in enumerate(zip(lowered.graph.outputs, wanted, strict=True)):
            if given is not None and all(dims.symbols(s) <= env.keys() for s in value.type.shape):
                check_out(given, tuple(dims.evaluate(s, env) for s in value.type.shape), value.type.dtype, k, count)
        is_open = lowered.any_order and any(x is None for x in wanted)
        orders = orders_of(lowered, inputs, env) if is_open else lowered.orders
        if self._options.backend == "reference":
            from ..backends import reference

            strides: dict[int, list[tuple[int, ...]]] = {}
            calls = noting_strides(checked_calls(lowered.meaning, lowered.built.calls, env), strides)
            outputs = list(reference.run(lowered.meaning, inputs, env, calls))
        else:
            memory = memory_of(lowered, wanted, inputs, orders)
            start = time.perf_counter()
            orders_before = partial(call_orders, lowered, inputs, env)
            outputs, strides = lowered.launcher.run(inputs, env, memory, orders_before)
            seconds = time.perf_counter() - start
            lowered.loaded.seconds.setdefault("first run", seconds)
            if self._tuner is not None:
                self._tuner.took(turn, seconds)
        if strides:
            orders = orders_of(lowered, inputs, env, strides)
        if not lowered.writes_all_outputs:
            outputs = fresh_outputs(outputs, orders, inputs, wanted)
        return handed_back(lowered, outputs, orders, changed or wanted)


def _kind_of_number(given: Any) -> str:
    """Classify a number: a trace tells Python bools, Python numbers and NumPy scalars apart."""
    return "bool" if isinstance(given, bool) else "scalar" if isinstance(given, np.generic) else ""


CallableKernel = native_class(Kernel)


@lru_cache(64)
def _unpickled(source: KernelSource, lookup: Registry, options: Options, tuner: Tuner | None) -> Kernel:
    """Make the kernel of a pickle. All pickles of one source share it, so that a process compiles it once."""
    if hasattr(source, "texts"):
        lookup.register_again(source)
    return CallableKernel(source, lookup, options, tuner)


def _out_layouts(out: Any) -> tuple[str | None, ...] | None:
    """Return the layout classes of the caller's output arrays; None for a result without one."""
    if out is None:
        return None
    given = out if isinstance(out, (tuple, list)) else (out,)
    return tuple(classify(x.shape, x.strides, x.itemsize) if isinstance(x, np.ndarray) else None for x in given)
