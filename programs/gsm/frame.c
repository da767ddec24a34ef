/* SPDX-License-Identifier: MIT */
/* Frames as bytes: 33 bytes that start with a mark and fill from the top bit, and the packing of
   WAV files, 65 bytes for two frames that fill from the lowest bit and carry no mark. */
#include "gsm.h"

enum { PARAMETERS = 76 };

static const uint8_t ratio_bits[ORDER] = {6, 6, 5, 5, 4, 4, 3, 3};

typedef struct {
    int16_t *value[PARAMETERS];
    uint8_t bits[PARAMETERS];
    int count;
} Layout;

static void list_one(Layout *layout, int16_t *value, int bits)
{
    layout->value[layout->count] = value;
    layout->bits[layout->count] = (uint8_t)bits;
    layout->count++;
}

/* The order of transmission, table 1.1. */
static void list_parameters(Frame *frame, Layout *layout)
{
    layout->count = 0;
    for (int i = 0; i < ORDER; i++)
        list_one(layout, &frame->LARc[i], ratio_bits[i]);
    for (int j = 0; j < SUBFRAMES; j++) {
        list_one(layout, &frame->Nc[j], 7);
        list_one(layout, &frame->bc[j], 2);
        list_one(layout, &frame->Mc[j], 2);
        list_one(layout, &frame->xmaxc[j], 6);
        for (int i = 0; i < PULSES; i++)
            list_one(layout, &frame->xMc[j][i], 3);
    }
}

void pack_frame(const Frame *frame, uint8_t *bytes)
{
    Frame copy = *frame;
    Layout layout;
    uint32_t buffer = FRAME_MARK;
    int live = 4;

    list_parameters(&copy, &layout);
    for (int p = 0; p < layout.count; p++) {
        buffer = (buffer << layout.bits[p]) | (uint32_t)*layout.value[p];
        live += layout.bits[p];
        while (live >= 8) {
            live -= 8;
            *bytes++ = (uint8_t)(buffer >> live);
        }
    }
}

int unpack_frame(const uint8_t *bytes, Frame *frame)
{
    Layout layout;
    uint32_t buffer = *bytes++;
    int live = 4;

    if (buffer >> 4 != FRAME_MARK)
        return -1;
    list_parameters(frame, &layout);
    for (int p = 0; p < layout.count; p++) {
        while (live < layout.bits[p]) {
            buffer = (buffer << 8) | *bytes++;
            live += 8;
        }
        live -= layout.bits[p];
        *layout.value[p] = (int16_t)((buffer >> live) & ((1u << layout.bits[p]) - 1));
    }
    return 0;
}

void pack_pair(const Frame *frames, uint8_t *bytes)
{
    uint32_t buffer = 0;
    int live = 0;

    for (int half = 0; half < 2; half++) {
        Frame copy = frames[half];
        Layout layout;
        list_parameters(&copy, &layout);
        for (int p = 0; p < layout.count; p++) {
            buffer |= (uint32_t)*layout.value[p] << live;
            live += layout.bits[p];
            while (live >= 8) {
                *bytes++ = (uint8_t)(buffer & 255u);
                buffer >>= 8;
                live -= 8;
            }
        }
    }
}

void unpack_pair(const uint8_t *bytes, Frame *frames)
{
    uint32_t buffer = 0;
    int live = 0;

    for (int half = 0; half < 2; half++) {
        Layout layout;
        list_parameters(&frames[half], &layout);
        for (int p = 0; p < layout.count; p++) {
            while (live < layout.bits[p]) {
                buffer |= (uint32_t)*bytes++ << live;
                live += 8;
            }
            *layout.value[p] = (int16_t)(buffer & ((1u << layout.bits[p]) - 1));
            buffer >>= layout.bits[p];
            live -= layout.bits[p];
        }
    }
}

void print_frame(FILE *out, unsigned long number, const Frame *frame)
{
    fprintf(out, "frame %lu\n  LARc", number);
    for (int i = 0; i < ORDER; i++)
        fprintf(out, " %d", frame->LARc[i]);
    fputc('\n', out);
    for (int j = 0; j < SUBFRAMES; j++) {
        fprintf(out, "  Nc %d bc %d Mc %d xmaxc %d xMc", frame->Nc[j], frame->bc[j], frame->Mc[j],
                frame->xmaxc[j]);
        for (int i = 0; i < PULSES; i++)
            fprintf(out, " %d", frame->xMc[j][i]);
        fputc('\n', out);
    }
}
