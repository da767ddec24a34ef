/* SPDX-License-Identifier: MIT */
/* Codes speech by GSM 06.10 (ETSI EN 300 961), the full-rate RPE-LTP coder of 13 kbit/s, and decodes
   it, with the fixed-point arithmetic that the specification prescribes bit by bit. Coded files
   are a sequence of 33-byte frames, as most tools exchange them, or WAVE files with format tag 0x31.
   Speech is read and written as headerless 16-bit, mu-law or A-law samples, .au or WAVE. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gsm.h"

typedef enum { JOB_ENCODE, JOB_DECODE, JOB_LIST } Job;

typedef struct {
    Job job;
    AudioForm form;
    int wav_frames;
    const char *input;
    const char *output;
} Options;

static int fail(const char *name, const char *problem)
{
    fprintf(stderr, "gsm: %s: %s\n", name, problem);
    return 1;
}

/* ---- coding ---- */

static int encode(const Options *options, const uint8_t *bytes, size_t size, FILE *out)
{
    AudioSource source;
    Encoder encoder;
    Frame frames[2];
    uint8_t packed[PAIR_BYTES];
    uint32_t samples = 0;
    uint32_t written = 0;
    int half = 0;
    const char *problem = audio_open(&source, options->form, bytes, size);

    if (problem != NULL)
        return fail(options->input, problem);
    if (options->wav_frames && wav_gsm_header(out, 0, 0) != 0)
        return fail(options->output, "cannot write");
    encoder_init(&encoder);
    for (;;) {
        int16_t pcm[FRAME_SAMPLES] = {0};
        size_t got = audio_read(&source, pcm, FRAME_SAMPLES);
        if (got == 0 && half == 0)
            break;
        samples += (uint32_t)got;
        encode_frame(&encoder, pcm, &frames[half]);
        size_t length = PACKED_BYTES;
        if (!options->wav_frames) {
            pack_frame(&frames[0], packed);
        } else if (half == 0) {
            half = 1;
            continue;
        } else {
            pack_pair(frames, packed);
            length = PAIR_BYTES;
            half = 0;
        }
        if (fwrite(packed, 1, length, out) != length)
            return fail(options->output, "cannot write");
        written += (uint32_t)length;
    }
    if (!options->wav_frames)
        return 0;
    if ((written % 2 == 1 && putc(0, out) == EOF) || fseek(out, 0, SEEK_SET) != 0 ||
        wav_gsm_header(out, samples, written) != 0)
        return fail(options->output, "cannot write");
    return 0;
}

/* ---- decoding and listing: both walk over the frames of either packing ---- */

typedef struct {
    const uint8_t *data;
    size_t size;
    size_t at;
    int paired;
    int held;        /* the second frame of a pair waits in `pair` */
    uint32_t samples; /* how many the file announces */
    Frame pair[2];
} FrameSource;

static const char *frames_open(FrameSource *source, const uint8_t *bytes, size_t size)
{
    memset(source, 0, sizeof *source);
    source->samples = UINT32_MAX;
    source->data = bytes;
    source->size = size;
    if (size >= 4 && memcmp(bytes, "RIFF", 4) == 0) {
        source->paired = 1;
        return wav_gsm_open(bytes, size, &source->data, &source->size, &source->samples);
    }
    return NULL;
}

/* Returns 1 with a frame, 0 at the end, -1 with a problem. */
static int frames_next(FrameSource *source, Frame *frame, const char **problem)
{
    size_t unit = source->paired ? PAIR_BYTES : PACKED_BYTES;

    if (source->held) {
        *frame = source->pair[1];
        source->held = 0;
        return 1;
    }
    if (source->at == source->size)
        return 0;
    if (source->size - source->at < unit) {
        *problem = "the last frame is incomplete";
        return -1;
    }
    const uint8_t *at = source->data + source->at;
    source->at += unit;
    if (source->paired) {
        unpack_pair(at, source->pair);
        *frame = source->pair[0];
        source->held = 1;
        return 1;
    }
    if (unpack_frame(at, frame) != 0) {
        *problem = "a frame does not start with its mark";
        return -1;
    }
    return 1;
}

