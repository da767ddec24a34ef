/* SPDX-License-Identifier: MIT */
/* The image-file layer of the four tiff programs: classic TIFF 6.0 in both byte orders, strips and
 * tiles, 1 to 16 bits a sample, and the codecs that the specification and its supplements name,
 * JPEG excepted.  An image is read whole into 16-bit samples and written from 8-bit rows. */
#ifndef TIFF_H
#define TIFF_H

#include <stddef.h>
#include <stdint.h>

enum {
    COMPRESS_NONE = 1,
    COMPRESS_HUFFMAN = 2,
    COMPRESS_GROUP3 = 3,
    COMPRESS_GROUP4 = 4,
    COMPRESS_LZW = 5,
    COMPRESS_DEFLATE = 8,
    COMPRESS_PACKBITS = 32773,
    COMPRESS_DEFLATE_OLD = 32946
};

enum {
    PHOTO_MIN_IS_WHITE = 0,
    PHOTO_MIN_IS_BLACK = 1,
    PHOTO_RGB = 2,
    PHOTO_PALETTE = 3,
    PHOTO_SEPARATED = 5,
    PHOTO_YCBCR = 6
};

enum { ALPHA_NONE = 0, ALPHA_ASSOCIATED = 1, ALPHA_UNASSOCIATED = 2 };

enum { FAX_TWO_DIMENSIONAL = 1, FAX_UNCOMPRESSED = 2, FAX_FILL_BITS = 4 };

typedef struct {
    uint8_t *data;
    size_t size;
    size_t capacity;
} tiff_buffer;

typedef struct {
    const char *name;
    uint8_t *data;
    size_t size;
    int big_endian;
    uint32_t directory; /* where the next directory lies; 0 after the last one */
} tiff_file;

typedef struct {
    uint32_t width, height;
    unsigned bits, samples, photometric, compression, predictor, planar, fill_order;
    unsigned orientation, extra_samples, alpha;
    unsigned resolution_unit, subsample_h, subsample_v;
    uint32_t rows_per_strip, tile_width, tile_height; /* tile_width is 0 for strips */
    uint32_t fax_options;
    uint32_t x_resolution[2], y_resolution[2];
    uint32_t luma[3];            /* YCbCr weights in 1/65536 */
    uint32_t reference[6];       /* reference black and white, in whole levels */
    uint32_t chunks;             /* strips or tiles, all planes together */
    uint32_t *offsets, *counts;
    uint16_t *palette;           /* red, green and blue columns of 1 << bits entries each */
    uint16_t *pixels;            /* width * height * samples, interleaved */
} tiff_image;

typedef struct {
    uint32_t width, height;
    unsigned bits, samples, photometric, compression, predictor, fill_order, alpha;
    unsigned resolution_unit;
    uint32_t rows_per_strip, fax_options;
    uint32_t x_resolution[2], y_resolution[2];
    const char *description, *software;
    const uint16_t *palette;
    const uint8_t *rows; /* packed rows, each starting on a byte */
} tiff_page;

typedef struct {
    tiff_buffer out;
    size_t link; /* where the offset of the next directory goes */
} tiff_writer;

/* Codec settings of a command line: the -c, -f and -r options that the tools share. */
typedef struct {
    unsigned compression; /* 0: as the input */
    unsigned predictor;
    unsigned fill_order;
    uint32_t fax_options;
    uint32_t rows_per_strip; /* 0: strips of about 8 KiB */
} tiff_options;

/* memory and messages */
extern const char *tiff_program;
int tiff_error(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *tiff_allocate(size_t count, size_t size);
void tiff_put(tiff_buffer *buffer, unsigned byte);
void tiff_append(tiff_buffer *buffer, const void *data, size_t size);
void tiff_release(tiff_buffer *buffer);
unsigned tiff_reverse_byte(unsigned byte);

/* reading */
int tiff_open(tiff_file *file, const char *name);
int tiff_next(tiff_file *file, tiff_image *image);
void tiff_free_image(tiff_image *image);
void tiff_close(tiff_file *file);
int tiff_to_rgba(const tiff_file *file, const tiff_image *image, uint8_t *rgba);

/* writing */
int tiff_common_option(tiff_options *options, int argc, char **argv, int *at);
int tiff_number(const char *text, unsigned long low, unsigned long high, unsigned long *value);
void tiff_page_from(tiff_page *page, const tiff_image *image, const tiff_options *options);
void tiff_start(tiff_writer *writer);
int tiff_add_page(tiff_writer *writer, const tiff_page *page);
int tiff_finish(tiff_writer *writer, const char *name);

/* codecs: decoders return 0 on damaged data and never write past size */
int packbits_decode(const uint8_t *in, size_t length, uint8_t *out, size_t size);
void packbits_encode(const uint8_t *row, size_t length, tiff_buffer *out);
int lzw_decode(const uint8_t *in, size_t length, uint8_t *out, size_t size);
void lzw_encode(const uint8_t *in, size_t length, tiff_buffer *out);
int zlib_decode(const uint8_t *in, size_t length, uint8_t *out, size_t size);
void zlib_encode(const uint8_t *in, size_t length, tiff_buffer *out);
int fax_decode(unsigned compression, uint32_t options, const uint8_t *in, size_t length,
               uint8_t *out, uint32_t width, uint32_t rows);
void fax_encode(unsigned compression, uint32_t options, const uint8_t *rows, uint32_t width,
                uint32_t count, tiff_buffer *out);

#endif
