/* SPDX-License-Identifier: MIT */
/* Prints the CRC-32 of files, their lengths and, with -t, the CRC of their concatenation. The code
 * is that of gzip, PNG and Ethernet (RFC 1952, ISO 3309): the polynomial 0x04c11db7 with bits
 * reflected, an initial value and a final exclusive-or of all ones. The total is not computed from
 * the bytes but from the parts: appending n zero bytes is a linear map of the register, which a
 * 32 x 32 matrix over GF(2) raised to the power n applies in logarithmic time. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POLYNOMIAL UINT32_C(0xedb88320)

typedef struct {
    uint32_t column[32];
} Matrix;

static uint32_t table[256];

static void make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ POLYNOMIAL : crc >> 1;
        table[byte] = crc;
    }
}

static uint32_t update(uint32_t crc, const uint8_t *bytes, size_t count)
{
    crc = ~crc;
    for (size_t i = 0; i < count; i++)
        crc = table[(crc ^ bytes[i]) & 0xff] ^ crc >> 8;
    return ~crc;
}

static uint32_t apply(const Matrix *matrix, uint32_t vector)
{
    uint32_t sum = 0;
    for (int i = 0; vector != 0; i++, vector >>= 1)
        if (vector & 1)
            sum ^= matrix->column[i];
    return sum;
}

static Matrix square(const Matrix *matrix)
{
    Matrix result;
    for (int i = 0; i < 32; i++)
        result.column[i] = apply(matrix, matrix->column[i]);
    return result;
}

/* The map of the register that one zero bit makes. */
static Matrix one_zero_bit(void)
{
    Matrix result;
    result.column[0] = POLYNOMIAL;
    for (int i = 1; i < 32; i++)
        result.column[i] = UINT32_C(1) << (i - 1);
    return result;
}

static uint32_t combine(uint32_t first, uint32_t second, uint64_t second_length)
{
    Matrix power = one_zero_bit();
    for (int i = 0; i < 3; i++)
        power = square(&power);
    for (; second_length != 0; second_length >>= 1) {
        if (second_length & 1)
            first = apply(&power, first);
        power = square(&power);
    }
    return first ^ second;
}

static int sum_stream(FILE *file, uint32_t *crc, uint64_t *length)
{
    static uint8_t buffer[1 << 15];
    size_t count;

    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0) {
        *crc = update(*crc, buffer, count);
        *length += count;
    }
    return ferror(file) ? -1 : 0;
}

static int sum_file(const char *name, int passes, uint32_t *crc, uint64_t *length)
{
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    int failed = file == NULL;

    *crc = 0;
    *length = 0;
    for (int pass = 0; pass < passes && !failed; pass++) {
        if (pass > 0 && fseek(file, 0, SEEK_SET) != 0)
            failed = 1;
        else
            failed = sum_stream(file, crc, length) != 0;
    }
    if (failed)
        fprintf(stderr, "crc32: %s: %s\n", name, strerror(errno));
    if (file != NULL && file != stdin)
        fclose(file);
    return failed ? -1 : 0;
}

static int usage(void)
{
    fputs("usage: crc32 [-t] [-n PASSES] FILE...\n"
          "  -t  add a line for the files' concatenation\n"
          "  -n  take each file as repeated so many times\n"
          "  -   stands for standard input\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    int passes = 1, with_total = 0, failed = 0, at = 1;
    uint32_t crc, total = 0;
    uint64_t length, total_length = 0;

    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        if (strcmp(argv[at], "-t") == 0) {
            with_total = 1;
        } else if (strcmp(argv[at], "-n") == 0 && at + 1 < argc) {
            char *end;
            long value = strtol(argv[++at], &end, 10);
            if (*end != '\0' || value < 1 || value > 1000000)
                return usage();
            passes = (int)value;
        } else {
            return usage();
        }
    }
    if (at == argc)
        return usage();
    make_table();
    for (; at < argc; at++) {
        if (sum_file(argv[at], passes, &crc, &length) != 0) {
            failed = 1;
            continue;
        }
        printf("%08lx %llu %s\n", (unsigned long)crc, (unsigned long long)length, argv[at]);
        total = combine(total, crc, length);
        total_length += length;
    }
    if (with_total)
        printf("%08lx %llu total\n", (unsigned long)total, (unsigned long long)total_length);
    return fflush(stdout) != 0 || failed;
}
