/* SPDX-License-Identifier: MIT */
/* Turns a grey TIFF image into a bilevel one by the error diffusion of Floyd and Steinberg (1976):
 * what a pixel loses by becoming black or white is handed to its right neighbour (7/16) and to the
 * three below it (3/16, 5/16, 1/16).  The threshold can be chosen, and the result coded for fax. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../_tiff/tiff.h"

typedef struct {
    tiff_options codec;
    unsigned long threshold;
    const char *input, *output;
} settings;

static int usage(void)
{
    fputs("usage: tiffdither [-t threshold] [-c none|packbits|lzw|zip|huffman|g3[:1d|2d|fill]|g4]\n"
          "                  [-r rows] [-f lsb2msb|msb2lsb] input.tif output.tif\n",
          stderr);
    return 2;
}

static int parse(settings *set, int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        int taken = tiff_common_option(&set->codec, argc, argv, &at);
        if (!taken && !strcmp(argv[at], "-t") && at + 1 < argc)
            taken = tiff_number(argv[++at], 0, 255, &set->threshold);
        if (taken <= 0)
            return 0;
    }
    if (argc - at != 2)
        return 0;
    set->input = argv[at];
    set->output = argv[at + 1];
    return 1;
}

/* A grey level of 0 to 255; when white is the lowest code the levels keep that sense. */
static int level(const tiff_image *image, unsigned sample)
{
    if (image->bits == 16)
        return (int)(sample >> 8);
    return (int)(sample * 255 / ((1u << image->bits) - 1));
}

/* Errors are cut towards zero and levels are clamped before they are compared, as the tool of this
 * name has always done, so that its pictures can be compared bit for bit. */
static void dither_row(const int *here, int *below, uint8_t *bits, uint32_t width, int threshold)
{
    int carried = 0;
    memset(bits, 0, (width + 7) / 8);
    for (uint32_t x = 0; x < width; x++) {
        int value = here[x] + carried;
        value = value < 0 ? 0 : value > 255 ? 255 : value;
        if (value > threshold) {
            bits[x >> 3] |= (uint8_t)(0x80 >> (x & 7));
            value -= 255;
        }
        carried = value * 7 / 16;
        if (!below)
            continue;
        if (x > 0)
            below[x - 1] += value * 3 / 16;
        below[x] += value * 5 / 16;
        if (x + 1 < width)
            below[x + 1] += value / 16;
    }
}

static void fetch_row(const tiff_image *image, uint32_t y, int *row)
{
    const uint16_t *sample = image->pixels + (size_t)y * image->width;
    for (uint32_t x = 0; x < image->width; x++)
        row[x] = level(image, sample[x]);
}

static void dither(const tiff_image *image, uint8_t *bits, int threshold)
{
    size_t pitch = ((size_t)image->width + 7) / 8;
    int *memory = tiff_allocate(2 * (size_t)image->width, sizeof *memory);
    int *here = memory, *below = memory + image->width;
    fetch_row(image, 0, here);
    for (uint32_t y = 0; y < image->height; y++) {
        int *swap = here, last = y + 1 == image->height;
        if (!last)
            fetch_row(image, y + 1, below);
        dither_row(here, last ? NULL : below, bits + y * pitch, image->width, threshold);
        here = below;
        below = swap;
    }
    free(memory);
}

static unsigned long count_ones(const uint8_t *bits, size_t length)
{
    unsigned long ones = 0;
    for (size_t i = 0; i < length; i++)
        for (unsigned rest = bits[i]; rest; rest &= rest - 1)
            ones++;
    return ones;
}

static int check(const char *name, const tiff_image *image)
{
    if (image->samples != 1)
        return tiff_error(name, "not a grey image: %u samples a pixel", image->samples);
    if (image->photometric != PHOTO_MIN_IS_BLACK && image->photometric != PHOTO_MIN_IS_WHITE)
        return tiff_error(name, "not a grey image: photometric interpretation %u", image->photometric);
    if (image->bits == 1)
        return tiff_error(name, "the image is bilevel already");
    return 1;
}

static int convert(const settings *set, const tiff_image *image)
{
    size_t length = ((size_t)image->width + 7) / 8 * image->height;
    uint8_t *bits = tiff_allocate(length, 1);
    tiff_writer writer;
    tiff_page page;
    int good;
    dither(image, bits, (int)set->threshold);
    tiff_page_from(&page, image, &set->codec);
    page.bits = 1;
    page.samples = 1;
    page.photometric = image->photometric;
    page.description = "dithered version of a grey image";
    page.software = "tiffdither";
    page.rows = bits;
    printf("%lux%lu, %lu bits set\n", (unsigned long)page.width, (unsigned long)page.height, count_ones(bits, length));
    tiff_start(&writer);
    good = tiff_add_page(&writer, &page);
    good = tiff_finish(&writer, good ? set->output : NULL) && good;
    free(bits);
    return good;
}

int main(int argc, char **argv)
{
    settings set = {{COMPRESS_PACKBITS, 0, 0, 0, 0}, 128, NULL, NULL};
    tiff_file file;
    tiff_image image;
    int good;
    tiff_program = "tiffdither";
    if (!parse(&set, argc, argv))
        return usage();
    good = tiff_open(&file, set.input) && tiff_next(&file, &image);
    if (good) {
        good = check(set.input, &image) && convert(&set, &image);
        tiff_free_image(&image);
    }
    tiff_close(&file);
    return good ? 0 : 1;
}
