"""Test each form of a kernel: its plan verifies, `explain()` describes its code, and an edited plan keeps the bits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends.llvm.engine.target import x86
from weft.frontend.language.source import parse_module
from weft.function import traced
from weft.ir.errors import WeftError
from weft.ir.text.parser import parse_graph
from weft.ir.verifier.verify import Stage, verify
from weft.passes.to_nest import ToNest
from weft.runtime.compiler import Lowered, Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

WINDOWS = """
kernel windows(x: f32[n], w: f32[k]) -> f32[n - k + 1] {
    let y[i in 0..n-k+1] = sum[j](x[i + j] * w[j])
    return y
}
"""
SOFTMAX = """
kernel softmax(x: f32[n, m]) -> f32[n, m] {
    let e = exp(x - max(x, axis=-1, keepdims=true))
    return e / sum(e, axis=-1, keepdims=true)
}
"""


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def two_kept(x: Any) -> Any:
    e, s = np.exp(x), np.sin(x)
    return (e - e.mean(axis=1, keepdims=True)).sum(axis=1), (s - s.max(axis=1, keepdims=True)).sum(axis=1)


def stencil(x: Any) -> Any:
    return x[1:-1, 1:-1] - (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / 4


KERNELS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "softmax": (softmax, [(64, 512), (64, 8), (2, 300_000)]),
    "two kept": (two_kept, [(64, 512), (64, 8), (2, 300_000)]),
    "row sums": (lambda x: x.sum(axis=1), [(64, 512), (64, 8), (2, 200_000)]),
    "column sums": (lambda x: (x * x).sum(axis=0), [(64, 512), (64, 2048), (1000, 40)]),
    "centred columns": (lambda x: x - np.exp(x.mean(axis=0)), [(64, 512), (2000, 2000)]),
    "maximum": (lambda x: x.max(), [(64, 512)]),
    "all elements": (lambda x: softmax(x.reshape(-1)), [(64, 512), (600, 512)]),
    "elementwise": (lambda x: np.sqrt(x * x + 1), [(64, 512), (2000, 2000)]),
    "with a row": (lambda x: x * x[0] + 1, [(64, 512), (64, 3), (2000, 2000)]),
    "stencil": (stencil, [(64, 512), (2000, 2000)]),
    "transposed": (lambda x: x + x.T, [(64, 64)]),
    "running": (lambda x: np.cumsum(x, axis=1) * 2, [(64, 512)]),
    "positions": (lambda x: (x.argmax(axis=1), (x > 3).argmax()), [(64, 512)]),
    "product": (lambda x: softmax(x @ x.T), [(64, 40), (200, 80)]),
}
ALL = [(name, shape, level) for name, (_, shapes) in KERNELS.items() for shape in shapes for level in (3, 4)]


def lowered(function: Callable[..., Any], shape: tuple[int, ...], level: int = 4) -> Lowered:
    return traced(function, (), Options(target=x86(level), verify=True)).lower(np.ones(shape, np.float32))


def functions(text: str) -> Iterator[tuple[str, str]]:
    for each in re.finditer(r"^define i32 @(\w+)\(.*?^}", text, re.MULTILINE | re.DOTALL):
        yield each[1], each[0]


def steps(text: str) -> set[int]:
    """Return the increments of loops."""
    return {int(n) for n in re.findall(r" = add nsw i64 %\w+, (\d+)", text)}


def row_step(text: str) -> set[int]:
    """Return the increments of the loops that begin at the function's `begin`."""
    found = set()
    for variable, after in re.findall(r"(%\w+) = phi i64 \[ %begin0, %\w+ \], \[ (%\w+), ", text):
        found |= {int(n) for n in re.findall(rf"{after} = add nsw i64 {variable}, (\d+)", text)}
    return found


