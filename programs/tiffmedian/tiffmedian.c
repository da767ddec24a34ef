/* SPDX-License-Identifier: MIT */
/* Reduces a colour TIFF image to a palette by Heckbert's median cut (SIGGRAPH 1982): colours are
 * counted in cells of 5 bits a channel, the box with the largest product of pixels and length is cut at
 * the median of its longest side until there are as many boxes as colours, and every pixel takes the
 * nearest of their mean colours, with or without Floyd-Steinberg error diffusion. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../_tiff/tiff.h"

enum { DEPTH = 5, SIDE = 1 << DEPTH, CELLS = SIDE * SIDE * SIDE, DROP = 8 - DEPTH, MAX_COLOURS = 256 };
enum { COARSE = 8, COARSE_CELLS = COARSE * COARSE * COARSE, COARSE_WIDTH = 256 / COARSE };

typedef struct {
    tiff_options codec;
    unsigned long colours;
    int diffuse;
    const char *input, *output;
} settings;

typedef struct {
    int low[3], high[3]; /* inclusive, in cells */
    uint32_t pixels;
} colour_box;

/* The palette colours that can be nearest to a point of a coarse cell. */
typedef struct {
    uint16_t count; /* 0: not yet worked out */
    uint8_t indices[MAX_COLOURS];
} candidate_list;

typedef struct {
    uint32_t counts[CELLS];
    uint32_t sums[CELLS][3];
    colour_box boxes[MAX_COLOURS];
    unsigned colours;
    int palette[MAX_COLOURS][3];
    candidate_list near[COARSE_CELLS];
} quantiser;

static int usage(void)
{
    fputs("usage: tiffmedian [-C colours] [-d] [-c none|packbits|lzw[:1|2]|zip[:1|2]] [-r rows]\n"
          "                  [-f lsb2msb|msb2lsb] input.tif output.tif\n",
          stderr);
    return 2;
}

static int parse(settings *set, int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        int taken = tiff_common_option(&set->codec, argc, argv, &at);
        if (!taken && !strcmp(argv[at], "-d"))
            taken = set->diffuse = 1;
        else if (!taken && !strcmp(argv[at], "-C") && at + 1 < argc)
            taken = tiff_number(argv[++at], 2, MAX_COLOURS, &set->colours);
        if (taken <= 0)
            return 0;
    }
    if (argc - at != 2)
        return 0;
    set->input = argv[at];
    set->output = argv[at + 1];
    return 1;
}

static unsigned cell_of(int red, int green, int blue)
{
    return (unsigned)((red * SIDE + green) * SIDE + blue);
}

static void count_colours(quantiser *q, const uint8_t *rgba, size_t count)
{
    for (; count--; rgba += 4) {
        unsigned cell = cell_of(rgba[0] >> DROP, rgba[1] >> DROP, rgba[2] >> DROP);
        q->counts[cell]++;
        for (int s = 0; s < 3; s++)
            q->sums[cell][s] += rgba[s];
    }
}

/* How many pixels of the box lie in each of its slices across one axis. */
static void slice_box(const quantiser *q, const colour_box *box, int axis, uint32_t slices[SIDE])
{
    int at[3];
    memset(slices, 0, SIDE * sizeof slices[0]);
    for (at[0] = box->low[0]; at[0] <= box->high[0]; at[0]++)
        for (at[1] = box->low[1]; at[1] <= box->high[1]; at[1]++)
            for (at[2] = box->low[2]; at[2] <= box->high[2]; at[2]++)
                slices[at[axis]] += q->counts[cell_of(at[0], at[1], at[2])];
}

static void shrink_box(const quantiser *q, colour_box *box)
{
    for (int axis = 0; axis < 3; axis++) {
        uint32_t slices[SIDE];
        slice_box(q, box, axis, slices);
        while (box->low[axis] < box->high[axis] && !slices[box->low[axis]])
            box->low[axis]++;
        while (box->high[axis] > box->low[axis] && !slices[box->high[axis]])
            box->high[axis]--;
    }
}

static int can_cut(const colour_box *box)
{
    return memcmp(box->low, box->high, sizeof box->low) != 0;
}

static int longest_axis(const colour_box *box)
{
    int best = 1; /* among equals the eye sees green first */
    for (int axis = 0; axis < 3; axis++)
        if (box->high[axis] - box->low[axis] > box->high[best] - box->low[best])
            best = axis;
    return best;
}

