/* SPDX-License-Identifier: MIT */
/* Reading: the header and directories (TIFF 6.0 section 2), the strips and tiles that they list, and
 * the way from compressed bytes to one array of samples.  Every offset is checked against the file. */
#include "tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TAG_WIDTH = 256, TAG_LENGTH = 257, TAG_BITS = 258, TAG_COMPRESSION = 259, TAG_PHOTOMETRIC = 262,
    TAG_FILL_ORDER = 266, TAG_STRIP_OFFSETS = 273, TAG_ORIENTATION = 274, TAG_SAMPLES = 277,
    TAG_ROWS_PER_STRIP = 278, TAG_STRIP_COUNTS = 279, TAG_X_RESOLUTION = 282, TAG_Y_RESOLUTION = 283,
    TAG_PLANAR = 284, TAG_T4_OPTIONS = 292, TAG_T6_OPTIONS = 293, TAG_RESOLUTION_UNIT = 296,
    TAG_PREDICTOR = 317, TAG_COLOR_MAP = 320, TAG_TILE_WIDTH = 322, TAG_TILE_LENGTH = 323,
    TAG_TILE_OFFSETS = 324, TAG_TILE_COUNTS = 325, TAG_INK_SET = 332, TAG_EXTRA_SAMPLES = 338,
    TAG_SAMPLE_FORMAT = 339, TAG_YCBCR_COEFFICIENTS = 529, TAG_YCBCR_SUBSAMPLING = 530,
    TAG_REFERENCE_BLACK_WHITE = 532
};

enum { TYPE_BYTE = 1, TYPE_SHORT = 3, TYPE_LONG = 4, TYPE_RATIONAL = 5 };

enum { MAX_SIDE = 65535, MAX_SAMPLES_TOTAL = 1 << 28, MAX_SAMPLES = 16 };

typedef struct {
    unsigned tag, type;
    uint32_t count;
    size_t at; /* of the first value in the file */
} tiff_field;

typedef struct {
    const tiff_file *file;
    tiff_field *fields;
    unsigned count;
} tiff_directory;

static unsigned get16(const tiff_file *file, size_t at)
{
    const uint8_t *p = file->data + at;
    return file->big_endian ? (unsigned)(p[0] << 8 | p[1]) : (unsigned)(p[1] << 8 | p[0]);
}

static uint32_t get32(const tiff_file *file, size_t at)
{
    uint32_t first = get16(file, at), second = get16(file, at + 2);
    return file->big_endian ? first << 16 | second : second << 16 | first;
}

int tiff_open(tiff_file *file, const char *name)
{
    FILE *stream = fopen(name, "rb");
    tiff_buffer buffer = {NULL, 0, 0};
    uint8_t block[4096];
    size_t got;

    memset(file, 0, sizeof *file);
    file->name = name;
    if (!stream)
        return tiff_error(name, "cannot open the file");
    while ((got = fread(block, 1, sizeof block, stream)) > 0)
        tiff_append(&buffer, block, got);
    fclose(stream);
    file->data = buffer.data;
    file->size = buffer.size;
    if (file->size < 8)
        return tiff_error(name, "too short for a TIFF header");
    if (file->data[0] != file->data[1] || (file->data[0] != 'I' && file->data[0] != 'M'))
        return tiff_error(name, "not a TIFF file, bad byte order mark");
    file->big_endian = file->data[0] == 'M';
    if (get16(file, 2) != 42)
        return tiff_error(name, "not a TIFF file, bad version %u", get16(file, 2));
    file->directory = get32(file, 4);
    return 1;
}

void tiff_close(tiff_file *file)
{
    free(file->data);
    file->data = NULL;
}

static unsigned type_size(unsigned type)
{
    static const uint8_t sizes[13] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
    return type < 13 ? sizes[type] : 0;
}

