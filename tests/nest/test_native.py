"""Test nests in machine code: the interpreter's bits, one and several threads, and errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import weft
from weft.backends import nests
from weft.backends.llvm.nests.emit import emit_nest
from weft.command.main import main
from weft.ir.errors import IndexProblem, ShapeProblem, TypeProblem, ValueProblem
from weft.ir.graph import Graph
from weft.ir.nest.text import parse_nest
from weft.runtime.nests.compiling import compile_nests
from weft.runtime.nests.interfaces import interface_of
from weft.runtime.nests.kernels import CallableNest, NestKernel

from .test_nests import EXAMPLES, Array, randn, text_of

SIZES = {
    # the arguments of every example, in several sizes
    "chain": lambda n: (randn(n), randn(n)[::-1].copy(), np.zeros(n, "f4")),
    "addt": lambda n: (randn(n, n + 7), randn(n + 7, n), np.zeros((n, n + 7), "f4")),
    "argmax": lambda n: (randn(4, n + 1), np.zeros(4, "i8")),
    "colsum": lambda n: (randn(149, n), np.zeros(n, "f4")),
    "three_axis_sum": lambda n: (randn(3, 2, 4, n), np.zeros((3, 2, 4, n), "f4")),
    "cholesky": lambda n: (randn(n, n, dtype="f8") / 9 + np.eye(n),),
    "lu_in_place": lambda n: (randn(n, n, dtype="f8") / 9 + np.eye(n),),
    "seidel": lambda n: (randn(n, n, dtype="f8"),),
    "stencil_in_place": lambda n: (randn(4, 3 * n),),
}
Made = dict[str, Any]


@pytest.fixture(scope="module")
def kernels() -> Made:
    """Compile all examples as one module, which is faster than one by one."""
    graphs = [parse_nest(text_of(name)) for name in SIZES]
    return dict(zip(SIZES, map(native_kernel, graphs, compile_nests(graphs)), strict=True))


def native_kernel(nest: Graph, native: Any) -> tuple[Graph, NestKernel]:
    return nest, CallableNest(interface_of(nest), lambda: native)


def same_bits(found: list[Array], wanted: list[Array]) -> None:
    for a, b in zip(found, wanted, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", SIZES)
def test_native_code_gives_the_bits_of_the_interpreter(name: str, kernels: Made) -> None:
    (nest, kernel), numbers = kernels[name], {"steps": 3} if name == "seidel" else {}
    before = weft.get_threads()
    for n in (3, 17, 35):
        wanted = [a.copy() for a in SIZES[name](n)]
        nests.run(nest, wanted, numbers)
        try:
            for threads in (1, 3):
                weft.set_threads(threads)
                found = [a.copy() for a in SIZES[name](n)]
                kernel(*found, **numbers)
                same_bits(found, wanted)
        finally:
            weft.set_threads(before)
    assert kernel.chain.calls == (0 if kernel.native.code.failures else 5)


def test_positions_of_ties_and_nan(kernels: Made) -> None:
    """The first of equal elements, and the first NaN, whatever lane they are in."""
    argmax, random = kernels["argmax"][1], np.random.default_rng(3)
    for n in (1, 5, 16, 33, 64, 100, 131):
        x = random.integers(0, 3, (40, n)).astype("f4")
        x[random.random((40, n)) < 0.02] = np.nan
        x[random.random((40, n)) < 0.02] = -np.inf
        found = np.zeros(40, "i8")
        argmax(x, found)
        assert np.array_equal(found, x.argmax(1))
    with pytest.raises(ValueProblem, match="attempt to get argmax of an empty sequence"):
        argmax(np.zeros((2, 0), "f4"), np.zeros(2, "i8"))


def test_arguments_are_checked(kernels: Made) -> None:
    seidel, chain, stencil = (kernels[name][1] for name in ("seidel", "chain", "stencil_in_place"))
    a, x = randn(5, 5, dtype="f8"), randn(6)
    for error, message, call in (
        (TypeProblem, "takes 1 array, not 2", lambda: seidel(a, a, steps=1)),
        (TypeProblem, "steps is missing", lambda: seidel(a)),
        (TypeProblem, "step is unknown\nhint: did you mean 'steps'", lambda: seidel(a, step=1)),
        (TypeProblem, "a is given twice", lambda: seidel(a, a=a, steps=1)),
        (TypeProblem, "b is missing", lambda: chain(x, o=x)),
        (TypeProblem, "'a' must be a plain array, not a MaskedArray", lambda: seidel(np.ma.array(a), steps=1)),
        (TypeProblem, "stop is unknown", lambda: seidel(a, steps=1, stop=2)),
        (TypeProblem, "steps must be a whole number, not 1.5", lambda: seidel(a, steps=1.5)),
        (ValueProblem, "steps must be from 0 to", lambda: seidel(a, steps=-1)),
        (TypeProblem, "'a' must be a plain array, not a list", lambda: seidel([1.0], steps=1)),
        (TypeProblem, "'a' must be f64.*not float32 with 2 dim", lambda: seidel(a.astype("f4"), steps=1)),
        (ShapeProblem, r"'a' must have shape \(5, 5\) here, not \(5, 4\)", lambda: seidel(a[:, :4].copy(), steps=1)),
        (ShapeProblem, "stencil_in_place needs", lambda: stencil(np.zeros((0, 3), "f4"))),
        (ValueProblem, r"'a' must have layout C, not strides \(8, 40\)", lambda: seidel(a.T, steps=1)),
        (ValueProblem, "'a' and 'o' share memory", lambda: chain(x, x, x)),
    ):
        with pytest.raises(error, match=message):
            call()
    x.flags.writeable = False
    with pytest.raises(ValueProblem, match="'o' is read-only"):
        chain(x.copy(), x.copy(), x)


@pytest.mark.parametrize(("dtype", "name"), [("i1", "i8"), ("i8", "i64"), ("u2", "ui16")])
def test_divisors_that_are_constant(dtype: str, name: str) -> None:
    """Powers of two are divided by shifts, which round down as NumPy does, also below zero."""
    info = np.iinfo(dtype)
    divisors = [k for k in (1, 2, 8, info.max // 2 + 1, 3, -1, -2, 0) if k >= info.min]
    steps = "".join(
        f"""
    %d{k} = "weft.constant"() {{value = {k} : i64, dtype = {name}}} : () -> !x
    %q{k} = "weft.floor_divide"(%x, %d{k}) : (!x, !x) -> !x
    %r{k} = "weft.remainder"(%x, %d{k}) : (!x, !x) -> !x
    "nest.store"(%q{k}, %q) {{at = #weft.dims<{n}, @i>}} : (!x, !o) -> ()
    "nest.store"(%r{k}, %r) {{at = #weft.dims<{n}, @i>}} : (!x, !o) -> ()"""
        for n, k in enumerate(divisors)
    )
    kernel = weft.compile(f"""
!a = memref<?x{name}, #weft.dims<n>>
!o = memref<{len(divisors)}x?x{name}, #weft.dims<{len(divisors)}, n>>
!x = tensor<{name}>
"nest.kernel"() <{{access = ["read", "write", "write"]}}> ({{
^bb0(%a : !a, %q : !o, %r : !o):
  "nest.for"() ({{
    %x = "nest.load"(%a) {{at = #weft.dims<@i>}} : (!a) -> !x{steps}
    "nest.yield"() : () -> ()
  }}) {{var = "i", range = #weft.dims<0, n>, kind = "vector"}} : () -> ()
  "nest.yield"() : () -> ()
}}) : () -> ()
""")
    spread = np.random.default_rng(3).integers(info.min, info.max, 50, dtype, endpoint=True)
    x = np.concatenate([spread, np.arange(-20, 20).astype(dtype), np.array([info.min, info.max], dtype)])
    found = np.zeros((2, len(divisors), len(x)), dtype)
    kernel(x, found[0], found[1])
    with np.errstate(all="ignore"):
        wanted = [[f(x, np.asarray(k, dtype)) for k in divisors] for f in (np.floor_divide, np.remainder)]
    assert np.array_equal(found, wanted)


def test_arrays_may_be_passed_by_name(kernels: Made) -> None:
    chain, a, b = kernels["chain"][1], randn(6), randn(6)
    for _ in range(3):  # the later calls are native
        for given in ((a, b), (a,), ()):
            out = np.zeros_like(a)
            chain(*given, **dict(list({"o": out, "b": b, "a": a}.items())[: 3 - len(given)]))
            assert np.array_equal(out, a * b + np.float32(2))


def test_numbers_from_data_are_checked() -> None:
    text = """
!a = memref<?xi32, #weft.dims<n>>
!b = memref<?xf64, #weft.dims<m>>
"nest.kernel"() <{access = ["read", "update"]}> ({
^bb0(%k : !a, %b : !b):
  "nest.for"() ({
    %0 = "nest.load"(%k) {at = #weft.dims<@i>} : (!a) -> tensor<i32>
    "nest.bind"(%0) {var = "p", range = #weft.dims<0, m>} : (tensor<i32>) -> ()
    %1 = "nest.load"(%b) {at = #weft.dims<@p>} : (!b) -> tensor<f64>
    %2 = "weft.constant"() {value = 1.0 : f64, dtype = f64} : () -> tensor<f64>
    %3 = "weft.add"(%1, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    %4 = "weft.constant"() {value = 4.0 : f64, dtype = f64} : () -> tensor<f64>
    %5 = "weft.lt"(%3, %4) : (tensor<f64>, tensor<f64>) -> tensor<i1>
    "nest.check"(%5) {error = "OverflowProblem", message = "too many"} : (tensor<i1>) -> ()
    "nest.store"(%3, %b) {at = #weft.dims<@p>} : (tensor<f64>, !b) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
"""
    kernel, counts = weft.compile(text, name="counting.mlir"), np.zeros(3)
    kernel(np.array([0, 2, 2, 2, 1], "i4"), counts)
    assert counts.tolist() == [1, 1, 3]
    for wrong in (3, -1):
        with pytest.raises(IndexProblem, match=f"index {wrong} is out of bounds for axis with size 3") as found:
            kernel(np.array([0, wrong], "i4"), counts)
        assert found.value.span is not None and found.value.span.line == 8
    for either in (kernel, weft.compile(text, backend="reference")):
        with pytest.raises(weft.errors.OverflowProblem, match="too many"):
            either(np.array([2], "i4"), counts)
    assert counts.tolist() == [3, 1, 3]


def test_python_and_the_command_reach_nests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hand-written text with type aliases gives a kernel; the command allocates arrays that are only written."""
    text = text_of("chain").replace("memref<?xf32, #weft.dims<n>>", "!a").replace("tensor<f32>", "!f")
    text = f"!a = memref<?xf32, #weft.dims<n>>\n!f = tensor<f32>\n{text}"
    a, b = randn(5), randn(5) + 2
    wanted = a * b + np.float32(2)
    for backend in ("llvm", "reference"):
        kernel, out = weft.compile(text, backend=backend), np.zeros(5, "f4")
        assert kernel(a, b, out) is None and np.array_equal(out, wanted)
    assert repr(kernel) == "<nest chain(a: f32[n], b: f32[n], o: f32[n])>"
    file, saved = tmp_path / "chain.mlir", tmp_path / "o.npy"
    file.write_text(text, encoding="utf-8")
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    given = ["--arg", f"a={tmp_path}/a.npy", "--arg", f"b={tmp_path}/b.npy"]
    assert main(["run", str(file), *given, "--out", str(saved)]) == 0
    assert np.array_equal(np.load(saved), wanted) and capsys.readouterr().out.startswith("o: f32[5]")
    for emit, shown in (
        ("mlir", '"nest.kernel"() <{sym_name = "chain"'),
        ("llvm", "@nest_0("),
        ("asm", "nest_0:"),
    ):
        assert main(["dump", str(file), "--emit", emit]) == 0
        assert shown in capsys.readouterr().out
    assert main(["run", str(file), "--arg", "a=ones(3)", "--arg", "c=3"]) == 1
    assert "chain has no argument 'c'" in capsys.readouterr().err
    assert main(["run", str(file), "--arg", "a=ones(3)"]) == 1
    assert "chain needs more arguments:\n  b: f32[n]" in capsys.readouterr().err


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np, weft
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background ignores it
weft.set_threads(int(sys.argv[1]))
folder = sys.argv[2]
seidel = weft.compile(open(f"{folder}/seidel.mlir").read())
long = weft.compile('''
!o = memref<f64>
!f = tensor<f64>
"nest.kernel"() <{access = ["update"]}> ({
^bb0(%o : !o):
  %0 = "nest.load"(%o) {at = #weft.dims<>} : (!o) -> !f
  %1 = "weft.constant"() {value = 1.5 : f64, dtype = f64} : () -> !f
  %2 = "nest.for"(%0) ({
  ^bb0(%s : !f):
    %3 = "weft.add"(%s, %1) : (!f, !f) -> !f
    %4 = "weft.div"(%3, %1) : (!f, !f) -> !f
    %5 = "weft.sqrt"(%4) : (!f) -> !f
    "nest.ask"() : () -> ()
    "nest.yield"(%5) : (!f) -> ()
  }) {var = "i", range = #weft.dims<0, steps>, kind = "serial"} : (!f) -> !f
  "nest.store"(%2, %o) {at = #weft.dims<>} : (!f, !o) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
''')
endless = weft.compile('''
!o = memref<i64>
!i = tensor<i64>
"nest.kernel"() <{access = ["update"]}> ({
^bb0(%o : !o):
  %0 = "nest.load"(%o) {at = #weft.dims<>} : (!o) -> !i
  %1 = "nest.while"(%0) ({
  ^bb0(%s : !i):
    %2 = "weft.eq"(%s, %s) : (!i, !i) -> tensor<i1>
    "nest.ask"() : () -> ()
    "nest.yield"(%2, %s) : (tensor<i1>, !i) -> ()
  }) : (!i) -> !i
  "nest.store"(%1, %o) {at = #weft.dims<>} : (!i, !o) -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
''')
grid, total, number = np.ones((40, 40)), np.zeros(()), np.zeros((), "i8")
seidel(grid, steps=2); long(total, steps=2)
def other():
    started.wait()
    for _ in range(5):
        threading.Event().wait(0.001)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
for run in (lambda: seidel(grid, steps=2**31 - 1), lambda: long(total, steps=2**31 - 1), lambda: endless(number)):
    sent, started = [], threading.Event()
    threading.Thread(target=other).start()
    try:
        started.set()
        run()
    except KeyboardInterrupt:
        print("stopped", time.perf_counter() - sent[0])
seidel(grid, steps=2); long(total, steps=2)
"""


@pytest.mark.parametrize("threads", ["1", "2"])
def test_ctrl_c_ends_a_nest(threads: str) -> None:
    """Loops in loops, one long loop, and an endless one; they run again afterwards."""
    found = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, threads, str(EXAMPLES)], capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.count("stopped") == 3, found.stdout


STORED = """
import sys
import numpy as np, weft
histogram = weft.compile(open(sys.argv[1]).read(), name="histogram.mlir")
counts = np.zeros(3, np.int64)
histogram(np.array([0, 2, 2], np.int32), counts)
print(histogram, counts)
try:
    histogram(np.array([7], np.int32), counts)
except IndexError as error:
    print(error)
print("weft.ir.text.parser" in sys.modules, "weft.backends.llvm.nests.emit" in sys.modules)
"""


def test_text_that_was_compiled_before_is_not_parsed(tmp_path: Path) -> None:
    """A second process finds the nest on disk: the same results and errors, without the parser."""
    shown = []
    for _ in range(2):
        found = subprocess.run(
            [sys.executable, "-c", STORED, str(EXAMPLES / "histogram.mlir")],
            env={**os.environ, "WEFT_CACHE": "1", "WEFT_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert found.returncode == 0, found.stderr
        shown.append(found.stdout.splitlines())
    assert shown[0][:-1] == shown[1][:-1] and "histogram.mlir:8:7: index 7 is out of bounds" in shown[0][1]
    assert (shown[0][-1], shown[1][-1]) == ("True True", "False False")


def test_what_has_no_native_code_is_refused() -> None:
    text = text_of("chain").replace("xf32", "xcomplex<f32>").replace("tensor<f32>", "tensor<complex<f32>>")
    text = text.replace("dtype = f32", "dtype = complex<f32>")
    with pytest.raises(weft.errors.Unsupported, match="mul of a complex number has no native code") as found:
        weft.compile(text)(*(np.ones(3, np.complex64) for _ in range(3)))
    assert found.value.span is not None and found.value.span.line == 8


COMPLEX = """
!a = memref<?xcomplex<f32>, #weft.dims<n>>
!z = tensor<complex<f32>>
!f = tensor<f32>
"builtin.module"() ({
"nest.kernel"() <{sym_name = "mixed", access = ["read", "read", "write"], layouts = ["C", "S", "C"]}> ({
^bb0(%a : !a, %b : !a, %o : !a):
  "nest.for"() ({
    %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (!a) -> !z
    %1 = "nest.load"(%b) {at = #weft.dims<@i>} : (!a) -> !z
    %2 = "weft.real"(%0) : (!z) -> !f
    %3 = "weft.imag"(%1) : (!z) -> !f
    %4 = "weft.mul"(%2, %3) : (!f, !f) -> !f
    %5 = "weft.complex"(%3, %4) : (!f, !f) -> !z
    "nest.store"(%5, %o) {at = #weft.dims<@i>} : (!z, !a) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "vector", shared} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
}) : () -> ()
"""


def test_complex_numbers() -> None:
    """Their parts are loaded and stored, in vectors with masked ends and one by one."""
    for kind in ("vector", "serial"):
        kernel = weft.compile(COMPLEX.replace('kind = "vector"', f'kind = "{kind}"'))
        for n in (0, 3, 100):
            a, b = (randn(2 * n, dtype="f4").view(np.complex64) for _ in range(2))
            out = np.empty_like(a)
            kernel(a, b[::-1], out)
            assert np.array_equal(out, b[::-1].imag + 1j * (a.real * b[::-1].imag))


def test_both_parts_of_complex_numbers_are_stored_at_once() -> None:
    """Also if imaginary parts are loaded in between, which can't be those that are stored, but not the real ones."""
    access = '"nest.load"(%a) {{at = #weft.dims<@i, {}>}} : (!a) -> tensor<f64>'
    text = """
    !a = memref<?x2xf64, #weft.dims<n, 2>>
    "nest.kernel"() <{{sym_name = "both", access = ["update"], layouts = ["C"]}}> ({{
    ^bb0(%a : !a):
      "nest.for"() ({{
        %r = {}
        %twice = "weft.add"(%r, %r) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.store"(%twice, %a) {{at = #weft.dims<@i, 0>}} : (tensor<f64>, !a) -> ()
        %s = {}
        %all = "weft.add"(%s, %r) : (tensor<f64>, tensor<f64>) -> tensor<f64>
        "nest.store"(%all, %a) {{at = #weft.dims<@i, 1>}} : (tensor<f64>, !a) -> ()
        "nest.yield"() : () -> ()
      }}) {{var = "i", range = #weft.dims<0, n>, kind = "vector", width = 4 : i64, times = 1 : i64}} : () -> ()
      "nest.yield"() : () -> ()
    }}) : () -> ()
    """
    for part, is_joined in ((1, True), (0, False)):
        nest = parse_nest(text.format(access.format(0), access.format(part)))
        assert ("store <8 x double>" in emit_nest(nest, "both", 32).text) is is_joined
        found, wanted = np.arange(22.0).reshape(11, 2), np.arange(22.0).reshape(11, 2)
        nests.run(nest, [wanted], {})
        compile_nests([nest])[0].run([found])
        assert np.array_equal(found, wanted)


def test_sizes_that_may_not_fit_64_bits_are_refused() -> None:
    text = text_of("seidel").replace("#weft.dims<0, steps - 1>", "#weft.dims<0, steps*steps*steps - 1>")
    kernel, a = weft.compile(text), randn(4, 4, dtype="f8")
    kernel(a, steps=2)
    with pytest.raises(weft.errors.LimitExceeded, match=r"seidel: the size steps.* may be too large for 64 bits"):
        kernel(a, steps=1 << 30)
    text = text_of("chain").replace("#weft.dims<0, n>", f"#weft.dims<0, min(n, {1 << 62})>")
    with pytest.raises(weft.errors.LimitExceeded, match="too large for 64 bits"):
        weft.compile(text)(randn(3), randn(3), randn(3))


def test_text_can_not_keep_the_compiler_busy() -> None:
    """Loops that are unrolled a billion times, and two hundred loops in each other."""

    def nested(kinds: list[str]) -> str:
        body = '%0 = "nest.load"(%a) {at = #weft.dims<>} : (memref<f64>) -> tensor<f64>\n'
        body += '"nest.store"(%0, %a) {at = #weft.dims<>} : (tensor<f64>, memref<f64>) -> ()\n'
        for k, kind in enumerate(kinds):
            attrs = f'{{var = "v{k}", range = #weft.dims<0, 1000>, kind = "{kind}"}}'
            body = f'"nest.for"() ({{\n{body}"nest.yield"() : () -> ()\n}}) {attrs} : () -> ()\n'
        head = '"nest.kernel"() <{access = ["update"]}> ({\n^bb0(%a : memref<f64>):\n'
        return f'{head}{body}"nest.yield"() : () -> ()\n}}) : () -> ()\n'

    before = weft.get_limits()
    try:
        weft.set_limits(seconds=0.3)
        with pytest.raises(weft.errors.LimitExceeded, match="compile would take more than"):
            weft.compile(nested(["unrolled"] * 3))(np.zeros(()))
        weft.set_limits(seconds=before.seconds)
        with pytest.raises(weft.errors.LimitExceeded, match="deeply"):
            weft.compile(nested(["serial"] * 300))(np.zeros(()))
    finally:
        weft.set_limits(seconds=before.seconds)


PLAIN = '%x = "nest.load"(%a) {at = #weft.dims<@p, @q>} : (!a) -> !f\n"nest.yield"(%x) : (!f) -> ()'
LOOPED = """%z = "weft.constant"() {value = 0.5 : f64, dtype = f64} : () -> !f
%x = "nest.for"(%z) ({
^bb0(%t : !f):
  %y = "nest.load"(%a) {at = #weft.dims<@p, @r>} : (!a) -> !f
  %u = "weft.sub"(%y, %t) : (!f, !f) -> !f
  "nest.yield"(%u) : (!f) -> ()
}) {var = "r", range = #weft.dims<0, @q>, kind = "serial"} : (!f) -> !f
"nest.yield"(%x) : (!f) -> ()"""
WALKS = [
    # the kind of the loop around, the ranges of p and q, the body, what combines, lanes, steps, other attributes
    ("serial", "0, n, 0, m", PLAIN, "sum", 8, 2, ""),
    ("serial", "0, n, 0, m", PLAIN, "max", 16, 0, ", width = 4 : i64"),
    ("serial", "0, n, 0, min(@p, m)", PLAIN, "sum", 4, 2, ""),
    ("serial", "1, n, 0, min(@p, m)", PLAIN, "sum", 0, 3, ""),
    ("vector", "0, n, 1, m", PLAIN, "sum", 16, 1, ""),
    ("vector", "0, n, 1, m", PLAIN, "sum", 0, 2, ""),
    ("jammed", "0, n, 0, m", PLAIN, "argmax", 1, 0, ""),
    ("serial", "0, n, 1, m", PLAIN, "argmin", 1, 0, ", width = 2 : i64"),
    ("vector", "0, n, 0, min(@p, m)", PLAIN, "argmax", 0, 0, ""),
    ("serial", "0, n, 0, min(@p, m)", PLAIN, "argmin", 1, 0, ""),
    ("serial", "0, n, 0, m", PLAIN, "argmax", 1, 0, ", position = #weft.dims<@q*n + @p>"),
    ("serial", "0, n, 0, m", LOOPED, "sum", 8, 2, ", width = 4 : i64"),
    ("jammed", "0, n, 0, m", LOOPED, "sum", 4, 4, ""),
    ("serial", "0, n, 0, m", LOOPED, "argmax", 1, 0, ""),
]


def walk_text(around: str, ranges: str, body: str, combine: str, lanes: int, steps: int, others: str) -> str:
    is_place = combine.startswith("arg")
    number = "tensor<i64>" if is_place else "!f"
    lanes_of = f"vector<{lanes}xf64>" if lanes and not is_place else number
    last = f'%s = "nest.across"(%w) {{combine = "{combine}"}} : ({lanes_of}) -> !f' if lanes_of != number else ""
    stored = "%s" if last else "%w"
    return f"""!a = memref<?x?xf64, #weft.dims<n, m>>
!o = memref<?x{"i64" if is_place else "f64"}, #weft.dims<k>>
!f = tensor<f64>
"nest.kernel"() <{{sym_name = "walked", access = ["read", "write"]}}> ({{
^bb0(%a : !a, %o : !o):
  "nest.for"() ({{
    %w = "nest.walk"() ({{
      {body}
    }}) {{vars = ["p", "q"], range = #weft.dims<{ranges}>, kind = "{"vector" if lanes else "serial"}",
      combine = ["{combine}"], steps = array<i64: {steps}>{others}}} : () -> {lanes_of}
    {last}
    "nest.store"({stored}, %o) {{at = #weft.dims<@i>}} : ({number}, !o) -> ()
    "nest.yield"() : () -> ()
  }}) {{var = "i", range = #weft.dims<0, k>, kind = "{around}"}} : () -> ()
  "nest.yield"() : () -> ()
}}) : () -> ()
"""


def test_walks_of_every_shape() -> None:
    """Ranges that depend on one another or begin later, lanes in lanes, bodies with loops: the interpreter's bits."""
    graphs = [parse_nest(walk_text(*case)) for case in WALKS]
    for graph, native, case in zip(graphs, compile_nests(graphs), WALKS, strict=True):
        kernel = native_kernel(graph, native)[1]
        for n, m in ((2, 3), (5, 19), (9, 40)):
            x = np.floor(randn(n, m, dtype="f8") * 3) / 2
            found, wanted = ([x, np.zeros(5, "i8" if case[3].startswith("arg") else "f8")] for _ in range(2))
            nests.run(graph, wanted, {})
            kernel(*found)
            assert found[1].tobytes() == wanted[1].tobytes(), (case, n, m)
