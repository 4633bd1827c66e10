"""Describe a lowered kernel as a C function: names, C types and the order of its parameters.

Arguments come first, in declared order, then each size once, then a pointer for each result. Behind the C function,
everything is 64-bit words in this order: addresses of arguments, sizes, addresses of results, and for strided arrays
the strides of all arguments and results.
"""

from __future__ import annotations

from ...ir.dims import Dim, Size
from ...ir.dtypes import DType
from ...ir.graph import Graph
from ...ir.records import record, replace
from ...ir.source import taken_by
from .variants import Wanted

C_TYPES = {
    "bool": "bool", "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
    "f16": "weft_f16", "bf16": "weft_bf16", "f32": "float", "f64": "double", "c64": "weft_c64", "c128": "weft_c128",
}  # fmt: skip
_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const const_cast
    consteval constexpr constinit continue co_await co_return co_yield decltype default delete do double dynamic_cast
    else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return short
    signed sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef
    typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq linux unix main
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
"""
RESERVED = frozenset(_WORDS.split())  # keywords of C and C++, and names of the header itself


@record
class CParameter:
    """An argument or a result: its C name and its type. An argument that is a size has no memory."""

    name: str
    dtype: DType
    shape: tuple[Size, ...]
    is_size: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def c_type(self) -> str:
        return C_TYPES[self.dtype.name]


@record
class CForm:
    """A C function.

    `arguments` without dimensions are passed by value. `sizes` maps symbols to C names; `fixed` holds sizes that are
    constant and so not parameters. `is_strided` adds a function for strided arrays.
    """

    name: str
    declared: str
    arguments: tuple[CParameter, ...]
    sizes: dict[str, str]
    fixed: dict[str, int]
    results: tuple[CParameter, ...]
    is_strided: bool

    @property
    def items(self) -> tuple[CParameter, ...]:
        return (*self.arguments, *self.results)

    def argument_word(self, k: int) -> int:
        return k

    def size_word(self, k: int) -> int:
        return len(self.arguments) + k

    def result_word(self, k: int) -> int:
        return len(self.arguments) + len(self.sizes) + k

    def stride_word(self, k: int) -> int:
        """Return the word of an item's first stride, counted over arguments and results."""
        ranks = sum(item.rank for item in self.items[:k])
        return self.result_word(len(self.results)) + ranks


def form_of(wanted: Wanted, graph: Graph) -> CForm:
    """Derive the C function of a graph; unnamed results are `out`, or `out0`, `out1`, ..."""
    taken: set[str] = set(RESERVED)
    numbers = taken_by(wanted.source).sizes
    arguments = tuple(
        CParameter(value.name, value.type.dtype, value.type.shape, is_size=True)
        if value.name in numbers
        else CParameter(_free(value.name or f"arg{k}", taken), value.type.dtype.strong, value.type.shape)
        for k, value in enumerate(graph.inputs)
    )
    symbols = [str(s) for item in arguments for s in item.shape if isinstance(s, Dim) and str(s) not in wanted.fixed]
    sizes = {symbol: _free(symbol, taken) for symbol in dict.fromkeys(symbols)}
    arguments = tuple(replace(a, name=sizes[a.name]) if a.is_size else a for a in arguments)
    usual = ["out"] if len(graph.outputs) == 1 else [f"out{k}" for k in range(len(graph.outputs))]
    made = tuple(
        CParameter(_free(given or own, taken), value.type.dtype, value.type.shape)
        for given, own, value in zip(wanted.results or usual, usual, graph.outputs, strict=True)
    )
    return CForm(wanted.name, wanted.declared, arguments, sizes, wanted.fixed, made, len(wanted.kinds) > 1)


def _free(name: str, taken: set[str]) -> str:
    """Return a C name that is not taken; a name of the language is valid in C unless C or C++ reserves it."""
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"u{ord(c):x}" for c in name)
    while name in taken or name.lower().startswith("weft_"):
        name += "_" if name in taken else ""
        name = f"a_{name}" if name.lower().startswith("weft_") else name
    taken.add(name)
    return name
