/* SPDX-License-Identifier: MIT */
/* Turns a colour TIFF image into 8-bit grey.  The grey of a pixel is a weighted sum of its red, green
 * and blue, by default 30, 59 and 11 per cent as television weighs them; each weight can be chosen.
 * Reads RGB, palette, CMYK and YCbCr images as TIFF 6.0 defines them and writes the first of a file. */
#include <stdio.h>
#include <stdlib.h>

#include "../_tiff/tiff.h"

typedef struct {
    tiff_options codec;
    unsigned long percent[3];
    const char *input, *output;
} settings;

static int usage(void)
{
    fputs("usage: tiff2bw [-R percent] [-G percent] [-B percent] [-c none|packbits|lzw[:1|2]|zip[:1|2]]\n"
          "               [-r rows] [-f lsb2msb|msb2lsb] input.tif output.tif\n",
          stderr);
    return 2;
}

static int parse_weight(settings *set, int argc, char **argv, int *at)
{
    static const char letters[3] = {'R', 'G', 'B'};
    for (int s = 0; s < 3; s++)
        if (argv[*at][0] == '-' && argv[*at][1] == letters[s] && !argv[*at][2])
            return ++*at < argc && tiff_number(argv[*at], 0, 100, &set->percent[s]);
    return 0;
}

static int parse(settings *set, int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        int taken = tiff_common_option(&set->codec, argc, argv, &at);
        if (taken < 0 || (!taken && !parse_weight(set, argc, argv, &at)))
            return 0;
    }
    if (argc - at != 2)
        return 0;
    set->input = argv[at];
    set->output = argv[at + 1];
    return 1;
}

static void weigh(const uint8_t *rgba, uint8_t *grey, size_t count, const unsigned weight[3])
{
    for (; count--; rgba += 4) {
        unsigned sum = (weight[0] * rgba[0] + weight[1] * rgba[1] + weight[2] * rgba[2]) >> 8;
        *grey++ = (uint8_t)(sum > 255 ? 255 : sum);
    }
}

static int check(const char *name, const tiff_image *image)
{
    if (image->photometric == PHOTO_MIN_IS_WHITE || image->photometric == PHOTO_MIN_IS_BLACK)
        return tiff_error(name, "the image is grey already");
    return 1;
}

static int convert(const settings *set, const tiff_file *file, const tiff_image *image)
{
    size_t count = (size_t)image->width * image->height;
    uint8_t *rgba = tiff_allocate(count, 4), *grey = tiff_allocate(count, 1);
    unsigned weight[3];
    tiff_writer writer;
    tiff_page page;
    int good = tiff_to_rgba(file, image, rgba);
    if (good) {
        for (int s = 0; s < 3; s++)
            weight[s] = (unsigned)((set->percent[s] * 256 + 50) / 100);
        weigh(rgba, grey, count, weight);
        tiff_page_from(&page, image, &set->codec);
        page.bits = 8;
        page.samples = 1;
        page.photometric = PHOTO_MIN_IS_BLACK;
        page.description = "grey version of a colour image";
        page.software = "tiff2bw";
        page.rows = grey;
        printf("%lux%lu, weights %lu %lu %lu\n", (unsigned long)image->width, (unsigned long)image->height,
               set->percent[0], set->percent[1], set->percent[2]);
        tiff_start(&writer);
        good = tiff_add_page(&writer, &page);
        good = tiff_finish(&writer, good ? set->output : NULL) && good;
    }
    free(rgba);
    free(grey);
    return good;
}

int main(int argc, char **argv)
{
    settings set = {{0, 0, 0, 0, 0}, {30, 59, 11}, NULL, NULL};
    tiff_file file;
    tiff_image image;
    int good;
    tiff_program = "tiff2bw";
    if (!parse(&set, argc, argv))
        return usage();
    good = tiff_open(&file, set.input) && tiff_next(&file, &image);
    if (good) {
        good = check(set.input, &image) && convert(&set, &file, &image);
        tiff_free_image(&image);
    }
    tiff_close(&file);
    return good ? 0 : 1;
}
