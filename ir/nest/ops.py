"""Define the ops of the `nest` dialect; bodies also use the main table's ops on numbers.

A nest is a `Graph` whose nodes run in order. Its inputs are buffers; bodies see the values around them. `@i` in a size
is the variable of a loop:

    "nest.for"() ({
      %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (memref<?xf32, #weft.dims<n>>) -> tensor<f32>
      %1 = "weft.exp"(%0) : (tensor<f32>) -> tensor<f32>
      "nest.store"(%1, %b) {at = #weft.dims<@i>} : (tensor<f32>, memref<?xf32, #weft.dims<n>>) -> ()
      "nest.yield"() : () -> ()
    }) {var = "i", range = #weft.dims<0, n>, kind = "vector", width = 16 : i64} : () -> ()

`kind` says how a loop may run. `verify.py` refuses a kind that could change the result; `width`, `times`, `grain` and
similar attributes only decide how fast it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .. import rules
from ..opdef import OpDef, Trait
from ..ops import EACH, TABLE


def _declared(operands: rules.DTypes, attrs: rules.Attrs) -> tuple[rules.DTypes, rules.DTypes]:
    raise TypeError("this op has no type rule: the types of its results must be given")


def _op(name: str, arity: int | None, doc: str, attributes: str = "") -> OpDef:
    return OpDef(
        f"nest.{name}", arity, _declared, rules.scalar, frozenset({Trait.STRUCTURAL}), doc, attributes=attributes
    )


_SHARED = "shared?: flag; grain?: tile; most?: tile; cost?: picoseconds"
_SPEED = "width?: width; times?: times; line?: slot"

FOR = _op(
    "for", None, "Runs its body for every number of a range; a serial one may carry values from step to step.",
    f"var: text; range: sizes; kind: loop kind; flat?: flag; {_SPEED}; {_SHARED}",
)  # fmt: skip
WALK = _op(
    "walk", 0, "Combines the results of its body for all numbers of its ranges, in the order of the fixed tree.",
    "vars: texts; range: sizes; kind: loop kind; combine: texts; steps: steps; until?: flag; position?: sizes; "
    "taps?: taps; chained?: flags; "
    f"{_SPEED}",
)  # fmt: skip
ACROSS = _op("across", 1, "Combines the lanes of a walk to one number.", "combine: text")
SCAN = _op("scan", 1, "Combines an element with all before it along the loop over `var`.", "var: text; combine: text")
PRODUCT = _op(
    "product", 0, "A blocked matrix product: `terms` names the factors, the rest of the body uses the sum.",
    "vars: texts; range: sizes; shared?: flag; switch?: sizes; registers?: registers; width?: width; "
    "blocks?: block sizes; turned?: factors",
)  # fmt: skip
TERMS = _op("terms", 2, "The two factors of a product.")
WHEN = _op("when", 1, "Runs its body where the condition holds; its results are zeros elsewhere.")
WHILE = _op("while", None, "Repeats its body on carried values as long as its first result is true.")
ALLOC = _op("alloc", 0, "Uninitialised memory on the stack, for a worker or for the call.", "place: memory place")
LOAD = _op("load", 1, "The element of a buffer at an index.", "at: sizes")
STORE = _op("store", 2, "Writes a number to a buffer at an index.", "at: sizes; stream?: flag")
FETCH = _op("fetch", 1, "Brings an element into a cache; any index is allowed.", "at: sizes; level: count")
VIEW = _op(
    "view", 1,
    "A buffer under other axes: element `vars` is the buffer's element `at`, or axes are collapsed (outermost first).",
    "vars?: texts; at?: sizes; collapse?: axis groups",
)  # fmt: skip
BIND = _op(
    "bind", 1, "Names a number from data `@var`, after a check that it is in a range.", "var: text; range: sizes"
)
ASSIGN = _op(
    "assign", None, "Writes the results of a graph of arrays to the last buffers, as if all were computed first.",
    "writes: count; guards?: guards",
)  # fmt: skip
SWITCH = _op("switch", 0, "Runs the first of its cases whose guards hold.")
CASE = _op("case", 0, "One way of a switch.", "guards?: guards")
CHECK = _op("check", 1, "Leaves with an error where the condition does not hold.", "error: error; message: text")
ASK = _op("ask", 0, "A place where Ctrl-C is noticed.", "every?: count")

LOOPS = (FOR, WALK, PRODUCT, WHILE)
BODIES = frozenset((FOR, WALK, PRODUCT, WHEN, WHILE, ASSIGN, EACH, SWITCH, CASE))
GRAPHS = (ASSIGN, EACH)  # their bodies are graphs, not parts of a nest
ACCESSES = (LOAD, STORE)
OPS = (
    FOR, WALK, ACROSS, SCAN, PRODUCT, TERMS, WHEN, WHILE, ALLOC, LOAD, STORE, FETCH, VIEW, BIND, ASSIGN, SWITCH, CASE,
    CHECK, ASK,
)  # fmt: skip

KERNEL = "sym_name?: text; access: accesses; layouts?: nest layouts; guards?: guards; called?: texts"
COMBINERS = {
    "sum": "add", "prod": "mul", "min": "minimum", "max": "maximum", "any": "logical_or", "all": "logical_and",
    "reduce_fmin": "fmin", "reduce_fmax": "fmax", "reduce_and": "bitwise_and", "reduce_or": "bitwise_or",
    "reduce_xor": "bitwise_xor",
}  # fmt: skip
"""What a walk combines by, and the op of two numbers that it is."""
POSITIONS = ("argmin", "argmax")


def combiner(name: str) -> OpDef:
    """The op by which a walk or a scan combines two numbers."""
    return TABLE[COMBINERS.get(name, name)]


NEST: Mapping[str, OpDef] = MappingProxyType({**TABLE, **{op.name: op for op in OPS}})
"""Every op that may stand in a nest, by its name in text without `weft.`."""
