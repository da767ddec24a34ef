/* SPDX-License-Identifier: MIT */
/* Entropy decoding of one scan, sequential or progressive. Damage is reported once; after it zeros
   are delivered until the next restart marker, so that the rest of the image can be shown. */
#include <string.h>

#include "decoder.h"

typedef struct {
    Decoder *decoder;
    const Scan *scan;
    Source *source;
    uint64_t buffer;
    int live;
    int at_marker;        /* the data stopped at a marker, which is not consumed */
    int last_dc[MAX_COMPONENTS];
    uint32_t until_restart;
    int next_restart;
    uint32_t eob_run;
    DecodeTable dc[MAX_COMPONENTS];
    DecodeTable ac[MAX_COMPONENTS];
} Reader;

/* ---- bits ---- */

/* Returns a byte of entropy-coded data, without its stuffing, or -1 at a marker. */
static int data_byte(Reader *r)
{
    Source *source = r->source;

    if (r->at_marker)
        return -1;
    int c = next_byte(source);
    if (c != 0xff)
        return c;
    size_t mark = source->at - 1;
    do
        c = next_byte(source);
    while (c == 0xff);
    if (c == 0)
        return 0xff;
    source->at = mark;
    return -1;
}

static void need_bits(Reader *r, int count)
{
    while (r->live < count) {
        int byte = data_byte(r);
        if (byte < 0) {
            r->at_marker = 1;
            warn("entropy-coded data end too early");
            byte = 0;
        }
        r->buffer = (r->buffer << 8) | (uint64_t)byte;
        r->live += 8;
    }
}

/* Looks ahead without complaint: the bits may never be consumed. */
static void try_bits(Reader *r, int count)
{
    while (r->live < count && !r->at_marker) {
        int byte = data_byte(r);
        if (byte < 0) {
            r->at_marker = 1;
            return;
        }
        r->buffer = (r->buffer << 8) | (uint64_t)byte;
        r->live += 8;
    }
}

static uint32_t take_bits(Reader *r, int count)
{
    if (count == 0)
        return 0;
    need_bits(r, count);
    r->live -= count;
    return (uint32_t)(r->buffer >> r->live) & ((1u << count) - 1u);
}

static int take_symbol_slowly(Reader *r, const DecodeTable *table, int bits)
{
    int32_t code = (int32_t)take_bits(r, bits);

    while (code > table->last[bits]) {
        code = code << 1 | (int32_t)take_bits(r, 1);
        bits++;
        if (bits > 16) {
            warn("a code that is not in its table");
            return 0;
        }
    }
    return table->table->values[(code + table->offset[bits]) & 255];
}

static int take_symbol(Reader *r, const DecodeTable *table)
{
    try_bits(r, LOOK_BITS);
    if (r->live < LOOK_BITS)
        return take_symbol_slowly(r, table, 1);
    uint16_t entry = table->look[(r->buffer >> (r->live - LOOK_BITS)) & 255u];
    if (entry == 0)
        return take_symbol_slowly(r, table, LOOK_BITS + 1);
    r->live -= entry >> 8;
    return entry & 255;
}

static int take_value(Reader *r, int bits)
{
    int value = (int)take_bits(r, bits);
    return bits > 0 && value < 1 << (bits - 1) ? value - (1 << bits) + 1 : value;
}

/* ---- blocks ---- */

static int decode_dc(Reader *r, int in_scan)
{
    int bits = take_symbol(r, &r->dc[in_scan]);
    r->last_dc[in_scan] = (int16_t)(r->last_dc[in_scan] + take_value(r, bits));
    return r->last_dc[in_scan];
}

static void decode_block(Reader *r, int in_scan, int16_t *block)
{
    block[0] = (int16_t)decode_dc(r, in_scan);
    for (int k = 1; k < BLOCK_SIZE; k++) {
        int symbol = take_symbol(r, &r->ac[in_scan]);
        int bits = symbol & 15;
        int run = symbol >> 4;
        if (bits == 0) {
            if (run != 15)
                return;
            k += 15;
            continue;
        }
        k += run;
        int value = take_value(r, bits);
        if (k < BLOCK_SIZE)
            block[natural_order[k]] = (int16_t)value;
        else
            warn("a run leaves its block");
    }
}

static void decode_dc_first(Reader *r, int in_scan, int16_t *block)
{
    block[0] = (int16_t)(decode_dc(r, in_scan) * (1 << r->scan->Al));
}

static void decode_dc_refine(Reader *r, int16_t *block)
{
    if (take_bits(r, 1))
        block[0] = (int16_t)(block[0] | 1 << r->scan->Al);
}

static uint32_t take_eob_run(Reader *r, int bits)
{
    return (1u << bits) + take_bits(r, bits);
}

static void decode_ac_first(Reader *r, int16_t *block)
{
    if (r->eob_run > 0) {
        r->eob_run--;
        return;
    }
    for (int k = r->scan->Ss; k <= r->scan->Se; k++) {
        int symbol = take_symbol(r, &r->ac[0]);
        int bits = symbol & 15;
        int run = symbol >> 4;
        if (bits == 0) {
            if (run == 15) {
                k += 15;
                continue;
            }
            r->eob_run = take_eob_run(r, run) - 1;
            return;
        }
        k += run;
        int value = take_value(r, bits) * (1 << r->scan->Al);
        if (k < BLOCK_SIZE)
            block[natural_order[k]] = (int16_t)value;
        else
            warn("a run leaves its block");
    }
}

static void refine(Reader *r, int16_t *coefficient)
{
    int bit = 1 << r->scan->Al;

    if (!take_bits(r, 1))
        return;
    int magnitude = *coefficient < 0 ? -*coefficient : *coefficient;
    if ((magnitude & bit) == 0)
        *coefficient = (int16_t)(*coefficient + (*coefficient < 0 ? -bit : bit));
}