@pytest.mark.parametrize(("name", "shape", "level"), ALL)
def test_explain_says_what_the_loops_do(name: str, shape: tuple[int, ...], level: int) -> None:
    low = lowered(KERNELS[name][0], shape, level)
    verify(low.graph, Stage.FORMED)
    for k, (story, region) in enumerate(zip(low.explain().kernels, low.kernels, strict=True)):
        parts = {n: text for n, text in functions(low.program.text) if re.fullmatch(rf"weft_\w*_{k}(_[a-z]+\d*)?", n)}
        text, plan = "\n".join(parts.values()), story.plan
        if "tiles of" in plan:
            assert ("for few terms" in plan) == ({"pack", "multiply"}.isdisjoint(n.rsplit("_", 1)[-1] for n in parts))
            continue
        width, axis, once = map(int, re.findall(r"vectors of (\d+) along axis (\d+), (\d+) at once", plan)[0])
        counts = {once, *map(int, re.findall(r"(\d+) where it reduces", plan))}
        assert re.search(rf"<{width} x ", text) and {width * n for n in counts} <= steps(text)
        columns = re.search(r"columns ([\d+ ]+);", plan)
        along = columns is not None and str(axis) in re.split(r"[+ ]", columns[1])
        whole = [t for n, t in parts.items() if re.fullmatch(r"weft_\w*_\d+", n)]
        if whole and not any(words in plan for words in ("through several", "rows none", "aligned to")):
            single = len(re.findall(r"rows ([\d+ ]+);", plan)[0].split()) == 1
            assert (width * once in row_step(whole[0])) == (not along and single)
        kinds = {re.sub(r".*_\d+_?", "", n).rstrip("0123456789") for n in parts}
        assert ("in chunks of" in plan) == ("walk" in kinds) and bool(whole) == ("columns in chunks" not in plan)
        assert ("line by line" in plan) == ("spread" in kinds)
        assert ("is over at" in plan) == ("begin" in kinds)
        assert ("non-temporal" in plan) == ("!nontemporal" in text)
        assert ("prefetches" in plan) == ("@llvm.prefetch" in text)
        assert ("aligned to" in plan) == ("ptrtoint" in text)
        assert plan.count(" kept in scratch") == len(
            [e for e in low.program.functions[k].entries if e.kind == "scratch"]
        )
        if "rows together" in plan:
            assert int(re.findall(r"(\d+) rows together", plan)[0]) in steps(text)
        assert (story.sizes == "") == ("guards" not in region.attrs)


def test_three_shapes_have_three_plans() -> None:
    shapes = KERNELS["softmax"][1]
    plans = {lowered(softmax, shape).ir(after="choose-forms") for shape in shapes}
    before = {lowered(softmax, shape).ir(after="schedule") for shape in shapes}
    assert len(plans) == 3 and len(before) == 1
    assert "vectors of 16 along axis 0, 1 at once; a row in each lane" in str(lowered(softmax, (4096, 8)).explain())


def test_windows_are_unrolled_as_the_plan_says() -> None:
    kernel = Kernel(parse_module(WINDOWS, "w").kernels["windows"], Registry(), Options(verify=True))
    x = np.arange(100, dtype=np.float32)
    for length, taps in ((3, "array<i64: 3>"), (20, "array<i64: 0>")):
        low = kernel.lower(x, x[:length])
        verify(low.graph, Stage.FORMED)
        assert f'form = "windows", taps = {taps}' in low.ir()
        assert ("3 == k" if length == 3 else "max(9, k) == k") in low.ir()


# -- plans that were edited


def edited(shape: tuple[int, ...], *edits: tuple[str, str]) -> tuple[Lowered, Lowered, Any]:
    """Return softmax as compiled for a shape, the same with an edited plan, and an argument."""
    kernel = Kernel(parse_module(SOFTMAX, "s").kernels["softmax"], Registry(), Options(target=None))
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    low = kernel.lower(x)
    text = low.ir(after="choose-forms")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    graph = parse_graph(text)
    verify(graph, Stage.FORMED)
    graph = ToNest().run(graph)
    verify(graph, Stage.NESTED)
    result = type(low.result)(graph, low.result.passes, (*low.result.snapshots[:-1], graph), low.result.seconds)
    other = Lowered(low.built, result, low.options, low.orders, low.scalars, low.any_order, low.uses)
    return low, other, x


