"""Lower Python statements: assignments to variables, elements, slices and masks, branches, loops and jumps."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.dtypes import BOOL, I64, DType
from ...ir.graph import Value
from .arithmetic import number_parts
from .arrays.indexing import is_basic, view_of
from .arrays.masks import selects, write_selected
from .arrays.scatter import has_indices, scatter
from .arrays.strides import store_strided, strided_item
from .context import ALWAYS, BREAK, CONTINUE, RETURN, RETURNED, Lowering, demand_fit, may_wrap
from .expressions import BINARY, binary, condition, evaluate, index_items, indexed, made_function
from .kinds import Known, NumpyScalar
from .loops import lower_for, lower_while
from .values import Abstract, CutProblem, Expression, Number, Selected, TupleValue, View, constant


def statement(p: Lowering, node: ast.stmt) -> None:
    """Lowers one statement."""
    rule = STATEMENTS.get(type(node))
    if rule is None:
        raise CutProblem(f"{type(node).__name__} statements are not compiled", node)
    try:
        rule(p, node)
    except CutProblem as problem:
        problem.node = problem.node or node
        raise


def _assign(p: Lowering, node: ast.Assign) -> None:
    value = evaluate(p, node.value)
    if len(node.targets) > 1 or not isinstance(node.targets[0], ast.Subscript):
        if len(node.targets) == 1 and _replace(p, node.targets[0], value):
            return
        only = node.targets[0]
        if len(node.targets) == 1 and isinstance(only, ast.Name) and isinstance(value, Expression):
            p.waiting.pop(only.id, None)
            if p.wait(only.id, value):
                return
        value = p.computed(value, node.value)
    for target in node.targets:
        assign(p, target, value)


def _replace(p: Lowering, target: ast.expr, value: Abstract) -> bool:
    """Write a new array to the memory that a loop carries for its variable, if nothing else sees that memory."""
    if not isinstance(target, ast.Name) or not isinstance(value, Expression):
        return False
    name = target.id
    place = p.places.get(name)
    if place is None or p.env.get(name) != place:
        return False
    if value.value.type.dtype != place.dtype or not p.e.facts.agree(value.value.type.shape, place.shape):
        return False
    if not p.is_only_name(name, place) or p.draft.viewed(value.value) is not None:
        return False
    if (p.draft.order_of(value.value) or tuple(range(place.rank))) != p.e.order_like(place):
        return False
    p.stores()
    p.draft.emit([value.value], [place])
    p.place_writes[place.buffer] = p.place_writes.get(place.buffer, 0) + 1
    return True


def _annotated(p: Lowering, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(p, node.target, p.computed(evaluate(p, node.value), node.value))


def assign(p: Lowering, target: ast.expr, value: Abstract) -> None:
    """Bind a variable, unpack, or store to an array."""
    if isinstance(target, ast.Name):
        p.waiting.pop(target.id, None)
        p.env[target.id] = value
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part, item in zip(target.elts, _unpacked(p, target, value), strict=True):
            assign(p, part, item)
    elif isinstance(target, ast.Subscript):
        of = evaluate(p, target.value)
        if not isinstance(of, View):
            raise CutProblem("only elements of arrays can be assigned", target)
        store(p, of, index_items(p, target.slice), value)
    else:
        raise CutProblem(f"{type(target).__name__} can't be assigned in compiled code", target)


def _unpacked(p: Lowering, target: ast.Tuple | ast.List, value: Abstract) -> list[Abstract]:
    if any(isinstance(part, ast.Starred) for part in target.elts):
        raise CutProblem("starred targets are not compiled", target)
    if isinstance(value, TupleValue):
        items = list(value.items)
    elif isinstance(value, View) and value.rank:
        excess = value.shape[0] - len(target.elts)
        if not (p.e.holds(excess) and p.e.holds(-excess)):
            raise CutProblem("an array of another size is unpacked", target)
        one = [evaluate(p, ast.Constant(k)) for k in range(len(target.elts))]
        views = [view_of(p.e, value, (k,)) for k in one]
        items = [v if v.rank else p.load(v) for v in views]
    else:
        raise CutProblem("only tuples are unpacked in compiled code", target)
    if len(items) != len(target.elts):
        raise CutProblem(f"this raises ValueError: {len(items)} values for {len(target.elts)} targets", target)
    return items


def store(p: Lowering, of: View, items: tuple[Abstract, ...], value: Abstract) -> None:
    """`of[items] = value`."""
    if not of.buffer.writeable:
        raise CutProblem("this raises ValueError: the array is read-only")
    p.stores()
    if not is_basic(items):
        _store_selected(p, of, items, value)
        return
    at = strided_item(p, items)
    if at is not None:
        store_strided(p, of, items, at, value, lambda target, part: write(p, target, part))
        return
    write(p, view_of(p.e, of, items), value)


def write(p: Lowering, target: View, value: Abstract) -> None:
    """Write a value to all of a view, with NumPy's conversion and broadcasting."""
    if not target.rank:
        number = p.converted(value)
        if target.dtype.kind == "complex":
            for k, part in enumerate(number_parts(p.e, number, target.dtype)):
                p.e.store(part, target.part(k), ())
            return
        p.e.store(p.stored_number(number, target), target, ())
        return
    if isinstance(value, TupleValue):
        _write_items(p, target, value)
        return
    p.draft.emit([_converted(p, value, target.dtype)], [target])


