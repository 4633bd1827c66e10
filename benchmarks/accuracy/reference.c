/* Arguments in, true values and errors in ULP out.
 *
 * Every function exists three times. `quick_*` is one precision above the results under test (double for float, long
 * double for double) and fast enough for every point. `judge_*` works in quad precision and is for the few points that
 * the quick value can't decide: errors close to one half or to the largest so far. Compiled by native.py. */

/* The C library declares its vector functions under this name only. They are within 4 ULP of double, which is plenty. */
#define __FAST_MATH__ 1
#include <math.h>
#undef __FAST_MATH__
#include "ulp.h"

void errors_f32(int64_t count, const float *got, const double *truth, const format *f, double *errors) {
    format copy = *f;
    for (int64_t i = 0; i < count; i++) errors[i] = error_double(got[i], truth[i], copy);
}

void errors_f64(int64_t count, const double *got, const long double *truth, const format *f, double *errors) {
    format copy = *f;
    for (int64_t i = 0; i < count; i++) errors[i] = (double)error_extended(got[i], truth[i], copy);
}

/* Counts the results that are certainly the nearest numbers, and lists the points that must be judged. Nearly all blocks
 * of 64 have none of those, and are done without a branch. */
int64_t sift(int64_t count, const double *errors, double worst, double margin, int64_t *nearest, int64_t *doubtful) {
    int64_t doubts = 0, right = 0;
    double limit = worst - margin, low = 0.5 - margin, high = 0.5 + margin;
    for (int64_t start = 0; start < count; start += 64) {
        int64_t end = start + 64 < count ? start + 64 : count, any = 0, near = 0;
        for (int64_t i = start; i < end; i++) {
            any |= (errors[i] > limit) | ((errors[i] >= low) & (errors[i] <= high));
            near += errors[i] < 0.5;
        }
        right += near;
        for (int64_t i = start; any && i < end; i++) {
            int doubt = errors[i] > limit || (errors[i] >= low && errors[i] <= high);
            doubtful[doubts] = i;
            doubts += doubt;
            right -= doubt && errors[i] < 0.5;
        }
    }
    *nearest = right;
    return doubts;
}

/* The error of one result, and whether it is the nearest number (of two equally near, the even one). */
static inline void judge(double got, quad truth, format f, double *error, uint8_t *nearest) {
    quad exact = error_quad(got, truth, f);
    *error = (double)exact;
    double whole = got * steps_quad(fabsq(truth), f) * power_of_two(f.bits - 2);
    *nearest = exact < 0.5Q || (exact == 0.5Q && (isinf(got) || fmod(whole, 2) == 0));
}

/* -- functions that the libraries do not have */

#define DEFINE_EXTRA(Real, s)                                                                \
    static inline Real expit##s(Real x) { return 1 / (1 + exp##s(-x)); }                     \
    static inline Real logit##s(Real x) {                                                    \
        return x > 0.25 && x < 0.75 ? 2 * atanh##s(2 * x - 1) : log##s(x) - log1p##s(-x);    \
    }                                                                                        \
    static inline Real logaddexp##s(Real x, Real y) {                                        \
        if (x == y) return x + log##s(2);                                                    \
        Real apart = x - y;                                                                  \
        return apart != apart ? apart : (apart > 0 ? x : y) + log1p##s(exp##s(-fabs##s(apart))); \
    }                                                                                        \
    static inline Real logaddexp2##s(Real x, Real y) {                                       \
        if (x == y) return x + 1;                                                            \
        Real apart = x - y;                                                                  \
        return apart != apart ? apart : (apart > 0 ? x : y) + log1p##s(exp2##s(-fabs##s(apart))) / log##s(2); \
    }

DEFINE_EXTRA(long double, l)
DEFINE_EXTRA(quad, q)

static inline double expit(double x) { return 1 / (1 + exp(-x)); }
static inline double logit(double x) {
    int is_near = (x > 0.25) & (x < 0.75);
    double near = 2 * atanh(is_near ? 2 * x - 1 : 0 * x), far = log(x) - log1p(-x);
    return is_near ? near : far;
}
/* Sums that cancel: more than double's bits even for float. */
static inline double logaddexp(double x, double y) { return logaddexpl(x, y); }
static inline double logaddexp2(double x, double y) { return logaddexp2l(x, y); }

/* -- angles of float: the library takes a third of a microsecond for a huge one, and half of all floats are huge */

/* The powers of two from 2^0 modulo a turn, and a quarter turn, each in two doubles. */
static double powers[128][2], quarter[2];

void set_angles(int64_t count, const double *parts) {
    memcpy(quarter, parts, sizeof quarter);
    memcpy(powers, parts + 2, (size_t)count * sizeof powers[0]);
}

