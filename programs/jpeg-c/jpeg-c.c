/* SPDX-License-Identifier: MIT */
/* Compresses an image (PPM, PGM, BMP, GIF or Targa) to JPEG by ITU-T T.81: baseline, extended sequential
   or progressive with Huffman coding, in a JFIF file. Integer arithmetic throughout, with an accurate
   and a fast cosine transform; any integral subsampling, standard or optimal code tables, restart
   markers, quantisation tables and scan scripts from text files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "encoder.h"

typedef struct {
    Settings settings;
    int targa;
    int verbose;
    const char *input;
    const char *output;
} Options;

static void usage(void)
{
    fputs("usage: jpeg-c [options] INPUT OUTPUT\n"
          "  -quality N      1 to 100 (75)          -grayscale | -rgb   colour of the file\n"
          "  -optimize       optimal code tables    -progressive        progressive file\n"
          "  -sample HxV,... sampling factors       -smooth N           0 to 100\n"
          "  -dct int|fast   transform              -restart N[b]       rows, or with b blocks\n"
          "  -qtables FILE   -scans FILE            -baseline           8-bit quantisers\n"
          "  -comment TEXT   -targa  input is Targa -verbose            report\n",
          stderr);
}

static long parse_number(const char *text, long low, long high, const char **rest)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || value < low || value > high)
        fail("'%s' is not a number from %ld to %ld", text, low, high);
    *rest = end;
    return value;
}

static long parse_whole(const char *text, long low, long high)
{
    const char *rest;
    long value = parse_number(text, low, high, &rest);
    if (*rest != '\0')
        fail("'%s' is not a number", text);
    return value;
}

static void parse_sampling(const char *text, Settings *settings)
{
    settings->sampling_count = 0;
    for (;;) {
        const char *rest;
        if (settings->sampling_count == MAX_COMPONENTS)
            fail("too many sampling factors");
        int *factors = settings->sampling[settings->sampling_count++];
        factors[0] = (int)parse_number(text, 1, MAX_SAMPLING, &rest);
        if (*rest != 'x' && *rest != 'X')
            fail("sampling factors are written as 2x1");
        factors[1] = (int)parse_number(rest + 1, 1, MAX_SAMPLING, &rest);
        if (*rest == '\0')
            return;
        if (*rest != ',')
            fail("sampling factors are separated by commas");
        text = rest + 1;
    }
}

static void parse_restart(const char *text, Settings *settings)
{
    const char *rest;
    uint32_t count = (uint32_t)parse_number(text, 0, 65535, &rest);

    settings->restart_mcus = settings->restart_rows = 0;
    if (strcmp(rest, "b") == 0 || strcmp(rest, "B") == 0)
        settings->restart_mcus = count;
    else if (*rest == '\0')
        settings->restart_rows = count;
    else
        fail("a restart interval is a number, or a number and b");
}

static void parse_dct(const char *text, Settings *settings)
{
    if (strcmp(text, "int") == 0)
        settings->dct = DCT_ACCURATE;
    else if (strcmp(text, "fast") == 0)
        settings->dct = DCT_FAST;
    else
        fail("the transform is int or fast");
}

/* Options that take no value. Returns 0 if it is none of them. */
static int parse_flag(const char *name, Options *options)
{
    Settings *settings = &options->settings;

    if (strcmp(name, "-grayscale") == 0)
        settings->color = COLOR_GRAY;
    else if (strcmp(name, "-rgb") == 0)
        settings->color = COLOR_RGB;
    else if (strcmp(name, "-optimize") == 0)
        settings->optimize = 1;
    else if (strcmp(name, "-progressive") == 0)
        settings->progressive = 1;
    else if (strcmp(name, "-baseline") == 0)
        settings->baseline = 1;
    else if (strcmp(name, "-targa") == 0)
        options->targa = 1;
    else if (strcmp(name, "-verbose") == 0)
        options->verbose = 1;
    else
        return 0;
    return 1;
}

