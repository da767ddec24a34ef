/* SPDX-License-Identifier: MIT */
/* The bit stream: headers and side information at their fixed places, and main data that flow into the
 * places left free between them, some of which belong to frames before (ISO 11172-3, 2.4.1). */
#include "lame.h"

#include <stdlib.h>
#include <string.h>

static const short bitrates[15] = {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320};
static const int rates[3] = {44100, 48000, 32000};

int bitrate_index(int bitrate)
{
    for (int i = 1; i < 15; i++)
        if (bitrates[i] == bitrate)
            return i;
    return 0;
}

int bitrate_at(int index)
{
    return bitrates[index];
}

int side_info_size(const settings *set)
{
    return (set->mode == MODE_MONO ? 17 : 32) + 4 + (set->protect ? 2 : 0);
}

size_t free_bytes(const stream *out)
{
    size_t sum = 0;
    for (int i = 0; i < out->hole_count; i++)
        sum += out->holes[i].length;
    return sum;
}

static uint32_t crc_bits(uint32_t crc, uint32_t value, int bits)
{
    while (bits-- > 0) {
        uint32_t carry = (crc >> 15 ^ value >> bits) & 1;
        crc = crc << 1 & 0xffff;
        if (carry)
            crc ^= 0x8005;
    }
    return crc;
}

static void write_granule_info(bit_writer *w, const granule *g)
{
    put_bits(w, (uint32_t)(scalefactor_bits(g) + g->part3_bits), 12);
    put_bits(w, (uint32_t)g->big_values, 9);
    put_bits(w, (uint32_t)g->global_gain, 8);
    put_bits(w, (uint32_t)g->scalefac_compress, 4);
    put_bits(w, g->block_type != BLOCK_LONG, 1);
    if (g->block_type != BLOCK_LONG) {
        put_bits(w, (uint32_t)g->block_type, 2);
        put_bits(w, 0, 1); /* no mixed blocks */
        put_bits(w, (uint32_t)g->tables[0], 5);
        put_bits(w, (uint32_t)g->tables[1], 5);
        put_bits(w, 0, 9); /* gains of single windows */
    } else {
        for (int i = 0; i < 3; i++)
            put_bits(w, (uint32_t)g->tables[i], 5);
        put_bits(w, (uint32_t)g->region0, 4);
        put_bits(w, (uint32_t)g->region1, 3);
    }
    put_bits(w, (uint32_t)g->preflag, 1);
    put_bits(w, (uint32_t)g->scalefac_scale, 1);
    put_bits(w, (uint32_t)g->quad_table, 1);
}

static void write_header(bit_writer *w, const settings *set, int rate_index, int padding, int mid_side)
{
    put_bits(w, 0xfff, 12);
    put_bits(w, 1, 1);
    put_bits(w, 1, 2); /* layer III */
    put_bits(w, !set->protect, 1);
    put_bits(w, (uint32_t)bitrate_index(set->bitrate), 4);
    put_bits(w, (uint32_t)rate_index, 2);
    put_bits(w, (uint32_t)padding, 1);
    put_bits(w, 0, 1);
    put_bits(w, (uint32_t)set->mode, 2);
    put_bits(w, mid_side ? 2 : 0, 2);
    put_bits(w, (uint32_t)set->copyright, 1);
    put_bits(w, (uint32_t)set->original, 1);
    put_bits(w, (uint32_t)set->emphasis, 2);
}

static void write_side_info(bit_writer *w, const settings *set, size_t begin, granule (*granules)[2])
{
    int channels = set->mode == MODE_MONO ? 1 : 2;
    put_bits(w, (uint32_t)begin, 9);
    put_bits(w, 0, channels == 1 ? 5 : 3);
    for (int c = 0; c < channels; c++)
        for (int i = 0; i < 4; i++)
            put_bits(w, (uint32_t)granules[1][c].shared[i], 1);
    for (int g = 0; g < 2; g++)
        for (int c = 0; c < channels; c++)
            write_granule_info(w, &granules[g][c]);
}

static void append(stream *out, const uint8_t *data, size_t length)
{
    if (out->pending_size + length > out->pending_room) {
        size_t room = (out->pending_size + length) * 2;
        uint8_t *more = realloc(out->pending, room);
        if (!more) {
            fputs("lame: out of memory\n", stderr);
            exit(3);
        }
        out->pending = more;
        out->pending_room = room;
    }
    if (data)
        memcpy(out->pending + out->pending_size, data, length);
    else
        memset(out->pending + out->pending_size, 0, length);
    out->pending_size += length;
}

static void open_hole(stream *out, size_t length)
{
    out->holes[out->hole_count].at = out->pending_size;
    out->holes[out->hole_count].length = length;
    out->hole_count++;
    append(out, NULL, length);
}

static void pour(stream *out, const uint8_t *data, size_t length)
{
    int full = 0;
    while (length && full < out->hole_count) {
        size_t part = length < out->holes[full].length ? length : out->holes[full].length;
        memcpy(out->pending + out->holes[full].at, data, part);
        out->holes[full].at += part;
        out->holes[full].length -= part;
        data += part;
        length -= part;
        if (!out->holes[full].length)
            full++;
    }
    /* A frame without any room keeps its place among the holes until those before it are full. */
    while (full < out->hole_count && !out->holes[full].length)
        full++;
    memmove(out->holes, out->holes + full, (size_t)(out->hole_count - full) * sizeof out->holes[0]);
    out->hole_count -= full;
}

