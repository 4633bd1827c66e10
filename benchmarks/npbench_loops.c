// The scalar loops of seven NPBench programs, as one would write them in C.

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void seidel_2d(long steps, long n, double *a) {
    for (long t = 0; t < steps - 1; t++)
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++)
                a[i * n + j] = (a[(i - 1) * n + j - 1] + a[(i - 1) * n + j] + a[(i - 1) * n + j + 1] +
                                a[i * n + j - 1] + a[i * n + j] + a[i * n + j + 1] +
                                a[(i + 1) * n + j - 1] + a[(i + 1) * n + j] + a[(i + 1) * n + j + 1]) / 9.0;
}

static int larger(int a, int b) { return a > b ? a : b; }

void nussinov(long n, const int32_t *seq, int32_t *table) {
    for (long i = n - 1; i >= 0; i--)
        for (long j = i + 1; j < n; j++) {
            int best = larger(table[i * n + j], table[i * n + j - 1]);
            if (i + 1 < n) {
                best = larger(best, table[(i + 1) * n + j]);
                best = larger(best, table[(i + 1) * n + j - 1] + (i < j - 1 && seq[i] + seq[j] == 3));
            }
            for (long k = i + 1; k < j; k++)
                best = larger(best, table[i * n + k] + table[(k + 1) * n + j]);
            table[i * n + j] = best;
        }
}

long crc16(long n, const uint8_t *data) {
    uint32_t crc = 0xFFFF;
    for (long i = 0; i < n; i++) {
        uint32_t byte = data[i];
        for (int k = 0; k < 8; k++) {
            crc = (crc ^ byte) & 1 ? (crc >> 1) ^ 0x8408 : crc >> 1;
            byte >>= 1;
        }
    }
    crc = ~crc & 0xFFFF;
    crc = (crc << 8) | ((crc >> 8) & 0xFF);
    return crc & 0xFFFF;
}

void lu(long n, double *a) {
    for (long i = 0; i < n; i++) {
        for (long j = 0; j < i; j++) {
            for (long k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
            a[i * n + j] /= a[j * n + j];
        }
        for (long j = i; j < n; j++)
            for (long k = 0; k < i; k++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}

void cholesky(long n, double *a) {
    for (long i = 0; i < n; i++) {
        for (long j = 0; j < i; j++) {
            for (long k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
            a[i * n + j] /= a[j * n + j];
        }
        for (long k = 0; k < i; k++) a[i * n + i] -= a[i * n + k] * a[i * n + k];
        a[i * n + i] = sqrt(a[i * n + i]);
    }
}

void durbin(long n, const double *r, double *y) {
    double *z = malloc(n * sizeof(double)), alpha = -r[0], beta = 1.0;
    y[0] = -r[0];
    for (long k = 1; k < n; k++) {
        double sum = 0.0;
        beta *= 1.0 - alpha * alpha;
        for (long i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;
        for (long i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
        for (long i = 0; i < k; i++) y[i] = z[i];
        y[k] = alpha;
    }
    free(z);
}

void adi(long steps, long n, double *u) {
    double *v = malloc(3 * n * n * sizeof(double)), *p = v + n * n, *q = p + n * n;
    double dx = 1.0 / n, dt = 1.0 / steps, mul1 = 2.0 * dt / (dx * dx), mul2 = dt / (dx * dx);
    double a = -mul1 / 2.0, b = 1.0 + mul2, c = a, d = -mul2 / 2.0, e = 1.0 + mul2, f = d;
    for (long t = 1; t <= steps; t++) {
        for (long i = 1; i < n - 1; i++) {
            v[i] = 1.0;
            p[i * n] = 0.0;
            q[i * n] = v[i];
            for (long j = 1; j < n - 1; j++) {
                p[i * n + j] = -c / (a * p[i * n + j - 1] + b);
                q[i * n + j] = (-d * u[j * n + i - 1] + (1.0 + 2.0 * d) * u[j * n + i] - f * u[j * n + i + 1] -
                                a * q[i * n + j - 1]) / (a * p[i * n + j - 1] + b);
            }
            v[(n - 1) * n + i] = 1.0;
            for (long j = n - 2; j >= 1; j--) v[j * n + i] = p[i * n + j] * v[(j + 1) * n + i] + q[i * n + j];
        }
        for (long i = 1; i < n - 1; i++) {
            u[i * n] = 1.0;
            p[i * n] = 0.0;
            q[i * n] = u[i * n];
            for (long j = 1; j < n - 1; j++) {
                p[i * n + j] = -f / (d * p[i * n + j - 1] + e);
                q[i * n + j] = (-a * v[(i - 1) * n + j] + (1.0 + 2.0 * a) * v[i * n + j] - c * v[(i + 1) * n + j] -
                                d * q[i * n + j - 1]) / (d * p[i * n + j - 1] + e);
            }
            u[i * n + n - 1] = 1.0;
            for (long j = n - 2; j >= 1; j--) u[i * n + j] = p[i * n + j] * u[i * n + j + 1] + q[i * n + j];
        }
    }
    free(v);
}
