"""Evaluate expressions given as text, as numexpr's functions of the same names do."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from inspect import CO_OPTIMIZED
from typing import Any

import numpy as np

from ..ir.errors import type_of
from ..runtime.calling import Called
from .expressions import LEVELS, REDUCTIONS, ConstantNode, ExpressionNode, VariableNode, apply, node, reduce
from .kinds import CODES, DTYPES, TYPES, kind_of_dtype
from .parser import parse
from .programs import ExpressionProgram, Runner, postorder

Array = np.ndarray[Any, Any]
MAX_CACHED = 256


class NumExpr(Called):
    """A compiled expression; call it with one array for each of `input_names`."""

    def __init__(
        self, ex: Any, signature: Sequence[tuple[str, Any]] = (), sanitize: bool = True, **kwargs: Any
    ) -> None:
        level = _context(kwargs)
        kinds = {name: _declared(name, type_) for name, type_ in signature}
        tree = parse(ex, kinds, level, sanitize) if isinstance(ex, str) else _with_kinds(node(ex), kinds)
        names = [name for name, _ in signature] or _names(tree)
        if set(names) != set(_names(tree)):
            raise ValueError(f"the signature names {names}, but the expression uses {_names(tree)}")
        tree = apply("copy", tree) if tree.astType == "variable" else tree
        self.input_names = tuple(names)
        self._program = ExpressionProgram(tree, [(name, kinds.get(name, "double")) for name in names])
        self._runner = Runner(self._program)
        self._dtypes = [DTYPES.get(kind) for _, kind in self._program.inputs]

    @property
    def constants(self) -> tuple[Any, ...]:
        """The numbers and texts of the expression, each once."""
        return tuple(self._program.constants)

    @property
    def signature(self) -> bytes:
        """One letter for the kind of each input."""
        return "".join(CODES[kind] for _, kind in self._program.inputs).encode()

    def __repr__(self) -> str:
        return f"<weft.numexpr expression of ({', '.join(self.input_names)})>"

    def called(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)

    def run(
        self, *args: Any, out: Array | None = None, order: str = "K", casting: Any = "safe", ex_uses_vml: bool = False
    ) -> Any:
        """Evaluate the expression; `ex_uses_vml` is accepted and means nothing."""
        if len(args) != len(self.input_names):
            raise ValueError(f"expected {len(self.input_names)} arguments, not {len(args)}")
        return self.evaluate([_array(a) for a in args], out, order, casting)

    def evaluate(self, arrays: list[Array], out: Array | None, order: str, casting: Any) -> Any:
        """Evaluate on arrays, one for each input."""
        for place, dtype in enumerate(self._dtypes):
            given = arrays[place].dtype
            if given is not dtype and dtype is not None:
                arrays[place] = _converted(self.input_names[place], arrays[place], dtype, casting)
        if out is not None:
            return self._into(out, arrays, casting)
        result = np.asarray(self._runner.run(arrays))
        return result if order == "K" else np.asarray(result, order=order)  # type: ignore[call-overload]

    def _into(self, out: Array, arrays: list[Array], casting: Any) -> Array:
        if not isinstance(out, np.ndarray):
            raise TypeError(f"out must be an array, not {type_of(out)}")
        dtype = out.dtype if self._program.kind == "bytes" else DTYPES[self._program.kind]
        if not np.can_cast(dtype, out.dtype, casting):
            raise TypeError(f"a result of {dtype} can't be written into an array of {out.dtype} by {casting!r} casting")
        fits = out.dtype == dtype and out.shape == self._program.shape([a.shape for a in arrays])
        result = self._runner.run(arrays, out if fits else None)
        if result is not out:
            np.copyto(out, result, casting=casting)
        return out


class _Last:
    """What `re_evaluate` repeats: an expression, its options, and where its result goes."""

    __slots__ = ("casting", "expression", "order", "out")

    def __init__(self, expression: NumExpr, out: Array | None, order: str, casting: str) -> None:
        self.expression, self.order, self.casting = expression, order, casting
        self.out = None if out is None else weakref.ref(out)


_last: ContextVar[_Last | None] = ContextVar("weft.numexpr", default=None)


class _Cache:
    """Keep the names and the compiled forms of expressions. If there are too many, the oldest are dropped."""

    def __init__(self) -> None:
        self.names: dict[Any, tuple[str, ...]] = {}
        self.compiled: dict[Any, NumExpr] = {}

    @staticmethod
    def keep(found: dict[Any, Any], key: Any, value: Any) -> None:
        if len(found) >= MAX_CACHED:
            found.pop(next(iter(found)), None)
        found[key] = value


_cache = _Cache()


def evaluate(
    ex: str,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    out: Array | None = None,
    order: str = "K",
    casting: str = "same_kind",
    sanitize: bool | None = None,
    _frame_depth: int = 3,
    disable_cache: bool = False,
    **kwargs: Any,
) -> Any:
    """Evaluate an expression element by element and return an array.

        a, b = np.arange(1e6), np.arange(1e6)
        ne.evaluate("2*a + 3*b")

    ex: the text of the expression.
    local_dict, global_dict: where the names are looked up; by default in the caller's frame.
    out: an array that takes the result.
    order: memory order of the result, "C", "F", "A" or "K".
    casting: which casts of inputs and of the result are allowed, as in `np.can_cast`.
    sanitize: refuse brackets, colons and dunder names at once; nothing is evaluated as Python in any case.
    disable_cache: compile the expression anew.
    optimization: "none", "moderate" or "aggressive": how powers and divisions by constants are rewritten.
    truediv: accepted; division is always true division.
    """
    expression, arrays = _find(ex, local_dict, global_dict, _frame_depth - 1, sanitize, kwargs, disable_cache)
    if not disable_cache:
        _last.set(_Last(expression, out, order, casting))
    return expression.evaluate(arrays, out, order, casting)


def validate(
    ex: str,
    local_dict: Mapping[str, Any] | None = None,
    global_dict: Mapping[str, Any] | None = None,
    out: Array | None = None,
    order: str = "K",
    casting: str = "safe",
    _frame_depth: int = 2,
    sanitize: bool | None = None,
    **kwargs: Any,
) -> Exception | None:
    """Check an expression and its names: return None, or the error. `re_evaluate` then runs it."""
    try:
        expression, _ = _find(ex, local_dict, global_dict, _frame_depth, sanitize, kwargs, False)
    except Exception as error:
        return error
    _last.set(_Last(expression, out, order, casting))
    return None


def re_evaluate(
    local_dict: Mapping[str, Any] | None = None, global_dict: Mapping[str, Any] | None = None, _frame_depth: int = 2
) -> Any:
    """Evaluate the expression of the last `evaluate` or `validate` again, with the names' present values."""
    last = _last.get()
    if last is None:
        raise RuntimeError("no expression has been evaluated in this context; call evaluate or validate first")
    arrays = _arguments(last.expression.input_names, local_dict, global_dict, _frame_depth)
    out = None if last.out is None else last.out()
    return last.expression.evaluate(arrays, out, last.order, last.casting)


