/* SPDX-License-Identifier: MIT */
/* Rows of components to rows of pixels, by T.871 and, for four components, by Adobe's custom. */
#include <string.h>

#include "decoder.h"

enum { SCALE_BITS = 16, HALF = 1 << (SCALE_BITS - 1), CENTER = 128 };

static void ycc_to_rgb(int y, int cb, int cr, uint8_t *rgb)
{
    cb -= CENTER;
    cr -= CENTER;
    rgb[0] = clamp_byte(y + ((91881 * cr + HALF) >> SCALE_BITS));
    rgb[1] = clamp_byte(y + ((-22554 * cb - 46802 * cr + HALF) >> SCALE_BITS));
    rgb[2] = clamp_byte(y + ((116130 * cb + HALF) >> SCALE_BITS));
}

static uint8_t luminance(const uint8_t *rgb)
{
    return (uint8_t)((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + HALF) >> SCALE_BITS);
}

/* Inks are stored inverted: 255 is none. */
static void ink_to_rgb(const uint8_t *ink, int black, uint8_t *rgb)
{
    for (int channel = 0; channel < 3; channel++)
        rgb[channel] = (uint8_t)((ink[channel] * black + 127) / 255);
}

static void convert_pixel(ColorSpace space, uint8_t *const *rows, uint32_t x, uint8_t *rgb)
{
    uint8_t ink[3];

    switch (space) {
    case SPACE_GRAY:
        rgb[0] = rgb[1] = rgb[2] = rows[0][x];
        break;
    case SPACE_RGB:
        for (int channel = 0; channel < 3; channel++)
            rgb[channel] = rows[channel][x];
        break;
    case SPACE_YCC:
        ycc_to_rgb(rows[0][x], rows[1][x], rows[2][x], rgb);
        break;
    case SPACE_CMYK:
        for (int channel = 0; channel < 3; channel++)
            ink[channel] = rows[channel][x];
        ink_to_rgb(ink, rows[3][x], rgb);
        break;
    case SPACE_YCCK:
        ycc_to_rgb(rows[0][x], rows[1][x], rows[2][x], ink);
        for (int channel = 0; channel < 3; channel++)
            ink[channel] = (uint8_t)(255 - ink[channel]);
        ink_to_rgb(ink, rows[3][x], rgb);
        break;
    }
}

void convert_row(ColorSpace space, int grayscale, uint8_t *const *rows, uint32_t width, uint8_t *to)
{
    if (grayscale && (space == SPACE_GRAY || space == SPACE_YCC)) {
        memcpy(to, rows[0], width);
        return;
    }
    for (uint32_t x = 0; x < width; x++) {
        uint8_t rgb[3];
        convert_pixel(space, rows, x, rgb);
        if (grayscale)
            to[x] = luminance(rgb);
        else
            memcpy(to + 3 * (size_t)x, rgb, 3);
    }
}
