"""Test the rules of the house: imports point down only, files stay short, names are unique, nothing runs text."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
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
PREDICATES = ("is_", "are_", "has_", "can_", "may_")
OLD_DOCSTRING = re.compile(r"\bin[;,:] .*\bout\b")  # "a graph in; out a plan" was a rule once
HEAVY = {"dask", "lark", "networkx", "scipy"}


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def imported_layers(nodes: Iterable[ast.AST], package: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """The layers that a file of `package` (as a path below the root) imports, with the line."""
    here = package[1:] if package[0] == "api" else package
    for node in nodes:
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


def wrong_imports(nodes: Iterable[ast.AST], path: Path) -> list[str]:
    package = path.relative_to(ROOT).parent.parts
    own = layer_of(path)
    found = imported_layers(nodes, package)
    return [f"{path}:{line}: {own} imports {layer}" for layer, line in found if layer not in ALLOWED[own] | {own}]


def test_there_are_sources() -> None:
    assert len(SOURCES) > 30 and {layer_of(p) for p in SOURCES} == set(ALLOWED)


@cache
def nodes() -> dict[str, list[ast.AST]]:
    """The nodes of each file that the rules below are about."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.Import, ast.ImportFrom, ast.Call)
    found = {}
    for path in SOURCES:
        tree = ast.parse(path.read_text())
        found[str(path.relative_to(ROOT))] = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return found


def test_imports_point_down() -> None:
    assert not [wrong for name, found in nodes().items() for wrong in wrong_imports(found, ROOT / name)]


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
    assert bool(wrong_imports(ast.walk(ast.parse(text)), ROOT / path)) == wrong


def test_files_are_short_and_say_what_they_do() -> None:
    for path in SOURCES:
        assert len(path.read_text().splitlines()) <= 500, path
    for name, (module, *_) in nodes().items():
        assert isinstance(module, ast.Module) and (ast.get_docstring(module) or not module.body), name


def test_nothing_runs_text() -> None:
    for name, found in nodes().items():
        called = {n.func.id for n in found if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        assert not called & {"eval", "exec"}, name
        assert not imported_packages(found) & {"pickle", "marshal", "shelve", "dill"}, name


def test_values_are_records_or_our_named_tuples() -> None:
    assert not [name for name, found in nodes().items() if "dataclasses" in imported_packages(found)]


def imported_packages(found: Iterable[ast.AST]) -> set[str]:
    imports = [node for node in found if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = [alias.name for node in imports for alias in node.names]
    return {n.split(".")[0] for n in (*names, *(getattr(node, "module", None) or "" for node in imports))}


def test_no_two_classes_have_one_name() -> None:
    counts = Counter(n.name for found in nodes().values() for n in found if isinstance(n, ast.ClassDef))
    assert not [name for name, count in counts.items() if count > 1]


def test_docstrings_say_what_something_does() -> None:
    for name, found in nodes().items():
        for node in found:
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                first = (ast.get_docstring(node) or "").partition("\n\n")[0].replace("\n", " ")
                assert not OLD_DOCSTRING.search(first), (name, first)


def test_predicates_change_nothing() -> None:
    """A function that is named like a question does not assign to the object that is asked."""
    for name, found in nodes().items():
        for node in found:
            if isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith(PREDICATES):
                assert not changes_self(node), (name, node.name)


def changes_self(function: ast.FunctionDef) -> bool:
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [p.value for t in targets for p in ast.walk(t) if isinstance(p, ast.Attribute)]
            if any(isinstance(part, ast.Name) and part.id == "self" for part in parts):
                return True
    return False


@pytest.mark.parametrize("text", ["self.a = 1", "self.a[0] += 1", "self.a, b = 1, 2"])
def test_a_change_is_seen(text: str) -> None:
    (function,) = ast.parse(f"def is_so(self):\n    {text}").body
    assert isinstance(function, ast.FunctionDef) and changes_self(function)


def test_heavy_packages_are_loaded_only_where_they_are_needed() -> None:
    """Importing Weft, reading a kernel and running the passes load neither lark nor networkx nor scipy."""
    code = (
        "import sys, weft, weft.ir.text.parser, weft.ir.source, weft.ir.verifier.verify\n"
        "import weft.ir.text.dot, weft.passes.pipeline\n"
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
        if isinstance(node, ast.FunctionDef) and node.name == "__call__" and not node.decorator_list  # no overloads
    ]
    assert found == ["runtime/calling.py"]
