"""Emit a whole nest: a table from op to the function that emits it, and the native functions that result."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ....ir import dims
from ....ir.dims import Size
from ....ir.errors import LimitExceeded, Unsupported
from ....ir.graph import Graph, Node
from ....ir.nest import ops
from ....ir.nest.costs import body_cost
from ....ir.nest.ops import NEST
from ....ir.nest.scopes import places
from ....ir.opdef import OpDef, Trait
from ....ir.ops import COMPLEX, CONSTANT, IMAG, REAL, SIZE
from . import leaving, loops, memory, operations, products, walks
from .code import INDEX, Failure, NestCode
from .function import NestFunction, NestModule, Points
from .points import Point

OF_COMPLEX = (ops.LOAD, ops.STORE, ops.FETCH, ops.VIEW, ops.ALLOC, REAL, IMAG, COMPLEX)
EmitNode = Callable[[NestFunction, Node, Points], None]


def assign(f: NestFunction, node: Node, points: Points) -> None:
    """Refuse an assignment: it is for passes."""
    hint = "the reference backend runs it as it is; programs run the passes of `passes/nest_pipeline.py` first"
    raise Unsupported("`nest.assign` has no native code before `lower-assigns` has made loops of it", node.span, hint)


_STRUCTURE: Mapping[OpDef, EmitNode] = {
    ops.ASSIGN: assign,
    ops.FOR: loops.loop, ops.WALK: walks.walk, ops.ACROSS: walks.across, ops.SCAN: walks.scan,
    ops.PRODUCT: products.product, ops.WHEN: loops.when, ops.WHILE: loops.steps, ops.SWITCH: loops.switch,
    ops.ALLOC: memory.alloc, ops.LOAD: memory.load, ops.STORE: memory.store, ops.FETCH: memory.fetch,
    ops.VIEW: memory.view, ops.BIND: leaving.bind, ops.CHECK: leaving.check, ops.ASK: leaving.ask,
}  # fmt: skip
TABLE: Mapping[OpDef, EmitNode] = {
    **{op: operations.number for op in NEST.values() if op in (CONSTANT, SIZE) or Trait.ELEMENTWISE in op.traits},
    **_STRUCTURE,
}


def emit_nest(nest: Graph, name: str, vector_bytes: int) -> NestCode:
    """Emit a verified nest as LLVM text. `vector_bytes` determines the width of vector loops without an own `width`."""
    for node in (place.node for place in places(nest)):
        values = (*node.operands, *node.results, *(node.body.outputs if node.body is not None else ()))
        if node.op not in OF_COMPLEX and any(v.type.dtype.kind == "complex" for v in values):
            hint = "compute with `weft.real` and `weft.imag` of it, and put them together by `weft.complex`"
            raise Unsupported(f"{node.op.name} of a complex number has no native code in a nest", node.span, hint)
    module = NestModule(nest, name, vector_bytes)
    f = NestFunction(module, name, TABLE)
    memory.inputs(f)
    try:
        f.body(nest, [Point()])
    except RecursionError:
        raise LimitExceeded(f"the loops of {nest.name} are nested too deeply to compile") from None
    f.finish()
    names, failures = (name, *module.outlined), tuple(map(_failure, module.failures))
    text = "\n\n".join([*module.texts, ""])
    return NestCode(names, tuple(module.entries), failures, module.asks, _time(nest), text, dict(module.declared))


def _time(nest: Graph) -> Size:
    """The estimated time of a call. Numbers from data count as 1."""
    cost = body_cost(nest)
    return dims.substitute(cost, {name: 1 for name in dims.symbols(cost) if name.startswith(dims.LOOP)})


def _failure(node: Node) -> Failure:
    """Describe the error of a node, as the interpreter raises it."""
    if node.op is ops.BIND:
        return Failure(INDEX, "index {} is out of bounds for axis with size {}", node.span)
    if node.op is ops.WALK:
        names = node.attrs["combine"]
        assert isinstance(names, tuple)
        return Failure("ValueProblem", f"attempt to get {names[0]} of an empty sequence", node.span)
    if "message" in node.attrs:
        message = str(node.attrs["message"]).replace("{", "{{").replace("}", "}}")
        return Failure(str(node.attrs["error"]), message, node.span)
    return Failure("ValueProblem", "Integers to negative integer powers are not allowed.", node.span)
