/* SPDX-License-Identifier: MIT */
/* Encodes WAVE sound as MPEG-1 audio layer III at a constant bit rate or a constant
 * quality (ISO/IEC 11172-3): polyphase
 * filterbank and MDCT with switched windows, a model of hearing, mid/side stereo, nested quantisation
 * loops, Huffman codes and a bit reservoir.  All tables come from sums, products and square roots, so
 * that the stream is the same on every machine. */
#include "lame.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    const settings *set;
    sound *sound;
    analysis analysis;
    stream out;
    int rate_index, channels;
    unsigned long mid_side_frames, short_granules;
} encoder;

static int usage(void)
{
    fputs("usage: lame [-b kbit/s] [-m s|j|d|m] [-a] [-f] [-p] [-c] [-o] [-e n|5|c] [-t] [-V 0-9] [--nores] [--noshort]\n"
          "            [--lowpass Hz] [--scale factor] [--resample Hz] [--tt title] [--ta artist] input.wav output.mp3\n",
          stderr);
    return 2;
}

/* --- the command line --- */

static int rate_index_of(int rate)
{
    return rate == 44100 ? 0 : rate == 48000 ? 1 : rate == 32000 ? 2 : -1;
}

static int parse_integer(const char *text, int low, int high, int *value)
{
    long number = 0;
    if (!*text)
        return 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || number > 1000000)
            return 0;
        number = number * 10 + (*text - '0');
    }
    *value = (int)number;
    return number >= low && number <= high;
}

/* A decimal number below 100 as thousandths. */
static int parse_factor(const char *text, int *value)
{
    int whole = 0, part = 0, unit = 100, digits = 0;
    for (; *text >= '0' && *text <= '9' && whole < 100; text++, digits++)
        whole = whole * 10 + (*text - '0');
    if (*text == '.')
        for (text++; *text >= '0' && *text <= '9'; text++, unit /= 10, digits++)
            part += (*text - '0') * unit;
    *value = whole * 1000 + part;
    return digits > 0 && !*text && whole < 100;
}

static int parse_letter(const char *text, const char *letters, int *value)
{
    const char *found = *text ? strchr(letters, *text) : NULL;
    if (!found || text[1])
        return 0;
    *value = (int)(found - letters);
    return 1;
}

/* Options that stand alone.  Returns 1 when it was one. */
static int parse_flag(settings *set, int *downmix, const char *option)
{
    if (!strcmp(option, "-a"))
        *downmix = 1;
    else if (!strcmp(option, "-f"))
        set->fast = 1;
    else if (!strcmp(option, "-p"))
        set->protect = 1;
    else if (!strcmp(option, "-c"))
        set->copyright = 1;
    else if (!strcmp(option, "-o"))
        set->original = 0;
    else if (!strcmp(option, "-t"))
        set->no_tag = 1;
    else if (!strcmp(option, "--nores"))
        set->no_reservoir = 1;
    else if (!strcmp(option, "--noshort"))
        set->no_short = 1;
    else
        return 0;
    return 1;
}

static int parse_valued(settings *set, const char *option, const char *value)
{
    if (!strcmp(option, "-b"))
        return parse_integer(value, 32, 320, &set->bitrate) && bitrate_index(set->bitrate);
    if (!strcmp(option, "-m"))
        return parse_letter(value, "sjdm", &set->mode);
    if (!strcmp(option, "-e")) {
        int good = parse_letter(value, "n5xc", &set->emphasis);
        return good && set->emphasis != 2;
    }
    if (!strcmp(option, "--lowpass"))
        return parse_integer(value, 1000, 24000, &set->lowpass);
    if (!strcmp(option, "-V")) {
        set->vbr = 1;
        return parse_integer(value, 0, 9, &set->quality);
    }
    if (!strcmp(option, "--resample"))
        return parse_integer(value, 32000, 48000, &set->resample) && rate_index_of(set->resample) >= 0;
    if (!strcmp(option, "--scale"))
        return parse_factor(value, &set->scale);
    if (!strcmp(option, "--tt"))
        set->title = value;
    else if (!strcmp(option, "--ta"))
        set->artist = value;
    else
        return 0;
    return 1;
}

static int parse(settings *set, int *downmix, int argc, char **argv)
{
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        if (parse_flag(set, downmix, argv[at]))
            continue;
        if (at + 1 >= argc || !parse_valued(set, argv[at], argv[at + 1]))
            return 0;
        at++;
    }
    if (argc - at != 2)
        return 0;
    set->input = argv[at];
    set->output = argv[at + 1];
    return 1;
}

/* --- preparation --- */

static void mix_down(sound *s)
{
    if (s->channels != 2)
        return;
    for (size_t i = 0; i < s->count; i++)
        s->samples[0][i] = (s->samples[0][i] + s->samples[1][i]) / 2;
    free(s->samples[1]);
    s->samples[1] = NULL;
    s->channels = 1;
}

/* What leaves the range of sound is cut off, as any converter would do. */
static void scale_sound(sound *s, int thousandths)
{
    for (int c = 0; c < s->channels; c++) {
        for (size_t i = 0; i < s->count; i++) {
            double value = s->samples[c][i] * thousandths / 1000.0;
            s->samples[c][i] = value < -1 ? -1 : value > 1 ? 1 : value;
        }
    }
}

