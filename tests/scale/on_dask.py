"""Test kernels on dask arrays: `make scale` runs this, because it needs dask, distributed, zarr and xarray."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cloudpickle
import dask
import dask.array as da
import numpy as np
import pytest
import weft
from distributed import Client, LocalCluster

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 64))


@weft.jit
def standardize(x: Any) -> Any:
    return (x - x.mean(axis=0)) / x.std(axis=0)


@weft.jit
def several(x: Any, *, a: Any = 2.0) -> Any:
    return np.exp(x) * a, x.sum(axis=1), x.max(), np.argmax(x, axis=0)


SOFTMAX = weft.compile(
    "kernel softmax(x: float[..., m]) -> float[..., m] {\n"
    "    let e = exp(x - max(x, axis=-1, keepdims=true))\n"
    "    return e / sum(e, axis=-1, keepdims=true)\n}"
).softmax
WEIGHTS = np.linspace(0, 1, 64)


def same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check_all() -> None:
    x = da.from_array(X, chunks=(160, 64))
    assert same(standardize(x).compute(), standardize(X))
    for lazy, one in zip(dask.compute(*several(x, a=3.0)), several(X, a=3.0), strict=True):
        assert same(lazy, one)
    assert same(SOFTMAX(x).compute(), SOFTMAX(X))
    assert same(weft.jit(lambda x: x * WEIGHTS)(x).compute(), X * WEIGHTS)
    assert same(weft.kernels.softmax(x).compute(), weft.kernels.softmax(X))
    t = weft.tensor("x", "f64[n, m]")
    assert same(weft.compile(np.sqrt(t * t))(x).compute(), np.sqrt(X * X))
    stencil = weft.jit(lambda x: np.gradient(x, axis=0)[1:] - np.diff(x, axis=0))
    assert same(stencil(da.from_array(X, chunks=(160, 20))).compute(), stencil(X))
    square = da.from_array(X[:64], chunks=(16, 10))
    assert same(weft.jit(lambda x: x + x.T)(square).compute(), X[:64] + X[:64].T)


@pytest.mark.parametrize("scheduler", ["sync", "threads"])
def test_local_schedulers(scheduler: str) -> None:
    with dask.config.set(scheduler=scheduler):
        check_all()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    options: dict[str, Any] = {"memory_limit": "1GB", "dashboard_address": None}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster) as made:
        yield made


@contextmanager
def started(folder: Any, workers: int, options: list[str]) -> Iterator[Client]:
    """As on a real cluster: processes of their own on loopback, which share nothing with the client but Weft."""
    file = str(folder / f"scheduler{len(options)}.json")
    common = [sys.executable, "-m", "dask"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = [*common, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file]
    worker = [*common, "worker", "--scheduler-file", file, "--no-dashboard", *options]
    processes = [subprocess.Popen(scheduler, **quiet), *(subprocess.Popen(worker, **quiet) for _ in range(workers))]
    try:
        with Client(scheduler_file=file, timeout=60) as made:
            made.wait_for_workers(workers, timeout=60)
            yield made
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


BOUNDED = """
import sys, dask.array as da, numpy as np, weft
from distributed import Client
options = {"memory_limit": 1 << 30, "dashboard_address": None}
with Client(n_workers=1, threads_per_worker=2, processes=False, **options) as client:
    if sys.argv[1] == "plugin":
        client.register_plugin(weft.dask.WorkerPlugin(threads=3, memory=1 << 20))
    x = da.ones((1000, 4096), chunks=(125, 4096))
    assert x.map_blocks(weft.kernels.softmax, dtype=x.dtype, meta=np.empty((0, 0))).sum().compute() == 1000
    if sys.argv[1] == "plugin":
        assert weft.kernels.softmax(x).sum().compute() == 1000
    info = weft.memory_info()
    assert info.held <= info.limit and info.fresh > 0
    print(weft.get_threads(), info.limit)
