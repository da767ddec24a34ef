/* SPDX-License-Identifier: MIT */
/* Noiseless coding: the split of a granule into pairs, fours and zeros, the choice of a code for each of
 * three regions, and the writing of the codes (ISO 11172-3, 2.4.2.7 and table B.7). */
#include "lame.h"

#include <stdlib.h>
#include <string.h>

#include "tables.h"

typedef struct {
    const uint16_t *codes;
    const uint8_t *lengths;
    int side, extra; /* extra: bits for what exceeds 15 */
} pair_code;

static pair_code pair_codes[32];
static const uint8_t extra_low[8] = {1, 2, 3, 4, 6, 8, 10, 13}, extra_high[8] = {4, 5, 6, 7, 8, 9, 11, 13};

static void set_code(int index, const uint16_t *codes, const uint8_t *lengths, int side, int extra)
{
    pair_codes[index].codes = codes;
    pair_codes[index].lengths = lengths;
    pair_codes[index].side = side;
    pair_codes[index].extra = extra;
}

void start_huffman(void)
{
    set_code(1, codes_1, lengths_1, 2, 0);
    set_code(2, codes_2, lengths_2, 3, 0);
    set_code(3, codes_3, lengths_3, 3, 0);
    set_code(5, codes_5, lengths_5, 4, 0);
    set_code(6, codes_6, lengths_6, 4, 0);
    set_code(7, codes_7, lengths_7, 6, 0);
    set_code(8, codes_8, lengths_8, 6, 0);
    set_code(9, codes_9, lengths_9, 6, 0);
    set_code(10, codes_10, lengths_10, 8, 0);
    set_code(11, codes_11, lengths_11, 8, 0);
    set_code(12, codes_12, lengths_12, 8, 0);
    set_code(13, codes_13, lengths_13, 16, 0);
    set_code(15, codes_15, lengths_15, 16, 0);
    for (int i = 0; i < 8; i++) {
        set_code(16 + i, codes_16, lengths_16, 16, extra_low[i]);
        set_code(24 + i, codes_24, lengths_24, 16, extra_high[i]);
    }
}

static int pair_bits(const pair_code *code, const int16_t *values, int from, int to)
{
    int bits = 0;
    for (int i = from; i < to; i += 2) {
        int x = values[i], y = values[i + 1];
        bits += (x > 0) + (y > 0);
        if (code->extra) {
            if (x > 14) {
                x = 15;
                bits += code->extra;
            }
            if (y > 14) {
                y = 15;
                bits += code->extra;
            }
        }
        bits += code->lengths[x * code->side + y];
    }
    return bits;
}

/* The best code for a region; returns its bits. */
static int choose_code(const int16_t *values, int from, int to, int *table)
{
    static const uint8_t first[16] = {0, 1, 2, 5, 7, 7, 10, 10, 13, 13, 13, 13, 13, 13, 13, 13};
    static const uint8_t last[16] = {0, 1, 3, 6, 9, 9, 12, 12, 15, 15, 15, 15, 15, 15, 15, 15};
    int most = 0, best = 1 << 30;
    for (int i = from; i < to; i++)
        if (values[i] > most)
            most = values[i];
    *table = 0;
    if (!most)
        return 0;
    if (most < 16) {
        for (int t = first[most]; t <= last[most]; t++) {
            int bits = t == 14 ? best : pair_bits(&pair_codes[t], values, from, to);
            if (bits < best) {
                best = bits;
                *table = t;
            }
        }
        return best;
    }
    for (int group = 16; group <= 24; group += 8) {
        int t = group, bits;
        while (t < group + 7 && most - 15 >= 1 << pair_codes[t].extra)
            t++;
        bits = pair_bits(&pair_codes[t], values, from, to);
        if (bits < best) {
            best = bits;
            *table = t;
        }
    }
    return best;
}

/* Zeros at the end cost nothing, small values before them go four by four, the rest in pairs. */
static void split(granule *g)
{
    int end = LINES;
    const int16_t *v = g->quantised;
    while (end > 1 && !v[end - 1] && !v[end - 2])
        end -= 2;
    g->quads = 0;
    while (end > 3 && v[end - 1] < 2 && v[end - 2] < 2 && v[end - 3] < 2 && v[end - 4] < 2) {
        g->quads++;
        end -= 4;
    }
    g->big_values = end / 2;
}

static int quad_index(const int16_t *v)
{
    return v[0] * 8 + v[1] * 4 + v[2] * 2 + v[3];
}

static int quad_bits(granule *g)
{
    const int16_t *v = g->quantised + 2 * g->big_values;
    int signs = 0, a = 0, b = 0;
    for (int i = 0; i < g->quads; i++, v += 4) {
        signs += v[0] + v[1] + v[2] + v[3];
        a += quad_lengths_a[quad_index(v)];
        b += quad_lengths_b[quad_index(v)];
    }
    g->quad_table = b < a;
    return signs + (b < a ? b : a);
}

static int at_most(int value, int limit)
{
    return value < limit ? value : limit;
}

