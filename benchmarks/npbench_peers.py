"""Run the variants of an NPBench program that the suite ships for Numba, JAX, Pythran and DaCe.

`npbench.py` starts this file as a script, once for each variant, with the interpreter in which the peer is installed:

    python npbench_peers.py PATH PROGRAM --variant numba_np --preset S --repeat 5 --built FOLDER

FOLDER keeps the libraries of Pythran and DaCe, which take long to build, for the next run.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:1] = [str(Path(__file__).parent.parent)]  # this folder's npbench.py would hide the suite's package

from benchmarks.npbench_programs import arguments, described, fastest, is_same, program, timed  # noqa: E402

PEERS = {
    "numba": ("numba_o", "numba_op", "numba_opr", "numba_n", "numba_np", "numba_npr"),
    "jax": ("jax", "jax_lib"),
    "pythran": ("pythran",),
    "dace": ("dace",),
}
"""Modules of peers, and the endings of the files that the suite has for them."""
PYTHRAN = ("-m", "pythran.run", "-DUSE_XSIMD", "-fopenmp", "-march=native", "-ffast-math")  # the suite's own options


def main() -> None:
    """Measure one variant and print the seconds of its fastest call as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("name")
    parser.add_argument("--variant", required=True)
    parser.add_argument("--preset", default="S")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--built", type=Path, required=True)
    given = parser.parse_args()
    sys.path.insert(0, str(given.path.absolute()))
    info = described(given.path, given.name)
    with contextlib.redirect_stdout(sys.stderr):
        found = measured(info, given)
    print(json.dumps(found))


def variants(path: Path, name: str, peers: set[str]) -> list[str]:
    """Return the variants of a program that the suite has for some peers."""
    info = described(path, name)
    stem = path / "npbench" / "benchmarks" / info["relative_path"] / info["module_name"]
    return [ending for peer in PEERS if peer in peers for ending in PEERS[peer] if Path(f"{stem}_{ending}.py").exists()]


def measured(info: dict[str, Any], given: argparse.Namespace) -> dict[str, Any]:
    """Run a variant; all but JAX's, which return results in ways of their own, must leave what NumPy leaves."""
    values, variant, repeat = arguments(info, given.preset), given.variant, given.repeat
    args = [values[n] for n in info["input_args"]]
    built = given.built.absolute() / given.name
    built.mkdir(parents=True, exist_ok=True)
    if variant.startswith("jax"):
        return {"seconds": jax_seconds(program(info, variant), args, repeat), "problem": ""}
    if variant == "pythran":
        runs = [pythran_program(info, given.path, built)]
    elif variant == "dace":
        runs = dace_programs(info, given.name, values, built)
    else:
        runs = [program(info, variant)]
    right = [run for run in runs if leaves_same(run, info, args)]
    if not right:
        return {"problem": "gives something else"}
    return {"seconds": min(fastest(lambda run=run: timed(run, args)[0][1], repeat) for run in right), "problem": ""}  # type: ignore[misc]


def leaves_same(run: Callable[..., Any], info: dict[str, Any], args: list[Any]) -> bool:
    """Compare a variant's results and changed arguments with NumPy's; a result may come as an array of one element."""
    (wanted, _), theirs = timed(program(info), args)
    (result, _), ours = timed(run, args)
    changed = [(a, b) for n, a, b in zip(info["input_args"], theirs, ours, strict=True) if n in info["output_args"]]
    if not all(is_same(a, b) for a, b in changed):
        return False
    if wanted is None or result is None:
        return bool(changed) or wanted is result
    pairs = zip(wanted, result, strict=False) if isinstance(wanted, (tuple, list)) else [(wanted, result)]
    return all(is_same(a, b) or bool(np.allclose(a, b, rtol=1e-5)) for a, b in pairs)


def jax_seconds(run: Callable[..., Any], args: list[Any], repeat: int) -> float:
    """Time a variant for JAX, with the arguments already where JAX wants them."""
    import jax

    jax.config.update("jax_enable_x64", True)

    def call() -> float:
        given = [jax.numpy.array(x) if isinstance(x, np.ndarray) else copy.deepcopy(x) for x in args]
        jax.block_until_ready([x for x in given if isinstance(x, jax.Array)])
        start = time.perf_counter()
        jax.block_until_ready(run(*given))
        return time.perf_counter() - start

    call()  # compiles
    return fastest(call, repeat)


def pythran_program(info: dict[str, Any], path: Path, built: Path) -> Callable[..., Any]:
    """Compile a program with Pythran, unless an earlier run did, and import it."""
    name = f"{info['module_name']}_pythran"
    library = built / f"{name}.so"
    source = path / "npbench" / "benchmarks" / info["relative_path"] / f"{name}.py"
    if not library.exists():
        subprocess.run([sys.executable, *PYTHRAN, str(source), "-o", str(library)], check=True, stdout=sys.stderr)
    spec = importlib.util.spec_from_file_location(name, library)
    if spec is None or spec.loader is None:
        raise ImportError(f"{library} can't be imported")
    spec.loader.exec_module(made := importlib.util.module_from_spec(spec))
    found: Callable[..., Any] = getattr(made, info["func_name"])
    return found


def dace_programs(info: dict[str, Any], name: str, values: dict[str, Any], built: Path) -> list[Callable[..., Any]]:
    """Compile a program with DaCe in the suite's three ways; it wants sizes and arguments by name."""
    os.chdir(built)  # where DaCe keeps what it builds
    os.environ["DACE_compiler_use_cache"] = "1"  # noqa: SIM112
    from npbench.infrastructure import Benchmark, generate_framework  # type: ignore[import-not-found]

    framework, bench = generate_framework("dace_cpu"), Benchmark(name)
    names, sizes = info["input_args"], {n: values[n] for n in framework.params(bench)}
    made = [compiled for compiled, _ in framework.implementations(bench)]
    return [lambda *args, run=run: run(**dict(zip(names, args, strict=True)), **sizes) for run in made]  # type: ignore[misc]


if __name__ == "__main__":
    main()
