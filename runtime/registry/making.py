"""Make an `Implementation` from a function, a kernel or a jitted function, and check everything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ...ir.dims import Size
from ...ir.dtypes import ALL, BOOL, BY_NAME, CLASSES, DType
from ...ir.errors import TypeProblem, Unsupported, ValueProblem, WeftError, quantity, type_of
from ...ir.facts import Facts
from ...ir.opdef import OpDef
from ...ir.ops import SPECIAL, TABLE, WHERE, Trait
from ...ir.records import replace
from ...ir.support.interruptions import is_interruption
from .bodies import is_elementwise, operations, traced
from .bundled import from_kernel
from .calls import PythonKernel
from .implementation import KINDS, Implementation
from .naming import canonical
from .reductions import is_reduction
from .signature import Signature, Spec, parse_signature
from .traits import Traits

if TYPE_CHECKING:
    from ...frontend.language.source import LanguageKernel

NUMBERS = tuple(d for d in ALL if d != BOOL)
_WORDS = frozenset((
    "import", "const", "fn", "kernel", "extern", "let", "var", "if", "else", "for", "in", "while", "break", "continue",
    "return", "and", "or", "not", "true", "false", "None",
))  # fmt: skip


def make(op: str, signature: str | None, function: Any, traits: Traits) -> Implementation:
    """Make the implementation for a registration."""
    _check_name(op)
    if traits.kind is not None and traits.kind not in KINDS:
        raise ValueProblem(f"unknown kind '{traits.kind}'", hint=f"choose one of {', '.join(KINDS)}")
    source = language_kernel(function)
    if source is not None and is_reduction(op):
        raise Unsupported(f"a kernel can't implement '{op}', which takes axes", hint="register f(x, axis, keepdims)")
    if source is not None:
        found = from_kernel(op, source)
        if signature is not None and parse_signature(signature) != found.signature:
            raise TypeProblem(f"the kernel '{found.name}' has the signature {found.signature}, not {signature}")
    else:
        function = getattr(function, "__wrapped__", function)
        if not callable(function):
            raise TypeProblem(f"an implementation must be a function or a kernel, not {type_of(function)}")
        if signature is None:
            raise TypeProblem(f"the implementation of '{op}' needs a signature", hint="write it like 'f32 f32 -> f32'")
        name = traits.name or _name(function, op)
        found = _from_function(op, parse_signature(signature), function, name, traits.kind)
    _check_known(found)
    return traits.applied(found)


def from_file(kernel: Any, origin: tuple[str, str]) -> Implementation:
    """Make the implementation for a kernel's `@impl`; errors point to its line."""
    source = language_kernel(kernel)
    assert source is not None and source.impl is not None
    op, traits = str(source.impl["op"]), {key: value for key, value in source.impl.items() if key != "op"}
    try:
        return make(canonical(op), None, source, replace(Traits.given(traits), origin=origin))
    except WeftError as error:
        error.span = error.span or source.impl_span
        raise


def language_kernel(given: Any) -> LanguageKernel | None:
    """Return the language kernel behind an object that users call; it may not be parsed yet."""
    source = getattr(given, "_source", given)
    source = getattr(source, "parsed", source)
    return source if hasattr(source, "declared") and hasattr(source, "outputs") else None


def make_all(op: str, arity: int, function: Callable[..., Any], traits: Traits) -> list[Implementation]:
    """Make an implementation for each numeric dtype that the function can be traced with; all operands share it."""
    _check_name(op)
    name = traits.name or _name(function, op)
    made: list[Implementation] = []
    problem: Exception | None = None
    for dtype in NUMBERS:
        try:
            found = _for_dtype(op, arity, function, dtype, name)
        except Exception as error:
            if is_interruption(error):
                raise
            problem = problem or error
            continue
        if _fits_known(found):
            made.append(traits.applied(found))
    if made:
        return made
    if isinstance(problem, WeftError):
        raise problem
    raise TypeProblem(f"'{name}' can't be traced as an implementation of '{op}': {problem}") from problem


def _for_dtype(op: str, arity: int, function: Callable[..., Any], dtype: DType, name: str) -> Implementation:
    operands = (Spec(dtype.name),) * arity
    body = traced(function, Signature(operands, Spec(dtype.name)), name)
    result = body.graph([spec.trial() for spec in operands]).outputs[0].type.dtype
    return _inline(op, Signature(operands, Spec(result.name)), function, name)


def _from_function(
    op: str, signature: Signature, function: Callable[..., Any], name: str, kind: str | None
) -> Implementation:
    """Trace the function if that is possible and allowed; otherwise call it."""
    if kind not in (None, "inline", "python"):
        raise ValueProblem(f"the kind of a Python function must be inline or python, not {kind}")
    note = "asked for as a Python kernel"
    if kind != "python":
        try:
            return _inline(op, signature, function, name)
        except _Misfit as error:
            raise TypeProblem(error.message, hint=error.hint) from None
        except Exception as error:
            if is_interruption(error) or (kind == "inline" and isinstance(error, WeftError)):
                raise
            if kind == "inline":
                raise TypeProblem(f"'{name}' can't be traced as an implementation of '{op}': {error}") from error
            message = error.message if isinstance(error, WeftError) else f"{type(error).__name__}: {error}"
            note = f"it can't be traced: {message}"
    body = PythonKernel(op, name, function, signature)
    return Implementation(op, signature, "python", name=name, note=note, body=body, is_elementwise=False)


