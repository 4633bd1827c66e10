"""Test damaged dumps: whatever is deleted, duplicated or reconnected, the parser or the verifier reports where.

Structure is damaged: lines, operands, results, types, names and regions. A text that is still a graph must pass through
the rest of the pipeline.
"""

from __future__ import annotations

import random
import re

import numpy as np
import weft
from weft.frontend.language.source import parse_module
from weft.ir.errors import WeftError
from weft.ir.text.parser import parse_text
from weft.ir.verifier.verify import verify
from weft.passes.manager import PipelineOptions, run_pipeline
from weft.runtime.compiler import Options, passes_for
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

COUNT = 600
TYPE = r"(?:tensor<[^>]*(?:<[^>]*>)?[^>]*>|!weft\.weak<\w+>)(?:, )?"
NAME = r"%[\w#]+(?:, )?"
LOOPS = """
fn escape(c: f64, limit: i32) -> i32 {
    var z = 0.0; var k = 0
    while k < limit and z <= 4.0 { z = z*z + c; k += 1 }
    return k
}
kernel each(c: f64[w], limit: i32) -> i32[w] { return escape(c, limit) }
kernel heat(u: f64[n], steps: i64) -> f64[n] {
    var v = u
    for t in 0..steps {
        let w[i in 1..n-1] = v[i] + 0.5 * (v[i-1] - 2*v[i] + v[i+1]) else v[i]
        v = w
    }
    return v
}
"""


def _dumps() -> list[tuple[str, int]]:
    """Yield texts of graphs, and how many passes have run."""
    x, v = np.ones((6, 5), np.float32), np.ones(5, np.float16)
    parsed = parse_module(LOOPS, "loops.weft").kernels
    each, heat = (Kernel(parsed[name], Registry(), Options()) for name in ("each", "heat"))
    lowered = [
        weft.jit(lambda a: np.exp(a - a.max(1, keepdims=True)) / a.sum(1, keepdims=True)).lower(x),
        weft.jit(lambda a, b: np.concatenate([a @ b.T, a[:, :2]], axis=1).cumsum(1)).lower(x, x),
        weft.jit(lambda a, b: a * (1 + 2j) + b[[0, 1, 2, 3, 4, 0]].argmax()).lower(x, v),
        each.lower(np.ones(5), 3),
        heat.lower(np.ones(9), 3),
    ]
    return [(one.ir(stage), k) for one in lowered for k, stage in enumerate(("input", *one.passes))]


def _damaged(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    line = lines[at]
    kind = rng.choice(
        ("delete", "double", "move", "swap", "part", "part", "part", "part", "count", "results", "region")
    )
    if kind == "delete":
        lines.pop(at)
    elif kind == "double":
        lines.insert(at, line)
    elif kind == "move":
        lines.insert(rng.randrange(len(lines)), lines.pop(at))
    elif kind == "swap":
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], line
    elif kind == "part":
        pattern = rng.choice((TYPE, NAME, NAME))
        if found := list(re.finditer(pattern, line)):
            part = rng.choice(found)
            other = rng.choice(
                ("", part[0].rstrip(", ") + ", " + part[0], rng.choice(re.findall(pattern, text)), "%zz")
            )
            lines[at] = line[: part.start()] + other + line[part.end() :]
    elif kind == "count":
        lines[at] = re.sub(r"(%\w+)(:\d+)? =", rf"\1{rng.choice((':0', ':2', ''))} =", line)
    elif kind == "results":
        lines[at] = re.sub(r"-> (tensor.*|!weft.*)$", rng.choice((r"-> ()", r"-> (\1, \1)")), line)
    elif "({" in line:
        ends = [k for k in range(at, len(lines)) if lines[k].strip().startswith("})")]
        if ends and rng.random() < 0.5:
            lines[at : ends[0] + 1] = [line.replace("({", "").rstrip() + lines[ends[0]].strip()[2:]]
        elif ends:
            lines[at + 1 : ends[0]] = [one for one in lines[at + 1 : ends[0]] if "yield" in one or "return" in one]
    return "\n".join(lines)


def test_damaged_dumps_are_typed_errors_with_a_place() -> None:
    rng, dumps = random.Random(11), _dumps()
    registry = Registry()
    passes = passes_for(registry, Options())
    refused = 0
    for _ in range(COUNT):
        text, run = rng.choice(dumps)
        damaged = _damaged(rng, text)
        try:
            parsed = parse_text(damaged, "damaged.mlir", registry.table)
            verify(parsed.graph, places=parsed.places, table=registry.table)
        except WeftError as error:
            assert error.span is not None and error.span.line, f"{error}\n{damaged}"
            refused += 1
            continue
        run_pipeline(parsed.graph, passes[run:], PipelineOptions())
    assert refused > COUNT // 2
