"""Stand in for an array while a Python function is traced: record every use, compute nothing.

NumPy's functions reach a tracer through NEP 13 and NEP 18; Python's operators and array methods reach it directly. A
use that needs the elements raises a `TraceProblem` that points at the user's line and says what to write instead.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np

from ...ir import dims
from ...ir.builder import Builder, is_scalar_result
from ...ir.dtypes import python_type
from ...ir.errors import ShapeProblem, TraceProblem, TypeProblem, Unsupported
from ...ir.graph import Value
from ...ir.ops import RESHAPE, TABLE, VIEWS
from ...ir.types import Sizes
from ..numbers import number_behind
from .callables import Method
from .locate import here
from .protocols import function_call, ufunc_call
from .symbolic import sized

Error = TypeVar("Error", bound=Exception)


class Recorder(Protocol):
    """Records calls: the trace of a function, or an expression that is built by hand."""

    @property
    def builder(self) -> Builder: ...

    def apply(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any: ...

    def is_python_bool(self, value: Value) -> bool:
        """Whether a value is an argument that is a Python bool."""

    def need(self, value: Value) -> None:
        """Report that Python, or the graph, needs the number behind a value."""

    def leave_store(self, target: Any, value: Any, is_fine: bool) -> None:
        """Leave the call to Python if NumPy may raise an error where it stores a value to all of an array."""

    def leave_text(self) -> None:
        """Leave the call to Python, because the text of a value is needed."""

    def leave_numbers(self, function: Callable[..., Any], value: Any) -> None:
        """Leave the call to Python if a Python number is used like an array."""

    @property
    def changes_arguments(self) -> bool:
        """Whether changes of an argument are written back to the caller's array."""

    def noted(self, error: Error) -> Error: ...


def _binary(function: Callable[..., Any]) -> Any:
    return lambda self, other: _operator(self, function, (self, other))


def _reflected(function: Callable[..., Any]) -> Any:
    return lambda self, other: _operator(self, function, (other, self))


def _unary(function: Callable[..., Any]) -> Any:
    return lambda self: _operator(self, function, (self,))


def _operator(tracer: Tracer, function: Callable[..., Any], operands: tuple[Any, ...]) -> Any:
    if any(issubclass(type(operand), (list, tuple)) for operand in operands):
        _refuse_sequence(tracer, function)
    return tracer._trace.apply(function, operands, {})


def _refuse_sequence(tracer: Tracer, function: Callable[..., Any]) -> None:
    """Refuse a list or a tuple next to a number: only arrays convert it; Python's numbers repeat it or raise an
    error.
    """
    kind = tracer.__class__
    is_own = kind in (bool, int, float, complex)
    if not is_own and not (function is operator.mul and issubclass(kind, np.generic)):
        return
    problem = TraceProblem("a list or a tuple beside a traced number is not an array", here(), "use np.array(...)")
    raise tracer._trace.noted(problem)


def _inplace(function: Callable[..., Any], sign: str) -> Any:
    return lambda self, other: self._update(function, sign, other)


def _multiplied() -> Any:
    """Apply `x @= y`, for which NumPy demands matrices."""

    def method(self: Tracer, other: Any) -> Any:
        if self._value is not None and (not self.ndim or np.ndim(other) < 2):
            message = "inplace matrix multiplication requires the first operand to have at least one and the second at"
            raise ShapeProblem(f"{message} least two dimensions.", here(), "write x = x @ y instead of x @= y")
        return self._update(operator.matmul, "@=", other)

    return method


