"""Test NumPy code as people have it, snippet by snippet, under `jit` against plain Python."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import io
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
import weft

RNG = np.random.default_rng(5)
X, M = RNG.normal(size=8), RNG.normal(size=(4, 5))
COUNTER = 0
CACHE: dict[str, Any] = {}
Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class State:
    pos: Any
    vel: Any
    mass: float = 2.0

    def energy(self) -> Any:
        return 0.5 * self.mass * (self.vel**2).sum()


class Layer:
    def __init__(self) -> None:
        self.w, self.b, self.calls = np.eye(5), np.ones(5), 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        return np.maximum(x @ self.w + self.b, 0)


class Grid:
    __slots__ = ("u", "v")

    def __init__(self, u: Any) -> None:
        self.u, self.v = u, u.copy()


def state() -> State:
    return State(X.copy(), X[::-1].copy())


def s_dataclass_step(p, dt):
    p.pos += p.vel * dt
    p.vel *= 0.99
    return p.energy()


def s_dataclass_new(p, dt):
    return dataclasses.replace(p, pos=p.pos + dt * p.vel).pos


def s_attribute_loop(p, n):
    for i in range(n):
        p.pos[i] += p.vel[i] * p.mass
    return p


def s_layer(layer, m):
    y = layer(m)
    return y - y.mean(axis=1, keepdims=True), layer.calls


def s_slots(g):
    g.u[1:-1] = 0.5 * (g.v[:-2] + g.v[2:])
    g.u, g.v = g.v, g.u
    return g.u


def s_args(*arrays):
    total = np.zeros_like(arrays[0])
    for a in arrays:
        total += a
    return total


def s_kwargs(x, **options):
    y = x * options.get("scale", 2.0)
    if options.get("shift"):
        y += options["shift"]
    return y


def s_forwarded(x, *args, **kwargs):
    return np.clip(x, *args, **kwargs)


def s_generator(x):
    def windows():
        for i in range(len(x) - 2):
            yield x[i : i + 3]

    return [w.sum() for w in windows()]


def s_closure(x):
    best = x[0]

    def consider(value):
        nonlocal best
        if value > best:
            best = value

    for v in x:
        consider(v)
    return best


def s_counter(x):
    global COUNTER
    COUNTER += 1
    return x * COUNTER


def s_cache(x):
    if "norm" not in CACHE:
        CACHE["norm"] = np.sqrt((x**2).sum())
    return x / CACHE["norm"]


def s_try(x, k):
    try:
        x[k] = 1
        return x[k + 1]
    except IndexError as error:
        return str(error)
    finally:
        x[0] = -1


def s_try_shape(x, m):
    try:
        return x + m
    except ValueError:
        return (x[:5] + m).sum()


def s_with(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(x > 0, np.log(x), 0.0)
    return y.sum()


def s_raises(x):
    with np.errstate(divide="raise"):
        return 1.0 / (x - x)


def s_recursion(x):
    if len(x) <= 2:
        return x.sum()
    half = len(x) // 2
    return s_recursion(x[:half]) + s_recursion(x[half:]) * 0.5


def s_masked(x):
    y = np.ma.masked_less(x, 0)
    return y.mean(), y.filled(0)


def s_matrix(m):
    a = np.asmatrix(m[:3, :3])
    return a * a


def s_view_back(m):
    row = m[1]
    row[:] = 0
    return row, m[:, ::-1]


def s_swap(x):
    x[0], x[-1] = x[-1], x[0]
    return x


def s_random(x):
    rng = np.random.default_rng(3)
    return x + rng.normal(size=x.shape) * rng.integers(3)


def s_bubble(x):
    n = len(x)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swapped = True
        if not swapped:
            break
    return x


def s_search(x, v):
    low, high = 0, len(x)
    while low < high:
        mid = (low + high) // 2
        if x[mid] < v:
            low = mid + 1
        else:
            high = mid
    return low


def s_sieve(n):
    flags = np.ones(n + 1, dtype=bool)
    flags[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = False
    return np.flatnonzero(flags)


def s_fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def s_histogram(x, bins):
    counts = np.zeros(bins, int)
    for v in x:
        k = int((v - x.min()) / (x.max() - x.min() + 1e-9) * bins)
        counts[k] += 1
    return counts


def s_named(pair):
    return Pair(pair.left + 1, pair.right * pair.left.sum())


def s_strings(x, mode):
    if mode == "mean":
        return f"{x.mean():.3f}"
    return {"max": x.max, "min": x.min}[mode]()


def s_comprehension(m):
    return np.array([row.sum() for row in m if row[0] > -1])


def s_zip_dict(params, grads):
    for key in params:
        params[key] -= 0.1 * grads[key]
    return {k: v.sum() for k, v in params.items()}


def s_list_state(x):
    out = []
    y = x.copy()
    for _ in range(3):
        y = y * 0.5 + 1
        out.append(y)
    return out


def s_same_list(x):
    out = []
    for i in range(3):
        x[0] = i
        out.append(x)
    return out


def s_ints(x, n):
    total = 0
    for i in range(n):
        total += i * 2**40 * 2**20
    return total, x.sum()


def s_bool_index(x):
    pos = x[x > 0]
    pos[0] = 99
    return pos, x


def s_argsort(x, k):
    order = np.argsort(x)[::-1][:k]
    return x[order], order


def s_where(m):
    rows, cols = np.where(m > 0.5)
    return list(zip(rows.tolist(), cols.tolist(), strict=True))


def s_late_binding(x):
    fs = [lambda v, i=i: v * i for i in range(3)]
    return sum(f(x) for f in fs)


def s_delete(x):
    y = x + 1
    del x
    return y


def s_walrus(x):
    while (total := x.sum()) < 100:
        x = x * 2 + 10
    return total


def s_match(x, kind):
    match kind:
        case "double":
            return x * 2
        case ("power", n):
            return x**n
        case _:
            raise KeyError(kind)


def s_star(x):
    first, *rest = x
    return first, rest


def s_inplace_dtype(k):
    k += 1.5
    return k


def s_scalar_kinds(x):
    a = x[0]
    b = float(x[1])
    return type(a).__name__, type(a + b).__name__, type(b * 2).__name__, a.dtype


def s_zero_size(x):
    y = x[:0]
    return y.sum(), y.mean() if len(y) else "empty", np.append(y, 1)


def s_print(x, n):
    for i in range(n):
        x = x * 0.9
        if i % 3 == 0:
            print(i, round(float(x.sum()), 6))
    return x


def s_logged(x, log):
    for i in range(len(x)):
        if x[i] < 0:
            log.append(i)
            x[i] = 0
    return x


def s_early(m, limit):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > limit:
                return i, j
    return None


def s_for_else(x, v):
    for i, item in enumerate(x):  # noqa: B007 - it is read behind the loop
        if item == v:
            break
    else:
        return -1
    return i


def s_nested_helper(x):
    def norm(v, p=2):
        return (np.abs(v) ** p).sum() ** (1 / p)

    return norm(x), norm(x, p=1), norm(x[::2], 3)


def s_default_array(x, weights=np.ones(8)):  # noqa: B008
    weights += 1
    return x * weights


def s_isinstance(x):
    if isinstance(x, np.ndarray) and x.dtype.kind == "f":
        return x.astype(int)
    return x


def s_out(x):
    y = np.empty_like(x)
    np.multiply(x, 2, out=y)
    np.add(y, x, out=x)
    return x, y


def s_transposed(m):
    t = m.T
    t[0] = 7
    m.shape = 2, 10
    return t.shape, m


def s_floor(n):
    return [divmod(-n, 3), -n // 2, -n % 4, n >> 1, round(2.5), round(n / 4, 2)]


def s_assert(x, n):
    assert x.ndim == 1, "a vector is needed"
    assert n > 1, f"n is {n}"
    return x[:n]


def s_chain(x):
    return [0 < v < 1 for v in x], np.all((x > -5) & (x < 5))


def s_vectorized(x):
    return np.vectorize(lambda v: v if v > 0 else -v)(x)


def s_nditer(m):
    with np.nditer(m, op_flags=[["readwrite"]]) as it:
        for v in it:
            v[...] = 2 * v
    return m


def s_reduced(x):
    return functools.reduce(lambda a, b: a * 0.5 + b, x, 0.0)


CASES: dict[Any, list[tuple[Any, ...]]] = {
    s_dataclass_step: [(state(), 0.1)], s_dataclass_new: [(state(), 0.5)],
    s_attribute_loop: [(state(), 3), (state(), 99)],
    s_layer: [(Layer(), M)], s_slots: [(Grid(X.copy()),)], s_args: [(X, X, X), (X,), (M, M)], s_kwargs: [(X,)],
    s_forwarded: [(X, -1, 1)], s_generator: [(X,)], s_closure: [(X,)], s_counter: [(X,)], s_cache: [(X,)],
    s_try: [(X, 2), (X, 7), (X, 20)], s_try_shape: [(X, M), (X[:5], M)], s_with: [(X,)], s_raises: [(X,)],
    s_recursion: [(X,)], s_masked: [(X,)], s_matrix: [(M,)], s_view_back: [(M,)], s_swap: [(X,)], s_random: [(X,)],
    s_bubble: [(X,)], s_search: [(np.sort(X), 0.1)], s_sieve: [(50,)], s_fib: [(20,), (120,)], s_histogram: [(X, 4)],
    s_named: [(Pair(X, M),)], s_strings: [(X, "mean"), (X, "max")], s_comprehension: [(M,)],
    s_zip_dict: [({"a": X, "b": M}, {"a": X, "b": M})], s_list_state: [(X,)], s_same_list: [(X,)],
    s_ints: [(X, 3), (X, 30)], s_bool_index: [(X,)], s_argsort: [(X, 3)], s_where: [(M,)], s_late_binding: [(X,)],
    s_delete: [(X,)], s_walrus: [(X,)], s_match: [(X, "double"), (X, ("power", 2)), (X, "no")], s_star: [(X,)],
    s_inplace_dtype: [(np.arange(3),), (np.arange(3.0),)], s_scalar_kinds: [(X,), (X.astype(np.float32),)],
    s_zero_size: [(X,)], s_print: [(X, 7)], s_logged: [(X, [])], s_early: [(M, 1.0), (M, 99.0)],
    s_for_else: [(X, X[3]), (X, 77.0)], s_nested_helper: [(X,)], s_default_array: [(X,)],
    s_isinstance: [(X,), ([1, 2],)], s_out: [(X,)], s_transposed: [(M,)], s_floor: [(7,)], s_assert: [(X, 3), (X, 1)],
    s_chain: [(X,)], s_vectorized: [(X,)], s_nditer: [(M,)], s_reduced: [(X,)],
}  # fmt: skip


def seen(function: Any, args: tuple[Any, ...], plain: Any) -> Any:
    """What a call returns, prints, raises, and leaves in its arguments, as text with full precision."""
    global COUNTER
    COUNTER = 0
    CACHE.clear()
    if plain.__defaults__:
        plain.__defaults__ = tuple(np.ones(8) if isinstance(d, np.ndarray) else d for d in plain.__defaults__)
    given, printed = copy.deepcopy(args), io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            first = function(*given)
            result = first, function(*given)
        except Exception as error:
            result = type(error), str(error)
    return _shown(result), _shown(given), printed.getvalue(), COUNTER


def _shown(x: Any) -> Any:
    if isinstance(x, np.ma.MaskedArray):
        return type(x), _shown(x.filled(-7))
    if isinstance(x, (np.ndarray, np.generic, float)):
        return type(x), np.asarray(x).dtype, np.shape(x), np.round(np.asarray(x, float), 10).tolist()
    if isinstance(x, (tuple, list)):
        return type(x), [_shown(item) for item in x]
    if isinstance(x, dict):
        return [(key, _shown(value)) for key, value in x.items()]
    if isinstance(x, (State, Layer)):
        return type(x), _shown(vars(x))
    return (type(x), _shown((x.u, x.v))) if isinstance(x, Grid) else (type(x), str(x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::PendingDeprecationWarning")
def test_snippets() -> None:
    native = 0
    for function, calls in CASES.items():
        jitted = weft.jit(function)
        for _ in range(2):
            for args in calls:
                wanted, found = seen(function, args, function), seen(jitted, args, function)
                assert found == wanted, function.__name__
        native += jitted.explain().native_pieces > 0
    assert native > 30
