"""Keep measurements in one JSON file for each function and dtype, so that a run can be resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weft.ir.support.files import write_file

from .emitted import code, fingerprint
from .formats import Format
from .functions import Function
from .plan import is_exhaustive, planned_points

Record = dict[str, Any]


class Store:
    """The folder of measurements."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _path(self, function: Function, format: Format) -> Path:
        return self.folder / f"{function.name}-{format.name}.json"

    def read(self, function: Function, format: Format) -> Record | None:
        """Return the measurement of the current code, if there is one."""
        text, path = code(function, format), self._path(function, format)
        if text is None or not path.exists():
            return None
        record: Record = json.loads(path.read_text())
        return record if record["code"] == fingerprint(text, format) else None

    def write(self, function: Function, format: Format, record: Record) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(str(self._path(function, format)), f"{json.dumps(record, indent=1)}\n".encode())

    def is_measured(self, function: Function, format: Format, points: int) -> bool:
        """Tell whether a measurement with this many points exists already."""
        record = self.read(function, format)
        if record is None:
            return False
        if is_exhaustive(function, format):
            return bool(record["every"])
        return bool(record["planned"] >= planned_points(function, format, points))
