/* SPDX-License-Identifier: MIT */
/* Entropy coding of one scan, sequential or progressive. A scan with tables of its own is walked
   twice by the same code: the first time symbols are counted, the second time written. */
#include <string.h>

#include "encoder.h"

enum { LONGEST_EOB_RUN = 0x7fff, MAX_CORRECTIONS = 1000, SYMBOL_ZRL = 0xf0 };

typedef struct {
    Encoder *encoder;
    const Scan *scan;
    int counting;
    uint32_t frequency[2][MAX_TABLES][256];
    uint16_t code[2][MAX_TABLES][256];
    uint8_t size[2][MAX_TABLES][256];
    uint64_t buffer;
    int live;
    int last_dc[MAX_COMPONENTS];
    uint32_t interval;
    uint32_t until_restart;
    int next_restart;
    /* progressive: blocks that end early, and the correction bits that belong to them */
    uint32_t eob_run;
    int ac;
    uint8_t corrections[MAX_CORRECTIONS];
    int correction_count;
} Writer;

/* ---- symbols and bits ---- */

static void put_bits(Writer *w, uint32_t value, int count)
{
    if (w->counting || count == 0)
        return;
    w->buffer = (w->buffer << count) | (value & ((1u << count) - 1u));
    w->live += count;
    while (w->live >= 8) {
        int byte = (int)(w->buffer >> (w->live - 8) & 255u);
        put_byte(w->encoder, byte);
        if (byte == 0xff)
            put_byte(w->encoder, 0);
        w->live -= 8;
    }
}

static void flush_bits(Writer *w)
{
    if (w->live > 0)
        put_bits(w, 0x7f, 8 - w->live);
}

static void put_symbol(Writer *w, int class, int table, int symbol)
{
    if (w->counting) {
        w->frequency[class][table][symbol]++;
        return;
    }
    if (w->size[class][table][symbol] == 0)
        fail("internal error: a symbol without a code");
    put_bits(w, w->code[class][table][symbol], w->size[class][table][symbol]);
}

static int bit_count(int magnitude)
{
    int bits = 0;
    for (; magnitude > 0; magnitude >>= 1)
        bits++;
    return bits;
}

/* Negative values are sent as their one's complement. */
static void put_value(Writer *w, int value, int bits)
{
    put_bits(w, (uint32_t)(value < 0 ? value - 1 : value), bits);
}

static void put_dc_difference(Writer *w, const Component *component, int difference)
{
    int bits = bit_count(difference < 0 ? -difference : difference);
    put_symbol(w, 0, component->dc, bits);
    put_value(w, difference, bits);
}

/* ---- sequential ---- */

static void encode_block(Writer *w, const Component *component, int *last_dc, const int16_t *block)
{
    int run = 0;

    put_dc_difference(w, component, block[0] - *last_dc);
    *last_dc = block[0];
    for (int k = 1; k < BLOCK_SIZE; k++) {
        int value = block[natural_order[k]];
        if (value == 0) {
            run++;
            continue;
        }
        for (; run > 15; run -= 16)
            put_symbol(w, 1, component->ac, SYMBOL_ZRL);
        int bits = bit_count(value < 0 ? -value : value);
        put_symbol(w, 1, component->ac, run << 4 | bits);
        put_value(w, value, bits);
        run = 0;
    }
    if (run > 0)
        put_symbol(w, 1, component->ac, 0);
}

/* ---- progressive ---- */

static int shift_down(int value, int bits)
{
    return value >= 0 ? value >> bits : -(-value >> bits);
}

static void put_corrections(Writer *w, const uint8_t *bits, int count)
{
    for (int i = 0; i < count; i++)
        put_bits(w, bits[i], 1);
}

static void flush_eob_run(Writer *w)
{
    if (w->eob_run == 0)
        return;
    int bits = bit_count((int)w->eob_run) - 1;
    put_symbol(w, 1, w->ac, bits << 4);
    put_bits(w, w->eob_run, bits);
    w->eob_run = 0;
    put_corrections(w, w->corrections, w->correction_count);
    w->correction_count = 0;
}

