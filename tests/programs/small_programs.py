"""Small programs with loops, branches, views and stores, and arguments for them."""

from __future__ import annotations

import math

import numpy as np

rng = np.random.default_rng(18)


def smooth_in_place(grid, rounds):
    for _ in range(rounds):
        for r in range(1, grid.shape[0] - 1):
            for c in range(1, grid.shape[1] - 1):
                grid[r, c] = (grid[r - 1, c] + grid[r, c - 1] + grid[r, c] + grid[r, c + 1] + grid[r + 1, c]) / 5


def eliminate(m):
    size = len(m)
    for k in range(size):
        for r in range(k + 1, size):
            m[r, k] /= m[k, k]
            for c in range(k + 1, size):
                m[r, c] -= m[r, k] * m[k, c]


def eliminate_rows(m):
    for k in range(m.shape[0]):
        m[k + 1 :, k] /= m[k, k]
        for r in range(k + 1, m.shape[0]):
            m[r, k + 1 :] -= m[r, k] * m[k, k + 1 :]


def lower_factor(m):
    for r in range(m.shape[0]):
        for c in range(r):
            m[r, c] = (m[r, c] - m[r, :c] @ m[c, :c]) / m[c, c]
        m[r, r] = np.sqrt(m[r, r] - np.sum(m[r, :r] ** 2))


def checksum(data, start=0xABCD):
    state = start
    for byte in data:
        state ^= int(byte) << 8
        for _ in range(8):
            state = (state << 1) ^ 0x1021 if state & 0x8000 else state << 1
            state &= 0xFFFF
    return state


def longest_common(a, b):
    best = np.zeros((len(a) + 1, len(b) + 1), np.int32)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                best[i, j] = best[i - 1, j - 1] + 1
            else:
                best[i, j] = max(best[i - 1, j], best[i, j - 1])
    return best[-1, -1]


def count_bins(x, bins):
    counts = np.zeros(bins, np.int64)
    for v in x:
        counts[int(v * bins)] += 1
    return counts


def sparse_rows(starts, columns, values, x):
    y = np.empty(starts.size - 1)
    for row in range(starts.size - 1):
        picked = columns[starts[row] : starts[row + 1]]
        y[row] = values[starts[row] : starts[row + 1]] @ x[picked]
    return y


def first_above(x, limit):
    for k, v in enumerate(x):
        if v > limit:
            return k
    return -1


