"""Make a kernel source from a Python function that uses NumPy, by tracing it.

    source = TracedFunction(f, static=("axis",))
    kernel, values = source.select((x, 2), {"axis": 0})     # the kernel for these fixed arguments, the others in order
    built = kernel.build(kernel.bind(types), types)

`None`, strings, tuples, dtypes and the arguments that `static` names are fixed when the function is traced: each
combination of them has its own kernel. All other arguments are arrays and numbers. A trace that needs an argument
as a Python number, as in `range(n)` or `np.zeros(n)`, raises `NumbersNeeded`; then that argument is fixed, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, TypeVar

import numpy as np

from ...ir.builder import Builder
from ...ir.errors import Span, TraceProblem, TypeProblem, WeftError, nearest, quantity, type_of
from ...ir.facts import Facts
from ...ir.graph import Node
from ...ir.lazy import cached_property
from ...ir.ops import NUMPY
from ...ir.source import ArgType, Binding, Built, Evaluate, Guard, Packed, are_kept, function_guards, rebuilt
from ...ir.types import TensorType
from ..programs.reading.state import is_usual, state_guards
from .captures import Captures
from .derived import is_derived
from .impure import impure_loads, watched
from .locate import definition
from .outputs import finish, refuse_same_containers
from .packing import MOST_NUMBERS, holds_arrays, is_container, is_same, numbers_in, packed, unpacked
from .standins import seen
from .symbolic import new_symbols
from .trace import Trace, other_byte_order
from .tracer import Tracer

T = TypeVar("T")
Key = tuple[tuple[str, Any], ...]
MOST_STEERING = 4  # values of numbers that steer a trace; for more of them a function should not be traced as a whole
MOST_VALUES = 16  # the same for strings, and for the lengths and keys of containers
MAX_KERNELS = 256  # how many combinations of fixed arguments are kept


class NumbersNeeded(TraceProblem):
    """The trace can't continue without the values of some number arguments; `problem` is the error it met."""

    def __init__(self, names: frozenset[str], problem: Exception | None = None) -> None:
        if isinstance(problem, WeftError):
            super().__init__(problem.message, problem.span, problem.hint)
        else:
            super().__init__(f"the numbers behind {', '.join(sorted(names))} are needed to trace the function")
        self.names = names