/* Hands on everything before the first byte that is still to come. */
static void flush(stream *out)
{
    size_t ready = out->hole_count ? out->holes[0].at : out->pending_size;
    if (fwrite(out->pending, 1, ready, out->file) != ready)
        out->failed = 1;
    memmove(out->pending, out->pending + ready, out->pending_size - ready);
    out->pending_size -= ready;
    out->bytes += ready;
    for (int i = 0; i < out->hole_count; i++)
        out->holes[i].at -= ready;
}

/* Bytes that may stay free for the frames to come: the pointer back has 9 bits, and a decoder need hold
 * no more than 7680 bits. */
size_t reservoir_limit(const settings *set, size_t frame_bytes)
{
    size_t limit = frame_bytes < 960 ? 960 - frame_bytes : 0;
    if (set->no_reservoir)
        return 0;
    return limit < 511 ? limit : 511;
}

size_t frame_size(const settings *set, int rate_index, int padding)
{
    return (size_t)(144000 * set->bitrate / rates[rate_index] + padding);
}

/* --- the tag frame that tells players how long the stream is and where its parts lie --- */

enum { TAG_RATE = 128, TOC = 100 };

static void note_start(stream *out, size_t size)
{
    if (out->frames == out->starts_room) {
        size_t room = out->starts_room ? out->starts_room * 2 : 256;
        uint32_t *more = realloc(out->starts, room * sizeof *more);
        if (!more) {
            fputs("lame: out of memory\n", stderr);
            exit(3);
        }
        out->starts = more;
        out->starts_room = room;
    }
    out->starts[out->frames] = (uint32_t)out->written;
    out->written += size;
}

static settings tag_settings(const settings *set)
{
    settings tag = *set;
    tag.bitrate = TAG_RATE;
    tag.protect = 0;
    return tag;
}

/* Leaves room for the tag, which is a frame of silence to those who do not know it. */
void start_stream(stream *out, const settings *set, int rate_index)
{
    settings tag = tag_settings(set);
    if (set->no_tag)
        return;
    out->tag_bytes = out->written = frame_size(&tag, rate_index, 0);
    append(out, NULL, out->tag_bytes);
}

static void write_tag(stream *out, const settings *set, int rate_index, size_t sound_bytes)
{
    settings tag = tag_settings(set);
    bit_writer w = {0};
    write_header(&w, &tag, rate_index, 0, 0);
    while (w.size < (size_t)side_info_size(&tag))
        put_bits(&w, 0, 8);
    for (const char *mark = set->vbr ? "Xing" : "Info"; *mark; mark++)
        put_bits(&w, (uint8_t)*mark, 8);
    put_bits(&w, 15, 32); /* frames, bytes, table and quality follow */
    put_bits(&w, (uint32_t)out->frames, 32);
    put_bits(&w, (uint32_t)sound_bytes, 32);
    for (size_t i = 0; i < TOC; i++) {
        uint64_t place = out->frames ? out->starts[i * out->frames / TOC] : 0;
        put_bits(&w, (uint32_t)(place * 256 / (sound_bytes + 1)), 8);
    }
    put_bits(&w, (uint32_t)(set->vbr ? 100 - 10 * set->quality : 50), 32);
    while (w.size < out->tag_bytes)
        put_bits(&w, 0, 8);
    if (fseek(out->file, 0, SEEK_SET) || fwrite(w.data, 1, w.size, out->file) != w.size)
        out->failed = 1;
    free(w.data);
}

void write_frame(stream *out, const settings *set, int rate_index, int padding, int mid_side, granule (*granules)[2])
{
    bit_writer head = {0}, side = {0}, data = {0};
    size_t begin = free_bytes(out), size = frame_size(set, rate_index, padding), left;
    int channels = set->mode == MODE_MONO ? 1 : 2;
    for (int g = 0; g < 2; g++) {
        for (int c = 0; c < channels; c++) {
            write_scalefactors(&data, &granules[g][c]);
            write_lines(&data, &granules[g][c], rate_index);
        }
    }
    align_bits(&data);
    left = begin + size - (size_t)side_info_size(set) - data.size;
    while (left > reservoir_limit(set, size)) {
        put_bits(&data, 0, 8);
        left--;
    }
    write_header(&head, set, rate_index, padding, mid_side);
    write_side_info(&side, set, begin, granules);
    if (set->protect) {
        uint32_t crc = crc_bits(0xffff, (uint32_t)(head.data[2] << 8 | head.data[3]), 16);
        for (size_t i = 0; i < side.size; i++)
            crc = crc_bits(crc, side.data[i], 8);
        put_bits(&head, crc, 16);
    }
    note_start(out, size);
    append(out, head.data, head.size);
    append(out, side.data, side.size);
    open_hole(out, size - (size_t)side_info_size(set));
    pour(out, data.data, data.size);
    flush(out);
    out->frames++;
    free(head.data);
    free(side.data);
    free(data.data);
}

static void put_text(uint8_t *to, const char *text, size_t room)
{
    size_t length = text ? strlen(text) : 0;
    if (length)
        memcpy(to, text, length < room ? length : room);
}

/* What was kept free stays zero; a tag of the first version of ID3 may follow. */
void finish_stream(stream *out, const settings *set, int rate_index)
{
    uint8_t tag[128] = {'T', 'A', 'G'};
    size_t sound_bytes;
    out->hole_count = 0;
    flush(out);
    sound_bytes = out->bytes;
    if (set->title || set->artist) {
        put_text(tag + 3, set->title, 30);
        put_text(tag + 33, set->artist, 30);
        tag[127] = 255; /* no genre */
        append(out, tag, sizeof tag);
    }
    flush(out);
    if (out->tag_bytes)
        write_tag(out, set, rate_index, sound_bytes);
    free(out->pending);
    free(out->starts);
    out->pending = NULL;
    out->starts = NULL;
}
