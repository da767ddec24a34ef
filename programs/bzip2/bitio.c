/* SPDX-License-Identifier: MIT */
/* Bits to and from files, most significant bit first. */
#include "bzip2.h"

void writer_init(BitWriter *w, FILE *file)
{
    w->file = file;
    w->buffer = 0;
    w->live = 0;
    w->failed = 0;
    w->bytes = 0;
}

static void put_byte(BitWriter *w, unsigned byte)
{
    if (w->file != NULL && putc((int)byte, w->file) == EOF)
        w->failed = 1;
    w->bytes++;
}

void writer_bits(BitWriter *w, int count, uint32_t value)
{
    w->buffer = (w->buffer << count) | value;
    w->live += count;
    while (w->live >= 8) {
        w->live -= 8;
        put_byte(w, (unsigned)(w->buffer >> w->live) & 255u);
    }
}

void writer_word(BitWriter *w, uint32_t value)
{
    writer_bits(w, 16, value >> 16);
    writer_bits(w, 16, value & 0xffffu);
}

int writer_flush(BitWriter *w)
{
    if (w->live > 0)
        writer_bits(w, 8 - w->live, 0);
    if (w->file != NULL && fflush(w->file) != 0)
        w->failed = 1;
    return w->failed ? -1 : 0;
}

void reader_init(BitReader *r, FILE *file)
{
    r->file = file;
    r->buffer = 0;
    r->live = 0;
    r->ended = 0;
    r->bytes = 0;
}

/* After the end of the file zeros are delivered and `ended` is set: callers check it at every
   point where they would otherwise trust what they read. */
static void fill(BitReader *r, int count)
{
    while (r->live < count) {
        int byte = getc(r->file);
        if (byte == EOF) {
            r->ended = 1;
            byte = 0;
        } else {
            r->bytes++;
        }
        r->buffer = (r->buffer << 8) | (uint32_t)byte;
        r->live += 8;
    }
}

uint32_t reader_bits(BitReader *r, int count)
{
    fill(r, count);
    r->live -= count;
    return (r->buffer >> r->live) & ((1u << count) - 1u);
}

uint32_t reader_bit(BitReader *r)
{
    if (r->live == 0)
        fill(r, 1);
    r->live--;
    return (r->buffer >> r->live) & 1u;
}

void reader_align(BitReader *r)
{
    r->live -= r->live % 8;
}