static void encode_dc_first(Writer *w, const Component *component, int *last_dc, const int16_t *block)
{
    /* Here the shift rounds down, other than for AC coefficients. */
    int step = 1 << w->scan->Al;
    int value = block[0] >= 0 ? block[0] / step : -((-block[0] + step - 1) / step);
    put_dc_difference(w, component, value - *last_dc);
    *last_dc = value;
}

static void encode_dc_refine(Writer *w, const int16_t *block)
{
    put_bits(w, (uint32_t)(int32_t)block[0] >> w->scan->Al, 1);
}

static void encode_ac_first(Writer *w, const int16_t *block)
{
    int run = 0;

    for (int k = w->scan->Ss; k <= w->scan->Se; k++) {
        int value = shift_down(block[natural_order[k]], w->scan->Al);
        if (value == 0) {
            run++;
            continue;
        }
        flush_eob_run(w);
        for (; run > 15; run -= 16)
            put_symbol(w, 1, w->ac, SYMBOL_ZRL);
        int bits = bit_count(value < 0 ? -value : value);
        put_symbol(w, 1, w->ac, run << 4 | bits);
        put_value(w, value, bits);
        run = 0;
    }
    if (run > 0 && ++w->eob_run == LONGEST_EOB_RUN)
        flush_eob_run(w);
}

/* Returns the position of the last coefficient that becomes nonzero in this scan. */
static int refine_magnitudes(const Writer *w, const int16_t *block, int *magnitude)
{
    int last_new = 0;

    for (int k = w->scan->Ss; k <= w->scan->Se; k++) {
        int value = block[natural_order[k]];
        magnitude[k] = (value < 0 ? -value : value) >> w->scan->Al;
        if (magnitude[k] == 1)
            last_new = k;
    }
    return last_new;
}

static void encode_ac_refine(Writer *w, const int16_t *block)
{
    int magnitude[BLOCK_SIZE];
    int last_new = refine_magnitudes(w, block, magnitude);
    /* Correction bits of this block follow those of the open run until a symbol takes them. */
    uint8_t pending[BLOCK_SIZE];
    int pending_count = 0;
    int run = 0;

    for (int k = w->scan->Ss; k <= w->scan->Se; k++) {
        if (magnitude[k] == 0) {
            run++;
            continue;
        }
        while (run > 15 && k <= last_new) {
            flush_eob_run(w);
            put_symbol(w, 1, w->ac, SYMBOL_ZRL);
            run -= 16;
            put_corrections(w, pending, pending_count);
            pending_count = 0;
        }
        if (magnitude[k] > 1) {
            pending[pending_count++] = (uint8_t)(magnitude[k] & 1);
            continue;
        }
        flush_eob_run(w);
        put_symbol(w, 1, w->ac, run << 4 | 1);
        put_bits(w, block[natural_order[k]] >= 0, 1);
        put_corrections(w, pending, pending_count);
        pending_count = 0;
        run = 0;
    }
    if (run == 0 && pending_count == 0)
        return;
    w->eob_run++;
    memcpy(w->corrections + w->correction_count, pending, (size_t)pending_count);
    w->correction_count += pending_count;
    if (w->eob_run == LONGEST_EOB_RUN || w->correction_count > MAX_CORRECTIONS - BLOCK_SIZE)
        flush_eob_run(w);
}

/* ---- walking over the blocks ---- */

static void encode_any(Writer *w, int in_scan, const int16_t *block)
{
    const Scan *scan = w->scan;
    const Component *component = &w->encoder->frame.component[scan->index[in_scan]];
    int *last_dc = &w->last_dc[in_scan];

    if (!w->encoder->progressive)
        encode_block(w, component, last_dc, block);
    else if (scan->Ss == 0 && scan->Ah == 0)
        encode_dc_first(w, component, last_dc, block);
    else if (scan->Ss == 0)
        encode_dc_refine(w, block);
    else if (scan->Ah == 0)
        encode_ac_first(w, block);
    else
        encode_ac_refine(w, block);
}

static void restart_if_due(Writer *w)
{
    if (w->interval == 0)
        return;
    if (w->until_restart == 0) {
        flush_eob_run(w);
        if (!w->counting) {
            flush_bits(w);
            put_marker(w->encoder, MARKER_RST0 + w->next_restart);
        }
        w->next_restart = (w->next_restart + 1) & 7;
        w->until_restart = w->interval;
        memset(w->last_dc, 0, sizeof w->last_dc);
    }
    w->until_restart--;
}