static int read_directory(tiff_file *file, tiff_directory *directory)
{
    size_t at = file->directory;
    unsigned entries;
    if (at < 8 || at + 2 > file->size)
        return tiff_error(file->name, "the directory offset %lu is outside the file", (unsigned long)at);
    entries = get16(file, at);
    if (!entries || at + 2 + 12u * entries > file->size)
        return tiff_error(file->name, "the directory is cut short");
    directory->fields = tiff_allocate(entries, sizeof *directory->fields);
    for (unsigned i = 0; i < entries; i++) {
        size_t entry = at + 2 + 12u * i;
        tiff_field *field = &directory->fields[directory->count];
        uint64_t bytes;
        field->tag = get16(file, entry);
        field->type = get16(file, entry + 2);
        field->count = get32(file, entry + 4);
        bytes = (uint64_t)field->count * type_size(field->type);
        field->at = bytes <= 4 ? entry + 8 : get32(file, entry + 8);
        if (bytes && field->at + bytes <= file->size)
            directory->count++;
    }
    at += 2 + 12u * entries;
    /* Directories are followed forwards only, so that a chain of them cannot loop. */
    if (at + 4 <= file->size && get32(file, at) > file->directory)
        file->directory = get32(file, at);
    else
        file->directory = 0;
    return 1;
}

static const tiff_field *find_field(const tiff_directory *directory, unsigned tag)
{
    for (unsigned i = 0; i < directory->count; i++)
        if (directory->fields[i].tag == tag)
            return &directory->fields[i];
    return NULL;
}

static uint32_t field_value(const tiff_directory *directory, const tiff_field *field, uint32_t index)
{
    size_t at = field->at + (size_t)index * type_size(field->type);
    switch (field->type) {
    case TYPE_BYTE:
        return directory->file->data[at];
    case TYPE_SHORT:
        return get16(directory->file, at);
    case TYPE_LONG:
    case TYPE_RATIONAL:
        return get32(directory->file, at);
    default:
        return 0;
    }
}

static uint32_t value_or(const tiff_directory *directory, unsigned tag, uint32_t otherwise)
{
    const tiff_field *field = find_field(directory, tag);
    return field ? field_value(directory, field, 0) : otherwise;
}

/* A rational as a fixed-point number: numerator / denominator * unit, rounded down. */
static uint32_t rational_value(const tiff_directory *directory, const tiff_field *field, uint32_t index, uint32_t unit)
{
    uint32_t numerator = get32(directory->file, field->at + 8u * index);
    uint32_t denominator = get32(directory->file, field->at + 8u * index + 4);
    return denominator ? (uint32_t)((uint64_t)numerator * unit / denominator) : 0;
}

static void read_resolution(const tiff_directory *directory, unsigned tag, uint32_t value[2])
{
    const tiff_field *field = find_field(directory, tag);
    if (field && field->type == TYPE_RATIONAL) {
        value[0] = get32(directory->file, field->at);
        value[1] = get32(directory->file, field->at + 4);
    }
}

static int read_bits(const tiff_directory *directory, tiff_image *image)
{
    const tiff_field *field = find_field(directory, TAG_BITS);
    image->bits = field ? field_value(directory, field, 0) : 1;
    for (uint32_t i = 1; field && i < field->count && i < image->samples; i++)
        if (field_value(directory, field, i) != image->bits)
            return tiff_error(directory->file->name, "samples of different widths are not supported");
    if (image->bits != 1 && image->bits != 2 && image->bits != 4 && image->bits != 8 && image->bits != 16)
        return tiff_error(directory->file->name, "%u bits a sample are not supported", image->bits);
    return 1;
}

static void read_alpha(const tiff_directory *directory, tiff_image *image)
{
    const tiff_field *field = find_field(directory, TAG_EXTRA_SAMPLES);
    unsigned colours = 1;
    if (image->photometric == PHOTO_RGB || image->photometric == PHOTO_YCBCR)
        colours = 3;
    else if (image->photometric == PHOTO_SEPARATED)
        colours = 4;
    image->extra_samples = image->samples > colours ? image->samples - colours : 0;
    if (!image->extra_samples)
        return;
    /* A fourth channel of RGB that nothing describes has always been read as alpha. */
    image->alpha = colours == 3 ? ALPHA_ASSOCIATED : ALPHA_NONE;
    if (field && field_value(directory, field, 0))
        image->alpha = field_value(directory, field, 0) == 2 ? ALPHA_UNASSOCIATED : ALPHA_ASSOCIATED;
}

