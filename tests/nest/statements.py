"""Build nests of one assignment from NumPy expressions, so that the same expression runs in NumPy and in a nest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from weft.frontend.numpy import functions
from weft.ir.builder import Builder
from weft.ir.dims import LOOP, Size
from weft.ir.dtypes import from_numpy
from weft.ir.facts import Facts
from weft.ir.graph import Graph, Node, Value
from weft.ir.nest import ops
from weft.ir.ops import CAST
from weft.ir.types import Attr, Guards, Sizes, TensorType


class Traced:
    """A value of a graph that NumPy's operators and functions work on."""

    def __init__(self, builder: Builder, value: Value) -> None:
        self.builder, self.value = builder, value

    def call(self, name: str, *args: Any, **kwargs: Any) -> Traced:
        made: Traced = getattr(Functions(self.builder), name)(*args, **kwargs)
        return made

    def __getitem__(self, key: Any) -> Traced:
        keys = tuple(map(_plain, key if isinstance(key, tuple) else (key,)))
        return Traced(self.builder, functions.index(self.builder, self.value, keys, None))

    @property
    def T(self) -> Traced:
        return self.call("transpose", self)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: self.call(name, self, *args, **kwargs)


def _operator(name: str, is_reflected: bool = False) -> Callable[[Traced, Any], Traced]:
    def apply(self: Traced, other: Any) -> Traced:
        return self.call(name, other, self) if is_reflected else self.call(name, self, other)

    return apply


for _name, _function in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "matmul": "matmul", "lt": "less",
    "gt": "greater", "pow": "power",
}.items():  # fmt: skip
    setattr(Traced, f"__{_name}__", _operator(_function))
    setattr(Traced, f"__r{_name}__", _operator(_function, True))


class Functions:
    """Stands for the module `numpy` where a function is traced."""

    def __init__(self, builder: Builder, prefix: str = "") -> None:
        self.builder, self.prefix = builder, prefix

    def __getattr__(self, name: str) -> Any:
        if name in ("bitwise_or", "fmax"):  # `np.fmax.reduce`
            return type(self)(self.builder, f"{name}.")

        def call(*args: Any, **kwargs: Any) -> Traced:
            made = functions.call(self.builder, self.prefix + name, tuple(map(_plain, args)), kwargs, None)
            assert isinstance(made, Value)
            return Traced(self.builder, made)

        return call


def _plain(x: Any) -> Any:
    if isinstance(x, (tuple, list)):
        return type(x)(map(_plain, x))
    return x.value if isinstance(x, Traced) else x


class Statement:
    """A nest with one assignment. Arrays are buffers; a slice of one is a view, as `view` makes it."""

    def __init__(self, layouts: Sequence[str], **buffers: tuple[str, tuple[Size, ...]]) -> None:
        self.inputs = {
            name: Value(TensorType(from_numpy(np.dtype(dtype)), shape, "memref"), name=name)
            for name, (dtype, shape) in buffers.items()
        }
        self.layouts = tuple(layouts)
        self.nodes: list[Node] = []

    def view(self, buffer: Value, names: Sequence[str], at: Sequence[Size], shape: Sequence[Size]) -> Value:
        attrs: dict[str, Attr] = {"vars": tuple(names), "at": Sizes(at)}
        type = TensorType(buffer.type.dtype, tuple(shape), "memref")
        self.nodes.append(Node(ops.VIEW, (buffer,), attrs, (type,), None))
        return self.nodes[-1].result

    def assign(self, function: Callable[..., Any], given: Sequence[Value], targets: Sequence[Value]) -> Node:
        """Adds the assignment of what a function of arrays returns; surplus results are numbers."""
        builder = Builder("graph", Facts())
        arrays = [
            Traced(builder, builder.input(f"x{k}", TensorType(v.type.dtype, v.type.shape))) for k, v in enumerate(given)
        ]
        made = function(Functions(builder), *arrays)
        results = [m.value for m in (made if isinstance(made, tuple) else (made,))]
        for k, target in enumerate(targets):
            if results[k].type.dtype != target.type.dtype:
                results[k] = builder.op(CAST, results[k], to=target.type.dtype)
            for have, want in zip(results[k].type.shape[::-1], target.type.shape[::-1], strict=False):
                if have != 1:
                    builder.facts.assume_equal(have, want)
        body = builder.finish(results)
        attrs: dict[str, Attr] = {"writes": len(targets)}
        if "guards" in body.attrs:
            attrs["guards"] = body.attrs["guards"]
        plain = Graph("graph", body.inputs, body.nodes, body.outputs)
        types = tuple(v.type for v in body.outputs[len(targets) :])
        self.nodes.append(Node(ops.ASSIGN, (*given, *targets), attrs, types, None, plain))
        return self.nodes[-1]

    def nest(self, access: Mapping[str, str] | None = None) -> Graph:
        kinds = tuple((access or {}).get(name, "update") for name in self.inputs)
        attrs: dict[str, Attr] = {"access": kinds, "layouts": self.layouts}
        return Graph("nest", tuple(self.inputs.values()), tuple(self.nodes), (), attrs)


def variable(name: str) -> Size:
    from weft.ir.dims import symbol

    return symbol(LOOP + name)


def guards(nest: Graph) -> Guards:
    found = nest.attrs.get("guards", Guards())
    assert isinstance(found, Guards)
    return found