/* The standard knows three rates; others go to the next of them that loses nothing. */
static int choose_rate(const settings *set, sound *s)
{
    int rate = set->resample;
    if (!rate && rate_index_of(s->rate) < 0)
        rate = s->rate < 32000 ? 32000 : s->rate < 44100 ? 44100 : 48000;
    if (rate && (s->rate < 1000 || !resample(s, rate))) {
        fprintf(stderr, "lame: %s: %d Hz cannot be converted\n", set->input, s->rate);
        free_sound(s);
        return 0;
    }
    return 1;
}

/* High lines would be starved at low rates; they are better left out. */
static int default_lowpass(int bitrate, int channels)
{
    static const int limits[][2] = {{24, 5500}, {32, 8000}, {40, 10000}, {48, 12000}, {64, 15000}, {80, 17000}, {96, 18500}};
    int each = bitrate / channels;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (each <= limits[i][0])
            return limits[i][1];
    return 20000;
}

/* --- frames --- */

static void cut_lines(const encoder *e, double *lines, int block_type)
{
    int last = (int)((long)e->set->lowpass * 2 * LINES / e->sound->rate);
    if (block_type != BLOCK_SHORT) {
        for (int i = last; i < LINES; i++)
            lines[i] = 0;
        return;
    }
    for (int b = 0; b < band_count(block_type); b++) {
        int from = band_start(e->rate_index, block_type, b), to = band_start(e->rate_index, block_type, b + 1);
        int window_start = (from - b % 3 * (to - from)) / 3; /* the line of the window that the band begins with */
        for (int i = from; i < to; i++)
            if ((window_start + i - from) * 3 >= last)
                lines[i] = 0;
    }
}

typedef struct {
    double lines[2][2][LINES]; /* granule, channel */
    masking masks[2][2];
    int types[2];
} spectra;

static void analyse_frame(encoder *e, size_t frame, spectra *f)
{
    for (int g = 0; g < 2; g++) {
        size_t index = frame * 2 + (size_t)g;
        f->types[g] = e->analysis.block_types[index];
        e->short_granules += f->types[g] == BLOCK_SHORT;
        for (int c = 0; c < e->channels; c++) {
            transform_granule(&e->analysis, c, index, e->rate_index, f->lines[g][c]);
            cut_lines(e, f->lines[g][c], f->types[g]);
            mask_granule(e->sound, c, index, f->types[g], f->lines[g][c], &f->masks[g][c]);
        }
    }
}

/* Turns left and right into middle and side where these want fewer bits under the stricter mask. */
static int choose_mid_side(const encoder *e, spectra *f)
{
    static const double HALF_ROOT = 0.7071067811865476;
    static double turned[2][2][LINES];
    masking strict[2];
    double apart = 0, together = 0, wants[2][2];
    if (e->set->mode != MODE_JOINT)
        return 0;
    for (int g = 0; g < 2; g++) {
        for (int i = 0; i < LINES; i++) {
            turned[g][0][i] = (f->lines[g][0][i] + f->lines[g][1][i]) * HALF_ROOT;
            turned[g][1][i] = (f->lines[g][0][i] - f->lines[g][1][i]) * HALF_ROOT;
        }
        for (int b = 0; b < band_count(f->types[g]); b++) {
            double left = f->masks[g][0].allowed[b], right = f->masks[g][1].allowed[b];
            strict[g].allowed[b] = left < right ? left : right;
        }
        for (int c = 0; c < 2; c++) {
            wants[g][c] = masking_entropy(turned[g][c], &strict[g], f->types[g]);
            together += wants[g][c];
            apart += f->masks[g][c].entropy;
        }
    }
    if (together >= apart)
        return 0;
    for (int g = 0; g < 2; g++) {
        for (int c = 0; c < 2; c++) {
            memcpy(f->lines[g][c], turned[g][c], sizeof turned[g][c]);
            f->masks[g][c] = strict[g];
            f->masks[g][c].entropy = wants[g][c];
        }
    }
    return 1;
}

/* Shares the frame's bits, and some of the reservoir's, among what is left to code by what each part
 * wants. */
static int share_of(const spectra *f, int channels, int at, int bits_left, int bits_saved)
{
    double wanted = 0, own = f->masks[at / channels][at % channels].entropy + 60;
    int base = bits_left / (2 * channels - at), target;
    for (int i = at; i < 2 * channels; i++)
        wanted += f->masks[i / channels][i % channels].entropy + 60;
    target = (int)(bits_left * (own / wanted));
    if (target > 2 * base)
        target = 2 * base;
    if (target < base / 2)
        target = base / 2;
    if (own > base)
        target += bits_saved * 6 / 10 / channels;
    return target;
}

