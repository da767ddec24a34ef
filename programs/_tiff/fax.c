/* SPDX-License-Identifier: MIT */
/* The bilevel codecs: TIFF's Huffman compression (2), ITU-T T.4 one- and two-dimensional (3) and
 * T.6 (4).  A row is held as the list of its changing elements: even places turn to black, odd ones
 * to white.  Black pixels are 1 bits, whatever the photometric interpretation says of them. */
#include "tiff.h"

#include <stdlib.h>
#include <string.h>

#include "fax_codes.h"

enum { LOOK_BITS = 13, LONGEST_RUN = 2560, BLACK = 1, K_FACTOR = 4 };
enum { EOL_BITS = 12, EOL_CODE = 1 };
enum { MODE_PASS, MODE_HORIZONTAL, MODE_VERTICAL, MODE_BAD };

typedef struct {
    int16_t run;
    uint8_t length; /* 0: no code starts so */
} run_entry;

typedef struct {
    run_entry look[2][1 << LOOK_BITS];
    uint16_t code[2][104];
    uint8_t length[2][104];
} fax_tables;

typedef struct {
    const uint8_t *in;
    size_t bits, at; /* both in bits */
} fax_source;

static int code_run(unsigned index)
{
    return index < 64 ? (int)index : 64 * ((int)index - 63);
}

static fax_tables *make_tables(void)
{
    fax_tables *tables = tiff_allocate(1, sizeof *tables);
    for (unsigned colour = 0; colour < 2; colour++) {
        const char *const *texts = colour == BLACK ? black_codes : white_codes;
        for (unsigned i = 0; i < 104; i++) {
            unsigned length = (unsigned)strlen(texts[i]), code = 0;
            unsigned spare = LOOK_BITS - length;
            for (const char *bit = texts[i]; *bit; bit++)
                code = code << 1 | (*bit == '1');
            tables->code[colour][i] = (uint16_t)code;
            tables->length[colour][i] = (uint8_t)length;
            for (unsigned rest = 0; rest < 1u << spare; rest++) {
                run_entry *entry = &tables->look[colour][code << spare | rest];
                entry->run = (int16_t)code_run(i);
                entry->length = (uint8_t)length;
            }
        }
    }
    return tables;
}

/* --- decoding --- */

static unsigned peek(const fax_source *source, unsigned count)
{
    unsigned value = 0;
    size_t byte = source->at >> 3;
    for (size_t i = byte; i < byte + 3; i++)
        value = value << 8 | (i * 8 < source->bits ? source->in[i] : 0u);
    return value >> (24 - count - (source->at & 7)) & ((1u << count) - 1);
}

static int read_run(fax_source *source, const run_entry *look)
{
    int total = 0;
    for (;;) {
        const run_entry *entry = &look[peek(source, LOOK_BITS)];
        if (!entry->length || source->at >= source->bits)
            return -1;
        source->at += entry->length;
        total += entry->run;
        if (entry->run < 64)
            return total;
        if (total > 1 << 24)
            return -1;
    }
}

/* A row of runs that alternate from white.  Returns the number of changes, or -1. */
static int read_row_1d(fax_source *source, const fax_tables *tables, uint32_t *changes, uint32_t width)
{
    uint32_t at = 0;
    int count = 0, colour = 0;
    while (at < width) {
        int run = read_run(source, tables->look[colour]);
        if (run < 0 || (uint32_t)run > width - at || count > (int)width)
            return -1;
        at += (uint32_t)run;
        changes[count++] = at;
        colour ^= 1;
    }
    return count;
}

static int read_mode(fax_source *source, int *shift)
{
    static const struct {
        uint8_t code, length, mode;
        int8_t shift;
    } modes[9] = {{1, 1, MODE_VERTICAL, 0},  {3, 3, MODE_VERTICAL, 1},   {2, 3, MODE_VERTICAL, -1},
                  {1, 3, MODE_HORIZONTAL, 0}, {1, 4, MODE_PASS, 0},       {3, 6, MODE_VERTICAL, 2},
                  {2, 6, MODE_VERTICAL, -2}, {3, 7, MODE_VERTICAL, 3},   {2, 7, MODE_VERTICAL, -3}};
    for (unsigned i = 0; i < 9; i++) {
        if (peek(source, modes[i].length) == modes[i].code && source->at < source->bits) {
            source->at += modes[i].length;
            *shift = modes[i].shift;
            return modes[i].mode;
        }
    }
    return MODE_BAD;
}

