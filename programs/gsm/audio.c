/* SPDX-License-Identifier: MIT */
/* Speech in files: headerless samples, Sun/NeXT .au, and RIFF WAVE. One channel at 8000 Hz only,
   because the coder is defined for nothing else. */
#include <string.h>

#include "gsm.h"

enum {
    RATE = 8000,
    TAG_PCM = 1,
    TAG_ALAW = 6,
    TAG_ULAW = 7,
    TAG_GSM = 0x31,
    AU_ULAW = 1,
    AU_LINEAR8 = 2,
    AU_LINEAR16 = 3,
    AU_ALAW = 27,
    AU_HEADER = 24,
    WAV_HEADER = 44
};

static uint32_t little(const uint8_t *at, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = (value << 8) | at[i];
    return value;
}

static uint32_t big(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static const char *open_au(AudioSource *source, const uint8_t *bytes, size_t size)
{
    if (size < AU_HEADER || memcmp(bytes, ".snd", 4) != 0)
        return "not an .au file";
    uint32_t offset = big(bytes + 4);
    uint32_t length = big(bytes + 8);
    if (offset < AU_HEADER || offset > size)
        return ".au header points outside the file";
    if (big(bytes + 16) != RATE)
        return "sampling rate is not 8000 Hz";
    if (big(bytes + 20) != 1)
        return "more than one channel";
    switch (big(bytes + 12)) {
    case AU_ULAW: source->code = CODE_ULAW; break;
    case AU_LINEAR8: source->code = CODE_SIGNED8; break;
    case AU_LINEAR16: source->code = CODE_LINEAR_BE; break;
    case AU_ALAW: source->code = CODE_ALAW; break;
    default: return "unknown .au encoding";
    }
    source->data = bytes + offset;
    source->size = size - offset;
    if (length != 0xffffffffu && length < source->size)
        source->size = length;
    return NULL;
}

typedef struct {
    const uint8_t *format;
    size_t format_size;
    const uint8_t *fact;
    const uint8_t *data;
    size_t data_size;
} WavChunks;

static const char *find_chunks(const uint8_t *bytes, size_t size, WavChunks *chunks)
{
    size_t at = 12;

    memset(chunks, 0, sizeof *chunks);
    if (size < 12 || memcmp(bytes, "RIFF", 4) != 0 || memcmp(bytes + 8, "WAVE", 4) != 0)
        return "not a WAVE file";
    while (size - at >= 8) {
        const uint8_t *chunk = bytes + at;
        size_t length = little(chunk + 4, 4);
        size_t present = size - at - 8;
        if (length < present)
            present = length;
        if (memcmp(chunk, "fmt ", 4) == 0) {
            chunks->format = chunk + 8;
            chunks->format_size = present;
        } else if (memcmp(chunk, "fact", 4) == 0 && present >= 4) {
            chunks->fact = chunk + 8;
        } else if (memcmp(chunk, "data", 4) == 0 && chunks->data == NULL) {
            chunks->data = chunk + 8;
            chunks->data_size = present;
        }
        at += 8 + present;
        if (present % 2 == 1 && at < size)
            at++;
    }
    if (chunks->format == NULL || chunks->format_size < 16)
        return "WAVE file without a format";
    if (chunks->data == NULL)
        return "WAVE file without data";
    if (little(chunks->format + 2, 2) != 1)
        return "more than one channel";
    if (little(chunks->format + 4, 4) != RATE)
        return "sampling rate is not 8000 Hz";
    return NULL;
}

static const char *open_wav(AudioSource *source, const uint8_t *bytes, size_t size)
{
    WavChunks chunks;
    const char *problem = find_chunks(bytes, size, &chunks);

    if (problem != NULL)
        return problem;
    uint32_t width = little(chunks.format + 14, 2);
    switch (little(chunks.format, 2)) {
    case TAG_PCM:
        if (width != 8 && width != 16)
            return "WAVE samples are neither 8 nor 16 bits wide";
        source->code = width == 8 ? CODE_UNSIGNED8 : CODE_LINEAR_LE;
        break;
    case TAG_ALAW: source->code = CODE_ALAW; break;
    case TAG_ULAW: source->code = CODE_ULAW; break;
    default: return "unknown WAVE encoding";
    }
    source->data = chunks.data;
    source->size = chunks.data_size;
    return NULL;
}

const char *audio_open(AudioSource *source, AudioForm form, const uint8_t *bytes, size_t size)
{
    source->data = bytes;
    source->size = size;
    source->at = 0;
    switch (form) {
    case FORM_LINEAR: source->code = CODE_LINEAR_LE; return NULL;
    case FORM_ULAW: source->code = CODE_ULAW; return NULL;
    case FORM_ALAW: source->code = CODE_ALAW; return NULL;
    case FORM_AU: return open_au(source, bytes, size);
    default: return open_wav(source, bytes, size);
    }
}

const char *wav_gsm_open(const uint8_t *bytes, size_t size, const uint8_t **data, size_t *length,
                         uint32_t *samples)
{
    WavChunks chunks;
    const char *problem = find_chunks(bytes, size, &chunks);

    if (problem != NULL)
        return problem;
    if (little(chunks.format, 2) != TAG_GSM || little(chunks.format + 12, 2) != PAIR_BYTES)
        return "WAVE file does not hold GSM 06.10";
    *data = chunks.data;
    *length = chunks.data_size;
    *samples = chunks.fact != NULL ? little(chunks.fact, 4) : UINT32_MAX;
    return NULL;
}

static int16_t next_sample(AudioSource *source)
{
    const uint8_t *at = source->data + source->at;

    switch (source->code) {
    case CODE_LINEAR_LE: source->at += 2; return (int16_t)(uint16_t)(at[0] | at[1] << 8);
    case CODE_LINEAR_BE: source->at += 2; return (int16_t)(uint16_t)(at[1] | at[0] << 8);
    case CODE_UNSIGNED8: source->at++; return (int16_t)((at[0] - 128) * 256);
    case CODE_SIGNED8: source->at++; return (int16_t)((int8_t)at[0] * 256);
    case CODE_ULAW: source->at++; return ulaw_expand(at[0]);
    default: source->at++; return alaw_expand(at[0]);
    }
}

size_t audio_read(AudioSource *source, int16_t *samples, size_t count)
{
    size_t width = source->code == CODE_LINEAR_LE || source->code == CODE_LINEAR_BE ? 2 : 1;
    size_t done = 0;

    while (done < count && source->size - source->at >= width)
        samples[done++] = next_sample(source);
    return done;
}

/* ---- writing ---- */

static void store_little(uint8_t *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static void store_big(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void build_au(uint8_t *header, uint32_t data_bytes)
{
    memcpy(header, ".snd", 4);
    store_big(header + 4, AU_HEADER);
    store_big(header + 8, data_bytes);
    store_big(header + 12, AU_ULAW);
    store_big(header + 16, RATE);
    store_big(header + 20, 1);
}

static void build_wav(uint8_t *header, uint32_t data_bytes)
{
    memcpy(header, "RIFF....WAVEfmt ", 16);
    store_little(header + 4, WAV_HEADER - 8 + data_bytes, 4);
    store_little(header + 16, 16, 4);
    store_little(header + 20, TAG_PCM, 2);
    store_little(header + 22, 1, 2);
    store_little(header + 24, RATE, 4);
    store_little(header + 28, 2 * RATE, 4);
    store_little(header + 32, 2, 2);
    store_little(header + 34, 16, 2);
    memcpy(header + 36, "data", 4);
    store_little(header + 40, data_bytes, 4);
}

static int write_header(AudioSink *sink)
{
    uint8_t header[WAV_HEADER];
    size_t size = 0;

    if (sink->form == FORM_AU) {
        build_au(header, sink->samples);
        size = AU_HEADER;
    } else if (sink->form == FORM_WAV) {
        build_wav(header, 2 * sink->samples);
        size = WAV_HEADER;
    }
    return fwrite(header, 1, size, sink->file) == size ? 0 : -1;
}

int audio_start(AudioSink *sink, FILE *file, AudioForm form)
{
    sink->file = file;
    sink->form = form;
    sink->samples = 0;
    return write_header(sink);
}

int audio_write(AudioSink *sink, const int16_t *samples, size_t count)
{
    uint8_t bytes[2 * FRAME_SAMPLES];
    size_t size = 0;

    for (size_t i = 0; i < count; i++) {
        switch (sink->form) {
        case FORM_AU:
        case FORM_ULAW: bytes[size++] = ulaw_compress(samples[i]); break;
        case FORM_ALAW: bytes[size++] = alaw_compress(samples[i]); break;
        default:
            store_little(bytes + size, (uint16_t)samples[i], 2);
            size += 2;
            break;
        }
    }
    sink->samples += (uint32_t)count;
    return fwrite(bytes, 1, size, sink->file) == size ? 0 : -1;
}

/* The lengths in a header are known only now. */
int audio_finish(AudioSink *sink)
{
    if (sink->form != FORM_AU && sink->form != FORM_WAV)
        return 0;
    if (fseek(sink->file, 0, SEEK_SET) != 0)
        return -1;
    return write_header(sink);
}

int wav_gsm_header(FILE *file, uint32_t samples, uint32_t data_bytes)
{
    uint8_t header[60];
    uint32_t padded = data_bytes + data_bytes % 2;

    memcpy(header, "RIFF....WAVEfmt ", 16);
    store_little(header + 4, (uint32_t)sizeof header - 8 + padded, 4);
    store_little(header + 16, 20, 4);
    store_little(header + 20, TAG_GSM, 2);
    store_little(header + 22, 1, 2);
    store_little(header + 24, RATE, 4);
    store_little(header + 28, RATE * PAIR_BYTES / (2 * FRAME_SAMPLES), 4);
    store_little(header + 32, PAIR_BYTES, 2);
    store_little(header + 34, 0, 2);
    store_little(header + 36, 2, 2);
    store_little(header + 38, 2 * FRAME_SAMPLES, 2);
    memcpy(header + 40, "fact", 4);
    store_little(header + 44, 4, 4);
    store_little(header + 48, samples, 4);
    memcpy(header + 52, "data", 4);
    store_little(header + 56, data_bytes, 4);
    return fwrite(header, 1, sizeof header, file) == sizeof header ? 0 : -1;
}
