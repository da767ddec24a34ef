/* SPDX-License-Identifier: MIT */
/* Rescue of the blocks of a damaged file: looks for block marks at every bit and writes what lies
   between two of them as a file of its own, which can then be tested and unpacked alone. */
#include <stdlib.h>
#include <string.h>

#include "bzip2.h"

enum { MARK_BITS = 48, MAX_BLOCKS = 50000, NAME_SIZE = 4096 };

typedef struct {
    uint64_t start; /* first bit after the mark */
    uint64_t end;   /* first bit of the next mark */
} Span;

typedef struct {
    Span *spans;
    size_t count;
    size_t capacity;
    int open;
} SpanList;

static const uint64_t block_mark = ((uint64_t)BLOCK_MAGIC_HIGH << 24) | BLOCK_MAGIC_LOW;
static const uint64_t end_mark = ((uint64_t)END_MAGIC_HIGH << 24) | END_MAGIC_LOW;

static int open_span(SpanList *list, uint64_t start)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        Span *grown = realloc(list->spans, capacity * sizeof *grown);
        if (grown == NULL)
            return -1;
        list->spans = grown;
        list->capacity = capacity;
    }
    list->spans[list->count].start = start;
    list->spans[list->count].end = start;
    list->open = 1;
    return 0;
}

static void close_span(SpanList *list, uint64_t end)
{
    if (list->open && list->count < MAX_BLOCKS && end > list->spans[list->count].start) {
        list->spans[list->count].end = end;
        list->count++;
    }
    list->open = 0;
}

static int find_spans(FILE *in, SpanList *list, uint64_t *total_bits)
{
    uint64_t window = 0;
    uint64_t position = 0;
    int byte;

    while ((byte = getc(in)) != EOF) {
        for (int bit = 7; bit >= 0; bit--) {
            window = ((window << 1) | (uint64_t)((byte >> bit) & 1)) & (((uint64_t)1 << MARK_BITS) - 1);
            position++;
            if (position < MARK_BITS || (window != block_mark && window != end_mark))
                continue;
            close_span(list, position - MARK_BITS);
            if (window == block_mark && open_span(list, position) != 0)
                return -1;
        }
    }
    close_span(list, position);
    *total_bits = position;
    return 0;
}

static void copy_bits(BitReader *from, BitWriter *to, uint64_t bits)
{
    for (; bits >= 16; bits -= 16)
        writer_bits(to, 16, reader_bits(from, 16));
    for (; bits > 0; bits--)
        writer_bits(to, 1, reader_bit(from));
}

static BzStatus write_span(FILE *in, const Span *span, const char *name)
{
    FILE *out = fopen(name, "wb");
    BitReader reader;
    BitWriter writer;

    if (out == NULL)
        return BZ_ENVIRONMENT;
    writer_init(&writer, out);
    if (fseek(in, (long)(span->start / 8), SEEK_SET) != 0) {
        fclose(out);
        return BZ_ENVIRONMENT;
    }
    reader_init(&reader, in);
    for (uint64_t skip = span->start % 8; skip > 0; skip--)
        reader_bit(&reader);
    /* The level of the damaged file is not known: the largest fits all. */
    writer_bits(&writer, 16, ('B' << 8) | 'Z');
    writer_bits(&writer, 16, ('h' << 8) | '9');
    writer_bits(&writer, 24, BLOCK_MAGIC_HIGH);
    writer_bits(&writer, 24, BLOCK_MAGIC_LOW);
    uint32_t crc = reader_bits(&reader, 16) << 16;
    crc |= reader_bits(&reader, 16);
    writer_word(&writer, crc);
    copy_bits(&reader, &writer, span->end - span->start - 32);
    writer_bits(&writer, 24, END_MAGIC_HIGH);
    writer_bits(&writer, 24, END_MAGIC_LOW);
    writer_word(&writer, crc);
    int failed = writer_flush(&writer);
    if (fclose(out) != 0)
        failed = 1;
    return failed ? BZ_ENVIRONMENT : BZ_OK;
}

BzStatus recover_blocks(FILE *in, FILE *report, const char *prefix, Statistics *stats)
{
    SpanList list = {NULL, 0, 0, 0};
    uint64_t bits = 0;
    BzStatus status = BZ_OK;
    char name[NAME_SIZE];

    if (find_spans(in, &list, &bits) != 0)
        status = BZ_ENVIRONMENT;
    stats->bytes_in = bits / 8;
    for (size_t i = 0; i < list.count && status == BZ_OK; i++) {
        const Span *span = &list.spans[i];
        if (span->end - span->start < 32)
            continue;
        stats->blocks++;
        fprintf(report, "block %u: bits %llu to %llu\n", stats->blocks,
                (unsigned long long)span->start, (unsigned long long)span->end);
        int size = snprintf(name, sizeof name, "%s%05u.bz2", prefix, stats->blocks);
        status = size > 0 && size < NAME_SIZE ? write_span(in, span, name) : BZ_ENVIRONMENT;
    }
    free(list.spans);
    if (status == BZ_OK && stats->blocks == 0)
        status = BZ_CORRUPT;
    return status;
}
