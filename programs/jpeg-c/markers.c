/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "encoder.h"

void put_byte(Encoder *encoder, int value)
{
    if (putc(value, encoder->out) == EOF)
        fail("cannot write the output");
}

void put_word(Encoder *encoder, int value)
{
    put_byte(encoder, value >> 8 & 255);
    put_byte(encoder, value & 255);
}

void put_marker(Encoder *encoder, int marker)
{
    put_byte(encoder, 0xff);
    put_byte(encoder, marker);
}

static void write_jfif(Encoder *encoder)
{
    put_marker(encoder, MARKER_APP0);
    put_word(encoder, 16);
    for (const char *c = "JFIF"; *c != '\0'; c++)
        put_byte(encoder, *c);
    put_byte(encoder, 0);
    put_word(encoder, 0x0101);
    put_byte(encoder, 0); /* only an aspect ratio, of */
    put_word(encoder, 1);
    put_word(encoder, 1);
    put_word(encoder, 0); /* no thumbnail */
}

static void write_adobe(Encoder *encoder)
{
    put_marker(encoder, MARKER_APP14);
    put_word(encoder, 14);
    for (const char *c = "Adobe"; *c != '\0'; c++)
        put_byte(encoder, *c);
    put_word(encoder, 100);
    put_word(encoder, 0);
    put_word(encoder, 0);
    put_byte(encoder, 0); /* no colour transform */
}

void write_file_header(Encoder *encoder)
{
    const char *comment = encoder->settings.comment;

    put_marker(encoder, MARKER_SOI);
    if (encoder->settings.color == COLOR_RGB && encoder->frame.count == 3)
        write_adobe(encoder);
    else
        write_jfif(encoder);
    if (comment == NULL)
        return;
    size_t length = strlen(comment);
    if (length > 65533)
        fail("the comment is too long");
    put_marker(encoder, MARKER_COM);
    put_word(encoder, (int)length + 2);
    for (size_t i = 0; i < length; i++)
        put_byte(encoder, (unsigned char)comment[i]);
}

/* Returns whether the table needs 16 bits. */
static int write_quantiser(Encoder *encoder, int index)
{
    const QuantTable *table = &encoder->quant[index];
    int wide = 0;

    for (int i = 0; i < BLOCK_SIZE; i++)
        wide |= table->value[i] > 255;
    put_marker(encoder, MARKER_DQT);
    put_word(encoder, 2 + 1 + BLOCK_SIZE * (wide + 1));
    put_byte(encoder, wide << 4 | index);
    for (int k = 0; k < BLOCK_SIZE; k++) {
        int value = table->value[natural_order[k]];
        if (wide)
            put_byte(encoder, value >> 8);
        put_byte(encoder, value & 255);
    }
    return wide;
}

void write_frame_header(Encoder *encoder)
{
    const Frame *frame = &encoder->frame;
    int written[MAX_TABLES] = {0};
    int wide = 0;

    for (int c = 0; c < frame->count; c++) {
        int index = frame->component[c].quant;
        if (!written[index])
            wide |= write_quantiser(encoder, index);
        written[index] = 1;
    }
    put_marker(encoder, encoder->progressive ? MARKER_SOF2 : wide ? MARKER_SOF1 : MARKER_SOF0);
    put_word(encoder, 8 + 3 * frame->count);
    put_byte(encoder, 8);
    put_word(encoder, (int)frame->height);
    put_word(encoder, (int)frame->width);
    put_byte(encoder, frame->count);
    for (int c = 0; c < frame->count; c++) {
        const Component *component = &frame->component[c];
        put_byte(encoder, component->id);
        put_byte(encoder, component->h << 4 | component->v);
        put_byte(encoder, component->quant);
    }
}

void write_huffman(Encoder *encoder, int class, int index)
{
    const HuffmanTable *table = class == 0 ? &encoder->dc[index] : &encoder->ac[index];
    int count = 0;

    for (int bits = 1; bits <= 16; bits++)
        count += table->bits[bits];
    put_marker(encoder, MARKER_DHT);
    put_word(encoder, 2 + 1 + 16 + count);
    put_byte(encoder, class << 4 | index);
    for (int bits = 1; bits <= 16; bits++)
        put_byte(encoder, table->bits[bits]);
    for (int i = 0; i < count; i++)
        put_byte(encoder, table->values[i]);
}

void write_restart_interval(Encoder *encoder, uint32_t interval)
{
    put_marker(encoder, MARKER_DRI);
    put_word(encoder, 4);
    put_word(encoder, (int)interval);
    encoder->written_interval = interval;
}

void write_scan_header(Encoder *encoder, const Scan *scan)
{
    put_marker(encoder, MARKER_SOS);
    put_word(encoder, 6 + 2 * scan->count);
    put_byte(encoder, scan->count);
    for (int i = 0; i < scan->count; i++) {
        const Component *component = &encoder->frame.component[scan->index[i]];
        int dc = scan->Ss == 0 && scan->Ah == 0 ? component->dc : 0;
        int ac = scan->Se > 0 ? component->ac : 0;
        put_byte(encoder, component->id);
        put_byte(encoder, dc << 4 | ac);
    }
    put_byte(encoder, scan->Ss);
    put_byte(encoder, scan->Se);
    put_byte(encoder, scan->Ah << 4 | scan->Al);
}
