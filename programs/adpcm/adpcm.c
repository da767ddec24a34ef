/* SPDX-License-Identifier: MIT */
/* Codes 16-bit sound to 4 bits a sample and back by IMA ADPCM, as the Interactive Multimedia
 * Association's "Recommended Practices for Enhancing Digital Audio Compatibility" (1992) defines it.
 * Without a container the input is one channel of little-endian samples and the code is a plain
 * sequence of 4-bit values, the earlier in the upper half of its byte, as DVI stored them. With -w
 * both sides are WAVE files: PCM, and Microsoft's format 0x11, whose blocks begin with the
 * predictor's state and store the earlier value in the lower half. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 89,
    MOST_CHANNELS = 2,
    HEADER_BYTES = 4,  /* of one channel in a block */
    GROUP_SAMPLES = 8, /* of one channel before the next channel's turn */
    FORMAT_PCM = 1,
    FORMAT_IMA = 0x11,
    STATUS_BAD_DATA = 3,
};

typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t room;
} Buffer;

typedef struct {
    int16_t *values; /* the channels' samples take turns */
    size_t frames;
    unsigned channels;
    uint32_t rate;
} Sound;

typedef struct {
    int predicted;
    int index;
} State;

typedef struct {
    int decoding;
    int wave;
    int generations;
    unsigned block_bytes; /* 0 stands for the usual size at the sound's rate */
    const char *input;
    const char *output;
} Options;

typedef struct {
    unsigned format;
    unsigned channels;
    unsigned block_bytes;
    unsigned bits;
    uint32_t rate;
    uint32_t frames; /* from the fact chunk; UINT32_MAX without one */
    const uint8_t *data;
    size_t data_bytes;
} Wave;

static const int16_t steps[STEPS] = {
    7,     8,     9,     10,    11,    12,    13,    14,    16,    17,    19,    21,    23,
    25,    28,    31,    34,    37,    41,    45,    50,    55,    60,    66,    73,    80,
    88,    97,    107,   118,   130,   143,   157,   173,   190,   209,   230,   253,   279,
    307,   337,   371,   408,   449,   494,   544,   598,   658,   724,   796,   876,   963,
    1060,  1166,  1282,  1411,  1552,  1707,  1878,  2066,  2272,  2499,  2749,  3024,  3327,
    3660,  4026,  4428,  4871,  5358,  5894,  6484,  7132,  7845,  8630,  9493,  10442, 11487,
    12635, 13899, 15289, 16818, 18500, 20350, 22385, 24623, 27086, 29794, 32767,
};

static const int8_t index_changes[8] = {-1, -1, -1, -1, 2, 4, 6, 8};

static int clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* Moves the state on by one code, as encoder and decoder must do alike. */
static int advance(State *state, int code)
{
    int step = steps[state->index];
    int difference = step >> 3;

    if (code & 4)
        difference += step;
    if (code & 2)
        difference += step >> 1;
    if (code & 1)
        difference += step >> 2;
    if (code & 8)
        difference = -difference;
    state->predicted = clamp(state->predicted + difference, INT16_MIN, INT16_MAX);
    state->index = clamp(state->index + index_changes[code & 7], 0, STEPS - 1);
    return state->predicted;
}

static int encode_sample(State *state, int sample)
{
    int step = steps[state->index];
    int difference = sample - state->predicted;
    int code = 0;

    if (difference < 0) {
        code = 8;
        difference = -difference;
    }
    for (int bit = 4; bit != 0; bit >>= 1, step >>= 1)
        if (difference >= step) {
            code |= bit;
            difference -= step;
        }
    advance(state, code);
    return code;
}

static void encode_raw(State *state, const Sound *sound, uint8_t *codes)
{
    for (size_t i = 0; i < sound->frames; i++) {
        int code = encode_sample(state, sound->values[i]);
        if (i % 2 == 0)
            codes[i / 2] = (uint8_t)(code << 4);
        else
            codes[i / 2] |= (uint8_t)code;
    }
}

static void decode_raw(State *state, const uint8_t *codes, Sound *sound)
{
    for (size_t i = 0; i < sound->frames; i++) {
        int code = i % 2 == 0 ? codes[i / 2] >> 4 : codes[i / 2] & 15;
        sound->values[i] = (int16_t)advance(state, code);
    }
}

static unsigned frames_per_block(unsigned block_bytes, unsigned channels)
{
    return (block_bytes / channels - HEADER_BYTES) * 2 + 1;
}

static int sample_at(const Sound *sound, size_t frame, unsigned channel)
{
    size_t last = sound->frames - 1;
    return sound->values[(frame < last ? frame : last) * sound->channels + channel];
}