/* A row coded against the changes of the row above, which end in entries equal to width. */
static int read_row_2d(fax_source *source, const fax_tables *tables, const uint32_t *above,
                       uint32_t *changes, uint32_t width)
{
    long at = -1;
    int count = 0, colour = 0, near = 0;
    while (at < (long)width) {
        int shift = 0, mode = read_mode(source, &shift);
        long start = at < 0 ? 0 : at, next;
        near = near > 1 ? near - 2 : 0;
        if ((near & 1) != colour)
            near++;
        while ((long)above[near] <= at && above[near] < width)
            near += 2;
        if (mode == MODE_PASS) {
            at = above[near] < width ? (long)above[near + 1] : (long)width;
            continue;
        }
        if (mode == MODE_BAD || count > (int)width)
            return -1;
        if (mode == MODE_HORIZONTAL) {
            for (int i = 0; i < 2; i++) {
                int run = read_run(source, tables->look[colour ^ i]);
                if (run < 0 || run > (long)width - start)
                    return -1;
                start += run;
                changes[count++] = (uint32_t)start;
            }
            at = start;
            continue;
        }
        next = (long)above[near] + shift;
        if (next < start || next > (long)width || (next == at && count > 0))
            return -1;
        at = next;
        changes[count++] = (uint32_t)at;
        colour ^= 1;
        if (at == (long)width)
            break;
    }
    return count;
}

static void close_row(uint32_t *changes, int count, uint32_t width)
{
    for (int i = 0; i < 4; i++)
        changes[count + i] = width;
}

static void paint_row(uint8_t *row, const uint32_t *changes, uint32_t width)
{
    memset(row, 0, (width + 7) / 8);
    for (unsigned i = 0; changes[i] < width; i += 2)
        for (uint32_t x = changes[i]; x < changes[i + 1]; x++)
            row[x >> 3] |= (uint8_t)(0x80 >> (x & 7));
}

/* Moves behind the next end-of-line code; returns 0 when there is none. */
static int skip_to_eol(fax_source *source)
{
    while (source->at + EOL_BITS <= source->bits) {
        if (peek(source, EOL_BITS) == EOL_CODE) {
            source->at += EOL_BITS;
            return 1;
        }
        source->at++;
    }
    return 0;
}

typedef struct {
    fax_source source;
    const fax_tables *tables;
    uint32_t *above, *changes;
    uint32_t width;
    unsigned compression;
    uint32_t options;
} fax_decoder;

/* One row into changes; returns 1 for a row, 0 for the end of the data, -1 for damage. */
static int decode_row(fax_decoder *decoder)
{
    fax_source *source = &decoder->source;
    int count, one_dimensional = 1;
    if (decoder->compression == COMPRESS_GROUP3) {
        if (!skip_to_eol(source))
            return 0;
        if (decoder->options & FAX_TWO_DIMENSIONAL) {
            one_dimensional = (int)peek(source, 1);
            source->at++;
        }
        if (peek(source, EOL_BITS) == EOL_CODE)
            return 0; /* two in a row: return to control */
    } else if (decoder->compression == COMPRESS_GROUP4) {
        one_dimensional = 0;
    }
    if (one_dimensional)
        count = read_row_1d(source, decoder->tables, decoder->changes, decoder->width);
    else
        count = read_row_2d(source, decoder->tables, decoder->above, decoder->changes, decoder->width);
    if (count < 0) {
        /* Only T.4 lets a receiver go on: a damaged row repeats the one above it. */
        if (decoder->compression != COMPRESS_GROUP3)
            return -1;
        for (count = 0; decoder->above[count] < decoder->width; count++)
            decoder->changes[count] = decoder->above[count];
    }
    close_row(decoder->changes, count, decoder->width);
    if (decoder->compression == COMPRESS_HUFFMAN)
        source->at = (source->at + 7) & ~(size_t)7;
    return 1;
}

int fax_decode(unsigned compression, uint32_t options, const uint8_t *in, size_t length,
               uint8_t *out, uint32_t width, uint32_t rows)
{
    fax_tables *tables = make_tables();
    uint32_t *changes = tiff_allocate(2 * ((size_t)width + 8), sizeof *changes);
    fax_decoder decoder = {{in, length * 8, 0}, tables, changes, changes + width + 8, width, compression, options};
    size_t pitch = ((size_t)width + 7) / 8;
    int state = (options & FAX_UNCOMPRESSED) ? -1 : 1;

    close_row(decoder.above, 0, width);
    for (uint32_t row = 0; row < rows && state > 0; row++) {
        uint32_t *swap;
        state = decode_row(&decoder);
        if (state <= 0)
            break;
        paint_row(out + row * pitch, decoder.changes, width);
        swap = decoder.above;
        decoder.above = decoder.changes;
        decoder.changes = swap;
    }
    free(changes);
    free(tables);
    return state >= 0;
}

/* --- encoding --- */

typedef struct {
    tiff_buffer *out;
    uint32_t window;
    unsigned count;
} fax_sink;

static void put_code(fax_sink *sink, unsigned code, unsigned length)
{
    sink->window = sink->window << length | code;
    sink->count += length;
    while (sink->count >= 8) {
        sink->count -= 8;
        tiff_put(sink->out, sink->window >> sink->count & 0xff);
    }
}