def getExprNames(text: str, context: Mapping[str, Any], sanitize: bool = True) -> tuple[list[str], bool]:
    """Return the sorted names that an expression uses, and False: VML is never used."""
    return _names(parse(text, {}, context.get("optimization", "aggressive"), sanitize)), False


def getContext(kwargs: Mapping[str, Any], _frame_depth: int = 1) -> dict[str, Any]:
    """Check the options of an expression and return all of them."""
    return {"optimization": _context(kwargs), "truediv": kwargs.get("truediv", "auto")}


def disassemble(nex: NumExpr) -> list[Any]:
    """Raise: expressions are native code, not opcodes of a virtual machine."""
    raise NotImplementedError("an expression of weft.numexpr has no opcodes; its code is native")


def _find(
    ex: Any, local_dict: Any, global_dict: Any, depth: int, sanitize: bool | None, kwargs: dict[str, Any], fresh: bool
) -> tuple[NumExpr, list[Array]]:
    """Return the compiled form of an expression for the kinds of its arguments, and the arguments."""
    if not isinstance(ex, str):
        raise ValueError(f"the expression must be a string, not {type_of(ex)}")
    level = _context(kwargs) if kwargs else "aggressive"
    if sanitize is None:
        sanitize = os.environ.get("NUMEXPR_SANITIZE", "1") != "0"
    names = _cache.names.get((ex, level, sanitize))
    if names is None:
        names = tuple(_names(parse(ex, {}, level, sanitize)))
        _cache.keep(_cache.names, (ex, level, sanitize), names)
    arrays = _arguments(names, local_dict, global_dict, depth + 1)
    key = (ex, level, *[a.dtype for a in arrays])
    expression = None if fresh else _cache.compiled.get(key)
    if expression is None:
        kinds = [(name, _KIND_TYPES[kind_of_dtype(a.dtype)]) for name, a in zip(names, arrays, strict=True)]
        expression = NumExpr(ex, kinds, sanitize, optimization=level)
        if not fresh:
            _cache.keep(_cache.compiled, key, expression)
    return expression, arrays


