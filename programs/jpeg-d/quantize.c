/* SPDX-License-Identifier: MIT */
/* Reduction to a colour map. In two passes the map is made for the image: its colours are counted in
   cells of 5, 6 and 5 bits and the space is cut at medians. In one pass the map is a regular grid.
   Either way pixels can be dithered, by a threshold matrix or by diffusing the error. */
#include <string.h>

#include "decoder.h"

enum { RED_BITS = 5, GREEN_BITS = 6, BLUE_BITS = 5, CELLS = 1 << 16, MATRIX = 8 };

typedef struct {
    uint8_t low[3], high[3]; /* inclusive, in cells */
    uint64_t population;
    uint32_t volume;
} Box;

typedef struct {
    Image *image;
    const Settings *settings;
    uint32_t *histogram;
    uint16_t *nearest; /* index + 1 by cell, 0 where not searched yet */
    int levels[3];     /* of the grid, in one pass */
} Quantiser;

static const uint8_t channel_bits[3] = {RED_BITS, GREEN_BITS, BLUE_BITS};
static const int32_t channel_weight[3] = {2, 3, 1}; /* of differences, for the eye */

static uint32_t cell_of(int red, int green, int blue)
{
    return (uint32_t)red << (GREEN_BITS + BLUE_BITS) | (uint32_t)green << BLUE_BITS | (uint32_t)blue;
}

static void pixel_at(const Image *image, size_t position, int *rgb)
{
    const uint8_t *pixel = image->pixels + position * (size_t)image->channels;
    for (int channel = 0; channel < 3; channel++)
        rgb[channel] = pixel[image->channels == 3 ? channel : 0];
}

static uint32_t cell_of_color(const int *rgb)
{
    return cell_of(rgb[0] >> (8 - RED_BITS), rgb[1] >> (8 - GREEN_BITS), rgb[2] >> (8 - BLUE_BITS));
}

/* ---- median cut ---- */

static uint64_t slice_population(const Quantiser *q, const Box *box, int channel, int at)
{
    Box slice = *box;
    uint64_t sum = 0;

    slice.low[channel] = slice.high[channel] = (uint8_t)at;
    for (int r = slice.low[0]; r <= slice.high[0]; r++)
        for (int g = slice.low[1]; g <= slice.high[1]; g++)
            for (int b = slice.low[2]; b <= slice.high[2]; b++)
                sum += q->histogram[cell_of(r, g, b)];
    return sum;
}

static uint32_t weighted_width(const Box *box, int channel)
{
    return (uint32_t)((box->high[channel] - box->low[channel]) << (8 - channel_bits[channel])) *
           (uint32_t)channel_weight[channel];
}

static void shrink_box(const Quantiser *q, Box *box)
{
    for (int channel = 0; channel < 3; channel++) {
        while (box->low[channel] < box->high[channel] &&
               slice_population(q, box, channel, box->low[channel]) == 0)
            box->low[channel]++;
        while (box->high[channel] > box->low[channel] &&
               slice_population(q, box, channel, box->high[channel]) == 0)
            box->high[channel]--;
    }
    box->population = 0;
    for (int at = box->low[0]; at <= box->high[0]; at++)
        box->population += slice_population(q, box, 0, at);
    box->volume = 0;
    for (int channel = 0; channel < 3; channel++)
        box->volume += weighted_width(box, channel) * weighted_width(box, channel);
}

/* The first half of the boxes is cut from the most populous, the rest from the largest. */
static int choose_box(const Box *boxes, int count, int wanted)
{
    int found = -1;

    for (int i = 0; i < count; i++) {
        if (boxes[i].volume == 0)
            continue;
        if (found < 0 || (2 * count <= wanted ? boxes[i].population > boxes[found].population
                                              : boxes[i].volume > boxes[found].volume))
            found = i;
    }
    return found;
}

static void cut_box(const Quantiser *q, Box *box, Box *other)
{
    int channel = 1;
    uint64_t sum = 0;
    int at;

    for (int c = 0; c < 3; c++)
        if (weighted_width(box, c) > weighted_width(box, channel))
            channel = c;
    for (at = box->low[channel]; at < box->high[channel] - 1; at++) {
        sum += slice_population(q, box, channel, at);
        if (2 * sum >= box->population)
            break;
    }
    *other = *box;
    box->high[channel] = (uint8_t)at;
    other->low[channel] = (uint8_t)(at + 1);
    shrink_box(q, box);
    shrink_box(q, other);
}