/* Where the first and second regions end. */
static void region_ends(const granule *g, int rate_index, int *first, int *second)
{
    int end = 2 * g->big_values;
    *first = at_most(36, end);
    *second = end;
    if (g->block_type == BLOCK_LONG) {
        *first = at_most(long_edges[rate_index][g->region0 + 1], end);
        *second = at_most(long_edges[rate_index][at_most(g->region0 + g->region1 + 2, LONG_BANDS)], end);
    }
}

static int region_bits(granule *g, int rate_index)
{
    int first, second, bits;
    region_ends(g, rate_index, &first, &second);
    bits = choose_code(g->quantised, 0, first, &g->tables[0]);
    bits += choose_code(g->quantised, first, second, &g->tables[1]);
    return bits + choose_code(g->quantised, second, 2 * g->big_values, &g->tables[2]);
}

/* The bits of the quantised lines, with regions of about a third each. */
int count_bits(granule *g, int rate_index)
{
    int band = 0, end;
    split(g);
    end = 2 * g->big_values;
    g->region0 = 7;
    g->region1 = 13;
    if (g->block_type == BLOCK_LONG) {
        while (band < 15 && long_edges[rate_index][band + 1] * 3 < end)
            band++;
        g->region0 = band;
        band = 0;
        while (band < 7 && long_edges[rate_index][g->region0 + band + 2] * 3 < end * 2)
            band++;
        g->region1 = band;
    }
    g->part3_bits = quad_bits(g) + region_bits(g, rate_index);
    return g->part3_bits;
}

/* Tries every division of the bands into three regions. */
void divide_best(granule *g, int rate_index)
{
    int costs[LONG_BANDS + 1][LONG_BANDS + 1], end = 2 * g->big_values, bands = 0, best, table;
    if (g->block_type != BLOCK_LONG || !end)
        return;
    while (long_edges[rate_index][bands] < end)
        bands++;
    for (int from = 0; from < bands; from++)
        for (int to = from + 1; to <= bands; to++)
            costs[from][to] = choose_code(g->quantised, long_edges[rate_index][from],
                                          at_most(long_edges[rate_index][to], end), &table);
    best = region_bits(g, rate_index);
    for (int r0 = 0; r0 < 16; r0++) {
        for (int r1 = 0; r1 < 8 && r0 + r1 + 2 <= LONG_BANDS; r1++) {
            int a = at_most(r0 + 1, bands), b = at_most(r0 + r1 + 2, bands), bits;
            bits = costs[0][a] + (b > a ? costs[a][b] : 0) + (bands > b ? costs[b][bands] : 0);
            if (bits < best) {
                best = bits;
                g->region0 = r0;
                g->region1 = r1;
            }
        }
    }
    g->part3_bits = quad_bits(g) + region_bits(g, rate_index);
}

/* --- writing --- */

void put_bits(bit_writer *w, uint32_t value, int bits)
{
    while (bits > 0) {
        int part = bits < 8 - w->count ? bits : 8 - w->count;
        bits -= part;
        w->window = w->window << part | (value >> bits & ((1u << part) - 1));
        w->count += part;
        if (w->count < 8)
            continue;
        if (w->size == w->room) {
            uint8_t *more = realloc(w->data, w->room = w->room ? w->room * 2 : 1024);
            if (!more) {
                fputs("lame: out of memory\n", stderr);
                exit(3);
            }
            w->data = more;
        }
        w->data[w->size++] = (uint8_t)w->window;
        w->window = 0;
        w->count = 0;
    }
}

void align_bits(bit_writer *w)
{
    if (w->count)
        put_bits(w, 0, 8 - w->count);
}

static void write_pair(bit_writer *w, const pair_code *code, const granule *g, int at)
{
    int x = g->quantised[at], y = g->quantised[at + 1], cx = x, cy = y;
    if (code->extra) {
        cx = at_most(x, 15);
        cy = at_most(y, 15);
    }
    put_bits(w, code->codes[cx * code->side + cy], code->lengths[cx * code->side + cy]);
    if (code->extra && cx == 15)
        put_bits(w, (uint32_t)(x - 15), code->extra);
    if (x)
        put_bits(w, g->negative[at], 1);
    if (code->extra && cy == 15)
        put_bits(w, (uint32_t)(y - 15), code->extra);
    if (y)
        put_bits(w, g->negative[at + 1], 1);
}

void write_lines(bit_writer *w, const granule *g, int rate_index)
{
    int first, second, at = 2 * g->big_values;
    region_ends(g, rate_index, &first, &second);
    for (int i = 0; i < at; i += 2) {
        int table = g->tables[i < first ? 0 : i < second ? 1 : 2];
        if (table)
            write_pair(w, &pair_codes[table], g, i);
    }
    for (int q = 0; q < g->quads; q++, at += 4) {
        int index = quad_index(g->quantised + at);
        if (g->quad_table)
            put_bits(w, quad_codes_b[index], quad_lengths_b[index]);
        else
            put_bits(w, quad_codes_a[index], quad_lengths_a[index]);
        for (int i = 0; i < 4; i++)
            if (g->quantised[at + i])
                put_bits(w, g->negative[at + i], 1);
    }
}