def _method(name: str) -> Any:
    def method(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        return self._trace.apply(Method(name), (self, *args), kwargs)

    return method


def _varied(name: str) -> Any:
    """Make a method that takes sizes or axes as one tuple or as separate arguments."""

    def method(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        given = args[0] if len(args) == 1 else args
        return self._trace.apply(Method(name), (self, given) if args else (self,), kwargs)

    return method


def _leaves(what: str, advice: str, why: str = "would leave the trace") -> Any:
    """Make a method that is refused because it needs the elements."""

    def method(self: Tracer, *args: Any, **kwargs: Any) -> Any:
        if self._value is not None:
            self._trace.need(self._value)
        raise self._trace.noted(TraceProblem(f"{what} of a traced value {why}", here(), advice))

    return method


def _converts(convert: Callable[..., Any], what: str, advice: str, why: str = "would leave the trace") -> Any:
    """Make a method that needs the number. A traced value only has it if it depends on nothing but sizes."""
    refuse = _leaves(what, advice, why)

    def method(self: Tracer, *more: Any) -> Any:
        number = None if self._value is None else number_behind(self._trace.builder.facts, self._value)
        return refuse(self) if number is None else convert(number, *more)

    return method


def _attribute(read: Callable[[Tracer], Any]) -> Any:
    """Make an attribute that arrays and NumPy's scalars have. Python's own numbers have none of them."""

    def attribute(self: Tracer) -> Any:
        self._trace.leave_numbers(read, self)
        return read(self)

    return property(attribute)


def _hides(name: str) -> Any:
    return property(_leaves(f".{name}", "a traced array has no memory; use its shape and dtype"))


def _kind(value: Value) -> type:
    """Return the class that a value would have in NumPy, or in Python for Python numbers."""
    dtype = value.type.dtype
    if dtype.weak:
        return python_type(dtype)
    return dtype.numpy.type if is_scalar_result(value) else np.ndarray


_KEEP = "keep it an array inside the function, and take numbers from the result after the call"
_WRITE = "arrays do not change inside a trace; build the new one with np.where(mask, new, old)"
_STATIC = "name the argument in jit(static=(...)) if it is fixed, or keep it out of shapes and ranges"

_UNKNOWN = "is not known while tracing"
_BRANCH = (
    "a branch can't depend on traced values: use np.where(condition, a, b); for a fixed flag, name the argument"
    " in jit(static=(...))"
)


VIEW = "an array that is a view of another"
READ_ONLY = "an array that is read-only"
VIEWING = frozenset((*VIEWS, TABLE["real"], TABLE["imag"]))


def viewed(value: Value) -> list[Value]:
    """Return a value, what it may be a view of, what that may be a view of, and so on."""
    chain = [value]
    while (node := chain[-1].node) is not None and node.op in VIEWING:
        chain.append(node.operands[0])
    return chain


def share(tree: Any) -> None:
    """Mark all traced arrays in nested arguments as having a view."""
    if isinstance(tree, (tuple, list)):
        for item in tree:
            share(item)
    elif isinstance(tree, Tracer) and not tree._shared:
        tree._shared = "an array that another one is a view of"


class _UfuncProtocol:
    """`__array_ufunc__` of tracers: NumPy, which asks their class for it, gets a function, and others get None.

    None means that a tracer's own operators come first. dask asks before it takes a tracer for one of its chunks.
    """

    def __get__(self, tracer: Any, owner: type) -> Callable[..., Any] | None:
        return _ufunc if tracer is None else None


def _ufunc(tracer: Tracer, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    return ufunc_call(tracer._trace, ufunc, method, inputs, kwargs)


class Tracer:
    """An array, or a number, of the function that is being traced."""

    __slots__ = ("_argument", "_record", "_shared", "_trace", "_value")
    __array_priority__ = 1000.0

    def __init__(
        self, trace: Recorder, value: Value | None, shared: str = "", record: Any = None, argument: str = ""
    ) -> None:
        self._trace = trace
        self._value = value
        self._shared = shared  # why a change in place would be visible elsewhere, if it would
        self._record = record
        self._argument = argument  # the name of the argument, if it is one

    def __repr__(self) -> str:
        self._trace.leave_text()
        return f"<traced {self._value.type}>" if self._value is not None else "<traced>"

    # -- what is known of it

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Pretend to be an array or a number for `isinstance(x, np.ndarray)` and `np.isscalar(x)`."""
        if self._value is None:
            return Tracer
        return bool if self._trace.is_python_bool(self._value) else _kind(self._value)

    @property
    def value(self) -> Value:
        """The graph value that the tracer stands for."""
        if self._value is None:
            raise Unsupported("the type of this expression is only known in a call", here(), "call NumPy on arrays")
        return self._value

    @property
    def own_shape(self) -> tuple[Any, ...]:
        """The shape, also of a number, although Python's numbers have none."""
        return tuple(sized(self._trace, size) for size in self.value.type.shape)

    shape = _attribute(lambda self: self.own_shape)
    ndim = _attribute(lambda self: self.value.type.rank)
    size = _attribute(lambda self: sized(self._trace, dims.product(self.value.type.shape)))
    dtype = _attribute(lambda self: self.value.type.dtype.numpy)
    itemsize = _attribute(lambda self: self.dtype.itemsize)
    nbytes = _attribute(lambda self: self.size * self.itemsize)
    device = _attribute(lambda self: "cpu")

    @property
    def real(self) -> Any:
        return self._trace.apply(np.real, (self,), {})

    @property
    def imag(self) -> Any:
        return self._trace.apply(np.imag, (self,), {})

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeProblem("len() of unsized object", here(), "the value has no dimensions")
        return operator.index(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeProblem("iteration over a 0-d array", here(), "the value has no dimensions")
        return (self[i] for i in range(len(self)))

    # -- NumPy's protocols

    __array_ufunc__ = _UfuncProtocol()

    def __dask_tokenize__(self) -> Any:
        """Refuse to become a part of a dask array, as in some cases of `outside * x`."""
        hint = "write the traced value first (x * other), or pass the dask array as an argument"
        raise TraceProblem("dask took a traced value into an array of its own", hint=hint)

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return function_call(self._trace, func, args, kwargs)

    # -- operators

    __add__, __radd__, __iadd__ = _binary(operator.add), _reflected(operator.add), _inplace(operator.add, "+=")
    __sub__, __rsub__, __isub__ = _binary(operator.sub), _reflected(operator.sub), _inplace(operator.sub, "-=")
    __mul__, __rmul__, __imul__ = _binary(operator.mul), _reflected(operator.mul), _inplace(operator.mul, "*=")
    __truediv__, __rtruediv__ = _binary(operator.truediv), _reflected(operator.truediv)
    __floordiv__, __rfloordiv__ = _binary(operator.floordiv), _reflected(operator.floordiv)
    __mod__, __rmod__, __imod__ = _binary(operator.mod), _reflected(operator.mod), _inplace(operator.mod, "%=")
    __pow__, __rpow__, __ipow__ = _binary(operator.pow), _reflected(operator.pow), _inplace(operator.pow, "**=")
    __divmod__, __rdivmod__ = _binary(divmod), _reflected(divmod)
    __matmul__, __rmatmul__ = _binary(operator.matmul), _reflected(operator.matmul)
    __imatmul__ = _multiplied()
    __and__, __rand__, __iand__ = _binary(operator.and_), _reflected(operator.and_), _inplace(operator.and_, "&=")
    __or__, __ror__, __ior__ = _binary(operator.or_), _reflected(operator.or_), _inplace(operator.or_, "|=")
    __xor__, __rxor__, __ixor__ = _binary(operator.xor), _reflected(operator.xor), _inplace(operator.xor, "^=")
    __lshift__, __rlshift__ = _binary(operator.lshift), _reflected(operator.lshift)
    __rshift__, __rrshift__ = _binary(operator.rshift), _reflected(operator.rshift)
    __itruediv__, __ifloordiv__ = _inplace(operator.truediv, "/="), _inplace(operator.floordiv, "//=")
    __ilshift__, __irshift__ = _inplace(operator.lshift, "<<="), _inplace(operator.rshift, ">>=")
    __eq__, __ne__ = _binary(operator.eq), _binary(operator.ne)
    __lt__, __le__, __gt__, __ge__ = (_binary(f) for f in (operator.lt, operator.le, operator.gt, operator.ge))
    __neg__, __pos__ = _unary(operator.neg), _unary(operator.pos)
    __abs__, __invert__ = _unary(operator.abs), _unary(operator.invert)

    def __getitem__(self, key: Any) -> Any:
        return self._trace.apply(operator.getitem, (self, key), {})

    def _update(self, function: Callable[..., Any], sign: str, other: Any) -> Any:
        """Apply an update such as `x += y`."""
        made = _operator(self, function, (self, other))
        return self._change(made, f"'{sign}'", f"write x = x {sign[:-1]} y", f" instead of x {sign} y")

    def _change(self, made: Tracer, what: str, advice: str, rather: str = "") -> Any:
        """Change an array in place: its dtype and shape stay, and all names of this object see the change."""
        if self._value is None or made._value is None or self._value.type.dtype.weak or is_scalar_result(self._value):
            return made
        if self._shared:
            problem = TraceProblem(f"{what} would change {self._shared} in place", here(), advice + rather)
            raise self._trace.noted(problem)
        if self._argument and not self._trace.changes_arguments:
            problem = TraceProblem(
                f"{what} would change the argument '{self._argument}' in place", here(), advice + rather
            )
            raise self._trace.noted(problem)
        if made.value.type.rank != self.ndim or made.shape != self.shape:
            raise ShapeProblem(
                f"non-broadcastable output operand: {made.value.type} does not fit {self.value.type}", here()
            )
        if not np.can_cast(made.dtype, self.dtype, "same_kind"):
            raise TypeProblem(
                f"{what} would put {made.value.type.dtype} into {self.value.type.dtype}", here(),
                f"{advice}, or convert with .astype(...)",
            )  # fmt: skip
        made = made if made.dtype == self.dtype else made.astype(self.dtype)
        self._value, self._record = made._value, made._record
        if is_scalar_result(made.value):  # it stays an array without dimensions, and does not become a scalar
            self._value = self._trace.builder.op(RESHAPE, made.value, span=here(), shape=Sizes(()))
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        if key is not Ellipsis and not (isinstance(key, slice) and key == slice(None)):
            self._set_items(key, value)
        self._trace.leave_store(self, value, key is Ellipsis or bool(self.ndim))
        self._change(self._trace.apply(np.full_like, (self, value), {}), "item assignment", _WRITE)

    @property
    def flat(self) -> Any:
        """The elements in C order, for reading."""
        return self.ravel()

    def view(self, dtype: Any = None) -> Any:
        """View the memory as another dtype; only an argument can be viewed as a dtype of another size."""
        wanted = self.dtype if dtype is None else np.dtype(dtype)
        if wanted.itemsize != self.itemsize and self.value.node is not None:
            _leaves(".view()", "use .astype(...)")(self)
        return self._trace.apply(Method("view"), (self, wanted), {})

    def fill(self, value: Any) -> None:
        self._trace.leave_store(self, value, np.ndim(value) == 0)
        self._change(self._trace.apply(np.full_like, (self, value), {}), ".fill()", _WRITE)

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        made = self._trace.apply(np.sort, (self, axis, kind, order), {} if stable is None else {"stable": stable})
        self._change(made, ".sort()", _WRITE)

    # -- methods

    sum, prod, mean, var, std = _method("sum"), _method("prod"), _method("mean"), _method("var"), _method("std")
    min, max, any, all = _method("min"), _method("max"), _method("any"), _method("all")
    clip, round, astype = _method("clip"), _method("round"), _method("astype")

    def copy(self, order: str = "C") -> Any:
        """Copy in C order by default, unlike `np.copy`."""
        return self._trace.apply(Method("copy"), (self,), {"order": order})

    conj, conjugate, swapaxes = _method("conj"), _method("conjugate"), _method("swapaxes")
    ravel, flatten, squeeze = _method("ravel"), _method("flatten"), _method("squeeze")
    reshape, transpose = _varied("reshape"), _varied("transpose")
    T = _attribute(lambda self: self.transpose())
    mT = _attribute(lambda self: self.swapaxes(-1, -2))
    argmax, argmin, argsort, argpartition = (_method(n) for n in ("argmax", "argmin", "argsort", "argpartition"))
    cumsum, cumprod, dot, trace = (_method(n) for n in ("cumsum", "cumprod", "dot", "trace"))
    diagonal, repeat, take, compress = (_method(n) for n in ("diagonal", "repeat", "take", "compress"))
    choose, nonzero, searchsorted = _method("choose"), _method("nonzero"), _method("searchsorted")

    # -- methods that would leave the trace

    __bool__ = _converts(bool, "the truth value", _BRANCH, _UNKNOWN)
    __float__, __complex__ = _converts(float, "float()", _KEEP), _converts(complex, "complex()", _KEEP)
    __int__, __index__ = _converts(int, "int()", _KEEP), _converts(operator.index, "the number", _STATIC, _UNKNOWN)
    __round__ = _converts(builtins.round, "round()", "use np.round(x)")
    __hash__ = _converts(hash, "the hash", _STATIC, _UNKNOWN)
    __contains__ = _leaves("'in'", "use np.any(x == value)")
    __delitem__, _set_items = _leaves("item deletion", _WRITE), _leaves("item assignment", _WRITE)
    __array__ = _leaves(
        "np.asarray()",
        "NumPy functions accept traced values: leave out np.asarray and np.array; join several with np.stack",
    )
    item, tolist, tobytes, tofile, dump, dumps = (
        _leaves(f".{name}()", _KEEP) for name in ("item", "tolist", "tobytes", "tofile", "dump", "dumps")
    )
    partition, put, resize, setfield, setflags, byteswap = (
        _leaves(f".{name}()", _WRITE) for name in ("partition", "put", "resize", "setfield", "setflags", "byteswap")
    )
    getfield = _leaves(".getfield()", "use .astype(...)")
    data, ctypes, strides, base, flags = (_hides(name) for name in ("data", "ctypes", "strides", "base", "flags"))
