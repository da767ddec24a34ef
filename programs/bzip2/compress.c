/* SPDX-License-Identifier: MIT */
/* Blocks of a file to blocks of the format: run lengths, sorted rotations, move to front,
   runs of zeros, and up to six code tables chosen per group of 50 symbols. */
#include <stdlib.h>
#include <string.h>

#include "bzip2.h"

enum { REFINEMENTS = 4, LONGEST_RUN = 255, SHORT_RUN = 4 };

typedef struct {
    BitWriter out;
    const CompressOptions *options;
    Statistics *stats;
    SortSpace space;
    uint32_t length;   /* bytes in the block */
    uint32_t room;     /* the most that may be in it */
    uint32_t block_crc;
    int run_byte;      /* -1: no run is open */
    unsigned run_length;
    uint8_t present[256];
    uint8_t to_dense[256];
    int distinct;
    uint16_t *symbols; /* shares the memory of the rank array, unused by then */
    uint32_t symbol_count;
    uint32_t frequency[MAX_SYMBOLS];
    int alphabet;
    int tables;
    uint8_t length_of[MAX_TABLES][MAX_SYMBOLS];
    uint32_t code_of[MAX_TABLES][MAX_SYMBOLS];
    uint32_t use[MAX_TABLES][MAX_SYMBOLS];
    uint8_t selector[MAX_SELECTORS];
    int selectors;
} Compressor;

/* ---- first stage: runs of 4 to 255 equal bytes ---- */

static void close_run(Compressor *c)
{
    if (c->run_byte < 0)
        return;
    unsigned shown = c->run_length < SHORT_RUN ? c->run_length : SHORT_RUN;
    uint8_t *bytes = c->space.bytes;

    c->block_crc = crc_run(c->block_crc, (unsigned)c->run_byte, c->run_length);
    c->present[c->run_byte] = 1;
    for (unsigned i = 0; i < shown; i++)
        bytes[c->length++] = (uint8_t)c->run_byte;
    if (c->run_length >= SHORT_RUN) {
        bytes[c->length++] = (uint8_t)(c->run_length - SHORT_RUN);
        c->present[c->run_length - SHORT_RUN] = 1;
    }
    c->run_byte = -1;
    c->run_length = 0;
}

/* Fills the block; returns 0 at the end of the input. */
static int fill_block(Compressor *c, FILE *in)
{
    for (;;) {
        if (c->length >= c->room)
            return 1;
        int byte = getc(in);
        if (byte == EOF) {
            close_run(c);
            return 0;
        }
        c->stats->bytes_in++;
        if (byte == c->run_byte && c->run_length < LONGEST_RUN) {
            c->run_length++;
            continue;
        }
        close_run(c);
        c->run_byte = byte;
        c->run_length = 1;
    }
}

/* ---- move to front and runs of zeros ---- */

static void list_present(Compressor *c)
{
    c->distinct = 0;
    for (int byte = 0; byte < 256; byte++) {
        c->to_dense[byte] = (uint8_t)c->distinct;
        c->distinct += c->present[byte];
    }
    c->alphabet = c->distinct + 2;
}

static void emit_symbol(Compressor *c, int symbol)
{
    c->symbols[c->symbol_count++] = (uint16_t)symbol;
    c->frequency[symbol]++;
}

/* A run is written in bijective base two, least significant digit first. */
static void emit_zero_run(Compressor *c, uint32_t run)
{
    while (run > 0) {
        emit_symbol(c, (run & 1u) ? SYMBOL_RUNA : SYMBOL_RUNB);
        run = (run - 1) / 2;
    }
}

static int move_to_front(uint8_t *list, uint8_t value)
{
    uint8_t carried = list[0];
    int position = 0;

    if (carried == value)
        return 0;
    do {
        position++;
        uint8_t next = list[position];
        list[position] = carried;
        carried = next;
    } while (carried != value);
    list[0] = value;
    return position;
}