static int read_palette(const tiff_directory *directory, tiff_image *image)
{
    const tiff_field *field = find_field(directory, TAG_COLOR_MAP);
    uint32_t entries;
    if (image->photometric != PHOTO_PALETTE)
        return 1;
    if (image->bits > 8 || image->samples != 1)
        return tiff_error(directory->file->name, "a palette image needs one sample of at most 8 bits");
    entries = 3u << image->bits;
    if (!field || field->count != entries || field->type != TYPE_SHORT)
        return tiff_error(directory->file->name, "the colour map is missing or has the wrong size");
    image->palette = tiff_allocate(entries, sizeof *image->palette);
    for (uint32_t i = 0; i < entries; i++)
        image->palette[i] = (uint16_t)field_value(directory, field, i);
    return 1;
}

static int read_ycbcr(const tiff_directory *directory, tiff_image *image)
{
    static const uint32_t reference[6] = {0, 255, 128, 255, 128, 255};
    const tiff_field *field = find_field(directory, TAG_YCBCR_COEFFICIENTS);
    image->luma[0] = 19595; /* 0.299, 0.587 and 0.114 */
    image->luma[1] = 38470;
    image->luma[2] = 7471;
    memcpy(image->reference, reference, sizeof reference);
    image->subsample_h = image->subsample_v = 1;
    if (image->photometric != PHOTO_YCBCR)
        return 1;
    if (image->bits != 8 || image->samples != 3)
        return tiff_error(directory->file->name, "YCbCr needs three samples of 8 bits");
    for (uint32_t i = 0; i < 3 && field && field->type == TYPE_RATIONAL && field->count == 3; i++)
        image->luma[i] = rational_value(directory, field, i, 65536);
    if (image->luma[1] == 0)
        return tiff_error(directory->file->name, "the YCbCr coefficients give green no weight");
    field = find_field(directory, TAG_REFERENCE_BLACK_WHITE);
    for (uint32_t i = 0; i < 6 && field && field->type == TYPE_RATIONAL && field->count == 6; i++)
        image->reference[i] = rational_value(directory, field, i, 1);
    field = find_field(directory, TAG_YCBCR_SUBSAMPLING);
    image->subsample_h = field ? field_value(directory, field, 0) : 2;
    image->subsample_v = field && field->count > 1 ? field_value(directory, field, 1) : image->subsample_h;
    for (unsigned i = 0; i < 2; i++) {
        unsigned step = i ? image->subsample_v : image->subsample_h;
        if (step != 1 && step != 2 && step != 4)
            return tiff_error(directory->file->name, "YCbCr subsampling by %u is not allowed", step);
    }
    if (image->planar == 2 && (image->subsample_h > 1 || image->subsample_v > 1))
        return tiff_error(directory->file->name, "subsampled planes are not supported");
    return 1;
}

static uint32_t divide_up(uint32_t value, uint32_t by)
{
    return value / by + (value % by != 0);
}

static int read_chunks(const tiff_directory *directory, tiff_image *image)
{
    const char *name = directory->file->name;
    const tiff_field *offsets = find_field(directory, image->tile_width ? TAG_TILE_OFFSETS : TAG_STRIP_OFFSETS);
    const tiff_field *counts = find_field(directory, image->tile_width ? TAG_TILE_COUNTS : TAG_STRIP_COUNTS);
    uint32_t across = image->tile_width ? divide_up(image->width, image->tile_width) : 1;
    uint32_t down = divide_up(image->height, image->tile_width ? image->tile_height : image->rows_per_strip);
    image->chunks = across * down * (image->planar == 2 ? image->samples : 1);
    if (!offsets || offsets->count < image->chunks)
        return tiff_error(name, "fewer than %lu strips or tiles are listed", (unsigned long)image->chunks);
    if (counts && counts->count < image->chunks)
        return tiff_error(name, "some strip or tile sizes are missing");
    if (!counts && (image->chunks != 1 || image->compression != COMPRESS_NONE))
        return tiff_error(name, "the strip or tile sizes are missing");
    image->offsets = tiff_allocate(image->chunks, sizeof *image->offsets);
    image->counts = tiff_allocate(image->chunks, sizeof *image->counts);
    for (uint32_t i = 0; i < image->chunks; i++) {
        uint32_t at = field_value(directory, offsets, i), left;
        if (at > directory->file->size)
            return tiff_error(name, "strip or tile %lu lies outside the file", (unsigned long)i);
        left = (uint32_t)(directory->file->size - at);
        image->offsets[i] = at;
        image->counts[i] = counts ? field_value(directory, counts, i) : left;
        if (image->counts[i] > left)
            image->counts[i] = left;
    }
    return 1;
}

