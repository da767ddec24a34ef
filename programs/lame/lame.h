/* SPDX-License-Identifier: MIT */
/* What the parts of the encoder share. */
#ifndef LAME_H
#define LAME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { LINES = 576, BANDS = 32, SLOTS = 18, LONG_BANDS = 22, SHORT_BANDS = 13, MAX_QUANTISED = 8206 };
enum { BLOCK_LONG, BLOCK_START, BLOCK_SHORT, BLOCK_STOP };
enum { MODE_STEREO, MODE_JOINT, MODE_DUAL, MODE_MONO };

typedef struct {
    int rate, channels;
    size_t count;
    double *samples[2]; /* -1 to 1 */
} sound;

typedef struct {
    int bitrate; /* kbit/s */
    int mode, no_reservoir, no_short, protect, copyright, original, emphasis, lowpass, scale; /* scale in 1/1000 */
    int fast, vbr, quality, no_tag, resample;
    const char *title, *artist;
    const char *input, *output;
} settings;

/* Everything about one granule of one channel that goes into the stream. */
typedef struct {
    int block_type, part2_bits, part3_bits;
    int big_values, quads; /* pairs and fours of coded lines */
    int global_gain, scalefac_compress, preflag, scalefac_scale, quad_table;
    int tables[3], region0, region1;
    int scalefactors[39];
    int shared[4]; /* groups of scalefactors taken over from the first granule */
    int16_t quantised[LINES];
    uint8_t negative[LINES];
} granule;

/* What the psychoacoustic model says of it. */
typedef struct {
    double allowed[39]; /* noise energy in each scalefactor band */
    double entropy;     /* bits wanted, roughly */
} masking;

/* numeric.c */
double math_sine(double radians);
double math_arc_tangent(double x);
double math_log2(double x);
double math_power2(double x);

/* wave.c */
int read_wave(const char *name, sound *s);
void free_sound(sound *s);

/* resample.c */
int resample(sound *s, int rate);

/* analysis.c */
typedef struct {
    size_t granules;
    double *subbands[2]; /* granules of SLOTS times BANDS values */
    uint8_t *block_types;
} analysis;

void start_analysis(void);
int analyse(const sound *s, const settings *set, analysis *a);
void free_analysis(analysis *a);
void transform_granule(const analysis *a, int channel, size_t index, int rate_index, double *lines);

/* psycho.c */
void start_psycho(int rate_index, int rate);
void mask_granule(const sound *s, int channel, size_t index, int block_type, const double *lines, masking *m);
double masking_entropy(const double *lines, const masking *m, int block_type);
int band_count(int block_type);
int band_start(int rate_index, int block_type, int band);

/* huffman.c */
void start_huffman(void);
int count_bits(granule *g, int rate_index);
void divide_best(granule *g, int rate_index);

typedef struct {
    uint8_t *data;
    size_t size, room;
    uint32_t window;
    int count;
} bit_writer;

void put_bits(bit_writer *w, uint32_t value, int bits);
void align_bits(bit_writer *w);
void write_lines(bit_writer *w, const granule *g, int rate_index);

/* quantise.c */
void start_quantiser(void);
void quantise(granule *g, const double *lines, const masking *m, int rate_index, int target, int fast);
int quantise_quality(granule *g, const double *lines, const masking *m, int rate_index, int most);
int scalefactor_bits(const granule *g);
void share_scalefactors(const granule *first, granule *second);
void write_scalefactors(bit_writer *w, const granule *g);

/* stream.c */
typedef struct {
    FILE *file;
    uint8_t *pending; /* headers written, main data still to be filled in */
    size_t pending_size, pending_room;
    struct {
        size_t at, length; /* free places for main data in pending, in order */
    } holes[64];
    int hole_count, failed;
    unsigned long frames;
    size_t bytes, tag_bytes;
    uint32_t *starts; /* where each frame begins */
    size_t starts_room, written;
} stream;

int bitrate_index(int bitrate);
int bitrate_at(int index);
void start_stream(stream *out, const settings *set, int rate_index);
int side_info_size(const settings *set);
size_t free_bytes(const stream *out);
size_t reservoir_limit(const settings *set, size_t frame_bytes);
size_t frame_size(const settings *set, int rate_index, int padding);
void write_frame(stream *out, const settings *set, int rate_index, int padding, int mid_side, granule (*granules)[2]);
void finish_stream(stream *out, const settings *set, int rate_index);

#endif