static void generate_symbols(Compressor *c)
{
    uint8_t list[256];
    uint32_t run = 0;

    for (int i = 0; i < 256; i++)
        list[i] = (uint8_t)i;
    memset(c->frequency, 0, sizeof c->frequency);
    c->symbol_count = 0;
    for (uint32_t row = 0; row < c->length; row++) {
        uint32_t rotation = c->space.order[row];
        uint8_t last = c->space.bytes[rotation == 0 ? c->length - 1 : rotation - 1];
        int position = move_to_front(list, c->to_dense[last]);
        if (position == 0) {
            run++;
            continue;
        }
        emit_zero_run(c, run);
        run = 0;
        emit_symbol(c, position + 1);
    }
    emit_zero_run(c, run);
    emit_symbol(c, c->alphabet - 1);
}

/* ---- code tables ---- */

static int tables_for(uint32_t symbols)
{
    static const uint32_t bounds[] = {200, 600, 1200, 2400};
    int tables = MIN_TABLES;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        tables += symbols >= bounds[i];
    return tables;
}

/* A first guess: every table is cheap for one band of the alphabet, all bands about as frequent. */
static void guess_tables(Compressor *c)
{
    uint32_t left = c->symbol_count;
    int first = 0;

    for (int t = 0; t < c->tables; t++) {
        uint32_t share = left / (uint32_t)(c->tables - t);
        uint32_t sum = 0;
        int end = first;
        while (end < c->alphabet && (sum < share || end == first))
            sum += c->frequency[end++];
        for (int s = 0; s < c->alphabet; s++)
            c->length_of[t][s] = s >= first && s < end ? 1 : 15;
        left -= sum;
        first = end;
    }
}

static uint32_t group_cost(const uint8_t *length, const uint16_t *symbols, uint32_t count)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < count; i++)
        cost += length[symbols[i]];
    return cost;
}

static void choose_selectors(Compressor *c)
{
    c->selectors = 0;
    for (uint32_t start = 0; start < c->symbol_count; start += GROUP_SIZE) {
        uint32_t count = c->symbol_count - start;
        uint32_t cheapest = UINT32_MAX;
        int best = 0;
        if (count > GROUP_SIZE)
            count = GROUP_SIZE;
        for (int t = 0; t < c->tables; t++) {
            uint32_t cost = group_cost(c->length_of[t], c->symbols + start, count);
            if (cost < cheapest) {
                cheapest = cost;
                best = t;
            }
        }
        c->selector[c->selectors++] = (uint8_t)best;
        for (uint32_t i = 0; i < count; i++)
            c->use[best][c->symbols[start + i]]++;
    }
}

static void refine_tables(Compressor *c)
{
    c->tables = tables_for(c->symbol_count);
    guess_tables(c);
    for (int round = 0; round < REFINEMENTS; round++) {
        memset(c->use, 0, sizeof c->use);
        choose_selectors(c);
        for (int t = 0; t < c->tables; t++)
            huffman_lengths(c->use[t], c->alphabet, ENCODER_CODE_LENGTH, c->length_of[t]);
    }
    for (int t = 0; t < c->tables; t++)
        huffman_codes(c->length_of[t], c->alphabet, c->code_of[t]);
    c->stats->tables[c->tables]++;
}

/* ---- writing ---- */

static void write_present(Compressor *c)
{
    uint32_t rows = 0;
    for (int row = 0; row < 16; row++) {
        uint32_t any = 0;
        for (int i = 0; i < 16; i++)
            any |= c->present[16 * row + i];
        rows = (rows << 1) | any;
    }
    writer_bits(&c->out, 16, rows);
    for (int row = 0; row < 16; row++) {
        if (((rows >> (15 - row)) & 1u) == 0)
            continue;
        for (int i = 0; i < 16; i++)
            writer_bits(&c->out, 1, c->present[16 * row + i]);
    }
}