static int check_layout(const char *name, tiff_image *image)
{
    int bilevel_codec = image->compression >= COMPRESS_HUFFMAN && image->compression <= COMPRESS_GROUP4;
    if (!image->width || !image->height || image->width > MAX_SIDE || image->height > MAX_SIDE)
        return tiff_error(name, "bad image size %lux%lu", (unsigned long)image->width, (unsigned long)image->height);
    if (!image->samples || image->samples > MAX_SAMPLES)
        return tiff_error(name, "%u samples a pixel are not supported", image->samples);
    if ((uint64_t)image->width * image->height * image->samples > MAX_SAMPLES_TOTAL)
        return tiff_error(name, "the image is too large");
    if (bilevel_codec && (image->bits != 1 || image->samples != 1))
        return tiff_error(name, "fax compression needs one bit a pixel");
    if (image->planar != 1 && image->planar != 2)
        return tiff_error(name, "bad planar configuration %u", image->planar);
    if (image->samples == 1)
        image->planar = 1;
    if (image->predictor != 1 && (image->predictor != 2 || image->bits < 8))
        return tiff_error(name, "predictor %u is not supported for %u bits", image->predictor, image->bits);
    if (image->tile_width && (!image->tile_height || image->tile_width > MAX_SIDE || image->tile_height > MAX_SIDE))
        return tiff_error(name, "bad tile size");
    if (!image->rows_per_strip || image->rows_per_strip > image->height)
        image->rows_per_strip = image->height;
    return 1;
}

static int read_tags(const tiff_directory *directory, tiff_image *image)
{
    memset(image, 0, sizeof *image);
    image->width = value_or(directory, TAG_WIDTH, 0);
    image->height = value_or(directory, TAG_LENGTH, 0);
    image->samples = value_or(directory, TAG_SAMPLES, 1);
    image->compression = value_or(directory, TAG_COMPRESSION, COMPRESS_NONE);
    image->photometric = value_or(directory, TAG_PHOTOMETRIC, PHOTO_MIN_IS_WHITE);
    image->predictor = value_or(directory, TAG_PREDICTOR, 1);
    image->planar = value_or(directory, TAG_PLANAR, 1);
    image->fill_order = value_or(directory, TAG_FILL_ORDER, 1);
    image->orientation = value_or(directory, TAG_ORIENTATION, 1);
    image->rows_per_strip = value_or(directory, TAG_ROWS_PER_STRIP, 0xffffffffu);
    image->tile_width = value_or(directory, TAG_TILE_WIDTH, 0);
    image->tile_height = value_or(directory, TAG_TILE_LENGTH, 0);
    image->resolution_unit = value_or(directory, TAG_RESOLUTION_UNIT, 2);
    read_resolution(directory, TAG_X_RESOLUTION, image->x_resolution);
    read_resolution(directory, TAG_Y_RESOLUTION, image->y_resolution);
    image->fax_options = value_or(directory, image->compression == COMPRESS_GROUP4 ? TAG_T6_OPTIONS : TAG_T4_OPTIONS, 0);
    if (value_or(directory, TAG_SAMPLE_FORMAT, 1) != 1)
        return tiff_error(directory->file->name, "only unsigned samples are supported");
    if (value_or(directory, TAG_INK_SET, 1) != 1 && image->photometric == PHOTO_SEPARATED)
        return tiff_error(directory->file->name, "inks other than CMYK are not supported");
    if (!read_bits(directory, image) || !check_layout(directory->file->name, image))
        return 0;
    read_alpha(directory, image);
    return read_palette(directory, image) && read_ycbcr(directory, image) && read_chunks(directory, image);
}