/* How much a box is worth cutting: many pixels, or few that lie far apart. */
static uint64_t spread(const colour_box *box)
{
    int axis = longest_axis(box);
    return (uint64_t)box->pixels * (unsigned)(box->high[axis] - box->low[axis] + 1);
}

static void cut_box(const quantiser *q, colour_box *box, colour_box *other)
{
    int axis = longest_axis(box), cut = box->low[axis];
    uint32_t slices[SIDE], below = 0;
    slice_box(q, box, axis, slices);
    below = slices[cut];
    while (cut + 1 < box->high[axis] && below + slices[cut + 1] <= box->pixels / 2)
        below += slices[++cut];
    *other = *box;
    box->high[axis] = cut;
    other->low[axis] = cut + 1;
    other->pixels = box->pixels - below;
    box->pixels = below;
    shrink_box(q, box);
    shrink_box(q, other);
}

static void cut_boxes(quantiser *q, unsigned wanted, size_t pixels)
{
    colour_box all = {{0, 0, 0}, {SIDE - 1, SIDE - 1, SIDE - 1}, (uint32_t)pixels};
    q->boxes[0] = all;
    shrink_box(q, &q->boxes[0]);
    q->colours = 1;
    while (q->colours < wanted) {
        int widest = -1;
        for (unsigned i = 0; i < q->colours; i++)
            if (can_cut(&q->boxes[i]) && (widest < 0 || spread(&q->boxes[i]) > spread(&q->boxes[widest])))
                widest = (int)i;
        if (widest < 0)
            break;
        cut_box(q, &q->boxes[widest], &q->boxes[q->colours]);
        q->colours++;
    }
}

static void mean_colours(quantiser *q)
{
    for (unsigned i = 0; i < q->colours; i++) {
        const colour_box *box = &q->boxes[i];
        uint64_t sums[3] = {0, 0, 0};
        for (int r = box->low[0]; r <= box->high[0]; r++)
            for (int g = box->low[1]; g <= box->high[1]; g++)
                for (int b = box->low[2]; b <= box->high[2]; b++)
                    for (int s = 0; s < 3; s++)
                        sums[s] += q->sums[cell_of(r, g, b)][s];
        for (int s = 0; s < 3; s++)
            q->palette[i][s] = (int)((sums[s] + box->pixels / 2) / box->pixels);
    }
}

static int square(int value)
{
    return value * value;
}

/* A colour can be nearest somewhere in the coarse cell only if its least distance to the cell is not
 * above the smallest of all greatest distances. */
static void list_candidates(quantiser *q, unsigned cell)
{
    int low[3] = {(int)(cell / (COARSE * COARSE)) * COARSE_WIDTH, (int)(cell / COARSE % COARSE) * COARSE_WIDTH,
                  (int)(cell % COARSE) * COARSE_WIDTH};
    int least[MAX_COLOURS], bound = 3 * 256 * 256;
    candidate_list *list = &q->near[cell];
    for (unsigned i = 0; i < q->colours; i++) {
        int farthest = 0;
        least[i] = 0;
        for (int s = 0; s < 3; s++) {
            int from = q->palette[i][s] - low[s], to = low[s] + COARSE_WIDTH - 1 - q->palette[i][s];
            if (from < 0)
                least[i] += square(from);
            else if (to < 0)
                least[i] += square(to);
            farthest += from > to ? square(from) : square(to);
        }
        if (farthest < bound)
            bound = farthest;
    }
    for (unsigned i = 0; i < q->colours; i++)
        if (least[i] <= bound)
            list->indices[list->count++] = (uint8_t)i;
}

static unsigned nearest(quantiser *q, const int colour[3])
{
    unsigned cell = (unsigned)((colour[0] / COARSE_WIDTH * COARSE + colour[1] / COARSE_WIDTH) * COARSE +
                               colour[2] / COARSE_WIDTH);
    candidate_list *list = &q->near[cell];
    unsigned best = 0;
    int best_distance = 3 * 256 * 256;
    if (!list->count)
        list_candidates(q, cell);
    for (unsigned i = 0; i < list->count; i++) {
        const int *other = q->palette[list->indices[i]];
        int distance = square(colour[0] - other[0]) + square(colour[1] - other[1]) + square(colour[2] - other[2]);
        if (distance < best_distance) {
            best_distance = distance;
            best = list->indices[i];
        }
    }
    return best;
}

