/* SPDX-License-Identifier: MIT */
/* Netpbm's grey and colour maps, plain and raw, with any number of levels. */
#include <ctype.h>

#include "encoder.h"

/* A number in decimal, after white space and comments. */
static uint32_t read_number(Input *input)
{
    int c = next_byte(input);
    uint32_t value = 0;

    while (c == '#' || isspace(c)) {
        if (c == '#')
            while (c != '\n' && c != -1)
                c = next_byte(input);
        else
            c = next_byte(input);
    }
    if (c < '0' || c > '9')
        fail("PNM: a number was expected");
    while (c >= '0' && c <= '9') {
        value = value * 10 + (uint32_t)(c - '0');
        if (value > 1000000)
            fail("PNM: number out of range");
        c = next_byte(input);
    }
    return value; /* one byte after it is consumed, as the raw forms require */
}

static void read_levels(Input *input, Image *image, int raw, uint32_t largest)
{
    size_t count = (size_t)image->width * image->height * (size_t)image->channels;

    for (size_t i = 0; i < count; i++) {
        uint32_t level;
        if (!raw)
            level = read_number(input);
        else if (largest > 255) {
            level = (uint32_t)need_byte(input) << 8;
            level |= need_byte(input);
        } else
            level = need_byte(input);
        if (level > largest)
            fail("PNM: level above the announced maximum");
        image->pixels[i] = (uint8_t)((level * 255 + largest / 2) / largest);
    }
}

void read_pnm(Input *input, Image *image)
{
    need_byte(input);
    int kind = need_byte(input);
    if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
        fail("PNM: only P2, P3, P5 and P6 are read");
    uint32_t width = read_number(input);
    uint32_t height = read_number(input);
    uint32_t largest = read_number(input);
    if (largest == 0 || largest > 65535)
        fail("PNM: maximum out of range");
    new_image(image, width, height, kind == '3' || kind == '6' ? 3 : 1);
    read_levels(input, image, kind >= '5', largest);
}
