/* SPDX-License-Identifier: MIT */
/* The example tables of T.81 annex K, which most files use, and the order of annex A. */
#include <string.h>

#include "jpeg.h"

const uint8_t natural_order[BLOCK_SIZE] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
};

const uint8_t luminance_quant[BLOCK_SIZE] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
};

const uint8_t chrominance_quant[BLOCK_SIZE] = {
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,
    24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
    99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
};

static const uint8_t dc_bits[2][16] = {
    {0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0},
    {0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0},
};

static const uint8_t ac_bits[2][16] = {
    {0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125},
    {0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119},
};

/* The AC symbols up to the 16-bit codes; the rest follows in ascending order. */
static const uint8_t ac_short[2][46] = {
    {0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13, 0x51, 0x61, 0x07,
     0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xa1, 0x08, 0x23, 0x42, 0xb1, 0xc1, 0x15, 0x52, 0xd1, 0xf0,
     0x24, 0x33, 0x62, 0x72, 0x82},
    {0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51, 0x07, 0x61, 0x71,
     0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xa1, 0xb1, 0xc1, 0x09, 0x23, 0x33, 0x52, 0xf0,
     0x15, 0x62, 0x72, 0xd1, 0x0a, 0x16, 0x24, 0x34, 0xe1, 0x25, 0xf1},
};

static const uint8_t ac_short_count[2] = {37, 43};

static int is_listed(const uint8_t *values, int count, int symbol)
{
    for (int i = 0; i < count; i++)
        if (values[i] == symbol)
            return 1;
    return 0;
}

static void fill_ac_values(uint8_t *values, int chrominance)
{
    int count = ac_short_count[chrominance];

    memcpy(values, ac_short[chrominance], (size_t)count);
    for (int symbol = 0; symbol < 256; symbol++) {
        int size = symbol & 15;
        if (size >= 1 && size <= 10 && !is_listed(values, count, symbol))
            values[count++] = (uint8_t)symbol;
    }
}

void standard_huffman(HuffmanTable *dc, HuffmanTable *ac, int chrominance)
{
    memset(dc, 0, sizeof *dc);
    memset(ac, 0, sizeof *ac);
    memcpy(dc->bits + 1, dc_bits[chrominance], 16);
    for (int i = 0; i < 12; i++)
        dc->values[i] = (uint8_t)i;
    memcpy(ac->bits + 1, ac_bits[chrominance], 16);
    fill_ac_values(ac->values, chrominance);
    dc->defined = ac->defined = 1;
}

int32_t fast_scale(int position)
{
    static const int32_t factor[BLOCK] = {16384, 22725, 21407, 19266, 16384, 12873, 8867, 4520};
    return (factor[position / BLOCK] * factor[position % BLOCK] + 8192) >> 14;
}
