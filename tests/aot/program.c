/* Calls the kernels of a library and writes their results to stdout, for a test that computes the same in Python.
 * A status that is not the expected one ends it with the number of the line. */
#include "k.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(status, call) \
    do { \
        if ((call) != (status)) { \
            fprintf(stderr, "line %d\n", __LINE__); \
            exit(1); \
        } \
    } while (0)

static uint32_t state = 1;

static double number(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 16777216.0 - 0.5;
}

static void put(const void *data, int64_t bytes)
{
    fwrite(data, 1, (size_t)bytes, stdout);
}

static void *memory(int64_t bytes)
{
    return calloc(1, (size_t)bytes + 1);
}

static void run_kernels(int64_t n, int64_t m)
{
    float *x = (float *)memory(n * m * 4), *wide = (float *)memory(4 * n * m * 4);
    float *columns = (float *)memory(m * 4), *apart = (float *)memory(3 * m * 4);
    float *mixed = (float *)memory(n * m * 4);
    double *u = (double *)memory(n * 8), *v = (double *)memory(n * 8), *w = (double *)memory(n * 8), found[3];
    weft_c64 *z = (weft_c64 *)memory(n * 8), *turns = (weft_c64 *)memory(n * 8);
    int64_t places[3] = {-1, 0, -1}, seen;
    bool hit;
    int64_t shape[2] = {n, m}, strides[2] = {16 * m, 8}, column_shape[1] = {m}, column_strides[1] = {12};
    weft_array from = {wide, shape, strides}, to = {apart, column_shape, column_strides};

    for (int64_t k = 0; k < n * m; k++) x[k] = (float)number();
    for (int64_t k = 0; k < n; k++) u[k] = number(), v[k] = number();
    for (int64_t k = 0; k < n; k++) z[k].re = (float)number(), z[k].im = (float)number();
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) wide[i * 4 * m + 2 * j] = x[i * m + j];

    EXPECT(WEFT_OK, totals(x, n, m, columns));
    put(columns, m * 4);
    EXPECT(WEFT_OK, totals_strided(&from, &to));
    put(apart, 3 * m * 4);
    EXPECT(n ? WEFT_OK : WEFT_EMPTY, moments(u, n, &found[0], &found[1], &found[2]));
    if (n) put(found, 24);
    EXPECT(WEFT_OK, axpy(0.1, u, v, n, w));
    put(w, n * 8);
    EXPECT(WEFT_OK, turned(z, 0.5f, -2.0f, n, turns));
    put(turns, n * 8);
    EXPECT(WEFT_OK, averaged(x, 0.25f, n, m, mixed));
    put(mixed, n * m * 4);
    EXPECT(WEFT_OK, counted(x, places, 0, n * m, n && m ? 3 : 0, mixed, &seen, &hit));
    put(mixed, n * m * 4), put(&seen, 8), put(&hit, 1);

    free(x), free(wide), free(columns), free(apart), free(u), free(v), free(w), free(z), free(turns), free(mixed);
}

static void refuse(void)
{
    float x[6] = {0, 1, 2, 3, 4, 5}, y[6];
    double u[2] = {0, 1};
    bool hit;
    int64_t seen, places[2] = {-3, 2}, wrong[2] = {0, 3}, shape[2] = {2, 3}, strides[2] = {12, 4}, other[1] = {4}, step[1] = {4};
    weft_array from = {x, shape, strides}, to = {y, other, step};

    EXPECT(WEFT_BAD_SIZE, totals(x, -1, 3, y));
    EXPECT(WEFT_BAD_SIZE, totals(x, INT64_C(1) << 40, INT64_C(1) << 40, y));
    EXPECT(WEFT_NULL_POINTER, totals(NULL, 2, 3, y));
    EXPECT(WEFT_NULL_POINTER, totals(x, 2, 3, NULL));
    EXPECT(WEFT_NULL_POINTER, totals_strided(NULL, &to));
    EXPECT(WEFT_OVERLAP, totals(x, 2, 3, x + 5));
    EXPECT(WEFT_OVERLAP, axpy(1.0, u, u, 2, u));
    EXPECT(WEFT_MISMATCH, totals_strided(&from, &to));
    EXPECT(WEFT_OK, picked(x, places, 3, 2, y));
    put(y, 8);
    EXPECT(WEFT_BAD_INDEX, picked(x, wrong, 3, 2, y));
    EXPECT(WEFT_BAD_INDEX, counted(x, wrong, 0, 3, 2, y, &seen, &hit));
    EXPECT(WEFT_BAD_INDEX, counted(x, wrong, -3, 3, 2, y, &seen, &hit));
    if (!strstr(k_message(WEFT_BAD_INDEX), "index") || strcmp(k_message(-5), "no status")) exit(2);
}

typedef struct job {
    weft_piece piece;
    void *work;
    int64_t k;
} job;

static void *run_job(void *given)
{
    job *own = (job *)given;
    own->piece(own->work, own->k);
    return NULL;
}

static void on_threads(void *context, weft_piece piece, void *work, int64_t pieces)
{
    pthread_t threads[8];
    job jobs[8];

    ++*(int *)context;
    for (int64_t k = 0; k < pieces; k++) {
        jobs[k].piece = piece, jobs[k].work = work, jobs[k].k = k;
        pthread_create(&threads[k], NULL, run_job, &jobs[k]);
    }
    for (int64_t k = 0; k < pieces; k++) pthread_join(threads[k], NULL);
}

int main(void)
{
    const int64_t sizes[] = {0, 1, 7, 1000};
    int shared = 0;

    if (!k_cpu()) return 3;
    fprintf(stderr, "%s %s\n", k_version(), k_cpu());
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (i + j < 6) run_kernels(sizes[i], sizes[j]);
    refuse();
    k_set_parallel(on_threads, &shared, 4);
    run_kernels(5000, 200);
    k_set_parallel(NULL, NULL, 0);
    return shared ? 0 : 4;
}
