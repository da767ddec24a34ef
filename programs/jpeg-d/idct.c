/* SPDX-License-Identifier: MIT */
/* Inverse cosine transforms to 8, 4, 2 or 1 samples a side. The accurate one is that of Loeffler,
   Ligtenberg and Moschytz (1989) with 13-bit constants, the fast one that of Arai, Agui and Nakajima
   (1988) with 8-bit constants. Intermediate values are wide, as damaged files hold any number. */
#include "decoder.h"

enum { CONSTANT_BITS = 13, PASS_BITS = 2, FAST_BITS = 8, FAST_SCALE_BITS = 2, CENTER = 128 };

enum {
    C_0_298 = 2446, C_0_390 = 3196, C_0_541 = 4433, C_0_765 = 6270, C_0_899 = 7373, C_1_175 = 9633,
    C_1_501 = 12299, C_1_847 = 15137, C_1_961 = 16069, C_2_053 = 16819, C_2_562 = 20995,
    C_3_072 = 25172
};

static int64_t descale(int64_t value, int bits)
{
    return (value + ((int64_t)1 << (bits - 1))) >> bits;
}

static void accurate_pass(int64_t *data, int step, int bits)
{
    int64_t turn = (data[2 * step] + data[6 * step]) * C_0_541;
    int64_t low = turn - data[6 * step] * C_1_847;
    int64_t high = turn + data[2 * step] * C_0_765;
    int64_t sum = (data[0] + data[4 * step]) * (1 << CONSTANT_BITS);
    int64_t difference = (data[0] - data[4 * step]) * (1 << CONSTANT_BITS);
    int64_t even[4] = {sum + high, difference + low, difference - low, sum - high};

    int64_t a = data[7 * step], b = data[5 * step], c = data[3 * step], d = data[1 * step];
    int64_t shared = (a + b + c + d) * C_1_175;
    int64_t ad = (a + d) * -C_0_899;
    int64_t bc = (b + c) * -C_2_562;
    int64_t ac = (a + c) * -C_1_961 + shared;
    int64_t bd = (b + d) * -C_0_390 + shared;
    int64_t odd[4] = {d * C_1_501 + ad + bd, c * C_3_072 + bc + ac, b * C_2_053 + bc + bd,
                      a * C_0_298 + ad + ac};

    for (int i = 0; i < 4; i++) {
        data[i * step] = descale(even[i] + odd[i], bits);
        data[(7 - i) * step] = descale(even[i] - odd[i], bits);
    }
}

static int64_t scale_fast(int64_t value, int64_t constant)
{
    return (value * constant) >> FAST_BITS;
}

static void fast_pass(int64_t *data, int step)
{
    int64_t sum = data[0] + data[4 * step];
    int64_t difference = data[0] - data[4 * step];
    int64_t high = data[2 * step] + data[6 * step];
    int64_t low = scale_fast(data[2 * step] - data[6 * step], 362) - high;
    int64_t even[4] = {sum + high, difference + low, difference - low, sum - high};

    int64_t z13 = data[5 * step] + data[3 * step];
    int64_t z10 = data[5 * step] - data[3 * step];
    int64_t z11 = data[1 * step] + data[7 * step];
    int64_t z12 = data[1 * step] - data[7 * step];
    int64_t turn = scale_fast(z10 + z12, 473);
    int64_t odd[4];
    odd[0] = z11 + z13;
    odd[1] = turn - scale_fast(z10, 669) - odd[0];
    odd[2] = scale_fast(z11 - z13, 362) - odd[1];
    odd[3] = scale_fast(z12, 277) - turn + odd[2];
    /* The last of the four has the opposite sign in the flow graph. */
    odd[3] = -odd[3];

    for (int i = 0; i < 4; i++) {
        data[i * step] = even[i] + odd[i];
        data[(7 - i) * step] = even[i] - odd[i];
    }
}