def _write_items(p: Lowering, target: View, value: TupleValue) -> None:
    """Write the numbers of a tuple to a row with as many elements."""
    numbers = [p.number(item) for item in value.items]
    excess = target.shape[0] - len(numbers)
    if target.rank != 1 or not numbers or not p.e.holds(excess) or not p.e.holds(-excess):
        raise CutProblem("only a tuple of numbers that has the size of a row can be stored")
    if target.dtype.kind not in ("float", "complex") and not all(n.dtype.is_integer for n in numbers):
        raise CutProblem("a tuple of floats is stored to an array of another kind")
    for k, number in enumerate(numbers):
        write(p, view_of(p.e, target, (constant(k),)), number)


def _converted(p: Lowering, value: Abstract, dtype: DType) -> Value:
    """Convert a value to the dtype of the array that it is written to."""
    if isinstance(value, Number):
        if value.known is not None:
            demand_fit(value.known, dtype)
            made = p.draft.builder.constant(value.known)
        else:
            made = p.draft.leaf(_fitted(p, value, dtype))
    elif isinstance(value, (View, Expression)):
        made = p.draft.operand(value)
    else:
        raise CutProblem("only arrays and numbers can be stored")
    if made.type.dtype.kind == "complex" and dtype.kind != "complex":
        raise CutProblem("the imaginary part of a complex array would be dropped")
    return p.draft.cast(made, dtype)


def _fitted(p: Lowering, number: Number, dtype: DType) -> Number:
    """Return a number that is stored to all elements of an array; a Python int must fit its dtype."""
    is_loose = number.dtype.kind == "float" or (number.is_python and dtype != I64) or may_wrap(number, dtype)
    if dtype.is_integer and is_loose:
        return Number(NumpyScalar(dtype), p.stored_as(number, dtype))
    return number


def _store_selected(p: Lowering, of: View, items: tuple[Abstract, ...], value: Abstract) -> None:
    """Store to what a mask or index arrays select."""
    if selects(of, items):
        write_selected(p, of, items[0], value, lambda new: _converted(p, new, of.dtype))
        return
    if has_indices(items):
        scatter(p, of, items, value, lambda target, part: write(p, target, part))
        return
    raise CutProblem("stores with these index arrays are not compiled")


def _augmented(p: Lowering, node: ast.AugAssign) -> None:
    name = BINARY[type(node.op)]
    if isinstance(node.target, ast.Name):
        old = evaluate(p, ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target))
        value = evaluate(p, node.value)
        if isinstance(old, View):
            _update(p, old, name, value)
        else:
            p.env[node.target.id] = p.computed(binary(p, name, old, value))
        return
    if not isinstance(node.target, ast.Subscript):
        raise CutProblem(f"{type(node.target).__name__} can't be changed in compiled code", node.target)
    of = evaluate(p, node.target.value)
    items = index_items(p, node.target.slice)
    if isinstance(of, View) and selects(of, items):
        made = binary(p, name, indexed(p, of, items), evaluate(p, node.value))
        assert isinstance(made, Selected) and isinstance(made.value, Expression)
        _demand_same_kind(made.value, of)
        store(p, of, items, made)
        return
    if isinstance(of, View) and has_indices(items):
        made = binary(p, name, indexed(p, of, items), evaluate(p, node.value))
        if not isinstance(made, Expression):
            raise CutProblem("this index is not compiled", node.target)
        _demand_same_kind(made, of)
        store(p, of, items, made)
        return
    if not isinstance(of, View) or not is_basic(items):
        raise CutProblem("only elements and slices of arrays can be changed in place", node.target)
    if strided_item(p, items) is not None:
        made = binary(p, name, indexed(p, of, items), evaluate(p, node.value))
        if not isinstance(made, Expression):
            raise CutProblem("this index is not compiled", node.target)
        _demand_same_kind(made, of)
        store(p, of, items, made)
        return
    target = view_of(p.e, of, items)
    if not of.buffer.writeable:
        raise CutProblem("this raises ValueError: the array is read-only")
    if target.rank:
        _update(p, target, name, evaluate(p, node.value))
        return
    old = p.load(target)
    value = p.computed(evaluate(p, node.value))
    p.stores()
    write(p, target, p.computed(binary(p, name, old, value)))