static void mean_color(const Quantiser *q, const Box *box, uint8_t *color)
{
    uint64_t sum[3] = {0};
    uint64_t total = 0;

    for (int r = box->low[0]; r <= box->high[0]; r++)
        for (int g = box->low[1]; g <= box->high[1]; g++)
            for (int b = box->low[2]; b <= box->high[2]; b++) {
                uint64_t count = q->histogram[cell_of(r, g, b)];
                int cell[3] = {r, g, b};
                total += count;
                for (int c = 0; c < 3; c++) {
                    int step = 8 - channel_bits[c];
                    sum[c] += count * (uint64_t)((cell[c] << step) + (1 << step) / 2);
                }
            }
    for (int c = 0; c < 3; c++)
        color[c] = (uint8_t)((sum[c] + total / 2) / total);
}

static void build_map_from_image(Quantiser *q)
{
    Image *image = q->image;
    size_t pixels = (size_t)image->width * image->height;
    Box boxes[256];
    int count = 1;
    int rgb[3];

    q->histogram = take_memory(CELLS, sizeof *q->histogram);
    for (size_t i = 0; i < pixels; i++) {
        pixel_at(image, i, rgb);
        q->histogram[cell_of_color(rgb)]++;
    }
    memset(&boxes[0], 0, sizeof boxes[0]);
    for (int c = 0; c < 3; c++)
        boxes[0].high[c] = (uint8_t)((1 << channel_bits[c]) - 1);
    shrink_box(q, &boxes[0]);
    while (count < q->settings->colors) {
        int chosen = choose_box(boxes, count, q->settings->colors);
        if (chosen < 0)
            break;
        cut_box(q, &boxes[chosen], &boxes[count]);
        count++;
    }
    for (int i = 0; i < count; i++)
        mean_color(q, &boxes[i], image->map[i]);
    image->colors = count;
}

/* ---- regular grid ---- */

static void choose_levels(Quantiser *q)
{
    static const uint8_t order[3] = {1, 0, 2}; /* green gets an additional level first */
    int colors = q->settings->colors;

    q->levels[0] = q->levels[1] = q->levels[2] = 1;
    if (q->image->channels == 1) {
        q->levels[0] = colors;
        return;
    }
    for (int grown = 1; grown;) {
        grown = 0;
        for (int i = 0; i < 3; i++) {
            int *level = &q->levels[order[i]];
            int product = q->levels[0] * q->levels[1] * q->levels[2] / *level * (*level + 1);
            if (product <= colors) {
                ++*level;
                grown = 1;
            }
        }
    }
}

static int grid_value(int level, int levels)
{
    return levels == 1 ? 128 : (level * 255 + (levels - 1) / 2) / (levels - 1);
}

static void build_grid(Quantiser *q)
{
    Image *image = q->image;

    choose_levels(q);
    image->colors = q->levels[0] * q->levels[1] * q->levels[2];
    for (int i = 0; i < image->colors; i++) {
        int rest = i;
        for (int c = 2; c >= 0; c--) {
            image->map[i][c] = (uint8_t)grid_value(rest % q->levels[c], q->levels[c]);
            rest /= q->levels[c];
        }
        if (image->channels == 1)
            image->map[i][1] = image->map[i][2] = image->map[i][0];
    }
}

/* ---- mapping ---- */

static int search_map(const Image *image, const int *rgb)
{
    int32_t least = INT32_MAX;
    int found = 0;

    for (int i = 0; i < image->colors; i++) {
        int32_t distance = 0;
        for (int c = 0; c < 3; c++) {
            int32_t difference = (rgb[c] - image->map[i][c]) * channel_weight[c];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            found = i;
        }
    }
    return found;
}

static int find_color(Quantiser *q, const int *rgb)
{
    uint32_t cell = cell_of_color(rgb);

    if (q->nearest[cell] == 0) {
        int center[3];
        for (int c = 0; c < 3; c++) {
            int step = 8 - channel_bits[c];
            center[c] = (rgb[c] >> step << step) + (1 << step) / 2;
        }
        q->nearest[cell] = (uint16_t)(search_map(q->image, center) + 1);
    }
    return q->nearest[cell] - 1;
}

