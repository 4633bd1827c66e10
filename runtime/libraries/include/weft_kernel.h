/* Kernels for Weft in C: what a shared library exports so that `extern kernel` can name its functions.
 *
 *     #include "weft_kernel.h"
 *
 *     WEFT_KERNEL_LIBRARY
 *
 *     WEFT_KERNEL(twice_f32, "f32[n] -> f32[n]")
 *     {
 *         const float *x = call->inputs[0].data;
 *         float *y = call->outputs[0].data;
 *         for (int64_t i = 0; i < call->inputs[0].shape[0]; i++)
 *             y[i] = 2 * x[i];
 *         return WEFT_KERNEL_OK;
 *     }
 *
 *     cc -O2 -shared -fPIC -I"$(python -c 'import weft; print(weft.include_dir())')" twice.c -o twice.so
 *
 *     extern kernel twice(x: f32[n]) -> f32[n] from "twice.so" symbol "twice_f32"
 *
 * A kernel may be called from several threads at once, and is called without Python's lock: it must not touch Python.
 */
#ifndef WEFT_KERNEL_H
#define WEFT_KERNEL_H

#include <stdint.h>

/* The version of this interface. Weft loads no library that was made for another one. */
#define WEFT_KERNEL_ABI 1

/* An argument or a result. A number has no dimensions: `data` points at it. */
typedef struct weft_operand {
    void *data;             /* the first element; those of arguments must not be written */
    int64_t rank;           /* how many dimensions there are */
    const int64_t *shape;   /* the size of each */
    const int64_t *strides; /* the step along each, in bytes; may be 0 or negative in a WEFT_STRIDED_KERNEL */
} weft_operand;

/* One call: the arguments and the results, in the order in which they were declared. */
typedef struct weft_kernel_call {
    int64_t input_count;
    const weft_operand *inputs;
    int64_t output_count;
    const weft_operand *outputs; /* new memory in C order without gaps, not set to anything */
    char *message;               /* where a kernel that fails may say why, as text that ends with a 0 */
    int64_t message_size;        /* how many bytes there are for it */
} weft_kernel_call;

/* What a kernel returns: this, or any other number if it failed. */
#define WEFT_KERNEL_OK 0

#if defined(_WIN32)
#define WEFT_KERNEL_EXPORT __declspec(dllexport)
#else
#define WEFT_KERNEL_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define WEFT_KERNEL_C extern "C"
#define WEFT_KERNEL_DATA extern "C" WEFT_KERNEL_EXPORT
#else
#define WEFT_KERNEL_C
#define WEFT_KERNEL_DATA WEFT_KERNEL_EXPORT
#endif

/* Stands once in every library. */
#define WEFT_KERNEL_LIBRARY                 \
    WEFT_KERNEL_DATA const int32_t weft_kernel_abi; \
    const int32_t weft_kernel_abi = WEFT_KERNEL_ABI;

/* A kernel. The signature is compared with the declaration: dtypes, and dimensions by names of any choice; a number
 * has no brackets. Arguments come in C order without gaps and are aligned; others are copied before the call. */
#define WEFT_KERNEL(symbol, signature)                        \
    WEFT_KERNEL_DATA const char symbol##_signature[];         \
    const char symbol##_signature[] = signature;              \
    WEFT_KERNEL_C WEFT_KERNEL_EXPORT int32_t symbol(const weft_kernel_call *call)

/* A kernel that takes arguments as they lie in memory, whatever their strides. They are aligned. */
#define WEFT_STRIDED_KERNEL(symbol, signature) WEFT_KERNEL(symbol, "strided " signature)

#endif /* WEFT_KERNEL_H */
