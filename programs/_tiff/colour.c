/* SPDX-License-Identifier: MIT */
/* From any photometric interpretation to 8-bit red, green, blue and alpha, colour multiplied by
 * alpha.  Integers only: 16-bit samples are rounded by 257, YCbCr is worked out in 1/65536. */
#include "tiff.h"

static unsigned to_byte(unsigned value, unsigned bits)
{
    switch (bits) {
    case 16:
        return (value + 128) / 257;
    case 8:
        return value;
    default:
        return value * 255 / ((1u << bits) - 1);
    }
}

static unsigned multiply(unsigned value, unsigned alpha)
{
    return (value * alpha + 127) / 255;
}

static void store(uint8_t *rgba, unsigned red, unsigned green, unsigned blue, unsigned alpha)
{
    rgba[0] = (uint8_t)red;
    rgba[1] = (uint8_t)green;
    rgba[2] = (uint8_t)blue;
    rgba[3] = (uint8_t)alpha;
}

static unsigned alpha_of(const tiff_image *image, const uint16_t *pixel, unsigned colours)
{
    return image->alpha == ALPHA_NONE ? 255 : to_byte(pixel[colours], image->bits);
}

static void grey_pixels(const tiff_image *image, const uint16_t *pixel, uint8_t *rgba, size_t count)
{
    unsigned invert = image->photometric == PHOTO_MIN_IS_WHITE ? 255 : 0;
    for (; count--; pixel += image->samples, rgba += 4) {
        unsigned value = (image->bits == 16 ? pixel[0] >> 8u : to_byte(pixel[0], image->bits)) ^ invert;
        unsigned alpha = alpha_of(image, pixel, 1);
        if (image->alpha == ALPHA_UNASSOCIATED)
            value = multiply(value, alpha);
        store(rgba, value, value, value, alpha);
    }
}

static void rgb_pixels(const tiff_image *image, const uint16_t *pixel, uint8_t *rgba, size_t count)
{
    for (; count--; pixel += image->samples, rgba += 4) {
        unsigned red = to_byte(pixel[0], image->bits), green = to_byte(pixel[1], image->bits);
        unsigned blue = to_byte(pixel[2], image->bits), alpha = alpha_of(image, pixel, 3);
        if (image->alpha == ALPHA_UNASSOCIATED)
            store(rgba, multiply(red, alpha), multiply(green, alpha), multiply(blue, alpha), alpha);
        else
            store(rgba, red, green, blue, alpha);
    }
}

static void palette_pixels(const tiff_image *image, const uint16_t *pixel, uint8_t *rgba, size_t count)
{
    unsigned entries = 1u << image->bits, wide = 0;
    uint8_t table[256][3];
    /* Some writers stored 8-bit values; nobody means a palette of sixteen kinds of black. */
    for (unsigned i = 0; i < 3 * entries; i++)
        wide |= image->palette[i] > 255;
    for (unsigned i = 0; i < entries; i++)
        for (unsigned s = 0; s < 3; s++) {
            unsigned value = image->palette[s * entries + i];
            table[i][s] = (uint8_t)(wide ? value >> 8 : value);
        }
    for (; count--; pixel++, rgba += 4)
        store(rgba, table[*pixel][0], table[*pixel][1], table[*pixel][2], 255);
}

static void cmyk_pixels(const tiff_image *image, const uint16_t *pixel, uint8_t *rgba, size_t count)
{
    for (; count--; pixel += image->samples, rgba += 4) {
        unsigned light = 255 - to_byte(pixel[3], image->bits), ink[3];
        for (unsigned s = 0; s < 3; s++)
            ink[s] = light * (255 - to_byte(pixel[s], image->bits)) / 255;
        store(rgba, ink[0], ink[1], ink[2], 255);
    }
}

static unsigned clamp(int32_t value)
{
    return value < 0 ? 0 : value > 255 ? 255 : (unsigned)value;
}

/* A code between its reference black and white, as a level out of range, in whole numbers. */
static int32_t level(int32_t code, int32_t black, int32_t white, int32_t range)
{
    int32_t span = white - black;
    return (int32_t)((int64_t)(code - black) * range / (span ? span : 1));
}

static void ycbcr_pixels(const tiff_image *image, const uint16_t *pixel, uint8_t *rgba, size_t count)
{
    const int32_t red = (int32_t)image->luma[0], green = (int32_t)image->luma[1], blue = (int32_t)image->luma[2];
    int32_t ref[6];
    for (unsigned i = 0; i < 6; i++)
        ref[i] = (int32_t)(image->reference[i] & 0xffff);
    for (; count--; pixel += 3, rgba += 4) {
        int32_t y = level(pixel[0], ref[0], ref[1], 255);
        int32_t cb = level(pixel[1], ref[2], ref[3], 127), cr = level(pixel[2], ref[4], ref[5], 127);
        int32_t r = y + (int32_t)(((int64_t)cr * 2 * (65536 - red) + 32768) >> 16);
        int32_t b = y + (int32_t)(((int64_t)cb * 2 * (65536 - blue) + 32768) >> 16);
        int64_t cross = (int64_t)cr * 2 * red * (65536 - red) / green + (int64_t)cb * 2 * blue * (65536 - blue) / green;
        store(rgba, clamp(r), clamp(y - (int32_t)((cross + 32768) >> 16)), clamp(b), 255);
    }
}

int tiff_to_rgba(const tiff_file *file, const tiff_image *image, uint8_t *rgba)
{
    size_t count = (size_t)image->width * image->height;
    switch (image->photometric) {
    case PHOTO_MIN_IS_WHITE:
    case PHOTO_MIN_IS_BLACK:
        grey_pixels(image, image->pixels, rgba, count);
        return 1;
    case PHOTO_RGB:
        if (image->samples < 3)
            return tiff_error(file->name, "RGB needs three samples");
        rgb_pixels(image, image->pixels, rgba, count);
        return 1;
    case PHOTO_PALETTE:
        palette_pixels(image, image->pixels, rgba, count);
        return 1;
    case PHOTO_SEPARATED:
        if (image->samples < 4)
            return tiff_error(file->name, "CMYK needs four samples");
        cmyk_pixels(image, image->pixels, rgba, count);
        return 1;
    case PHOTO_YCBCR:
        ycbcr_pixels(image, image->pixels, rgba, count);
        return 1;
    default:
        return tiff_error(file->name, "photometric interpretation %u is not supported", image->photometric);
    }
}
