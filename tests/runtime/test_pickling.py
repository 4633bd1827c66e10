"""Test that jitted functions, kernels, modules, expressions and registered kernels can be pickled and copied.

Text and options travel, never machine code. A pickle is read by another process, too.
"""

from __future__ import annotations

import copy
import inspect
import multiprocessing
import os
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import weft
from weft.errors import WeftError

from . import cloudpickle

X = np.arange(5.0)
NEST = """
!a = memref<?xf64, #weft.dims<n>>
"nest.kernel"() <{access = ["update"]}> ({
^bb0(%a : !a):
  "nest.for"() ({
    %0 = "nest.load"(%a) {at = #weft.dims<@i>} : (!a) -> tensor<f64>
    %1 = "weft.add"(%0, %0) : (tensor<f64>, tensor<f64>) -> tensor<f64>
    "nest.store"(%1, %a) {at = #weft.dims<@i>} : (tensor<f64>, !a) -> ()
    "nest.yield"() : () -> ()
  }) {var = "i", range = #weft.dims<0, n>, kind = "serial"} : () -> ()
  "nest.yield"() : () -> ()
}) : () -> ()
"""
TEXT = """
fn sq(x) = x * x
# Squares, and one more.
kernel squares(x: f64[n]) -> f64[n] { return sq(x) + 1 }
kernel halves(x: f64[n]) -> f64[n] { return x / 2 }
"""


@weft.jit
def wave(x: Any, k: float = 2.0) -> Any:
    """Make a wave."""
    return np.sin(x) * k


def slow(x: Any) -> Any:
    return np.exp(x) + 1


fast = weft.jit(slow, whole=True)


@weft.jit
def factorial(n: Any, stop: int = 1) -> Any:
    return n * factorial(n - 1) if n > stop else n


class Scale:
    def __init__(self, factor: float) -> None:
        self.factor = factor
        self.kept = weft.jit(self.plain)

    @weft.jit
    def apply(self, x: Any) -> Any:
        return x * self.factor

    def plain(self, x: Any) -> Any:
        return x + self.factor


def again(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))


def expression() -> Any:
    a, b = weft.tensor("a", "f64[n]"), weft.tensor("b", "f64[n]")
    squares = weft.compile(TEXT).squares
    parts = np.stack([a, b])[0] + weft.ops.square(a) * a.shape[0] + squares(a) + 1.0
    return weft.compile((parts, b.max()), arguments=[b, a], name="parts")


def test_functions_that_can_be_imported_are_pickled_by_name() -> None:
    for function in (wave, Scale.apply, factorial):
        for protocol in (2, 4, 5):
            assert pickle.loads(pickle.dumps(function, protocol)) is function
        assert pickle.loads(cloudpickle.dumps(function)) is function
    made = again(fast)
    assert made is not fast and made._whole and made.__wrapped__ is slow
    np.testing.assert_array_equal(made(X), slow(X))
    with pytest.raises((AttributeError, pickle.PicklingError), match="local object"):
        pickle.dumps(weft.jit(lambda x: x))


def test_methods_are_pickled_with_their_object() -> None:
    scale = Scale(3.0)
    for way in (again, copy.deepcopy):
        made = way(scale)
        made.factor = 4.0
        assert made.apply(X).tolist() == (X * 4).tolist()
        assert made.kept(X).tolist() == (X + 4).tolist()
    assert again(scale.apply)(X).tolist() == (X * 3).tolist()
    assert copy.copy(scale).kept is scale.kept


def test_functions_look_like_what_they_wrap() -> None:
    assert str(inspect.signature(wave)) == "(x: 'Any', k: 'float' = 2.0) -> 'Any'"
    assert (wave.__doc__, wave.__module__, wave.__qualname__) == ("Make a wave.", __name__, "wave")
    assert wave.__annotations__ == wave.__wrapped__.__annotations__ != {}
    assert Scale.apply.__qualname__ == "Scale.apply"

    def marked(x: Any) -> Any:
        return x

    marked.tag = _source = marked._source = "mine"  # type: ignore[attr-defined]
    made: Any = weft.jit(marked)
    assert made.tag == _source and made(1.5) == 1.5


