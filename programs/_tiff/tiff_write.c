/* SPDX-License-Identifier: MIT */
/* Writing: little-endian files of strips, each page's strips before its directory, and the meaning
 * of the -c option that the tools share. */
#include "tiff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP_BYTES = 8192, MAX_ENTRIES = 24 };
enum { TYPE_ASCII = 2, TYPE_SHORT = 3, TYPE_LONG = 4, TYPE_RATIONAL = 5 };

static int is_fax(unsigned compression)
{
    return compression >= COMPRESS_HUFFMAN && compression <= COMPRESS_GROUP4;
}

static int same_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}

static int parse_fax_options(tiff_options *options, const char *text)
{
    while (*text == ':') {
        size_t length = strcspn(++text, ":");
        if (same_word(text, length, "2d"))
            options->fax_options |= FAX_TWO_DIMENSIONAL;
        else if (same_word(text, length, "1d"))
            options->fax_options &= ~(uint32_t)FAX_TWO_DIMENSIONAL;
        else if (same_word(text, length, "fill"))
            options->fax_options |= FAX_FILL_BITS;
        else
            return 0;
        text += length;
    }
    return *text == 0;
}

/* none, packbits, lzw[:predictor], zip[:predictor], g3[:1d|2d|fill], g4 or huffman */
static int parse_compression(tiff_options *options, const char *text)
{
    static const struct {
        const char *word;
        unsigned compression;
    } words[] = {{"none", COMPRESS_NONE}, {"packbits", COMPRESS_PACKBITS}, {"lzw", COMPRESS_LZW},
                 {"zip", COMPRESS_DEFLATE}, {"g3", COMPRESS_GROUP3}, {"g4", COMPRESS_GROUP4},
                 {"huffman", COMPRESS_HUFFMAN}};
    size_t length = strcspn(text, ":");
    options->compression = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (same_word(text, length, words[i].word))
            options->compression = words[i].compression;
    text += length;
    switch (options->compression) {
    case COMPRESS_LZW:
    case COMPRESS_DEFLATE:
        if (*text == ':' && (text[1] == '1' || text[1] == '2') && !text[2]) {
            options->predictor = (unsigned)(text[1] - '0');
            return 1;
        }
        return *text == 0;
    case COMPRESS_GROUP3:
        return parse_fax_options(options, text);
    case 0:
        return 0;
    default:
        return *text == 0;
    }
}

int tiff_number(const char *text, unsigned long low, unsigned long high, unsigned long *value)
{
    unsigned long number = 0;
    if (!*text)
        return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || number > 100000000)
            return 0;
        number = number * 10 + (unsigned long)(*text - '0');
    }
    *value = number;
    return number >= low && number <= high;
}

/* Takes -c codec, -r rows and -f lsb2msb|msb2lsb.  Returns 1 when it took argv[*at] and its value, 0
 * when the option is not one of these, -1 when its value is missing or wrong. */
int tiff_common_option(tiff_options *options, int argc, char **argv, int *at)
{
    const char *option = argv[*at], *value;
    unsigned long number;
    if (strcmp(option, "-c") && strcmp(option, "-r") && strcmp(option, "-f"))
        return 0;
    if (*at + 1 >= argc)
        return -1;
    value = argv[++*at];
    switch (option[1]) {
    case 'c':
        return parse_compression(options, value) ? 1 : -1;
    case 'r':
        if (!tiff_number(value, 1, 65535, &number))
            return -1;
        options->rows_per_strip = (uint32_t)number;
        return 1;
    default:
        options->fill_order = !strcmp(value, "lsb2msb") ? 2 : !strcmp(value, "msb2lsb") ? 1 : 0;
        return options->fill_order ? 1 : -1;
    }
}

/* What a tool's output takes over from its input, unless the command line says otherwise. */
void tiff_page_from(tiff_page *page, const tiff_image *image, const tiff_options *options)
{
    memset(page, 0, sizeof *page);
    page->width = image->width;
    page->height = image->height;
    page->compression = options->compression ? options->compression : image->compression;
    if (!options->compression && is_fax(image->compression))
        page->compression = COMPRESS_PACKBITS; /* most outputs are deeper than one bit */
    page->predictor = options->predictor ? options->predictor : 1;
    page->fill_order = options->fill_order ? options->fill_order : 1;
    page->fax_options = options->fax_options;
    page->rows_per_strip = options->rows_per_strip;
    page->resolution_unit = image->resolution_unit;
    memcpy(page->x_resolution, image->x_resolution, sizeof page->x_resolution);
    memcpy(page->y_resolution, image->y_resolution, sizeof page->y_resolution);
}

static void put16(tiff_buffer *out, unsigned value)
{
    tiff_put(out, value & 0xff);
    tiff_put(out, value >> 8 & 0xff);
}

