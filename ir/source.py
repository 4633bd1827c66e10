"""Declare what a front end gives to the runtime: a kernel to bind to argument types and to build into a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, Protocol

from .dtypes import DType
from .errors import Span, TraceProblem, WeftError
from .graph import Graph
from .records import record
from .tuples import NamedTuple
from .types import TensorType


@record
class ArgType:
    """An argument of a call: its dtype (weak for a Python number) and sizes. `value` is the argument itself."""

    dtype: DType
    shape: tuple[int, ...]
    value: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArgType) and (self.dtype, self.shape) == (other.dtype, other.shape)

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))


class Binding(NamedTuple):
    """The arguments of a call as the graph sees them: types whose sizes are symbols or 1, and the numbers behind the
    symbols.

    A scalar argument that was declared with a dtype has that dtype here; the runtime converts it at each call.
    """

    types: tuple[TensorType, ...]
    sizes: Mapping[str, int]


Number = bool | int | float | complex


class ParameterList(NamedTuple):
    """The parameters of a kernel: their names in order, the numbers of those with defaults, and those that are sizes.

    A size is passed as an array of that many bools that takes no memory, so it binds its name as other dimensions do.
    """

    names: tuple[str, ...]
    defaults: Mapping[str, Number] = {}
    sizes: tuple[str, ...] = ()


def taken_by(source: KernelSource) -> ParameterList:
    """Return the parameters of any source."""
    found: ParameterList = getattr(source, "takes", None) or ParameterList(tuple(source.parameters))
    return found


Evaluate = Callable[..., Sequence[Any]]
"""Runs a graph on the values of its inputs, with the functions that its nodes name by number as `calls`.

Tracing needs it to learn what a NumPy function gives.
"""


@record
class Place:
    """The place of an output in what a function returns."""

    index: int


class Structure(NamedTuple):
    """How a kernel returns its outputs: a `single` one, a `tuple`, or a `tree` of places and constants.

    Trees are lists, tuples, named tuples and dicts, nested as the user's function returned them.
    """

    kind: str = "single"
    tree: Any = None

    def pack(self, outputs: Sequence[Any]) -> Any:
        """The outputs as the user's function would have returned them."""
        if self.kind == "tree":
            return rebuilt(self.tree, lambda x: outputs[x.index] if isinstance(x, Place) else x)
        return outputs[0] if self.kind == "single" else tuple(outputs)


def rebuilt(tree: Any, leaf: Callable[[Any], Any]) -> Any:
    """Copies nested lists, tuples, named tuples and dicts, with `leaf` applied to everything else."""
    kind = type(tree)
    if kind is dict:
        return {key: rebuilt(item, leaf) for key, item in tree.items()}
    if kind is list:
        return [rebuilt(item, leaf) for item in tree]
    if isinstance(tree, tuple):
        items = [rebuilt(item, leaf) for item in tree]
        return kind(*items) if hasattr(tree, "_fields") else tuple(items)
    return leaf(tree)


WRITTEN_LOOP = "loop"  # names the `numpy` nodes of loops that change elements of arrays


@record
class Leaf:
    """The place of an input in a container that is an argument."""

    name: str


@record
class Packed:
    """A container that is an argument, with leaves for what changes from call to call."""

    tree: Any


@record
class LazyArray:
    """A captured array that must not be read while tracing, such as dask's, and its number among the hidden ones."""

    number: int
    array: Any
    span: Span | None


@record
class Built:
    """A graph, and what it needs besides the arguments.

    `hidden` holds the arrays behind inputs that are not arguments: captured ones, read at each call. `calls` holds the
    NumPy functions of its `numpy` nodes, by the node's attribute `call`; each takes the operands as arrays and returns
    a tuple of results. `structure` is None if the graph itself tells (one output or a tuple). `updates` are pairs of an
    input and an output, by number: arguments that the call changes in place. `after` is the last pass that had run if
    the graph was read from text; such a graph has its own layout classes. `refused` says why calls must be left to
    Python, although the graph can be shown: results would differ from Python's in something that can be seen. `lazy`
    are captured arrays for which arrays without elements stand in `hidden`.
    """

    graph: Graph
    hidden: tuple[Any, ...] = ()
    calls: tuple[Callable[..., tuple[Any, ...]], ...] = ()
    structure: Structure | None = None
    updates: tuple[tuple[int, int], ...] = ()
    after: str | None = None
    refused: WeftError | None = None
    lazy: tuple[LazyArray, ...] = ()

    def checked(self, takes_lazy: bool) -> Built:
        """Return this graph, unless it takes arrays that must not be read and the caller can't have those."""
        for each in self.lazy:
            if not takes_lazy:
                message = "a dask array from outside the function was used"
                raise TraceProblem(message, each.span, "pass it as an argument")
        return self

    @property
    def has_layouts(self) -> bool:
        """Whether the graph was read from text that gives the layouts of arguments and results."""
        return self.after is not None and {"layouts", "out_layouts"} <= self.graph.attrs.keys()


ABSENT = object()


class Guard(NamedTuple):
    """A name outside a kernel that must still refer to the same object: a key of a dict, a cell or context variable,
    or a field of a function (`__code__`, `__defaults__`, `__kwdefaults__`).

    `expected` is `ABSENT` if the name must still be undefined. A context variable holds NumPy's state of floating-point
    errors: any value that asks for no exceptions will do.
    """

    holder: Any
    key: str | None
    expected: Any


def function_guards(function: FunctionType) -> list[Guard]:
    """Return guards on what a function does: its code and its defaults."""
    fields = ("__code__", "__defaults__", "__kwdefaults__")
    named: dict[str, Any] = function.__kwdefaults__ or {}
    own = [Guard(function, field, getattr(function, field)) for field in fields]
    return own + [Guard(named, key, value) for key, value in named.items()]


def builtins_of(function: FunctionType) -> dict[str, Any]:
    """Return where a function looks up names that its module does not define."""
    known: dict[str, Any] = getattr(function, "__builtins__")  # noqa: B009 - not known to type checkers
    return known


def are_kept(guards: Iterable[Guard]) -> bool:
    """Whether all names still refer to the same objects. An equal string counts as the same."""
    for holder, key, expected in guards:
        now = holder.get(key, ABSENT) if type(holder) is dict else found(holder, key)
        if now is not expected and not (type(now) is str and now == expected):
            return False
    return True


def found(holder: Any, key: str | None) -> Any:
    """Return what a guard's place holds now."""
    if key is None:
        return contents(holder)
    return holder.get(key, ABSENT) if type(holder) is dict else getattr(holder, key)


def contents(cell: Any) -> Any:
    """Return what a closure's variable holds, or `ABSENT`."""
    try:
        return cell.cell_contents
    except ValueError:  # the cell is empty: the name is bound later
        return ABSENT


class KernelSource(Protocol):
    """A kernel before it has types."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the array and number arguments, in order."""

    def bind(self, args: Sequence[ArgType]) -> Binding:
        """Checks arguments against what was declared; raises a typed error that names the argument."""

    def build(self, binding: Binding, args: Sequence[ArgType] | None) -> Built:
        """Builds the graph for these types; `args` are the arguments of the current call, if there is one."""