/* Refines what is nonzero until `zeros` zeros were passed; returns where that ended. */
static int refine_over(Reader *r, int16_t *block, int k, int zeros)
{
    for (; k <= r->scan->Se; k++) {
        int16_t *coefficient = &block[natural_order[k]];
        if (*coefficient != 0)
            refine(r, coefficient);
        else if (zeros-- == 0)
            break;
    }
    return k;
}

static void decode_ac_refine(Reader *r, int16_t *block)
{
    int k = r->scan->Ss;

    while (r->eob_run == 0 && k <= r->scan->Se) {
        int symbol = take_symbol(r, &r->ac[0]);
        int bits = symbol & 15;
        int run = symbol >> 4;
        int value = 0;
        if (bits == 0 && run < 15) {
            r->eob_run = take_eob_run(r, run);
            break;
        }
        if (bits != 0) {
            if (bits != 1)
                warn("bad size in a refining scan");
            value = take_bits(r, 1) ? 1 << r->scan->Al : -(1 << r->scan->Al);
        }
        k = refine_over(r, block, k, run);
        if (value != 0 && k <= r->scan->Se)
            block[natural_order[k]] = (int16_t)value;
        k++;
    }
    if (r->eob_run > 0) {
        if (k <= r->scan->Se)
            refine_over(r, block, k, BLOCK_SIZE);
        r->eob_run--;
    }
}

static void decode_any(Reader *r, int in_scan, int16_t *block)
{
    const Scan *scan = r->scan;

    if (!r->decoder->progressive)
        decode_block(r, in_scan, block);
    else if (scan->Ss == 0 && scan->Ah == 0)
        decode_dc_first(r, in_scan, block);
    else if (scan->Ss == 0)
        decode_dc_refine(r, block);
    else if (scan->Ah == 0)
        decode_ac_first(r, block);
    else
        decode_ac_refine(r, block);
}

/* ---- restarts ---- */

/* Returns the marker at the current position or behind it, without consuming it; -1 for none. */
static int peek_marker(Source *source)
{
    size_t at = source->at;

    while (at + 1 < source->size) {
        if (source->bytes[at] == 0xff && source->bytes[at + 1] != 0 && source->bytes[at + 1] != 0xff) {
            if (at != source->at)
                warn("bytes between data and a restart marker");
            source->at = at;
            return source->bytes[at + 1];
        }
        at++;
    }
    return -1;
}

/* A marker that should have come later means that this one was lost, and stays; one that should
   have come before is a leftover, and is skipped. */
static void find_restart(Reader *r)
{
    for (;;) {
        int marker = peek_marker(r->source);
        if (marker == MARKER_RST0 + r->next_restart) {
            r->source->at += 2;
            r->at_marker = 0;
            return;
        }
        warn("a restart marker is missing");
        int ahead = (marker - MARKER_RST0 - r->next_restart) & 7;
        if (marker < MARKER_RST0 || marker > MARKER_RST7 || ahead <= 2) {
            r->at_marker = 1;
            return;
        }
        r->source->at += 2;
    }
}

static void restart_if_due(Reader *r)
{
    if (r->decoder->restart_interval == 0)
        return;
    if (r->until_restart == 0) {
        r->live = 0;
        r->eob_run = 0;
        find_restart(r);
        r->next_restart = (r->next_restart + 1) & 7;
        r->until_restart = r->decoder->restart_interval;
        memset(r->last_dc, 0, sizeof r->last_dc);
    }
    r->until_restart--;
}

/* ---- the scan ---- */

static void decode_mcu(Reader *r, uint32_t mcu_row, uint32_t mcu_column)
{
    for (int i = 0; i < r->scan->count; i++) {
        const Component *component = &r->decoder->frame.component[r->scan->index[i]];
        for (int y = 0; y < component->v; y++)
            for (int x = 0; x < component->h; x++)
                decode_any(r, i, block_at(component, mcu_row * (uint32_t)component->v + (uint32_t)y,
                                          mcu_column * (uint32_t)component->h + (uint32_t)x));
    }
}

static void derive_tables(Reader *r)
{
    const Scan *scan = r->scan;

    for (int i = 0; i < scan->count; i++) {
        const Component *component = &r->decoder->frame.component[scan->index[i]];
        if (scan->Ss == 0 && scan->Ah == 0)
            derive_decoder(&r->decoder->dc[component->dc], &r->dc[i], 1);
        if (scan->Se > 0)
            derive_decoder(&r->decoder->ac[component->ac], &r->ac[i], 0);
    }
}

void decode_scan(Decoder *decoder, const Scan *scan)
{
    const Frame *frame = &decoder->frame;
    const Component *alone = &frame->component[scan->index[0]];
    static Reader reader;
    Reader *r = &reader;
    uint32_t rows = scan->count == 1 ? alone->down : frame->mcus_down;
    uint32_t columns = scan->count == 1 ? alone->across : frame->mcus_across;

    memset(r, 0, sizeof *r);
    r->decoder = decoder;
    r->scan = scan;
    r->source = &decoder->source;
    r->until_restart = decoder->restart_interval;
    derive_tables(r);
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t column = 0; column < columns; column++) {
            restart_if_due(r);
            if (scan->count == 1)
                decode_any(r, 0, block_at(alone, row, column));
            else
                decode_mcu(r, row, column);
        }
    }
    /* Whole bytes that were read ahead belong to nothing. */
    if (r->live >= 8 && !r->at_marker)
        warn("bytes left over after a scan");
}
