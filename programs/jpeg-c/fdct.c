/* SPDX-License-Identifier: MIT */
/* Forward cosine transforms of 8 by 8 samples, by rows and then by columns. The accurate one is the
   factorisation of Loeffler, Ligtenberg and Moschytz (1989) with 12 multiplications and 13-bit
   constants; its output is 8 times the coefficients. The fast one is that of Arai, Agui and
   Nakajima (1988) with 5 multiplications and 8-bit constants; the quantiser takes its scale away. */
#include "encoder.h"

enum { CONSTANT_BITS = 13, PASS_BITS = 2, FAST_BITS = 8 };

enum {
    C_0_298 = 2446, C_0_390 = 3196, C_0_541 = 4433, C_0_765 = 6270, C_0_899 = 7373, C_1_175 = 9633,
    C_1_501 = 12299, C_1_847 = 15137, C_1_961 = 16069, C_2_053 = 16819, C_2_562 = 20995,
    C_3_072 = 25172
};

static int32_t descale(int32_t value, int bits)
{
    return (value + (1 << (bits - 1))) >> bits;
}

static void accurate_pass(int32_t *data, int step, int second)
{
    int bits = second ? CONSTANT_BITS + PASS_BITS : CONSTANT_BITS - PASS_BITS;
    int32_t sum[4], difference[4];

    for (int i = 0; i < 4; i++) {
        sum[i] = data[i * step] + data[(7 - i) * step];
        difference[i] = data[i * step] - data[(7 - i) * step];
    }
    int32_t even0 = sum[0] + sum[3], even1 = sum[1] + sum[2];
    int32_t odd0 = sum[0] - sum[3], odd1 = sum[1] - sum[2];
    data[0] = second ? descale(even0 + even1, PASS_BITS) : (even0 + even1) * (1 << PASS_BITS);
    data[4 * step] = second ? descale(even0 - even1, PASS_BITS) : (even0 - even1) * (1 << PASS_BITS);
    int32_t turn = (odd0 + odd1) * C_0_541;
    data[2 * step] = descale(turn + odd0 * C_0_765, bits);
    data[6 * step] = descale(turn - odd1 * C_1_847, bits);

    int32_t a = difference[0], b = difference[1], c = difference[2], d = difference[3];
    int32_t shared = (a + b + c + d) * C_1_175;
    int32_t ad = (a + d) * -C_0_899;
    int32_t bc = (b + c) * -C_2_562;
    int32_t bd = (b + d) * -C_1_961 + shared;
    int32_t ac = (a + c) * -C_0_390 + shared;
    data[7 * step] = descale(d * C_0_298 + ad + bd, bits);
    data[5 * step] = descale(c * C_2_053 + bc + ac, bits);
    data[3 * step] = descale(b * C_3_072 + bc + bd, bits);
    data[1 * step] = descale(a * C_1_501 + ad + ac, bits);
}

void fdct_accurate(int32_t *block)
{
    for (int row = 0; row < BLOCK; row++)
        accurate_pass(block + row * BLOCK, 1, 0);
    for (int column = 0; column < BLOCK; column++)
        accurate_pass(block + column, BLOCK, 1);
}

static int32_t scale_fast(int32_t value, int32_t constant)
{
    return (value * constant) >> FAST_BITS;
}

static void fast_pass(int32_t *data, int step)
{
    int32_t sum[4], difference[4];

    for (int i = 0; i < 4; i++) {
        sum[i] = data[i * step] + data[(7 - i) * step];
        difference[i] = data[i * step] - data[(7 - i) * step];
    }
    int32_t even0 = sum[0] + sum[3], even1 = sum[1] + sum[2];
    int32_t odd0 = sum[0] - sum[3], odd1 = sum[1] - sum[2];
    int32_t middle = scale_fast(odd0 + odd1, 181);
    data[0] = even0 + even1;
    data[4 * step] = even0 - even1;
    data[2 * step] = odd0 + middle;
    data[6 * step] = odd0 - middle;

    int32_t p = difference[3] + difference[2];
    int32_t q = difference[2] + difference[1];
    int32_t r = difference[1] + difference[0];
    int32_t turn = scale_fast(p - r, 98);
    int32_t low = scale_fast(p, 139) + turn;
    int32_t high = scale_fast(r, 334) + turn;
    int32_t half = scale_fast(q, 181);
    int32_t plus = difference[0] + half;
    int32_t minus = difference[0] - half;
    data[5 * step] = minus + low;
    data[3 * step] = minus - low;
    data[1 * step] = plus + high;
    data[7 * step] = plus - high;
}

void fdct_fast(int32_t *block)
{
    for (int row = 0; row < BLOCK; row++)
        fast_pass(block + row * BLOCK, 1);
    for (int column = 0; column < BLOCK; column++)
        fast_pass(block + column, BLOCK);
}