class TracedFunction:
    """A function before its arguments are known. `evaluate` runs the graph so far when NumPy must run a call."""

    def __init__(
        self,
        function: Callable[..., Any],
        static: Sequence[str] = (),
        evaluate: Evaluate | None = None,
        strict: bool = False,
        unrolls: bool = False,
    ) -> None:
        if not callable(function):
            raise TypeProblem(f"expected a function, not {type_of(function)}")
        self.function = function
        self.static = (static,) if isinstance(static, str) else tuple(static)
        self.evaluate = evaluate
        self.strict = strict  # whether what could differ from Python is refused
        self.unrolls = unrolls  # whether loops of many steps are traced even so
        self._read_signature()
        self._kernels: dict[Any, TracedKernel] = {}
        self._needed: frozenset[str] = frozenset()  # arguments that are fixed if they are numbers
        self.cuts_by_numbers = False  # whether a trace had NumPy take parts of arrays at positions that are arguments
        self._varied: frozenset[str] = frozenset()  # arguments that were fixed, though no user asked for it

    def _read_signature(self) -> None:
        function = self.function
        self._fields = function_guards(function) if isinstance(function, FunctionType) else []
        self.signature = _signature(function, self.static)
        for name in ("_numbers", "_plain"):
            self.__dict__.pop(name, None)

    @property
    def name(self) -> str:
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def takes_out(self) -> bool:
        """Whether `out` is an argument of the function itself rather than the memory for its results."""
        given = self.signature.parameters
        return "out" in given or any(p.kind is p.VAR_KEYWORD for p in given.values())

    @property
    def parameters(self) -> tuple[str, ...]:
        return self._plain.parameters

    def for_instance(self, instance: Any) -> TracedFunction:
        """Bind the function to an object, as a method."""
        return TracedFunction(
            MethodType(self.function, instance), self.static, self.evaluate, self.strict, self.unrolls
        )

    def select(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[TracedKernel, tuple[Any, ...]]:
        """Return the kernel for the fixed arguments of a call, and the other values in order."""
        if not are_kept(self._fields):
            self._read_signature()
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise _misfit(self.name, self.signature, kwargs, error) from error
        given = {**self._numbers, **bound.arguments}
        given = {k: given[k] for k in self.signature.parameters if k in given}
        fixed: dict[str, Any] = {}
        values: dict[str, Any] = {}
        for name, value in given.items():
            if name in self.static or is_static(value):
                fixed[name] = value
            elif is_container(value):
                fixed[name], inside = packed(name, value, self._is_input, given)
                values |= inside
            elif self._is_input(name, value):
                values[name] = value
            elif is_number(value) and (is_plain(value) or not self.strict):
                fixed[name] = value
            else:
                raise _unfit(self.name, name, value)
        return self._kernel(fixed, tuple(values)), tuple(values.values())

    def inlined(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Run the function as part of the trace that an argument belongs to."""
        trace = next(x._trace for x in (*args, *kwargs.values()) if isinstance(x, Tracer))
        return (seen(self.function, trace) if isinstance(trace, Trace) else self.function)(*args, **kwargs)

    def _is_input(self, name: str, value: Any) -> bool:
        return (is_plain(value) if self.strict else is_dynamic(value)) and not (
            name in self._needed and is_number(value)
        )

    def with_numbers(self, run: Callable[[], T]) -> T:
        """Return the result of `run`. While it needs numbers, fix more arguments and trace again."""
        while True:
            try:
                return run()
            except NumbersNeeded as error:  # names arguments that are not fixed yet
                self._needed |= error.names

    @property
    def often_fixed(self) -> frozenset[str]:
        """Return the arguments whose values steer the trace, if there were traces for many of these values."""
        most = MOST_STEERING if self._needed else MOST_VALUES
        return self._varied if len(self._kernels) > most else frozenset()

    def bind(self, args: Sequence[ArgType]) -> Binding:
        return self._plain.bind(args)

    def build(self, binding: Binding, args: Sequence[ArgType] | None) -> Built:
        return self._plain.build(binding, args)

    def captures(self) -> tuple[Any, ...]:
        """Describe what guards the trace besides the arguments; if it changes, the function must be traced again."""
        return self.captured.describe()

    def guards(self) -> list[Guard] | None:
        """List the outside names that must still mean the same objects, or None if that is not enough."""
        found = self.captured.guards()
        if found is None or not self.strict:
            return found
        if not is_usual():
            return None
        return [*found, *state_guards()]

    @cached_property
    def captured(self) -> Captures:
        """The values that the function reads from outside."""
        return Captures(self.function)

    @cached_property
    def _numbers(self) -> dict[str, Any]:
        """List the defaults that are numbers and so become arguments; the function applies its other defaults."""
        if not hasattr(self.function, "__code__"):
            return {}
        named = self.signature.parameters.items()
        return {k: p.default for k, p in named if k not in self.static and is_dynamic(p.default)}

    @cached_property
    def _plain(self) -> TracedKernel:
        """Return the kernel without fixed arguments."""
        free = [k for k, p in self.signature.parameters.items() if p.default is p.empty or k in self._numbers]
        if missing := [k for k in free if k in self.static]:
            raise TypeProblem(f"{self.name} needs a value for its static argument '{missing[0]}'")
        return self._kernel({}, tuple(free))

    def _kernel(self, fixed: Mapping[str, Any], parameters: tuple[str, ...]) -> TracedKernel:
        try:
            key = (tuple((k, _typed(v)) for k, v in fixed.items()), parameters)
            found = self._kernels.get(key)
        except TypeError as error:
            wrong = next(k for k, v in fixed.items() if not _is_hashable(v))
            if wrong not in self.static:
                raise TypeProblem(
                    f"{self.name}: the argument '{wrong}', a {_bare(fixed[wrong])}, must hold only arrays and numbers",
                    hint="pass its contents as separate arguments",
                ) from error
            raise TypeProblem(
                f"{self.name}: the static argument '{wrong}' is {type_of(fixed[wrong])}, which is not hashable",
                hint="pass a tuple instead of a list, and pass arrays as separate arguments",
            ) from error
        if found is None:
            own = {name: rebuilt(value, lambda item: item) for name, value in fixed.items()}  # lists may change
            found = self._kernels.setdefault(key, TracedKernel(self, own, parameters))
            self._varied |= fixed.keys() - self.static
            if len(self._kernels) > MAX_KERNELS:
                del self._kernels[next(iter(self._kernels))]
        return found


class TracedKernel:
    """A function with its fixed arguments: a `KernelSource`."""

    def __init__(self, source: TracedFunction, fixed: Mapping[str, Any], parameters: tuple[str, ...]) -> None:
        self.source = source
        self.fixed = fixed
        self.parameters = parameters

    @property
    def name(self) -> str:
        return self.source.name

    def captures(self) -> tuple[Any, ...]:
        return self.source.captures()

    def guards(self) -> list[Guard] | None:
        return self.source.guards()

    def bind(self, args: Sequence[ArgType]) -> Binding:
        if len(args) != len(self.parameters):
            raise TypeProblem(f"{self.name} takes {quantity(len(self.parameters), 'argument')}, not {len(args)}")
        sizes: dict[str, int] = {}
        named = zip(self.parameters, args, strict=True)
        types = [TensorType(a.dtype, new_symbols(name, a.shape, sizes)) for name, a in named]
        return Binding(tuple(types), sizes)

    def build(self, binding: Binding, args: Sequence[ArgType] | None) -> Built:
        sizes = dict(binding.sizes)
        builder = Builder(self.name, Facts(sizes if args is not None else None))
        trace = Trace(builder, sizes, self.source.evaluate, self.source.strict, self.source.unrolls)
        inputs: dict[str, Any] = {}
        for i, (name, type_) in enumerate(zip(self.parameters, binding.types, strict=True)):
            scalar = args is not None and isinstance(args[i].value, (bool, np.generic))
            value = builder.input(name, type_, scalar)
            if args is not None and args[i].value is not None:
                trace.know(value, args[i].value)
                if is_number(args[i].value):
                    trace.numbers[value] = name
                if isinstance(args[i].value, bool):
                    trace.bools.add(value)
            inputs[name] = Tracer(trace, value, argument=name)
        given = {name: inputs[name] for name in self.source.signature.parameters if name in inputs}
        given |= {name: unpacked(value, inputs) for name, value in self.fixed.items()}
        captures = self.source.captured
        before = captures.describe()
        try:
            with watched(impure_loads(captures.functions)):
                returned = _called(self.source, seen(self.source.function, trace), given)
            if self.source.strict:
                defaults = [parameter.default for parameter in self.source.signature.parameters.values()]
                refuse_same_containers(trace, (*given.values(), *defaults), returned, self._span)
            graph, structure, updates = finish(trace, list(inputs.values()), returned, self._span, self.source.strict)
        except Exception as error:
            if trace.needed:  # NumPy may have replaced our error by its own
                raise NumbersNeeded(frozenset(trace.needed), error) from error
            raise
        finally:
            trace.release()
        if trace.needed:  # the function continued after the error
            raise NumbersNeeded(frozenset(trace.needed))
        for name, value in self.fixed.items():
            if not is_same(given[name], unpacked(value, inputs)):
                raise TraceProblem(
                    f"{self.name} changes its argument '{name}', {type_of(given[name])}, in place", self._span,
                    "the caller's object would not change; make a new one and return it",
                )  # fmt: skip
        if (changed := captures.changed(before)) is not None:
            raise TraceProblem(
                f"{self.name} changes '{changed}', which is defined outside it; compiled code would not repeat this",
                self._span,
                "return the new value, and assign it outside the function",
            )
        self.source.cuts_by_numbers |= any(map(_cuts_by_numbers, graph))
        if not captures.by_content:
            captures.by_content = is_derived(captures.named, captures.functions, trace.used)
        return Built(
            graph, tuple(trace.hidden), trace.calls, structure, updates, refused=trace.refused, lazy=tuple(trace.lazy)
        )

    @property
    def _span(self) -> Span | None:
        code = getattr(self.source.function, "__code__", None)
        return definition(code) if code is not None else None


def _cuts_by_numbers(node: Node) -> bool:
    is_part = node.op is NUMPY and node.attrs["function"] == "numpy.ndarray.__getitem__"
    return is_part and len(node.operands) > 1 and all(v.type.rank == 0 for v in node.operands[1:])


def is_static(value: Any) -> bool:
    """Tell whether an argument is fixed because of its type; integers outside the range of i64 are, too."""
    if isinstance(value, Tracer):
        return False
    if type(value) is int:
        return not -(2**63) <= value < 2**63
    if is_container(value):
        return not holds_arrays(value) and not 0 < numbers_in(value) <= MOST_NUMBERS
    return value is None or value is Ellipsis or isinstance(value, (str, bytes, type, np.dtype, slice))


def is_number(value: Any) -> bool:
    """Tell whether an argument is a number of Python or NumPy."""
    return not isinstance(value, Tracer) and isinstance(value, (bool, int, float, complex, np.bool_, np.number))


def is_dynamic(value: Any) -> bool:
    """Tell whether an argument is an array or a number."""
    if isinstance(value, Tracer):
        return True
    if isinstance(value, np.ndarray):
        return type(value) in (np.ndarray, np.memmap)
    return isinstance(value, (bool, int, float, complex, np.generic)) or (
        hasattr(value, "__array__") or hasattr(value, "__dlpack__")
    )


def is_plain(value: Any) -> bool:
    """Tell whether an argument is exactly an array or a number: subclasses have a meaning of their own.

    Neither is an array in another byte order, which NumPy keeps in copies, choices and sorted arrays.
    """
    kind = type(value)
    if kind in (np.ndarray, np.memmap):
        return bool(value.dtype.isnative)
    return kind in (bool, int, float, complex) or (isinstance(value, np.generic) and kind.__module__ == "numpy")


def _called(source: TracedFunction, function: Callable[..., Any], given: Mapping[str, Any]) -> Any:
    """Call the function on tracers: by position, and by name after the first argument that keeps its default."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    by_name = False
    for name, parameter in source.signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            args += given.get(name, ())
            by_name = True
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            kwargs |= given.get(name, {})
            continue
        by_name = by_name or name not in given or parameter.kind is parameter.KEYWORD_ONLY
        if name in given and by_name:
            kwargs[name] = given[name]
        elif name in given:
            args.append(given[name])
    try:
        return function(*args, **kwargs)
    except (TypeError, ValueError) as error:
        # NumPy may put an error of its own in front of ours, as in `array[0] = traced`.
        if isinstance(error.__cause__, TraceProblem):
            raise error.__cause__ from None
        raise


def _signature(function: Callable[..., Any], static: tuple[str, ...]) -> inspect.Signature:
    name = getattr(function, "__name__", "the function")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise TypeProblem(f"can't read the signature of {name}", hint="wrap it in a def or a lambda") from error
    for wanted in static:
        if wanted not in signature.parameters:
            hint = nearest(wanted, list(signature.parameters))
            raise TypeProblem(f"{name} has no argument '{wanted}' to make static", hint=hint)
    return signature


def _typed(value: Any) -> Any:
    """Make a key that tells 1 from 1.0 and True; raise TypeError for a value that is not hashable."""
    if isinstance(value, Packed):
        return Packed, _typed(value.tree)
    if type(value) is dict:
        return dict, tuple((_typed(key), _typed(item)) for key, item in value.items())
    if is_container(value):
        return type(value), tuple(_typed(item) for item in value)
    if isinstance(value, slice):
        return slice, _typed((value.start, value.stop, value.step))
    hash(value)
    return type(value), repr(value) if isinstance(value, (float, complex, np.inexact)) else value


def _bare(value: Any) -> str:
    return type(value.tree if isinstance(value, Packed) else value).__name__


def _is_hashable(value: Any) -> bool:
    try:
        _typed(value)
    except TypeError:
        return False
    return True


def _misfit(name: str, signature: inspect.Signature, kwargs: Mapping[str, Any], error: TypeError) -> WeftError:
    unknown = [k for k in kwargs if k not in signature.parameters]
    hint = nearest(unknown[0], list(signature.parameters)) if unknown else None
    return TypeProblem(f"{name}: {error}", hint=hint or f"its arguments are {', '.join(signature.parameters)}")


def _unfit(function: str, name: str, value: Any) -> WeftError:
    if type(value) in (np.ndarray, np.memmap):
        return other_byte_order(f"{function}: argument '{name}'", value)
    hint = f"name it in jit(static=('{name}',)) if it is fixed"
    if hasattr(value, "to_numpy"):
        hint = "pass its array: x.to_numpy()"
    if type(value).__module__.startswith("dask.array"):
        hint = "weft.dask.explain(kernel, ...) shows how a kernel runs on dask arrays"
    if isinstance(value, np.ndarray):
        hint = "Weft would ignore the subclass; pass np.asarray(x), or x.filled(...) for a masked array"
    return TypeProblem(f"{function}: argument '{name}' is {type_of(value)}, not an array or a number", hint=hint)
