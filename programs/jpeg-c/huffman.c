/* SPDX-License-Identifier: MIT */
/* Huffman tables made for one scan: T.81 annex K.2, which keeps the code of all ones unused and
   limits lengths to 16 bits. */
#include <string.h>

#include "encoder.h"

enum { SYMBOLS = 257, LONGEST = 16, TEMPORARY = 256 };

/* Of equally rare symbols the one with the largest value. */
static int rarest(const uint32_t *frequency, int except)
{
    int found = -1;
    for (int i = 0; i < SYMBOLS; i++)
        if (i != except && frequency[i] > 0 && (found < 0 || frequency[i] <= frequency[found]))
            found = i;
    return found;
}

static void count_lengths(const uint32_t *given, uint8_t *length)
{
    uint32_t frequency[SYMBOLS];
    int next[SYMBOLS];

    memcpy(frequency, given, 256 * sizeof *given);
    frequency[256] = 1;
    memset(length, 0, SYMBOLS);
    for (int i = 0; i < SYMBOLS; i++)
        next[i] = -1;
    for (;;) {
        int a = rarest(frequency, -1);
        int b = rarest(frequency, a);
        if (b < 0)
            return;
        frequency[a] += frequency[b];
        frequency[b] = 0;
        length[a]++;
        while (next[a] >= 0) {
            a = next[a];
            length[a]++;
        }
        next[a] = b;
        for (; b >= 0; b = next[b])
            length[b]++;
    }
}

/* Takes pairs of codes that are too long away and splits a shorter code for one of each pair. */
static void shorten(int *count)
{
    for (int bits = TEMPORARY; bits > LONGEST; bits--) {
        while (count[bits] > 0) {
            int shorter = bits - 2;
            while (count[shorter] == 0)
                shorter--;
            count[bits] -= 2;
            count[bits - 1]++;
            count[shorter + 1] += 2;
            count[shorter]--;
        }
    }
}

void optimal_table(const uint32_t *frequency, HuffmanTable *table)
{
    uint8_t length[SYMBOLS];
    int count[TEMPORARY + 1] = {0};
    int position = 0;

    count_lengths(frequency, length);
    for (int i = 0; i < SYMBOLS; i++)
        count[length[i]]++;
    count[0] = 0;
    shorten(count);
    int last = LONGEST;
    while (last > 0 && count[last] == 0)
        last--;
    count[last]--; /* the symbol that stands for the code of all ones */
    memset(table, 0, sizeof *table);
    for (int bits = 1; bits <= LONGEST; bits++)
        table->bits[bits] = (uint8_t)count[bits];
    for (int bits = 1; bits <= TEMPORARY; bits++)
        for (int i = 0; i < 256; i++)
            if (length[i] == bits)
                table->values[position++] = (uint8_t)i;
    table->defined = 1;
}

void derive_codes(const HuffmanTable *table, uint16_t *code, uint8_t *size)
{
    uint32_t next = 0;
    int position = 0;

    memset(size, 0, 256);
    for (int bits = 1; bits <= LONGEST; bits++) {
        for (int i = 0; i < table->bits[bits]; i++) {
            uint8_t symbol = table->values[position++];
            code[symbol] = (uint16_t)next++;
            size[symbol] = (uint8_t)bits;
        }
        next <<= 1;
    }
}