/* The first frame of a block stands in its header; the last frame fills up the last block. */
static void encode_block(State *states, const Sound *sound, size_t first, unsigned block_bytes, uint8_t *block)
{
    unsigned channels = sound->channels;
    unsigned frames = frames_per_block(block_bytes, channels);

    memset(block, 0, block_bytes);
    for (unsigned channel = 0; channel < channels; channel++) {
        State *state = &states[channel];
        uint8_t *header = block + HEADER_BYTES * channel;
        uint8_t *codes = block + HEADER_BYTES * channels + 4 * channel;
        state->predicted = sample_at(sound, first, channel);
        header[0] = (uint8_t)state->predicted;
        header[1] = (uint8_t)((unsigned)state->predicted >> 8);
        header[2] = (uint8_t)state->index;
        for (unsigned i = 0; i + 1 < frames; i++) {
            int code = encode_sample(state, sample_at(sound, first + 1 + i, channel));
            codes[i / GROUP_SAMPLES * 4 * channels + i % GROUP_SAMPLES / 2] |= (uint8_t)(code << i % 2 * 4);
        }
    }
}

static int decode_block(const uint8_t *block, const Wave *wave, size_t first, Sound *sound)
{
    unsigned channels = sound->channels;
    unsigned frames = frames_per_block(wave->block_bytes, channels);

    for (unsigned channel = 0; channel < channels; channel++) {
        const uint8_t *header = block + HEADER_BYTES * channel;
        const uint8_t *codes = block + HEADER_BYTES * channels + 4 * channel;
        State state = {(int16_t)(header[0] | header[1] << 8), header[2]};
        if (state.index >= STEPS)
            return -1;
        for (unsigned i = 0; i < frames && first + i < sound->frames; i++) {
            if (i > 0) {
                unsigned at = i - 1;
                int byte = codes[at / GROUP_SAMPLES * 4 * channels + at % GROUP_SAMPLES / 2];
                advance(&state, byte >> at % 2 * 4 & 15);
            }
            sound->values[(first + i) * channels + channel] = (int16_t)state.predicted;
        }
    }
    return 0;
}

static unsigned get16(const uint8_t *bytes)
{
    return bytes[0] | (unsigned)bytes[1] << 8;
}

static uint32_t get32(const uint8_t *bytes)
{
    return get16(bytes) | (uint32_t)get16(bytes + 2) << 16;
}

static void put(Buffer *out, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        out->bytes[out->count++] = (uint8_t)(value >> 8 * i);
}

static void put_tag(Buffer *out, const char *tag)
{
    memcpy(out->bytes + out->count, tag, 4);
    out->count += 4;
}

static int reserve(Buffer *buffer, size_t room)
{
    if (room <= buffer->room)
        return 0;
    uint8_t *moved = realloc(buffer->bytes, room);
    if (moved == NULL)
        return -1;
    buffer->bytes = moved;
    buffer->room = room;
    return 0;
}

static int allocate(Sound *sound)
{
    size_t values = sound->frames * sound->channels;
    sound->values = calloc(values == 0 ? 1 : values, sizeof *sound->values);
    return sound->values == NULL ? -1 : 0;
}

static void read_format(const uint8_t *chunk, Wave *wave)
{
    wave->format = get16(chunk);
    wave->channels = get16(chunk + 2);
    wave->rate = get32(chunk + 4);
    wave->block_bytes = get16(chunk + 12);
    wave->bits = get16(chunk + 14);
}

static int is_supported(const Wave *wave)
{
    if (wave->data == NULL || wave->channels < 1 || wave->channels > MOST_CHANNELS)
        return 0;
    if (wave->format == FORMAT_PCM)
        return wave->bits == 16;
    return wave->format == FORMAT_IMA && wave->bits == 4 && wave->block_bytes % (4 * wave->channels) == 0 &&
           wave->block_bytes >= 2 * HEADER_BYTES * wave->channels;
}

static int parse_wave(const Buffer *in, Wave *wave)
{
    size_t at = 12;

    memset(wave, 0, sizeof *wave);
    wave->frames = UINT32_MAX;
    if (in->count < at || memcmp(in->bytes, "RIFF", 4) != 0 || memcmp(in->bytes + 8, "WAVE", 4) != 0)
        return -1;
    while (wave->data == NULL && in->count - at >= 8) {
        const uint8_t *chunk = in->bytes + at;
        size_t length = get32(chunk + 4), left = in->count - at - 8;
        if (memcmp(chunk, "data", 4) == 0) {
            wave->data = chunk + 8;
            wave->data_bytes = length < left ? length : left;
        } else if (length > left) {
            return -1;
        } else if (memcmp(chunk, "fmt ", 4) == 0 && length >= 16) {
            read_format(chunk + 8, wave);
        } else if (memcmp(chunk, "fact", 4) == 0 && length >= 4) {
            wave->frames = get32(chunk + 8);
        }
        at += 8 + (length < left ? length : left);
        at += length % 2 != 0 && at < in->count;
    }
    return is_supported(wave) ? 0 : -1;
}

