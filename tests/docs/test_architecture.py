"""Test docs/architecture.md: every block that claims to be real is generated again."""

from __future__ import annotations

import platform
import re
from array import array
from collections.abc import Callable
from functools import cache

import llvmlite.binding as llvm
import numpy as np
import pytest
from weft.backends.llvm.elements.joint import JOINT
from weft.backends.llvm.elements.ops import EMITTERS
from weft.backends.llvm.engine import target
from weft.frontend.language.parse import parse
from weft.frontend.language.source import LanguageKernel, parse_module
from weft.frontend.language.spans import Source
from weft.frontend.language.syntax import SyntaxNode
from weft.ir.ops import IN_PARTS, TABLE, Trait
from weft.passes.pipeline import pipeline
from weft.runtime.compiler import Lowered, Options
from weft.runtime.kernel import Kernel
from weft.runtime.registry import Registry

from .pages import ROOT, compare, marked

PAGE = ROOT / "docs" / "architecture.md"
SOURCE = re.findall(r"^```weft\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
X = np.linspace(-4, 4, 64 * 512, dtype=np.float32).reshape(64, 512)


def softmax() -> LanguageKernel:
    return parse_module(SOURCE, "softmax.weft").kernels["softmax"]


@cache
def lowered(shape: tuple[int, ...] = X.shape) -> Lowered:
    """Lower for AVX-512, so that the page does not depend on the machine."""
    x = np.empty(shape, np.float32)
    return Kernel(softmax(), Registry(), Options(target=target.x86(4), verify=True)).lower(x)


def same_assembler() -> bool:
    """Tell whether this LLVM makes the page's assembly: another version may order instructions differently."""
    on_page = f"LLVM {llvm.llvm_version_info[0]} for AVX-512" in PAGE.read_text(encoding="utf-8")
    return on_page and platform.machine() == "x86_64"


def tree() -> str:
    """The syntax tree without spans."""
    return "\n".join(line for item in parse(Source("softmax.weft", SOURCE)).items for line in branch(item))


def branch(node: SyntaxNode) -> list[str]:
    plain, inner = [], []
    for name in node.FIELDS:
        value = getattr(node, name)
        children = value if isinstance(value, tuple) else (value,)
        if name == "span" or value is None:
            continue
        if all(isinstance(c, SyntaxNode) for c in children):
            inner += [line for c in children for line in branch(c)]
        else:
            plain.append(f"{name}={value!r}")
    return [" ".join([type(node).__name__, *plain]), *(f"  {line}" for line in inner)]


def body(name: str) -> str:
    """The operations of the kernel after a pass, without the module around them."""
    return "\n".join(line[4:] for line in lowered().ir(after=name).splitlines()[3:-2])


def region_end(name: str, shape: tuple[int, ...] = X.shape) -> str:
    """The attributes of the region, for a call with an array of some shape."""
    return next(line.strip() for line in lowered(shape).ir(after=name).splitlines() if line.startswith("    }) {"))


def lines_with(name: str, words: tuple[str, ...]) -> str:
    return "\n".join(line.strip() for line in lowered().ir(after=name).splitlines() if any(w in line for w in words))


def loop(text: str, label: str, needle: str) -> str:
    """The basic block with the needle, and the one that enters it."""
    blocks = re.split(rf"^(?={label})", text, flags=re.MULTILINE)
    k = next(k for k, block in enumerate(blocks) if needle in block)
    return "".join(blocks[k - 1 : k + 1] if label.startswith("[a-z]") else blocks[k : k + 1])


def frame() -> str:
    (function,) = lowered().program.functions
    rows = []
    for k, entry in enumerate(function.entries):
        what = {"pointer": f"address of {('x', 'the result')[entry.slot]}", "size": f"{entry.symbol} = {X.shape[1]}"}
        rows.append(f"word {k}: {what[entry.kind]}")
    return "\n".join([*rows, f"rows: {function.whole[0].extents[0]} = {X.shape[0]}"])


def nest_of(text: str) -> str:
    nest = text[text.index('"nest.kernel"') :].partition("\n    }) {")[0]
    return "\n".join(line.removeprefix("      ") for line in nest.splitlines())


def two_orders() -> str:
    """The nest of a kernel whose operands are in different orders."""
    source = parse_module("kernel f(x: f32[n, m], b: f32[n, m]) -> f32[n, m] { return x * 2 + b }", "f.weft").kernels[
        "f"
    ]
    kernel = Kernel(source, Registry(), Options(target=target.x86(4), verify=True))
    return nest_of(kernel.lower(np.empty((40, 50), np.float32), np.empty((40, 50), np.float32, "F")).ir())


def explained() -> str:
    return "\n".join(line for line in str(lowered().explain()).splitlines() if not line.endswith(" ms"))


MAKERS: dict[str, Callable[[], str]] = {
    "syntax tree": tree,
    "graph": lambda: lowered().ir(after="input"),
    **{
        f"after {p}": (lambda p=p: body(p)) for p in ("promote-dtypes", "canonicalize", "merge-duplicates", "drop-dead")
    },
    "after select-kernels": lambda: lines_with("select-kernels", ("weft.exp", "weft.sum")),
    "after fuse": lambda: body("fuse"),
    "after lower-reductions": lambda: lines_with("lower-reductions", ("weft.max", "weft.sum")),
    "region after lower-reductions": lambda: region_end("lower-reductions"),
    "region after schedule": lambda: region_end("schedule"),
    "region after choose-forms": lambda: region_end("choose-forms"),
    "region for short rows": lambda: region_end("choose-forms", (4096, 8)),
    "region for long rows": lambda: region_end("choose-forms", (4, 300000)),
    "kept after choose-forms": lambda: lines_with("choose-forms", ("keep =",)),
    "nest of softmax": lambda: nest_of(lowered().ir()),
    "nest of two orders": two_orders,
    "explain": explained,
    "llvm": lambda: loop(lowered().llvm(), r"[a-z]+\d*:", "fdiv <16 x float>"),
    "assembly": lambda: loop(lowered().asm(), r"\.LBB", "vdivps"),
    "frame": frame,
}


def test_every_step_is_on_the_page() -> None:
    assert sorted(marked(PAGE)) == sorted(MAKERS)
    text = PAGE.read_text(encoding="utf-8")
    for step in pipeline(Registry(), 64):
        assert f"### `{step.name}`" in text


@pytest.mark.parametrize("name", MAKERS)
def test_real(name: str, request: pytest.FixtureRequest) -> None:
    if name == "assembly" and not same_assembler():
        assert "weft_softmax_0" in Kernel(softmax(), Registry(), Options()).lower(X).asm()
        return
    compare(PAGE, name, MAKERS[name], request.config.getoption("--update-goldens"))


def test_the_frame_as_written_runs_the_kernel() -> None:
    """Do by hand what the page says about frame and launch."""
    kernel = Kernel(softmax(), Registry(), Options())
    low = kernel.lower(X)
    expected = kernel(X)
    (native,) = low.launcher.kernels.values()
    result = np.full_like(X, np.nan)
    addresses = (X.ctypes.data, result.ctypes.data)
    words = array("q", [addresses[e.slot] if e.kind == "pointer" else X.shape[1] for e in native.entries])
    (function,) = native.functions.values()
    for begin, end in ((0, 10), (10, 64)):
        assert function(words.buffer_info()[0], begin, end, 0, 1, 0) == 0
    np.testing.assert_array_equal(result, expected)


def test_files_named_on_the_page_exist() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:ir|frontend|passes|backends|runtime|api|tests|examples|docs)/[\w./]*)`", text):
        assert (ROOT / name).exists(), name


def test_every_elementwise_op_has_an_emitter() -> None:
    """Ops with attributes or without operands have their code in `elements`, as the page says."""
    elsewhere = {"cast", "where", "whole_power", "constant", "size", "iota", "each", *(op.name for op in IN_PARTS)}
    elementwise = {op.name for op in TABLE.values() if Trait.ELEMENTWISE in op.traits}
    assert not EMITTERS.keys() & JOINT.keys()
    assert {op.name for op in (*EMITTERS, *JOINT)} == elementwise - elsewhere
