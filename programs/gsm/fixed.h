/* SPDX-License-Identifier: MIT */
/* The arithmetic operators of clause 5.1: 16-bit words and 32-bit long words that saturate. */
#ifndef FIXED_H
#define FIXED_H

#include <stdint.h>

static inline int16_t saturate(int32_t value)
{
    return (int16_t)(value > INT16_MAX ? INT16_MAX : value < INT16_MIN ? INT16_MIN : value);
}

static inline int16_t add(int16_t a, int16_t b)
{
    return saturate((int32_t)a + b);
}

static inline int16_t sub(int16_t a, int16_t b)
{
    return saturate((int32_t)a - b);
}

static inline int16_t absolute(int16_t a)
{
    return a < 0 ? (a == INT16_MIN ? INT16_MAX : (int16_t)-a) : a;
}

static inline int16_t mult(int16_t a, int16_t b)
{
    return saturate(((int32_t)a * b) >> 15);
}

static inline int16_t mult_r(int16_t a, int16_t b)
{
    return saturate(((int32_t)a * b + 16384) >> 15);
}

static inline int32_t L_add(int32_t a, int32_t b)
{
    int64_t sum = (int64_t)a + b;
    return (int32_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
}

static inline int32_t L_mult(int16_t a, int16_t b)
{
    int64_t product = 2 * (int64_t)a * b;
    return product > INT32_MAX ? INT32_MAX : (int32_t)product;
}

/* Left shifts that bring the highest bit of a value other than 0 next to its sign bit. */
static inline int16_t norm(int32_t value)
{
    uint32_t bits = value < 0 ? ~(uint32_t)value : (uint32_t)value;
    int16_t shifts = 0;
    if (bits == 0)
        return 31;
    while ((bits & 0x40000000u) == 0) {
        bits <<= 1;
        shifts++;
    }
    return shifts;
}

/* A quotient in 15 fractional bits, 0 <= numerator <= denominator, 0 < denominator. */
static inline int16_t divide(int16_t numerator, int16_t denominator)
{
    int32_t rest = numerator;
    int16_t quotient = 0;
    for (int bit = 0; bit < 15; bit++) {
        quotient = (int16_t)(quotient * 2);
        rest *= 2;
        if (rest >= denominator) {
            rest -= denominator;
            quotient++;
        }
    }
    return quotient;
}

/* Multiplication instead of a shift of a negative value, which C leaves undefined; 16 bits stay. */
static inline int16_t shift_left(int16_t value, int count)
{
    return (int16_t)(uint16_t)((uint32_t)(int32_t)value << count);
}

#endif