static void map_plainly(Quantiser *q, uint8_t *indices)
{
    size_t pixels = (size_t)q->image->width * q->image->height;
    int rgb[3];

    for (size_t i = 0; i < pixels; i++) {
        pixel_at(q->image, i, rgb);
        indices[i] = (uint8_t)find_color(q, rgb);
    }
}

/* The recursive matrix of Bayer: the bits of x^y and y, interleaved in reverse order. */
static int threshold(uint32_t x, uint32_t y)
{
    int value = 0;
    for (int bit = 0; bit < 3; bit++) {
        int a = (int)((x ^ y) >> bit & 1u);
        int b = (int)(y >> bit & 1u);
        value |= (a << 1 | b) << (2 * (2 - bit));
    }
    return value;
}

static void map_ordered(Quantiser *q, uint8_t *indices)
{
    Image *image = q->image;
    int spread = 32;

    if (q->settings->one_pass)
        spread = 255 / (q->levels[1] > 1 ? q->levels[1] - 1 : q->levels[0] > 1 ? q->levels[0] - 1 : 1);
    for (uint32_t y = 0; y < image->height; y++) {
        for (uint32_t x = 0; x < image->width; x++) {
            size_t at = (size_t)y * image->width + x;
            int offset = (2 * threshold(x % MATRIX, y % MATRIX) + 1 - MATRIX * MATRIX) * spread /
                         (2 * MATRIX * MATRIX);
            int rgb[3];
            pixel_at(image, at, rgb);
            for (int c = 0; c < 3; c++)
                rgb[c] = clamp_byte(rgb[c] + offset);
            indices[at] = (uint8_t)find_color(q, rgb);
        }
    }
}

/* Floyd and Steinberg's weights, 7, 3, 5 and 1 sixteenths, along rows that alternate in direction.
   `error` holds, per column and channel, what the row above passes down. */
static void diffuse_row(Quantiser *q, uint32_t y, int16_t *error, uint8_t *indices)
{
    Image *image = q->image;
    int step = (y & 1u) ? -1 : 1;
    int64_t x = step > 0 ? 0 : (int64_t)image->width - 1;
    int ahead[3] = {0};
    int below[3] = {0};   /* for the column just passed */
    int corner[3] = {0};  /* for the column here */

    for (uint32_t n = 0; n < image->width; n++, x += step) {
        int16_t *column = error + 3 * (x + 1);
        size_t at = (size_t)y * image->width + (size_t)x;
        int rgb[3];
        pixel_at(image, at, rgb);
        for (int c = 0; c < 3; c++)
            rgb[c] = clamp_byte(rgb[c] + (ahead[c] + column[c] + 8) / 16);
        int index = find_color(q, rgb);
        indices[at] = (uint8_t)index;
        for (int c = 0; c < 3; c++) {
            int wrong = rgb[c] - image->map[index][c];
            column[-3 * step + c] = (int16_t)(below[c] + 3 * wrong);
            below[c] = corner[c] + 5 * wrong;
            corner[c] = wrong;
            ahead[c] = 7 * wrong;
        }
    }
    for (int c = 0; c < 3; c++)
        error[3 * (x - step + 1) + c] = (int16_t)below[c];
}

static void map_diffused(Quantiser *q, uint8_t *indices)
{
    int16_t *error = take_memory((size_t)q->image->width + 2, 3 * sizeof *error);
    for (uint32_t y = 0; y < q->image->height; y++)
        diffuse_row(q, y, error, indices);
}

void reduce_colors(Image *image, const Settings *settings)
{
    Quantiser q = {image, settings, NULL, NULL, {0}};
    uint8_t *indices = take_memory(image->width, image->height);

    q.nearest = take_memory(CELLS, sizeof *q.nearest);
    if (settings->one_pass)
        build_grid(&q);
    else
        build_map_from_image(&q);
    switch (settings->dither) {
    case DITHER_NONE: map_plainly(&q, indices); break;
    case DITHER_ORDERED: map_ordered(&q, indices); break;
    case DITHER_DIFFUSE: map_diffused(&q, indices); break;
    }
    image->pixels = indices;
    image->channels = 1;
}