static void code_frame(encoder *e, const settings *set, const spectra *f, int padding, granule (*granules)[2])
{
    size_t size = frame_size(set, e->rate_index, padding);
    int saved = (int)free_bytes(&e->out) * 8, own = ((int)size - side_info_size(set)) * 8;
    memset(granules, 0, 4 * sizeof granules[0][0]);
    for (int at = 0; at < 2 * e->channels; at++) {
        int g = at / e->channels, c = at % e->channels, target = share_of(f, e->channels, at, own, saved);
        granule *coded = &granules[g][c];
        if (target > own + saved)
            target = own + saved;
        coded->block_type = f->types[g];
        quantise(coded, f->lines[g][c], &f->masks[g][c], e->rate_index, target, e->set->fast);
        own -= coded->part2_bits + coded->part3_bits;
        if (own < 0) {
            saved += own;
            own = 0;
        }
    }
    for (int c = 0; c < e->channels; c++)
        share_scalefactors(&granules[0][c], &granules[1][c]);
}

/* Codes a frame to the quality asked for and gives it the smallest rate that holds it; what does not
 * fit into the largest one is coded like any frame of that rate. */
static int code_quality(encoder *e, spectra *f, granule (*granules)[2])
{
    settings most = *e->set;
    double factor = math_power2((e->set->quality - 4) * 0.6);
    int bits = 0, good = 1, saved = (int)free_bytes(&e->out) * 8, lowest = e->channels == 1 ? 1 : 2;
    most.bitrate = bitrate_at(14);
    memset(granules, 0, 4 * sizeof granules[0][0]);
    for (int at = 0; at < 2 * e->channels && good; at++) {
        int g = at / e->channels, c = at % e->channels;
        granule *coded = &granules[g][c];
        masking mask = f->masks[g][c];
        for (int b = 0; b < band_count(f->types[g]); b++)
            mask.allowed[b] *= factor;
        coded->block_type = f->types[g];
        good = quantise_quality(coded, f->lines[g][c], &mask, e->rate_index, 1 << 20);
        bits += coded->part2_bits + coded->part3_bits;
    }
    for (int index = lowest; good && index < 15; index++) {
        most.bitrate = bitrate_at(index);
        if (bits <= saved + ((int)frame_size(&most, e->rate_index, 0) - side_info_size(&most)) * 8) {
            for (int c = 0; c < e->channels; c++)
                share_scalefactors(&granules[0][c], &granules[1][c]);
            return most.bitrate;
        }
    }
    return 0;
}

static void encode_frame(encoder *e, size_t frame, settings *set, long *rest)
{
    static spectra f;
    static granule granules[2][2];
    int mid_side, padding = 0, rate = 0;
    analyse_frame(e, frame, &f);
    mid_side = choose_mid_side(e, &f);
    e->mid_side_frames += (unsigned long)mid_side;
    if (set->vbr) {
        rate = code_quality(e, &f, granules);
        set->bitrate = rate ? rate : bitrate_at(14);
    } else {
        /* Frames are a byte longer now and then, so that the rate is met in the mean. */
        *rest += 144000L * set->bitrate % e->sound->rate;
        if (*rest >= e->sound->rate) {
            *rest -= e->sound->rate;
            padding = 1;
        }
    }
    if (!rate)
        code_frame(e, set, &f, padding, granules);
    write_frame(&e->out, set, e->rate_index, padding, mid_side, granules);
}

static void encode(encoder *e)
{
    settings set = *e->set;
    long rest = 0;
    start_stream(&e->out, e->set, e->rate_index);
    for (size_t frame = 0; frame * 2 < e->analysis.granules; frame++)
        encode_frame(e, frame, &set, &rest);
    finish_stream(&e->out, e->set, e->rate_index);
}

static int run(const settings *set, sound *s)
{
    encoder e;
    int good;
    memset(&e, 0, sizeof e);
    e.set = set;
    e.sound = s;
    e.channels = s->channels;
    e.rate_index = rate_index_of(s->rate);
    start_analysis();
    start_psycho(e.rate_index, s->rate);
    start_huffman();
    start_quantiser();
    if (!analyse(s, set, &e.analysis))
        return 3;
    e.out.file = fopen(set->output, "wb");
    if (!e.out.file) {
        fprintf(stderr, "lame: %s: cannot write the file\n", set->output);
        free_analysis(&e.analysis);
        return 1;
    }
    encode(&e);
    good = !fclose(e.out.file) && !e.out.failed;
    printf("%lu frames, %lu bytes, %lu with middle and side, %lu short granules\n", e.out.frames,
           (unsigned long)e.out.bytes, e.mid_side_frames, e.short_granules);
    free_analysis(&e.analysis);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    settings set = {.bitrate = 128, .mode = MODE_JOINT, .original = 1, .scale = 1000};
    sound s;
    int downmix = 0, status;
    if (!parse(&set, &downmix, argc, argv))
        return usage();
    if (!read_wave(set.input, &s))
        return 1;
    if (downmix || set.mode == MODE_MONO)
        mix_down(&s);
    if (s.channels == 1)
        set.mode = MODE_MONO;
    scale_sound(&s, set.scale);
    if (!choose_rate(&set, &s))
        return 3;
    if (!set.lowpass)
        set.lowpass = set.vbr ? 20000 - 800 * set.quality : default_lowpass(set.bitrate, s.channels);
    status = run(&set, &s);
    free_sound(&s);
    return status;
}