static int parse_valued(const char *name, const char *value, Options *options)
{
    Settings *settings = &options->settings;

    if (strcmp(name, "-quality") == 0)
        settings->quality = (int)parse_whole(value, 1, 100);
    else if (strcmp(name, "-smooth") == 0)
        settings->smoothing = (int)parse_whole(value, 0, 100);
    else if (strcmp(name, "-sample") == 0)
        parse_sampling(value, settings);
    else if (strcmp(name, "-restart") == 0)
        parse_restart(value, settings);
    else if (strcmp(name, "-dct") == 0)
        parse_dct(value, settings);
    else if (strcmp(name, "-qtables") == 0)
        settings->quant_file = value;
    else if (strcmp(name, "-scans") == 0)
        settings->scan_file = value;
    else if (strcmp(name, "-comment") == 0)
        settings->comment = value;
    else
        return 0;
    return 1;
}

static int parse_options(int argc, char **argv, Options *options)
{
    memset(options, 0, sizeof *options);
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

static void load(const char *name, Input *input)
{
    FILE *file = fopen(name, "rb");
    long size;

    if (file == NULL)
        fail("%s: %s", name, strerror(errno));
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0)
        fail("%s: %s", name, strerror(errno));
    uint8_t *bytes = take_memory((size_t)size + 1, 1);
    input->size = fread(bytes, 1, (size_t)size, file);
    input->bytes = bytes;
    input->at = 0;
    fclose(file);
}

/* A grey file of a colour image holds its brightness, which is its first component. */
static void choose_channels(Encoder *encoder, Image *image)
{
    if (encoder->settings.color != COLOR_GRAY || image->channels == 1)
        return;
    size_t count = (size_t)image->width * image->height;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *rgb = image->pixels + 3 * i;
        image->pixels[i] =
            (uint8_t)((19595 * rgb[0] + 38470 * rgb[1] + 7471 * rgb[2] + 32768) >> 16);
    }
    image->channels = 1;
}

static void report(const Encoder *encoder)
{
    const Frame *frame = &encoder->frame;

    printf("%lu x %lu, %d components, %s\n", (unsigned long)frame->width,
           (unsigned long)frame->height, frame->count,
           encoder->progressive ? "progressive" : "sequential");
    for (int c = 0; c < frame->count; c++) {
        const Component *component = &frame->component[c];
        printf("component %d: sampling %dx%d, table %d, %lu x %lu blocks\n", component->id,
               component->h, component->v, component->quant, (unsigned long)component->across,
               (unsigned long)component->down);
    }
    for (int s = 0; s < encoder->scan_count; s++) {
        const Scan *scan = &encoder->scans[s];
        printf("scan %d: %d components from %d, %d-%d, %d, %d\n", s, scan->count, scan->index[0],
               scan->Ss, scan->Se, scan->Ah, scan->Al);
    }
}

static void compress(const Options *options, FILE *out)
{
    Encoder *encoder = take_memory(1, sizeof *encoder);
    Input input;
    Image image;

    encoder->settings = options->settings;
    encoder->out = out;
    load(options->input, &input);
    read_image(&input, &image, options->targa);
    choose_channels(encoder, &image);
    set_components(encoder, &image);
    set_quantisers(encoder);
    set_scans(encoder);
    transform_image(encoder, &image);
    for (int table = 0; table < 2; table++)
        standard_huffman(&encoder->dc[table], &encoder->ac[table], table);
    write_file_header(encoder);
    write_frame_header(encoder);
    for (int s = 0; s < encoder->scan_count; s++)
        encode_scan(encoder, &encoder->scans[s]);
    put_marker(encoder, MARKER_EOI);
    if (options->verbose)
        report(encoder);
}

int main(int argc, char **argv)
{
    Options options;

    set_program_name("jpeg-c");
    if (parse_options(argc, argv, &options) != 0) {
        usage();
        return 1;
    }
    FILE *out = fopen(options.output, "wb");
    if (out == NULL)
        fail("%s: %s", options.output, strerror(errno));
    compress(&options, out);
    if (fclose(out) != 0)
        fail("cannot write the output");
    release_memory();
    return 0;
}
