/* SPDX-License-Identifier: MIT */
/* Markers of the interchange format. Each segment is read within its announced length. */
#include <string.h>

#include "decoder.h"

int next_byte(Source *source)
{
    return source->at < source->size ? source->bytes[source->at++] : -1;
}

/* ---- a segment ---- */

typedef struct {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    const char *name;
} Segment;

static Segment open_segment(Source *source, const char *name)
{
    Segment segment = {NULL, 0, 0, name};

    if (source->size - source->at < 2)
        fail("%s: the file ends too early", name);
    size_t length = (size_t)source->bytes[source->at] << 8 | source->bytes[source->at + 1];
    if (length < 2 || length > source->size - source->at)
        fail("%s: bad length", name);
    segment.bytes = source->bytes + source->at + 2;
    segment.size = length - 2;
    source->at += length;
    return segment;
}

static int segment_byte(Segment *segment)
{
    if (segment->at >= segment->size)
        fail("%s: the segment is too short", segment->name);
    return segment->bytes[segment->at++];
}

static int segment_word(Segment *segment)
{
    int high = segment_byte(segment);
    return high << 8 | segment_byte(segment);
}

static int segment_left(const Segment *segment)
{
    return segment->at < segment->size;
}

/* ---- tables ---- */

static void read_quantisers(Decoder *decoder)
{
    Segment segment = open_segment(&decoder->source, "DQT");

    while (segment_left(&segment)) {
        int head = segment_byte(&segment);
        int wide = head >> 4;
        if (wide > 1 || (head & 15) >= MAX_TABLES)
            fail("DQT: bad table number");
        QuantTable *table = &decoder->quant[head & 15];
        for (int k = 0; k < BLOCK_SIZE; k++) {
            int value = wide ? segment_word(&segment) : segment_byte(&segment);
            table->value[natural_order[k]] = (uint16_t)value;
        }
        table->defined = 1;
    }
}

static void read_huffman(Decoder *decoder)
{
    Segment segment = open_segment(&decoder->source, "DHT");

    while (segment_left(&segment)) {
        int head = segment_byte(&segment);
        int count = 0;
        if (head >> 4 > 1 || (head & 15) >= MAX_TABLES)
            fail("DHT: bad table number");
        HuffmanTable *table = head >> 4 ? &decoder->ac[head & 15] : &decoder->dc[head & 15];
        memset(table, 0, sizeof *table);
        for (int bits = 1; bits <= 16; bits++) {
            table->bits[bits] = (uint8_t)segment_byte(&segment);
            count += table->bits[bits];
        }
        if (count > 256)
            fail("DHT: too many codes");
        for (int i = 0; i < count; i++)
            table->values[i] = (uint8_t)segment_byte(&segment);
        table->defined = 1;
    }
}

static void read_restart_interval(Decoder *decoder)
{
    Segment segment = open_segment(&decoder->source, "DRI");
    decoder->restart_interval = (uint32_t)segment_word(&segment);
}

/* ---- application data ---- */

static void read_app0(Decoder *decoder)
{
    Segment segment = open_segment(&decoder->source, "APP0");
    if (segment.size >= 5 && memcmp(segment.bytes, "JFIF", 5) == 0)
        decoder->jfif_seen = 1;
}

static void read_app14(Decoder *decoder)
{
    Segment segment = open_segment(&decoder->source, "APP14");
    if (segment.size >= 12 && memcmp(segment.bytes, "Adobe", 5) == 0) {
        decoder->adobe_seen = 1;
        decoder->adobe_transform = segment.bytes[11];
    }
}

static void read_comment(Decoder *decoder)
{
    Segment segment = open_segment(&decoder->source, "COM");

    if (!decoder->verbose)
        return;
    fputs("comment: ", stdout);
    while (segment_left(&segment)) {
        int c = segment_byte(&segment);
        if (c >= ' ' && c < 127 && c != '\\')
            putchar(c);
        else
            printf("\\%03o", (unsigned)c);
    }
    putchar('\n');
}

/* ---- frame and scans ---- */

