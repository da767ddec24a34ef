/* SPDX-License-Identifier: MIT */
/* Tables made with integers, so that they are the same on every machine. */
#include "susan.h"

enum { ONE = 1 << 16 };

/* exp(-x) for x in 16 fractional bits: whole powers by a table, the rest by the series. */
int32_t exponential_q16(int64_t x)
{
    static const int32_t whole[12] = {65536, 24109, 8869, 3263, 1200, 442, 162, 60, 22, 8, 3, 1};
    int64_t index = x >> 16;
    int64_t fraction = x & (ONE - 1);
    int64_t term = ONE;
    int64_t sum = ONE;

    if (index >= 12)
        return 0;
    for (int n = 1; n <= 10; n++) {
        term = -(term * fraction / n) / ONE;
        sum += term;
    }
    return (int32_t)(((int64_t)whole[index] * sum + ONE / 2) >> 16);
}

/* 100 * exp(-(difference / threshold) ** exponent). */
void build_similarity(Similarity *similarity, int threshold, int exponent)
{
    for (int difference = -255; difference <= 255; difference++) {
        int magnitude = difference < 0 ? -difference : difference;
        int64_t ratio = (int64_t)magnitude * ONE / threshold;
        int64_t power = ONE;
        int value = 0;
        if (ratio < 4 * ONE) {
            for (int i = 0; i < exponent; i++)
                power = power * ratio / ONE;
            value = (int)(((int64_t)100 * exponential_q16(power) + ONE / 2) / ONE);
        }
        similarity->by_difference[difference + 255] = (uint8_t)value;
    }
}
