"""Report how a jitted function runs: its pieces with their lines, where Python takes over and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.errors import quantity
from ..ir.records import record
from .plan_times import TimeShares
from .reasons import Reason


@record
class PieceReport:
    """One piece of a function: its lines, how often it ran compiled and how often Python ran it instead."""

    lines: tuple[int, int]
    kind: str  # "values" or "loops"
    compiled: int
    calls: int
    misses: int
    reason: Reason | None
    share: float | None = None  # of the time of the calls that were timed
    seconds: float = 0.0  # that compiling took

    def __str__(self) -> str:
        first, last = self.lines
        where = f"line {first}" if first == last else f"lines {first}-{last}"
        calls, signatures = quantity(self.calls, "native call"), quantity(self.compiled, "signature")
        text = f"  piece of {self.kind}, {where}: {calls}, compiled for {signatures}"
        text += f" in {self.seconds:.2f} s" if self.seconds else ""
        text += f", {self.share:.0%} of the time" if self.share is not None else ""
        if not self.misses:
            return text
        return f"{text}; Python ran it {quantity(self.misses, 'time')}: {self.reason.text if self.reason else ''}"


@record
class ProgramReport:
    """How the calls of a function have gone so far."""

    name: str
    whole_calls: int
    planned_calls: int
    python_calls: int
    pieces: tuple[PieceReport, ...]
    cuts: tuple[Reason, ...]
    shares: TimeShares | None = None  # of native code and of Python in calls by a plan

    @property
    def native_pieces(self) -> int:
        """How many pieces have run compiled; a function that was traced as a whole is one."""
        return sum(piece.calls > 0 for piece in self.pieces) or int(self.whole_calls > 0)

    @property
    def is_whole(self) -> bool:
        """Whether every call ran in one compiled piece."""
        if self.whole_calls and not self.planned_calls and not self.python_calls:
            return True
        if self.python_calls or self.whole_calls or not self.pieces:
            return False
        first, *others = self.pieces
        return first.calls >= self.planned_calls and not self.cuts and not any(p.calls for p in others)

    def _repr_html_(self) -> str:
        from ..ir.support.html import code, frame, table

        rows = [
            (f"{p.lines[0]}-{p.lines[1]}", p.kind, p.calls, p.compiled, p.misses, p.reason.text if p.reason else "")
            for p in self.pieces
        ]
        heads = ("lines", "piece of", "native calls", "signatures", "by Python", "why")
        parts = [table(heads, rows)] if rows else []
        return frame(str(self).partition("\n")[0], [*parts, *(code(str(cut)) for cut in self.cuts)])

    def __str__(self) -> str:
        calls = [
            f"{count} {how}"
            for count, how in (
                (self.whole_calls, "in one piece"),
                (self.planned_calls, "by a plan"),
                (self.python_calls, "by Python"),
            )
            if count
        ]
        lines = [f"{self.name}: {', '.join(calls) or 'not called yet'}", *map(str, self.pieces)]
        lines += [f"  {self.shares}"] if self.shares is not None else []
        for cut in self.cuts:
            lines += [f"  Python: {line}" if k == 0 else f"    {line}" for k, line in enumerate(str(cut).splitlines())]
        return "\n".join(lines)


def report_of(name: str, program: Any, chain: Any) -> ProgramReport:
    """Describe a program as it is now.

    The function's own recipes run traces, or the piece that is the whole function.
    """
    pieces: list[PieceReport] = []
    in_piece = chain.calls if program.whole_piece is not None else 0
    whole_calls = program.compiled_calls + chain.calls - in_piece
    passed_on = (chain.forwarded, 0) if program.has_plan else (0, chain.forwarded)
    planned_calls = program.planned_calls + passed_on[0] + in_piece
    python_calls = program.python_calls + passed_on[1]
    times = program.times.shares if program.times is not None and program.times.shares.calls else None
    for number, piece in enumerate(program.pieces):
        spent = times.pieces.get(f".piece{number}", 0) / times.total if times is not None and times.total else None
        if hasattr(piece, "callable"):
            cache = piece.callable.signature_cache
            calls = piece.callable.chain.calls + piece.python_calls
            pieces.append(PieceReport(piece.lines, "values", cache.misses, calls, piece.misses, piece.reason, spent))
        else:
            calls = piece.calls + (in_piece if piece is program.whole_piece else 0)
            made = piece.signatures, calls, piece.misses, piece.reason, spent, piece.compile_seconds
            pieces.append(PieceReport(piece.lines, "loops", *made))
    used = any(p.calls for p in pieces if p.kind == "loops" and p is pieces[0])
    cuts: Sequence[Reason] = program.reasons
    if used and pieces[0].calls >= planned_calls:  # Python never ran the statements of this piece
        first, last = pieces[0].lines
        behind = [cut for cut in cuts if cut.span is not None and not first <= cut.span.line <= last]
        cuts = behind if program.whole_piece is None else ()  # a trace's cut may be at a line of the caller
    counts = whole_calls, planned_calls, python_calls
    return ProgramReport(name, *counts, tuple(pieces), tuple(cuts), times)