static uint64_t map_plain(quantiser *q, const uint8_t *rgba, uint8_t *out, size_t count)
{
    uint64_t error = 0;
    for (; count--; rgba += 4, out++) {
        int colour[3] = {rgba[0], rgba[1], rgba[2]};
        *out = (uint8_t)nearest(q, colour);
        for (int s = 0; s < 3; s++)
            error += (uint64_t)square(colour[s] - q->palette[*out][s]);
    }
    return error;
}

/* Errors are kept in sixteenths; each row has a margin pixel at both ends. */
static uint64_t map_diffused(quantiser *q, const uint8_t *rgba, uint8_t *out, uint32_t width, uint32_t height)
{
    size_t span = ((size_t)width + 2) * 3;
    int *memory = tiff_allocate(2 * span, sizeof *memory), *here = memory, *below = memory + span;
    uint64_t error = 0;
    for (uint32_t y = 0; y < height; y++) {
        int *swap = here;
        memset(below, 0, span * sizeof *below);
        for (uint32_t x = 0; x < width; x++, rgba += 4, out++) {
            int colour[3];
            for (int s = 0; s < 3; s++) {
                int value = rgba[s] + (here[(x + 1) * 3 + (unsigned)s]) / 16;
                colour[s] = value < 0 ? 0 : value > 255 ? 255 : value;
            }
            *out = (uint8_t)nearest(q, colour);
            for (unsigned s = 0; s < 3; s++) {
                int lost = colour[s] - q->palette[*out][s];
                here[(x + 2) * 3 + s] += lost * 7;
                below[x * 3 + s] += lost * 3;
                below[(x + 1) * 3 + s] += lost * 5;
                below[(x + 2) * 3 + s] += lost;
                error += (uint64_t)square(rgba[s] - q->palette[*out][s]);
            }
        }
        here = below;
        below = swap;
    }
    free(memory);
    return error;
}

static int write_result(const settings *set, const tiff_image *image, const quantiser *q, const uint8_t *indices)
{
    uint16_t palette[3 * MAX_COLOURS] = {0};
    tiff_writer writer;
    tiff_page page;
    int good;
    for (unsigned i = 0; i < q->colours; i++)
        for (unsigned s = 0; s < 3; s++)
            palette[s * MAX_COLOURS + i] = (uint16_t)(q->palette[i][s] * 257);
    tiff_page_from(&page, image, &set->codec);
    page.bits = 8;
    page.samples = 1;
    page.photometric = PHOTO_PALETTE;
    page.palette = palette;
    page.software = "tiffmedian";
    page.rows = indices;
    tiff_start(&writer);
    good = tiff_add_page(&writer, &page);
    return tiff_finish(&writer, good ? set->output : NULL) && good;
}

static int convert(const settings *set, const tiff_file *file, const tiff_image *image)
{
    size_t count = (size_t)image->width * image->height;
    uint8_t *rgba = tiff_allocate(count, 4), *indices = tiff_allocate(count, 1);
    quantiser *q = tiff_allocate(1, sizeof *q);
    int good = tiff_to_rgba(file, image, rgba);
    if (good) {
        uint64_t error;
        count_colours(q, rgba, count);
        cut_boxes(q, (unsigned)set->colours, count);
        mean_colours(q);
        if (set->diffuse)
            error = map_diffused(q, rgba, indices, image->width, image->height);
        else
            error = map_plain(q, rgba, indices, count);
        printf("%lux%lu, %u colours, mean square error %llu/1000\n", (unsigned long)image->width,
               (unsigned long)image->height, q->colours, (unsigned long long)(error * 1000 / (3 * (uint64_t)count)));
        good = write_result(set, image, q, indices);
    }
    free(q);
    free(indices);
    free(rgba);
    return good;
}

int main(int argc, char **argv)
{
    settings set = {{0, 0, 0, 0, 0}, MAX_COLOURS, 0, NULL, NULL};
    tiff_file file;
    tiff_image image;
    int good;
    tiff_program = "tiffmedian";
    if (!parse(&set, argc, argv))
        return usage();
    good = tiff_open(&file, set.input) && tiff_next(&file, &image);
    if (good) {
        good = convert(&set, &file, &image);
        tiff_free_image(&image);
    }
    tiff_close(&file);
    return good ? 0 : 1;
}
