/* SPDX-License-Identifier: MIT */
/* Truevision Targa: grey, colour-mapped and true colour of 15 to 32 bits, run-length coded or not. */
#include "encoder.h"

typedef struct {
    int kind;
    int bytes;
    uint32_t first, colors;
    uint8_t map[256][3];
    uint8_t pixel[4];
    int run;     /* pixels left of the packet */
    int literal; /* they are all different */
} Targa;

static void expand_color(const uint8_t *raw, int bytes, uint8_t *pixel)
{
    if (bytes == 2) {
        unsigned value = raw[0] | (unsigned)raw[1] << 8;
        for (int channel = 0; channel < 3; channel++) {
            unsigned level = (value >> (10 - 5 * channel)) & 31u;
            pixel[channel] = (uint8_t)((level * 255 + 15) / 31);
        }
        return;
    }
    pixel[0] = raw[2];
    pixel[1] = raw[1];
    pixel[2] = raw[0];
}

static void read_map(Input *input, Targa *targa, uint32_t entry_bits)
{
    int bytes = (int)(entry_bits + 7) / 8;

    if (targa->first + targa->colors > 256 || bytes < 2 || bytes > 4)
        fail("TGA: colour map not supported");
    for (uint32_t i = 0; i < targa->colors; i++) {
        uint8_t raw[4] = {0};
        for (int b = 0; b < bytes; b++)
            raw[b] = need_byte(input);
        expand_color(raw, bytes, targa->map[targa->first + i]);
    }
}

static void read_raw(Input *input, Targa *targa)
{
    for (int b = 0; b < targa->bytes; b++)
        targa->pixel[b] = need_byte(input);
}

static void next_pixel(Input *input, Targa *targa)
{
    if (targa->kind < 8) {
        read_raw(input, targa);
        return;
    }
    if (targa->run > 0) {
        targa->run--;
        if (targa->literal)
            read_raw(input, targa);
        return;
    }
    int packet = need_byte(input);
    targa->literal = (packet & 0x80) == 0;
    targa->run = packet & 0x7f;
    read_raw(input, targa);
}

static void store_pixel(const Targa *targa, uint8_t *to)
{
    switch (targa->kind & 7) {
    case 1:
        if (targa->pixel[0] < targa->first || targa->pixel[0] >= targa->first + targa->colors)
            fail("TGA: pixel outside the colour map");
        for (int channel = 0; channel < 3; channel++)
            to[channel] = targa->map[targa->pixel[0]][channel];
        break;
    case 2: expand_color(targa->pixel, targa->bytes, to); break;
    default: to[0] = targa->pixel[0]; break;
    }
}

void read_tga(Input *input, Image *image)
{
    Targa targa = {0};
    uint32_t comment = need_byte(input);
    int has_map = need_byte(input);

    targa.kind = need_byte(input);
    targa.first = need_little(input, 2);
    targa.colors = need_little(input, 2);
    uint32_t entry_bits = need_byte(input);
    need_skip(input, 4);
    uint32_t width = need_little(input, 2);
    uint32_t height = need_little(input, 2);
    int bits = need_byte(input);
    int flags = need_byte(input);
    int shape = targa.kind & 7;
    targa.bytes = (bits + 7) / 8;
    if (targa.kind > 11 || shape < 1 || shape > 3 || (targa.kind & ~15) != 0)
        fail("TGA: image type %d is not read", targa.kind);
    if (shape == 2 ? targa.bytes < 2 || targa.bytes > 4 : bits != 8)
        fail("TGA: %d bits per pixel are not read", bits);
    if (shape == 1 && !has_map)
        fail("TGA: colour map missing");
    need_skip(input, comment);
    if (has_map)
        read_map(input, &targa, entry_bits);
    new_image(image, width, height, shape == 3 ? 1 : 3);
    for (uint32_t y = 0; y < height; y++) {
        uint32_t row = (flags & 0x20) ? y : height - 1 - y;
        for (uint32_t x = 0; x < width; x++) {
            uint32_t column = (flags & 0x10) ? width - 1 - x : x;
            next_pixel(input, &targa);
            store_pixel(&targa, image->pixels + ((size_t)row * width + column) * (size_t)image->channels);
        }
    }
}