static void put32(tiff_buffer *out, uint32_t value)
{
    put16(out, value & 0xffff);
    put16(out, value >> 16);
}

static void set32(tiff_buffer *out, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        out->data[at + i] = (uint8_t)(value >> (8 * i));
}

void tiff_start(tiff_writer *writer)
{
    memset(writer, 0, sizeof *writer);
    tiff_append(&writer->out, "II*", 4);
    put32(&writer->out, 0);
    writer->link = 4;
}

static size_t row_bytes(const tiff_page *page)
{
    return ((size_t)page->width * page->samples * page->bits + 7) / 8;
}

/* Each byte less the one that is samples before it, from the right so that it can be in place. */
static void difference_rows(uint8_t *rows, size_t pitch, uint32_t count, unsigned samples)
{
    for (uint32_t y = 0; y < count; y++, rows += pitch)
        for (size_t i = pitch; i-- > samples;)
            rows[i] = (uint8_t)(rows[i] - rows[i - samples]);
}

static void write_strip(tiff_buffer *out, const tiff_page *page, const uint8_t *rows, uint32_t count)
{
    size_t pitch = row_bytes(page), start = out->size;
    uint8_t *copy = NULL;
    if (page->predictor == 2) {
        copy = tiff_allocate(pitch * count, 1);
        memcpy(copy, rows, pitch * count);
        difference_rows(copy, pitch, count, page->samples);
        rows = copy;
    }
    switch (page->compression) {
    case COMPRESS_NONE:
        tiff_append(out, rows, pitch * count);
        break;
    case COMPRESS_PACKBITS:
        for (uint32_t y = 0; y < count; y++)
            packbits_encode(rows + y * pitch, pitch, out);
        break;
    case COMPRESS_LZW:
        lzw_encode(rows, pitch * count, out);
        break;
    case COMPRESS_DEFLATE:
        zlib_encode(rows, pitch * count, out);
        break;
    default:
        fax_encode(page->compression, page->fax_options, rows, page->width, count, out);
        break;
    }
    if (page->fill_order == 2)
        for (size_t i = start; i < out->size; i++)
            out->data[i] = (uint8_t)tiff_reverse_byte(out->data[i]);
    free(copy);
}

typedef struct {
    unsigned tag, type;
    uint32_t count, value; /* the value itself, or where it lies */
} tiff_entry;

typedef struct {
    tiff_entry entries[MAX_ENTRIES];
    unsigned count;
} entry_list;

static void add_entry(entry_list *list, unsigned tag, unsigned type, uint32_t count, uint32_t value)
{
    tiff_entry *entry = &list->entries[list->count++];
    entry->tag = tag;
    entry->type = type;
    entry->count = count;
    entry->value = value;
}

static void align_word(tiff_buffer *out)
{
    if (out->size & 1)
        tiff_put(out, 0);
}

static void add_shorts(tiff_buffer *out, entry_list *list, unsigned tag, const uint16_t *values, uint32_t count)
{
    uint32_t at;
    if (count <= 2) {
        add_entry(list, tag, TYPE_SHORT, count, values[0] | (count > 1 ? (uint32_t)values[1] << 16 : 0));
        return;
    }
    align_word(out);
    at = (uint32_t)out->size;
    for (uint32_t i = 0; i < count; i++)
        put16(out, values[i]);
    add_entry(list, tag, TYPE_SHORT, count, at);
}

static void add_longs(tiff_buffer *out, entry_list *list, unsigned tag, const uint32_t *values, uint32_t count)
{
    uint32_t at;
    if (count == 1) {
        add_entry(list, tag, TYPE_LONG, 1, values[0]);
        return;
    }
    align_word(out);
    at = (uint32_t)out->size;
    for (uint32_t i = 0; i < count; i++)
        put32(out, values[i]);
    add_entry(list, tag, TYPE_LONG, count, at);
}

static void add_text(tiff_buffer *out, entry_list *list, unsigned tag, const char *text)
{
    uint32_t at, length, packed = 0;
    if (!text)
        return;
    length = (uint32_t)strlen(text) + 1;
    if (length <= 4) {
        for (uint32_t i = 0; i < length; i++)
            packed |= (uint32_t)(uint8_t)text[i] << (8 * i);
        add_entry(list, tag, TYPE_ASCII, length, packed);
        return;
    }
    align_word(out);
    at = (uint32_t)out->size;
    tiff_append(out, text, length);
    add_entry(list, tag, TYPE_ASCII, length, at);
}

static void add_rational(tiff_buffer *out, entry_list *list, unsigned tag, const uint32_t value[2])
{
    uint32_t at;
    if (!value[1])
        return;
    align_word(out);
    at = (uint32_t)out->size;
    put32(out, value[0]);
    put32(out, value[1]);
    add_entry(list, tag, TYPE_RATIONAL, 1, at);
}

