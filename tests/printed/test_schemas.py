"""Test that nonsense in a dump is a typed error at its line and column: chosen places, and every attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import weft
from weft.backends.llvm.engine import target
from weft.errors import WeftError
from weft.frontend.language.source import parse_module
from weft.ir.ops import TABLE
from weft.ir.schemas import KERNEL, parse_schema
from weft.runtime.compiler import Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from .dumps import ARGUMENTS, TEXT, kernels

MODULE = kernels()
GOLDEN = Path(__file__).with_name("nonsense.txt")
NEST = Path(__file__).parents[1] / "nest" / "passes" / "widen_loops_rows_depend.mlir"
MEMORY = "memref<?x?xf64, #weft.dims<n, m>>"
TEXTS = r"\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(
    rf"(?<=[{{ ])(\w+) = (\[(?:{TEXTS}|[^\]\"])*\]|array<i64[^>]*>|#weft\.dims<[^>]*>|!weft\.weak<\w+>|{TEXTS}"
    r"|[-\w.+]+ : \w+|\w+)"
)
PLACES: dict[str, dict[str, list[tuple[str, str]]]] = {
    "softmax": {
        "schedule": [
            ("vector = 1", "vector = 7"),
            ("width = 16", "width = 5"),
            ("width = 16", "width = 64"),
            ("unroll = 2", "unroll = 0"),
            ('rows = ["0"]', 'rows = ["zz"]'),
            ('rows = ["0"]', 'rows = ["1"]'),
            ('rows = ["0"]', 'rows = ["0", "0"]'),
            ('layouts = ["C", "C"]', 'layouts = ["Q", "C"]'),
            ('layouts = ["C", "C"]', 'layouts = ["F", "C"]'),
            ('layouts = ["C", "C"]', 'layouts = ["C"]'),
            ("cost = 1184 : i64", 'cost = "x"'),
            ("cost = 1184", "cost = -1"),
            ("chunk = 32 : i64, cut_from = 262144 : i64}", "cut_from = 262144 : i64}"),
            ("unroll = 2 : i64, ", ""),
            ("unroll = 2", "unrol = 2"),
            ("space = #weft.dims<n, m>", "space = #weft.dims<n, n>"),
            ("reduced = array<i64: 1>", "reduced = array<i64: 0>"),
            ("lanes = 64", "lanes = 3"),
            ("steps = 16", "steps = 0"),
            ('composite = "exp"', 'composite = "log"'),
            ('order = ["1"]', 'order = ["0"]'),
            ('after = "schedule"', 'after = "scheduled"'),
            ('after = "schedule"', 'after = "choose-forms"'),
            ('guards = ["max(1, m) == m"]', 'guards = ["max(1, m)"]'),
            ('guards = ["max(1, m) == m"]', 'guards = ["max(1, m == m"]'),
            ('out_layouts = ["C"]', 'out_layouts = ["C", "C"]'),
            ('out_layouts = ["C"]', 'out_layouts = ["scalar"]'),
            ('guards = ["max(1, m) == m"]', 'guards = ["max(1, zz) == zz"]'),
            ('guards = ["max(1, m) == m"]', 'guards = ["max(1, m) == m - 1"]'),
            ('guards = ["max(1, m) == m"]', 'guards = ["0 == 1"]'),
            ('guards = ["max(1, m) == m"]', 'guards = ["@i == m"]'),
            ("%x : tensor<?x?xf32, #weft.dims<n, m>>", "%x : tensor<?x?xf32, #weft.dims<k, m>>"),
        ],
        "input": [
            ("axes = array<i64: 1>", "axes = array<i64: 2>"),
            ("keepdims", "keepdims = 3"),
            ("axes = array<i64: 1>, ", ""),
            ("axes = array<i64: 1>", 'axes = "1"'),
        ],
        "choose-forms": [
            ('form = "rows"', 'form = "ways"'),
            ('form = "rows"', 'form = "flat"'),
            ('guards = ["min(262143, m) == m"', 'guards = ["min(262143, zz) == zz"'),
            ('"max(17, m) == m"]', '"max(17, m) == m - 1"]'),
        ],
    },
    "best": {
        "input": [
            ("steps = array<i64: -1, 1>", "steps = array<i64: 0, 1>"),
            ("axes = array<i64: 1>", "axes = array<i64: 1>, axes = array<i64: 1>"),
            ("starts = #weft.dims<n - 1, 1>", "starts = #weft.dims<n - 1>"),
        ],
    },
    "product": {
        "schedule": [
            ("registers = array<i64: 6, 4>", "registers = array<i64: 6, 5>"),
            ("turned = array<i64>", "turned = array<i64: 2>"),
            ("turned = array<i64>", "turned = array<i64>, symmetric"),
            ("blocks = array<i64: 240, ", "blocks = array<i64: 241, "),
        ],
    },
    "flat": {
        "schedule": [
            ('rows = ["0", "1"]', 'rows = ["0+1"]'),
        ],
    },
    "turned": {
        "schedule": [
            ("tile = 128", "tile = 0"),
        ],
        "to-nest": [
            ("line = 2", "line = 3"),
            ("grain = 64", "grain = 0"),
            ("most = 128", "most = 0"),
            ("at = #weft.dims<@i, @j>", "at = #weft.dims<@i + n, @j>"),
            ("at = #weft.dims<@i, @j>", "at = #weft.dims<@i, @j, 0>"),
            ("range = #weft.dims<0, m>", "range = #weft.dims<0>"),
        ],
    },
    "running": {
        "schedule": [
            ("scanned = array<i64: 1>", "scanned = array<i64: 0>"),
        ],
    },
    "blurred": {
        "schedule": [
            ("windows = array<i64: 0>", "windows = array<i64: 1>"),
        ],
    },
    "heat": {
        "schedule": [
            ("carried = 2", "carried = 9"),
        ],
        "input": [
            ("axis = 0", "axis = 3"),
        ],
    },
    "looked": {
        "input": [
            ("axes = array<i64: 0>", "axes = array<i64: 5>"),
        ],
        "to-nest": [
            ("range = #weft.dims<0, n>", "range = #weft.dims<0>"),
        ],
    },
    "rows": {
        "widen-loops": [
            ("#weft.dims<n, m>", "#weft.dims<-n, m>"),
            ("#weft.dims<n, m>", "#weft.dims<@i, m>"),
            ('layouts = ["C"]', 'layouts = ["scalar"]'),
            ('layouts = ["C"]', 'layouts = ["C"], guards = ["@i == n"]'),
            ('layouts = ["C"]', 'layouts = ["C"], guards = ["max(1, n) == n - 1"]'),
            ('kind = "serial"', 'kind = "serial", line = 1 : i64'),
            ('kind = "serial"', 'kind = "serial", times = 0 : i64'),
            ('kind = "serial"', 'kind = "wild"'),
            ("times = 4", "times = 3"),
            ("grain = 128", "grain = -1"),
            ('"nest.store"(%1, %a) {at = #weft.dims<@i, @j>}', '"nest.store"(%1, %a) {at = #weft.dims<@i, @j - m>}'),
            ('access = ["update"]', 'access = ["read"]'),
            ('var = "j"', 'var = "i"'),
            ("range = #weft.dims<1, n>", "range = #weft.dims<1, n, 2>"),
        ],
    },
}


def dump(name: str, after: str) -> str:
    """Dump for AVX-512, so that the messages do not depend on the machine; `rows` is a nest."""
    if name == "rows":
        return f"!a = {MEMORY}\n" + NEST.read_text(encoding="utf-8").partition("// CHECK\n")[2].replace(MEMORY, "!a")
    source = parse_module(TEXT, "dumps.weft").kernels[name]
    kernel = Kernel(source, Registry(), Options(target=target.x86(4)))
    return str(kernel.lower(*ARGUMENTS[name]()).ir(after=after))


def test_goldens(request: pytest.FixtureRequest) -> None:
    """Compare the message, its position and the line with the caret, for each of the places above."""
    shown = []
    places = [(n, a, *edit) for n, passes in PLACES.items() for a, edits in passes.items() for edit in edits]
    texts = {(name, after): dump(name, after) for name, passes in PLACES.items() for after in passes}
    for name, after, old, new in places:
        text = texts[name, after]
        assert old in text, (name, after, old)
        with pytest.raises(WeftError) as caught:
            weft.compile(text.replace(old, new, 1), name=f"{name}.mlir")
        span = caught.value.span
        assert span is not None and span.file == f"{name}.mlir", (old, new)
        line = text.replace(old, new, 1).splitlines()[span.line - 1]
        there = line[span.column - 1 :][: max(span.length, 1)]
        shown.append(f"{name} after {after}: {old} -> {new or '(nothing)'}\n  at {there}\n  {caught.value.message}\n")
    found = "\n".join(shown)
    if request.config.getoption("--update-goldens"):
        GOLDEN.write_text(found)
    assert found == GOLDEN.read_text()


def mutations() -> Iterator[tuple[str, str, int, int, bool]]:
    """Yield a text with one edited attribute, a description of the edit, and the expected line and column.

    Each attribute of each op is edited once after each pass.
    """
    seen: set[tuple[str, str, str]] = set()
    for name in ("softmax", "stencil", "blurred", "product", "best", "running", "heat"):
        lowered = MODULE[name].lower(*ARGUMENTS[name]())
        for after in ("input", *lowered.passes):
            text = lowered.ir(after=after)
            for match in ATTRIBUTE.finditer(text):
                start = text.rfind("\n", 0, match.start()) + 1
                line = text.count("\n", 0, start) + 1
                ops = re.findall(r'"weft\.(\w+)"', text[start : match.start()])
                op = ops[-1] if ops else "region"
                key, value = match[1], match[2]
                if (op, key, after) in seen:
                    continue
                seen.add((op, key, after))
                at_name, at_value = match.start() - start + 1, match.start(2) - start + 1
                wrong = "1.5 : f64" if value.startswith(('"', "[")) or value == "true" else '"nonsense"'
                if (op, key) == ("constant", "value"):
                    wrong = '"nonsense"'
                yield text[: match.start(2)] + wrong + text[match.end(2) :], f"{op}.{key} {wrong}", line, at_value, True
                yield text[: match.start()] + "zz_" + text[match.start() :], f"{op}.{key} zz", line, at_name, True
                yield (
                    text[: match.start(2)] + "-99 : i64" + text[match.end(2) :],
                    f"{op}.{key} -99",
                    line,
                    at_value,
                    False,
                )


def test_every_attribute_is_checked() -> None:
    free = {"score", "value"}  # which take any number
    count = 0
    for text, what, line, column, is_exact in mutations():
        try:
            weft.compile(text, name="edited.mlir")
        except WeftError as error:
            assert error.span is not None and error.span.file == "edited.mlir", (what, str(error))
            if is_exact:
                assert (error.span.line, error.span.column) == (line, column), (what, str(error))
        else:
            assert what.split(".")[1].split()[0] in free and not is_exact, what
        count += 1
    assert count > 500


def test_every_schema_can_be_read() -> None:
    for op in TABLE.values():
        parse_schema(op.attributes)
    assert "sym_name" in parse_schema(KERNEL)
