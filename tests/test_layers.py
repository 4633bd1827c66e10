"""Test that imports point down only, files stay short, and nothing executes text or unpickles data."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "ir": set(),
    "frontend": {"ir"},
    "passes": {"ir"},
    "backends": {"ir"},
    "runtime": {"ir", "frontend", "passes", "backends"},
    "api": {"ir", "frontend", "passes", "backends", "runtime"},
}
SOURCES = sorted(path for layer in ALLOWED for path in (ROOT / layer).rglob("*.py"))
HEAVY = {"dask", "lark", "networkx", "scipy"}


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def imported_layers(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """The layers that a file of `package` (as a path below the root) imports, with the line."""
    here = package[1:] if package[0] == "api" else package
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ("weft", *here)[: len(here) + 2 - node.level]
            names = [".".join(filter(None, (*base, node.module, alias.name))) for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "weft":
                layer = parts[1] if len(parts) > 1 and parts[1] in ALLOWED else "api"
                yield layer, node.lineno


def wrong_imports(tree: ast.AST, path: Path) -> list[str]:
    package = path.relative_to(ROOT).parent.parts
    own = layer_of(path)
    found = imported_layers(tree, package)
    return [f"{path}:{line}: {own} imports {layer}" for layer, line in found if layer not in ALLOWED[own] | {own}]


def test_there_are_sources() -> None:
    assert len(SOURCES) > 30 and {layer_of(p) for p in SOURCES} == set(ALLOWED)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    assert not wrong_imports(ast.parse(path.read_text()), path)


@pytest.mark.parametrize(
    ("path", "text", "wrong"),
    [
        ("ir/graph.py", "from ..passes.fuse import Fuse", True),
        ("ir/graph.py", "from .. import passes", True),
        ("ir/graph.py", "import weft.passes", True),
        ("ir/graph.py", "from weft import jit", True),
        ("ir/graph.py", "from .types import TensorType", False),
        ("backends/llvm/elements/ops.py", "from ....ir.graph import Graph", False),
        ("backends/llvm/elements/ops.py", "from ....passes.fuse import Fuse", True),
        ("backends/llvm/elements/ops.py", "from ...reference import run", False),
        ("passes/fuse.py", "def f():\n    from ..backends import reference", True),
        ("api/__init__.py", "from .runtime import cache", False),
        ("runtime/cache.py", "from .. import jit", True),
        ("runtime/cache.py", "from ..passes.fuse import Fuse", False),
    ],
)
def test_a_wrong_import_is_seen(path: str, text: str, wrong: bool) -> None:
    assert bool(wrong_imports(ast.parse(text), ROOT / path)) == wrong


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_are_short_and_say_what_they_do(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 500
    assert ast.get_docstring(ast.parse(text)) or not text.strip()


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_runs_text(path: Path) -> None:
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("eval", "exec"), node.lineno
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [a.name for a in node.names] + [getattr(node, "module", None) or ""]
            assert not {"pickle", "marshal", "shelve", "dill"} & {n.split(".")[0] for n in names}, node.lineno


def test_heavy_packages_are_loaded_only_where_they_are_needed() -> None:
    """Importing Weft, reading a kernel and running the passes load neither lark nor networkx nor scipy."""
    code = (
        "import sys, weft, weft.ir.parser, weft.ir.source, weft.ir.verify, weft.ir.dot, weft.passes.pipeline\n"
        "weft.compile('kernel f(x: f32[n]) -> f32[n] { return x + 1 }')\n"
        f"print(sorted({HEAVY!r} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_weft_loads_no_compiler() -> None:
    """The first kernel loads the compiler; `import weft` takes little longer than NumPy's import."""
    code = "import sys, weft\nprint([m for m in sys.modules if m.startswith('weft.passes')])\nweft.registry.stats()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_calls_come_in_at_one_place() -> None:
    """Whatever Weft makes callable is called through `runtime/calling.py`."""
    found = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if layer_of(path) in ("api", "runtime")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name == "__call__"
    ]
    assert found == ["runtime/calling.py"]
