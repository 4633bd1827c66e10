"""Run NPBench under `weft.jit`, compare it with NumPy and its peers, and write docs/programs-performance.md.

    python benchmarks/npbench.py PATH --preset S
    python benchmarks/npbench.py PATH --preset S --peers --figures peers.json --write
    python benchmarks/npbench.py PATH --preset S --figures peers.json --again --write

PATH is a checkout of the suite (spcl/npbench). Each program runs in a process of its own, untouched; results and
changed arguments must be NumPy's. The times are the best of several calls, after one that compiles.

With `--peers` the suite's own variants for Numba, JAX, Pythran and DaCe run as well, each in a process of its own and
with a time limit, if the peer is installed beside this Python or beside one of `--python`. `--figures` keeps their
times in a file, and runs only what is not in it. `--again` runs the fastest one or two peers of each program once more,
so that their times are from the same minute as ours, until `--minutes` are over.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:1] = [str(Path(__file__).parent.parent)]  # this file's name would hide the suite's package

from benchmarks.npbench_peers import PEERS, variants  # noqa: E402
from benchmarks.npbench_programs import arguments, described, fastest, is_same, program, timed  # noqa: E402

PAGE = Path(__file__).parent.parent / "docs" / "programs-performance.md"
PEER_SCRIPT = Path(__file__).parent / "npbench_peers.py"
WARM = 4  # more calls before the timed ones: a plan is split where pieces are cut
SECONDS = 600  # for one program
PEER_SECONDS = 60  # for one variant of a peer
NEAR = 3  # times the fastest peer: others may be faster in another run
START = time.perf_counter()
BAR = 30  # characters
CHAOS = "differs, as NumPy does after one rounding of its arguments"
NAMES = {"numba": "Numba", "jax": "JAX", "pythran": "Pythran", "dace": "DaCe"}


def main() -> None:
    """Run all programs, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, help="a checkout of the suite")
    parser.add_argument("--preset", default="S", help="the sizes to run: S, M, L or paper")
    parser.add_argument("--only", nargs="*", default=[], help="names of programs")
    parser.add_argument("--repeat", type=int, default=5, help="calls to take the best of")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    parser.add_argument("--peers", action="store_true", help="run the variants for Numba, JAX, Pythran and DaCe, too")
    parser.add_argument("--peer-seconds", type=int, default=PEER_SECONDS, help="the time limit of one variant")
    parser.add_argument("--python", nargs="*", default=[], help="more interpreters in which peers are installed")
    parser.add_argument("--figures", type=Path, help="a file that keeps the peers' times")
    parser.add_argument("--again", action="store_true", help="run the fastest peers in that file once more")
    parser.add_argument("--minutes", type=float, default=math.inf, help="after which no peer runs again")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.path, given.one, given.preset, given.repeat)))
        return
    names = given.only or sorted(p.stem for p in (given.path / "bench_info").glob("*.json"))
    interpreters = found_peers([sys.executable, *given.python]) if given.peers or given.again else {}
    rows = []
    for k, name in enumerate(names):
        show_progress(k, len(names), name)
        command = [__file__, str(given.path), "--one", name, "--preset", given.preset, "--repeat", str(given.repeat)]
        rows.append(row := {"name": name, **in_process([sys.executable, *command], SECONDS)})
        if (given.peers or given.figures) and "numpy" in row:
            row["peers"] = peer_times(given, name, interpreters)
        show_progress(k + 1, len(names), "")
        print(f"[{k + 1}/{len(names)}] {name:<24}{told(row)}", flush=True)
    print(summary(rows))
    if given.write:
        PAGE.write_text(page(rows, given.preset))


def show_progress(done: int, total: int, name: str) -> None:
    """Draw a bar on stderr if that is a terminal; without a name, remove it."""
    if not sys.stderr.isatty():
        return
    bar = "#" * (BAR * done // total)
    print(f"\r\x1b[K[{bar:<{BAR}}] {done}/{total} {name}" if name else "\r\x1b[K", end="", file=sys.stderr, flush=True)


def in_process(command: Sequence[str], seconds: float) -> dict[str, Any]:
    """Run a command that prints a line of JSON; end it and all that it started when its time is over."""
    running = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, errors = running.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)  # compilers that a peer started, too
        running.communicate()
        return {"problem": f"took longer than {seconds:g} s"}
    try:
        found: dict[str, Any] = json.loads(output.splitlines()[-1])
    except (IndexError, ValueError):
        return {"problem": (errors.strip().splitlines() or ["nothing was printed"])[-1][:200]}
    return found


def found_peers(interpreters: Sequence[str]) -> dict[str, str]:
    """Return the first interpreter in which each peer is installed."""
    code = f"import importlib.util as u; print([p for p in {list(PEERS)} if u.find_spec(p)])"
    found: dict[str, str] = {}
    for interpreter in interpreters:
        printed = subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=True).stdout
        found = {peer: interpreter for peer in PEERS if repr(peer) in printed} | found
    return found


