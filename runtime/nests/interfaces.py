"""Describe what a call of a nest passes and must satisfy, without the nest itself.

Machine code computes sizes in 64 bits. A nest from outside may have any sizes in it, so a call checks that none of
them, nor a part of one, comes near the limit. Addresses may wrap around in between, because the final ones are proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...ir import dims
from ...ir.dims import LOOP, Atom, Size
from ...ir.errors import LimitExceeded
from ...ir.graph import Graph
from ...ir.layouts import C
from ...ir.tuples import NamedTuple
from ...ir.types import Guards, Sizes, TensorType

LIMIT = 1 << 62


class NestInterface(NamedTuple):
    """The buffers and numbers of a call.

    `sizes` are all that the nest computes; ends of ranges come with their variable.
    """

    name: str
    parameters: tuple[str, ...]
    types: tuple[TensorType, ...]
    access: tuple[str, ...]
    layouts: tuple[str, ...]
    numbers: tuple[str, ...]  # sizes that no array has
    guards: Guards
    sizes: tuple[tuple[str, Size], ...]


def interface_of(nest: Graph) -> NestInterface:
    """Describe the calls of a nest."""
    from .compiling import size_places

    types = tuple(v.type for v in nest.inputs)
    access, layouts = (nest.attrs.get(name) or (C,) * len(types) for name in ("access", "layouts"))
    guards = nest.attrs.get("guards", Guards())
    assert isinstance(access, tuple) and isinstance(layouts, tuple) and isinstance(guards, Guards)
    found = tuple(dict.fromkeys(_sizes(nest)))
    inside = (s for _, s in found)
    named = [s for pair in guards for s in pair] + [s for t in types for s in t.shape]
    used = dict.fromkeys(name for size in (*named, *inside) for name in sorted(dims.symbols(size)))
    known = size_places(types)
    return NestInterface(
        nest.name,
        tuple(v.name or f"arg{k}" for k, v in enumerate(nest.inputs)),
        types,
        tuple(map(str, access)),
        tuple(map(str, layouts)),
        tuple(name for name in used if not name.startswith(LOOP) and name not in known),
        guards,
        found,
    )


def _sizes(nest: Graph) -> Iterator[tuple[str, Size]]:
    """List all sizes in a nest, outer loops first. Ends of ranges and of views come with their variable."""
    from ...ir.nest.scopes import places, variables

    for place in places(nest):
        node = place.node
        for variable in variables(node):
            yield "", variable.first
            yield LOOP + variable.name, variable.end
        if "vars" in node.attrs and node.results and node.results[0].type.kind == "memref":
            names = node.attrs["vars"]
            assert isinstance(names, tuple)
            for name, size in zip(names, node.results[0].type.shape, strict=True):
                yield LOOP + str(name), size
        for attr in node.attrs.values():
            if isinstance(attr, Sizes):
                yield from (("", size) for size in attr)
            if isinstance(attr, Guards):
                yield from (("", size) for pair in attr for size in pair)
        for value in node.results:
            if value.type.kind == "memref":
                yield "", dims.product(value.type.shape) * value.type.dtype.size


def check_magnitudes(interface: NestInterface, env: Mapping[str, int]) -> None:
    """Refuse sizes of a call for which something in the nest may not fit 64 bits."""
    bounds = dict(env)
    for name, size in interface.sizes:
        found = _magnitude(size, bounds)
        if found >= LIMIT:
            raise LimitExceeded(f"{interface.name}: the size {size} may be too large for 64 bits in this call")
        if name:
            bounds[name] = max(found, bounds.get(name, 0))


def _magnitude(size: Size, bounds: Mapping[str, int]) -> int:
    """Bound the absolute value of a size and of every part of it."""
    total = 0
    for monomial, factor in dims.terms_of(size):
        part = abs(factor)
        for atom in monomial:
            part *= _atom(atom, bounds)
        total += part
    return total


def _atom(atom: Atom, bounds: Mapping[str, int]) -> int:
    if not atom.args:
        return bounds[atom.name]
    return max(_magnitude(arg, bounds) for arg in atom.args)


def shown(type: TensorType) -> str:
    """A type as messages show it: `f64[n, m]`."""
    return f"{type.dtype}[{', '.join(map(str, type.shape))}]" if type.shape else str(type.dtype)
