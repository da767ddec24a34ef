/* SPDX-License-Identifier: MIT */
/* Decompresses JPEG files by ITU-T T.81 with Huffman coding: baseline, extended sequential of 8 bits,
   and progressive; grey, YCbCr, RGB, CMYK and YCCK, any integral subsampling, restart markers. Writes
   PPM or PGM, BMP, Targa or GIF, at full or reduced size, optionally with few colours. Integer
   arithmetic throughout. Damaged files are shown as far as possible, with exit status 2. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decoder.h"

typedef struct {
    Settings settings;
    int verbose;
    const char *input;
    const char *output;
} Options;

static void usage(void)
{
    fputs("usage: jpeg-d [options] INPUT OUTPUT\n"
          "  -pnm | -bmp | -targa | -rle | -gif   kind of output (-rle: Targa with run lengths)\n"
          "  -grayscale                           drop colour\n"
          "  -scale 1/1 | 1/2 | 1/4 | 1/8         size of the output\n"
          "  -dct int|fast                        inverse transform\n"
          "  -nosmooth                            upsample by repetition\n"
          "  -colors N                            2 to 256 colours\n"
          "  -dither fs|ordered|none -onepass     how to choose them\n"
          "  -verbose                             report\n",
          stderr);
}

static int parse_flag(const char *name, Options *options)
{
    Settings *settings = &options->settings;

    if (strcmp(name, "-pnm") == 0)
        settings->output = OUTPUT_PNM;
    else if (strcmp(name, "-bmp") == 0)
        settings->output = OUTPUT_BMP;
    else if (strcmp(name, "-targa") == 0)
        settings->output = OUTPUT_TARGA;
    else if (strcmp(name, "-rle") == 0) {
        settings->output = OUTPUT_TARGA;
        settings->run_lengths = 1;
    } else if (strcmp(name, "-gif") == 0)
        settings->output = OUTPUT_GIF;
    else if (strcmp(name, "-grayscale") == 0)
        settings->grayscale = 1;
    else if (strcmp(name, "-nosmooth") == 0)
        settings->plain_upsampling = 1;
    else if (strcmp(name, "-onepass") == 0)
        settings->one_pass = 1;
    else if (strcmp(name, "-verbose") == 0)
        options->verbose = 1;
    else
        return 0;
    return 1;
}

static int find_word(const char *text, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    fail("'%s' is not a value of this option", text);
}

static int parse_colors(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end != '\0' || value < 2 || value > 256)
        fail("the number of colours is between 2 and 256");
    return (int)value;
}

static int parse_valued(const char *name, const char *value, Options *options)
{
    static const char *const scales[] = {"1/8", "1/4", "1/2", "1/1"};
    static const char *const transforms[] = {"int", "fast"};
    static const char *const dithers[] = {"none", "ordered", "fs"};
    Settings *settings = &options->settings;

    if (strcmp(name, "-scale") == 0)
        settings->scale = 1 << find_word(value, scales, 4);
    else if (strcmp(name, "-dct") == 0)
        settings->dct = (DctChoice)find_word(value, transforms, 2);
    else if (strcmp(name, "-dither") == 0)
        settings->dither = (DitherChoice)find_word(value, dithers, 3);
    else if (strcmp(name, "-colors") == 0)
        settings->colors = parse_colors(value);
    else
        return 0;
    return 1;
}

static int parse_options(int argc, char **argv, Options *options)
{
    memset(options, 0, sizeof *options);
    options->settings.scale = BLOCK;
    options->settings.dither = DITHER_DIFFUSE;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1] != '\0') {
            if (parse_flag(argv[i], options))
                continue;
            if (i + 1 >= argc || !parse_valued(argv[i], argv[i + 1], options))
                return -1;
            i++;
        } else if (options->input == NULL)
            options->input = argv[i];
        else if (options->output == NULL)
            options->output = argv[i];
        else
            return -1;
    }
    return options->output == NULL ? -1 : 0;
}

static void load(const char *name, Source *source)
{
    FILE *file = fopen(name, "rb");
    long size;

    if (file == NULL)
        fail("%s: %s", name, strerror(errno));
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
        fail("%s: %s", name, strerror(errno));
    uint8_t *bytes = take_memory((size_t)size + 1, 1);
    source->size = fread(bytes, 1, (size_t)size, file);
    source->bytes = bytes;
    source->at = 0;
    fclose(file);
}

static void report(const Decoder *decoder, const Image *image)
{
    static const char *const spaces[] = {"grey", "RGB", "YCbCr", "CMYK", "YCCK"};
    const Frame *frame = &decoder->frame;

    printf("%lu x %lu, %s, %s, %d scans, restart interval %lu\n", (unsigned long)frame->width,
           (unsigned long)frame->height, spaces[decoder->space],
           decoder->progressive ? "progressive" : "sequential", decoder->scans,
           (unsigned long)decoder->restart_interval);
    for (int c = 0; c < frame->count; c++) {
        const Component *component = &frame->component[c];
        printf("component %d: sampling %dx%d, %lu x %lu samples\n", component->id, component->h,
               component->v, (unsigned long)component->width, (unsigned long)component->height);
    }
    printf("written %lu x %lu, %d channels, %d colours\n", (unsigned long)image->width,
           (unsigned long)image->height, image->channels, image->colors);
}

static void decompress(const Options *options)
{
    Decoder *decoder = take_memory(1, sizeof *decoder);
    Image image;

    decoder->settings = options->settings;
    decoder->verbose = options->verbose;
    load(options->input, &decoder->source);
    read_file(decoder);
    reconstruct(decoder, &image);
    if (decoder->settings.output == OUTPUT_GIF && decoder->settings.colors == 0 && image.channels == 3)
        decoder->settings.colors = 256;
    if (decoder->settings.colors > 0)
        reduce_colors(&image, &decoder->settings);
    FILE *out = fopen(options->output, "wb");
    if (out == NULL)
        fail("%s: %s", options->output, strerror(errno));
    write_image(out, &image, &decoder->settings);
    if (fclose(out) != 0)
        fail("cannot write the output");
    if (options->verbose)
        report(decoder, &image);
}

int main(int argc, char **argv)
{
    Options options;

    set_program_name("jpeg-d");
    if (parse_options(argc, argv, &options) != 0) {
        usage();
        return 1;
    }
    decompress(&options);
    release_memory();
    return warning_count() > 0 ? 2 : 0;
}