def peer_times(given: argparse.Namespace, name: str, interpreters: dict[str, str]) -> dict[str, dict[str, Any]]:
    """Return the time of each variant of a program, or its problem: from the file, or measured now and kept there."""
    kept = json.loads(given.figures.read_text()) if given.figures and given.figures.exists() else {}
    known: dict[str, dict[str, Any]] = kept.setdefault(given.preset, {}).setdefault(name, {})
    wanted = [v for v in variants(given.path, name, set(interpreters)) if given.peers and v not in known]
    if given.again and time.perf_counter() < 60 * given.minutes + START:
        wanted += contenders(known)
    built = given.figures.with_suffix(".built") if given.figures else Path(tempfile.mkdtemp())
    for variant in wanted:
        peer = peer_of(variant)
        if peer not in interpreters:
            raise SystemExit(f"{variant} of {name} is to run again, but {peer} is not installed; name its --python")
        command = [interpreters[peer], str(PEER_SCRIPT), str(given.path), name, "--variant", variant]
        command += ["--preset", given.preset, "--repeat", str(given.repeat), "--built", str(built)]
        found = in_process(command, given.peer_seconds)
        if "seconds" in found or variant not in known:
            known[variant] = found
    if given.figures and wanted:
        given.figures.write_text(json.dumps(kept, indent=1))
    return known


def contenders(known: dict[str, dict[str, Any]]) -> list[str]:
    """Return the fastest variant of the fastest peer, and of the second one if it is not far behind."""
    fastest_of: dict[str, tuple[float, str]] = {}
    for variant, seconds in sorted((v, r["seconds"]) for v, r in known.items() if "seconds" in r):
        peer = peer_of(variant)
        fastest_of[peer] = min(fastest_of.get(peer, (math.inf, "")), (seconds, variant))
    ranked = sorted(fastest_of.values())[:2]
    return [variant for seconds, variant in ranked if seconds <= NEAR * ranked[0][0]]


def peer_of(variant: str) -> str:
    return next(peer for peer in PEERS if variant in PEERS[peer])


def measure(path: Path, name: str, preset: str, repeat: int) -> dict[str, Any]:
    """Run one program in NumPy and under Weft; return the times and whether all results are equal."""
    import weft

    sys.path.insert(0, str(path))
    info = described(path, name)
    values = arguments(info, preset)
    function, args = program(info), [values[n] for n in info["input_args"]]
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
    is_chaotic = bool(problem) and is_chaotic_in(function, args, theirs)
    for _ in range(WARM):
        timed(jitted, args)
    numpy_seconds = min(wanted[1], fastest(lambda: timed(function, args)[0][1], repeat - 1))
    seconds = min(again[1], fastest(lambda: timed(jitted, args)[0][1], repeat - 1))
    report = jitted.explain()
    return {
        "problem": "" if is_chaotic else problem, "note": CHAOS if is_chaotic else "",
        "numpy": numpy_seconds, "weft": seconds, "first": compile_seconds,
        "native": report.native_pieces, "whole": report.is_whole, "cut": report.cuts[0].text if report.cuts else "",
    }  # fmt: skip


def is_chaotic_in(function: Any, args: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Tell whether NumPy leaves other arguments itself if each number it is given changes by one rounding."""
    near = [np.nextafter(x, np.inf) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x for x in args]
    _, left = timed(function, near)
    return not all(is_same(a, b) for a, b in zip(wanted, left, strict=True))


def told(row: dict[str, Any]) -> str:
    """Return a program's row for the terminal, with the peers that failed."""
    if "numpy" not in row:
        return f"FAILED: {row['problem']}"
    kind = "one piece" if row["whole"] else f"{row['native']} pieces" if row["native"] else "Python"
    times = f"{1e3 * row['numpy']:9.2f} ms -> {1e3 * row['weft']:9.2f} ms  {row['numpy'] / row['weft']:6.2f}x"
    peer, seconds = best_peer(row)
    versus = f"  {seconds / row['weft']:6.2f}x {peer:<9}" if "peers" in row else ""
    outcome = row["problem"] or row.get("note") or "same"
    failed = "".join(f"\n      {peer} failed: {problem}" for peer, problem in failures(row).items())
    return f"{times}{versus}  first {row['first']:5.1f} s  {kind:<10}  {outcome}{failed}"


def failures(row: dict[str, Any]) -> dict[str, str]:
    """Return the variants that gave no time, with the reason."""
    return {variant: r["problem"] for variant, r in row.get("peers", {}).items() if "seconds" not in r}


def best_peer(row: dict[str, Any]) -> tuple[str, float]:
    """Return the fastest of NumPy and the peers, and its seconds."""
    peers = {variant: r["seconds"] for variant, r in row.get("peers", {}).items() if "seconds" in r}
    every = {"numpy": row["numpy"], **peers}
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


def and_so_on(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


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
    run = {variant for r in rows for variant in r.get("peers", {})}
    tried = [NAMES[peer] for peer in PEERS if run.intersection(PEERS[peer])]
    if has_peers:
        lines += [
            f"`over peer` is the time of the fastest of NumPy, {and_so_on(tried)}, as the suite ships them, over ours.",
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
        kind += f"; {remark}" if (remark := r["problem"] or r.get("note")) else ""
        cut = "" if r["whole"] else r["cut"].replace("|", "\\|")
        peer, seconds = best_peer(r)
        versus = f" {peer} | {seconds / r['weft']:.2f} |" * has_peers
        times = (
            f"{1e3 * r['numpy']:.2f} | {1e3 * r['weft']:.2f} | {r['numpy'] / r['weft']:.2f} |{versus} {r['first']:.1f}"
        )
        lines.append(f"| {r['name']} | {times} | {kind} | {cut} |")
    if failed := [f"{r['name']} ({', '.join(failures(r))})" for r in rows if failures(r)]:
        lines += ["", f"These variants failed, gave something else or ran over the time limit: {'; '.join(failed)}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
