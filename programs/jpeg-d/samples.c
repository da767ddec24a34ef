/* SPDX-License-Identifier: MIT */
/* From coefficients to pixels: inverse transforms, upsampling with a triangular filter or by
   repetition, colour conversion row by row. */
#include <string.h>

#include "decoder.h"

typedef struct {
    uint8_t *samples;
    size_t stride;
    uint32_t width, height; /* without the padding to whole blocks */
    int h, v;               /* how many times larger the output is */
    int fancy;
    uint8_t *row;           /* one row of the output's width, with room for a whole group */
} Plane;

/* ---- inverse transform ---- */

/* Subsampled components of a reduced image can be decoded at a larger size instead of being
   enlarged afterwards. */
static int block_size_of(const Decoder *decoder, const Component *component)
{
    const Frame *frame = &decoder->frame;
    int scale = decoder->settings.scale;
    int size = scale;

    while (size < BLOCK && (frame->h_max * scale) % (component->h * size * 2) == 0 &&
           (frame->v_max * scale) % (component->v * size * 2) == 0)
        size *= 2;
    return size;
}

static void build_plane(Decoder *decoder, int index, Plane *plane)
{
    const Frame *frame = &decoder->frame;
    const Component *component = &frame->component[index];
    int scale = decoder->settings.scale;
    int size = block_size_of(decoder, component);
    size_t row_bytes = (size_t)component->stride * (size_t)size;

    plane->h = frame->h_max * scale / (component->h * size);
    plane->v = frame->v_max * scale / (component->v * size);
    plane->width = divide_up(frame->width * (uint32_t)(component->h * size),
                             (uint32_t)(frame->h_max * BLOCK));
    plane->height = divide_up(frame->height * (uint32_t)(component->v * size),
                              (uint32_t)(frame->v_max * BLOCK));
    plane->fancy = !decoder->settings.plain_upsampling && scale > 1;
    plane->stride = row_bytes;
    plane->samples = take_memory(component->rows * (size_t)size, row_bytes);
    plane->row = take_memory(row_bytes, (size_t)plane->h);
    if (!decoder->saved_quant[index].defined) {
        warn("a component was never sent");
        memset(plane->samples, 128, component->rows * (size_t)size * row_bytes);
        return;
    }
    for (uint32_t row = 0; row < component->down; row++)
        for (uint32_t column = 0; column < component->across; column++)
            inverse_transform(block_at(component, row, column), &decoder->saved_quant[index],
                              decoder->settings.dct, size,
                              plane->samples + (size_t)row * (size_t)size * row_bytes +
                                  (size_t)column * (size_t)size,
                              row_bytes);
}

/* ---- upsampling of one row ---- */

static const uint8_t *sample_row(const Plane *plane, int64_t row)
{
    if (row < 0)
        row = 0;
    if (row >= plane->height)
        row = (int64_t)plane->height - 1;
    return plane->samples + (size_t)row * plane->stride;
}

static void repeat_samples(const Plane *plane, uint32_t y)
{
    const uint8_t *from = sample_row(plane, y / (uint32_t)plane->v);

    for (uint32_t x = 0; x < plane->width; x++)
        memset(plane->row + (size_t)x * (size_t)plane->h, from[x], (size_t)plane->h);
}

/* Each output sample is 3/4 of the near and 1/4 of the far input sample; the roundings alternate. */
static void widen_row(const Plane *plane, uint32_t y)
{
    const uint8_t *from = sample_row(plane, y);
    uint8_t *to = plane->row;
    uint32_t last = plane->width - 1;

    to[0] = from[0];
    to[1] = (uint8_t)((3 * from[0] + from[1] + 2) >> 2);
    for (uint32_t x = 1; x < last; x++) {
        to[2 * x] = (uint8_t)((3 * from[x] + from[x - 1] + 1) >> 2);
        to[2 * x + 1] = (uint8_t)((3 * from[x] + from[x + 1] + 2) >> 2);
    }
    to[2 * last] = (uint8_t)((3 * from[last] + from[last - 1] + 1) >> 2);
    to[2 * last + 1] = from[last];
}

static const uint8_t *far_row(const Plane *plane, uint32_t y)
{
    return sample_row(plane, (y & 1u) == 0 ? (int64_t)(y / 2) - 1 : (int64_t)(y / 2) + 1);
}

static void blend_rows(const Plane *plane, uint32_t y)
{
    const uint8_t *near = sample_row(plane, y / 2);
    const uint8_t *far = far_row(plane, y);
    int bias = (y & 1u) == 0 ? 1 : 2;

    for (uint32_t x = 0; x < plane->width; x++)
        plane->row[x] = (uint8_t)((3 * near[x] + far[x] + bias) >> 2);
}

static void blend_and_widen(const Plane *plane, uint32_t y)
{
    const uint8_t *near = sample_row(plane, y / 2);
    const uint8_t *far = far_row(plane, y);
    uint8_t *to = plane->row;
    uint32_t last = plane->width - 1;
    int before = 3 * near[0] + far[0];
    int here = before;
    int after = 3 * near[1] + far[1];

    to[0] = (uint8_t)((4 * here + 8) >> 4);
    to[1] = (uint8_t)((3 * here + after + 7) >> 4);
    for (uint32_t x = 1; x < last; x++) {
        before = here;
        here = after;
        after = 3 * near[x + 1] + far[x + 1];
        to[2 * x] = (uint8_t)((3 * here + before + 8) >> 4);
        to[2 * x + 1] = (uint8_t)((3 * here + after + 7) >> 4);
    }
    to[2 * last] = (uint8_t)((3 * after + here + 8) >> 4);
    to[2 * last + 1] = (uint8_t)((4 * after + 7) >> 4);
}

static uint8_t *upsample_row(const Plane *plane, uint32_t y)
{
    int wide_enough = plane->width > 2;

    if (plane->h == 1 && plane->v == 1)
        return plane->samples + (size_t)y * plane->stride;
    if (plane->fancy && plane->h == 2 && plane->v == 1 && wide_enough)
        widen_row(plane, y);
    else if (plane->fancy && plane->h == 2 && plane->v == 2 && wide_enough)
        blend_and_widen(plane, y);
    else if (plane->fancy && plane->h == 1 && plane->v == 2)
        blend_rows(plane, y);
    else
        repeat_samples(plane, y);
    return plane->row;
}

/* ---- the image ---- */

void reconstruct(Decoder *decoder, Image *image)
{
    const Frame *frame = &decoder->frame;
    Plane planes[MAX_COMPONENTS];
    uint8_t *rows[MAX_COMPONENTS] = {NULL};
    int grayscale = decoder->settings.grayscale || decoder->space == SPACE_GRAY;
    uint32_t scale = (uint32_t)decoder->settings.scale;

    memset(image, 0, sizeof *image);
    image->width = divide_up(frame->width * scale, BLOCK);
    image->height = divide_up(frame->height * scale, BLOCK);
    image->channels = grayscale ? 1 : 3;
    image->pixels = take_memory((size_t)image->width * image->height, (size_t)image->channels);
    int needed = grayscale && decoder->space == SPACE_YCC ? 1 : frame->count;
    for (int c = 0; c < needed; c++)
        build_plane(decoder, c, &planes[c]);
    for (uint32_t y = 0; y < image->height; y++) {
        for (int c = 0; c < needed; c++)
            rows[c] = upsample_row(&planes[c], y);
        convert_row(decoder->space, grayscale, rows, image->width,
                    image->pixels + (size_t)y * image->width * (size_t)image->channels);
    }
}
