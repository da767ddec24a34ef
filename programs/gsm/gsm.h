/* SPDX-License-Identifier: MIT */
#ifndef GSM_H
#define GSM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    FRAME_SAMPLES = 160,
    SUBFRAMES = 4,
    SUBFRAME_SAMPLES = 40,
    ORDER = 8,
    PULSES = 13,
    MIN_LAG = 40,
    MAX_LAG = 120,
    PACKED_BYTES = 33,
    PAIR_BYTES = 65, /* two frames in the packing of WAV files */
    FRAME_MARK = 0xd
};

/* One frame of coded parameters, named as in table 1.1 of the specification. */
typedef struct {
    int16_t LARc[ORDER];
    int16_t Nc[SUBFRAMES];
    int16_t bc[SUBFRAMES];
    int16_t Mc[SUBFRAMES];
    int16_t xmaxc[SUBFRAMES];
    int16_t xMc[SUBFRAMES][PULSES];
} Frame;

typedef struct {
    int16_t z1;
    int32_t L_z2;
    int16_t mp;
    int16_t LARpp[ORDER];
    int16_t u[ORDER];
    int16_t dp[MAX_LAG + SUBFRAME_SAMPLES];
} Encoder;

typedef struct {
    int16_t LARpp[ORDER];
    int16_t v[ORDER + 1];
    int16_t drp[MAX_LAG + SUBFRAME_SAMPLES];
    int16_t nrp;
    int16_t msr;
} Decoder;

/* preprocess.c: clauses 5.2.1 to 5.2.3, and 5.3.5 to 5.3.7 */
void preprocess(Encoder *state, const int16_t *sop, int16_t *s);
void postprocess(Decoder *state, const int16_t *sr, int16_t *srop);

/* lpc.c: clauses 5.2.4 to 5.2.7 */
void lpc_analysis(int16_t *s, int16_t *LARc);

/* shortterm.c: clauses 5.2.8 to 5.2.10, and 5.3.4 */
void short_term_analysis(Encoder *state, const int16_t *LARc, int16_t *s);
void short_term_synthesis(Decoder *state, const int16_t *LARc, const int16_t *wt, int16_t *sr);

/* longterm.c: clauses 5.2.11, 5.2.12 and 5.3.2. dp points behind 120 samples of history. */
void long_term_predictor(const int16_t *d, const int16_t *dp, int16_t *Nc, int16_t *bc);
void long_term_residual(int16_t Nc, int16_t bc, const int16_t *d, const int16_t *dp, int16_t *dpp,
                        int16_t *e);
void long_term_synthesis(Decoder *state, int16_t Ncr, int16_t bcr, const int16_t *erp);

/* rpe.c: clauses 5.2.13 to 5.2.17 */
void rpe_encode(const int16_t *e, Frame *frame, int subframe, int16_t *ep);
void rpe_decode(const Frame *frame, int subframe, int16_t *erp);

/* codec.c */
void encoder_init(Encoder *state);
void encode_frame(Encoder *state, const int16_t *samples, Frame *frame);
void decoder_init(Decoder *state);
void decode_frame(Decoder *state, const Frame *frame, int16_t *samples);

/* frame.c */
void pack_frame(const Frame *frame, uint8_t *bytes);
int unpack_frame(const uint8_t *bytes, Frame *frame);
void pack_pair(const Frame *frames, uint8_t *bytes);
void unpack_pair(const uint8_t *bytes, Frame *frames);
void print_frame(FILE *out, unsigned long number, const Frame *frame);

/* g711.c */
int16_t ulaw_expand(uint8_t code);
uint8_t ulaw_compress(int16_t sample);
int16_t alaw_expand(uint8_t code);
uint8_t alaw_compress(int16_t sample);

/* audio.c */
typedef enum { CODE_LINEAR_LE, CODE_LINEAR_BE, CODE_UNSIGNED8, CODE_SIGNED8, CODE_ULAW, CODE_ALAW } SampleCode;
typedef enum { FORM_LINEAR, FORM_ULAW, FORM_ALAW, FORM_AU, FORM_WAV } AudioForm;

typedef struct {
    const uint8_t *data;
    size_t size;
    size_t at;
    SampleCode code;
} AudioSource;

typedef struct {
    FILE *file;
    AudioForm form;
    uint32_t samples;
} AudioSink;

/* Both return NULL, or what is wrong with the file. */
const char *audio_open(AudioSource *source, AudioForm form, const uint8_t *bytes, size_t size);
const char *wav_gsm_open(const uint8_t *bytes, size_t size, const uint8_t **data, size_t *length,
                         uint32_t *samples);
size_t audio_read(AudioSource *source, int16_t *samples, size_t count);
int audio_start(AudioSink *sink, FILE *file, AudioForm form);
int audio_write(AudioSink *sink, const int16_t *samples, size_t count);
int audio_finish(AudioSink *sink);
int wav_gsm_header(FILE *file, uint32_t samples, uint32_t data_bytes);

#endif
