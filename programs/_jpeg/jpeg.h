/* SPDX-License-Identifier: MIT */
/* What the coder and the decoder have in common: terms of ITU-T T.81, tables, memory, errors. */
#ifndef JPEG_H
#define JPEG_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    BLOCK = 8,
    BLOCK_SIZE = 64,
    MAX_COMPONENTS = 4,
    MAX_TABLES = 4,
    MAX_SAMPLING = 4,
    MAX_MCU_BLOCKS = 10,
    MAX_DIMENSION = 65500
};

/* Bounds the memory that a small hostile file can ask for. */
#define MAX_PIXELS ((uint64_t)1 << 26)

enum {
    MARKER_SOF0 = 0xc0, MARKER_SOF1 = 0xc1, MARKER_SOF2 = 0xc2, MARKER_SOF3 = 0xc3,
    MARKER_DHT = 0xc4, MARKER_JPG = 0xc8, MARKER_DAC = 0xcc, MARKER_SOF15 = 0xcf,
    MARKER_RST0 = 0xd0, MARKER_RST7 = 0xd7, MARKER_SOI = 0xd8, MARKER_EOI = 0xd9,
    MARKER_SOS = 0xda, MARKER_DQT = 0xdb, MARKER_DNL = 0xdc, MARKER_DRI = 0xdd,
    MARKER_APP0 = 0xe0, MARKER_APP14 = 0xee, MARKER_APP15 = 0xef, MARKER_COM = 0xfe,
    MARKER_TEM = 0x01
};

typedef struct {
    uint16_t value[BLOCK_SIZE]; /* row by row */
    int defined;
} QuantTable;

typedef struct {
    uint8_t bits[17];     /* number of codes of each length, index 0 unused */
    uint8_t values[256];
    int defined;
} HuffmanTable;

typedef struct {
    int id;
    int h, v;                    /* sampling factors */
    int quant;
    int dc, ac;                  /* Huffman tables of the current scan */
    uint32_t width, height;      /* samples */
    uint32_t across, down;       /* blocks that cover the samples */
    uint32_t stride, rows;       /* blocks, rounded up to whole MCUs */
    int16_t *coefficients;       /* stride * rows blocks, each row by row */
} Component;

typedef struct {
    uint32_t width, height;
    int count;
    int h_max, v_max;
    uint32_t mcus_across, mcus_down;
    Component component[MAX_COMPONENTS];
} Frame;

typedef struct {
    int count;
    int index[MAX_COMPONENTS];
    int Ss, Se, Ah, Al;
} Scan;

/* Row-by-row position of the k-th coefficient in zigzag order. */
extern const uint8_t natural_order[BLOCK_SIZE];
extern const uint8_t luminance_quant[BLOCK_SIZE];
extern const uint8_t chrominance_quant[BLOCK_SIZE];

void standard_huffman(HuffmanTable *dc, HuffmanTable *ac, int chrominance);
/* Scale factors of the fast transforms, 14 fractional bits. */
int32_t fast_scale(int position);

/* Derives the geometry of all components from the sampling factors. */
void layout_frame(Frame *frame);
void allocate_coefficients(Frame *frame);
int16_t *block_at(const Component *component, uint32_t row, uint32_t column);

/* Errors end the program with status 1 and free all memory. */
void set_program_name(const char *name);
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_message(const char *kind, const char *format, va_list arguments);

void *take_memory(size_t count, size_t size); /* zeroed; fails rather than returning NULL */
void release_memory(void);

static inline uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

static inline uint8_t clamp_byte(int64_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

#endif
