"""Test what IPython asks for, with a shell that records it: magics, HTML and short errors."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import weft
from weft.bench.results import BenchResults, Outcome
from weft.ir.support.tracebacks import short_traceback
from weft.tracebacks import shorten_in

CELL = """\
# Doubles an <array>.
kernel double(x: f32[n]) -> f32[n] { return x + x }

kernel thrice(x: f32[n]) -> f32[n] = 3 * x
"""
VOID = {"br", "img", "hr", "input", "meta", "link"}


class Shell:
    """The part of IPython's shell that Weft uses."""

    def __init__(self) -> None:
        self.user_ns: dict[str, Any] = {"In": ["", "%%weft"]}
        self.magics_manager = SimpleNamespace(magics={"cell": {}})
        self.custom_exceptions: tuple[type, ...] = ()
        self.shown: list[str] = []

    def register_magic_function(self, function: Any, magic_kind: str, magic_name: str) -> None:
        self.magics_manager.magics[magic_kind][magic_name] = function

    def set_custom_exc(self, kinds: tuple[type, ...], handler: Any) -> None:
        self.custom_exceptions, self.handler = kinds, handler

    def push(self, names: dict[str, Any]) -> None:
        self.user_ns |= names

    def _showtraceback(self, kind: type, error: BaseException, lines: list[str]) -> None:
        self.shown += lines

    def cell(self, line: str, text: str) -> Any:
        try:
            return self.magics_manager.magics["cell"]["weft"](line, text)
        except self.custom_exceptions as error:
            return self.handler(self, type(error), error, error.__traceback__)


class Balanced(HTMLParser):
    """Fails on tags that are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open += [] if tag in VOID else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def shown(thing: Any) -> str:
    """Return the words of something's HTML."""
    return " ".join(Balanced(thing._repr_html_()).words)


@pytest.fixture
def shell() -> Shell:
    made = Shell()
    weft.load_ipython_extension(made)  # type: ignore[attr-defined]
    return made


def test_a_cell_defines_kernels(shell: Shell) -> None:
    module = shell.cell("", CELL)
    x = np.arange(3, dtype=np.float32)
    assert list(module) == ["double", "thrice"]
    np.testing.assert_array_equal(shell.user_ns["double"](x), x + x)
    shell.cell("layers", CELL)
    np.testing.assert_array_equal(shell.user_ns["layers"].thrice(x), 3 * x)
    with pytest.raises(weft.errors.ValueProblem, match="the name of a module"):
        shell.cell("two words", CELL)


def test_the_extension_can_be_unloaded(shell: Shell) -> None:
    weft.unload_ipython_extension(shell)  # type: ignore[attr-defined]
    assert shell.magics_manager.magics["cell"] == {}


def test_an_error_is_its_message_with_a_caret(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.cell("", "kernel f(x: f32[n]) -> f32[n] {\n    return x +\n}")
    text = "\n".join(shell.shown)
    assert "SyntaxProblem:" in text and "Cell In[1]:2:" in text and "^" in text and "File" not in text
    with pytest.raises(weft.errors.UnknownName) as caught:
        shell.cell("", "kernel f(x: f32[n]) -> f32[n] { return y }")
    lines = caught.value._render_traceback_()
    assert len(lines) == 3 and "unknown name 'y'" in lines[0]
    with pytest.raises(weft.errors.TypeProblem) as other:
        weft.load(3)  # type: ignore[arg-type]
    assert "weft.load(3)" in other.value._render_traceback_()[-1]  # it has no place of its own
    monkeypatch.setenv("WEFT_TRACEBACK", "1")
    assert any("frontend/language" in line for line in caught.value._render_traceback_())


def test_a_handler_of_someone_else_stays(shell: Shell) -> None:
    shell.custom_exceptions = (ZeroDivisionError,)
    shorten_in(shell)
    assert shell.custom_exceptions == (ZeroDivisionError,)


def test_things_show_themselves(shell: Shell) -> None:
    x = np.ones((4, 3), np.float32)

    @weft.jit
    def wave(x: Any) -> Any:
        """Make a <wave>."""
        return np.exp(x) @ x.T

    module = shell.cell("", CELL)
    wave(x)
    assert "Make a <wave>." in shown(wave) and "def wave" in shown(wave) and "wave(x" in shown(wave)
    assert "Doubles an <array>." in shown(module.double) and "3 * x" not in shown(module.double)
    assert "Doubles an <array>." in shown(module) and "kernel thrice" in shown(module.thrice)
    assert "exp" in shown(wave.explain(x)) and "promote-dtypes" in shown(wave.lower(x))
    assert "choice" in shown(weft.selection.report()) and "1 in one piece" in shown(wave.explain())
    outcome = Outcome("rows", "softmax", 1000, "f32", {"Weft": 1e-6, "NumPy": 2e-6}, memory=5e-7)
    assert "2.00" in shown(BenchResults({"cpu": "some"}, 2, ("Weft", "NumPy"), (outcome,)))


def test_help_shows_the_comment_above_a_kernel() -> None:
    module = weft.compile(
        "# Adds one.\n# Fast.\nkernel f(x: f32[n]) -> f32[n] = x + 1\nkernel g(x: f32[n]) -> f32[n] = x"
    )
    assert module.f.__doc__ == "f(x: f32[n]) -> f32[n]\n\nAdds one.\nFast."
    assert module.g.__doc__ == "g(x: f32[n]) -> f32[n]"
    x = weft.tensor("x", "f32[n]")
    assert weft.compile(x + 1).__doc__ == "expression(x)"
    assert type(module.f).__doc__.startswith("A callable kernel.")


SCRIPT = """\
import weft, sys
assert sys.excepthook is not sys.__excepthook__
def outer():
    weft.compile("kernel f(x: f32[n]) -> f32[n] { return y }")
outer()
"""


@pytest.mark.parametrize("full", [False, True])
def test_a_script_shows_only_its_own_frames(full: bool, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_TRACEBACK", "1" if full else "0")
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True)
    assert done.returncode == 1 and "in outer" in done.stderr and "unknown name 'y'" in done.stderr
    assert ("parse_module" in done.stderr) is full
    assert full or len(done.stderr.splitlines()) <= 9


def test_the_cause_of_a_kernels_failure_is_shown() -> None:
    error = weft.errors.KernelFailure("the kernel failed")
    error.__cause__ = ZeroDivisionError("by zero")
    text = short_traceback(error, None)
    assert text.startswith("ZeroDivisionError: by zero") and text.endswith("KernelFailure: the kernel failed")
