"""Join the fixed op table and the registered ops, to read IR text with both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...ir.kernels import OpSource
from ...ir.opdef import OpDef
from ...ir.ops import TABLE


class OpTable(Mapping[str, OpDef]):
    """Look up names when they are needed, so that the table is never out of date."""

    def __init__(self, more: OpSource) -> None:
        self._more = more

    def __reduce__(self) -> Any:
        return OpTable, (self._more,)

    def __getitem__(self, name: str) -> OpDef:
        found = TABLE.get(name) or self._more.find_op(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from TABLE
        yield from (name for name in self._more.op_names() if name not in TABLE)

    def __len__(self) -> int:
        return len(TABLE.keys() | self._more.op_names())
