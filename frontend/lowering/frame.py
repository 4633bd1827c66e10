"""Keep what names mean in one body while it is lowered."""

from __future__ import annotations

from typing import Any

from ...ir.dims import Size
from ...ir.records import record, replace
from ..indices.scope import IndexScope
from ..language.declared import Declared
from ..language.modules import Unit

Thing = Any
"""The value of an expression: an operand, or an argument such as `None`, `...`, a string, a dtype or a tuple."""


@record
class Variable:
    """A parameter, a `let` or a `var`; `type` is its annotation, if it has one."""

    value: Thing
    type: Declared | None = None


@record(eq=False)
class Environment:
    """The body of a `fn` (`elements`) or a kernel: its variables, and the sizes that its dimensions name.

    In index notation it also has a scope, and expressions work on elements.
    """

    unit: Unit
    elements: bool
    variables: dict[str, Variable]
    sizes: dict[str, Size]
    scope: IndexScope | None = None

    @property
    def plain(self) -> Environment:
        """The kernel's frame without indices."""
        return replace(self, scope=None, elements=False)

    def inner(self) -> Environment:
        """Make the frame of a block; its assignments are only visible here after it is merged."""
        return replace(self, variables=dict(self.variables))
