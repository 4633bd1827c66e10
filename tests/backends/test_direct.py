"""Compare LLVM called directly with LLVM through llvmlite's Python layer: the same code and the same errors."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import llvmlite
import numpy as np
import pytest
import weft
from weft.backends.llvm.engine import llvm_c, module, target
from weft.backends.llvm.engine.llvm_c import Direct
from weft.backends.llvm.engine.llvmlite_api import Wrapped
from weft.backends.llvm.engine.module import Effort

BAD = "define i32 @f(i32 %x) {\n  ret i32 %y\n}\n"
UNVERIFIED = "define i32 @f(i32 %x) {\n  %y = add i32 %y, 1\n  ret i32 %y\n}\n"


@pytest.fixture(params=["direct", "wrapped"])
def llvm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Direct | Wrapped]:
    path = llvm_c.find()
    assert path is not None, "the version that the tests run with is one that is known"
    made = Direct(path) if request.param == "direct" else Wrapped()
    monkeypatch.setattr(target, "_started", lambda: made)
    yield made


def test_both_ways_make_the_same_code(monkeypatch: pytest.MonkeyPatch) -> None:
    text = weft.jit(lambda x: np.exp(x).sum(axis=-1)).lower(np.ones((3, 40), "f")).llvm()
    path, found = llvm_c.find(), []
    assert path is not None
    for made in (Direct(path), Wrapped()):
        monkeypatch.setattr(target, "_started", lambda made=made: made)
        told = (made.triple(), made.cpu(), made.features())
        own = f"{text}; {type(made).__name__}\n"  # what the suite has translated before it does not translate again
        codes = [module.compile_module(own, target.host(), effort=effort).object_code for effort in Effort]
        found.append((told, codes, module.assembly(text, target.host())))
    assert found[0] == found[1]
    assert len(set(found[0][1])) == 3 and found[0][0][2]["avx2"] in (True, False)


@pytest.mark.parametrize("text", [BAD, UNVERIFIED], ids=["bad", "unverified"])
def test_text_that_is_wrong_is_refused(llvm: Direct | Wrapped, text: str) -> None:
    for _ in range(3):
        with pytest.raises(RuntimeError, match=r"%y|dominate"):
            module.compile_module(text, target.x86(3))


def test_a_machine_that_is_not_there_is_refused(llvm: Direct | Wrapped) -> None:
    with pytest.raises(RuntimeError, match=r"triple|target"):
        llvm.machine("nowhere-at-all", "", "", 2)


def test_one_code_generator_serves_all_modules_and_keeps_nothing_of_them(llvm: Direct | Wrapped) -> None:
    text = "define float @f(float %x) {{\n  %y = {} float %x, 1.5\n  ret float %y\n}}\n; {} {}\n"
    asked = [text.format(op, type(llvm).__name__, k) for k in range(2) for op in ("fadd", "fmul")]  # nothing is cached
    codes = [module.compile_module(each, target.x86(3)).object_code for each in asked]
    assert codes[:2] == codes[2:] and codes[0] != codes[1]
    assert len(llvm._machines) == 1


def test_a_library_that_is_not_known_is_left_to_its_own_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert llvm_c.find() is not None
    monkeypatch.setattr(llvmlite, "__version__", "99.0.0")
    assert llvm_c.find() is None
    assert isinstance(target._started.__wrapped__(), Wrapped)


def test_a_first_compile_imports_only_what_it_needs() -> None:
    code = (
        "import sys, numpy; of_numpy = set(sys.modules); import weft\n"
        "weft.compile('kernel f(x: float[n]) -> float[n] { return exp(x) }').f(numpy.ones(3))\n"
        "slow = ('llvmlite.binding', 'llvmlite.ir', 'lark', 'networkx', 'importlib.resources', 'hashlib')\n"
        "print([m for m in slow if m in sys.modules and m not in of_numpy])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
