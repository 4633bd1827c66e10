"""Parse a `.weft` file into kernels that the runtime can specialise."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from ...ir.externs import ExternCall, ExternSource
from ...ir.kernels import OpSource
from ...ir.records import record
from ...ir.source import ArgType, Binding, Built, ParameterList
from ...ir.support.pickles import token
from ..lowering.binding import bind
from ..lowering.defaults import defaults_of
from ..lowering.externs import open_externs
from ..lowering.lower import lower
from . import syntax
from .check import check
from .declared import Parameter, Result, parameter, result
from .decorators import implementation
from .modules import Bundle, Importer, LoadedDefinition, Texts, Unit, search_folders, unit_of
from .spans import Source

__all__ = ["LanguageKernel", "ParsedModule", "load_module", "parse_module"]

_ITEMS = ("kernel", "fn", "const", "import", "extern", "@")  # how a line at the top of a file begins


class LanguageKernel:
    """A kernel of a `.weft` file: a `KernelSource`. `parse_seconds` is how long the file took to parse.

    `ops` are the ops that it may call besides the built-in functions; `impl` holds the arguments of `@impl`.
    """

    def __init__(self, definition: LoadedDefinition, parse_seconds: float, ops: OpSource | None = None) -> None:
        item = definition.item
        assert isinstance(item, syntax.Function)
        self._definition, self.parse_seconds, self._ops = definition, parse_seconds, ops
        self.impl = implementation(item)
        self.impl_span = item.decorators[0].span if item.decorators else None
        self.name = item.name.name
        self.declared: tuple[Parameter, ...] = tuple(map(parameter, item.params))
        self.outputs: tuple[Result, ...] | None = tuple(map(result, item.outputs)) if item.outputs else None
        sizes = tuple(p.name for p in self.declared if p.type.is_size)
        names = tuple(p.name for p in self.declared)
        self.takes = ParameterList(names, defaults_of(item.params, definition.unit), sizes)

    def __repr__(self) -> str:
        return f"<kernel {self.signature} of {self._definition.unit.source.file}>"

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.takes.names

    @property
    def signature(self) -> str:
        """The declaration, as in `softmax(x: float[..., m]) -> float[..., m]`."""
        head = f"{self.name}({', '.join(map(str, self.declared))})"
        if self.outputs is None:
            return head
        outputs = [f"{o.name}: {o.type}" if o.name else str(o.type) for o in self.outputs]
        named = len(outputs) > 1 or self.outputs[0].name
        return f"{head} -> ({', '.join(outputs)})" if named else f"{head} -> {outputs[0]}"

    @property
    def text(self) -> str:
        """The lines of the file from the kernel's first to its last."""
        item = self._definition.item
        lines = self._definition.unit.source.text.splitlines()
        return "\n".join(lines[_first_line(item) - 1 : _last_line(lines, item)])

    @property
    def comment(self) -> str:
        """The comment directly above the kernel."""
        lines = self._definition.unit.source.text.splitlines()
        end = start = _first_line(self._definition.item) - 1
        while start > 0 and lines[start - 1].lstrip().startswith("#"):
            start -= 1
        return "\n".join(line.strip().removeprefix("#").removeprefix(" ") for line in lines[start:end])

    def __dask_tokenize__(self) -> Any:
        return token(self.texts, self.name)

    def bind(self, args: Sequence[ArgType]) -> Binding:
        return bind(self.name, self.declared, args)

    def build(self, binding: Binding, args: Sequence[ArgType] | None = None) -> Built:
        return lower(self._definition, binding, self._ops)

    @property
    def extern(self) -> ExternCall | None:
        """The function of a shared library behind an extern kernel, or None."""
        return self._definition.unit.externs.get(self.name)

    @property
    def texts(self) -> Texts:
        """The text of its file and of everything that the file imports."""
        return self._definition.unit.texts()

    @property
    def ops(self) -> OpSource | None:
        return self._ops

    def __reduce__(self) -> Any:
        return _unpickled, (self.texts, self._ops, self.name)


def _first_line(item: syntax.Function | syntax.Const) -> int:
    """Return the line of an item's first decorator or of its name."""
    decorators = item.decorators if isinstance(item, syntax.Function) else ()
    return min(node.span.line for node in (*decorators, item.name))


def _last_line(lines: Sequence[str], item: syntax.Function | syntax.Const) -> int:
    """Return the last line before the next item and the comment above that."""
    last = item.name.span.line
    while last < len(lines) and not lines[last].startswith(_ITEMS):
        last += 1
    while last > item.name.span.line and lines[last - 1].lstrip()[:1] in ("", "#"):
        last -= 1
    return last


@record(eq=False)
class ParsedModule:
    """The kernels of one file by name, in file order; `sources` is all the text that they come from."""

    file: str
    kernels: Mapping[str, LanguageKernel]
    sources: Mapping[str, str]


def parse_module(
    text: str,
    file: str,
    search_path: Sequence[str | os.PathLike[str]] | None = None,
    ops: OpSource | None = None,
    externs: ExternSource | None = None,
) -> ParsedModule:
    """Parse the kernels in a text. It may import from `file`'s folder only if `search` is given, even if empty.

    It may name shared libraries only if `externs` is given.
    """
    start = time.perf_counter()
    importer = None if search_path is None else Importer(search_folders(search_path))
    unit = unit_of(Source(file, text), importer) if importer is None else importer.enter(Source(file, text))
    return _module(unit, start, ops, externs)


@lru_cache(64)
def parse_texts(texts: Texts, ops: Any) -> ParsedModule:
    """Parse a file and its imports from the texts of a pickled kernel; the first one is the file."""
    return _module(Bundle(texts).unit(texts[0][0]), time.perf_counter(), ops, None)


def _unpickled(texts: Texts, ops: Any, name: str) -> LanguageKernel:
    return parse_texts(texts, ops).kernels[name]


def load_module(
    path: str | os.PathLike[str],
    search_path: Sequence[str | os.PathLike[str]] = (),
    ops: OpSource | None = None,
    externs: ExternSource | None = None,
) -> ParsedModule:
    """Parse the kernels of a file, which may import others."""
    start = time.perf_counter()
    return _module(Importer(search_folders(search_path)).load(os.fspath(path)), start, ops, externs)


def _module(unit: Unit, start: float, ops: OpSource | None, externs: ExternSource | None) -> ParsedModule:
    reached = unit.reached()
    for each in reversed(reached):
        check(each, ops)
    for each in reached:
        open_externs(each, externs)
    seconds = time.perf_counter() - start
    kernels = {
        name: LanguageKernel(found, seconds, ops)
        for name, found in unit.own.items()
        if isinstance(found.item, syntax.Function) and found.item.is_kernel
    }
    return ParsedModule(unit.source.file, kernels, {u.source.file: u.source.text for u in reached})
