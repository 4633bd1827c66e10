/* Complex arguments in, true values and normwise errors in ULP out: the twin of reference.c.
 *
 * The error is the distance from the true value in ULP of its magnitude. A part that is too large for the format counts
 * as the number after the largest. Points whose true value is infinite or no number are not measured. */

#include <complex.h>

#include "ulp.h"

typedef float _Complex c64;
typedef double _Complex c128;
typedef long double _Complex c256; /* in NumPy's counting, which has padding in it */

#define DEFINE_NORMWISE(Real, Number, suffix, hypot_)                                             \
    static inline Real kept_##suffix(Real part, Real limit) {                                     \
        return part > limit ? limit : part < -limit ? -limit : part;                              \
    }                                                                                             \
    static inline Real normwise_##suffix(double re, double im, Number truth, format f) {          \
        Real limit = (Real)power_of_two(f.most) * 2, infinite = __real__ truth * 0 + __imag__ truth * 0; \
        if (infinite != infinite) return 0;                                                       \
        Real x = kept_##suffix(__real__ truth, limit), y = kept_##suffix(__imag__ truth, limit);  \
        Real apart = hypot_(kept_##suffix(re, limit) - x, kept_##suffix(im, limit) - y);          \
        Real error = apart * steps_##suffix(hypot_(x, y), f) * power_of_two(f.bits - 2);          \
        return error == error ? error : INFINITY;                                                 \
    }

DEFINE_NORMWISE(double, c128, double, hypot)
DEFINE_NORMWISE(long double, c256, extended, hypotl)
DEFINE_NORMWISE(quad, __complex128, quad, hypotq)

void errors_c64(int64_t count, const c64 *got, const c128 *truth, const format *f, double *errors) {
    for (int64_t i = 0; i < count; i++) errors[i] = normwise_double(__real__ got[i], __imag__ got[i], truth[i], *f);
}

void errors_c128(int64_t count, const c128 *got, const c256 *truth, const format *f, double *errors) {
    for (int64_t i = 0; i < count; i++)
        errors[i] = (double)normwise_extended(__real__ got[i], __imag__ got[i], truth[i], *f);
}

#define LOOP_1(name, Input, kind, Quick, quick)                                                   \
    void quick_##kind##_##name(int64_t count, const Input *x, Quick *truth) {                     \
        for (int64_t i = 0; i < count; i++) truth[i] = quick(x[i]);                               \
    }                                                                                             \
    void judge_##kind##_##name(int64_t count, const Input *x, const Input *got, const format *f, double *errors, \
                               uint8_t *nearest) {                                                \
        for (int64_t i = 0; i < count; i++) {                                                     \
            errors[i] = (double)normwise_quad(__real__ got[i], __imag__ got[i], name##q(x[i]), *f); \
            nearest[i] = errors[i] <= 0.5;                                                        \
        }                                                                                         \
    }
#define LOOP_2(name, Input, kind, Quick, quick)                                                   \
    void quick_##kind##_##name(int64_t count, const Input *x, const Input *y, Quick *truth) {     \
        for (int64_t i = 0; i < count; i++) truth[i] = quick(x[i], y[i]);                         \
    }                                                                                             \
    void judge_##kind##_##name(int64_t count, const Input *x, const Input *y, const Input *got, const format *f, \
                               double *errors, uint8_t *nearest) {                                \
        for (int64_t i = 0; i < count; i++) {                                                     \
            errors[i] = (double)normwise_quad(__real__ got[i], __imag__ got[i], name##q(x[i], y[i]), *f); \
            nearest[i] = errors[i] <= 0.5;                                                        \
        }                                                                                         \
    }
#define UNARY(name) LOOP_1(name, c64, c64, c128, name) LOOP_1(name, c128, c128, c256, name##l)

UNARY(cexp) UNARY(clog) UNARY(csqrt) UNARY(cabs)
UNARY(csin) UNARY(ccos) UNARY(ctan) UNARY(csinh) UNARY(ccosh) UNARY(ctanh)
UNARY(casin) UNARY(cacos) UNARY(catan) UNARY(casinh) UNARY(cacosh) UNARY(catanh)
/* A power is the exponential of a product that may be large, which takes more bits than its result has. */
LOOP_2(cpow, c64, c64, c128, (c128)cpowl)
LOOP_2(cpow, c128, c128, c256, (c256)cpowq)