static void write_selectors(Compressor *c)
{
    uint8_t list[MAX_TABLES] = {0, 1, 2, 3, 4, 5};

    writer_bits(&c->out, 3, (uint32_t)c->tables);
    writer_bits(&c->out, 15, (uint32_t)c->selectors);
    for (int i = 0; i < c->selectors; i++) {
        int position = move_to_front(list, c->selector[i]);
        for (; position > 0; position--)
            writer_bits(&c->out, 1, 1);
        writer_bits(&c->out, 1, 0);
    }
}

static void write_table(Compressor *c, const uint8_t *length)
{
    int current = length[0];

    writer_bits(&c->out, 5, (uint32_t)current);
    for (int s = 0; s < c->alphabet; s++) {
        for (; current < length[s]; current++)
            writer_bits(&c->out, 2, 2);
        for (; current > length[s]; current--)
            writer_bits(&c->out, 2, 3);
        writer_bits(&c->out, 1, 0);
    }
}

static void write_symbols(Compressor *c)
{
    for (uint32_t i = 0; i < c->symbol_count; i++) {
        int table = c->selector[i / GROUP_SIZE];
        uint16_t symbol = c->symbols[i];
        writer_bits(&c->out, c->length_of[table][symbol], c->code_of[table][symbol]);
    }
    c->stats->symbols += c->symbol_count;
}

static void write_block(Compressor *c)
{
    int fallback;
    uint32_t start = sort_block(&c->space, c->length, c->options->effort, c->options->sort,
                                &fallback);
    uint32_t crc = crc_finish(c->block_crc);

    c->stats->blocks++;
    c->stats->fallback_blocks += (unsigned)fallback;
    c->stats->combined_crc = crc_combine(c->stats->combined_crc, crc);
    list_present(c);
    generate_symbols(c);
    refine_tables(c);
    writer_bits(&c->out, 24, BLOCK_MAGIC_HIGH);
    writer_bits(&c->out, 24, BLOCK_MAGIC_LOW);
    writer_word(&c->out, crc);
    writer_bits(&c->out, 1, 0); /* not randomised */
    writer_bits(&c->out, 24, start);
    write_present(c);
    write_selectors(c);
    for (int t = 0; t < c->tables; t++)
        write_table(c, c->length_of[t]);
    write_symbols(c);
}

static void start_block(Compressor *c)
{
    c->length = 0;
    c->block_crc = crc_start();
    memset(c->present, 0, sizeof c->present);
}

BzStatus compress_stream(FILE *in, FILE *out, const CompressOptions *options, Statistics *stats)
{
    Compressor *c = calloc(1, sizeof *c);
    size_t capacity = (size_t)options->level * BLOCK_UNIT;
    BzStatus status = BZ_OK;

    if (c == NULL)
        return BZ_ENVIRONMENT;
    if (sort_space_init(&c->space, capacity) != 0) {
        free(c);
        return BZ_ENVIRONMENT;
    }
    c->options = options;
    c->stats = stats;
    c->symbols = (uint16_t *)(void *)c->space.rank;
    /* A run takes up to five bytes and is closed after the room was checked. */
    c->room = (uint32_t)capacity - 19;
    c->run_byte = -1;
    stats->streams = 1;
    writer_init(&c->out, out);
    writer_bits(&c->out, 8, 'B');
    writer_bits(&c->out, 8, 'Z');
    writer_bits(&c->out, 8, 'h');
    writer_bits(&c->out, 8, (uint32_t)('0' + options->level));
    for (int more = 1; more;) {
        start_block(c);
        more = fill_block(c, in);
        if (c->length > 0)
            write_block(c);
    }
    writer_bits(&c->out, 24, END_MAGIC_HIGH);
    writer_bits(&c->out, 24, END_MAGIC_LOW);
    writer_word(&c->out, stats->combined_crc);
    if (writer_flush(&c->out) != 0 || ferror(in))
        status = BZ_ENVIRONMENT;
    stats->bytes_out = c->out.bytes;
    sort_space_free(&c->space);
    free(c);
    return status;
}
