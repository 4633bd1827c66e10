/* Results and true values in, errors in ULP out: what the references of real and of complex functions share. */

#include <math.h>
#include <quadmath.h>
#include <stdint.h>
#include <string.h>

typedef __float128 quad;

/* A result's format: the bits of its mantissa, its least and its greatest exponent. */
typedef struct {
    int64_t bits, least, most;
} format;

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double power_of_two(int64_t exponent) { return from_bits((uint64_t)(exponent + 1023) << 52); }

/* How many ULP of the true value there are in 1, but for a factor 2^(bits - 2) that keeps the power in range. Rounding to
 * double may carry the true value into the next binade, and one step down undoes it. */
#define DEFINE_STEPS(Real, suffix)                                               \
    static inline double steps_##suffix(Real size, format f) {                   \
        double rounded = (double)size;                                           \
        uint64_t bits = bits_of(rounded) - (rounded > size ? 1 : 0);             \
        int64_t exponent = (int64_t)(bits >> 52) - 1023;                         \
        exponent = exponent < f.least ? f.least : exponent;                      \
        return power_of_two(1 - (exponent > f.most ? f.most : exponent));        \
    }

/* The error in ULP of the true value. Infinity counts as the number after the largest; a NaN where there should be
 * none, none where there should be one, and the wrong sign of a zero are infinitely wrong. */
#define DEFINE_ERROR(Real, suffix, fabs_)                                        \
    DEFINE_STEPS(Real, suffix)                                                   \
    static inline Real error_##suffix(double got, Real truth, format f) {        \
        Real limit = (Real)power_of_two(f.most) * 2;                             \
        Real kept = truth > limit ? limit : truth < -limit ? -limit : truth;     \
        Real found = got > limit ? limit : got < -limit ? -limit : (Real)got;    \
        Real error = fabs_(found - kept) * steps_##suffix(fabs_(kept), f);       \
        error *= power_of_two(f.bits - 2);                                       \
        int64_t signs = (int64_t)(bits_of(got) ^ bits_of((double)truth));        \
        error = got == 0 ? (signs < 0 ? INFINITY : error) : error;               \
        error = truth != truth ? (got != got ? 0 : INFINITY) : error;            \
        return error != error ? INFINITY : error;                                \
    }

DEFINE_ERROR(double, double, fabs)
DEFINE_ERROR(long double, extended, fabsl)
DEFINE_ERROR(quad, quad, fabsq)