static void align_sink(fax_sink *sink)
{
    if (sink->count)
        put_code(sink, 0, 8 - sink->count);
}

static void put_run(fax_sink *sink, const fax_tables *tables, unsigned colour, uint32_t run)
{
    while (run >= 64) {
        unsigned part = run > LONGEST_RUN ? LONGEST_RUN : run & ~63u;
        unsigned index = 63 + part / 64;
        put_code(sink, tables->code[colour][index], tables->length[colour][index]);
        run -= part;
        if (run < 64)
            break;
    }
    put_code(sink, tables->code[colour][run], tables->length[colour][run]);
}

static int find_changes(const uint8_t *row, uint32_t *changes, uint32_t width)
{
    int count = 0;
    unsigned colour = 0;
    for (uint32_t x = 0; x < width; x++) {
        /* A whole byte of the present colour holds no change. */
        if (!(x & 7) && row[x >> 3] == (colour ? 0xff : 0) && width - x >= 8) {
            x += 7;
            continue;
        }
        if ((row[x >> 3] >> (7 - (x & 7)) & 1u) != colour) {
            changes[count++] = x;
            colour ^= 1;
        }
    }
    return count;
}

static void write_row_1d(fax_sink *sink, const fax_tables *tables, const uint32_t *changes, uint32_t width)
{
    uint32_t at = 0;
    unsigned colour = 0;
    for (unsigned i = 0; at < width; i++) {
        put_run(sink, tables, colour, changes[i] - at);
        at = changes[i];
        colour ^= 1;
    }
}

static void write_row_2d(fax_sink *sink, const fax_tables *tables, const uint32_t *above,
                         const uint32_t *changes, uint32_t width)
{
    static const uint8_t vertical[7][2] = {{2, 7}, {2, 6}, {2, 3}, {1, 1}, {3, 3}, {3, 6}, {3, 7}};
    long at = -1;
    unsigned colour = 0, own = 0, near = 0;
    while (at < (long)width) {
        long first, distance;
        near = near > 1 ? near - 2 : 0;
        if ((near & 1) != colour)
            near++;
        while ((long)above[near] <= at && above[near] < width)
            near += 2;
        first = changes[own];
        if (above[near] < width && (long)above[near + 1] < first) {
            put_code(sink, 1, 4);
            at = above[near + 1];
            continue;
        }
        distance = first - (long)above[near];
        if (distance >= -3 && distance <= 3) {
            put_code(sink, vertical[distance + 3][0], vertical[distance + 3][1]);
            at = first;
            colour ^= 1;
            own++;
        } else {
            long start = at < 0 ? 0 : at;
            put_code(sink, 1, 3);
            put_run(sink, tables, colour, (uint32_t)(first - start));
            put_run(sink, tables, colour ^ 1, changes[own + 1] - (uint32_t)first);
            at = changes[own + 1];
            own += 2;
        }
    }
}

static void put_eol(fax_sink *sink, uint32_t options)
{
    /* With fill bits the code ends on a byte, so that 4 bits of a byte come before its 12. */
    if ((options & FAX_FILL_BITS) && sink->count != 4)
        put_code(sink, 0, (12 - sink->count) & 7);
    put_code(sink, EOL_CODE, EOL_BITS);
}

void fax_encode(unsigned compression, uint32_t options, const uint8_t *rows, uint32_t width,
                uint32_t count, tiff_buffer *out)
{
    fax_tables *tables = make_tables();
    uint32_t *memory = tiff_allocate(2 * ((size_t)width + 8), sizeof *memory);
    uint32_t *above = memory, *changes = memory + width + 8;
    fax_sink sink = {out, 0, 0};
    size_t pitch = ((size_t)width + 7) / 8;

    close_row(above, 0, width);
    for (uint32_t row = 0; row < count; row++) {
        uint32_t *swap = above;
        int two_dimensional = compression == COMPRESS_GROUP4;
        close_row(changes, find_changes(rows + row * pitch, changes, width), width);
        if (compression == COMPRESS_GROUP3) {
            put_eol(&sink, options);
            if (options & FAX_TWO_DIMENSIONAL) {
                two_dimensional = row % K_FACTOR != 0;
                put_code(&sink, !two_dimensional, 1);
            }
        }
        if (two_dimensional)
            write_row_2d(&sink, tables, above, changes, width);
        else
            write_row_1d(&sink, tables, changes, width);
        if (compression == COMPRESS_HUFFMAN)
            align_sink(&sink);
        above = changes;
        changes = swap;
    }
    if (compression == COMPRESS_GROUP4) {
        put_code(&sink, EOL_CODE, EOL_BITS);
        put_code(&sink, EOL_CODE, EOL_BITS);
    }
    align_sink(&sink);
    free(memory);
    free(tables);
}
