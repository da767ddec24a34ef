/* SPDX-License-Identifier: MIT */
/* From pixels to quantised coefficients: colour conversion, smoothing, subsampling, transform.
   Edges are filled by repeating the last column of pixels and the last row of samples. */
#include <string.h>

#include "encoder.h"

enum { SCALE_BITS = 16, HALF = 1 << (SCALE_BITS - 1), CENTER = 128 };

typedef struct {
    uint32_t width, height; /* as stored */
    uint8_t *samples;
} Plane;

/* ---- colour ---- */

static uint8_t luminance(const uint8_t *rgb)
{
    return (uint8_t)((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + HALF) >> SCALE_BITS);
}

static uint8_t blue_difference(const uint8_t *rgb)
{
    int32_t offset = (CENTER << SCALE_BITS) + HALF - 1;
    return (uint8_t)((-11059 * rgb[0] - 21709 * rgb[1] + 32768 * rgb[2] + offset) >> SCALE_BITS);
}

static uint8_t red_difference(const uint8_t *rgb)
{
    int32_t offset = (CENTER << SCALE_BITS) + HALF - 1;
    return (uint8_t)((32768 * rgb[0] - 27439 * rgb[1] - 5329 * rgb[2] + offset) >> SCALE_BITS);
}

static uint8_t convert_pixel(const Encoder *encoder, const Image *image, int component,
                             const uint8_t *pixel)
{
    if (image->channels == 1)
        return pixel[0];
    if (encoder->settings.color == COLOR_RGB)
        return pixel[component];
    switch (component) {
    case 0: return luminance(pixel);
    case 1: return blue_difference(pixel);
    default: return red_difference(pixel);
    }
}

/* One component at full resolution, widened to `width` columns and `height` rows. */
static void extract_plane(const Encoder *encoder, const Image *image, int component, Plane *plane)
{
    size_t channels = (size_t)image->channels;

    for (uint32_t y = 0; y < plane->height; y++) {
        uint8_t *to = plane->samples + (size_t)y * plane->width;
        if (y >= image->height) {
            memcpy(to, to - plane->width, plane->width);
            continue;
        }
        const uint8_t *from = image->pixels + (size_t)y * image->width * channels;
        for (uint32_t x = 0; x < image->width; x++)
            to[x] = convert_pixel(encoder, image, component, from + x * channels);
        memset(to + image->width, to[image->width - 1], plane->width - image->width);
    }
}

/* ---- smoothing: every sample takes a share of its eight neighbours ---- */

static uint32_t clamp_index(uint32_t base, int offset, uint32_t limit)
{
    if (offset < 0)
        return base == 0 ? 0 : base - 1;
    return base + (uint32_t)offset >= limit ? limit - 1 : base + (uint32_t)offset;
}

static void smooth_plane(Plane *plane, int strength)
{
    uint8_t *smoothed = take_memory(plane->height, plane->width);
    int32_t neighbour = strength * 64;
    int32_t own = 65536 - 8 * neighbour;

    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            int32_t around = 0;
            for (int dy = -1; dy <= 1; dy++) {
                const uint8_t *row =
                    plane->samples + (size_t)clamp_index(y, dy, plane->height) * plane->width;
                for (int dx = -1; dx <= 1; dx++)
                    around += row[clamp_index(x, dx, plane->width)];
            }
            int32_t center = plane->samples[(size_t)y * plane->width + x];
            around -= center;
            smoothed[(size_t)y * plane->width + x] =
                (uint8_t)((own * center + neighbour * around + HALF) >> SCALE_BITS);
        }
    }
    plane->samples = smoothed;
}

/* ---- subsampling ---- */

/* The bias alternates along the row, so that halves are not all rounded the same way. */
static void halve_row(const uint8_t *from, uint8_t *to, uint32_t count)
{
    for (uint32_t x = 0; x < count; x++)
        to[x] = (uint8_t)((from[2 * x] + from[2 * x + 1] + (int)(x & 1u)) >> 1);
}

static void quarter_row(const uint8_t *upper, const uint8_t *lower, uint8_t *to, uint32_t count)
{
    for (uint32_t x = 0; x < count; x++)
        to[x] = (uint8_t)((upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1] + 1 +
                           (int)(x & 1u)) >> 2);
}

static void average_row(const uint8_t *from, size_t stride, int h, int v, uint8_t *to, uint32_t count)
{
    int32_t area = h * v;

    for (uint32_t x = 0; x < count; x++) {
        int32_t sum = 0;
        for (int dy = 0; dy < v; dy++)
            for (int dx = 0; dx < h; dx++)
                sum += from[(size_t)dy * stride + x * (uint32_t)h + (uint32_t)dx];
        to[x] = (uint8_t)((sum + area / 2) / area);
    }
}