static void write_directory(tiff_writer *writer, const entry_list *list)
{
    tiff_buffer *out = &writer->out;
    align_word(out);
    set32(out, writer->link, (uint32_t)out->size);
    put16(out, list->count);
    for (unsigned i = 0; i < list->count; i++) {
        put16(out, list->entries[i].tag);
        put16(out, list->entries[i].type);
        put32(out, list->entries[i].count);
        put32(out, list->entries[i].value);
    }
    writer->link = out->size;
    put32(out, 0);
}

static void describe_page(tiff_writer *writer, const tiff_page *page, const uint32_t *offsets,
                          const uint32_t *counts, uint32_t strips)
{
    entry_list list = {.count = 0};
    tiff_buffer *out = &writer->out;
    uint16_t bits[4];
    for (unsigned i = 0; i < 4; i++)
        bits[i] = (uint16_t)page->bits;
    add_entry(&list, 256, TYPE_LONG, 1, page->width);
    add_entry(&list, 257, TYPE_LONG, 1, page->height);
    add_shorts(out, &list, 258, bits, page->samples);
    add_entry(&list, 259, TYPE_SHORT, 1, page->compression);
    add_entry(&list, 262, TYPE_SHORT, 1, page->photometric);
    if (page->fill_order == 2)
        add_entry(&list, 266, TYPE_SHORT, 1, 2);
    add_text(out, &list, 270, page->description);
    add_longs(out, &list, 273, offsets, strips);
    add_entry(&list, 274, TYPE_SHORT, 1, 1);
    add_entry(&list, 277, TYPE_SHORT, 1, page->samples);
    add_entry(&list, 278, TYPE_LONG, 1, page->rows_per_strip);
    add_longs(out, &list, 279, counts, strips);
    add_rational(out, &list, 282, page->x_resolution);
    add_rational(out, &list, 283, page->y_resolution);
    add_entry(&list, 284, TYPE_SHORT, 1, 1);
    if (page->compression == COMPRESS_GROUP3)
        add_entry(&list, 292, TYPE_LONG, 1, page->fax_options);
    if (page->compression == COMPRESS_GROUP4)
        add_entry(&list, 293, TYPE_LONG, 1, 0);
    if (page->x_resolution[1])
        add_entry(&list, 296, TYPE_SHORT, 1, page->resolution_unit);
    add_text(out, &list, 305, page->software);
    if (page->predictor == 2)
        add_entry(&list, 317, TYPE_SHORT, 1, 2);
    if (page->palette)
        add_shorts(out, &list, 320, page->palette, 3u << page->bits);
    if (page->alpha)
        add_entry(&list, 338, TYPE_SHORT, 1, page->alpha);
    write_directory(writer, &list);
}

int tiff_add_page(tiff_writer *writer, const tiff_page *given)
{
    tiff_page page = *given;
    size_t pitch = row_bytes(&page);
    uint32_t strips, *offsets, *counts;
    if (page.compression == COMPRESS_DEFLATE_OLD)
        page.compression = COMPRESS_DEFLATE;
    if (is_fax(page.compression) && page.bits * page.samples != 1)
        return tiff_error("output", "fax compression needs one bit a pixel");
    if (page.compression != COMPRESS_LZW && page.compression != COMPRESS_DEFLATE)
        page.predictor = 1;
    if (page.predictor == 2 && page.bits != 8)
        return tiff_error("output", "the predictor needs samples of 8 bits");
    if (!page.rows_per_strip)
        page.rows_per_strip = pitch < STRIP_BYTES ? (uint32_t)(STRIP_BYTES / pitch) : 1;
    if (page.rows_per_strip > page.height)
        page.rows_per_strip = page.height;
    strips = (page.height + page.rows_per_strip - 1) / page.rows_per_strip;
    offsets = tiff_allocate(strips, sizeof *offsets);
    counts = tiff_allocate(strips, sizeof *counts);
    for (uint32_t i = 0; i < strips; i++) {
        uint32_t top = i * page.rows_per_strip, left = page.height - top;
        align_word(&writer->out);
        offsets[i] = (uint32_t)writer->out.size;
        write_strip(&writer->out, &page, page.rows + top * pitch, left < page.rows_per_strip ? left : page.rows_per_strip);
        counts[i] = (uint32_t)(writer->out.size - offsets[i]);
    }
    describe_page(writer, &page, offsets, counts, strips);
    free(offsets);
    free(counts);
    return 1;
}

/* Writes the file and frees the writer; without a name it only frees. */
int tiff_finish(tiff_writer *writer, const char *name)
{
    FILE *stream = name ? fopen(name, "wb") : NULL;
    int good = stream && fwrite(writer->out.data, 1, writer->out.size, stream) == writer->out.size;
    if (stream && fclose(stream))
        good = 0;
    tiff_release(&writer->out);
    if (!good && name)
        tiff_error(name, "cannot write the file");
    return good;
}
