/* The loops of examples/nests, as a C programmer writes them; benchmarks/nests.py compares them. */
#include <math.h>
#include <stdint.h>

#define A(i, j) a[(i) * n + (j)]
#define T(i, j) t[(i) * n + (j)]

void gauss_seidel(double *a, int64_t n, int64_t steps) {
    for (int64_t s = 0; s < steps; s++)
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                A(i, j) = (A(i - 1, j - 1) + A(i - 1, j) + A(i - 1, j + 1) + A(i, j - 1) + A(i, j) + A(i, j + 1) +
                           A(i + 1, j - 1) + A(i + 1, j) + A(i + 1, j + 1)) / 9.0;
}

void lu(double *a, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            double w = A(i, j);
            for (int64_t k = 0; k < j; k++) w -= A(i, k) * A(k, j);
            A(i, j) = w / A(j, j);
        }
        for (int64_t j = i; j < n; j++) {
            double w = A(i, j);
            for (int64_t k = 0; k < i; k++) w -= A(i, k) * A(k, j);
            A(i, j) = w;
        }
    }
}

void cholesky_serial(double *a, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            double w = A(i, j);
            for (int64_t k = 0; k < j; k++) w -= A(i, k) * A(j, k);
            A(i, j) = w / A(j, j);
        }
        double w = A(i, i);
        for (int64_t k = 0; k < i; k++) w -= A(i, k) * A(i, k);
        A(i, i) = sqrt(w);
    }
}

static int32_t larger(int32_t x, int32_t y) { return x > y ? x : y; }

void nussinov(const int32_t *restrict s, int32_t *restrict t, int64_t n) {
    for (int64_t i = n - 2; i >= 0; i--)
        for (int64_t j = i + 1; j < n; j++) {
            int32_t w = larger(larger(T(i, j), T(i, j - 1)), T(i + 1, j));
            w = larger(w, T(i + 1, j - 1) + (s[i] + s[j] == 3 && j - i - 1 > 0));
            for (int64_t k = i + 1; k < j; k++) w = larger(w, T(i, k) + T(k + 1, j));
            T(i, j) = w;
        }
}

void crc16(const uint8_t *restrict d, uint16_t *restrict o, int64_t n) {
    uint16_t crc = *o;
    for (int64_t i = 0; i < n; i++) {
        crc ^= (uint16_t)(d[i] << 8);
        for (int b = 0; b < 8; b++) crc = crc & 0x8000 ? (uint16_t)(crc << 1) ^ 0x1021 : (uint16_t)(crc << 1);
    }
    *o = crc;
}

void sparse_rows(const int64_t *restrict rows, const int64_t *restrict columns, const double *restrict values,
                 const double *restrict x, double *restrict y, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        double w = 0;
        for (int64_t k = rows[i]; k < rows[i + 1]; k++) w += values[k] * x[columns[k]];
        y[i] = w;
    }
}

void histogram(const int32_t *restrict x, int64_t *restrict h, int64_t n) {
    for (int64_t i = 0; i < n; i++) h[x[i]]++;
}

void insertion_sort(double *a, int64_t n, int64_t m) {
    for (int64_t r = 0; r < n; r++) {
        double *row = a + r * m;
        for (int64_t i = 1; i < m; i++) {
            double key = row[i];
            int64_t j = i;
            while (j > 0 && row[j - 1] > key) {
                row[j] = row[j - 1];
                j--;
            }
            row[j] = key;
        }
    }
}
