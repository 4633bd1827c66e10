"""Make the `OpDef` of a bundled kernel whose text is read only when a rule of the op is asked for.

A graph that comes from the disk needs to know of such an op how its result lies in memory, which the traits say.
"""

from __future__ import annotations

from functools import cache

from ...ir.opdef import OpDef, Trait


def deferred_op(name: str, arity: int | None, traits: frozenset[Trait]) -> OpDef:
    """The op whose rules are those of the kernel of this name in `composites.weft`."""

    @cache
    def known() -> OpDef:
        from .bundled import composites
        from .opdefs import op_of

        return op_of(name, (composites()[name],), lambda *_: None)

    return OpDef(
        name, arity, lambda dtypes, attrs: known().dtypes(dtypes, attrs),
        lambda facts, shapes, attrs: known().shapes(facts, shapes, attrs), traits, "A bundled kernel.",
    )  # fmt: skip
