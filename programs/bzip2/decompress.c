/* SPDX-License-Identifier: MIT */
/* Streams of the format to bytes. Nothing read from the file is trusted: every count and index is
   checked before use, and both checksums are compared. Two ways to undo the sort: one word per
   byte, or, to save memory, 20 bits per byte and a search in the cumulative counts. */
#include <stdlib.h>
#include <string.h>

#include "bzip2.h"

enum { RUN_LIMIT = 2 * 1024 * 1024 };

typedef struct {
    BitReader in;
    FILE *out;
    Statistics *stats;
    const char *reason;
    int small;
    int level;
    uint32_t capacity;
    uint32_t allocated;
    uint32_t *links;      /* fast: next row in the high 24 bits, byte in the low 8 */
    uint16_t *low;        /* small: low 16 bits of the link */
    uint8_t *high;        /* small: two more times 4 bits per byte */
    uint32_t length;
    uint32_t start;
    uint8_t dense_to_byte[256];
    int distinct;
    int alphabet;
    int tables;
    DecodeTable table[MAX_TABLES];
    uint8_t selector[MAX_SELECTORS];
    int selectors;
    uint32_t count[257];
    int group;
    int group_left;
} Decompressor;

static BzStatus corrupt(Decompressor *d, const char *reason)
{
    d->reason = d->in.ended ? "unexpected end of file" : reason;
    return BZ_CORRUPT;
}

/* ---- headers of a block ---- */

static BzStatus read_present(Decompressor *d)
{
    uint32_t rows = reader_bits(&d->in, 16);

    d->distinct = 0;
    for (int row = 0; row < 16; row++) {
        if (((rows >> (15 - row)) & 1u) == 0)
            continue;
        uint32_t bits = reader_bits(&d->in, 16);
        for (int i = 0; i < 16; i++)
            if ((bits >> (15 - i)) & 1u)
                d->dense_to_byte[d->distinct++] = (uint8_t)(16 * row + i);
    }
    if (d->distinct == 0)
        return corrupt(d, "a block uses no byte value");
    d->alphabet = d->distinct + 2;
    return BZ_OK;
}

static BzStatus read_selectors(Decompressor *d)
{
    uint8_t list[MAX_TABLES] = {0, 1, 2, 3, 4, 5};
    int announced;

    d->tables = (int)reader_bits(&d->in, 3);
    announced = (int)reader_bits(&d->in, 15);
    if (d->tables < MIN_TABLES || d->tables > MAX_TABLES)
        return corrupt(d, "number of code tables out of range");
    if (announced < 1)
        return corrupt(d, "a block has no selectors");
    d->selectors = 0;
    for (int i = 0; i < announced; i++) {
        int position = 0;
        while (reader_bit(&d->in)) {
            position++;
            if (position >= d->tables)
                return corrupt(d, "selector out of range");
        }
        uint8_t value = list[position];
        for (; position > 0; position--)
            list[position] = list[position - 1];
        list[0] = value;
        /* Some writers announce more than a block can use; the rest is read and dropped. */
        if (d->selectors < MAX_SELECTORS)
            d->selector[d->selectors++] = value;
    }
    return BZ_OK;
}

static BzStatus read_tables(Decompressor *d)
{
    for (int t = 0; t < d->tables; t++) {
        uint8_t length[MAX_SYMBOLS];
        int current = (int)reader_bits(&d->in, 5);
        for (int s = 0; s < d->alphabet; s++) {
            for (;;) {
                if (current < 1 || current > MAX_CODE_LENGTH)
                    return corrupt(d, "code length out of range");
                if (!reader_bit(&d->in))
                    break;
                current += reader_bit(&d->in) ? -1 : 1;
            }
            length[s] = (uint8_t)current;
        }
        if (huffman_decode_table(length, d->alphabet, &d->table[t]) != 0)
            return corrupt(d, "code lengths do not form a code");
    }
    return BZ_OK;
}

/* ---- symbols ---- */

/* Returns a symbol, or -1. */
static int read_symbol(Decompressor *d)
{
    if (d->group_left == 0) {
        if (++d->group >= d->selectors || d->in.ended)
            return -1;
        d->group_left = GROUP_SIZE;
    }
    d->group_left--;
    const DecodeTable *table = &d->table[d->selector[d->group]];
    int bits = table->shortest;
    int32_t value = (int32_t)reader_bits(&d->in, bits);
    while (value > table->limit[bits]) {
        if (++bits > table->longest)
            return -1;
        value = value * 2 + (int32_t)reader_bit(&d->in);
    }
    return table->symbol[value + table->base[bits]];
}

static void store_byte(Decompressor *d, uint8_t byte)
{
    if (d->small)
        d->low[d->length] = byte;
    else
        d->links[d->length] = byte;
    d->count[byte]++;
    d->length++;
}

