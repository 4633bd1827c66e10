"""Record one trace: calls of NumPy on tracers become nodes of a graph.

A call without an op becomes a `numpy` node (see `fallback`). Each array from outside becomes a hidden input. It must
not change while the trace runs, because it is read again at each call.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.builder import Builder, is_scalar_result
from ...ir.dims import Size, symbol
from ...ir.dtypes import BOOL, WEAK_INT, DType, from_numpy, is_scalar
from ...ir.errors import Span, TraceProblem, TypeProblem, Unsupported, WeftError, quantity, type_of
from ...ir.graph import Value
from ...ir.source import Evaluate, LazyArray
from ...ir.types import TensorType
from ..maker import Maker, NumberNeeded, literal
from ..numbers import inputs_behind
from ..numpy import functions
from ..numpy.arrangements import LISTS, takes_array, takes_arrays
from ..numpy.elementwise import ELEMENTWISE
from ..numpy.powers import OPERATOR
from ..numpy.shapes import broadcast_to
from .callables import ITSELF, ON_MATRICES, OPERATORS, SOMETIMES_VIEWS, SPECIAL_NAMES, VIEWS, Method, numpy_name
from .fallback import Fallback
from .inlining import KernelCall, inline
from .keys import holds_tracers, items_of
from .locate import here
from .named_ops import NamedOp
from .piecewise import piecewise
from .symbolic import TracedSize, new_symbols
from .tracer import READ_ONLY, VIEW, Error, Tracer, share, viewed
from .writing import split_out, written

ARRAYS = frozenset(("weights", "mean"))  # arguments in which a list is an array
CASES = frozenset((0, 1, "condlist", "choicelist"))  # arguments of `select` in which each item of a list is an array
PARTS = frozenset(("real", "imag"))  # of a Python number, Python numbers
UNLIKE_SCALARS = frozenset(("dot", "partition", "argpartition"))  # methods of arrays that NumPy's scalars lack
STORED = (np.ndarray, np.generic, bool, int, float, complex)
PYTHONS = (bool, int, float, complex)
LOGIC = frozenset((operator.and_, operator.or_, operator.xor))  # of Python bools, a Python bool
ORDERS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}
_HARMLESS = frozenset((operator.add, operator.sub, operator.mul, operator.neg, operator.pos, operator.abs))
_COMPARING = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))
SPREADING = frozenset((*ELEMENTWISE, OPERATOR)) - {"astype", "select"}  # functions that take a list as an array
MOST_REPEATS = 64  # operations that are recorded once more at the same place


class Trace:
    """Builds the graph of one call of a function. `values` are the actual arguments, by input."""

    def __init__(
        self, builder: Builder, sizes: dict[str, int], evaluate: Evaluate | None = None, strict: bool = False,
        unrolls: bool = False,
    ) -> None:  # fmt: skip
        self.is_strict = strict  # whether Python's numbers are computed by Python alone
        self._unrolls = unrolls or not strict  # whether loops of many steps are traced even so
        self.refused: WeftError | None = None  # why calls must be left to Python
        self.builder = self._root = builder  # replaced while a step of a loop is traced
        self.sizes = sizes
        self.hidden: list[np.ndarray[Any, Any]] = []
        self.lazy: list[LazyArray] = []
        self.open = True
        self.at: Span | None = None  # the place of a recorded call, if the calls are replayed
        self.numbers: dict[Value, str] = {}  # the arguments that are numbers, by input
        self.bools: set[Value] = set()  # the values that are Python bools
        self.numpys: set[Value] = set()  # numbers that a function of NumPy made of Python's
        self.needed: set[str] = set()  # the numbers that must be fixed before the function can be traced
        self._captured: dict[int, tuple[object, Value, np.ndarray[Any, Any]]] = {}
        self._fallback = Fallback(self, evaluate)
        self._places: set[Span | None] = set()  # where something was recorded
        self._repeats = 0  # what was recorded at a place where something was recorded before
        self._raised: list[Exception] = []  # the errors that the user's code has seen
        self.used: list[Any] = []  # arrays and NumPy numbers that are not traced

    @property
    def calls(self) -> tuple[Callable[..., tuple[Any, ...]], ...]:
        return tuple(self._fallback.calls)

    def add_calls(self, calls: Sequence[Callable[..., tuple[Any, ...]]]) -> int:
        """Add functions that nodes refer to by number, and return the number of the first."""
        self._fallback.calls += calls
        return len(self._fallback.calls) - len(calls)

    def know(self, value: Value, actual: Any) -> None:
        """Record the value of an input in the current call."""
        self._fallback.known[value] = actual

    def release(self) -> None:
        """Drop the arguments of the call, which the cycle of tracers and trace would keep alive."""
        self._fallback.known.clear()
        self._fallback.failure = None
        self._raised.clear()

    def is_python_bool(self, value: Value) -> bool:
        return value in self.bools

    def need(self, value: Value) -> None:
        """Request that the arguments behind a value become fixed, if all of them are numbers."""
        inputs = inputs_behind(value)
        if all(x in self.numbers for x in inputs):
            self.needed |= {self.numbers[x] for x in inputs}

    def noted(self, error: Error) -> Error:
        """Remember an error that the user's code will see, in case the function catches it and continues."""
        if not any(error is known for known in self._raised):
            self._raised.append(error)
        return error

    def close(self) -> None:
        """End the trace: check that captured arrays did not change, and settle errors that the function caught."""
        self.open = False
        self._settle_caught()
        lazy = {id(each.array) for each in self.lazy}
        for source, value, snapshot in self._captured.values():
            if id(source) not in lazy and not _same(np.asarray(source), snapshot):
                raise TraceProblem(
                    f"an array of type {value.type} was changed in place while the function was traced", here(),
                    "make a new array instead of changing one that was already used with traced values",
                )  # fmt: skip

    def _settle_caught(self) -> None:
        """Settle caught errors: specialise the graph on the sizes for which NumPy raises the same error.

        An error that only a trace raises, or that depends on values, is raised again.
        """
        for error in self._raised:
            if isinstance(error, (TraceProblem, Unsupported)):
                raise error
            if not isinstance(error, WeftError) or error is self._fallback.failure:
                raise TraceProblem(
                    f"an error that depends on values was caught while tracing: {type(error).__name__}: {error}",
                    self._fallback.failed_at, "move the failing call outside the function, or use np.where",
                ) from error  # fmt: skip
            if self.builder.facts.sizes is None:
                raise error
        if self._raised:
            for name in self.sizes:
                self.builder.facts.specialize(symbol(name))

    # -- calls

    def apply(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """Record a call of a NumPy function, an operator or a method, and return its result."""
        try:
            return self._applied(function, args, kwargs)
        except Exception as error:
            self.noted(error)
            raise

    def _applied(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        span = self.at or here()
        if not self.open:
            raise TraceProblem("a traced value was kept and used after its trace ended", span, "return it instead")
        self._refuse_subclasses((args, tuple(kwargs.values())), span)
        if not self._unrolls and self.builder is self._root:
            self._demand_few_steps(span)
        if self.is_strict and self.builder is self._root and function in OPERATORS:
            self._leave_to_python(function, args, span)
        if function is operator.getitem or isinstance(function, Method):
            self.leave_numbers(function, args[0])
        if function is operator.getitem:
            return self._index(args[0], args[1], span)
        if isinstance(function, Method):
            function.demand_keywords(kwargs, span)
        if isinstance(function, KernelCall):
            return inline(self, function.source, args, span)
        if isinstance(function, NamedOp) and not functions.is_known(function.name):
            return self._operate(function, args, kwargs, span)
        (args, kwargs), out = split_out(function, args, kwargs)
        if out is not None:
            return written(self, function, (args, kwargs), out, span)
        original = args, kwargs
        name, args, kwargs = _resolved(function, args, kwargs)
        if name is None or not functions.is_known(name) or any(map(self._is_swapped, original[0])):
            return self._fallback.call(function, *original, span)
        spread = name.removesuffix(functions.OUTER) in SPREADING
        mark, noted = len(self.builder.nodes), len(self._raised)
        try:
            if name == "piecewise":
                return piecewise(self, span, *args, **kwargs)
            if name == "nan_to_num" and isinstance(args[0], Tracer) and not kwargs.get("copy", True):
                made = self.apply(function, args, {**kwargs, "copy": True})
                changed = args[0]._change(made, "'nan_to_num'", "leave copy=False out")
                return changed if changed.ndim else changed[()]
            if name == "meshgrid" and not kwargs.get("copy", True):
                self.refuse(TraceProblem("'meshgrid' with copy=False returns views", span, "leave copy=False out"))
            given = self._pythonic(function, args, span)
            operands = [self._argument(name, k, x, spread, span) for k, x in enumerate(given)]
            named = {key: self._argument(name, key, x, key in ARRAYS, span) for key, x in kwargs.items()}
            found = functions.call(self.builder, name, operands, named, span)
        except NumberNeeded as error:
            if isinstance(error.value, Value):
                self.need(error.value)
            raise
        except Unsupported:
            del self.builder.nodes[mark:], self._raised[noted:]
            return self._fallback.call(function, *original, span)
        if name in ("astype", "array") and not kwargs.get("copy", True):  # it may be the array itself
            return args[0] if found is args[0].value else self._view(found, args)  # type: ignore[arg-type]
        return self._wrapped(found, function, name, args, span)

    def _demand_few_steps(self, span: Span | None) -> None:
        """Refuse to trace the many steps of a loop if Python can run the loop, because each step would be compiled."""
        self._repeats += span in self._places
        self._places.add(span)
        if self._repeats > MOST_REPEATS:
            raise TraceProblem("the steps of a loop are too many operations to trace", span, "whole=True traces all")

    def _leave_to_python(self, function: Callable[..., Any], args: tuple[Any, ...], span: Span | None) -> None:
        """Refuse arithmetic on Python's numbers alone if Python's integers or errors would differ."""
        kinds = [_python_kind(x) for x in args]
        if None in kinds or (function in _HARMLESS and "float" in kinds and "complex" not in kinds):
            return
        if OPERATORS[function] in _COMPARING:
            return
        self.refuse(TraceProblem("Python computes with its own numbers", span, "pass the result in as an argument"))

    def leave_numbers(self, function: Callable[..., Any], value: Any) -> None:
        """Refuse to use a Python number like an array: Python raises an error, or does something else."""
        is_number = type(value) is Tracer and value._value is not None and self._are_pythons(operator.pos, (value,))
        if type(value) is Tracer and isinstance(function, Method) and function.name in UNLIKE_SCALARS:
            is_number = is_number or is_scalar_result(value.value)
        if self.is_strict and self.builder is self._root and is_number:
            self.refuse(TraceProblem("a number is used as an array", self.at or here()))

    def leave_store(self, target: Any, value: Any, is_fine: bool) -> None:
        """Refuse a store that may raise: NumPy checks numbers that become integers, and refuses complex ones."""
        into, given = target.value.type.dtype, _stored_dtype(value, target.value.type.dtype)
        if given is not None and into.kind == "float":
            is_fine &= given.kind != "complex"
        elif into.kind != "complex":
            is_fine &= given == into
        if self.is_strict and not (is_fine and given is not None):
            self.refuse(TraceProblem("the stored value may not fit the array", self.at or here()))

    def leave_text(self) -> None:
        """Refuse to go on without Python if the text of a traced value is needed: it would be the text of its type."""
        if self.is_strict:
            self.refuse(TraceProblem("the text of a value is made by Python", self.at or here()))

    def refuse(self, problem: WeftError) -> None:
        """Remember why calls must be left to Python. The trace continues, so that its graph can be printed."""
        self.refused = self.refused or problem

    def fallback(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], span: Span | None
    ) -> Any:
        """Record a call that NumPy runs between compiled pieces."""
        return self._fallback.call(function, args, kwargs, span)

    @property
    def changes_arguments(self) -> bool:
        """Whether an argument may be changed in place: only in a call with arrays, outside loops."""
        return self._fallback.runs and self.builder is self._root

    def _operate(
        self, function: NamedOp, args: tuple[Any, ...], kwargs: Mapping[str, Any], span: Span | None
    ) -> Tracer:
        """Apply an op that takes only operands."""
        op = function.op()
        if op is None:
            raise function.unknown()
        if kwargs or len(args) != op.arity:
            raise TypeProblem(f"'{op.name}' takes exactly {quantity(op.arity, 'operand')}", span)
        operands = [self.operand(x, True, span) for x in args]
        return Tracer(self, Maker(self.builder, span).op(op, *operands))

    def _argument(self, name: str, place: int | str, x: Any, spread: bool, span: Span | None) -> Any:
        """Convert an argument of a function, passed by position or by name."""
        if (takes_arrays(name, place) or (name == "select" and place in CASES)) and isinstance(x, (list, tuple)):
            return tuple(self.operand(item, True, span) for item in x)
        if name == "einsum" and isinstance(x, str):
            return x  # subscripts, which may look like a dtype
        if spread and isinstance(x, (list, tuple)) and holds_tracers(x):
            x = self.apply(np.array, (x,), {})
        return self.operand(x, spread or takes_array(name, place), span)

    def _pythonic(self, function: Callable[..., Any], args: tuple[Any, ...], span: Span | None) -> tuple[Any, ...]:
        """Convert operands as Python does: bools to ints, and an int to float before a negative power."""
        if self._are_pythons(function, args):
            args = self._as_python(function, args, span)
        if function is not operator.pow or len(args) != 2 or not isinstance(args[0], Tracer):
            return args
        dtype, exponent = args[0].value.type.dtype, literal(args[1])
        if not dtype.weak or dtype.kind != "int" or exponent is None or exponent >= 0:
            return args
        return self.apply(operator.mul, (args[0], 1.0), {}), args[1]

    def _are_pythons(self, function: Callable[..., Any], args: tuple[Any, ...]) -> bool:
        """Tell whether an operator is applied to Python numbers only, so that it is Python's own."""
        return (function in OPERATORS or function in (np.real, np.imag)) and all(
            x.value in self.bools or x.value.type.dtype.weak if isinstance(x, Tracer) else type(x) in PYTHONS
            for x in args
        )

    def _as_python(self, function: Callable[..., Any], args: tuple[Any, ...], span: Span | None) -> tuple[Any, ...]:
        """Convert bools to ints, unless the operator gives a bool for bools; complex numbers have no order."""
        if function in ORDERS and any(isinstance(x, complex) for x in args):
            raise TypeProblem(f"'{ORDERS[function]}' is not defined for Python's complex numbers", span)
        are_bools = [type(x) is bool or (isinstance(x, Tracer) and x.value in self.bools) for x in args]
        if all(are_bools) and function in LOGIC:
            return args
        maker = Maker(self.builder, span)
        return tuple(
            x if not is_bool else Tracer(self, maker.cast(x.value, WEAK_INT)) if isinstance(x, Tracer) else int(x)
            for x, is_bool in zip(args, are_bools, strict=True)
        )

    def _index(self, array: Any, key: Any, span: Span | None) -> Any:
        items = items_of(self, key, span)
        if items is None or self._is_swapped(array):
            return self._fallback.call(operator.getitem, (array, key), {}, span)
        made = functions.index(self.builder, array.value, items, span)
        places = [i for i in items if isinstance(i, Value)]
        is_copy = any(i.type.rank or not (i.type.dtype.weak or is_scalar_result(i)) for i in places)
        return Tracer(self, made) if is_copy else self._view(made, (array,))

    def _wrapped(
        self, found: Value | tuple[Value, ...], function: Any, name: str, args: tuple[Any, ...], span: Span | None
    ) -> Any:
        if isinstance(found, tuple):
            parts = [self._wrapped(value, function, name, args, span) for value in found]
            return parts if name in LISTS else tuple(parts)
        if found.type.dtype.weak and function not in OPERATORS and name not in PARTS:
            found = Maker(self.builder, span).cast(found, found.type.dtype.strong)
            self.numpys.add(found)
        if found in self.bools and name in VIEWS - PARTS:  # NumPy makes an array of a number that is Python's own
            found = broadcast_to(Maker(self.builder, span), found, ())
        if found.type.dtype == BOOL and self._are_pythons(function, args):
            self.bools.add(found)
        if name in ITSELF and isinstance(args[0], Tracer) and found is args[0].value:
            return args[0]
        if name == "imag" and isinstance(args[0], Tracer) and args[0].value.type.dtype.kind != "complex":
            return Tracer(self, found, READ_ONLY)
        if name in VIEWS and function != Method("flatten"):
            return self._view(found, args)
        if name in SOMETIMES_VIEWS and any(isinstance(x, Tracer) and x.value in viewed(found) for x in args):
            return self._view(found, args)
        return Tracer(self, found)

    def _view(self, value: Value, args: tuple[Any, ...]) -> Tracer:
        share(args)
        return Tracer(self, value, VIEW)

    # -- operands

    def operand(self, x: Any, spread: bool, span: Span | None) -> Any:
        """Convert an argument for the graph; with `spread`, a list becomes an array of numbers."""
        if isinstance(x, Tracer):
            return self._fallback.native(self.owned(x, span), span)
        if isinstance(x, TracedSize):
            return x.dim
        if isinstance(x, np.ndarray) or (spread and isinstance(x, (list, tuple)) and not holds_tracers(x)):
            return self.capture(x, span)
        if isinstance(x, (tuple, list, range)):
            return tuple(self.operand(item, False, span) for item in x)
        if isinstance(x, np.generic):
            from_numpy(x.dtype)
            if self.is_strict and not is_scalar(x):
                self.refuse(TraceProblem(f"{type_of(x)} may have operators of its own", span))
            self.used.append(x)
            return x
        if isinstance(x, str):
            return _numpy_dtype(x)
        is_chunked = type(x).__module__.startswith("dask.array.")  # in one of dask's modes it has no `__array__`
        if (is_chunked or hasattr(x, "__array__")) and not isinstance(x, type):
            return self.capture(x, span)
        return x

    def owned(self, x: Tracer, span: Span | None) -> Value:
        """Return the value behind a tracer of this trace."""
        if x._trace is not self:
            raise TraceProblem("a value of another trace was used here", span, "pass it as an argument")
        return x.value

    def _is_swapped(self, x: Any) -> bool:
        return isinstance(x, Tracer) and self._fallback.is_swapped(x.value)

    def capture(self, source: Any, span: Span | None) -> Value:
        """Return the hidden input for an array from outside."""
        if (found := self._captured.get(id(source))) is not None:
            return found[1]
        is_lazy = type(source).__module__.startswith("dask.")  # to read it would compute it
        try:
            array = _unread(source, span) if is_lazy else np.asarray(source)
            dtype = from_numpy(array.dtype)
        except TraceProblem as error:
            raise TraceProblem("a list that holds traced values was used as an array", span, "use np.stack") from error
        except TypeProblem as error:
            error.span = error.span or span
            raise
        if self.is_strict and not array.dtype.isnative:
            self.refuse(other_byte_order("an array from outside the function", array, span))
        name = f"captured{len(self.hidden)}"
        value = self._root.input(name, TensorType(dtype, self.symbols(name, array.shape)))
        self._captured[id(source)] = (source, value, array if is_lazy else array.copy())
        if is_lazy:
            self.lazy.append(LazyArray(len(self.hidden), source, span))
        self.hidden.append(array)
        self.used.append(source)
        if not is_lazy:
            self.know(value, array)
        return value

    def symbols(self, name: str, shape: Sequence[int]) -> tuple[Size, ...]:
        """Make new symbols for the sizes of an array that is not an argument; 1 stays 1."""
        return new_symbols(f"{name}_", shape, self.sizes)

    def _refuse_subclasses(self, tree: Any, span: Span | None) -> None:
        kind = type(tree)  # isinstance() would work out which class a tracer stands for
        if issubclass(kind, (tuple, list)):
            for item in tree:
                self._refuse_subclasses(item, span)
        elif issubclass(kind, np.ndarray) and kind is not np.ndarray:
            raise TypeProblem(
                f"{type_of(tree)} can't be used with traced values",
                span,
                "convert it with np.asarray(...) first",
            )


def _resolved(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[str | None, tuple[Any, ...], Mapping[str, Any]]:
    """Resolve a call to the name and arguments of Weft's function, and apply Python's and NumPy's special cases."""
    if function is operator.pow:
        return OPERATOR, args, kwargs
    if function in ON_MATRICES:
        return ON_MATRICES[function], args, {**kwargs, "axis1": -2, "axis2": -1}
    name, array = function.name if isinstance(function, NamedOp) else numpy_name(function), args[0] if args else None
    is_complex = isinstance(array, Tracer) and array.value.type.dtype.kind == "complex"
    if not isinstance(function, Method):
        return None if name in SPECIAL_NAMES and is_complex else name, args, kwargs
    if name in ("conj", "conjugate") and not is_complex:
        return "real", args, kwargs  # the method returns the array itself
    if function.name == "copy" and isinstance(array, Tracer) and is_scalar_result(array.value):
        # a scalar's method gives a scalar, where `np.copy` makes an array of it
        return "positive" if is_complex else "real", args, {}
    if function.name == "clip":  # unlike the function, the method can be given one limit
        limits = dict(zip(("min", "max"), args[1:], strict=False))
        if twice := limits.keys() & kwargs.keys():
            raise TypeProblem(f"clip() got multiple values for argument '{min(twice)}'")
        return name, args[:1], {**limits, **kwargs}
    if name in SPECIAL_NAMES and is_complex:
        return None, args, kwargs
    return name, args, kwargs


def other_byte_order(what: str, array: np.ndarray[Any, Any], span: Span | None = None) -> TraceProblem:
    return TraceProblem(
        f"{what} has the dtype {array.dtype.str}, in another byte order than the machine's", span,
        "convert it with x.astype(x.dtype.newbyteorder('='))",
    )  # fmt: skip


def _numpy_dtype(text: str) -> Any:
    """Resolve NumPy's name of a dtype (`i8` has eight bytes); leave other text and single letters (orders) alone."""
    if len(text) < 2:
        return text
    try:
        return np.dtype(text)
    except TypeError:
        return text


def _unread(source: Any, span: Span | None) -> np.ndarray[Any, Any]:
    """Stand in for a lazy array: an array of its dtype and shape without its elements."""
    if any(n != n for n in source.shape):
        raise Unsupported("a dask array has chunks of unknown sizes", span, "call its compute_chunk_sizes() first")
    return np.broadcast_to(np.zeros((), source.dtype), source.shape)


def _same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)


def _stored_dtype(x: Any, into: DType) -> DType | None:
    """Return the dtype of a value that is stored to an array. An int that fits an integer array takes its dtype."""
    if isinstance(x, Tracer):
        return x.value.type.dtype
    if isinstance(x, int) and (into.is_integer or abs(x) >= 2**63):
        limits = np.iinfo(into.numpy if into.is_integer else np.int64)
        return into if limits.min <= x <= limits.max else None
    return from_numpy(np.asarray(x).dtype) if isinstance(x, STORED) else None


def _python_kind(x: Any) -> str | None:
    """Return the kind of a number that is Python's own, traced or not; None for anything else."""
    if isinstance(x, Tracer):
        value = x._value
        return None if value is None or not value.type.dtype.weak else value.type.dtype.kind
    if issubclass(type(x), TracedSize):
        return "int"
    return type(x).__name__ if type(x) in (bool, int, float, complex) else None
