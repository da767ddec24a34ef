/* SPDX-License-Identifier: MIT */
/* Counts the set bits of a stream of 32-bit numbers by ten algorithms and compares them. The
 * numbers are read from a file, decimal or 0x-prefixed, separated by white space. Each algorithm
 * is well known from the literature: shifting, clearing the lowest set bit (Kernighan; Wegner
 * 1960), HAKMEM item 169, tables of 4, 8 and 16 bits, parallel sums in a register, a multiplication,
 * recursion over nibbles, and carry-save adders over blocks of the stream (Harley and Seal).
 * With -n N the stream is counted N times, each time with every number changed by a bijection. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_DISAGREE = 3, WIDE_BITS = 16 };

typedef struct {
    uint32_t *values;
    size_t count;
} Stream;

typedef int (*CountWord)(uint32_t word);
typedef uint64_t (*CountStream)(const Stream *stream);

typedef struct {
    const char *name;
    CountWord word;     /* counts one number, or NULL */
    CountStream stream; /* counts the whole stream where `word` is NULL */
} Algorithm;

static uint8_t nibble_table[16];
static uint8_t byte_table[256];
static uint8_t wide_table[1 << WIDE_BITS];

static int by_shifting(uint32_t word)
{
    int count = 0;
    for (; word != 0; word >>= 1)
        count += (int)(word & 1);
    return count;
}

static int by_clearing(uint32_t word)
{
    int count = 0;
    for (; word != 0; word &= word - 1)
        count++;
    return count;
}

/* Octal digits: each field of three bits becomes its own count, then pairs of fields are summed,
 * and casting out 63s adds up the fields of six. */
static int by_remainder(uint32_t word)
{
    uint32_t sums = word - (word >> 1 & 033333333333) - (word >> 2 & 011111111111);
    sums = (sums + (sums >> 3)) & 030707070707;
    return (int)(sums % 63);
}

static int by_nibbles(uint32_t word)
{
    int count = 0;
    for (int i = 0; i < 8; i++)
        count += nibble_table[word >> (4 * i) & 15];
    return count;
}

static int by_recursion(uint32_t word)
{
    return word == 0 ? 0 : nibble_table[word & 15] + by_recursion(word >> 4);
}

static int by_bytes(uint32_t word)
{
    return byte_table[word & 255] + byte_table[word >> 8 & 255] + byte_table[word >> 16 & 255] +
           byte_table[word >> 24];
}

static int by_halves(uint32_t word)
{
    return wide_table[word & 0xffff] + wide_table[word >> 16];
}

static int by_parallel_sums(uint32_t word)
{
    word = (word & 0x55555555) + (word >> 1 & 0x55555555);
    word = (word & 0x33333333) + (word >> 2 & 0x33333333);
    word = (word & 0x0f0f0f0f) + (word >> 4 & 0x0f0f0f0f);
    word = (word & 0x00ff00ff) + (word >> 8 & 0x00ff00ff);
    return (int)((word & 0xffff) + (word >> 16));
}

static int by_multiplication(uint32_t word)
{
    word -= word >> 1 & 0x55555555;
    word = (word & 0x33333333) + (word >> 2 & 0x33333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f;
    return (int)((uint32_t)(word * 0x01010101u) >> 24);
}

/* Adds three numbers bit by bit: the sums stay in *low, the carries are returned. */
static uint32_t carry_save(uint32_t *low, uint32_t b, uint32_t c)
{
    uint32_t a = *low, half = a ^ b;
    *low = half ^ c;
    return (a & b) | (half & c);
}

static uint64_t by_carry_save(const Stream *stream)
{
    uint32_t ones = 0, twos = 0, fours = 0;
    uint64_t eights = 0, count = 0;
    size_t i = 0;

    for (; i + 8 <= stream->count; i += 8) {
        const uint32_t *v = stream->values + i;
        uint32_t twos_a = carry_save(&ones, v[0], v[1]);
        uint32_t twos_b = carry_save(&ones, v[2], v[3]);
        uint32_t fours_a = carry_save(&twos, twos_a, twos_b);
        twos_a = carry_save(&ones, v[4], v[5]);
        twos_b = carry_save(&ones, v[6], v[7]);
        uint32_t fours_b = carry_save(&twos, twos_a, twos_b);
        eights += (uint64_t)by_multiplication(carry_save(&fours, fours_a, fours_b));
    }
    count = 8 * eights + 4 * (uint64_t)by_multiplication(fours) +
            2 * (uint64_t)by_multiplication(twos) + (uint64_t)by_multiplication(ones);
    for (; i < stream->count; i++)
        count += (uint64_t)by_multiplication(stream->values[i]);
    return count;
}

static const Algorithm algorithms[] = {
    {"shifting", by_shifting, NULL},
    {"clearing", by_clearing, NULL},
    {"remainder", by_remainder, NULL},
    {"nibbles", by_nibbles, NULL},
    {"recursion", by_recursion, NULL},
    {"bytes", by_bytes, NULL},
    {"halves", by_halves, NULL},
    {"sums", by_parallel_sums, NULL},
    {"multiplication", by_multiplication, NULL},
    {"carry-save", NULL, by_carry_save},
};

enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };

