"""Define the attributes that each op takes, and check the attributes of a node.

An `OpDef` has the schema of its attributes as text, a name and a kind for each:

    axes: axes; keepdims?: flag; order from LOWERED: axis groups

A `?` marks an attribute that may be missing, `from STAGE` one that must exist from that stage on. A kind is one of the
table below and checks a single value. How a value fits types, operands and other attributes is checked in
`verifier/attributes.py` and `verifier/plans.py`. Only verification reads schemas; compiling does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from functools import cache

from .dims import Dim
from .dtypes import DType
from .errors import nearest
from .forms import FORMS, RESULT, ROW, SCRATCH
from .layouts import CLASSES
from .opdef import OpDef
from .records import record, replace
from .text.notation import parse_axis_groups, parse_guards
from .types import Attr, AxisGroups, Guards, Sizes
from .windows import STRAIGHT

_PLACE = re.compile(rf"{SCRATCH}|(?:{RESULT}|{ROW}) (?:0|[1-9]\d{{0,3}})")


class Stage(IntEnum):
    """How far the pipeline has come."""

    BUILT = 0
    PROMOTED = 1  # every operand has the dtype that its op computes in
    FUSED = 2  # loop nests are regions
    LOWERED = 3  # reductions have trees
    SCHEDULED = 4  # regions have plans
    FORMED = 5  # plans are complete: they have the form of the code
    NESTED = 6  # regions whose strategy has one have a loop nest


REACHED = {
    "promote-dtypes": Stage.PROMOTED,
    "fuse": Stage.FUSED,
    "lower-reductions": Stage.LOWERED,
    "schedule": Stage.SCHEDULED,
    "choose-forms": Stage.FORMED,
    "to-nest": Stage.NESTED,
}
"""The stage that holds after a pass; after others it is the one from before."""


@record
class Kind:
    """The values that an attribute takes: in words, and as a test."""

    meaning: str
    accepts: Callable[[Attr], bool]


@record
class Attribute:
    """One attribute of an op. `since` is the stage from which on it is required, or None."""

    name: str
    kind: Kind
    since: Stage | None


@record
class AttributeProblem:
    """A message and the attribute that it is about; `is_name` marks an unknown name."""

    attribute: str
    message: str
    is_name: bool = False


LARGEST = 1 << 47  # of a number in a size: sums and products of a few such numbers fit 64 bits in every check


def _whole(low: int, high: int | None = None) -> Kind:
    most = LARGEST if high is None else high
    meaning = f"a whole number {f'of at least {low}' if high is None else f'from {low} to {high}'}"
    return Kind(meaning, lambda attr: type(attr) is int and low <= attr <= most)


def _power(low: int, high: int) -> Kind:
    return Kind(
        f"a power of two from {low} to {high}",
        lambda attr: type(attr) is int and low <= attr <= high and not attr & (attr - 1),
    )


def _ints(meaning: str, low: int, high: int, count: tuple[int, ...] = ()) -> Kind:
    def accepts(attr: Attr) -> bool:
        if type(attr) is not tuple or (count and len(attr) not in count):
            return False
        return all(type(a) is int and low <= a <= high for a in attr)

    return Kind(meaning, accepts)


def _one_of(*words: str) -> Kind:
    return Kind(" or ".join(f'"{w}"' for w in words), lambda attr: isinstance(attr, str) and attr in words)


def _texts(meaning: str, accepts: Callable[[str], bool] = lambda text: True) -> Kind:
    return Kind(meaning, lambda attr: type(attr) is tuple and all(isinstance(a, str) and accepts(a) for a in attr))


def _are_sizes(attr: Attr) -> bool:
    return isinstance(attr, Sizes) and all(isinstance(s, Dim) or type(s) is int for s in attr)


def _are_blocks(attr: Attr) -> bool:
    """Accept only the multiples that packed panels are sized for; other sizes are untested."""
    if type(attr) is not tuple or len(attr) != 3:
        return False
    return all(
        type(a) is int and a % unit == 0 and 1 <= a // unit <= 16 for a, unit in zip(attr, (60, 256, 64), strict=True)
    )


MOST_AXES = 64
RESULT_KINDS = ("array", "scalar", "number")  # "number" means a Python number
KINDS: Mapping[str, Kind] = {
    "flag": Kind("true or false", lambda attr: isinstance(attr, bool)),
    "number": Kind("a number", lambda attr: isinstance(attr, (bool, int, float, complex))),
    "whole number": Kind("a whole number", lambda attr: type(attr) is int and abs(attr) <= LARGEST),
    "count": _whole(0),
    "part": _whole(0, 1),
    "exponent": _whole(2, 64),
    "text": Kind("a string", lambda attr: isinstance(attr, str)),
    "texts": _texts("a list of strings"),
    "error": _one_of("DivisionByZero", "IndexProblem", "OverflowProblem", "ValueProblem"),
    "memory order": _one_of("C", "K"),
    "dtype": Kind("a dtype", lambda attr: isinstance(attr, DType)),
    "strong dtype": Kind("a dtype that is not weak", lambda attr: isinstance(attr, DType) and not attr.weak),
    "sizes": Kind("a list of sizes", _are_sizes),
    "size": Kind("one size", lambda attr: _are_sizes(attr) and isinstance(attr, tuple) and len(attr) == 1),
    "numbers of results": _ints("result numbers", 0, LARGEST),
    "axis": _whole(0, MOST_AXES),
    "axes": _ints("a list of axes", 0, MOST_AXES),
    "steps": _ints("a list of whole numbers", -LARGEST, LARGEST),
    "axis groups": Kind('groups of axes such as ["0+1", "2"]', lambda attr: isinstance(attr, AxisGroups)),
    "guards": Kind('equations such as ["n == m"]', lambda attr: isinstance(attr, Guards)),
    "layouts": _texts(f"layout classes ({', '.join(CLASSES)})", CLASSES.__contains__),
    "result kinds": _texts('"array", "scalar" or "number" for each result', RESULT_KINDS.__contains__),
    "vector axis": _whole(-1, MOST_AXES),
    "width": _power(1, 64),
    "lanes": _power(1, 256),
    "unroll": _power(1, 16),
    "times": _whole(1, 64),
    "block steps": Kind(
        "0 or a power of two up to 1024", lambda attr: type(attr) is int and 0 <= attr <= 1024 and not attr & (attr - 1)
    ),
    "blocks": _whole(1, 1 << 20),
    "length": _whole(0, 1 << 40),
    "tile": _whole(1, 1 << 20),
    "picoseconds": _whole(0, 1 << 40),
    "jam": _ints("an axis and a number of rows", 0, MOST_AXES, (2,)),
    "piece": _ints("one or two row counts of at least 1", 1, 1 << 20, (1, 2)),
    "registers": Kind("a tile of 6 rows by 2 or 4 vectors", lambda attr: attr in ((6, 2), (6, 4))),
    "block sizes": Kind("a block's rows, columns and terms: 1 to 16 times 60, 256 and 64", _are_blocks),
    "factors": _ints("0, 1, both or none", 0, 1, (0, 1, 2)),
    "loop kind": _one_of("serial", "vector", "unrolled", "jammed"),
    "memory place": _one_of("stack", "worker", "call"),
    "accesses": _texts('"read", "write" or "update" for each buffer', ("read", "write", "update").__contains__),
    "nest layouts": _texts(f"layout classes ({', '.join(CLASSES)}, S)", {*CLASSES, "S"}.__contains__),
    "form": _one_of(*FORMS),
    "slot": _whole(0, 1 << 16),
    "prefetch": _ints("a distance from 1 to 64 and a cache level", 1, 64, (2,)),
    "flags": _ints("a list of 0 and 1", 0, 1),
    "taps": _ints("window lengths up to 8, or 0 for a loop", 0, STRAIGHT),
    "place": Kind(
        '"result 0", "row 0" or "scratch"', lambda attr: isinstance(attr, str) and bool(_PLACE.fullmatch(attr))
    ),
}
COMMON = "impl?: text; score?: whole number; follows?: count; like?: count; keep?: place"
KERNEL = (
    "sym_name?: text; after?: text; layouts?: layouts; out_layouts?: layouts; results?: result kinds; unfused?: texts; "
    "chosen?: texts; guards?: guards"
)

_LINE = re.compile(r"\s*(\w+)(\?| from (\w+))?: ([a-z ]+?)\s*")


@cache
def parse_schema(text: str) -> Mapping[str, Attribute]:
    """The attributes that a schema's text names."""
    found = {}
    for line in filter(str.strip, text.split(";")):
        match = _LINE.fullmatch(line)
        assert match is not None, line
        name, mark, stage, kind = match.groups()
        since = None if mark == "?" else Stage[stage] if stage else Stage.BUILT
        found[name] = Attribute(name, KINDS[kind], since)
    return found


