"""Run NPBench's programs under `weft.jit`, compare them with NumPy, and write docs/programs-performance.md.

    python benchmarks/npbench.py PATH --preset S
    python benchmarks/npbench.py PATH --preset S --peers --write

PATH is a checkout of the suite (spcl/npbench). Each program runs in a process of its own, untouched; results and
changed arguments must be NumPy's. The times are the best of several calls, after one that compiles. With `--peers` the
suite's own variants for Numba and JAX run as well, where these are installed, each in a process of its own.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import importlib.util
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

PAGE = Path(__file__).parent.parent / "docs" / "programs-performance.md"
TOLERANCE = 1e-5
WARM = 4  # more calls before the timed ones: a plan is split where pieces are cut
SECONDS = 600  # for one program
PEER_SECONDS = 120  # for one variant of a peer
PEERS = {"numba": ("numba_o", "numba_op", "numba_opr", "numba_n", "numba_np", "numba_npr"), "jax": ("jax", "jax_lib")}
"""Modules of peers, and the endings of the files that the suite has for them."""


def main() -> None:
    """Run all programs, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a checkout of the suite")
    parser.add_argument("--preset", default="S", help="the sizes to run: S, M, L or paper")
    parser.add_argument("--only", nargs="*", default=[], help="names of programs")
    parser.add_argument("--repeat", type=int, default=5, help="calls to take the best of")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--peers", action="store_true", help="run Numba's and JAX's variants, too")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one and given.peer:
        print(json.dumps(measure_peer(given.path, given.one, given.preset, given.repeat, given.peer)))
        return
    if given.one:
        print(json.dumps(measure(given.path, given.one, given.preset, given.repeat)))
        return
    names = given.only or sorted(p.stem for p in (given.path / "bench_info").glob("*.json"))
    rows = []
    for k, name in enumerate(names):
        print(f"[{k + 1}/{len(names)}] {name:<20}", end="", flush=True)
        rows.append(row := in_process(given.path, name, given.preset, given.repeat))
        if given.peers and "numpy" in row:
            row["peers"] = {k: v for k in variants(given.path, name) if (v := peer_seconds(given, name, k)) is not None}
        print(told(row), flush=True)
    print(summary(rows))
    if given.write:
        PAGE.write_text(page(rows, given.preset))


def in_process(path: Path, name: str, preset: str, repeat: int, *more: str, seconds: int = SECONDS) -> dict[str, Any]:
    """Measure a program in a process of its own."""
    command = [sys.executable, __file__, str(path), "--one", name, "--preset", preset, "--repeat", str(repeat), *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"name": name, "problem": f"took longer than {seconds} s"}
    try:
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"name": name, "problem": (done.stderr.strip().splitlines() or ["nothing was printed"])[-1]}
    return found


def measure(path: Path, name: str, preset: str, repeat: int) -> dict[str, Any]:
    """Run one program in NumPy and under Weft; return the times and whether all results are equal."""
    import weft

    sys.path.insert(0, str(path))
    info = json.loads((path / "bench_info" / f"{name}.json").read_text())["benchmark"]
    function, args = prepared(info, preset)
    jitted = weft.jit(function)
    names, changed = info["input_args"], set(info["output_args"])
    wanted, theirs = timed(function, args)
    compile_seconds, (found, ours) = time.perf_counter(), timed(jitted, args)
    compile_seconds = time.perf_counter() - compile_seconds
    again, once_more = timed(jitted, args)
    problem = ""
    for k, (result, given) in enumerate(((found, ours), (again, once_more))):
        if not is_same(wanted[0], result[0]):
            problem = f"call {k + 1} returns something else"
        for n, a, b in zip(names, theirs, given, strict=True):
            if not is_same(a, b):
                problem = f"call {k + 1} leaves another {n}" + ("" if n in changed else ", which is only read")
    for _ in range(WARM):
        timed(jitted, args)
    numpy_seconds = min([wanted[1], *(timed(function, args)[0][1] for _ in range(repeat - 1))])
    seconds = min([again[1], *(timed(jitted, args)[0][1] for _ in range(repeat - 1))])
    report = jitted.explain()
    return {
        "name": name, "problem": problem, "numpy": numpy_seconds, "weft": seconds, "first": compile_seconds,
        "native": report.native_pieces, "whole": report.is_whole, "cut": report.cuts[0].text if report.cuts else "",
    }  # fmt: skip