static void make_tables(void)
{
    for (uint32_t i = 0; i < 16; i++)
        nibble_table[i] = (uint8_t)by_shifting(i);
    for (uint32_t i = 0; i < 256; i++)
        byte_table[i] = (uint8_t)(nibble_table[i & 15] + nibble_table[i >> 4]);
    for (uint32_t i = 0; i < 1 << WIDE_BITS; i++)
        wide_table[i] = (uint8_t)(byte_table[i & 255] + byte_table[i >> 8]);
}

static uint64_t count_stream(const Algorithm *algorithm, const Stream *stream)
{
    uint64_t count = 0;
    if (algorithm->word == NULL)
        return algorithm->stream(stream);
    for (size_t i = 0; i < stream->count; i++)
        count += (uint64_t)algorithm->word(stream->values[i]);
    return count;
}

/* An odd factor and a shift by half the width are bijections of 32-bit numbers. */
static void change(Stream *stream)
{
    for (size_t i = 0; i < stream->count; i++) {
        uint32_t value = stream->values[i] * 0x9e3779b1u + 0x7f4a7c15u;
        stream->values[i] = value ^ value >> 16;
    }
}

static void print_histogram(const Stream *stream)
{
    size_t bins[33] = {0};
    for (size_t i = 0; i < stream->count; i++)
        bins[by_bytes(stream->values[i])]++;
    for (int bits = 0; bits <= 32; bits++)
        if (bins[bits] > 0)
            printf("%2d bits: %zu numbers\n", bits, bins[bits]);
}

/* Returns 1 for a number, 0 at the end of the file and -1 for anything else. */
static int read_number(FILE *file, uint32_t *value)
{
    char text[32], *end;
    int length = fscanf(file, "%31s", text);
    if (length == EOF)
        return 0;
    if (text[0] < '0' || text[0] > '9')
        return -1;
    errno = 0;
    unsigned long number = strtoul(text, &end, text[1] == 'x' ? 16 : 10);
    if (*end != '\0' || errno != 0 || number > UINT32_MAX)
        return -1;
    *value = (uint32_t)number;
    return 1;
}

static int append(Stream *stream, size_t *room, uint32_t value)
{
    if (stream->count == *room) {
        size_t larger = *room == 0 ? 1024 : 2 * *room;
        uint32_t *moved = realloc(stream->values, larger * sizeof *moved);
        if (moved == NULL)
            return -1;
        stream->values = moved;
        *room = larger;
    }
    stream->values[stream->count++] = value;
    return 0;
}

static int read_stream(const char *name, Stream *stream)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "r");
    size_t room = 0;
    uint32_t value;
    int status;

    if (file == NULL) {
        fprintf(stderr, "bitcount: %s: %s\n", name, strerror(errno));
        return -1;
    }
    while ((status = read_number(file, &value)) > 0)
        if (append(stream, &room, value) != 0) {
            fputs("bitcount: out of memory\n", stderr);
            break;
        }
    if (status < 0)
        fprintf(stderr, "bitcount: %s: entry %zu is no 32-bit number\n", name, stream->count + 1);
    if (file != stdin)
        fclose(file);
    return status == 0 ? 0 : -1;
}

static int compare(Stream *stream, int rounds)
{
    uint64_t totals[ALGORITHMS] = {0};
    int status = 0;

    for (int round = 0; round < rounds; round++) {
        if (round > 0)
            change(stream);
        for (int i = 0; i < ALGORITHMS; i++)
            totals[i] += count_stream(&algorithms[i], stream);
    }
    for (int i = 0; i < ALGORITHMS; i++) {
        printf("%-14s %llu\n", algorithms[i].name, (unsigned long long)totals[i]);
        if (totals[i] != totals[0])
            status = STATUS_DISAGREE;
    }
    return status;
}

static int usage(void)
{
    fputs("usage: bitcount [-n ROUNDS] [-h] FILE\n"
          "  -n  count so many times, with other numbers each time\n"
          "  -h  print how many numbers have how many bits\n"
          "  -   stands for standard input\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    Stream stream = {NULL, 0};
    int rounds = 1, histogram = 0, status = 1, at = 1;

    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        if (strcmp(argv[at], "-h") == 0) {
            histogram = 1;
        } else if (strcmp(argv[at], "-n") == 0 && at + 1 < argc) {
            char *end;
            long value = strtol(argv[++at], &end, 10);
            if (*end != '\0' || value < 1 || value > 1000000)
                return usage();
            rounds = (int)value;
        } else {
            return usage();
        }
    }
    if (at + 1 != argc)
        return usage();
    make_tables();
    if (read_stream(argv[at], &stream) == 0) {
        printf("%zu numbers\n", stream.count);
        status = compare(&stream, rounds);
        if (histogram)
            print_histogram(&stream);
    }
    free(stream.values);
    return fflush(stdout) != 0 ? 1 : status;
}