static uint8_t take_to_front(uint8_t *list, int position)
{
    uint8_t value = list[position];
    memmove(list + 1, list, (size_t)position);
    list[0] = value;
    return value;
}

static BzStatus read_symbols(Decompressor *d)
{
    uint8_t list[256];
    uint32_t run = 0;
    uint32_t digit = 1;

    memcpy(list, d->dense_to_byte, sizeof list);
    memset(d->count, 0, sizeof d->count);
    d->length = 0;
    d->group = -1;
    d->group_left = 0;
    for (;;) {
        int symbol = read_symbol(d);
        if (symbol < 0)
            return corrupt(d, "a code is not in its table");
        if (symbol <= SYMBOL_RUNB) {
            if (digit >= RUN_LIMIT)
                return corrupt(d, "a run is too long");
            run += digit << symbol;
            digit <<= 1;
            continue;
        }
        if (run > d->capacity - d->length)
            return corrupt(d, "a block is too long");
        for (; run > 0; run--)
            store_byte(d, list[0]);
        digit = 1;
        if (symbol == d->alphabet - 1)
            return BZ_OK;
        if (d->length >= d->capacity)
            return corrupt(d, "a block is too long");
        store_byte(d, take_to_front(list, symbol - 1));
    }
}

/* ---- the sort undone ---- */

static void accumulate(uint32_t *count)
{
    uint32_t sum = 0;
    for (int byte = 0; byte <= 256; byte++) {
        uint32_t here = byte < 256 ? count[byte] : 0;
        count[byte] = sum;
        sum += here;
    }
}

static void link_rows(Decompressor *d)
{
    uint32_t next[257];

    accumulate(d->count);
    memcpy(next, d->count, sizeof next);
    for (uint32_t row = 0; row < d->length; row++)
        d->links[next[d->links[row] & 255u]++] |= row << 8;
}

static uint32_t get_link(const Decompressor *d, uint32_t row)
{
    uint32_t nibble = (uint32_t)(d->high[row >> 1] >> ((row & 1u) * 4)) & 15u;
    return d->low[row] | (nibble << 16);
}

static void set_link(Decompressor *d, uint32_t row, uint32_t link)
{
    uint32_t shift = (row & 1u) * 4;
    uint32_t others = d->high[row >> 1] & ~(15u << shift);
    d->low[row] = (uint16_t)(link & 0xffffu);
    d->high[row >> 1] = (uint8_t)(others | ((link >> 16) << shift));
}

/* Links each row to the row of the byte before it, then turns the cycle through the start round. */
static void link_rows_small(Decompressor *d)
{
    uint32_t next[257];

    accumulate(d->count);
    memcpy(next, d->count, sizeof next);
    for (uint32_t row = 0; row < d->length; row++)
        set_link(d, row, next[d->low[row] & 255u]++);
    uint32_t behind = d->start;
    uint32_t here = get_link(d, behind);
    do {
        uint32_t ahead = get_link(d, here);
        set_link(d, here, behind);
        behind = here;
        here = ahead;
    } while (behind != d->start);
}

/* The byte whose bucket holds the row. */
static unsigned first_byte(const uint32_t *count, uint32_t row)
{
    unsigned low = 0;
    unsigned high = 256;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (row >= count[middle])
            low = middle;
        else
            high = middle;
    }
    return low;
}

typedef struct {
    FILE *out;
    uint32_t crc;
    uint64_t bytes;
    unsigned last;
    int repeats; /* equal bytes seen, 0 at the start of a block */
    int failed;
} RunSink;

static void sink_bytes(RunSink *sink, unsigned byte, unsigned count)
{
    sink->crc = crc_run(sink->crc, byte, count);
    sink->bytes += count;
    for (; sink->out != NULL && count > 0; count--)
        if (putc((int)byte, sink->out) == EOF)
            sink->failed = 1;
}

static void sink_coded_byte(RunSink *sink, unsigned byte)
{
    if (sink->repeats == 4) {
        sink_bytes(sink, sink->last, byte);
        sink->repeats = 0;
        return;
    }
    sink->repeats = sink->repeats > 0 && byte == sink->last ? sink->repeats + 1 : 1;
    sink->last = byte;
    sink_bytes(sink, byte, 1);
}

static BzStatus write_bytes(Decompressor *d, uint32_t expected_crc)
{
    RunSink sink = {d->out, crc_start(), 0, 0, 0, 0};

    if (d->small) {
        link_rows_small(d);
        uint32_t row = d->start;
        for (uint32_t i = 0; i < d->length; i++) {
            sink_coded_byte(&sink, first_byte(d->count, row));
            row = get_link(d, row);
        }
    } else {
        link_rows(d);
        uint32_t entry = d->links[d->start];
        for (uint32_t i = 0; i < d->length; i++) {
            entry = d->links[entry >> 8];
            sink_coded_byte(&sink, entry & 255u);
        }
    }
    d->stats->bytes_out += sink.bytes;
    if (sink.failed) {
        d->reason = "cannot write the output";
        return BZ_ENVIRONMENT;
    }
    if (crc_finish(sink.crc) != expected_crc)
        return corrupt(d, "checksum of a block does not match");
    return BZ_OK;
}