static ColorSpace guess_space(const Decoder *decoder)
{
    const Component *c = decoder->frame.component;

    switch (decoder->frame.count) {
    case 1: return SPACE_GRAY;
    case 3:
        if (decoder->jfif_seen)
            return SPACE_YCC;
        if (decoder->adobe_seen)
            return decoder->adobe_transform == 0 ? SPACE_RGB : SPACE_YCC;
        return c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B' ? SPACE_RGB : SPACE_YCC;
    default:
        return decoder->adobe_seen && decoder->adobe_transform == 2 ? SPACE_YCCK : SPACE_CMYK;
    }
}

static void read_frame(Decoder *decoder, int marker)
{
    Segment segment = open_segment(&decoder->source, "SOF");
    Frame *frame = &decoder->frame;

    if (decoder->frame_seen)
        fail("SOF: a second frame");
    decoder->frame_seen = 1;
    decoder->progressive = marker == MARKER_SOF2;
    if (segment_byte(&segment) != 8)
        fail("SOF: only samples of 8 bits are supported");
    frame->height = (uint32_t)segment_word(&segment);
    frame->width = (uint32_t)segment_word(&segment);
    frame->count = segment_byte(&segment);
    if (frame->count != 1 && frame->count != 3 && frame->count != 4)
        fail("SOF: %d components are not supported", frame->count);
    for (int c = 0; c < frame->count; c++) {
        Component *component = &frame->component[c];
        component->id = segment_byte(&segment);
        int sampling = segment_byte(&segment);
        component->h = sampling >> 4;
        component->v = sampling & 15;
        component->quant = segment_byte(&segment);
        if (component->quant >= MAX_TABLES)
            fail("SOF: bad table number");
        for (int other = 0; other < c; other++)
            if (frame->component[other].id == component->id)
                fail("SOF: two components have the same name");
    }
    layout_frame(frame);
    for (int c = 0; c < frame->count; c++)
        if (frame->h_max % frame->component[c].h != 0 || frame->v_max % frame->component[c].v != 0)
            fail("SOF: fractional sampling is not supported");
    allocate_coefficients(frame);
    decoder->space = guess_space(decoder);
    memset(decoder->known_bits, -1, sizeof decoder->known_bits);
}

static void check_progression(Decoder *decoder, const Scan *scan)
{
    if (scan->Ss > scan->Se || scan->Se >= BLOCK_SIZE || (scan->Ss == 0 && scan->Se != 0) ||
        (scan->Ss > 0 && scan->count != 1) || scan->Al > 13 ||
        (scan->Ah != 0 && scan->Al != scan->Ah - 1))
        fail("SOS: bad progression");
    for (int i = 0; i < scan->count; i++) {
        int8_t *bits = decoder->known_bits[scan->index[i]];
        if (scan->Ss > 0 && bits[0] < 0)
            warn("AC coefficients before DC");
        for (int k = scan->Ss; k <= scan->Se; k++) {
            if ((bits[k] < 0 ? 0 : bits[k]) != scan->Ah)
                warn("inconsistent progression");
            bits[k] = (int8_t)scan->Al;
        }
    }
}

static void save_quantisers(Decoder *decoder, const Scan *scan)
{
    for (int i = 0; i < scan->count; i++) {
        int index = scan->index[i];
        const QuantTable *table = &decoder->quant[decoder->frame.component[index].quant];
        if (decoder->saved_quant[index].defined)
            continue;
        if (!table->defined)
            fail("SOS: quantisation table %d was not sent", decoder->frame.component[index].quant);
        decoder->saved_quant[index] = *table;
    }
}

static int find_component(const Frame *frame, int id)
{
    for (int c = 0; c < frame->count; c++)
        if (frame->component[c].id == id)
            return c;
    fail("SOS: unknown component");
}

