"""Add Weft to IPython: `%load_ext weft`, then a `%%weft` cell defines kernels.

    %%weft
    kernel double(x: f32[n]) -> f32[n] { return x + x }

The kernels become variables of the notebook. `%%weft layers` puts them into a module `layers` instead.
"""

from __future__ import annotations

from typing import Any

from .compiling import compile
from .ir.errors import ValueProblem
from .module import Module
from .tracebacks import shorten_in


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic."""
    shell.register_magic_function(_cell(shell), magic_kind="cell", magic_name="weft")
    shorten_in(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the cell magic."""
    shell.magics_manager.magics["cell"].pop("weft", None)


def _cell(shell: Any) -> Any:
    def weft(line: str, cell: str) -> Module:
        """Compile the kernels of this cell. With a name, as in `%%weft layers`, they become a module."""
        name = line.strip()
        if name and not name.isidentifier():
            raise ValueProblem(f"%%weft takes the name of a module, such as %%weft layers, not '{name}'")
        module: Module = compile(cell, name=f"Cell In[{len(shell.user_ns['In']) - 1}]")
        shell.push({name: module} if name else {own: module[own] for own in module})
        return module

    return weft
