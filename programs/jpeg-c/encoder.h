/* SPDX-License-Identifier: MIT */
#ifndef ENCODER_H
#define ENCODER_H

#include "../_jpeg/jpeg.h"

typedef struct {
    uint32_t width, height;
    int channels; /* 1: grey, 3: red, green, blue */
    uint8_t *pixels;
} Image;

typedef enum { COLOR_YCC, COLOR_GRAY, COLOR_RGB } ColorChoice;
typedef enum { DCT_ACCURATE, DCT_FAST } DctChoice;

typedef struct {
    ColorChoice color;
    DctChoice dct;
    int quality;         /* 1 to 100, 0 where none was asked for */
    int baseline;        /* keep quantisers in 8 bits */
    int optimize;
    int progressive;
    int smoothing;       /* 0 to 100 */
    uint32_t restart_mcus;
    uint32_t restart_rows;
    int sampling_count;
    int sampling[MAX_COMPONENTS][2];
    const char *quant_file;
    const char *scan_file;
    const char *comment;
} Settings;

enum { MAX_SCANS = 64, DEFAULT_QUALITY = 75 };

typedef struct {
    Settings settings;
    Frame frame;
    QuantTable quant[MAX_TABLES];
    HuffmanTable dc[MAX_TABLES];
    HuffmanTable ac[MAX_TABLES];
    Scan scans[MAX_SCANS];
    int scan_count;
    int progressive;
    uint32_t written_interval;
    FILE *out;
} Encoder;

/* read_pnm.c, read_bmp.c, read_tga.c, read_gif.c: each fails with a message on bad input */
typedef struct {
    const uint8_t *bytes;
    size_t size;
    size_t at;
} Input;

int next_byte(Input *input); /* -1 at the end */
uint8_t need_byte(Input *input);
uint32_t need_little(Input *input, int bytes);
void need_skip(Input *input, size_t count);
void new_image(Image *image, uint32_t width, uint32_t height, int channels);
void read_image(Input *input, Image *image, int targa);
void read_pnm(Input *input, Image *image);
void read_bmp(Input *input, Image *image);
void read_tga(Input *input, Image *image);
void read_gif(Input *input, Image *image);

/* settings.c */
void set_components(Encoder *encoder, const Image *image);
void set_quantisers(Encoder *encoder);
void set_scans(Encoder *encoder);

/* samples.c: colour conversion and subsampling into coefficients */
void transform_image(Encoder *encoder, const Image *image);

/* fdct.c */
void fdct_accurate(int32_t *block);
void fdct_fast(int32_t *block);

/* entropy.c */
void encode_scan(Encoder *encoder, const Scan *scan);

/* huffman.c */
void optimal_table(const uint32_t *frequency, HuffmanTable *table);
void derive_codes(const HuffmanTable *table, uint16_t *code, uint8_t *size);

/* markers.c */
void put_byte(Encoder *encoder, int value);
void put_word(Encoder *encoder, int value);
void put_marker(Encoder *encoder, int marker);
void write_file_header(Encoder *encoder);
void write_frame_header(Encoder *encoder);
void write_huffman(Encoder *encoder, int class, int index);
void write_scan_header(Encoder *encoder, const Scan *scan);
void write_restart_interval(Encoder *encoder, uint32_t interval);

#endif