static void read_scan(Decoder *decoder)
{
    Segment segment = open_segment(&decoder->source, "SOS");
    Scan scan;
    int blocks = 0;

    if (!decoder->frame_seen)
        fail("SOS: no frame was announced");
    memset(&scan, 0, sizeof scan);
    scan.count = segment_byte(&segment);
    if (scan.count < 1 || scan.count > decoder->frame.count)
        fail("SOS: bad number of components");
    for (int i = 0; i < scan.count; i++) {
        scan.index[i] = find_component(&decoder->frame, segment_byte(&segment));
        Component *component = &decoder->frame.component[scan.index[i]];
        int tables = segment_byte(&segment);
        component->dc = tables >> 4;
        component->ac = tables & 15;
        if (component->dc >= MAX_TABLES || component->ac >= MAX_TABLES)
            fail("SOS: bad table number");
        for (int other = 0; other < i; other++)
            if (scan.index[other] == scan.index[i])
                fail("SOS: a component appears twice");
        blocks += component->h * component->v;
    }
    if (scan.count > 1 && blocks > MAX_MCU_BLOCKS)
        fail("SOS: too many blocks in an MCU");
    scan.Ss = segment_byte(&segment);
    scan.Se = segment_byte(&segment);
    int bits = segment_byte(&segment);
    scan.Ah = bits >> 4;
    scan.Al = bits & 15;
    if (decoder->progressive)
        check_progression(decoder, &scan);
    else {
        if (scan.Ss != 0 || scan.Se != BLOCK_SIZE - 1 || bits != 0)
            warn("bad spectral selection in a sequential scan");
        scan.Ss = scan.Ah = scan.Al = 0;
        scan.Se = BLOCK_SIZE - 1;
    }
    save_quantisers(decoder, &scan);
    if (decoder->verbose)
        printf("scan %d: %d components, %d-%d, %d, %d\n", decoder->scans, scan.count, scan.Ss,
               scan.Se, scan.Ah, scan.Al);
    decode_scan(decoder, &scan);
    decoder->scans++;
}

/* ---- the sequence of markers ---- */

/* Returns the next marker, or -1 at the end of the file. */
static int next_marker(Source *source)
{
    int skipped = 0;

    for (;;) {
        int c = next_byte(source);
        while (c != 0xff && c != -1) {
            skipped = 1;
            c = next_byte(source);
        }
        while (c == 0xff)
            c = next_byte(source);
        if (c == -1)
            return -1;
        if (c == 0)
            continue;
        if (skipped)
            warn("extraneous bytes before a marker");
        return c;
    }
}

static void handle_marker(Decoder *decoder, int marker)
{
    switch (marker) {
    case MARKER_DQT: read_quantisers(decoder); break;
    case MARKER_DHT: read_huffman(decoder); break;
    case MARKER_DRI: read_restart_interval(decoder); break;
    case MARKER_APP0: read_app0(decoder); break;
    case MARKER_APP14: read_app14(decoder); break;
    case MARKER_COM: read_comment(decoder); break;
    case MARKER_SOF0:
    case MARKER_SOF1:
    case MARKER_SOF2: read_frame(decoder, marker); break;
    case MARKER_SOS: read_scan(decoder); break;
    case MARKER_TEM: break;
    default:
        if (marker >= MARKER_RST0 && marker <= MARKER_RST7)
            break;
        if (marker >= MARKER_SOF3 && marker <= MARKER_SOF15 && marker != MARKER_DAC)
            fail("this kind of JPEG is not supported: marker %02x", (unsigned)marker);
        if (marker == MARKER_SOI)
            fail("a second start of image");
        open_segment(&decoder->source, "unknown segment");
        break;
    }
}

void read_file(Decoder *decoder)
{
    Source *source = &decoder->source;

    if (next_byte(source) != 0xff || next_byte(source) != MARKER_SOI)
        fail("not a JPEG file");
    /* Frames of motion JPEG leave out the tables that everybody has. */
    for (int table = 0; table < 2; table++)
        standard_huffman(&decoder->dc[table], &decoder->ac[table], table);
    for (;;) {
        int marker = next_marker(source);
        if (marker == MARKER_EOI)
            break;
        if (marker < 0) {
            if (decoder->scans == 0)
                fail("the file ends before the image");
            warn("the file ends too early");
            break;
        }
        handle_marker(decoder, marker);
    }
    if (decoder->scans == 0)
        fail("the file has no image");
}
