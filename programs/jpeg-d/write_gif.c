/* SPDX-License-Identifier: MIT */
/* GIF 87a: LZW with codes of up to 12 bits, the dictionary kept in a hash table. */
#include <string.h>

#include "decoder.h"

enum { MAX_CODE = 4095, HASH_SIZE = 5003, BLOCK_BYTES = 255 };

typedef struct {
    FILE *out;
    int minimum;
    int bits;
    int next;
    uint32_t buffer;
    int live;
    uint8_t block[BLOCK_BYTES];
    int block_size;
    int32_t key[HASH_SIZE]; /* prefix << 8 | pixel, -1 where free */
    int16_t code[HASH_SIZE];
} Lzw;

static void flush_block(Lzw *lzw)
{
    if (lzw->block_size == 0)
        return;
    out_byte(lzw->out, lzw->block_size);
    out_bytes(lzw->out, lzw->block, (size_t)lzw->block_size);
    lzw->block_size = 0;
}

static void put_data_byte(Lzw *lzw, int byte)
{
    lzw->block[lzw->block_size++] = (uint8_t)byte;
    if (lzw->block_size == BLOCK_BYTES)
        flush_block(lzw);
}

static void put_code(Lzw *lzw, int code)
{
    lzw->buffer |= (uint32_t)code << lzw->live;
    lzw->live += lzw->bits;
    while (lzw->live >= 8) {
        put_data_byte(lzw, (int)(lzw->buffer & 255u));
        lzw->buffer >>= 8;
        lzw->live -= 8;
    }
}

static void clear_dictionary(Lzw *lzw)
{
    for (int i = 0; i < HASH_SIZE; i++)
        lzw->key[i] = -1;
    lzw->bits = lzw->minimum + 1;
    lzw->next = (1 << lzw->minimum) + 2;
}

/* Slot of the key, or the free slot where it belongs. */
static int find_slot(const Lzw *lzw, int32_t key)
{
    int slot = (int)(((uint32_t)key * 2654435761u) >> 8) % HASH_SIZE;
    while (lzw->key[slot] != -1 && lzw->key[slot] != key)
        slot = slot == 0 ? HASH_SIZE - 1 : slot - 1;
    return slot;
}

static void define_string(Lzw *lzw, int slot, int32_t key)
{
    if (lzw->next > MAX_CODE) {
        put_code(lzw, 1 << lzw->minimum);
        clear_dictionary(lzw);
        return;
    }
    lzw->key[slot] = key;
    lzw->code[slot] = (int16_t)lzw->next;
    if (lzw->next == 1 << lzw->bits)
        lzw->bits++;
    lzw->next++;
}

static void write_pixels(Lzw *lzw, const uint8_t *pixels, size_t count)
{
    int prefix = pixels[0];

    clear_dictionary(lzw);
    put_code(lzw, 1 << lzw->minimum);
    for (size_t i = 1; i < count; i++) {
        int32_t key = (int32_t)prefix << 8 | pixels[i];
        int slot = find_slot(lzw, key);
        if (lzw->key[slot] == key) {
            prefix = lzw->code[slot];
            continue;
        }
        put_code(lzw, prefix);
        define_string(lzw, slot, key);
        prefix = pixels[i];
    }
    put_code(lzw, prefix);
    /* The reader defines a string here too, and may thereby reach the next size of code. */
    if (lzw->next == 1 << lzw->bits && lzw->bits < 12)
        lzw->bits++;
    put_code(lzw, (1 << lzw->minimum) + 1);
    if (lzw->live > 0)
        put_data_byte(lzw, (int)(lzw->buffer & 255u));
    flush_block(lzw);
    out_byte(lzw->out, 0);
}

static int bits_for(int colors)
{
    int bits = 1;
    while (1 << bits < colors)
        bits++;
    return bits;
}

void write_gif(FILE *out, const Image *image)
{
    int colors = image->colors > 0 ? image->colors : 256;
    int bits = bits_for(colors);
    Lzw *lzw = take_memory(1, sizeof *lzw);

    out_bytes(out, (const uint8_t *)"GIF87a", 6);
    out_little(out, image->width, 2);
    out_little(out, image->height, 2);
    out_byte(out, 0x80 | (bits - 1) << 4 | (bits - 1));
    out_byte(out, 0);
    out_byte(out, 0);
    for (int i = 0; i < 1 << bits; i++)
        for (int channel = 0; channel < 3; channel++)
            out_byte(out, image->colors == 0 ? i : i < colors ? image->map[i][channel] : 0);
    out_byte(out, ',');
    out_little(out, 0, 4);
    out_little(out, image->width, 2);
    out_little(out, image->height, 2);
    out_byte(out, 0);
    lzw->out = out;
    lzw->minimum = bits < 2 ? 2 : bits;
    out_byte(out, lzw->minimum);
    write_pixels(lzw, image->pixels, (size_t)image->width * image->height);
    out_byte(out, ';');
}