def schema_of(op: OpDef, attrs: Mapping[str, Attr], table: Mapping[str, OpDef]) -> Mapping[str, Attribute]:
    """The attributes of an op; a `numpy` node that computes an op of ours has that op's attributes too."""
    found = parse_schema(f"{op.attributes};{COMMON}")
    stands_for = table.get(str(attrs.get("op"))) if op.name == "numpy" else None
    if stands_for is None:
        return found
    # Attributes of a plan are not attributes of a NumPy call.
    of_op = {
        name: replace(a, since=None) if a.since is not None and a.since > Stage.BUILT else a
        for name, a in parse_schema(stands_for.attributes).items()
    }
    return {**of_op, **found}


def schema_problem(
    schema: Mapping[str, Attribute], attrs: Mapping[str, Attr], stage: Stage = Stage.BUILT
) -> AttributeProblem | None:
    """Describes the first attribute that is unknown, missing or of the wrong kind."""
    for name, value in attrs.items():
        if name not in schema:
            hint = nearest(name, list(schema)) or f"the attributes are {', '.join(schema)}"
            return AttributeProblem(name, f"unknown attribute '{name}'; {hint}", is_name=True)
        if not schema[name].kind.accepts(value):
            return AttributeProblem(name, f"attribute '{name}' must be {schema[name].kind.meaning}, not {shown(value)}")
    for name, attribute in schema.items():
        if name not in attrs and attribute.since is not None and attribute.since <= stage:
            return AttributeProblem(name, f"attribute '{name}' is missing")
    return None


def typed(attribute: Attribute | None, value: Attr) -> Attr:
    """Converts a parsed value to its kind: axis groups and guards are lists of strings in text."""
    if attribute is None or type(value) is not tuple:
        return value
    if attribute.kind is KINDS["axis groups"]:
        return parse_axis_groups(value)
    if attribute.kind is KINDS["guards"]:
        return parse_guards(value)
    return value


def shown(value: Attr) -> str:
    """A value as it is printed."""
    from .text.printer import attr_text

    return attr_text(value).removesuffix(" : i64").removesuffix(" : f64")