"""


@pytest.mark.parametrize("case", ["plain", "nanny", "plugin"])
def test_threads_and_memory_of_workers(case: str) -> None:
    """Without any setting, and whoever calls the first kernel: here a task that is not Weft's own."""
    cores, env = len(os.sched_getaffinity(0)), {**os.environ}
    env.pop("OMP_NUM_THREADS", None)
    if case == "nanny":
        env["OMP_NUM_THREADS"] = "1"  # as dask's nannies set it
    done = subprocess.run([sys.executable, "-c", BOUNDED, case], env=env, capture_output=True, text=True)
    wanted = {"plain": (max(1, cores // 2), 1 << 26), "nanny": (1, 1 << 26), "plugin": (3, 1 << 20)}[case]
    assert tuple(map(int, done.stdout.split())) == wanted, (done.stdout, done.stderr[-2000:])


def test_processes(client: Client) -> None:
    check_all()
    found = client.run(lambda: (weft.get_threads(), weft.memory_info()))
    assert all(threads == 1 and info.limit <= 10**9 // 16 for threads, info in found.values())
    client.register_plugin(weft.dask.WorkerPlugin(threads=2, memory=1 << 20))
    assert set(client.run(lambda: weft.get_threads()).values()) == {2}


def test_a_scheduler_and_workers_that_were_started_apart(tmp_path: Any) -> None:
    with started(tmp_path, 2, ["--nthreads", "2", "--memory-limit", "1GB"]):
        check_all()


def test_fuse_makes_kernels_of_existing_code(client: Client) -> None:
    x = da.from_array(X, chunks=(160, 64))
    chain, sorted_ = np.sqrt(np.sin(x) ** 2 + 1), (np.exp(x) * 2 + 1).map_blocks(np.sort) + 1
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    rows = {"chain": (chain, 28), "softmax": (e / e.sum(axis=-1, keepdims=True), 14), "sorted": (sorted_, 21)}
    for name, (lazy, functions) in rows.items():
        plain = lazy.compute()
        with weft.dask.fuse() as report:
            (optimized,) = dask.optimize(lazy)  # a cluster's scheduler would do it without this
        assert np.allclose(optimized.compute(), plain, rtol=1e-14), name
        assert (report.fused, report.functions) == (7, functions), (name, str(report))
        with dask.config.set(scheduler="sync"), weft.dask.fuse():
            assert np.allclose(lazy.compute(), plain, rtol=1e-14), name
    masked = da.ma.masked_greater(x, 0)
    with weft.dask.fuse():
        assert (np.exp(masked) + 1).compute(scheduler="sync").mask.sum() == (X > 0).sum()


def test_a_worker_is_killed_midway(client: Client) -> None:
    x = da.random.default_rng(1).normal(size=(4000, 400), chunks=(256, 400))
    lazy = standardize(x)
    one = standardize(x.compute())
    future = client.compute(lazy)
    first = next(iter(client.scheduler_info()["workers"]))
    client.run(os._exit, 1, workers=[first], on_error="ignore")
    assert same(future.result(), one)


def boom(block: Any, block_info: Any = None) -> Any:
    raise RuntimeError("a block was read")


def test_nothing_is_computed() -> None:
    """A source that raises when a block is read, through everything that may be done with a lazy result."""
    xr = pytest.importorskip("xarray")
    x = da.from_array(X, chunks=(160, 64)).map_blocks(boom, dtype=np.float64, meta=np.empty((0, 0)))
    captured = weft.jit(lambda y: y * x.sum(axis=0) if isinstance(y, float) else y * x)
    stencil = weft.jit(lambda x: np.diff(x, axis=0))
    lazy = [standardize(x), *several(x, a=3.0), weft.dask.apply(SOFTMAX, x, bits="free", reload=True), stencil(x)]
    lazy += [captured(x), weft.dask.apply(standardize, weft.dask.align(standardize, x), bits="require")]
    lazy += [weft.kernels.softmax(x), x.map_blocks(SOFTMAX, dtype=X.dtype, meta=np.empty((0, 0)))]
    array = xr.DataArray(x, dims=("row", "column"))
    for mode in ("parallelized", "allowed"):
        lazy.append(xr.apply_ufunc(SOFTMAX, array, dask=mode, output_dtypes=[X.dtype]).data)
    assert "passes over the data: 3" in weft.dask.explain(standardize, x)
    with weft.dask.fuse() as report:
        dask.optimize(np.sqrt(np.exp(x) + 1), *lazy)
    assert repr(report)
    for each in lazy:
        assert isinstance(each, da.Array) and repr(each) and each._repr_html_() and each.dtype is not None
        assert dask.base.tokenize(each) == dask.base.tokenize(each)
        assert cloudpickle.loads(cloudpickle.dumps(each)).shape == each.shape
        with pytest.raises(RuntimeError, match="a block was read"):
            each.compute(scheduler="sync")


def test_captured_dask_arrays_are_inputs() -> None:
    x, hidden = da.from_array(X, chunks=(160, 64)), da.from_array(WEIGHTS, chunks=32)
    scaled = weft.jit(lambda x: (x * hidden).sum(axis=0))
    assert same(weft.dask.apply(scaled, x, bits="require").compute(), weft.jit(lambda x: (x * WEIGHTS).sum(axis=0))(X))
    one = X * WEIGHTS
    for function in (lambda x: hidden * x, lambda x: np.multiply(hidden, x), lambda x: hidden[None] * x):
        assert same(weft.jit(function)(x).compute(), one)
    unread = hidden.map_blocks(boom, dtype=np.float64, meta=np.empty(0))
    assert isinstance(weft.jit(lambda x: x * unread)(x), da.Array)
    with pytest.raises(weft.errors.TraceProblem, match=r"dask array|from outside"):
        weft.jit(lambda x: x * hidden, whole=True)(X)


def test_one_task_for_each_chunk_of_elementwise_work() -> None:
    x = da.zeros((1600, 64), chunks=(160, 64))
    (lazy,) = dask.optimize(weft.jit(lambda x: np.exp(x) + 1)(x))
    graph = dict(lazy.__dask_graph__())
    assert len([k for k in graph if isinstance(k, tuple) and k[0] == lazy.name]) == 10
    assert "finish: 1 task," in weft.dask.explain(standardize, X)
    assert len(graph) == 10 and "finish: 10 tasks" in weft.dask.explain(weft.jit(lambda x: np.exp(x) + 1), x)


def test_bits() -> None:
    x = da.from_array(X, chunks=(100, 30))
    with pytest.raises(weft.errors.ValueProblem, match="align"):
        weft.dask.apply(standardize, x, bits="require")
    assert np.allclose(standardize(x).compute(), standardize(X), rtol=1e-12)
    assert np.allclose(weft.dask.apply(standardize, x, bits="free").compute(), standardize(X), rtol=1e-12)
    aligned = weft.dask.align(standardize, x)
    assert same(weft.dask.apply(standardize, aligned, bits="require").compute(), standardize(X))
    assert same(weft.dask.apply(standardize, aligned, split_every=2, reload=True).compute(), standardize(X))


def looped(x: Any) -> Any:
    for i in range(3):
        x[i] = x[i] * 2
    return x


REFUSED: dict[str, Any] = {  # functions that Python would run with one machine's arrays, by what the error says
    "scan": lambda x: np.cumsum(x, axis=0),
    "numpy.sort": lambda x: np.sort(x, axis=0) + 1,
    "numpy.linalg.svd": lambda x: np.linalg.svd(x)[0],
    "item assignment": looped,
    "float": lambda x: float(x.sum()),
    "a branch": lambda x: x * 2 if x.sum() > 0 else x,
    "left end": lambda x: x - x[0],
}


def test_errors() -> None:
    x = da.from_array(X, chunks=(160, 64)).map_blocks(boom, dtype=np.float64, meta=np.empty((0, 0)))
    for text, function in REFUSED.items():
        with pytest.raises(weft.errors.WeftError, match=text) as caught:
            weft.jit(function)(x)
        assert caught.value.hint
    with pytest.raises(weft.errors.Unsupported, match="unknown"):
        standardize(da.from_array(X, chunks=160)[X[:, 0] > 0][da.from_array(X[X[:, 0] > 0], chunks=160)[:, 1] > 0])
    with pytest.raises(weft.errors.TypeProblem, match="out="):
        standardize(x, out=np.empty(X.shape))
    with pytest.raises(weft.errors.TypeProblem, match="takes a kernel"):
        weft.dask.apply(np.exp, x)
    with pytest.raises(weft.errors.ValueProblem, match="split_every"):
        weft.dask.apply(standardize, x, split_every=1)
    with pytest.raises(weft.errors.TypeProblem, match=r"weft\.dask\.explain"):
        standardize.lower(x)
    masked = x.map_blocks(np.ma.masked_invalid, dtype=np.float64, meta=np.ma.empty((0, 0)))
    for other in (masked, x.astype(object), x.map_blocks(boom, dtype="f8,i4", meta=np.empty((0, 0), "f8,i4"))):
        with pytest.raises(weft.errors.TypeProblem, match=r"MaskedArray|dtype"):
            standardize(other)
    read = da.from_array(X, chunks=(160, 64))
    for wrong, text in ((lambda b: b[:5], "has the shape"), (lambda b: b[0], "has the shape"), (list, "is a list")):
        blocks = read.map_blocks(wrong, dtype=np.float64, meta=np.empty((0, 0)))
        with pytest.raises((weft.errors.ShapeProblem, weft.errors.TypeProblem), match=text):
            standardize(blocks).compute(scheduler="sync")


def check_shapes() -> None:
    """Chunks that are empty, in Fortran order, not contiguous or read-only; arrays in containers."""
    empty, strange = ((0, 160, 0, 840, 0), (64,)), ((0, 300, 700), (0, 50, 14, 0))
    exp = weft.jit(lambda x: np.exp(x) + 1)
    for chunks in (empty, strange):
        x = da.from_array(X, chunks=chunks)
        assert same(exp(x).compute(), exp(X)) and np.allclose(standardize(x).compute(), standardize(X), rtol=1e-12)
    for shape, chunks in (((0, 64), ((0, 0), (32, 32))), ((5, 0), ((3, 2), (0,)))):
        x, none = da.zeros(shape, chunks=chunks), np.zeros(shape)
        assert same(exp(x).compute(), none) and same(weft.jit(lambda x: x.sum(axis=0))(x).compute(), none.sum(axis=0))
    turned = da.from_array(np.asfortranarray(X), chunks=(160, 64))
    backwards, transposed = da.from_array(X, chunks=(160, 64))[::-1], da.from_array(X.T.copy(), chunks=(20, 300)).T
    for x, one in ((turned, X), (backwards, X[::-1]), (transposed, X)):
        assert same(exp(x).compute(), exp(one)) and np.allclose(standardize(x).compute(), standardize(one), rtol=1e-12)
    assert same(weft.dask.apply(standardize, turned, bits="require").compute(), standardize(X))
    made = weft.jit(lambda p, *, a=1.0: {"m": (p["x"] * a, p["x"].sum(axis=0)), "n": [p["y"][0].max()]})
    one = made({"x": X, "y": (X,)}, a=3.0)
    many = made({"x": turned, "y": (turned,)}, a=3.0)
    for a, b in zip((*many["m"], *many["n"]), (*one["m"], *one["n"]), strict=True):
        assert isinstance(a, da.Array) and same(a.compute(), b)


def test_shapes_and_containers() -> None:
    check_shapes()


def test_zarr_and_xarray(tmp_path: Any) -> None:
    xr = pytest.importorskip("xarray")
    da.from_array(X, chunks=(160, 64)).to_zarr(str(tmp_path / "in.zarr"))
    x = da.from_zarr(str(tmp_path / "in.zarr"))
    standardize(x).to_zarr(str(tmp_path / "out.zarr"))
    assert same(da.from_zarr(str(tmp_path / "out.zarr")).compute(), standardize(X))
    array = xr.DataArray(x, dims=("row", "column"))
    for mode in ("parallelized", "allowed"):
        lazy = xr.apply_ufunc(SOFTMAX, array, dask=mode, output_dtypes=[X.dtype])
        assert same(lazy.data.compute(scheduler="threads"), SOFTMAX(X))
    assert same(x.map_blocks(SOFTMAX, dtype=X.dtype).compute(scheduler="threads"), SOFTMAX(X))


def test_the_tutorial(tmp_path: Any) -> None:
    """Runs the blocks of docs/scale.md as one script, with a tenth of its rows unless WEFT_TUTORIAL is set."""
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
    blocks = re.findall(r"<!-- run by make scale -->\n```python\n(.*?)```", page, re.DOTALL)
    body = textwrap.indent("\n".join(blocks), "    ")
    if not os.environ.get("WEFT_TUTORIAL"):
        body = body.replace("327_680", "64_000").replace("8_192", "1_600")  # 40 chunks, too
    (tmp_path / "tutorial.py").write_text(f'if __name__ == "__main__":\n{body}')
    done = subprocess.run([sys.executable, "tutorial.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    (said,) = re.findall(r"```text\n(standardize on chunks.*?)```", page, re.DOTALL)
    assert said in done.stdout and "Completed" in done.stdout, done.stdout
    mean, deviation = map(float, done.stdout.split()[-2:])
    assert abs(mean) < 1e-9 and abs(deviation - 1) < 1e-9


@pytest.mark.parametrize("mode", ["True", "False"])
def test_both_array_modes(mode: str) -> None:
    text = (
        f"import dask; dask.config.set({{'array.query-planning': {mode}}})\n"
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.scale.on_dask import check_all, check_shapes\ncheck_all()\ncheck_shapes()\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


COLD = """
import sys
import numpy as np
from weft.runtime.chunks.shipping import ShippedKernel, compiled
text = sys.stdin.read()
ShippedKernel(text).run([np.ones((50, 7))])
lowered = compiled(text, "llvm").kernel.lower(np.ones((50, 7)))
print("LLVM codegen" in lowered.seconds)
"""


def test_four_cold_processes_compile_once(tmp_path: Any) -> None:
    text = weft.jit(lambda x: np.exp(x) * np.sqrt(x) + 0.125).lower(np.ones((5, 7))).ir(after="input")
    text = text.replace(', layouts = ["C"], out_layouts = ["C"]', "")
    env = {**os.environ, "WEFT_CACHE": "1", "WEFT_CACHE_DIR": str(tmp_path / "cache")}
    pipe = subprocess.PIPE
    started = [subprocess.Popen([sys.executable, "-c", COLD], stdin=pipe, stdout=pipe, env=env) for _ in range(4)]
    for process in started:
        assert process.stdin is not None
        process.stdin.write(text.encode())
        process.stdin.close()
    found = [process.stdout.read().strip() for process in started if process.stdout is not None]
    assert all(process.wait() == 0 for process in started)
    assert sorted(found) == [b"False"] * 3 + [b"True"]