class _Misfit(TypeProblem):
    """Raised when a traced function's result differs from its signature."""


def _inline(op: str, signature: Signature, function: Callable[..., Any], name: str) -> Implementation:
    body = traced(function, signature, name)
    trials = [spec.trial() for spec in signature.inputs]
    wanted = signature.result_shape(Facts(), [t.shape for t in trials])
    if is_reduction(op):
        graph, wanted = body.given({"axis": (0,), "keepdims": False}).graph(trials), ()
    else:
        graph = body.graph(trials)
    given = graph.outputs[0].type
    if given.dtype not in signature.output.dtypes:
        raise _Misfit(
            f"'{name}' gives {given.dtype} where '{signature}' says {signature.output.name}",
            hint=f"convert it in the function, or register it as '... -> {given.dtype}'",
        )
    if given.shape != wanted:
        raise _Misfit(
            f"'{name}' gives the shape {_shape(given.shape)} where '{signature}' says {_shape(wanted)}",
            hint="write the dimensions, as in 'f32[n, m] -> f32[n]'",
        )
    return Implementation(
        op, signature, "inline", name=name, note="traced from Python", body=body, operations=operations(graph),
        is_elementwise=is_elementwise(graph),
    )  # fmt: skip


def _name(function: object, op: str) -> str:
    """Return the function's own name, or the op's name for an anonymous one."""
    name = getattr(function, "__name__", "<lambda>")
    return op if name == "<lambda>" else str(name)


def _check_name(op: str) -> None:
    from ...frontend.numpy.functions import FUNCTIONS

    is_free = isinstance(op, str) and op.isidentifier() and not op.startswith("__")
    if not is_free or op in _WORDS or op in BY_NAME or op in CLASSES:
        raise ValueProblem(f"{op!r} can't be the name of an op", hint="use an identifier such as cube")
    if op in TABLE:
        if not is_replaceable(TABLE[op]):
            raise Unsupported(
                f"'{op}' can't be replaced",
                hint="only elementwise ops, reductions and functions such as softmax can be replaced",
            )
        return
    if op in FUNCTIONS:
        raise Unsupported(f"'{op}' can't be replaced, because it consists of several ops", hint="replace those ops")


def is_replaceable(op: OpDef) -> bool:
    """Tell whether users can implement an op of the fixed table: elementwise ops and reductions."""
    import numpy as np

    return isinstance(op.numpy, np.ufunc) or op in SPECIAL or op is WHERE or is_reduction(op.name)


def _check_known(each: Implementation) -> None:
    """Check that an implementation of a known op has the op's result."""
    known = TABLE.get(each.op)
    if known is None:
        return
    if known.arity is not None and known.arity != len(each.signature.inputs):
        raise TypeProblem(f"'{each.op}' must have {quantity(known.arity, 'operand')}, not {len(each.signature.inputs)}")
    if not _fits_known(each):
        compute, (result, *_) = known.dtypes(next(iter(_dtypes(each.signature))), {})
        wanted = f"{' '.join(map(str, compute))} -> {result}"
        raise TypeProblem(f"the result of '{each.op}' must be {wanted} for these operands, not {each.signature}")
    _check_shape(each, known)


def _fits_known(each: Implementation) -> bool:
    """Tell whether the op gives the declared result for at least one dtype of a class."""
    known, declared = TABLE.get(each.op), each.signature.output.dtypes
    if known is None:
        return True
    for dtypes in _dtypes(each.signature):
        with suppress(TypeProblem):  # a class may have dtypes that the op does not accept
            compute, results = known.dtypes(dtypes, {})
            if compute == dtypes and results[0] in declared:
                return True
    return False


def _dtypes(signature: Signature) -> Iterable[tuple[DType, ...]]:
    """Yield the dtypes that the operands can have; a class is the same dtype everywhere."""
    for dtype in dict.fromkeys(d for spec in signature.inputs for d in spec.dtypes):
        yield tuple(dtype if dtype in spec.dtypes else spec.dtypes[0] for spec in signature.inputs)


def _check_shape(each: Implementation, known: OpDef) -> None:
    """Check that an elementwise op returns one element for each of its operands' elements."""
    if Trait.ELEMENTWISE not in known.traits:
        return
    shapes, facts = [spec.trial().shape for spec in each.signature.inputs], Facts()
    given, wanted = each.signature.result_shape(facts, shapes), facts.broadcast(shapes)
    if len(given) != len(wanted) or not all(map(facts.same, given, wanted)):
        raise TypeProblem(f"'{each.op}' gives {_shape(wanted)}, but '{each.signature}' says {_shape(given)}")


def _shape(sizes: Sequence[Size]) -> str:
    return f"[{', '.join(map(str, sizes))}]"
