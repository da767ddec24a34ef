/* SPDX-License-Identifier: MIT */
/* Turns every image of a TIFF file into 8-bit RGBA with colour multiplied by alpha, whatever its
 * photometric interpretation, depth, layout and orientation (TIFF 6.0 sections 3 to 8, 16, 18, 21);
 * -n leaves the alpha channel out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../_tiff/tiff.h"

typedef struct {
    tiff_options codec;
    int without_alpha;
    const char *input, *output;
} settings;

static int usage(void)
{
    fputs("usage: tiff2rgba [-n] [-c none|packbits|lzw[:1|2]|zip[:1|2]] [-r rows] [-f lsb2msb|msb2lsb]\n"
          "                 input.tif output.tif\n",
          stderr);
    return 2;
}

static int parse(settings *set, int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        int taken = tiff_common_option(&set->codec, argc, argv, &at);
        if (!taken && !strcmp(argv[at], "-n"))
            taken = set->without_alpha = 1;
        if (taken <= 0)
            return 0;
    }
    if (argc - at != 2)
        return 0;
    set->input = argv[at];
    set->output = argv[at + 1];
    return 1;
}

/* Where the stored pixel (column, row) is seen when the first row is the top and the first column the
 * left side.  Orientations 5 to 8 also exchange rows and columns. */
static size_t seen_at(const tiff_image *image, uint32_t column, uint32_t row)
{
    uint32_t x = column, y = row, width = image->width, height = image->height;
    if (image->orientation > 4) {
        x = row;
        y = column;
        width = image->height;
        height = image->width;
    }
    switch (image->orientation) {
    case 2: case 6:
        x = width - 1 - x;
        break;
    case 3: case 7:
        x = width - 1 - x;
        y = height - 1 - y;
        break;
    case 4: case 8:
        y = height - 1 - y;
        break;
    }
    return (size_t)y * width + x;
}

static void turn(const tiff_image *image, const uint8_t *from, uint8_t *to)
{
    for (uint32_t row = 0; row < image->height; row++)
        for (uint32_t column = 0; column < image->width; column++, from += 4)
            memcpy(to + 4 * seen_at(image, column, row), from, 4);
}

static void drop_alpha(uint8_t *rgba, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memmove(rgba + 3 * i, rgba + 4 * i, 3);
}

static int convert(const settings *set, const tiff_file *file, const tiff_image *image, tiff_writer *writer)
{
    size_t count = (size_t)image->width * image->height;
    uint8_t *stored = tiff_allocate(count, 4), *rgba = tiff_allocate(count, 4);
    tiff_page page;
    int good = tiff_to_rgba(file, image, stored);
    if (good) {
        turn(image, stored, rgba);
        tiff_page_from(&page, image, &set->codec);
        if (image->orientation > 4) {
            page.width = image->height;
            page.height = image->width;
        }
        page.bits = 8;
        page.samples = set->without_alpha ? 3 : 4;
        page.alpha = set->without_alpha ? ALPHA_NONE : ALPHA_ASSOCIATED;
        page.photometric = PHOTO_RGB;
        page.software = "tiff2rgba";
        page.rows = rgba;
        if (set->without_alpha)
            drop_alpha(rgba, count);
        good = tiff_add_page(writer, &page);
    }
    free(stored);
    free(rgba);
    return good;
}

int main(int argc, char **argv)
{
    settings set = {{COMPRESS_PACKBITS, 0, 0, 0, 0}, 0, NULL, NULL};
    tiff_file file;
    tiff_image image;
    tiff_writer writer;
    unsigned pages = 0;
    int good;
    tiff_program = "tiff2rgba";
    if (!parse(&set, argc, argv))
        return usage();
    good = tiff_open(&file, set.input);
    tiff_start(&writer);
    do {
        good = good && tiff_next(&file, &image);
        if (good) {
            good = convert(&set, &file, &image, &writer);
            printf("page %u: %lux%lu, %u samples of %u bits\n", ++pages, (unsigned long)image.width,
                   (unsigned long)image.height, image.samples, image.bits);
            tiff_free_image(&image);
        }
    } while (good && file.directory);
    good = tiff_finish(&writer, good ? set.output : NULL) && good;
    tiff_close(&file);
    return good ? 0 : 1;
}
