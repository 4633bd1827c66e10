"""Find the kernels of a text by name and parameters without parsing it again.

The kernels know the digest of their text and parse it only when something must be compiled. Text with errors is never
in the cache, so errors are still reported at once.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...ir.errors import FileProblem
from ...ir.lazy import cached_property
from ...ir.source import ArgType, Binding, Built, ParameterList
from ...ir.tuples import NamedTuple
from .cache import Cache, default_cache
from .codec import as_json, read_json
from .key import digest, key_of, state_of

if TYPE_CHECKING:
    from ...frontend.language.modules import Texts
    from ...frontend.language.source import LanguageKernel, ParsedModule
    from ..registry import Registry

Load = Callable[[], "ParsedModule"]
Parse = Callable[[str], "ParsedModule"]
Listed = tuple[Sequence[str], Sequence[str], Sequence[Any], Sequence[str]]
LONGEST = 1 << 22  # bytes of a file to look up; the parser has its own limit


class StoredKernel:
    """A kernel of a `.weft` file that is parsed only when needed."""

    impl = None  # text that registers implementations is parsed every time

    def __init__(self, name: str, takes: ParameterList, digest: str, module: StoredModule) -> None:
        self.name, self.takes, self.digest, self._module = name, takes, digest, module

    @property
    def parameters(self) -> tuple[str, ...]:
        return self.takes.names

    def __repr__(self) -> str:
        return repr(self.parsed)

    @property
    def parsed(self) -> LanguageKernel:
        return self._module.parsed.kernels[self.name]

    @property
    def parse_seconds(self) -> float:
        return self.parsed.parse_seconds

    @property
    def signature(self) -> str:
        return self.parsed.signature

    @property
    def comment(self) -> str:
        return self.parsed.comment

    @property
    def text(self) -> str:
        return self.parsed.text

    def __reduce__(self) -> Any:
        parsed, kernels = self.parsed, self._module.kernels.values()
        named = tuple((kernel.name, _listed(kernel.takes)) for kernel in kernels)
        return _unpickled, (self._module.file, named, self.digest, parsed.texts, parsed.ops, self.name)

    def __dask_tokenize__(self) -> Any:
        from ...ir.support.pickles import token

        return token(self.parsed.texts, self.name)

    def bind(self, args: Sequence[ArgType]) -> Binding:
        return self.parsed.bind(args)

    def build(self, binding: Binding, args: Sequence[ArgType] | None = None) -> Built:
        return self.parsed.build(binding, args)


class StoredModule:
    """The kernels of one file by name, in file order."""

    def __init__(self, file: str, listed: Mapping[str, Listed], digest: str, load: Load) -> None:
        self.file, self._digest, self._load = file, digest, load
        self.kernels = {name: StoredKernel(name, _read_list(each), digest, self) for name, each in listed.items()}

    @cached_property
    def parsed(self) -> ParsedModule:
        """Parse the kernels as they were when the file was opened; imports are read only now."""
        found = self._load()
        if _digest(found.sources) != self._digest:
            raise FileProblem(f"the imports of {self.file} have changed since it was loaded", hint="load it again")
        return found


@lru_cache(64)
def _of_texts(file: str, named: Any, digest: str, texts: Texts, ops: Any) -> StoredModule:
    """Make one module of the texts of all kernels that were pickled with them."""

    def load() -> ParsedModule:
        from ...frontend.language.source import parse_texts

        return parse_texts(texts, ops)

    return StoredModule(file, dict(named), digest, load)


def _unpickled(file: str, named: Any, digest: str, texts: Texts, ops: Any, name: str) -> StoredKernel:
    return _of_texts(file, named, digest, texts, ops).kernels[name]


class _Import(NamedTuple):
    """An imported file: its path, where the path leads, and the digest of its text."""

    path: str
    real: str
    folder: str
    digest: str

    @classmethod
    def of(cls, path: str, text: str) -> _Import:
        return cls(path, os.path.realpath(path), os.path.realpath(os.path.dirname(path)), digest([(path, text)]))

    def is_current(self) -> bool:
        text = _text(self.path)
        return text is not None and _Import.of(self.path, text) == self


def open_text(text: str, file: str, registry: Registry, parse: Parse) -> ParsedModule | StoredModule:
    """Open the kernels of a text without imports."""
    cache = _cache_for(registry)
    return parse(text) if cache is None else _open(cache, text, file, "", parse)


def open_file(
    path: str, registry: Registry, load: Load, parse: Parse, search: Sequence[str] = ()
) -> ParsedModule | StoredModule:
    """Open the kernels of a file and of what it imports; `parse` parses the file's text.

    Imports are looked up in the file's folder, then in the folders of `search`.
    """
    cache = _cache_for(registry)
    text = _text(path) if cache is not None else None
    if cache is None or text is None:
        return load()
    return _open(cache, text, path, os.path.realpath(os.path.dirname(path)), parse, search)


def _cache_for(registry: Registry) -> Cache | None:
    """Return the cache, unless users have registered ops: these may change what a text means."""
    cache = default_cache()
    return None if cache is None or state_of(registry) is None else cache


def _open(
    cache: Cache, text: str, file: str, folder: str, parse: Parse, search: Sequence[str] = ()
) -> ParsedModule | StoredModule:
    key = key_of("module", file, folder, text)
    content = cache.read(key)
    found = None if content is None else _read(content)
    if found is not None:
        return StoredModule(file, *found, lambda: parse(text))
    parsed = parse(text)
    if any(kernel.impl is not None for kernel in parsed.kernels.values()) or _has_externs(parsed):
        return parsed
    imports = [_Import.of(f, t) for f, t in parsed.sources.items() if f != file]
    if any(not _is_inside(i.real, folder) or any(_is_inside(i.real, s) for s in search) for i in imports):
        return parsed  # found on the search path, where another file of that name may come first later
    kernels = {name: _listed(kernel.takes) for name, kernel in parsed.kernels.items()}
    name = _digest(parsed.sources)
    cache.write(key, as_json([kernels, name, imports]))
    return StoredModule(file, kernels, name, lambda: parsed)


def _is_inside(path: str, folder: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.commonpath((path, real)) == real


def _has_externs(parsed: ParsedModule) -> bool:
    """Tell whether a text may name shared libraries; loading them must be allowed every time."""
    return any("extern" in text for text in parsed.sources.values())


def _listed(takes: ParameterList) -> Listed:
    """Write a list of parameters as values of JSON that can be hashed: complex numbers are texts."""
    numbers = [str(x) if isinstance(x, complex) else x for x in takes.defaults.values()]
    return takes.names, tuple(takes.defaults), tuple(numbers), takes.sizes


def _read_list(listed: Listed) -> ParameterList:
    names, given, numbers, sizes = listed
    defaults = {name: complex(x) if isinstance(x, str) else x for name, x in zip(given, numbers, strict=True)}
    return ParameterList(tuple(names), defaults, tuple(sizes))


def _read(content: bytes) -> tuple[dict[str, Listed], str] | None:
    """Read the kernels of a text and its digest, if all imports are unchanged."""
    try:
        kernels, name, found = read_json(content)
        imports = [_Import(*i) for i in found]
        for listed in kernels.values():
            _read_list(listed)
    except (ValueError, TypeError):
        return None
    return (kernels, name) if all(i.is_current() for i in imports) else None


def _digest(sources: Mapping[str, str]) -> str:
    return digest(list(sources.items()))


def _text(path: str) -> str | None:
    """Read a regular file's text; the parser reports what is wrong with others."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            data = file.read(LONGEST + 1)
        return None if len(data) > LONGEST else data.removeprefix(BOM_UTF8).decode()
    except (OSError, ValueError):
        return None
