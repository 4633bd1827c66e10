"""Define the suite `startup`: new processes that import a library, and that run a first softmax from text."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from tempfile import TemporaryDirectory
from time import perf_counter

from ..results import Outcome

SUITE = "startup"
REPEATS, LONG_SECONDS = 7, 1.5
TIMEOUT = 300  # seconds; no library needs a tenth of that

_DATA = "import numpy as np; x = np.arange(512, dtype=np.float32).reshape(8, 64)\n"
_SHOW = "print(round(float(np.asarray(r)[0, 63]), 4))\n"
_ANSWER = "0.6321"
_BODY = "    e = {0}.exp(x - {1})\n    return e / e.sum({2}=1, {3}=True)\n"

IMPORTS = {
    "Weft": "import weft",
    "NumPy": "import numpy",
    "numexpr": "import numexpr",
    "Numba": "import numba",
    "JAX": "import jax.numpy",
    "torch": "import torch",
}
SOFTMAX = {
    "Weft": "import weft\n"
    + _DATA
    + "text = '''kernel softmax(x: float[..., m]) -> float[..., m] {\n"
    + "    let e = exp(x - max(x, axis=-1, keepdims=true))\n"
    + "    return e / sum(e, axis=-1, keepdims=true)\n}'''\n"
    + "r = weft.compile(text).softmax(x)\n"
    + _SHOW,
    "NumPy": _DATA
    + "def f(x):\n"
    + _BODY.format("np", "x.max(axis=1, keepdims=True)", "axis", "keepdims")
    + "r = f(x)\n"
    + _SHOW,
    "Numba": "import numba\n"
    + _DATA
    + "@numba.njit\ndef f(x):\n"
    + "    out = np.empty_like(x)\n"
    + "    for i in range(x.shape[0]):\n"
    + "        e = np.exp(x[i] - x[i].max())\n"
    + "        out[i] = e / e.sum()\n"
    + "    return out\n"
    + "r = f(x)\n"
    + _SHOW,
    "JAX": "import jax, jax.numpy as jnp\n"
    + _DATA
    + "@jax.jit\ndef f(x):\n"
    + _BODY.format("jnp", "x.max(axis=1, keepdims=True)", "axis", "keepdims")
    + "r = f(x)\n"
    + _SHOW,
    "torch": "import torch\n"
    + _DATA
    + "@torch.compile\ndef f(x):\n"
    + _BODY.format("torch", "x.amax(1, keepdim=True)", "dim", "keepdim")
    + "r = f(torch.from_numpy(x)).numpy()\n"
    + _SHOW,
}
KEPT = "import, text to first softmax, compiled before"
ROWS = {
    "import": (IMPORTS, ""),
    "import, text to first softmax": (SOFTMAX, _ANSWER),
    KEPT: ({name: SOFTMAX[name] for name in ("Weft", "NumPy")}, _ANSWER),
}


def measure(row: str, libraries: Sequence[str]) -> Iterator[Outcome]:
    """Measure the best of several processes, or one if it takes longer than a second and a half.

    NumPy is shown but not compared: every library imports it, and it compiles nothing.
    """
    scripts, answer = ROWS[row]
    best: dict[str, float] = {}
    notes = {name: "has no such program" for name in libraries if name not in scripts}
    kept = {"WEFT_CACHE": "1"} if row == KEPT else {"WEFT_CACHE": "0"}
    with TemporaryDirectory() as folder:
        env = {**kept, "WEFT_CACHE_DIR": f"{folder}/cache", "XDG_CONFIG_HOME": folder}
        if row == KEPT:
            _process(scripts["Weft"], env)
        for attempt, name in product(range(REPEATS), libraries):
            if name in notes or (attempt and best.get(name, 0) > LONG_SECONDS):
                continue
            seconds, printed = _process(scripts[name], env)
            if printed != answer:
                notes[name] = f"prints {printed[-60:]!r}"
                continue
            best[name] = min(seconds, best.get(name, seconds))
    yield Outcome(SUITE, row, 0, "", {n: t for n, t in best.items() if n not in notes}, notes, apart=("NumPy",))


def _process(script: str, own: Mapping[str, str]) -> tuple[float, str]:
    """Return the seconds of a new Python process, and what it prints; other libraries' caches are off."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    env |= {**own, "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1", "JAX_PLATFORMS": "cpu"}
    start = perf_counter()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, timeout=TIMEOUT)
    seconds = perf_counter() - start
    return seconds, (done.stdout if not done.returncode else done.stderr).strip()