static void four_pass(int64_t *data, int step, int bits)
{
    int64_t sum = (data[0] + data[2 * step]) * (1 << CONSTANT_BITS);
    int64_t difference = (data[0] - data[2 * step]) * (1 << CONSTANT_BITS);
    int64_t turn = (data[1 * step] + data[3 * step]) * C_0_541;
    int64_t high = turn + data[1 * step] * C_0_765;
    int64_t low = turn - data[3 * step] * C_1_847;

    data[0 * step] = descale(sum + high, bits);
    data[1 * step] = descale(difference + low, bits);
    data[2 * step] = descale(difference - low, bits);
    data[3 * step] = descale(sum - high, bits);
}

static void store(const int64_t *data, int size, int bits, uint8_t *to, size_t stride)
{
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            int64_t value = data[y * BLOCK + x];
            to[(size_t)y * stride + (size_t)x] =
                clamp_byte((bits > 0 ? descale(value, bits) : value) + CENTER);
        }
}

static void transform_accurately(int64_t *data, uint8_t *to, size_t stride)
{
    for (int column = 0; column < BLOCK; column++)
        accurate_pass(data + column, BLOCK, CONSTANT_BITS - PASS_BITS);
    for (int row = 0; row < BLOCK; row++)
        accurate_pass(data + row * BLOCK, 1, CONSTANT_BITS + PASS_BITS + 3);
    store(data, BLOCK, 0, to, stride);
}

static void transform_fast(int64_t *data, uint8_t *to, size_t stride)
{
    for (int i = 0; i < BLOCK_SIZE; i++)
        data[i] = descale(data[i] * fast_scale(i), 14 - FAST_SCALE_BITS);
    for (int column = 0; column < BLOCK; column++)
        fast_pass(data + column, BLOCK);
    for (int row = 0; row < BLOCK; row++)
        fast_pass(data + row * BLOCK, 1);
    for (int i = 0; i < BLOCK_SIZE; i++)
        data[i] >>= FAST_SCALE_BITS + 3;
    store(data, BLOCK, 0, to, stride);
}

static void transform_to_four(int64_t *data, uint8_t *to, size_t stride)
{
    for (int column = 0; column < 4; column++)
        four_pass(data + column, BLOCK, CONSTANT_BITS - PASS_BITS);
    for (int row = 0; row < 4; row++)
        four_pass(data + row * BLOCK, 1, CONSTANT_BITS + PASS_BITS + 3);
    store(data, 4, 0, to, stride);
}

static void transform_to_two(int64_t *data, uint8_t *to, size_t stride)
{
    int64_t a = data[0], b = data[1], c = data[BLOCK], d = data[BLOCK + 1];

    data[0] = a + b + c + d;
    data[1] = a - b + c - d;
    data[BLOCK] = a + b - c - d;
    data[BLOCK + 1] = a - b - c + d;
    store(data, 2, 3, to, stride);
}

/* Many blocks are flat: their only coefficient is the mean. */
static int is_flat(const int16_t *coefficients)
{
    for (int i = 1; i < BLOCK_SIZE; i++)
        if (coefficients[i] != 0)
            return 0;
    return 1;
}

static void fill_flat(int64_t mean, int size, uint8_t *to, size_t stride)
{
    uint8_t level = clamp_byte(descale(mean, 3) + CENTER);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            to[(size_t)y * stride + (size_t)x] = level;
}

void inverse_transform(const int16_t *coefficients, const QuantTable *quant, DctChoice dct, int size,
                       uint8_t *to, size_t stride)
{
    int64_t data[BLOCK_SIZE];

    if (size == 1 || (dct == DCT_ACCURATE && is_flat(coefficients))) {
        fill_flat((int64_t)coefficients[0] * quant->value[0], size, to, stride);
        return;
    }
    for (int i = 0; i < BLOCK_SIZE; i++)
        data[i] = (int64_t)coefficients[i] * quant->value[i];
    if (size == 4)
        transform_to_four(data, to, stride);
    else if (size == 2)
        transform_to_two(data, to, stride);
    else if (dct == DCT_FAST)
        transform_fast(data, to, stride);
    else
        transform_accurately(data, to, stride);
}