def ran(low: Lowered, x: Any) -> Any:
    env = {"n": x.shape[0], "m": x.shape[1]}
    (found,), _ = low.launcher.run([x], env, {})
    return found


SAME_BITS = {
    "unroll": ((64, 512), ("unroll = 2", "unroll = 4")),
    "stream": ((64, 512), ('form = "rows"', 'form = "rows", stream = true')),
    "vector": ((300, 8), ("vector = 0", "vector = 1")),
    "keep": ((64, 512), (', keep = "result 0"', "")),
    "scratch": ((64, 512), ('keep = "result 0"', 'keep = "scratch"')),
    "width": ((64, 512), ("width = 16", "width = 8")),
}


@pytest.mark.parametrize("name", SAME_BITS)
def test_an_edited_plan_is_other_code_with_the_same_bits(name: str) -> None:
    shape, edit = SAME_BITS[name]
    if name == "width" and Options().machine.vector_bytes == 32:
        edit = ("width = 8", "width = 4")
    low, other, x = edited(shape, edit)
    assert low.llvm() != other.llvm()
    if name == "stream":
        assert "!nontemporal" in other.llvm() and "!nontemporal" not in low.llvm()
    for rows in (x, x[:5], np.ascontiguousarray(x[:, : min(shape[1], 301)]) if name != "vector" else x[:1]):
        assert ran(low, rows).tobytes() == ran(other, rows).tobytes()


WRONG = [
    ((64, 512), "vector = 1", "vector = 0", "at most 16 columns"),
    ((64, 8), "unroll = 1", "unroll = 2", "must be 1"),
    ((64, 512), 'form = "rows"', 'form = "chunks", shared_walks = true', "share a walk"),
    ((64, 512), 'form = "rows"', 'form = "flat"', "at most"),
    ((64, 512), 'form = "rows"', 'form = "windows"', "taps"),
    ((64, 512), 'form = "rows"', 'form = "rows or chunks"', "cut_from"),
    ((64, 512), 'form = "rows"', 'form = "rows", spread = true', "spread"),
    ((64, 512), 'form = "rows"', 'form = "rows", peel = 1 : i64', "peel"),
    ((64, 8), 'form = "rows"', 'form = "rows", early_exit', "early_exit"),
    ((64, 512), 'form = "rows"', 'form = "rows", lines = 16 : i64', "lines"),
    ((64, 512), 'form = "rows"', 'form = "lines"', "form"),
    ((64, 512), 'keep = "result 0"', 'keep = "result 1"', "result 1"),
    ((64, 512), 'keep = "result 0"', 'keep = "row 0"', "spread"),
    ((64, 512), 'keep = "result 0"', 'keep = "somewhere"', "keep"),
]


@pytest.mark.parametrize(("shape", "old", "new", "what"), WRONG)
def test_a_plan_that_can_not_be_compiled_is_refused(shape: tuple[int, ...], old: str, new: str, what: str) -> None:
    with pytest.raises(WeftError, match=what):
        edited(shape, (old, new))


def test_a_plan_is_kept_to_its_sizes() -> None:
    """A printed form serves the sizes of its guards; text from before it chooses a form in each call."""
    x = np.random.default_rng(0).standard_normal((64, 512)).astype(np.float32)
    short, kernel = np.ascontiguousarray(x[:, :8]), weft.compile(SOFTMAX).softmax
    text = kernel.lower(x).ir().replace("unroll = 2", "unroll = 4")
    assert (weft.compile(text)(x) == kernel(x)).all()
    needs = r"has no form for n = 64, m = 8; its guards need max\(17, m\) == m"
    with pytest.raises(weft.errors.ShapeProblem, match=needs):
        weft.compile(text)(short)
    scheduled = weft.compile(kernel.lower(x).ir(after="schedule"))
    assert (scheduled(x) == kernel(x)).all() and (scheduled(short) == kernel(short)).all()
