"""What the names in one body mean while it is lowered."""

from __future__ import annotations

from typing import Any

from ...ir.dims import Size
from ...ir.records import record, replace
from ..indices.scope import IndexScope
from ..language.declared import Declared
from ..language.modules import Unit

Thing = Any
"""What an expression gives: an operand, or `None`, `...`, text, a dtype or a tuple of things as an argument."""


@record
class Variable:
    """A parameter, a `let` or a `var`; `type` is there if it was annotated."""

    value: Thing
    type: Declared | None = None


@record(eq=False)
class Environment:
    """The body of a `fn` (`elements`) or a kernel: its variables, and the sizes that its dimensions name.

    In index notation there is a scope as well, and expressions are of elements.
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
        """The frame of a block: what it assigns is seen here only when it is merged."""
        return replace(self, variables=dict(self.variables))
