"""Find Weft's own implementation of an op: vector code, a `.weft` kernel, or NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache

from ...ir.dtypes import NATIVE, DType
from ...ir.errors import TypeProblem, quantity
from ...ir.externs import ExternCall
from ...ir.ops import TABLE
from ...passes.rules.complex_rules import COMPLEX_OPS
from ..libraries.calls import library_call
from .bodies import SourceBody, is_elementwise, operations
from .calls import PythonKernel
from .implementation import Implementation
from .signature import DimName, Signature, Spec

COMPOSITES = "composites.weft"


@lru_cache(4096)
def bundled(
    op: str, dtypes: tuple[DType, ...], result: DType | None, inline: frozenset[str]
) -> tuple[Implementation, ...]:
    """Return the bundled and fallback implementations for these dtypes: the same objects every time."""
    if op not in TABLE:
        found = composites().get(op)
        return () if found is None else (found,)
    compute, result = _computed(op, dtypes, result)
    signature = Signature(tuple(Spec(d.name) for d in compute), Spec(result.strong.name))
    made = []
    if op in inline and all(d in NATIVE or op in COMPLEX_OPS for d in (*compute, result.strong)):
        made.append(
            Implementation(op, signature, "inline", "vectorized", frozenset({"vectorized"}), tier="bundled", name=op)
        )
    if TABLE[op].numpy is not None:
        made.append(Implementation(op, signature, "python", "naive", tier="fallback", name=f"numpy {op}"))
    return tuple(made)


def _computed(op: str, dtypes: tuple[DType, ...], result: DType | None) -> tuple[tuple[DType, ...], DType]:
    """Return the dtypes that the op computes in and returns; a compiled graph already has them."""
    if result is not None:
        return dtypes, result
    known = TABLE[op]
    if known.arity is not None and known.arity != len(dtypes):
        raise TypeProblem(f"{op} takes {quantity(known.arity, 'operand')}, not {len(dtypes)}")
    try:
        compute, results = known.dtypes(dtypes, {})
    except KeyError:  # an attribute holds the dtype of the result
        return dtypes, dtypes[0]
    return compute, results[0]


@cache
def composites() -> Mapping[str, Implementation]:
    """Return the kernels of the bundled file, by the op that each implements."""
    from importlib.resources import files

    from ...frontend.language.source import parse_module

    text = files(__package__).joinpath(COMPOSITES).read_text(encoding="utf-8")
    module = parse_module(text, COMPOSITES)
    return {name: from_kernel(name, source, "bundled") for name, source in module.kernels.items()}


def from_kernel(op: str, source: object, tier: str = "user") -> Implementation:
    """Turn a kernel of the language into an implementation of an op."""
    from ...frontend.language.source import LanguageKernel

    assert isinstance(source, LanguageKernel)
    signature = kernel_signature(source)
    if source.extern is not None:
        return _from_library(op, source.name, source.extern, signature)
    body = SourceBody(source, signature)
    graph = body.graph([spec.trial() for spec in signature.inputs])
    hints = frozenset({"vectorized"}) if tier == "bundled" else frozenset()
    return Implementation(
        op, signature, "weft", "fused" if tier == "bundled" else "custom", hints, tier=tier, name=source.name,
        body=body, operations=operations(graph), is_elementwise=is_elementwise(graph),
    )  # fmt: skip


def _from_library(op: str, name: str, function: ExternCall, signature: Signature) -> Implementation:
    """Wrap a function of a shared library, which runs between compiled pieces."""
    if "?" in (signature.output.dims or ()):
        raise TypeProblem(
            f"the extern kernel '{name}' can't implement an op",
            hint="the result's sizes must be sizes of parameters",
        )
    body = PythonKernel(op, name, lambda *operands: function(*operands)[0], signature, what="library")
    note = str(library_call(function))
    return Implementation(op, signature, "library", name=name, note=note, body=body, is_elementwise=False)


def kernel_signature(source: object) -> Signature:
    """Return the signature that a kernel of the language declares."""
    from ...frontend.language.source import LanguageKernel

    assert isinstance(source, LanguageKernel)
    if source.outputs is None or len(source.outputs) != 1:
        raise TypeProblem(
            f"the kernel '{source.name}' can't implement an op", hint="declare one result, as in -> f32[n]"
        )
    if source.takes.sizes:
        raise TypeProblem(f"the kernel '{source.name}' can't implement an op", hint="an op takes no sizes as arguments")
    operands = [p for p in source.declared if p.default is None]  # the others keep their defaults
    inputs = tuple(Spec(p.type.name, _dims(p.type.dims)) for p in operands)
    declared = source.outputs[0].type
    return Signature(inputs, Spec(declared.name, _dims(declared.dims)))


def _dims(dims: object) -> tuple[DimName, ...]:
    """Name the dimensions; a computed size is shown as `?`, because only the body knows it."""
    assert dims is None or isinstance(dims, tuple)
    return tuple(d if isinstance(d, (str, int, type(...))) else "?" for d in dims or ())
