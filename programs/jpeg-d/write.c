/* SPDX-License-Identifier: MIT */
/* Netpbm, Windows bitmap and Targa files. */
#include "decoder.h"

enum { BMP_HEADER = 54, TGA_RUN = 128 };

void out_byte(FILE *out, int value)
{
    if (putc(value, out) == EOF)
        fail("cannot write the output");
}

void out_little(FILE *out, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out_byte(out, (int)(value >> (8 * i) & 255u));
}

void out_bytes(FILE *out, const uint8_t *bytes, size_t count)
{
    if (fwrite(bytes, 1, count, out) != count)
        fail("cannot write the output");
}

static const uint8_t *row_of(const Image *image, uint32_t y)
{
    return image->pixels + (size_t)y * image->width * (size_t)image->channels;
}

static int map_is_gray(const Image *image)
{
    for (int i = 0; i < image->colors; i++)
        if (image->map[i][0] != image->map[i][1] || image->map[i][1] != image->map[i][2])
            return 0;
    return 1;
}

/* ---- Netpbm: a colour map is expanded, as there is none in the format ---- */

static void write_pnm(FILE *out, const Image *image)
{
    int gray = image->colors > 0 ? map_is_gray(image) : image->channels == 1;

    fprintf(out, "P%d\n%lu %lu\n255\n", gray ? 5 : 6, (unsigned long)image->width,
            (unsigned long)image->height);
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = row_of(image, y);
        if (image->colors == 0) {
            out_bytes(out, row, (size_t)image->width * (size_t)image->channels);
            continue;
        }
        for (uint32_t x = 0; x < image->width; x++)
            out_bytes(out, image->map[row[x]], gray ? 1 : 3);
    }
}

/* ---- Windows bitmap ---- */

static void write_bmp_map(FILE *out, const Image *image)
{
    for (int i = 0; i < 256; i++) {
        for (int channel = 2; channel >= 0; channel--) {
            int level = i;
            if (image->colors > 0)
                level = i < image->colors ? image->map[i][channel] : 0;
            out_byte(out, level);
        }
        out_byte(out, 0);
    }
}

static void write_bmp(FILE *out, const Image *image)
{
    uint32_t row_bytes = (image->width * (uint32_t)image->channels + 3) / 4 * 4;
    uint32_t data = BMP_HEADER + (image->channels == 1 ? 4 * 256 : 0);

    out_byte(out, 'B');
    out_byte(out, 'M');
    out_little(out, data + row_bytes * image->height, 4);
    out_little(out, 0, 4);
    out_little(out, data, 4);
    out_little(out, 40, 4);
    out_little(out, image->width, 4);
    out_little(out, image->height, 4);
    out_little(out, 1, 2);
    out_little(out, image->channels == 1 ? 8 : 24, 2);
    out_little(out, 0, 4);
    out_little(out, row_bytes * image->height, 4);
    out_little(out, 0, 4);
    out_little(out, 0, 4);
    out_little(out, image->channels == 1 ? 256 : 0, 4);
    out_little(out, 0, 4);
    if (image->channels == 1)
        write_bmp_map(out, image);
    for (uint32_t y = image->height; y-- > 0;) {
        const uint8_t *row = row_of(image, y);
        for (uint32_t x = 0; x < image->width; x++)
            for (int channel = image->channels - 1; channel >= 0; channel--)
                out_byte(out, row[(size_t)x * (size_t)image->channels + (size_t)channel]);
        for (uint32_t x = image->width * (uint32_t)image->channels; x < row_bytes; x++)
            out_byte(out, 0);
    }
}

/* ---- Targa ---- */

static void write_tga_pixel(FILE *out, const uint8_t *pixel, int channels)
{
    for (int channel = channels - 1; channel >= 0; channel--)
        out_byte(out, pixel[channel]);
}

static int same_pixel(const uint8_t *a, const uint8_t *b, int channels)
{
    for (int channel = 0; channel < channels; channel++)
        if (a[channel] != b[channel])
            return 0;
    return 1;
}

static uint32_t run_length(const uint8_t *at, uint32_t left, int channels)
{
    uint32_t run = 1;
    while (run < left && run < TGA_RUN && same_pixel(at, at + run * (uint32_t)channels, channels))
        run++;
    return run;
}

/* Packets of equal pixels where there are at least two, of different ones between them. */
static void write_tga_packets(FILE *out, const uint8_t *row, uint32_t width, int channels)
{
    size_t size = (size_t)channels;
    uint32_t x = 0;

    while (x < width) {
        uint32_t run = run_length(row + x * size, width - x, channels);
        if (run > 1) {
            out_byte(out, (int)(0x80 | (run - 1)));
            write_tga_pixel(out, row + x * size, channels);
            x += run;
            continue;
        }
        uint32_t end = x + 1;
        while (end < width && end - x < TGA_RUN &&
               run_length(row + end * size, width - end, channels) == 1)
            end++;
        out_byte(out, (int)(end - x - 1));
        for (; x < end; x++)
            write_tga_pixel(out, row + x * size, channels);
    }
}

static void write_tga(FILE *out, const Image *image, int run_lengths)
{
    int kind = image->colors > 0 ? 1 : image->channels == 1 ? 3 : 2;

    out_byte(out, 0);
    out_byte(out, image->colors > 0);
    out_byte(out, kind + (run_lengths ? 8 : 0));
    out_little(out, 0, 2);
    out_little(out, (uint32_t)image->colors, 2);
    out_byte(out, image->colors > 0 ? 24 : 0);
    out_little(out, 0, 4);
    out_little(out, image->width, 2);
    out_little(out, image->height, 2);
    out_byte(out, 8 * image->channels);
    out_byte(out, 0x20); /* top row first */
    for (int i = 0; i < image->colors; i++)
        write_tga_pixel(out, image->map[i], 3);
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = row_of(image, y);
        if (run_lengths) {
            write_tga_packets(out, row, image->width, image->channels);
            continue;
        }
        for (uint32_t x = 0; x < image->width; x++)
            write_tga_pixel(out, row + (size_t)x * (size_t)image->channels, image->channels);
    }
}

void write_image(FILE *out, const Image *image, const Settings *settings)
{
    switch (settings->output) {
    case OUTPUT_PNM: write_pnm(out, image); break;
    case OUTPUT_BMP: write_bmp(out, image); break;
    case OUTPUT_TARGA: write_tga(out, image, settings->run_lengths); break;
    case OUTPUT_GIF: write_gif(out, image); break;
    }
}