static void put_header(Buffer *out, const Sound *sound, unsigned format, unsigned block_bytes, size_t data_bytes)
{
    int ima = format == FORMAT_IMA;
    unsigned frames = ima ? frames_per_block(block_bytes, sound->channels) : 1;

    put_tag(out, "RIFF");
    put(out, (uint32_t)(data_bytes + (ima ? 52 : 36)), 4);
    put_tag(out, "WAVE");
    put_tag(out, "fmt ");
    put(out, ima ? 20 : 16, 4);
    put(out, format, 2);
    put(out, sound->channels, 2);
    put(out, sound->rate, 4);
    put(out, (uint32_t)((uint64_t)sound->rate * block_bytes / frames), 4);
    put(out, block_bytes, 2);
    put(out, ima ? 4 : 16, 2);
    if (ima) {
        put(out, 2, 2);
        put(out, frames, 2);
        put_tag(out, "fact");
        put(out, 4, 4);
        put(out, (uint32_t)sound->frames, 4);
    }
    put_tag(out, "data");
    put(out, (uint32_t)data_bytes, 4);
}

static int take_samples(Sound *sound, const uint8_t *bytes)
{
    if (allocate(sound) != 0)
        return -1;
    for (size_t i = 0; i < sound->frames * sound->channels; i++)
        sound->values[i] = (int16_t)get16(bytes + 2 * i);
    return 0;
}

static int put_samples(const Sound *sound, int wave, Buffer *out)
{
    size_t bytes = sound->frames * sound->channels * 2;
    if (reserve(out, bytes + 64) != 0)
        return -1;
    if (wave)
        put_header(out, sound, FORMAT_PCM, 2 * sound->channels, bytes);
    for (size_t i = 0; i < sound->frames * sound->channels; i++)
        put(out, (uint16_t)sound->values[i], 2);
    return 0;
}

/* Codes and decodes the sound again and again, with the state carried over, to show how much is
 * lost from one generation to the next. */
static void repeat_raw(const Options *options, Sound *sound, uint8_t *codes)
{
    State encoder = {0, 0}, decoder = {0, 0};
    for (int generation = 1; generation < options->generations; generation++) {
        encode_raw(&encoder, sound, codes);
        decode_raw(&decoder, codes, sound);
    }
}

static int convert_raw(const Options *options, const Buffer *in, Buffer *out)
{
    Sound sound = {NULL, options->decoding ? in->count * 2 : in->count / 2, 1, 0};
    State state = {0, 0};
    int failed;

    if (options->decoding) {
        failed = allocate(&sound) != 0 || reserve(out, in->count + 1) != 0;
        if (!failed) {
            decode_raw(&state, in->bytes, &sound);
            repeat_raw(options, &sound, out->bytes);
            failed = put_samples(&sound, 0, out) != 0;
        }
    } else {
        out->count = (sound.frames + 1) / 2;
        failed = take_samples(&sound, in->bytes) != 0 || reserve(out, out->count + 1) != 0;
        if (!failed) {
            repeat_raw(options, &sound, out->bytes);
            encode_raw(&state, &sound, out->bytes);
        }
    }
    free(sound.values);
    return failed ? 1 : 0;
}

static int encode_wave(const Options *options, const Wave *wave, Buffer *out)
{
    Sound sound = {NULL, wave->data_bytes / (2 * wave->channels), wave->channels, wave->rate};
    State states[MOST_CHANNELS] = {{0, 0}, {0, 0}};
    unsigned scale = wave->rate >= 44100 ? 4 : wave->rate >= 22050 ? 2 : 1;
    unsigned block_bytes = options->block_bytes != 0 ? options->block_bytes : 256 * scale * wave->channels;

    if (block_bytes % (4 * wave->channels) != 0 || block_bytes < 8 * wave->channels) {
        fprintf(stderr, "adpcm: blocks of %u bytes do not suit %u channels\n", block_bytes, wave->channels);
        return 2;
    }
    size_t frames = frames_per_block(block_bytes, wave->channels);
    size_t blocks = (sound.frames + frames - 1) / frames;
    int failed = take_samples(&sound, wave->data) != 0 || reserve(out, blocks * block_bytes + 64) != 0;
    if (!failed) {
        put_header(out, &sound, FORMAT_IMA, block_bytes, blocks * block_bytes);
        for (size_t block = 0; block < blocks; block++, out->count += block_bytes)
            encode_block(states, &sound, block * frames, block_bytes, out->bytes + out->count);
    }
    free(sound.values);
    return failed ? 1 : 0;
}

