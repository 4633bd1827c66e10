"""Run, verify, print and time passes.

A pass is a record with a `name` and `run(graph) -> Graph`; its fields are its options and the objects that it needs
from outside. It returns the same graph if it changes nothing. A pass that fails leaves one file that replays it. Code
that checks and prints is imported when it is needed, because a first call waits for every import.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import NoReturn, Protocol

from ..ir.errors import (
    LimitExceeded,
    OverflowProblem,
    PassFailure,
    UnknownName,
    Unsupported,
    UnsupportedTarget,
    nearest,
)
from ..ir.graph import Graph
from ..ir.limits import limiter
from ..ir.loops import map_loops
from ..ir.records import record
from ..ir.support.progress import part
from .promote_dtypes import PromoteDtypes

# Errors of a pass about the user's program. Any other error is the compiler's own.
USER_ERRORS = (LimitExceeded, OverflowProblem, Unsupported, UnsupportedTarget)
INPUT = "input"


class Pass(Protocol):
    """A pass: it rewrites a graph."""

    @property
    def name(self) -> str: ...

    def run(self, graph: Graph) -> Graph: ...


@record
class PipelineOptions:
    """What to do besides running the passes.

    `folder` is where files that replay a failure go; None is the system's own folder.
    """

    verify: bool = False
    print_after: tuple[str, ...] = ()
    print_after_all: bool = False
    print_changes: bool = False
    locations: bool = False
    emit: Callable[[str], object] = print
    folder: str | os.PathLike[str] | None = None
    done: tuple[str, ...] = ()  # passes that have run before


@record
class PipelineResult:
    """The graph after the last pass, and a snapshot after each pass."""

    graph: Graph
    passes: tuple[str, ...]
    snapshots: tuple[Graph, ...]  # the input, then one for each pass
    seconds: tuple[float, ...]
    start: str = INPUT  # the pass after which the input was printed, if it was read from text

    def whole(self) -> PipelineResult:
        """The result with all its graphs. A result from disk has to compute them again."""
        return self

    @property
    def timings(self) -> Mapping[str, float]:
        """Seconds by pass; a pass that ran twice has their sum."""
        total: dict[str, float] = {}
        for name, seconds in zip(self.passes, self.seconds, strict=True):
            total[name] = total.get(name, 0.0) + seconds
        return total

    def after(self, name: str | None = None) -> Graph:
        """The graph after a pass (the last one of that name), after all passes, or the `"input"`."""
        if name is None:
            return self.graph
        if name == INPUT:
            return self.snapshots[0]
        if name not in self.passes:
            known = [INPUT, *self.passes]
            hint = nearest(name, known) or f"the passes were {', '.join(self.passes) or 'none'}"
            raise UnknownName(f"pass '{name}' was not run", hint=hint)
        return self.snapshots[len(self.passes) - self.passes[::-1].index(name)]

    def with_last(self, step: Pass) -> PipelineResult:
        """Runs `choose-forms` again with other options, and what follows it; everything before is kept."""
        from .pipeline import form_passes

        steps = form_passes(step)
        graph, snapshots, seconds = self.snapshots[-len(steps) - 1], list[Graph](), list[float]()
        for step in steps:
            start = perf_counter()
            graph = run_pass(step, graph)
            snapshots.append(graph)
            seconds.append(perf_counter() - start)
        kept = len(self.passes) - len(steps)
        found = (*self.snapshots[: kept + 1], *snapshots)
        return PipelineResult(graph, self.passes, found, (*self.seconds[:kept], *seconds), self.start)

    def ir(self, after: str | None = None, locations: bool = False) -> str:
        """The text of the graph after a pass."""
        from ..ir.text.printer import print_graph

        return print_graph(self.after(after), locations, self.label(after))

    def label(self, after: str | None) -> str:
        """The pass that a printed graph names as the last one that ran."""
        if after is None:
            return self.passes[-1] if self.passes else self.start
        return self.start if after == INPUT else after


def run_pass(step: Pass, graph: Graph) -> Graph:
    """Run a pass on a graph, and before that on the bodies of its loops."""
    return step.run(map_loops(graph, lambda body: run_pass(step, body)))


def run_pipeline(
    graph: Graph,
    passes: Sequence[Pass],
    options: PipelineOptions = PipelineOptions(),  # noqa: B008 (frozen)
) -> PipelineResult:
    """Runs the passes in order."""
    known = {p.name for p in passes}
    for name in options.print_after:
        if name not in known:
            raise UnknownName(f"can't print after '{name}': there is no such pass", hint=nearest(name, list(known)))
    graph, done = _in_place(graph), list(options.done)
    if options.verify:
        _verify(graph, done)
    snapshots, seconds = [graph], []
    for i, step in enumerate(passes):
        limiter.check_time()
        part(f"the pass '{step.name}'")
        start = perf_counter()
        try:
            result = run_pass(step, graph)
        except USER_ERRORS:
            raise
        except Exception as error:
            _pass_on(error)
            _fail(graph, done, passes[i:], options, error)
        seconds.append(perf_counter() - start)
        done.append(step.name)
        if options.verify and (result is not graph or isinstance(step, PromoteDtypes)):
            try:
                _verify(result, done)
            except Exception as error:
                _pass_on(error)
                _fail(graph, done[:-1], passes[i:], options, error)
        _print(step.name, graph, result, options)
        snapshots.append(result)
        graph = result
    begin = options.done[-1] if options.done else INPUT
    return PipelineResult(graph, tuple(p.name for p in passes), tuple(snapshots), tuple(seconds), begin)


def _verify(graph: Graph, done: Sequence[str]) -> None:
    """Verifies a graph after these passes."""
    from ..ir.verifier.verify import REACHED, Stage, verify

    verify(graph, max((REACHED[name] for name in done if name in REACHED), default=Stage.BUILT))


def _in_place(graph: Graph) -> Graph:
    """The graph with loop bodies that know the guards and layouts around them."""
    return map_loops(graph, _in_place)


def _print(name: str, before: Graph, after: Graph, options: PipelineOptions) -> None:
    """Prints the graph after a pass: in full if the pass was named, otherwise only if it changed."""
    asked = name in options.print_after
    if not (asked or options.print_after_all or (options.print_changes and after is not before)):
        return
    from ..ir.text.printer import print_graph

    if after is not before:
        options.emit(f"// after {name}\n{print_graph(after, options.locations, name)}")
    else:
        text = f"\n{print_graph(after, options.locations, name)}" if asked else ""
        options.emit(f"// after {name} (unchanged){text}")


def _pass_on(error: Exception) -> None:
    """Raise an exception again if the pass did not cause it, such as one from a signal handler."""
    from ..ir.support.interruptions import is_fault

    if not is_fault(error):
        raise error


def _fail(
    before: Graph, done: Sequence[str], rest: Sequence[Pass], options: PipelineOptions, error: Exception
) -> NoReturn:
    name = rest[0].name
    reason = f"{type(error).__name__}: {error}"
    place = _replayable(before, done, rest, options, reason)
    span = getattr(error, "span", None)
    raise PassFailure(f"the pass '{name}' failed with {reason}", span, place) from error


def _replayable(before: Graph, done: Sequence[str], rest: Sequence[Pass], options: PipelineOptions, reason: str) -> str:
    """Writes the graph before a pass with the passes still to run, and says where."""
    import tempfile

    from ..ir.support.files import put_file
    from ..ir.text.printer import print_graph
    from .pipeline_text import pipeline_text

    note = "\n".join(f"// {line}" for line in reason.splitlines())
    graph = print_graph(before, locations=True, after=done[-1] if done else INPUT)
    text = f'// weft opt --passes "{pipeline_text(rest)}"\n{note}\n{graph}'
    try:
        folder = options.folder or tempfile.gettempdir()
        path = os.path.join(os.path.abspath(folder), f"weft-{rest[0].name}-{os.urandom(6).hex()}.mlir")
        put_file(path, text.encode(), keeps_old=True)
    except OSError as error:
        return f"this is a bug in Weft; the file that replays it could not be written ({error})"
    return f"this is a bug in Weft; the command in the first line of {path} replays it"
