"""Check each op of a nest by itself: its operands, results, body and ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..dims import Dim, Size, product
from ..dtypes import BOOL, F32, F64, I64, DType
from ..errors import WeftError, quantity
from ..facts import Facts
from ..graph import Graph, Node, Value
from ..opdef import OpDef, Trait
from ..ops import CONSTANT, EACH, SIZE, TABLE
from ..rewrite import facts_of
from ..schemas import AttributeProblem, schema_of, schema_problem
from ..types import Attr, TensorType, axis_groups, integer, ints, sizes
from ..verifier.verify import verify
from . import ops

Rule = Callable[[Node], str | None]


def node_problem(node: Node) -> str | AttributeProblem | None:
    """Describe what is wrong with a node by itself, or return None."""
    return schema_problem(schema_of(node.op, node.attrs, ops.NEST), node.attrs) or _rule_problem(node)


def _rule_problem(node: Node) -> str | None:
    if (node.op in ops.BODIES) != (node.body is not None):
        return "needs a body" if node.body is None else "can't have a body"
    if node.op.arity is not None and len(node.operands) != node.op.arity:
        return f"takes {quantity(node.op.arity, 'operand')}, not {len(node.operands)}"
    rule = RULES.get(node.op)
    return rule(node) if rule is not None else _number_op(node)


def _number_op(node: Node) -> str | None:
    """Checks an op of the main table: operands are numbers, in the dtypes that the op computes in."""
    if node.op not in (CONSTANT, SIZE) and Trait.ELEMENTWISE not in node.op.traits:
        return "works on arrays, so it can't be in a nest"
    if any(not _is_number(v) for v in node.operands):
        return "operands must be numbers"
    have = tuple(v.type.dtype for v in node.operands)
    try:
        want, gives = node.op.dtypes(have, node.attrs)
    except WeftError as error:
        return error.message
    if want != have:
        return f"operands must be {_shown(want)}, not {_shown(have)}"
    strong = tuple(I64 if node.op is SIZE else d for d in gives)
    return _gives(node, [TensorType(d) for d in strong])


def _for(node: Node) -> str | None:
    assert node.body is not None
    if len(sizes(node.attrs, "range")) != 2:
        return "range must have two sizes, a start and an end"
    kind = node.attrs["kind"]
    if node.operands and kind not in ("serial", "unrolled"):
        return f"carries values, so it must be serial or unrolled, not {kind}"
    if node.operands and node.attrs.get("shared"):
        return "carries values, so it can't be shared between threads"
    times = integer(node.attrs, "times") if "times" in node.attrs else 1
    if kind == "vector" and times & (times - 1):
        return f"is a vector loop, so 'times' must be a power of two, not {times}"
    if kind == "unrolled" and not all(isinstance(s, int) for s in sizes(node.attrs, "range")):
        return "is unrolled, so its range must be numbers"
    return _carries(node, [v.type for v in node.operands], [v.type for v in node.body.outputs])


def _carries(node: Node, given: Sequence[TensorType], after: Sequence[TensorType]) -> str | None:
    """Check that carried values have the same types as operands, in the body and as results."""
    assert node.body is not None
    if any(t.shape or t.kind != "tensor" for t in given):
        return "carried values must be numbers"
    if [v.type for v in node.body.inputs] != [*given]:
        return f"carries {_types(given)}, but its body takes {_types([v.type for v in node.body.inputs])}"
    if [*after] != [*given]:
        return f"carries {_types(given)}, but its body returns {_types(after)}"
    return _gives(node, given)


def _walk(node: Node) -> str | None:
    assert node.body is not None
    names, combine = _texts(node, "vars"), _texts(node, "combine")
    if not names or len(sizes(node.attrs, "range")) != 2 * len(names):
        return f"has {quantity(len(names), 'variable')}, so its range must have {quantity(2 * len(names), 'size')}"
    if node.attrs["kind"] not in ("serial", "vector"):
        return f"must be serial or vector, not {node.attrs['kind']}"
    if len(ints(node.attrs, "steps")) != len(combine):
        return f"has {len(combine)} reductions, so 'steps' must have as many entries"
    if node.body.inputs or len(node.body.outputs) != len(combine) or len(node.results) != len(combine):
        return f"has {len(combine)} reductions, so it must have as many results, and its body too"
    for name, element, result in zip(combine, node.body.outputs, node.results, strict=True):
        if name not in ops.COMBINERS and name not in ops.POSITIONS:
            return f"can't combine with '{name}', only with {', '.join((*ops.COMBINERS, *ops.POSITIONS))}"
        if not _is_number(element):
            return "can combine only numbers"
        wanted = TensorType(element.type.dtype)
        if name in ops.POSITIONS:
            wanted = TensorType(I64)
        elif node.attrs["kind"] == "vector":
            wanted = TensorType(element.type.dtype, result.type.shape, "vector")
        if result.type != wanted:
            return f"result of '{name}' must be {type_shown(wanted)}, not {type_shown(result.type)}"
        if wanted.kind == "vector" and not _are_lanes(wanted):
            return "number of lanes must be a power of two up to 256"
        if name in ops.COMBINERS and (problem := _combines(name, element.type.dtype)):
            return problem
    if "chained" in node.attrs and not _can_chain(node, combine):
        return "'chained' must have as many entries as reductions, and 1 only for sums of products of f32 or f64"
    if "position" in node.attrs and len(sizes(node.attrs, "position")) != 1:
        return "'position' must be one size"
    return None


def _can_chain(walk: Node, combine: Sequence[str]) -> bool:
    """Whether FMAs can add the terms that are marked as `chained`: each must be a product, and its reduction a sum."""
    assert walk.body is not None
    chained, terms = ints(walk.attrs, "chained"), walk.body.outputs
    products = [v.node is not None and v.node.op is TABLE["mul"] and v.type.dtype in (F32, F64) for v in terms]
    return len(chained) == len(combine) and not any(
        is_chained and not (name == "sum" and is_product)
        for name, is_chained, is_product in zip(combine, chained, products, strict=True)
    )


def _combines(name: str, dtype: DType) -> str | None:
    """Checks that two numbers of a dtype can be combined to another one."""
    try:
        fits = ops.combiner(name).dtypes((dtype, dtype), {}) == ((dtype, dtype), (dtype,))
    except WeftError as error:
        return error.message
    return None if fits else f"can't combine {dtype} with '{name}'"


def _are_lanes(type: TensorType) -> bool:
    count = type.shape[0] if len(type.shape) == 1 else 0
    return isinstance(count, int) and 1 <= count <= 256 and not count & (count - 1)


def _across(node: Node) -> str | None:
    lanes = node.operands[0].type
    if lanes.kind != "vector":
        return "operand must be the lanes of a walk"
    if node.attrs["combine"] not in ops.COMBINERS:
        return f"can't combine with '{node.attrs['combine']}', only with {', '.join(ops.COMBINERS)}"
    return _gives(node, [TensorType(lanes.dtype)])


def _scan(node: Node) -> str | None:
    name, number = str(node.attrs["combine"]), node.operands[0].type
    if name not in ops.COMBINERS and (name not in TABLE or TABLE[name].arity != 2):
        return f"can't combine with '{name}', only with an op of two numbers or {', '.join(ops.COMBINERS)}"
    return _numbers(node) or _combines(name, number.dtype) or _gives(node, [number])


def _product(node: Node) -> str | None:
    assert node.body is not None
    names = _texts(node, "vars")
    if len(names) < 3 or len(sizes(node.attrs, "range")) != 2 * len(names):
        return "needs at least three variables, the last one summed over, and two sizes for each"
    terms = [n for n in node.body if n.op is ops.TERMS]
    if len(terms) != 1 or len(node.body.inputs) != 1 or node.body.outputs or node.results:
        return "body must have one `nest.terms`, take the sum and return nothing"
    if {v.type for v in terms[0].operands} != {node.body.inputs[0].type}:
        return "factors and sum must have the same dtype"
    return None


def _when(node: Node) -> str | None:
    assert node.body is not None
    if node.operands[0].type != TensorType(BOOL):
        return f"needs a condition, not {type_shown(node.operands[0].type)}"
    if node.body.inputs or any(not _is_number(v) for v in node.body.outputs):
        return "body must take nothing and return numbers"
    return _gives(node, [v.type for v in node.body.outputs])


def _while(node: Node) -> str | None:
    assert node.body is not None
    made = [v.type for v in node.body.outputs]
    if made[:1] != [TensorType(BOOL)]:
        return "first result of the body must be a bool that says whether the step counts"
    if not any(n.op is ops.ASK for n in node.body):
        return "body needs a `nest.ask`, so that Ctrl-C is noticed"
    return _carries(node, [v.type for v in node.operands], made[1:])


def _alloc(node: Node) -> str | None:
    if len(node.results) != 1 or node.results[0].type.kind != "memref":
        return "result must be one memref"
    return None


def _access(node: Node) -> str | None:
    buffer = node.operands[-1].type
    if buffer.kind != "memref":
        return f"needs a memref, not {type_shown(buffer)}"
    count = len(sizes(node.attrs, "at"))
    if count != buffer.rank:
        return f"has {quantity(count, 'index', 'indices')} for a buffer with {quantity(buffer.rank, 'dimension')}"
    number = TensorType(buffer.dtype)
    if node.op is ops.STORE and node.operands[0].type != number:
        return f"can't store {type_shown(node.operands[0].type)} to a buffer of {buffer.dtype}"
    return _gives(node, [number] if node.op is ops.LOAD else [])


def _view(node: Node) -> str | None:
    buffer = node.operands[0].type
    if buffer.kind != "memref" or len(node.results) != 1 or node.results[0].type.kind != "memref":
        return "must take a memref and return one"
    if "collapse" in node.attrs:
        return _collapsed(node)
    if "vars" not in node.attrs or "at" not in node.attrs:
        return "needs 'vars' and 'at', or 'collapse'"
    names = _texts(node, "vars")
    if len(sizes(node.attrs, "at")) != buffer.rank or len(names) != node.results[0].type.rank:
        return "needs a variable for each of its dimensions and an index for each of the buffer's"
    if node.results[0].type.dtype != buffer.dtype:
        return f"result must be {buffer.dtype}, not {node.results[0].type.dtype}"
    return None


def _collapsed(node: Node) -> str | None:
    """Checks the groups of a view that collapses axes; the verifier checks that they are contiguous."""
    shape, groups = node.operands[0].type.shape, axis_groups(node.attrs, "collapse")
    if "vars" in node.attrs or "at" in node.attrs:
        return "can't have both 'collapse' and an index"
    if sorted(axis for group in groups for axis in group) != list(range(len(shape))) or not all(groups):
        return f"must have each of the {quantity(len(shape), 'axis', 'axes')} once in 'collapse'"
    sizes_of = tuple(product(shape[axis] for axis in group) for group in groups)
    return _gives(node, [TensorType(node.operands[0].type.dtype, sizes_of, "memref")])


def _each(node: Node) -> str | None:
    """Checks an elementwise program on numbers."""
    assert node.body is not None
    taken = [TensorType(v.type.dtype.strong, v.type.shape) for v in node.body.inputs]  # a Python number is weak there
    if taken != [v.type for v in node.operands]:
        return f"body takes {_types(taken)}, but the operands are {_types([v.type for v in node.operands])}"
    try:
        verify(node.body)
    except WeftError as error:
        return error.message
    return _numbers(node) or _gives(node, [TensorType(v.type.dtype.strong) for v in node.body.outputs])


def _bind(node: Node) -> str | None:
    if node.operands[0].type.dtype.kind not in ("int", "uint") or len(sizes(node.attrs, "range")) != 2:
        return "needs a whole number and a range of two sizes"
    return _numbers(node) or _gives(node, [])


def _assign(node: Node) -> str | None:
    """Check that the arrays of the graph match the buffers, under the guards of the assignment."""
    assert node.body is not None
    writes = integer(node.attrs, "writes")
    body = Graph(node.body.name, node.body.inputs, node.body.nodes, node.body.outputs, guards_in(node))
    given, targets = node.operands[: len(node.operands) - writes], node.operands[len(node.operands) - writes :]
    if writes > min(len(node.operands), len(body.outputs)) or len(given) != len(body.inputs):
        return f"writes {writes} buffers, so it needs them as its last operands, and a graph input for each other one"
    facts = facts_of(body)
    for value, inner in zip(given, body.inputs, strict=True):
        same = value.type.dtype == inner.type.dtype.strong and facts.agree(value.type.shape, inner.type.shape)
        if not same or value.type.kind != ("memref" if inner.type.shape else value.type.kind):
            return f"graph takes {type_shown(inner.type)}, but is given {type_shown(value.type)}"
    for value, inner in zip(targets, body.outputs, strict=False):
        if value.type.kind != "memref" or value.type.dtype != inner.type.dtype:
            return f"can't write {type_shown(inner.type)} to {type_shown(value.type)}"
        if not broadcasts(facts, inner.type.shape, value.type.shape):
            return f"{type_shown(inner.type)} does not broadcast to {type_shown(value.type)}"
    try:
        verify(body)
    except WeftError as error:
        return error.message
    if any(v.type.shape or v.type.dtype.weak for v in body.outputs[writes:]):
        return "results must be numbers"
    return _gives(node, [v.type for v in body.outputs[writes:]])


def guards_in(node: Node) -> dict[str, Attr]:
    """The guards of an assignment, as the attributes of its graph."""
    return {"guards": node.attrs["guards"]} if "guards" in node.attrs else {}


def broadcasts(facts: Facts, shape: Sequence[Size], target: Sequence[Size]) -> bool:
    """Whether an array can be written to a buffer of another shape: axes of size 1 repeat, and leading ones may be
    missing.
    """
    missing = len(target) - len(shape)
    if missing < 0:
        return all(facts.canonical(s) == 1 for s in shape[:-missing]) and broadcasts(facts, shape[-missing:], target)
    pairs = zip(shape, target[missing:], strict=True)
    return all(facts.canonical(a) == 1 or facts.same(a, b) for a, b in pairs)


def _switch(node: Node) -> str | None:
    assert node.body is not None
    if not node.body.nodes or any(n.op is not ops.CASE for n in node.body) or node.body.inputs or node.body.outputs:
        return "body must have cases and nothing else"
    if node.body.nodes[-1].attrs.get("guards"):
        return "last case must have no guards, to cover all other sizes"
    return _gives(node, [])


def _case(node: Node) -> str | None:
    assert node.body is not None
    return "body can't take or return values" if node.body.inputs or node.body.outputs else _gives(node, [])


def _check(node: Node) -> str | None:
    if node.operands[0].type != TensorType(BOOL):
        return f"needs a condition, not {type_shown(node.operands[0].type)}"
    return _gives(node, [])


def _nothing(node: Node) -> str | None:
    return _gives(node, [])


RULES: Mapping[OpDef, Rule] = {
    ops.FOR: _for, ops.WALK: _walk, ops.ACROSS: _across, ops.SCAN: _scan, ops.PRODUCT: _product, ops.TERMS: _nothing,
    ops.WHEN: _when, ops.WHILE: _while, ops.ALLOC: _alloc, ops.LOAD: _access, ops.STORE: _access, ops.FETCH: _access,
    ops.VIEW: _view, ops.BIND: _bind, ops.ASSIGN: _assign, ops.SWITCH: _switch, ops.CASE: _case, ops.CHECK: _check,
    ops.ASK: _nothing, EACH: _each,
}  # fmt: skip


def _gives(node: Node, wanted: Sequence[TensorType]) -> str | None:
    have = [v.type for v in node.results]
    return None if have == [*wanted] else f"results must be {_types(wanted)}, not {_types(have)}"


def _numbers(node: Node) -> str | None:
    return None if all(map(_is_number, node.operands)) else "operands must be numbers"


def _is_number(value: Value) -> bool:
    return value.type.kind == "tensor" and not value.type.shape and not value.type.dtype.weak


def _texts(node: Node, name: str) -> tuple[str, ...]:
    found = node.attrs[name]
    assert isinstance(found, tuple)
    return tuple(map(str, found))


def _types(types: Sequence[TensorType]) -> str:
    return f"({', '.join(map(type_shown, types))})"


def type_shown(type: TensorType) -> str:
    """A type as messages show it."""
    if type.kind == "tensor":
        return str(type)
    return f"{type.kind} {type.dtype}[{', '.join(str(s) for s in type.shape)}]"


def _shown(dtypes: Sequence[DType]) -> str:
    return ", ".join(map(str, dtypes))


def uses(node: Node) -> frozenset[str]:
    """List the symbols in the sizes of a node's attributes and result types."""
    found: set[str] = set()
    for attr in node.attrs.values():
        if isinstance(attr, tuple):
            for size in attr:
                found |= size.symbols if isinstance(size, Dim) else set()
    for value in node.results:
        for size in value.type.shape:
            found |= size.symbols if isinstance(size, Dim) else set()
    return frozenset(found)
