"""Lower index notation, `let c[i, j] = sum[p](a[i, p] * b[p, j])`, to graphs."""
