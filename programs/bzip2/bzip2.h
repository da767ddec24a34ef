/* SPDX-License-Identifier: MIT */
#ifndef BZIP2_H
#define BZIP2_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    BLOCK_UNIT = 100000,   /* bytes per level in a block, by the format */
    MAX_LEVEL = 9,
    MAX_TABLES = 6,
    MIN_TABLES = 2,
    GROUP_SIZE = 50,       /* symbols coded with one selector */
    MAX_SYMBOLS = 258,     /* RUNA, RUNB, 255 positions, end of block */
    MAX_SELECTORS = 18002, /* ceil(900001 / 50) + 1 */
    MAX_CODE_LENGTH = 20,
    ENCODER_CODE_LENGTH = 17,
    SYMBOL_RUNA = 0,
    SYMBOL_RUNB = 1
};

#define BLOCK_MAGIC_HIGH 0x314159u
#define BLOCK_MAGIC_LOW 0x265359u
#define END_MAGIC_HIGH 0x177245u
#define END_MAGIC_LOW 0x385090u

/* Exit statuses that the manual of the original documents. */
typedef enum { BZ_OK = 0, BZ_ENVIRONMENT = 1, BZ_CORRUPT = 2, BZ_INTERNAL = 3 } BzStatus;

typedef enum { SORT_AUTO, SORT_MAIN, SORT_FALLBACK } SortChoice;

typedef struct {
    unsigned streams;
    unsigned blocks;
    unsigned fallback_blocks;
    uint64_t bytes_in;
    uint64_t bytes_out;
    uint64_t symbols;
    unsigned tables[MAX_TABLES + 1];
    uint32_t combined_crc;
} Statistics;

/* crc.c */
uint32_t crc_start(void);
uint32_t crc_byte(uint32_t crc, unsigned byte);
uint32_t crc_run(uint32_t crc, unsigned byte, unsigned length);
uint32_t crc_finish(uint32_t crc);
uint32_t crc_combine(uint32_t combined, uint32_t block);

/* bitio.c */
typedef struct {
    FILE *file; /* NULL: count only */
    uint64_t buffer;
    int live;
    int failed;
    uint64_t bytes;
} BitWriter;

typedef struct {
    FILE *file;
    uint32_t buffer;
    int live;
    int ended;
    uint64_t bytes;
} BitReader;

void writer_init(BitWriter *w, FILE *file);
void writer_bits(BitWriter *w, int count, uint32_t value);
void writer_word(BitWriter *w, uint32_t value);
int writer_flush(BitWriter *w);

void reader_init(BitReader *r, FILE *file);
uint32_t reader_bits(BitReader *r, int count);
uint32_t reader_bit(BitReader *r);
void reader_align(BitReader *r);

/* blocksort.c */
typedef struct {
    uint8_t *bytes;   /* capacity bytes and a margin that repeats the start */
    uint32_t *order;  /* sorted rotations */
    uint32_t *rank;   /* working space of the fallback sort */
    uint32_t *pairs;  /* bucket starts by the first two bytes */
    size_t capacity;
} SortSpace;

int sort_space_init(SortSpace *space, size_t capacity);
void sort_space_free(SortSpace *space);
/* Sorts all rotations; returns the row of the unrotated block, and whether the fallback was used. */
uint32_t sort_block(SortSpace *space, uint32_t length, int effort, SortChoice choice,
                    int *used_fallback);

/* huffman.c */
void huffman_lengths(const uint32_t *frequency, int symbols, int limit, uint8_t *length);
void huffman_codes(const uint8_t *length, int symbols, uint32_t *code);

typedef struct {
    int32_t limit[MAX_CODE_LENGTH + 2];
    int32_t base[MAX_CODE_LENGTH + 2];
    uint16_t symbol[MAX_SYMBOLS];
    int shortest;
    int longest;
} DecodeTable;

int huffman_decode_table(const uint8_t *length, int symbols, DecodeTable *table);

/* compress.c */
typedef struct {
    int level;
    int effort;
    SortChoice sort;
} CompressOptions;

BzStatus compress_stream(FILE *in, FILE *out, const CompressOptions *options, Statistics *stats);

/* decompress.c */
typedef struct {
    int small; /* trade time for memory */
} DecompressOptions;

BzStatus decompress_file(FILE *in, FILE *out, const DecompressOptions *options,
                         Statistics *stats, const char **reason);

/* recover.c */
BzStatus recover_blocks(FILE *in, FILE *report, const char *prefix, Statistics *stats);

#endif