/* --- from chunks to samples --- */

typedef struct {
    uint32_t x, y, width, rows; /* what the chunk covers; width counts padding of tiles */
    unsigned first, samples;    /* the samples of a pixel that it holds */
} chunk_place;

static size_t chunk_size(const tiff_image *image, const chunk_place *place)
{
    size_t row = ((size_t)place->width * place->samples * image->bits + 7) / 8;
    if (image->photometric == PHOTO_YCBCR && image->planar == 1) {
        size_t unit = image->subsample_h * image->subsample_v + 2u;
        return divide_up(place->width, image->subsample_h) * unit * divide_up(place->rows, image->subsample_v);
    }
    return row * place->rows;
}

static int decode_chunk(const tiff_file *file, const tiff_image *image, uint32_t index,
                        const chunk_place *place, uint8_t *out, size_t size)
{
    const uint8_t *in = file->data + image->offsets[index];
    size_t length = image->counts[index];
    uint8_t *turned = NULL;
    int good = 0;
    if (image->fill_order == 2) {
        turned = tiff_allocate(length, 1);
        for (size_t i = 0; i < length; i++)
            turned[i] = (uint8_t)tiff_reverse_byte(in[i]);
        in = turned;
    }
    switch (image->compression) {
    case COMPRESS_NONE:
        good = length >= size;
        if (good)
            memcpy(out, in, size);
        break;
    case COMPRESS_HUFFMAN:
    case COMPRESS_GROUP3:
    case COMPRESS_GROUP4:
        good = fax_decode(image->compression, image->fax_options, in, length, out, place->width, place->rows);
        break;
    case COMPRESS_LZW:
        good = lzw_decode(in, length, out, size);
        break;
    case COMPRESS_DEFLATE:
    case COMPRESS_DEFLATE_OLD:
        good = zlib_decode(in, length, out, size);
        break;
    case COMPRESS_PACKBITS:
        good = packbits_decode(in, length, out, size);
        break;
    }
    free(turned);
    return good ? 1 : tiff_error(file->name, "strip or tile %lu is damaged", (unsigned long)index);
}

/* One row of packed samples to numbers, with horizontal differencing undone. */
static void unpack_row(const tiff_file *file, const tiff_image *image, const uint8_t *in, uint16_t *out,
                       uint32_t count, unsigned samples)
{
    unsigned bits = image->bits, mask = (1u << bits) - 1;
    if (bits == 16) {
        for (uint32_t i = 0; i < count; i++, in += 2)
            out[i] = (uint16_t)(file->big_endian ? in[0] << 8 | in[1] : in[1] << 8 | in[0]);
    } else if (bits == 8) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = in[i];
    } else {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = i * bits;
            out[i] = (uint16_t)(in[at >> 3] >> (8 - bits - (at & 7)) & mask);
        }
    }
    if (image->predictor == 2)
        for (uint32_t i = samples; i < count; i++)
            out[i] = (uint16_t)((out[i] + out[i - samples]) & mask);
}

static void place_rows(const tiff_file *file, tiff_image *image, const chunk_place *place,
                       const uint8_t *data, uint16_t *row)
{
    size_t pitch = ((size_t)place->width * place->samples * image->bits + 7) / 8;
    uint32_t wide = place->width < image->width - place->x ? place->width : image->width - place->x;
    for (uint32_t y = 0; y < place->rows && place->y + y < image->height; y++) {
        uint16_t *to = image->pixels + ((size_t)(place->y + y) * image->width + place->x) * image->samples + place->first;
        unpack_row(file, image, data + y * pitch, row, place->width * place->samples, place->samples);
        for (uint32_t x = 0; x < wide; x++)
            for (unsigned s = 0; s < place->samples; s++)
                to[(size_t)x * image->samples + s] = row[x * place->samples + s];
    }
}

