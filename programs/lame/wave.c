/* SPDX-License-Identifier: MIT */
/* RIFF WAVE files: PCM of 8, 16, 24 and 32 bits and 32-bit floats, mono or stereo. */
#include "lame.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int format, channels, rate, bits;
} wave_format;

static int fail(const char *name, const char *why)
{
    fprintf(stderr, "lame: %s: %s\n", name, why);
    return 0;
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint8_t *read_file(const char *name, size_t *size)
{
    FILE *in = fopen(name, "rb");
    uint8_t *data = NULL;
    size_t room = 0, got = 1;
    *size = 0;
    while (in && got > 0) {
        if (*size == room) {
            uint8_t *more = realloc(data, room = room ? room * 2 : 65536);
            if (!more)
                break;
            data = more;
        }
        got = fread(data + *size, 1, room - *size, in);
        *size += got;
    }
    if (in)
        fclose(in);
    return data;
}

static double float_value(const uint8_t *p)
{
    uint32_t bits = get32(p);
    int exponent = (int)(bits >> 23 & 0xff);
    double value = (double)(bits & 0x7fffff) / 8388608.0;
    if (exponent == 0xff || exponent > 127 + 20)
        return 0; /* neither infinities nor absurd levels are sound */
    if (exponent)
        value += 1;
    else
        exponent = 1;
    for (; exponent > 127; exponent--)
        value *= 2;
    for (; exponent < 127; exponent++)
        value *= 0.5;
    return bits >> 31 ? -value : value;
}

static double sample_value(const wave_format *f, const uint8_t *p)
{
    if (f->format == 3)
        return float_value(p);
    switch (f->bits) {
    case 8:
        return (p[0] - 128) / 128.0;
    case 16:
        return (int16_t)(p[0] | p[1] << 8) / 32768.0;
    case 24:
        return (int32_t)((uint32_t)p[0] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 24) / 2147483648.0;
    default:
        return (int32_t)get32(p) / 2147483648.0;
    }
}

static int read_format(const char *name, const uint8_t *chunk, uint32_t length, wave_format *f)
{
    if (length < 16)
        return fail(name, "the format chunk is cut short");
    f->format = chunk[0] | chunk[1] << 8;
    f->channels = chunk[2] | chunk[3] << 8;
    f->rate = (int)(get32(chunk + 4) & 0xffffff);
    f->bits = chunk[14] | chunk[15] << 8;
    if (f->format == 0xfffe && length >= 26)
        f->format = chunk[24] | chunk[25] << 8; /* extensible: the real format leads the GUID */
    if (f->format != 1 && f->format != 3)
        return fail(name, "only PCM and floating-point samples are read");
    if (f->channels != 1 && f->channels != 2)
        return fail(name, "only one or two channels are read");
    if (f->format == 3 ? f->bits != 32 : f->bits != 8 && f->bits != 16 && f->bits != 24 && f->bits != 32)
        return fail(name, "this sample size is not read");
    return 1;
}

static int take_samples(const wave_format *f, const uint8_t *data, size_t length, sound *s)
{
    size_t step = (size_t)f->bits / 8, frame = step * (size_t)f->channels;
    s->rate = f->rate;
    s->channels = f->channels;
    s->count = length / frame;
    for (int c = 0; c < f->channels; c++) {
        s->samples[c] = malloc((s->count + 1) * sizeof(double));
        if (!s->samples[c])
            return fail("input", "out of memory");
        for (size_t i = 0; i < s->count; i++)
            s->samples[c][i] = sample_value(f, data + i * frame + (size_t)c * step);
    }
    return 1;
}

static int parse_wave(const char *name, const uint8_t *data, size_t size, sound *s)
{
    wave_format f = {0, 0, 0, 0};
    size_t at = 12;
    if (size < 12 || memcmp(data, "RIFF", 4) || memcmp(data + 8, "WAVE", 4))
        return fail(name, "not a WAVE file");
    while (at + 8 <= size) {
        uint32_t length = get32(data + at + 4);
        const uint8_t *chunk = data + at + 8;
        if (length > size - at - 8)
            length = (uint32_t)(size - at - 8); /* a file cut off is read as far as it goes */
        if (!memcmp(data + at, "fmt ", 4) && !read_format(name, chunk, length, &f))
            return 0;
        if (!memcmp(data + at, "data", 4))
            return f.channels ? take_samples(&f, chunk, length, s) : fail(name, "samples come before their format");
        at += 8 + (size_t)length + (length & 1);
    }
    return fail(name, "no samples");
}

int read_wave(const char *name, sound *s)
{
    size_t size;
    uint8_t *data = read_file(name, &size);
    int good;
    memset(s, 0, sizeof *s);
    if (!data)
        return fail(name, "cannot read the file");
    good = parse_wave(name, data, size, s);
    free(data);
    if (!good)
        free_sound(s);
    return good;
}

void free_sound(sound *s)
{
    free(s->samples[0]);
    free(s->samples[1]);
    memset(s, 0, sizeof *s);
}