_KIND_TYPES = {kind: type_ for type_, kind in reversed(TYPES.items())}


def _arguments(names: Sequence[str], local_dict: Any, global_dict: Any, depth: int) -> list[Array]:
    """Look the names up in the dictionaries given, or in the frame of the caller."""
    frame = sys._getframe(depth)
    places = frame.f_locals if local_dict is None else local_dict
    others = frame.f_globals if global_dict is None else global_dict
    try:
        return [_array(places[name] if name in places else others[name]) for name in names]
    finally:
        # Reading `f_locals` of a function makes a dictionary that keeps every local alive until the function ends.
        if local_dict is None and frame.f_code.co_flags & CO_OPTIMIZED and type(places) is dict:
            places.clear()


def _array(value: Any) -> Array:
    return value if type(value) is np.ndarray else np.asarray(value)


def _converted(name: str, array: Array, dtype: np.dtype[Any], casting: Any) -> Array:
    """Check that an argument may be cast to the dtype of its kind; what compiled code can't read is copied."""
    if array.dtype == dtype and array.dtype.isnative:
        return array
    if not np.can_cast(array.dtype, dtype, casting):
        raise TypeError(
            f"{name} has dtype {array.dtype}, which {casting!r} casting does not allow to be read as {dtype}"
        )
    return array.astype(dtype)


def _context(kwargs: Mapping[str, Any]) -> str:
    """Check the options and return the level of optimization."""
    level = kwargs.get("optimization", "aggressive")
    if level not in LEVELS:
        raise ValueError(f"optimization must be one of {', '.join(LEVELS)}, not {level!r}")
    if kwargs.get("truediv", "auto") not in (False, True, "auto"):
        raise ValueError(f"truediv must be True, False or 'auto', not {kwargs['truediv']!r}")
    unknown = set(kwargs) - {"optimization", "truediv"}
    if unknown:
        raise ValueError(f"unknown option {min(unknown)!r}")
    return str(level)


def _declared(name: str, type_: Any) -> str:
    if type_ not in TYPES:
        raise ValueError(f"the type of {name} must be one of numexpr's types such as np.double, not {type_!r}")
    return TYPES[type_]


def _names(tree: ExpressionNode) -> list[str]:
    return sorted({n.value for n in postorder(tree) if n.astType == "variable"})


def _with_kinds(tree: ExpressionNode, kinds: Mapping[str, str]) -> ExpressionNode:
    """Build an expression of `E` again. A signature gives the kinds of its variables."""
    built: dict[int, ExpressionNode] = {}
    for old in postorder(tree):
        operands = [built[id(child)] for child in old.children]
        if old.astType == "variable":
            new: ExpressionNode = VariableNode(old.value, kinds.get(old.value, "double"))
        elif old.astType == "constant":
            new = ConstantNode(old.value)
        elif old.value in REDUCTIONS:
            new = reduce(old.value, operands[0], getattr(old, "axis", None))
        else:
            new = apply(old.value, *operands)
        built[id(old)] = new
    return built[id(tree)]