static void encode_mcu(Writer *w, uint32_t mcu_row, uint32_t mcu_column)
{
    for (int i = 0; i < w->scan->count; i++) {
        const Component *component = &w->encoder->frame.component[w->scan->index[i]];
        for (int y = 0; y < component->v; y++)
            for (int x = 0; x < component->h; x++)
                encode_any(w, i, block_at(component, mcu_row * (uint32_t)component->v + (uint32_t)y,
                                          mcu_column * (uint32_t)component->h + (uint32_t)x));
    }
}

static void walk_blocks(Writer *w)
{
    const Frame *frame = &w->encoder->frame;
    const Component *alone = &frame->component[w->scan->index[0]];

    memset(w->last_dc, 0, sizeof w->last_dc);
    w->until_restart = w->interval;
    w->next_restart = 0;
    w->eob_run = 0;
    w->correction_count = 0;
    w->buffer = 0;
    w->live = 0;
    w->ac = alone->ac;
    uint32_t rows = w->scan->count == 1 ? alone->down : frame->mcus_down;
    uint32_t columns = w->scan->count == 1 ? alone->across : frame->mcus_across;
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            restart_if_due(w);
            if (w->scan->count == 1)
                encode_any(w, 0, block_at(alone, row, column));
            else
                encode_mcu(w, row, column);
        }
    }
    flush_eob_run(w);
    if (!w->counting)
        flush_bits(w);
}

/* ---- tables ---- */

static int uses_class(const Writer *w, int class)
{
    if (class == 0)
        return w->scan->Ss == 0 && w->scan->Ah == 0;
    return w->scan->Se > 0;
}

static void for_each_table(Writer *w, void (*action)(Writer *w, int class, int index))
{
    int done[2][MAX_TABLES] = {{0}};

    for (int i = 0; i < w->scan->count; i++) {
        const Component *component = &w->encoder->frame.component[w->scan->index[i]];
        for (int class = 0; class < 2; class++) {
            int index = class == 0 ? component->dc : component->ac;
            if (uses_class(w, class) && !done[class][index]) {
                done[class][index] = 1;
                action(w, class, index);
            }
        }
    }
}

static HuffmanTable *table_of(Writer *w, int class, int index)
{
    return class == 0 ? &w->encoder->dc[index] : &w->encoder->ac[index];
}

static void make_table(Writer *w, int class, int index)
{
    optimal_table(w->frequency[class][index], table_of(w, class, index));
}

static void use_table(Writer *w, int class, int index)
{
    derive_codes(table_of(w, class, index), w->code[class][index], w->size[class][index]);
    write_huffman(w->encoder, class, index);
}

static uint32_t restart_interval(const Encoder *encoder, const Scan *scan)
{
    uint32_t interval = encoder->settings.restart_mcus;

    if (encoder->settings.restart_rows > 0) {
        const Component *alone = &encoder->frame.component[scan->index[0]];
        uint32_t columns = scan->count == 1 ? alone->across : encoder->frame.mcus_across;
        interval = encoder->settings.restart_rows * columns;
    }
    return interval > 65535 ? 65535 : interval;
}

void encode_scan(Encoder *encoder, const Scan *scan)
{
    Writer *w = take_memory(1, sizeof *w);
    uint32_t interval = restart_interval(encoder, scan);

    w->encoder = encoder;
    w->scan = scan;
    w->interval = interval;
    for (int i = 0; i < scan->count; i++) {
        Component *component = &encoder->frame.component[scan->index[i]];
        int second = scan->index[i] > 0 && encoder->settings.color == COLOR_YCC;
        component->dc = component->ac = second;
    }
    /* Progressive scans use symbols that the standard tables lack. */
    if (encoder->settings.optimize || encoder->progressive) {
        w->counting = 1;
        walk_blocks(w);
        w->counting = 0;
        for_each_table(w, make_table);
    }
    for_each_table(w, use_table);
    if (interval != encoder->written_interval)
        write_restart_interval(encoder, interval);
    write_scan_header(encoder, scan);
    walk_blocks(w);
}
