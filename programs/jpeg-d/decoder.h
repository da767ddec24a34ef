/* SPDX-License-Identifier: MIT */
#ifndef DECODER_H
#define DECODER_H

#include "../_jpeg/jpeg.h"

typedef enum { SPACE_GRAY, SPACE_RGB, SPACE_YCC, SPACE_CMYK, SPACE_YCCK } ColorSpace;
typedef enum { OUTPUT_PNM, OUTPUT_BMP, OUTPUT_TARGA, OUTPUT_GIF } OutputKind;
typedef enum { DCT_ACCURATE, DCT_FAST } DctChoice;
typedef enum { DITHER_NONE, DITHER_ORDERED, DITHER_DIFFUSE } DitherChoice;

typedef struct {
    OutputKind output;
    DctChoice dct;
    DitherChoice dither;
    int grayscale;
    int plain_upsampling;
    int scale;          /* eighths of the size: 1, 2, 4 or 8 */
    int colors;         /* 0: no colour map */
    int one_pass;       /* colour map fixed in advance */
    int run_lengths;    /* Targa only */
} Settings;

typedef struct {
    const uint8_t *bytes;
    size_t size;
    size_t at;
} Source;

enum { LOOK_BITS = 8 };

typedef struct {
    uint16_t look[1 << LOOK_BITS]; /* length << 8 | symbol, 0 where the code is longer */
    int32_t last[17];              /* largest code of each length, or -1 */
    int32_t offset[17];
    const HuffmanTable *table;
} DecodeTable;

typedef struct {
    Settings settings;
    Source source;
    Frame frame;
    int frame_seen;
    int progressive;
    QuantTable quant[MAX_TABLES];
    QuantTable saved_quant[MAX_COMPONENTS]; /* as they were when a component was first sent */
    HuffmanTable dc[MAX_TABLES];
    HuffmanTable ac[MAX_TABLES];
    uint32_t restart_interval;
    int scans;
    int jfif_seen, adobe_seen, adobe_transform;
    ColorSpace space;
    int8_t known_bits[MAX_COMPONENTS][BLOCK_SIZE]; /* progressive: lowest bit received, or -1 */
    int verbose;
} Decoder;

typedef struct {
    uint32_t width, height;
    int channels;
    uint8_t *pixels;
    /* set by the quantiser: channels is 1 and pixels are indices */
    int colors;
    uint8_t map[256][3];
} Image;

/* warn.c: what is wrong with a file that can still be shown */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
unsigned warning_count(void);

/* markers.c: reads the whole file; coefficients are complete after it */
void read_file(Decoder *decoder);
int next_byte(Source *source); /* -1 at the end */

/* entropy.c */
void decode_scan(Decoder *decoder, const Scan *scan);

/* huffman.c */
void derive_decoder(const HuffmanTable *table, DecodeTable *derived, int is_dc);

/* idct.c: coefficients times quantisers to size x size samples */
void inverse_transform(const int16_t *coefficients, const QuantTable *quant, DctChoice dct, int size,
                       uint8_t *to, size_t stride);

/* samples.c */
void reconstruct(Decoder *decoder, Image *image);

/* color.c */
void convert_row(ColorSpace space, int grayscale, uint8_t *const *rows, uint32_t width, uint8_t *to);

/* quantize.c */
void reduce_colors(Image *image, const Settings *settings);

/* write.c, write_gif.c */
void write_image(FILE *out, const Image *image, const Settings *settings);
void write_gif(FILE *out, const Image *image);
void out_byte(FILE *out, int value);
void out_little(FILE *out, uint32_t value, int bytes);
void out_bytes(FILE *out, const uint8_t *bytes, size_t count);

#endif
