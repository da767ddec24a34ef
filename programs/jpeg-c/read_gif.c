/* SPDX-License-Identifier: MIT */
/* The first image of a GIF file (87a or 89a): LZW codes of 3 to 12 bits, interlaced or not. */
#include <string.h>

#include "encoder.h"

enum { LZW_CODES = 4096, NO_CODE = -1 };

typedef struct {
    Input *input;
    int block_left;      /* bytes left of the data sub-block */
    uint32_t buffer;
    int live;
    int minimum;         /* bits of a pixel */
    int bits;            /* bits of a code now */
    int next;            /* code to be defined next */
    int previous;
    uint16_t prefix[LZW_CODES];
    uint8_t suffix[LZW_CODES];
    uint8_t stack[LZW_CODES];
    int stacked;
} Lzw;

typedef struct {
    uint8_t map[256][3];
    int colors;
    int is_gray;
} ColorMap;

static void read_map(Input *input, ColorMap *map, int flags)
{
    map->colors = 2 << (flags & 7);
    map->is_gray = 1;
    for (int i = 0; i < map->colors; i++) {
        for (int channel = 0; channel < 3; channel++)
            map->map[i][channel] = need_byte(input);
        if (map->map[i][0] != map->map[i][1] || map->map[i][1] != map->map[i][2])
            map->is_gray = 0;
    }
}

static void skip_blocks(Input *input)
{
    for (uint8_t size = need_byte(input); size > 0; size = need_byte(input))
        need_skip(input, size);
}

static void start_codes(Lzw *lzw)
{
    lzw->bits = lzw->minimum + 1;
    lzw->next = (1 << lzw->minimum) + 2;
    lzw->previous = NO_CODE;
}

static int read_code(Lzw *lzw)
{
    while (lzw->live < lzw->bits) {
        if (lzw->block_left == 0)
            lzw->block_left = need_byte(lzw->input);
        if (lzw->block_left == 0)
            fail("GIF: the pixels end too early");
        lzw->block_left--;
        lzw->buffer |= (uint32_t)need_byte(lzw->input) << lzw->live;
        lzw->live += 8;
    }
    int code = (int)(lzw->buffer & ((1u << lzw->bits) - 1u));
    lzw->buffer >>= lzw->bits;
    lzw->live -= lzw->bits;
    return code;
}

/* Puts the pixels of a code on the stack, the first on top. */
static void expand_code(Lzw *lzw, int code)
{
    int clear = 1 << lzw->minimum;
    int walk = code;

    if (code == lzw->next && lzw->previous != NO_CODE) {
        lzw->stacked = 1; /* the string of the previous code and its own first pixel */
        walk = lzw->previous;
    } else if (code >= lzw->next || (lzw->previous == NO_CODE && code >= clear)) {
        fail("GIF: a code that was never defined");
    }
    while (walk >= clear) {
        lzw->stack[lzw->stacked++] = lzw->suffix[walk];
        walk = lzw->prefix[walk];
    }
    lzw->stack[lzw->stacked++] = (uint8_t)walk;
    if (code == lzw->next)
        lzw->stack[0] = (uint8_t)walk;
    if (lzw->previous != NO_CODE && lzw->next < LZW_CODES) {
        lzw->prefix[lzw->next] = (uint16_t)lzw->previous;
        lzw->suffix[lzw->next] = (uint8_t)walk;
        lzw->next++;
        if (lzw->next == 1 << lzw->bits && lzw->bits < 12)
            lzw->bits++;
    }
    lzw->previous = code;
}

static uint8_t next_pixel(Lzw *lzw)
{
    int clear = 1 << lzw->minimum;

    while (lzw->stacked == 0) {
        int code = read_code(lzw);
        if (code == clear)
            start_codes(lzw);
        else if (code == clear + 1)
            fail("GIF: the pixels end too early");
        else
            expand_code(lzw, code);
    }
    return lzw->stack[--lzw->stacked];
}

/* Row in the image of the n-th row in the file. */
static uint32_t interlaced_row(uint32_t n, uint32_t height)
{
    static const uint8_t start[4] = {0, 4, 2, 1};
    static const uint8_t step[4] = {8, 8, 4, 2};

    for (int pass = 0; pass < 4; pass++) {
        uint32_t rows = height > start[pass] ? divide_up(height - start[pass], step[pass]) : 0;
        if (n < rows)
            return start[pass] + n * step[pass];
        n -= rows;
    }
    return 0;
}

static void read_pixels(Input *input, Image *image, const ColorMap *map, int interlaced)
{
    Lzw *lzw = take_memory(1, sizeof *lzw);

    lzw->input = input;
    lzw->minimum = need_byte(input);
    if (lzw->minimum < 2 || lzw->minimum > 8)
        fail("GIF: code size out of range");
    start_codes(lzw);
    for (uint32_t n = 0; n < image->height; n++) {
        uint32_t y = interlaced ? interlaced_row(n, image->height) : n;
        uint8_t *to = image->pixels + (size_t)y * image->width * (size_t)image->channels;
        for (uint32_t x = 0; x < image->width; x++) {
            uint8_t index = next_pixel(lzw);
            if (index >= map->colors)
                fail("GIF: pixel outside the colour map");
            memcpy(to, map->map[index], (size_t)image->channels);
            to += image->channels;
        }
    }
}

void read_gif(Input *input, Image *image)
{
    ColorMap map = {.colors = 0};
    int flags;

    if (input->size < 6 || (memcmp(input->bytes, "GIF87a", 6) != 0 && memcmp(input->bytes, "GIF89a", 6) != 0))
        fail("GIF: unknown version");
    need_skip(input, 10);
    flags = need_byte(input);
    need_skip(input, 2);
    if (flags & 0x80)
        read_map(input, &map, flags);
    for (;;) {
        uint8_t kind = need_byte(input);
        if (kind == '!') {
            need_skip(input, 1);
            skip_blocks(input);
        } else if (kind == ',')
            break;
        else
            fail("GIF: no image found");
    }
    need_skip(input, 4);
    uint32_t width = need_little(input, 2);
    uint32_t height = need_little(input, 2);
    flags = need_byte(input);
    if (flags & 0x80)
        read_map(input, &map, flags);
    if (map.colors == 0)
        fail("GIF: colour map missing");
    new_image(image, width, height, map.is_gray ? 1 : 3);
    read_pixels(input, image, &map, (flags & 0x40) != 0);
}