def _update(p: Lowering, target: View, name: str, value: Abstract) -> None:
    """Evaluate `target op= value` in place, with NumPy's casting."""
    if not target.buffer.writeable:
        raise CutProblem("this raises ValueError: the array is read-only")
    p.stores()
    made = binary(p, name, target, value)
    if not isinstance(made, Expression):
        raise CutProblem("an array is changed in place by something that is not an array")
    _demand_same_kind(made, target)
    shape = made.value.type.shape
    if len(shape) > target.rank or (name == "matmul" and len(shape) != target.rank):
        raise CutProblem("this raises ValueError: the result does not fit the array")
    p.draft.emit([p.draft.cast(made.value, target.dtype)], [target])


def _demand_same_kind(made: Expression, target: View) -> None:
    dtype = made.value.type.dtype
    if not np.can_cast(dtype.numpy, target.dtype.numpy, "same_kind"):
        raise CutProblem(f"this raises UFuncTypeError: {dtype} can't be put into {target.dtype} in place")


def _if(p: Lowering, node: ast.If) -> None:
    test = condition(p, node.test)
    p.branch(test, lambda: p.block(node.body), lambda: p.block(node.orelse))


def _for(p: Lowering, node: ast.For) -> None:
    over = p.computed(evaluate(p, node.iter))
    lower_for(p, node, lambda target, value: assign(p, target, value), over)


def _while(p: Lowering, node: ast.While) -> None:
    lower_while(p, node, lambda test: condition(p, test))


def _return(p: Lowering, node: ast.Return) -> None:
    value: Abstract = Known(None) if node.value is None else p.computed(evaluate(p, node.value), node.value)
    p.env[RETURN] = ALWAYS
    p.env[RETURNED] = value


def _break(p: Lowering, node: ast.Break) -> None:
    p.env[BREAK] = ALWAYS


def _continue(p: Lowering, node: ast.Continue) -> None:
    p.env[CONTINUE] = ALWAYS


def _assert(p: Lowering, node: ast.Assert) -> None:
    _leave_unless(p, condition(p, node.test), node)


def _raise(p: Lowering, node: ast.Raise) -> None:
    if len(p.e.scopes) == 1:
        raise CutProblem("this raises", node)
    p.e.check(p.e.constant(False, BOOL), "Python raises here")


def _leave_unless(p: Lowering, test: Number, node: ast.AST) -> None:
    if test.known is None:
        assert test.value is not None
        p.e.check(test.value, "Python raises here")
    elif not test.known:
        raise CutProblem("this raises", node)


def _expression(p: Lowering, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return
    evaluate(p, node.value)


def _delete(p: Lowering, node: ast.Delete) -> None:
    for target in node.targets:
        if not isinstance(target, ast.Name):
            raise CutProblem("only variables can be deleted in compiled code", target)
        p.env.pop(target.id, None)


def _function(p: Lowering, node: ast.FunctionDef) -> None:
    p.env[node.name] = made_function(p, node)


def _pass(p: Lowering, node: ast.Pass) -> None:
    pass


STATEMENTS: dict[type[ast.stmt], Callable[[Lowering, Any], None]] = {
    ast.Assign: _assign, ast.AnnAssign: _annotated, ast.AugAssign: _augmented, ast.If: _if, ast.For: _for,
    ast.While: _while, ast.Return: _return, ast.Break: _break, ast.Continue: _continue, ast.Assert: _assert,
    ast.Raise: _raise, ast.Expr: _expression, ast.Delete: _delete, ast.Pass: _pass,
    ast.FunctionDef: _function,
}  # fmt: skip
