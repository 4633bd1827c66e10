"""Test `select-kernels` with a source that returns graphs: what replaces an op, and what ops mean inside."""

from __future__ import annotations

from weft.ir.builder import Builder
from weft.ir.dims import maximum, symbol
from weft.ir.dtypes import F32
from weft.ir.graph import Graph
from weft.ir.kernels import Choice
from weft.ir.ops import TABLE
from weft.ir.text.printer import print_graph
from weft.ir.types import TensorType
from weft.ir.verifier.verify import Stage, verify
from weft.passes.select_kernels import SelectKernels

N = symbol("n")
X = TensorType(F32, (N,))


def body(operands: tuple[TensorType, ...]) -> Graph:
    """Build exp(x) / 2 + exp(x) / 2 as a user may write it: with a literal, and with duplicates."""
    builder = Builder("body")
    x = builder.input("x", operands[0])
    halves = [builder.op(TABLE["div"], builder.op(TABLE["exp"], x), builder.constant(2)) for _ in range(2)]
    return builder.finish([builder.op(TABLE["add"], *halves)])


class Source:
    """`exp` is a graph for large sizes; inside it, `exp` is the backend's."""

    def __init__(self, is_inside: bool = False) -> None:
        self.is_inside = is_inside

    def choose(self, op: str, operands: tuple[TensorType, ...], result: TensorType, attrs: object) -> Choice:
        if op != "exp" or self.is_inside:
            return Choice("inline", "vectorized", 30)
        guards = ((maximum(N, 64), N),)
        return Choice("weft", "fused", 55, "mine", body(operands), Source(is_inside=True), guards=guards)

    def note_use(self, op: str) -> None:
        pass

    def is_replaced(self, op: str, dtypes: object) -> bool:
        return False


def test_a_graph_takes_the_place_of_the_op() -> None:
    builder = Builder("f")
    x = builder.input("x", X)
    graph = builder.finish([builder.op(TABLE["neg"], builder.op(TABLE["exp"], x))])
    made = SelectKernels(Source()).run(graph)
    verify(made, Stage.PROMOTED)
    assert [n.op.name for n in made] == ["exp", "constant", "mul", "add", "neg"]
    assert made.attrs["chosen"] == ("exp: weft fused mine, score 55",)
    assert made.attrs["guards"].texts == ("max(64, n) == n",)
    assert all(n.attrs["impl"] == "inline vectorized" for n in made if n.op.name != "constant")
    assert print_graph(SelectKernels(Source()).run(made)) == print_graph(made)