/* ---- blocks and streams ---- */

static BzStatus read_block(Decompressor *d)
{
    BzStatus status;
    uint32_t crc = reader_bits(&d->in, 16) << 16;

    crc |= reader_bits(&d->in, 16);
    if (reader_bit(&d->in))
        return corrupt(d, "randomised blocks of version 0.9.0 are not supported");
    d->start = reader_bits(&d->in, 24);
    if ((status = read_present(d)) != BZ_OK || (status = read_selectors(d)) != BZ_OK ||
        (status = read_tables(d)) != BZ_OK || (status = read_symbols(d)) != BZ_OK)
        return status;
    if (d->start >= d->length)
        return corrupt(d, "start row out of range");
    d->stats->blocks++;
    d->stats->tables[d->tables]++;
    d->stats->combined_crc = crc_combine(d->stats->combined_crc, crc);
    return write_bytes(d, crc);
}

static void free_rows(Decompressor *d)
{
    free(d->links);
    free(d->low);
    free(d->high);
    d->links = NULL;
    d->low = NULL;
    d->high = NULL;
    d->allocated = 0;
}

static BzStatus allocate_rows(Decompressor *d)
{
    d->capacity = (uint32_t)d->level * BLOCK_UNIT;
    if (d->allocated >= d->capacity)
        return BZ_OK;
    free_rows(d);
    if (d->small) {
        d->low = calloc(d->capacity, sizeof *d->low);
        d->high = calloc(d->capacity / 2 + 1, sizeof *d->high);
    } else {
        d->links = calloc(d->capacity, sizeof *d->links);
    }
    if (d->small ? d->low == NULL || d->high == NULL : d->links == NULL) {
        d->reason = "out of memory";
        return BZ_ENVIRONMENT;
    }
    d->allocated = d->capacity;
    return BZ_OK;
}

static BzStatus read_stream(Decompressor *d)
{
    BzStatus status = allocate_rows(d);

    d->stats->combined_crc = 0;
    while (status == BZ_OK) {
        uint32_t high = reader_bits(&d->in, 24);
        uint32_t low = reader_bits(&d->in, 24);
        if (high == END_MAGIC_HIGH && low == END_MAGIC_LOW)
            break;
        if (high != BLOCK_MAGIC_HIGH || low != BLOCK_MAGIC_LOW)
            return corrupt(d, "no block where one should start");
        status = read_block(d);
    }
    if (status != BZ_OK)
        return status;
    uint32_t crc = reader_bits(&d->in, 16) << 16;
    crc |= reader_bits(&d->in, 16);
    if (d->in.ended || crc != d->stats->combined_crc)
        return corrupt(d, "checksum of the stream does not match");
    reader_align(&d->in);
    d->stats->streams++;
    return BZ_OK;
}

/* Returns 1 if a stream starts here, 0 if not. */
static int read_signature(Decompressor *d)
{
    static const unsigned char magic[3] = {'B', 'Z', 'h'};
    for (int i = 0; i < 3; i++)
        if (reader_bits(&d->in, 8) != magic[i])
            return 0;
    d->level = (int)reader_bits(&d->in, 8) - '0';
    return d->level >= 1 && d->level <= MAX_LEVEL && !d->in.ended;
}

static BzStatus read_streams(Decompressor *d)
{
    for (;;) {
        if (d->stats->streams > 0) {
            int next = getc(d->in.file);
            if (next == EOF)
                return BZ_OK;
            ungetc(next, d->in.file);
        }
        if (!read_signature(d)) {
            if (d->stats->streams == 0)
                return corrupt(d, "not a bzip2 file");
            d->reason = "trailing garbage after the last stream ignored";
            return BZ_OK;
        }
        BzStatus status = read_stream(d);
        if (status != BZ_OK)
            return status;
    }
}

BzStatus decompress_file(FILE *in, FILE *out, const DecompressOptions *options, Statistics *stats,
                         const char **reason)
{
    Decompressor *d = calloc(1, sizeof *d);
    BzStatus status;

    if (d == NULL) {
        *reason = "out of memory";
        return BZ_ENVIRONMENT;
    }
    reader_init(&d->in, in);
    d->out = out;
    d->stats = stats;
    d->small = options->small;
    status = read_streams(d);
    if (status == BZ_OK && out != NULL && fflush(out) != 0) {
        status = BZ_ENVIRONMENT;
        d->reason = "cannot write the output";
    }
    stats->bytes_in = d->in.bytes;
    *reason = d->reason;
    free_rows(d);
    free(d);
    return status;
}