def test_kernels_modules_and_expressions_are_pickled_as_text(tmp_path: Path) -> None:
    (tmp_path / "base.weft").write_text("fn twice(x) = x + x\n")
    (tmp_path / "main.weft").write_text(
        'import "base.weft"\nkernel four(x: f64[n]) -> f64[n] { return twice(twice(x)) }'
    )
    files = [weft.load(tmp_path), weft.load(tmp_path / "main.weft", watch=True)]
    text, made = weft.compile(TEXT), expression()
    printed, network = weft.compile(made.lower(X, X).ir()), weft.compile(wave.lower(X).to_networkx())
    sent = pickle.dumps([files, text, text.squares, made, printed, network, weft.kernels.softmax, weft.ops.exp])
    files[1].close()
    for name in ("base.weft", "main.weft"):
        (tmp_path / name).unlink()
    assert len(sent) < 20_000  # no machine code
    got, text2, squares, made2, printed2, network2, softmax, exp = pickle.loads(sent)
    assert [m.four(X).tolist() for m in got] == [(4 * X).tolist()] * 2
    assert text2.squares is squares and list(text2) == ["squares", "halves"]
    assert squares(X).tolist() == (X * X + 1).tolist()
    assert again(text).squares is squares  # a process that gets many pickles compiles the kernel once
    for each in (made, made2, printed2):
        first, second = each(X + 1, X)
        np.testing.assert_array_equal(first, X + X * X * 5 + (X * X + 1) + 1)
        assert second == 5.0
    assert repr(made2) == repr(made) == "<weft kernel parts(b: f64[n], a: f64[n])>"
    np.testing.assert_array_equal(network2(X, 2.0), wave(X))
    assert softmax is weft.kernels.softmax and exp(0.0) == 1.0
    for each in (wave, text, text.squares, made, printed, softmax):
        assert copy.copy(each) is each and copy.deepcopy(each) is each


def test_nests_and_registries() -> None:
    for backend in ("llvm", "reference"):
        nest, x = weft.compile(NEST, backend=backend), np.arange(3.0)
        again(nest)(x)
        assert x.tolist() == [0.0, 2.0, 4.0]
    from weft.runtime.registry import Registry

    with pytest.raises(WeftError, match="a registry can't be pickled"):
        pickle.dumps(Registry())
    assert again(weft.registry) is weft.registry


def cubed(x: Any) -> Any:
    return x * x * x


def test_registered_kernels_are_pickled() -> None:
    text = '@impl(op="fourth")\nkernel fourth(x: f64[n]) -> f64[n] { return x * x * x * x }'
    with weft.registry.scope():
        module = weft.compile(text)
        weft.registry.register("cubed", "f64 -> f64", cubed)
        sent = pickle.dumps(weft.registry.implementations())
        whole = pickle.dumps(module.fourth)
        weft.registry.unregister("cubed")
        weft.registry.unregister("fourth")
        for each in pickle.loads(sent):
            weft.registry.register(each)
        assert weft.ops.cubed(X).tolist() == (X**3).tolist()
        assert weft.ops.fourth(X).tolist() == (X**4).tolist()
        weft.registry.unregister("fourth")
        assert pickle.loads(whole)(X).tolist() == (X**4).tolist()
        assert weft.ops.fourth(X).tolist() == (X**4).tolist()  # its `@impl` was registered again