def variants(path: Path, name: str) -> list[str]:
    """Return the variants of a program that the suite has for the peers that are installed."""
    info = json.loads((path / "bench_info" / f"{name}.json").read_text())["benchmark"]
    stem = path / "npbench" / "benchmarks" / info["relative_path"] / info["module_name"]
    installed = (peer for peer in PEERS if importlib.util.find_spec(peer) is not None)
    return [ending for peer in installed for ending in PEERS[peer] if Path(f"{stem}_{ending}.py").exists()]


def peer_seconds(given: argparse.Namespace, name: str, variant: str) -> float | None:
    """Return the seconds of a peer's variant, or None if it fails, as some do with newer versions of the peer."""
    found = in_process(
        given.path, name, given.preset, given.repeat, "--peer", variant, seconds=PEER_SECONDS
    )  # fmt: skip
    return None if found.get("problem") else found["seconds"]


def measure_peer(path: Path, name: str, preset: str, repeat: int, variant: str) -> dict[str, Any]:
    """Run a peer's variant of a program; Numba must leave what NumPy leaves, JAX returns it in ways of its own."""
    sys.path.insert(0, str(path))
    info = json.loads((path / "bench_info" / f"{name}.json").read_text())["benchmark"]
    wait: Callable[[Any], Any] = lambda result: result  # noqa: E731
    convert = wait
    if variant.startswith("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        wait = jax.block_until_ready
        convert = jax.numpy.array
    _, args = prepared(info, preset)
    peer, _ = prepared(info, preset, variant)
    is_array = [isinstance(x, np.ndarray) for x in args]
    seconds = math.inf
    for _ in range(repeat + 1):  # the first call compiles
        given = [convert(x) if known else copy.deepcopy(x) for x, known in zip(args, is_array, strict=True)]
        wait([x for x, known in zip(given, is_array, strict=True) if known])
        start = time.perf_counter()
        result = wait(peer(*given))
        seconds = min(seconds, time.perf_counter() - start)
    problem = ""
    if not variant.startswith("jax"):
        wanted, theirs = timed(prepared(info, preset)[0], args)
        ours = copy.deepcopy(args)
        result = peer(*ours)
        outputs = [(a, b) for n, a, b in zip(info["input_args"], theirs, ours, strict=True) if n in info["output_args"]]
        same = all(is_same(a, b) for a, b in outputs) and (result is None or is_same(wanted[0], result))
        problem = "" if same else "gives something else"
    return {"name": name, "problem": problem, "seconds": seconds}


def prepared(info: dict[str, Any], preset: str, variant: str = "numpy") -> tuple[Callable[..., Any], list[Any]]:
    """Import a program and make its arguments."""
    place = f"npbench.benchmarks.{info['relative_path'].replace('/', '.')}"
    values: dict[str, Any] = dict(info["parameters"][preset])
    if (init := info.get("init")) is not None:
        start = getattr(importlib.import_module(f"{place}.{info['module_name']}"), init["func_name"])
        made = start(*[values[n] for n in init["input_args"]])
        made = made if len(init["output_args"]) > 1 else (made,)
        values |= dict(zip(init["output_args"], made, strict=True))
    function = getattr(importlib.import_module(f"{place}.{info['module_name']}_{variant}"), info["func_name"])
    return function, [values[n] for n in info["input_args"]]


def timed(function: Callable[..., Any], args: Sequence[Any]) -> tuple[tuple[Any, float], list[Any]]:
    """Call a function on copies; return its result, the seconds it took, and the copies."""
    given = copy.deepcopy(list(args))
    start = time.perf_counter()
    result = function(*given)
    return (result, time.perf_counter() - start), given


def is_same(a: Any, b: Any) -> bool:
    """Tell whether two results are equal but for rounding."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(is_same, a, b))
    if isinstance(a, np.ndarray):
        if type(a) is not type(b) or a.dtype != b.dtype or a.shape != b.shape:
            return False
        if a.dtype.kind not in "fc":
            return bool(np.array_equal(a, b))
        scale = float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0)) or 1.0
        return bool(np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True))
    if isinstance(a, (float, complex, np.floating, np.complexfloating)):
        return type(a) is type(b) and bool(np.isclose(a, b, rtol=TOLERANCE, equal_nan=True))
    return type(a) is type(b) and (a is b or not hasattr(a, "__eq__") or bool(np.all(a == b)) or is_object(a))


def is_object(x: Any) -> bool:
    """Tell whether a value has no comparison of its own, such as a generator of random numbers."""
    return type(x).__eq__ is object.__eq__


def told(row: dict[str, Any]) -> str:
    if "numpy" not in row:
        return f"FAILED: {row['problem']}"
    kind = "one piece" if row["whole"] else f"{row['native']} pieces" if row["native"] else "Python"
    times = f"{1e3 * row['numpy']:9.2f} ms -> {1e3 * row['weft']:9.2f} ms  {row['numpy'] / row['weft']:6.2f}x"
    peer, seconds = best_peer(row)
    versus = f"  {seconds / row['weft']:6.2f}x {peer}" if "peers" in row else ""
    return f"{times}{versus}  first {row['first']:5.1f} s  {kind:<10}  {row['problem'] or 'same'}"


def best_peer(row: dict[str, Any]) -> tuple[str, float]:
    """Return the fastest of NumPy and the peers, and its seconds."""
    every = {"numpy": row["numpy"], **row.get("peers", {})}
    name = min(every, key=lambda k: every[k])
    return name, every[name]


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Say how many programs are right, and how much faster they are on average."""
    right = [r for r in rows if "numpy" in r and not r["problem"]]
    ratios = [r["numpy"] / r["weft"] for r in right]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0.0
    whole = sum(r["whole"] for r in right)
    versus = [best_peer(r)[1] / r["weft"] for r in right if "peers" in r]
    ahead = math.exp(sum(map(math.log, versus)) / len(versus)) if versus else 0.0
    peers = f"; {ahead:.2f} times the best peer's, {sum(v < 0.9 for v in versus)} below 0.9 of it" if versus else ""
    return (
        f"{len(right)} of {len(rows)} programs are right, {whole} in one native piece, "
        f"{sum(bool(r['native']) for r in right)} with a native piece; {mean:.2f} times NumPy's speed on average, "
        f"{sum(r < 0.95 for r in ratios)} slower than NumPy{peers}"
    )


def machine() -> str:
    """Name the processor and its cores."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")
    return f"{model}, {os.cpu_count()} cores"


def page(rows: Sequence[dict[str, Any]], preset: str) -> str:
    """Write the table as a page."""
    lines = [
        "# How fast programs run",
        "",
        "`benchmarks/npbench.py` runs the NumPy programs of NPBench (the public suite spcl/npbench), untouched, under "
        "`weft.jit`.",
        f"Sizes: preset {preset}. Times are the best of several calls. The average is a geometric mean. Machine: "
        f"{machine()}.",
        "",
        f"{summary(rows)}.",
        "",
    ]
    has_peers = any("peers" in r for r in rows)
    if has_peers:
        lines += [
            "`over peer` is the time of the fastest of NumPy, Numba and JAX, as the suite ships them, over ours.",
            "",
        ]
    lines += [
        f"| program | NumPy, ms | Weft, ms | ratio |{' best peer | over peer |' * has_peers} first call, s | runs as | "
        "first cut |",
        f"| --- | ---: | ---: | ---: |{' --- | ---: |' * has_peers} ---: | --- | --- |",
    ]
    for r in rows:
        if "numpy" not in r:
            lines.append(f"| {r['name']} | | | |{' | |' * has_peers} | {r['problem']} | |")
            continue
        kind = "one piece" if r["whole"] else f"{r['native']} pieces" if r["native"] else "Python"
        kind += f"; {r['problem']}" if r["problem"] else ""
        cut = "" if r["whole"] else r["cut"].replace("|", "\\|")
        peer, seconds = best_peer(r)
        versus = f" {peer} | {seconds / r['weft']:.2f} |" * has_peers
        times = (
            f"{1e3 * r['numpy']:.2f} | {1e3 * r['weft']:.2f} | {r['numpy'] / r['weft']:.2f} |{versus} {r['first']:.1f}"
        )
        lines.append(f"| {r['name']} | {times} | {kind} | {cut} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
