/* SPDX-License-Identifier: MIT */
/* Memory, messages, and the two byte-oriented codecs of TIFF 6.0: PackBits (section 9) and LZW
 * (section 13), the latter also in the bit order of files written before 1988. */
#include "tiff.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tiff_program = "tiff";

int tiff_error(const char *file, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "%s: %s: ", tiff_program, file);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return 0;
}

void *tiff_allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory) {
        fprintf(stderr, "%s: out of memory\n", tiff_program);
        exit(3);
    }
    return memory;
}

static void reserve(tiff_buffer *buffer, size_t more)
{
    size_t capacity = buffer->capacity ? buffer->capacity : 256;
    uint8_t *data;
    if (buffer->size + more <= buffer->capacity)
        return;
    while (capacity < buffer->size + more)
        capacity *= 2;
    data = realloc(buffer->data, capacity);
    if (!data) {
        fprintf(stderr, "%s: out of memory\n", tiff_program);
        exit(3);
    }
    buffer->data = data;
    buffer->capacity = capacity;
}

void tiff_put(tiff_buffer *buffer, unsigned byte)
{
    reserve(buffer, 1);
    buffer->data[buffer->size++] = (uint8_t)byte;
}

void tiff_append(tiff_buffer *buffer, const void *data, size_t size)
{
    if (!size)
        return;
    reserve(buffer, size);
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void tiff_release(tiff_buffer *buffer)
{
    free(buffer->data);
    buffer->data = NULL;
    buffer->size = buffer->capacity = 0;
}

unsigned tiff_reverse_byte(unsigned byte)
{
    byte = (byte & 0x0f) << 4 | byte >> 4;
    byte = (byte & 0x33) << 2 | (byte >> 2 & 0x33);
    return (byte & 0x55) << 1 | (byte >> 1 & 0x55);
}

int packbits_decode(const uint8_t *in, size_t length, uint8_t *out, size_t size)
{
    const uint8_t *end = in + length;
    size_t done = 0;
    while (done < size) {
        unsigned head, count;
        if (in == end)
            return 0;
        head = *in++;
        if (head == 128)
            continue;
        count = head < 128 ? head + 1 : 257 - head;
        if (count > size - done)
            count = (unsigned)(size - done);
        if (head < 128) {
            if ((size_t)(end - in) < count)
                return 0;
            memcpy(out + done, in, count);
            in += count;
        } else {
            if (in == end)
                return 0;
            memset(out + done, *in++, count);
        }
        done += count;
    }
    return 1;
}

static size_t run_length(const uint8_t *row, size_t left)
{
    size_t run = 1;
    if (left > 128)
        left = 128;
    while (run < left && row[run] == row[0])
        run++;
    return run;
}

void packbits_encode(const uint8_t *row, size_t length, tiff_buffer *out)
{
    size_t at = 0;
    while (at < length) {
        size_t run = run_length(row + at, length - at);
        size_t start = at;
        if (run >= 2) {
            tiff_put(out, (unsigned)(257 - run));
            tiff_put(out, row[at]);
            at += run;
            continue;
        }
        /* A pair inside literals costs as much as it saves; only a run of three ends them. */
        while (at < length && at - start < 128) {
            run = run_length(row + at, length - at);
            if (run >= 3)
                break;
            at += run;
        }
        if (at - start > 128)
            at = start + 128;
        tiff_put(out, (unsigned)(at - start - 1));
        tiff_append(out, row + start, at - start);
    }
}

enum { LZW_CLEAR = 256, LZW_END = 257, LZW_FIRST = 258, LZW_CODES = 4096 };

typedef struct {
    const uint8_t *in, *end;
    uint32_t window;
    unsigned count;
    int old_order; /* codes start at the low bit, and widen one code later */
} lzw_reader;

static int lzw_code(lzw_reader *reader, unsigned width)
{
    unsigned code;
    while (reader->count < width) {
        if (reader->in == reader->end)
            return -1;
        if (reader->old_order)
            reader->window |= (uint32_t)*reader->in++ << reader->count;
        else
            reader->window = reader->window << 8 | *reader->in++;
        reader->count += 8;
    }
    reader->count -= width;
    if (reader->old_order) {
        code = reader->window & ((1u << width) - 1);
        reader->window >>= width;
    } else {
        code = reader->window >> reader->count & ((1u << width) - 1);
    }
    return (int)code;
}

int lzw_decode(const uint8_t *in, size_t length, uint8_t *out, size_t size)
{
    uint16_t prefix[LZW_CODES], spelled[LZW_CODES];
    uint8_t last[LZW_CODES];
    lzw_reader reader = {in, in + length, 0, 0, 0};
    unsigned next = LZW_FIRST, width = 9;
    int previous = -1;
    size_t done = 0;

    reader.old_order = length >= 2 && in[0] == 0 && (in[1] & 1);
    for (unsigned i = 0; i < 256; i++) {
        prefix[i] = 0;
        last[i] = (uint8_t)i;
        spelled[i] = 1;
    }
    while (done < size) {
        int code = lzw_code(&reader, width);
        unsigned walk;
        size_t count, at;
        if (code < 0 || code == LZW_END)
            return 0;
        if (code == LZW_CLEAR) {
            next = LZW_FIRST;
            width = 9;
            previous = -1;
            continue;
        }
        if (previous < 0 ? code > 255 : (unsigned)code > next || code >= LZW_CODES)
            return 0;
        if (previous >= 0 && next < LZW_CODES) {
            unsigned first = (unsigned)code == next ? (unsigned)previous : (unsigned)code;
            while (first > 255)
                first = prefix[first];
            prefix[next] = (uint16_t)previous;
            last[next] = (uint8_t)first;
            spelled[next] = (uint16_t)(spelled[previous] + 1);
            next++;
            if (next + (reader.old_order ? 0 : 1) >= 1u << width && width < 12)
                width++;
        }
        count = spelled[code];
        walk = (unsigned)code;
        for (at = count; at > 0; at--) {
            if (done + at - 1 < size)
                out[done + at - 1] = last[walk];
            walk = prefix[walk];
        }
        done += count;
        previous = code;
    }
    return 1;
}

typedef struct {
    tiff_buffer *out;
    uint32_t window;
    unsigned count;
} lzw_writer;

static void lzw_emit(lzw_writer *writer, unsigned code, unsigned width)
{
    writer->window = writer->window << width | code;
    writer->count += width;
    while (writer->count >= 8) {
        writer->count -= 8;
        tiff_put(writer->out, writer->window >> writer->count & 0xff);
    }
}

enum { LZW_SLOTS = 9001 };

typedef struct {
    uint32_t key[LZW_SLOTS]; /* 0 is free: a key carries its byte plus one */
    uint16_t code[LZW_SLOTS];
} lzw_table;

static unsigned lzw_slot(const lzw_table *table, unsigned prefix, unsigned byte)
{
    uint32_t key = prefix << 9 | (byte + 1);
    unsigned slot = (prefix * 31 + byte * 257) % LZW_SLOTS;
    while (table->key[slot] && table->key[slot] != key)
        slot = slot + 1 == LZW_SLOTS ? 0 : slot + 1;
    return slot;
}

void lzw_encode(const uint8_t *in, size_t length, tiff_buffer *out)
{
    lzw_table *table = tiff_allocate(1, sizeof *table);
    lzw_writer writer = {out, 0, 0};
    unsigned next = LZW_FIRST, width = 9, prefix;

    lzw_emit(&writer, LZW_CLEAR, 9);
    if (length) {
        prefix = in[0];
        for (size_t i = 1; i < length; i++) {
            unsigned slot = lzw_slot(table, prefix, in[i]);
            if (table->key[slot]) {
                prefix = table->code[slot];
                continue;
            }
            lzw_emit(&writer, prefix, width);
            table->key[slot] = prefix << 9 | (in[i] + 1u);
            table->code[slot] = (uint16_t)next++;
            prefix = in[i];
            if (next == LZW_CODES - 2) {
                lzw_emit(&writer, LZW_CLEAR, width);
                memset(table->key, 0, sizeof table->key);
                next = LZW_FIRST;
                width = 9;
            } else if (next + 1 > 1u << width) {
                width++;
            }
        }
        lzw_emit(&writer, prefix, width);
        next++;
        if (next + 1 > 1u << width && width < 12)
            width++;
    }
    lzw_emit(&writer, LZW_END, width);
    if (writer.count)
        lzw_emit(&writer, 0, 8 - writer.count);
    free(table);
}