static void subsample(const Plane *full, int h, int v, uint32_t valid_rows, Plane *small)
{
    for (uint32_t y = 0; y < small->height; y++) {
        uint8_t *to = small->samples + (size_t)y * small->width;
        const uint8_t *from = full->samples + (size_t)y * (uint32_t)v * full->width;
        if (y >= valid_rows)
            memcpy(to, to - small->width, small->width);
        else if (h == 1 && v == 1)
            memcpy(to, from, small->width);
        else if (h == 2 && v == 1)
            halve_row(from, to, small->width);
        else if (h == 2 && v == 2)
            quarter_row(from, from + full->width, to, small->width);
        else
            average_row(from, full->width, h, v, to, small->width);
    }
}

/* ---- transform and quantisation ---- */

static void set_divisors(const QuantTable *table, DctChoice dct, int32_t *divisor)
{
    for (int i = 0; i < BLOCK_SIZE; i++) {
        if (dct == DCT_ACCURATE)
            divisor[i] = table->value[i] * 8;
        else
            divisor[i] = (int32_t)(((int64_t)table->value[i] * fast_scale(i) + 1024) >> 11);
        if (divisor[i] == 0)
            divisor[i] = 1;
    }
}

static void quantise(const int32_t *block, const int32_t *divisor, int16_t *to)
{
    for (int i = 0; i < BLOCK_SIZE; i++) {
        int32_t magnitude = block[i] < 0 ? -block[i] : block[i];
        magnitude = (magnitude + divisor[i] / 2) / divisor[i];
        if (magnitude > 1023 && i > 0)
            magnitude = 1023; /* the most that baseline codes can say */
        to[i] = (int16_t)(block[i] < 0 ? -magnitude : magnitude);
    }
}

static void transform_block(const Plane *plane, uint32_t row, uint32_t column, DctChoice dct,
                            const int32_t *divisor, int16_t *to)
{
    int32_t block[BLOCK_SIZE];

    for (int y = 0; y < BLOCK; y++) {
        const uint8_t *from =
            plane->samples + ((size_t)row * BLOCK + (size_t)y) * plane->width + (size_t)column * BLOCK;
        for (int x = 0; x < BLOCK; x++)
            block[y * BLOCK + x] = from[x] - CENTER;
    }
    if (dct == DCT_ACCURATE)
        fdct_accurate(block);
    else
        fdct_fast(block);
    quantise(block, divisor, to);
}

/* Blocks that only fill up MCUs repeat the mean of the block before: cheap to code, never seen. */
static void fill_padding(Component *component)
{
    for (uint32_t row = 0; row < component->down; row++)
        for (uint32_t column = component->across; column < component->stride; column++)
            block_at(component, row, column)[0] = block_at(component, row, column - 1)[0];
    for (uint32_t row = component->down; row < component->rows; row++) {
        uint32_t h = (uint32_t)component->h;
        for (uint32_t column = 0; column < component->stride; column++)
            block_at(component, row, column)[0] =
                block_at(component, row - 1, column - column % h + h - 1)[0];
    }
}

static void transform_component(Encoder *encoder, const Image *image, int index)
{
    Frame *frame = &encoder->frame;
    Component *component = &frame->component[index];
    int h = frame->h_max / component->h;
    int v = frame->v_max / component->v;
    Plane small = {component->across * BLOCK, component->down * BLOCK, NULL};
    Plane full = {small.width * (uint32_t)h, small.height * (uint32_t)v, NULL};
    int32_t divisor[BLOCK_SIZE];

    /* A sampling that is coarser than the image makes the padded plane only larger. */
    full.samples = take_memory(full.height, full.width);
    small.samples = take_memory(small.height, small.width);
    extract_plane(encoder, image, index, &full);
    if (encoder->settings.smoothing > 0)
        smooth_plane(&full, encoder->settings.smoothing);
    subsample(&full, h, v, component->height, &small);
    set_divisors(&encoder->quant[component->quant], encoder->settings.dct, divisor);
    for (uint32_t row = 0; row < component->down; row++)
        for (uint32_t column = 0; column < component->across; column++)
            transform_block(&small, row, column, encoder->settings.dct, divisor,
                            block_at(component, row, column));
    fill_padding(component);
}

void transform_image(Encoder *encoder, const Image *image)
{
    for (int c = 0; c < encoder->frame.count; c++)
        transform_component(encoder, image, c);
}
