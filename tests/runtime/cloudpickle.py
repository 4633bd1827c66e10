"""Stand in for cloudpickle: pickle functions of `__main__`, local and replaced ones by value."""

from __future__ import annotations

import io
import marshal
import pickle
import sys
from types import CodeType, FunctionType
from typing import Any

import numpy as np

_PICKLE_BY_VALUE_MODULES: set[str] = set()


class Pickler(pickle.Pickler):
    def dump(self, obj: Any) -> None:
        super().dump(obj)

    def reducer_override(self, obj: Any) -> Any:
        if not isinstance(obj, FunctionType) or getattr(sys.modules.get(obj.__module__), obj.__name__, None) is obj:
            return NotImplemented
        used = {name: obj.__globals__[name] for name in obj.__code__.co_names if name in obj.__globals__}
        used.pop("np", None)
        return _empty, (marshal.dumps(obj.__code__), obj.__module__), (obj.__defaults__, used), None, None, _filled


def dumps(obj: Any) -> bytes:
    file = io.BytesIO()
    Pickler(file).dump(obj)
    return file.getvalue()


def _empty(code: bytes, module: str) -> FunctionType:
    found = marshal.loads(code)
    assert isinstance(found, CodeType)
    return FunctionType(found, {"np": np, "__name__": module, "__builtins__": __builtins__})


def _filled(function: FunctionType, state: Any) -> None:
    function.__defaults__ = state[0]
    function.__globals__.update(state[1])