static int decode_wave(const Wave *wave, Buffer *out)
{
    size_t frames = frames_per_block(wave->block_bytes, wave->channels);
    size_t blocks = wave->data_bytes / wave->block_bytes;
    Sound sound = {NULL, blocks * frames, wave->channels, wave->rate};
    int status = 0;

    if (wave->frames < sound.frames)
        sound.frames = wave->frames;
    if (allocate(&sound) != 0)
        return 1;
    for (size_t block = 0; block < blocks && status == 0; block++)
        if (decode_block(wave->data + block * wave->block_bytes, wave, block * frames, &sound) != 0) {
            fprintf(stderr, "adpcm: block %zu is damaged\n", block);
            status = STATUS_BAD_DATA;
        }
    if (status == 0)
        status = put_samples(&sound, 1, out) != 0;
    free(sound.values);
    return status;
}

static int convert_wave(const Options *options, const Buffer *in, Buffer *out)
{
    Wave wave;
    if (parse_wave(in, &wave) != 0 || wave.format != (options->decoding ? FORMAT_IMA : FORMAT_PCM)) {
        fprintf(stderr, "adpcm: %s: not a WAVE file of the expected format\n", options->input);
        return STATUS_BAD_DATA;
    }
    return options->decoding ? decode_wave(&wave, out) : encode_wave(options, &wave, out);
}

static int read_file(const char *name, Buffer *data)
{
    FILE *file = fopen(name, "rb");
    int failed = file == NULL;

    while (!failed && !feof(file)) {
        if (data->count == data->room && reserve(data, data->room == 0 ? 1 << 14 : 2 * data->room) != 0) {
            failed = 1;
            break;
        }
        data->count += fread(data->bytes + data->count, 1, data->room - data->count, file);
        failed = ferror(file) != 0;
    }
    if (failed)
        fprintf(stderr, "adpcm: %s: %s\n", name, strerror(errno));
    if (file != NULL)
        fclose(file);
    return failed ? -1 : 0;
}

static int write_file(const char *name, const Buffer *data)
{
    FILE *file = fopen(name, "wb");
    int failed = file == NULL;

    if (!failed && data->count > 0)
        failed = fwrite(data->bytes, 1, data->count, file) != data->count;
    if (file != NULL && fclose(file) != 0)
        failed = 1;
    if (failed)
        fprintf(stderr, "adpcm: %s: %s\n", name, strerror(errno));
    return failed ? -1 : 0;
}

static int parse_number(const char *text, long low, long high)
{
    char *end;
    long number = strtol(text, &end, 10);
    return end == text || *end != '\0' || number < low || number > high ? -1 : (int)number;
}

static int parse_options(int argc, char **argv, Options *options)
{
    int at = 1, value;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "-d") == 0) {
            options->decoding = 1;
        } else if (strcmp(argv[at], "-w") == 0) {
            options->wave = 1;
        } else if (strcmp(argv[at], "-b") == 0 && at + 1 < argc) {
            if ((value = parse_number(argv[++at], 8, 32768)) < 0)
                return -1;
            options->block_bytes = (unsigned)value;
        } else if (strcmp(argv[at], "-n") == 0 && at + 1 < argc) {
            if ((options->generations = parse_number(argv[++at], 1, 1000000)) < 0)
                return -1;
        } else {
            return -1;
        }
    }
    if (at + 2 != argc || (options->wave && options->generations != 1))
        return -1;
    options->input = argv[at];
    options->output = argv[at + 1];
    return 0;
}

int main(int argc, char **argv)
{
    Options options = {.generations = 1};
    Buffer in = {NULL, 0, 0}, out = {NULL, 0, 0};

    if (parse_options(argc, argv, &options) != 0) {
        fputs("usage: adpcm [-d] [-n GENERATIONS] INPUT OUTPUT  plain samples and codes\n"
              "       adpcm [-d] -w [-b BLOCK] INPUT OUTPUT     WAVE files\n",
              stderr);
        return 2;
    }
    int status = read_file(options.input, &in) != 0;
    if (status == 0) {
        status = options.wave ? convert_wave(&options, &in, &out) : convert_raw(&options, &in, &out);
        if (status == 1)
            fputs("adpcm: out of memory\n", stderr);
    }
    if (status == 0)
        status = write_file(options.output, &out) != 0;
    free(in.bytes);
    free(out.bytes);
    return status;
}