/* The angle less `*turns` quarter turns. Its product with a power of two is exact: a float has 24 bits. */
static inline double reduced(double x, double *turns) {
    int64_t exponent = (int64_t)(bits_of(x) >> 52 & 0x7ff) - 1023 - 23;
    int64_t power = exponent < 0 ? 0 : exponent > 104 ? 104 : exponent;
    double whole = x * power_of_two(-power), high = powers[power][0], low = powers[power][1];
    double first = whole * high, rest = fma(whole, high, -first) + whole * low;
    first = exponent < 0 ? x : first;
    rest = exponent < 0 ? 0 : rest;
    *turns = rint(first / quarter[0]);
    return fma(-*turns, quarter[0], first) + fma(-*turns, quarter[1], rest);
}

/* The cosine is the sine a quarter turn on, to full precision where it is not small. */
static inline double sine(double x, int64_t ahead) {
    double turns, angle = reduced(x, &turns);
    int64_t quadrant = (int64_t)turns + ahead;
    double value = sin(quadrant & 1 ? angle + quarter[0] : angle);
    return quadrant & 2 ? -value : value;
}

static inline double sin_of_float(double x) { return sine(x, 0); }
static inline double cos_of_float(double x) { return sine(x, 1); }
static inline double tan_of_float(double x) {
    double turns, angle = reduced(x, &turns), value = tan(angle);
    return (int64_t)turns & 1 ? -1 / value : value;
}

/* -- loops over arrays; `omp simd` lets the compiler use the C library's vector functions */

#define LOOP_1(name, Input, kind, Quick, quick)                                                   \
    void quick_##kind##_##name(int64_t count, const Input *x, Quick *truth) {                     \
        _Pragma("omp simd") for (int64_t i = 0; i < count; i++) truth[i] = quick((Quick)x[i]);    \
    }                                                                                             \
    void judge_##kind##_##name(int64_t count, const Input *x, const Input *got, const format *f,  \
                               double *errors, uint8_t *nearest) {                                \
        for (int64_t i = 0; i < count; i++) judge(got[i], name##q(x[i]), *f, errors + i, nearest + i); \
    }
#define LOOP_2(name, Input, kind, Quick, quick)                                                   \
    void quick_##kind##_##name(int64_t count, const Input *x, const Input *y, Quick *truth) {     \
        _Pragma("omp simd") for (int64_t i = 0; i < count; i++) truth[i] = quick((Quick)x[i], (Quick)y[i]); \
    }                                                                                             \
    void judge_##kind##_##name(int64_t count, const Input *x, const Input *y, const Input *got, const format *f, \
                               double *errors, uint8_t *nearest) {                                \
        for (int64_t i = 0; i < count; i++) judge(got[i], name##q(x[i], y[i]), *f, errors + i, nearest + i); \
    }
#define LOOPS_1(name, quick) LOOP_1(name, float, f32, double, quick) LOOP_1(name, double, f64, long double, name##l)
#define UNARY(name) LOOPS_1(name, name)
#define ANGLE(name) LOOPS_1(name, name##_of_float)
/* One. The compiler must not know: it would compute the results for constant arguments, and call for all others again. */
double unit = 1;
/* Beyond these bounds the result is beyond all floats, or does not change: the library is slow there. */
#define CLAMPED(name, low, high)                                                                  \
    static inline double name##_clamped(double x) {                                               \
        double least = low * unit, most = high * unit;                                            \
        return name(x < least ? least : x > most ? most : x);                                     \
    }                                                                                             \
    LOOPS_1(name, name##_clamped)
/* Outside of these bounds there is no result. A choice by masks, for the compiler would turn one by `?` into a call anyway. */
#define DEFINED(name, low, high, inside)                                                          \
    static inline double name##_defined(double x) {                                               \
        uint64_t mask = -(uint64_t)((x >= low) & (x <= high));                                    \
        double kept = from_bits((bits_of(x) & mask) | (bits_of(inside) & ~mask));                 \
        return name(kept) * from_bits(bits_of(1) | (bits_of(NAN) & ~mask));                       \
    }                                                                                             \
    LOOPS_1(name, name##_defined)
#define BINARY(name) LOOP_2(name, float, f32, double, name) LOOP_2(name, double, f64, long double, name##l)

CLAMPED(exp, -200, 200) CLAMPED(exp2, -200, 200) CLAMPED(expm1, -200, 200)
CLAMPED(sinh, -200, 200) CLAMPED(cosh, -200, 200) CLAMPED(expit, -200, 200) CLAMPED(erfc, -30, 20)
DEFINED(log, 0, INFINITY, 1) DEFINED(log2, 0, INFINITY, 1) DEFINED(log10, 0, INFINITY, 1) DEFINED(log1p, -1, INFINITY, 1)
DEFINED(asin, -1, 1, 0) DEFINED(acos, -1, 1, 0) DEFINED(acosh, 1, INFINITY, 2) DEFINED(atanh, -1, 1, 0) DEFINED(logit, 0, 1, 0.5)
ANGLE(sin) ANGLE(cos) ANGLE(tan)
UNARY(atan) UNARY(tanh) UNARY(asinh) UNARY(sqrt) UNARY(cbrt) UNARY(erf)
BINARY(atan2) BINARY(pow) BINARY(hypot) BINARY(logaddexp) BINARY(logaddexp2)