OTHER = """
import pickle, sys
import numpy as np
sys.path.insert(0, sys.argv[2])
import weft
with open(sys.argv[1], "rb") as file:
    functions, rest = pickle.load(file)
main, twice, mine = functions
assert main.__module__ == "__main__" and main(4.0) == 24.0 and main(4.0, 4.0) == 4.0
assert twice(np.arange(3.0)).tolist() == [0.0, 2.0, 4.0]
import mine_module
assert mine is mine_module.mine and mine(2.0) == 5.0
squares, made, softmax = rest
assert squares(np.arange(3.0)).tolist() == [1.0, 2.0, 5.0]
assert made(np.arange(2.0), np.arange(2.0))[1] == 1.0
assert softmax is weft.kernels.softmax
print("read")
"""


def test_another_process_reads_a_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of `__main__` go by name with pickle, and by value with cloudpickle."""
    (tmp_path / "mine_module.py").write_text("import weft\n\n@weft.jit\ndef mine(x):\n    return x + 3.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    main = ModuleType("__main__")
    exec(inspect.getsource(factorial.__wrapped__), {**globals(), **vars(main)}, vars(main))
    monkeypatch.setitem(sys.modules, "__main__", main)
    function = main.factorial
    plain = function.__wrapped__
    plain.__globals__["factorial"] = function
    function.__module__ = plain.__module__ = "__main__"
    import mine_module  # type: ignore[import-not-found]

    assert again(function) is function
    sent = [function, weft.jit(lambda x: x + x), mine_module.mine]
    rest = [weft.compile(TEXT).squares, expression(), weft.kernels.softmax]
    (tmp_path / "all.pickle").write_bytes(cloudpickle.dumps((sent, rest)))
    monkeypatch.undo()
    root = Path(cloudpickle.__file__).parents[2]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", OTHER, str(tmp_path / "all.pickle"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths})
    assert done.stdout == "read\n", done.stderr


def test_a_pool_maps_functions_and_kernels() -> None:
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(wave, [0.0, 1.0]) == [wave(0.0), wave(1.0)]
        found = pool.map(weft.compile(TEXT).halves, [X, X + 2])
    assert [f.tolist() for f in found] == [(X / 2).tolist(), (X / 2 + 1).tolist()]


def test_dask_gets_what_determines_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def normalized(x: Any) -> Any:
        if hasattr(x, "__dask_tokenize__"):
            return x.__dask_tokenize__()
        if isinstance(x, (tuple, list)):
            return tuple(map(normalized, x))
        if inspect.isfunction(x) and x.__name__ == "<lambda>":
            return x.__code__.co_code, x.__code__.co_consts
        return getattr(x, "__qualname__", None) or repr(x)

    stand_in: Any = ModuleType("dask.base")
    stand_in.normalize_token = normalized
    monkeypatch.setitem(sys.modules, "dask", ModuleType("dask"))
    monkeypatch.setitem(sys.modules, "dask.base", stand_in)
    local = [weft.jit(lambda x: x + 1) for _ in range(2)]
    pairs = [(wave, wave), (weft.compile(TEXT), weft.compile(TEXT)), (expression(), expression()), tuple(local)]
    pairs.append((weft.compile(TEXT).squares, again(weft.compile(TEXT).squares)))
    for one, other in pairs:
        assert normalized(one) == normalized(other)
        assert " at 0x" not in str(normalized(one))
    others = [wave, fast, weft.jit(lambda x: x + 2), local[0], *weft.compile(TEXT)._kernels.values()]
    assert len({str(normalized(f)) for f in others}) == len(others)


def test_bytecode_of_another_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Running it would crash the interpreter; what is found by its name has no bytecode in the pickle."""
    local = weft.jit(lambda x: x + 1)
    with monkeypatch.context() as other:
        other.setattr(sys, "version_info", (3, 99, 0))
        pickles = [cloudpickle.dumps(each) for each in (local, fast, wave)]
    with pytest.raises(TypeError, match=r"was pickled by value in Python 3\.99, and its bytecode can't run"):
        pickle.loads(pickles[0])
    assert pickle.loads(pickles[2]) is wave and np.array_equal(pickle.loads(pickles[1])(X), slow(X))