static int decode(const Options *options, const uint8_t *bytes, size_t size, FILE *out)
{
    FrameSource source;
    AudioSink sink;
    Decoder decoder;
    Frame frame;
    int state;
    const char *problem = frames_open(&source, bytes, size);

    if (problem != NULL)
        return fail(options->input, problem);
    if (audio_start(&sink, out, options->form) != 0)
        return fail(options->output, "cannot write");
    decoder_init(&decoder);
    while ((state = frames_next(&source, &frame, &problem)) > 0) {
        int16_t pcm[FRAME_SAMPLES];
        size_t count = FRAME_SAMPLES;
        decode_frame(&decoder, &frame, pcm);
        if (source.samples - sink.samples < count)
            count = source.samples - sink.samples;
        if (audio_write(&sink, pcm, count) != 0)
            return fail(options->output, "cannot write");
    }
    if (audio_finish(&sink) != 0)
        return fail(options->output, "cannot write");
    return state < 0 ? fail(options->input, problem) : 0;
}

static int list(const Options *options, const uint8_t *bytes, size_t size)
{
    FrameSource source;
    Frame frame;
    unsigned long number = 0;
    int state;
    const char *problem = frames_open(&source, bytes, size);

    if (problem != NULL)
        return fail(options->input, problem);
    while ((state = frames_next(&source, &frame, &problem)) > 0)
        print_frame(stdout, number++, &frame);
    return state < 0 ? fail(options->input, problem) : 0;
}

/* ---- command line ---- */

static int parse_form(const char *name, AudioForm *form)
{
    static const char *const names[] = {"linear", "ulaw", "alaw", "au", "wav"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            *form = (AudioForm)i;
            return 0;
        }
    }
    return -1;
}

static int parse_options(int argc, char **argv, Options *options)
{
    memset(options, 0, sizeof *options);
    options->form = FORM_LINEAR;
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        if (strcmp(text, "-e") == 0)
            options->job = JOB_ENCODE;
        else if (strcmp(text, "-d") == 0)
            options->job = JOB_DECODE;
        else if (strcmp(text, "-l") == 0)
            options->job = JOB_LIST;
        else if (strcmp(text, "-w") == 0)
            options->wav_frames = 1;
        else if (strcmp(text, "-f") == 0 && i + 1 < argc) {
            if (parse_form(argv[++i], &options->form) != 0)
                return -1;
        } else if (text[0] == '-' && text[1] != '\0')
            return -1;
        else if (options->input == NULL)
            options->input = text;
        else if (options->output == NULL)
            options->output = text;
        else
            return -1;
    }
    if (options->input == NULL)
        return -1;
    return options->job == JOB_LIST || options->output != NULL ? 0 : -1;
}

static uint8_t *read_all(FILE *file, size_t *size)
{
    size_t capacity = 1 << 16;
    uint8_t *bytes = malloc(capacity);

    *size = 0;
    while (bytes != NULL) {
        size_t got = fread(bytes + *size, 1, capacity - *size, file);
        *size += got;
        if (*size < capacity)
            break;
        uint8_t *grown = realloc(bytes, 2 * capacity);
        if (grown == NULL) {
            free(bytes);
            return NULL;
        }
        bytes = grown;
        capacity *= 2;
    }
    return bytes;
}

static int run_with_output(const Options *options, const uint8_t *bytes, size_t size)
{
    FILE *out = fopen(options->output, "wb");
    int status;

    if (out == NULL)
        return fail(options->output, strerror(errno));
    if (options->job == JOB_ENCODE)
        status = encode(options, bytes, size, out);
    else
        status = decode(options, bytes, size, out);
    if (fclose(out) != 0 && status == 0)
        status = fail(options->output, "cannot write");
    return status;
}

int main(int argc, char **argv)
{
    Options options;
    size_t size;
    int status;

    if (parse_options(argc, argv, &options) != 0) {
        fputs("usage: gsm [-e|-d|-l] [-w] [-f linear|ulaw|alaw|au|wav] INPUT [OUTPUT]\n"
              "  -e encode (default)  -d decode  -l list the parameters of each frame\n"
              "  -w write frames as a WAVE file  -f form of the speech\n",
              stderr);
        return 2;
    }
    FILE *in = fopen(options.input, "rb");
    if (in == NULL)
        return fail(options.input, strerror(errno));
    uint8_t *bytes = read_all(in, &size);
    fclose(in);
    if (bytes == NULL)
        return fail(options.input, "out of memory");
    status = options.job == JOB_LIST ? list(&options, bytes, size)
                                     : run_with_output(&options, bytes, size);
    free(bytes);
    return status;
}
