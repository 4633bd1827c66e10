"""The pass manager: pipelines as text, checks, printing, timing, and the file that replays a failure."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from weft.ir.builder import Builder
from weft.ir.dtypes import F32, I32
from weft.ir.errors import OverflowProblem, PassFailure, Span, SyntaxProblem, UnknownName, ValueProblem, VerifyProblem
from weft.ir.graph import Graph
from weft.ir.ops import TABLE
from weft.ir.records import record, replace
from weft.ir.rewrite import Rewriter
from weft.ir.text.parser import parse_graph, parse_text
from weft.ir.text.printer import print_graph
from weft.ir.types import TensorType
from weft.passes.canonicalize import Canonicalize
from weft.passes.drop_dead import DropDead
from weft.passes.manager import PipelineOptions, run_pipeline
from weft.passes.merge_duplicates import MergeDuplicates
from weft.passes.pipeline import pipeline
from weft.passes.pipeline_text import parse_pipeline, pipeline_text
from weft.passes.promote_dtypes import PromoteDtypes

from tests.passes.all_inline import AllInline

FIRST = (PromoteDtypes(), Canonicalize(), MergeDuplicates(), DropDead())


PIPELINE = pipeline(AllInline(), 32)


@record
class Repeat:
    """A pass with options of every kind that text can set, which changes nothing."""

    source: object = None
    times: int = 1
    rate: float = 0.5
    loud_enough: bool = False
    mode: str = "plain"
    name: ClassVar[str] = "repeat"

    def run(self, graph: Graph) -> Graph:
        return graph


@record
class Crash:
    name: ClassVar[str] = "crash"

    def run(self, graph: Graph) -> Graph:
        raise RuntimeError("out of thread\nand needle")


@record
class Spoil:
    """A pass that gives a node a type which contradicts its rule."""

    name: ClassVar[str] = "spoil"

    def run(self, graph: Graph) -> Graph:
        rewriter = Rewriter(graph)
        for node in graph:
            rewriter.copy(node)
        spoiled = rewriter.finish()
        spoiled.nodes[0].result.type = TensorType(I32, (7,))
        return spoiled


@record
class Forget:
    """A pass that returns to a graph with weak numbers."""

    name: ClassVar[str] = "forget"

    def run(self, graph: Graph) -> Graph:
        return sample()


def sample() -> Graph:
    """`x * 1 + 2` of f32."""
    builder = Builder("sample")
    x = builder.input("x", TensorType(F32, (4,)))
    product = builder.op(TABLE["mul"], x, builder.constant(1), span=Span("sample.weft", 7, 2))
    return builder.finish([builder.op(TABLE["add"], product, builder.constant(2))])


def test_the_pipeline_is_the_one_of_the_design() -> None:
    assert " ".join(p.name for p in PIPELINE) == (
        "promote-dtypes canonicalize merge-duplicates drop-dead select-kernels split-complex "
        "widen-halves split-pieces fuse lower-reductions schedule choose-forms to-nest"
    )


def test_the_whole_pipeline_keeps_the_rules() -> None:
    result = run_pipeline(sample(), PIPELINE, PipelineOptions(verify=True))
    for name in result.passes:
        text = result.ir(after=name)
        assert parse_text(text).text() == text


def test_result_has_every_step() -> None:
    result = run_pipeline(sample(), FIRST, PipelineOptions(verify=True))
    assert result.passes == ("promote-dtypes", "canonicalize", "merge-duplicates", "drop-dead")
    assert list(result.timings) == list(result.passes)
    assert all(seconds > 0 for seconds in result.timings.values())
    assert result.ir() == result.ir(after="drop-dead") == print_graph(result.graph, after="drop-dead")
    assert "!weft.weak" in result.ir(after="input")
    assert "!weft.weak" not in result.ir(after="promote-dtypes")
    assert "weft.mul" in result.ir(after="promote-dtypes")
    assert "weft.mul" not in result.ir(after="canonicalize")
    with pytest.raises(UnknownName, match="did you mean 'canonicalize'"):
        result.ir(after="canonicalise")


def test_a_pass_that_runs_twice_shows_its_last_result() -> None:
    result = run_pipeline(sample(), (DropDead(), PromoteDtypes(), DropDead()))
    assert "!weft.weak" not in result.ir(after="drop-dead")
    assert len(result.seconds) == 3 and len(result.timings) == 2


def test_unchanged_graphs_are_the_same_object() -> None:
    result = run_pipeline(sample(), (*FIRST, *FIRST))
    assert all(graph is result.graph for graph in result.snapshots[4:])


def test_printing() -> None:
    said: list[str] = []

    def emit(text: str) -> None:
        said.append(text)

    passes = (PromoteDtypes(), MergeDuplicates(), Canonicalize())
    run_pipeline(sample(), passes, PipelineOptions(print_after_all=True, emit=emit))
    assert [s.splitlines()[0] for s in said] == [
        "// after promote-dtypes", "// after merge-duplicates (unchanged)", "// after canonicalize",
    ]  # fmt: skip
    assert [len(s.splitlines()) > 1 for s in said] == [True, False, True]
    everything, said = said, []
    run_pipeline(sample(), passes, PipelineOptions(print_changes=True, emit=lambda s: said.append(s)))
    assert said == [everything[0], everything[2]]
    said = []
    run_pipeline(sample(), passes, PipelineOptions(print_after=("merge-duplicates",), emit=lambda s: said.append(s)))
    assert len(said) == 1 and said[0].startswith("// after merge-duplicates (unchanged)\n")
    assert parse_text(said[0]).text() in said[0]
    with pytest.raises(UnknownName, match="did you mean 'canonicalize'"):
        run_pipeline(sample(), passes, PipelineOptions(print_after=("canonicalise",)))


def test_a_crash_leaves_a_file_that_replays_it(tmp_path: Path) -> None:
    passes = (PromoteDtypes(), Crash(), Repeat(times=3))
    with pytest.raises(PassFailure) as caught:
        run_pipeline(sample(), passes, PipelineOptions(folder=tmp_path))
    (file,) = tmp_path.iterdir()
    assert str(file) in str(caught.value)
    assert "'crash' failed with RuntimeError: out of thread" in str(caught.value)
    assert isinstance(caught.value.__cause__, RuntimeError)
    text = file.read_text()
    first = text.splitlines()[0]
    assert first == '// weft opt --passes "crash,repeat{times=3}"'
    again = parse_pipeline(first.split('"')[1], (*PIPELINE, Crash(), Repeat()))
    with pytest.raises(PassFailure, match="out of thread"):
        run_pipeline(parse_graph(text), again, PipelineOptions(folder=tmp_path))
    assert 'loc("sample.weft":7:2)' in text
    promoted = run_pipeline(sample(), (PromoteDtypes(),))
    assert parse_text(text).text() == promoted.ir()


def test_a_broken_graph_is_blamed_on_the_pass_that_made_it(tmp_path: Path) -> None:
    graph = run_pipeline(sample(), FIRST).graph
    run_pipeline(graph, (Spoil(),), PipelineOptions(verify=False))
    with pytest.raises(PassFailure, match="'spoil' failed with VerifyProblem: %0 \\(constant\\)"):
        run_pipeline(graph, (Spoil(), DropDead()), PipelineOptions(verify=True, folder=tmp_path))
    (file,) = tmp_path.iterdir()
    assert print_graph(parse_graph(file.read_text())) == print_graph(graph)


def test_what_promotion_promised_is_checked_from_then_on(tmp_path: Path) -> None:
    options = PipelineOptions(verify=True, folder=tmp_path)
    run_pipeline(sample(), (Forget(), PromoteDtypes()), options)
    with pytest.raises(PassFailure, match=r"'forget' failed with VerifyProblem(.|\n)*after promote-dtypes"):
        run_pipeline(sample(), (PromoteDtypes(), Forget()), options)


def test_a_broken_input_is_nobodys_fault(tmp_path: Path) -> None:
    with pytest.raises(VerifyProblem):
        run_pipeline(Spoil().run(sample()), FIRST, PipelineOptions(verify=True, folder=tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_does_not_hide_the_failure(tmp_path: Path) -> None:
    with pytest.raises(PassFailure, match=r"out of thread(.|\n)*the file that replays it could not be written"):
        run_pipeline(sample(), (Crash(),), PipelineOptions(folder=tmp_path / "missing"))


def test_a_users_error_passes_through(tmp_path: Path) -> None:
    builder = Builder("f")
    x = builder.input("x", TensorType(I32, (4,)))
    graph = builder.finish([builder.op(TABLE["add"], x, builder.constant(2**40))])
    with pytest.raises(OverflowProblem):
        run_pipeline(graph, FIRST, PipelineOptions(folder=tmp_path))
    assert not list(tmp_path.iterdir())


def test_pipelines_are_text() -> None:
    known = (*FIRST, Repeat(source="kept out of text", times=2))
    text = "drop-dead,repeat{times=4 loud-enough=true},canonicalize"
    passes = parse_pipeline(text, known)
    assert passes == (DropDead(), Repeat("kept out of text", 4, 0.5, True), Canonicalize())
    spaced = parse_pipeline(" drop-dead , repeat { loud-enough  times=4 } , canonicalize ", known)
    assert spaced == passes
    assert parse_pipeline("repeat{rate=0.25 mode=fancy}", known)[0] == replace(known[-1], rate=0.25, mode="fancy")
    assert parse_pipeline("", known) == ()
    assert pipeline_text(FIRST) == "promote-dtypes,canonicalize,merge-duplicates,drop-dead"
    shown = pipeline_text((DropDead(), Repeat(times=4, loud_enough=True), Canonicalize()))
    assert shown == text


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("canonicalise", UnknownName, "unknown pass 'canonicalise'\nhint: did you mean 'canonicalize'"),
        ("zzz", UnknownName, "the passes are promote-dtypes, canonicalize, "),
        ("drop-dead,", SyntaxProblem, "column 11"),
        ("drop-dead;canonicalize", SyntaxProblem, "column 1"),
        ("repeat{times", SyntaxProblem, "can't parse pipeline"),
        ("repeat{time=1}", UnknownName, "'repeat' has no option 'time'\nhint: did you mean 'times'"),
        ("repeat{source=1}", UnknownName, "has no option 'source'"),
        ("drop-dead{x=1}", UnknownName, "its options are none"),
        ("repeat{times=many}", ValueProblem, "option 'times' of 'repeat' must be a whole number, not 'many'"),
        ("repeat{loud-enough=1}", ValueProblem, "must be true or false"),
    ],
)
def test_wrong_pipelines(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        parse_pipeline(text, (*FIRST, Repeat()))
    assert message in str(caught.value)