/* YCbCr data units: a block of luminance samples row by row, then one Cb and one Cr. */
static void place_units(tiff_image *image, const chunk_place *place, const uint8_t *data)
{
    uint32_t high = image->subsample_v, wide = image->subsample_h;
    for (uint32_t y = 0; y < place->rows; y += high) {
        for (uint32_t x = 0; x < place->width; x += wide, data += wide * high + 2) {
            for (uint32_t i = 0; i < wide * high; i++) {
                uint32_t px = place->x + x + i % wide, py = place->y + y + i / wide;
                uint16_t *to;
                if (px >= image->width || py >= image->height)
                    continue;
                to = image->pixels + ((size_t)py * image->width + px) * 3;
                to[0] = data[i];
                to[1] = data[wide * high];
                to[2] = data[wide * high + 1];
            }
        }
    }
}

static void locate_chunk(const tiff_image *image, uint32_t index, chunk_place *place)
{
    uint32_t planes = image->planar == 2 ? image->samples : 1;
    uint32_t each = image->chunks / planes;
    uint32_t across = image->tile_width ? divide_up(image->width, image->tile_width) : 1;
    uint32_t within = index % each;
    place->first = index / each;
    place->samples = image->planar == 2 ? 1 : image->samples;
    if (image->tile_width) {
        place->x = within % across * image->tile_width;
        place->y = within / across * image->tile_height;
        place->width = image->tile_width;
        place->rows = image->tile_height;
    } else {
        place->x = 0;
        place->y = within * image->rows_per_strip;
        place->width = image->width;
        place->rows = image->height - place->y < image->rows_per_strip ? image->height - place->y : image->rows_per_strip;
    }
}

static int read_pixels(const tiff_file *file, tiff_image *image)
{
    chunk_place place;
    uint8_t *data;
    uint16_t *row;
    int good = 1;
    locate_chunk(image, 0, &place);
    if (chunk_size(image, &place) > (size_t)MAX_SAMPLES_TOTAL * 2)
        return tiff_error(file->name, "the strips or tiles are too large");
    image->pixels = tiff_allocate((size_t)image->width * image->height * image->samples, sizeof *image->pixels);
    data = tiff_allocate(chunk_size(image, &place), 1);
    row = tiff_allocate((size_t)place.width * image->samples, sizeof *row);
    for (uint32_t i = 0; i < image->chunks && good; i++) {
        size_t size;
        locate_chunk(image, i, &place);
        size = chunk_size(image, &place);
        memset(data, 0, size);
        good = decode_chunk(file, image, i, &place, data, size);
        if (!good)
            break;
        if (image->photometric == PHOTO_YCBCR && image->planar == 1)
            place_units(image, &place, data);
        else
            place_rows(file, image, &place, data, row);
    }
    free(row);
    free(data);
    return good;
}

static int known_compression(unsigned compression)
{
    return (compression >= COMPRESS_NONE && compression <= COMPRESS_LZW) || compression == COMPRESS_DEFLATE ||
           compression == COMPRESS_PACKBITS || compression == COMPRESS_DEFLATE_OLD;
}

/* Reads the image of the present directory and moves the file on to the next one. */
int tiff_next(tiff_file *file, tiff_image *image)
{
    tiff_directory directory = {file, NULL, 0};
    int good;
    memset(image, 0, sizeof *image);
    if (!read_directory(file, &directory))
        return 0;
    good = read_tags(&directory, image);
    free(directory.fields);
    if (good && !known_compression(image->compression))
        good = tiff_error(file->name, "compression scheme %u is not supported", image->compression);
    good = good && read_pixels(file, image);
    if (!good)
        tiff_free_image(image);
    return good;
}

void tiff_free_image(tiff_image *image)
{
    free(image->offsets);
    free(image->counts);
    free(image->palette);
    free(image->pixels);
    memset(image, 0, sizeof *image);
}