def halvings(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def sum_until(x):
    total = 0.0
    for k in range(len(x)):
        if x[k] < 0:
            continue
        if x[k] > 9:
            break
        total += float(x[k])
    else:
        total = -1.0
    return total, k


def inner(a, b):
    total = 0
    for x, y in zip(a, b):  # noqa: B905
        total += x * y
    return total


def backwards(x):
    for k in range(len(x) - 2, -1, -1):
        x[k] += 0.5 * x[k + 1]
    return x


def strided(x, y):
    for k in range(0, len(x), 3):
        y[k // 3] = x[-1 - k] * 2
    for k, v in enumerate(reversed(y)):
        x[k] = v


def heat(u, rounds):
    inside = u[1:-1]
    for _ in range(rounds):
        inside += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return inside


def two_grids(a, b, rounds):
    for _ in range(rounds):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.25 * (b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def descend(x, target, rate, rounds):
    for _ in range(rounds):
        gradient = 2 * (x - target)
        x = x - rate * gradient
    return x


def shortest_paths(d):
    for k in range(len(d)):
        d[:] = np.minimum(d, np.add.outer(d[:, k], d[k, :]))


def clipped(x, low):
    x[x < low] = low
    x[::2] *= 2
    return x.sum()


def norms(points):
    lengths = np.zeros(len(points), points.dtype)
    for k, p in enumerate(points):
        lengths[k] = math.sqrt(float(p[0]) ** 2 + p[1].item() ** 2)
    return lengths.max(), lengths


def helper_square(v):
    return v * v


def with_helpers(x):
    best = -1.0
    for v in x:
        best = max(best, float(helper_square(v)))
    return best


def triangles(n):
    total = 0
    for i in range(n):
        for j in range(i):
            total += i * j
    return total, total // 7, total % 5, -total // 4, -total % 4


def logic(x, n):
    k = 0
    while k < len(x) and not x[k] > 2:
        k += 1
    ok = bool(k == n or (k > 1 and x[k - 1] < 1))
    return k, ok, 0 <= k < n <= 5


def moving(x, width):
    out = np.zeros(len(x) - width + 1, x.dtype)
    for k in range(len(out)):
        out[k] = x[k : k + width].mean()
    return out, out[1:]


def newton(x):
    y = np.ones_like(x)
    change = 1
    while change > 1e-9:
        new = 0.5 * (y + x / y)
        change = np.abs(new - y).max()
        y = new
    return y


def both_ways(x):
    for k in range(len(x)):
        if k % 2:
            x[k], x[k - 1] = x[k - 1], x[k]
    return x[::-1]


def masked(x, low):
    small = x < low
    x[small] = x[small] ** 2 - low
    x[x > 0.9] /= 2
    picked = x[small]
    return picked.mean(), picked.size, np.sum(x[~small]), x[small].max()


def escape(c, rounds):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int32)
    for k in range(rounds):
        inside = np.abs(z) < 2
        count[inside] = k
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def turned(z, w):
    for k in range(len(z)):
        z[k] = w[k] * z[k] + 1j * w
        w[k] = z[k, 0] * w[k]
    return z.real.sum(), abs(w).max()


def chosen(a, flag):
    if flag > 0:
        t = a + 1
        u = t[1:]
    else:
        t = a * 2
        u = t[1:]
    t[0] = 9
    return t, u.sum()


def chosen_in_loop(a, rounds):
    t = a
    for k in range(rounds):
        if k % 2:
            v = t + k
        else:
            v = t * 0.5
        t = v
    return t


def waiting(a, b):
    step = a[1:] - a[:-1]
    scaled = step * 0.5
    a[1:] = scaled + b[1:]
    late = b * 2
    b[0] = 7
    a += late
    kept = a + 1
    a[:2] = 0
    b[:] = kept
    return a.sum()


def scattered(a, m, where):
    a[where] = np.arange(4.0)
    a[where] += 1
    np.add.at(a, where, 0.5)
    np.subtract.at(a, where, a[:4])
    a[where[:2]] = a[::-1][:2]
    m[where, 1] = 7
    m[where] = a[:3]
    m[:, where[:1]] *= 2
    m[1, where] = a[:4]
    np.copyto(m[0], a[:3])
    return a.sum()


def of_the_library(m, x, w, bins):
    m[:] = np.linalg.cholesky(m) + np.triu(m, k=1)
    counts, edges = np.histogram(x, bins)
    sums = np.histogram(x, bins, weights=w)[0]
    return np.cov(m), counts, edges, sums / counts


def position(m, v):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] == v:
                return i, j
    return -1, -1


def primes(n):
    crossed = np.zeros(n, np.bool_)
    count = 0
    for i in range(2, n):
        if not crossed[i]:
            count += 1
            for j in range(i * i, n, i):
                crossed[j] = True
    return count


def conjugate_gradients(a, b, rounds):
    x = np.zeros_like(b)
    rest = b - a @ x
    direction = rest.copy()
    old = rest @ rest
    for _ in range(rounds):
        moved = a @ direction
        rate = old / (direction @ moved)
        x += rate * direction
        rest -= rate * moved
        new = rest @ rest
        if np.sqrt(new) < 1e-10:
            break
        direction = rest + (new / old) * direction
        old = new
    return x


def all_rows(m):
    total = 0.0
    for row in m:
        for v in row:
            total += v
    return total


def swapped(a, rounds):
    old = a * 1
    new = a * 2
    for _ in range(rounds):
        new[1:-1] = (old[2:] + old[:-2]) / 2
        old, new = new, old
    return old


def series(x, terms):
    """A number that becomes an array, and an array that gets another dtype, in the first step."""
    total, scaled, sums = 0, x, 0.0
    for k in range(1, terms):
        total = total + np.sin(x * k) / k
        scaled = scaled * 0.5
        sums = sums + scaled.sum()
    return total, scaled, sums


def smoothed(x, start):
    """A Python number that every step makes a number of NumPy; loops in loops carry it as well."""
    level, out, total = start, np.empty_like(x), 0.0
    for i in range(x.shape[0]):
        level = 0.9 * level + 0.1 * x[i]
        out[i] = level
        for k in range(2):
            total = total * 0.5 + x[i] * k
    return level, out, total


def _matrix(n):
    m = rng.random((n, n))
    return m @ m.T + n * np.eye(n)


F32 = rng.random(7).astype(np.float32)


def on_grids(n, m, k):
    rows, columns = np.mgrid[0:n, 1:m:2]
    line = np.mgrid[-k:k]
    down, right = np.ogrid[k:n, m:0:-1]
    out = np.zeros((n, 3))
    for i in range(3):
        out[:, i] = rows[:, i] * columns[:, i] + i
    return out, columns, line, down + right, np.mgrid[0:2, 0:n]


PROGRAMS = [
    (on_grids, 7, 9, 2),
    (smooth_in_place, rng.random((6, 5)), 3),
    (eliminate, _matrix(6)),
    (eliminate_rows, _matrix(5)),
    (lower_factor, _matrix(6)),
    (checksum, rng.integers(0, 256, 19).astype(np.uint8)),
    (longest_common, rng.integers(0, 3, 7), rng.integers(0, 3, 9)),
    (count_bins, rng.random(40), 7),
    (sparse_rows, np.array([0, 2, 2, 5]), np.array([1, 3, 0, 2, 3]), rng.random(5), rng.random(4)),
    (first_above, np.array([1.0, 4.0, 9.0]), 3.0),
    (first_above, np.array([1.0, 2.0]), 3.0),
    (halvings, 27),
    (sum_until, np.array([1.0, -2.0, 3.0])),
    (sum_until, np.array([1.0, 12.0, 3.0])),
    (inner, rng.random(5), rng.random(4)),
    (inner, F32, F32),
    (inner, np.arange(5, dtype=np.int16), np.arange(5, dtype=np.int16)),
    (backwards, rng.random(6)),
    (strided, rng.random(10), np.zeros(4)),
    (heat, rng.random(9), 4),
    (two_grids, rng.random((6, 7)), rng.random((6, 7)), 2),
    (descend, F32, F32 * 2, 0.1, 5),
    (shortest_paths, rng.random((5, 5))),
    (clipped, rng.random(8), 0.5),
    (norms, rng.random((4, 2))),
    (with_helpers, rng.random(6) - 0.5),
    (triangles, 6),
    (logic, np.array([0.0, 1.0, 3.0]), 2),
    (moving, rng.random(9), 3),
    (newton, rng.random(4) + 1),
    (both_ways, rng.random(7)),
    (waiting, rng.random(6), rng.random(6)),
    (scattered, rng.random(6), rng.random((6, 3)), np.array([0, 2, -1, 2])),
    (of_the_library, _matrix(5), rng.random(40), rng.random(40), 6),
    (position, np.arange(6).reshape(2, 3), 4),
    (position, np.arange(6).reshape(2, 3), 9),
    (primes, 40),
    (conjugate_gradients, _matrix(5), rng.random(5), 9),
    (all_rows, rng.random((3, 4))),
    (swapped, rng.random(6), 3),
    (series, np.arange(6), 5),
    (smoothed, F32, 0.0),
    (smoothed, rng.random(6), 1),
    (series, F32, 4),
    (chosen, rng.random(5), 1),
    (chosen, rng.random(5), -1),
    (chosen_in_loop, rng.random(5), 5),
    (masked, rng.random(12), 0.5),
    (masked, rng.random((3, 4)), 0.5),
    (escape, rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3)), 6),
    (turned, rng.random((3, 3)) * (1 + 1j), rng.random(3) - 0.5j),
]
