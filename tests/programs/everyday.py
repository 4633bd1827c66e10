"""Short programs as people write them: filters, recurrences, searches, bookkeeping, and their mistakes.

The names of parameters say what they are; `test_everyday` makes the arguments.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np


class State:
    def __init__(self, pos, vel):
        self.pos, self.vel = pos, vel


def box_blur(img):
    out = np.zeros_like(img)
    out[1:-1, 1:-1] = (
        img[:-2, :-2]
        + img[:-2, 1:-1]
        + img[:-2, 2:]
        + img[1:-1, :-2]
        + img[1:-1, 1:-1]
        + img[1:-1, 2:]
        + img[2:, :-2]
        + img[2:, 1:-1]
        + img[2:, 2:]
    ) / 9
    return out


def threshold(img, t):
    out = np.zeros(img.shape, np.uint8)
    out[img > t] = 255
    return out, (out > 0).sum()


def flip_half(img):
    h = img.shape[0] // 2
    img[:h] = img[:h, ::-1]
    return img


def heat_inplace(x, n):
    for _ in range(n):
        x[1:-1] = x[1:-1] + 0.1 * (x[2:] - 2 * x[1:-1] + x[:-2])
        x[0] = x[1]
        x[-1] = x[-2]


def gauss_seidel(m, n):
    for _ in range(n):
        for i in range(1, m.shape[0] - 1):
            for j in range(1, m.shape[1] - 1):
                m[i, j] = 0.25 * (m[i - 1, j] + m[i + 1, j] + m[i, j - 1] + m[i, j + 1])
    return m


def kmeans(pts, n):
    k = 3
    cent = pts[:k].copy()
    for _ in range(n):
        d = ((pts[:, None, :] - cent[None]) ** 2).sum(-1)
        lab = d.argmin(1)
        for j in range(k):
            if (lab == j).any():
                cent[j] = pts[lab == j].mean(axis=0)
    return cent, lab


def kmeans_loops(pts, n):
    k = 2
    cent = pts[:k].copy()
    lab = np.zeros(len(pts), int)
    for _ in range(n):
        for i in range(len(pts)):
            best, at = np.inf, -1
            for j in range(k):
                d = 0.0
                for q in range(pts.shape[1]):
                    d += (pts[i, q] - cent[j, q]) ** 2
                if d < best:
                    best, at = d, j
            lab[i] = at
        s = np.zeros_like(cent)
        c = np.zeros(k)
        for i in range(len(pts)):
            s[lab[i]] += pts[i]
            c[lab[i]] += 1
        for j in range(k):
            if c[j] > 0:
                cent[j] = s[j] / c[j]
    return lab, cent


def lcs(iv, jv):
    n, m = len(iv), len(jv)
    L = np.zeros((n + 1, m + 1), int)
    for i in range(n):
        for j in range(m):
            if iv[i] == jv[j]:
                L[i + 1, j + 1] = L[i, j] + 1
            else:
                L[i + 1, j + 1] = max(L[i, j + 1], L[i + 1, j])
    return L[n, m]


def edit(iv, jv):
    prev = list(range(len(jv) + 1))
    for i, a in enumerate(iv):
        cur = [i + 1]
        for j, b in enumerate(jv):
            cur.append(min(prev[j + 1] + 1, cur[j] + 1, prev[j] + (a != b)))
        prev = cur
    return prev[-1]


def floyd_vec(m):
    d = np.abs(m)
    for k in range(len(d)):
        np.minimum(d, d[:, k, None] + d[None, k], out=d)
    return d


def rle(iv):
    vals, counts = [], []
    for v in iv:
        if vals and vals[-1] == v:
            counts[-1] += 1
        else:
            vals.append(int(v))
            counts.append(1)
    return vals, counts


def moving_sum(x, n):
    out = np.zeros(len(x))
    s = 0.0
    for i in range(len(x)):
        s += x[i]
        if i >= n:
            s -= x[i - n]
        out[i] = s
    return out


def newton(x):
    for i in range(len(x)):
        g = x[i] if x[i] > 0 else 1.0
        for _ in range(20):
            g = 0.5 * (g + abs(x[i]) / g)
            if abs(g * g - abs(x[i])) < 1e-12:
                break
        x[i] = g
    return x


def random_walk(rng, n):
    p = np.zeros(n * 4)
    for i in range(1, len(p)):
        p[i] = p[i - 1] + (1 if rng.random() < 0.5 else -1)
    return p


def histogram(x, n):
    h = np.zeros(n, int)
    lo, hi = x.min(), x.max()
    for v in x:
        k = int((v - lo) / (hi - lo) * n)
        if k == n:
            k -= 1
        h[k] += 1
    return h


def power_iter(m, t):
    v = np.ones(len(m))
    for k in range(100):
        w = m @ v
        w /= np.linalg.norm(w)
        if np.abs(w - v).max() < t:
            return w, k
        v = w
    return v, -1


def label_sums(txt, x):
    out = defaultdict(float)
    for ch, v in zip(txt, x, strict=False):
        out[ch] += v
    return dict(out)


def bounce(st, n):
    for _ in range(n):
        for i in range(len(st.pos)):
            st.pos[i] += st.vel[i] * 0.1
            if st.pos[i] < 0:
                st.pos[i] = -st.pos[i]
                st.vel[i] = -st.vel[i]
    return st


def first_neg(x):
    for i, v in enumerate(x):
        if v < 0:
            return i
    return None


def safe_div(x, y):
    out = np.empty_like(x)
    for i in range(len(x)):
        try:
            out[i] = float(x[i]) / float(int(y[i]))
        except ZeroDivisionError:
            out[i] = 0
    return out


def try_index(x, n):
    try:
        x[n * 3] = 5
        x[n] = 7
    except IndexError as e:
        return str(e), x
    return "fine", x


def try_loop(x, n):
    done = 0
    try:
        for i in range(n * 4):
            x[i] *= 2
            done += 1
    except IndexError:
        pass
    return done


def closure(x, s):
    def scale(v):
        return v * s + x[0]

    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = scale(x[i])
    return out


def quicksort(x):
    if len(x) <= 1:
        return x
    p = x[len(x) // 2]
    return np.concatenate([quicksort(x[x < p]), x[x == p], quicksort(x[x > p])])


def add_at(x, iv):
    np.add.at(x, iv % len(x), 0.5)
    np.subtract.at(x, [0, 0], 1)
    return x


def insertion(x):
    for i in range(1, len(x)):
        v = x[i]
        j = i - 1
        while j >= 0 and x[j] > v:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = v
    return x


def mask_math(x, y):
    m = (x > 0) & (y != 0)
    out = np.full(len(x), np.nan)
    out[m] = x[m] / y[m]
    return out


def struct(x):
    r = np.zeros(len(x), dtype=[("a", "f8"), ("b", "i4")])
    r["a"] = x
    for i in range(len(x)):
        r["b"][i] = i * 2
    return r


def fortran(f):
    out = np.empty_like(f)
    for j in range(f.shape[1]):
        for i in range(f.shape[0]):
            out[i, j] = f[i, j] * 2 + j
    return out, f + 1, f.T


def neg_stride(x):
    y = x[::-2]
    y += 1
    return y, x


def empties(e):
    s = 0
    for v in e:
        s += v
    e += 1
    return s, e.sum(), e * 2, e[1:], e.reshape(0, 1)


def nan_max(nx):
    best = nx[0]
    for v in nx:
        if v > best:
            best = v
    return best, np.nanmax(nx), max(nx)


def readonly_loop(ro):
    s = 0.0
    for i in range(len(ro)):
        s += ro[i]
    ro += 1
    return s


def lu(m):
    a = m + 10 * np.eye(len(m))
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a


def cholesky(m):
    a = m @ m.T + np.eye(len(m))
    for j in range(len(a)):
        a[j, j] = np.sqrt(a[j, j] - (a[j, :j] ** 2).sum())
        for i in range(j + 1, len(a)):
            a[i, j] = (a[i, j] - a[i, :j] @ a[j, :j]) / a[j, j]
    return np.tril(a)


def julia(cx, n):
    z = cx.copy()
    cnt = np.zeros(len(z), int)
    for _ in range(n):
        m = np.abs(z) < 2
        z[m] = z[m] ** 2 - 0.8
        cnt[m] += 1
    return cnt, z


def crc(u8):
    c = 0xFFFF
    for b in u8.ravel():
        c ^= int(b)
        for _ in range(8):
            c = (c >> 1) ^ 0xA001 if c & 1 else c >> 1
    return c


def sieve(n):
    p = np.ones(n * 20, bool)
    p[:2] = False
    i = 2
    while i * i < len(p):
        if p[i]:
            p[i * i :: i] = False
        i += 1
    return np.flatnonzero(p)


def argmax2d(m):
    best, at = -np.inf, (0, 0)
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > best:
                best, at = m[i, j], (i, j)
    return best, at


def swap_buf(x, n):
    a, b = x.copy(), np.zeros_like(x)
    for _ in range(n):
        b[1:-1] = 0.5 * (a[2:] + a[:-2])
        a, b = b, a
    return a


def view_store(m):
    d = m[1:-1, 1:-1]
    d[:] = 0
    r = m[0]
    r += 5
    return m, d


def log_steps(x, n):
    for k in range(n):
        x *= 0.9
        if k % 2 == 0:
            print("step", k, f"{x[0]:.3f}")
    return x


def raise_if(x, t):
    for i in range(len(x)):
        if x[i] > t:
            raise ValueError(f"too large at {i}")
        x[i] *= 2
    return x


def nested_break(m, t):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > t + 1:
                break
        else:
            continue
        return i, j
    return None


def zero_d(x):
    s = np.array(0.0)
    for v in x:
        s += v
    return s, s.shape


def union_find(iv, jv):
    p = np.arange(8)
    for a, b in zip(iv, jv, strict=False):
        while p[a] != a:
            a = p[a]
        while p[b] != b:
            b = p[b]
        p[a] = b
    return p


def dither(img):
    out = img.copy()
    h, w = out.shape
    for i in range(h):
        for j in range(w):
            old = out[i, j]
            new = 1.0 if old > 0.5 else 0.0
            out[i, j] = new
            e = old - new
            if j + 1 < w:
                out[i, j + 1] += e * 7 / 16
            if i + 1 < h:
                out[i + 1, j] += e * 5 / 16
    return out
