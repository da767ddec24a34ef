/* SPDX-License-Identifier: MIT */
/* The two companding laws of ITU-T G.711, to and from samples of 16 bits. */
#include "gsm.h"

enum { ULAW_BIAS = 33, ULAW_CLIP = 8158 };

int16_t ulaw_expand(uint8_t code)
{
    unsigned bits = ~(unsigned)code;
    int magnitude = (int)(((bits & 15u) * 2 + ULAW_BIAS) << ((bits >> 4) & 7u)) - ULAW_BIAS;
    return (int16_t)((bits & 0x80u) ? -magnitude * 4 : magnitude * 4);
}

static int segment_of(int value)
{
    int segment = 0;
    while (value > 1) {
        value >>= 1;
        segment++;
    }
    return segment;
}

uint8_t ulaw_compress(int16_t sample)
{
    int value = sample >> 2;
    unsigned sign = 0;

    if (value < 0) {
        value = -value;
        sign = 0x80;
    }
    if (value > ULAW_CLIP)
        value = ULAW_CLIP;
    value += ULAW_BIAS;
    int segment = segment_of(value >> 5);
    unsigned code = sign | (unsigned)segment << 4 | ((unsigned)(value >> (segment + 1)) & 15u);
    return (uint8_t)(~code & 255u);
}

int16_t alaw_expand(uint8_t code)
{
    unsigned bits = code ^ 0x55u;
    int segment = (int)(bits >> 4) & 7;
    int magnitude = (int)(bits & 15u) * 2 + 1;

    if (segment > 0)
        magnitude = (magnitude + 32) << (segment - 1);
    return (int16_t)((bits & 0x80u) ? magnitude * 8 : -magnitude * 8);
}

uint8_t alaw_compress(int16_t sample)
{
    int value = sample >> 3;
    unsigned sign = 0x80;

    if (value < 0) {
        value = -value - 1;
        sign = 0;
    }
    int segment = value > 31 ? segment_of(value >> 4) : 0;
    unsigned low = (unsigned)(segment > 0 ? value >> segment : value >> 1) & 15u;
    return (uint8_t)((sign | (unsigned)segment << 4 | low) ^ 0x55u);
}
