/* SPDX-License-Identifier: MIT */
/* A model of hearing: how much noise each scalefactor band can hide.  Energies of a 1024-point
 * spectrum are spread over the bands by their distance in Bark; tones hide less than noise does, and
 * nothing need be below the threshold in quiet. */
#include "lame.h"

#include <math.h>
#include <string.h>

#include "tables.h"

enum { POINTS = 1024, HALF = POINTS / 2, DELAY = 240, WIDE = 24 };

static const double PI = 3.141592653589793;

static double hann[POINTS], twiddle_re[HALF], twiddle_im[HALF];
static uint16_t reversed[POINTS];
static int long_band_of_bin[HALF];
static double long_spread[LONG_BANDS][LONG_BANDS], short_spread[SHORT_BANDS][SHORT_BANDS];
static double long_quiet[LONG_BANDS], short_quiet[SHORT_BANDS], long_bark[LONG_BANDS];
static int edges_index;

int band_count(int block_type)
{
    return block_type == BLOCK_SHORT ? 39 : LONG_BANDS;
}

/* Where a scalefactor band begins among the lines; band_count gives the end of the last. */
int band_start(int rate_index, int block_type, int band)
{
    const uint16_t *edges = short_edges[rate_index];
    if (block_type != BLOCK_SHORT)
        return long_edges[rate_index][band];
    return 3 * edges[band / 3] + band % 3 * (edges[band / 3 + (band < 39)] - edges[band / 3]);
}

static double decibels(double power)
{
    return 10 * math_log2(power) / 3.321928094887362;
}

static double from_decibels(double level)
{
    return math_power2(level / 10 * 3.321928094887362);
}

static double bark(double hertz)
{
    double low = hertz / 7500;
    return 13 * math_arc_tangent(0.00076 * hertz) + 3.5 * math_arc_tangent(low * low);
}

/* Terhardt's approximation of the threshold in quiet, in dB above 20 micropascal. */
static double quiet_level(double hertz)
{
    double khz = hertz < 20 ? 0.02 : hertz / 1000, peak = khz - 3.3;
    return 3.64 * math_power2(-0.8 * math_log2(khz)) - 6.5 * math_power2(-0.6 * peak * peak * 1.4426950408889634) +
           0.001 * khz * khz * khz * khz;
}

/* Noise that nobody hears in a band; a line of amplitude 1 is taken to be 96 dB loud. */
static double quiet_energy(double low, double high, double lines)
{
    double least = 1000;
    for (int i = 0; i <= 4; i++) {
        double level = quiet_level(low + (high - low) * i / 4);
        if (level < least)
            least = level;
    }
    if (least > 96)
        least = 96;
    return lines * from_decibels(least - 96 - 6);
}

static void make_spread(double *matrix, int bands, const double *centres)
{
    for (int to = 0; to < bands; to++) {
        for (int from = 0; from < bands; from++) {
            double distance = centres[to] - centres[from];
            double slope = distance > 0 ? -10 * distance : 25 * distance;
            matrix[to * bands + from] = slope < -90 ? 0 : from_decibels(slope);
        }
    }
}

void start_psycho(int rate_index, int rate)
{
    double centres[SHORT_BANDS], line = rate / 2.0 / LINES, short_line = rate / 2.0 / 192;
    edges_index = rate_index;
    for (int i = 0; i < POINTS; i++) {
        int turned = 0;
        hann[i] = 0.5 - 0.5 * math_sine(2 * PI * (i + 0.5) / POINTS + PI / 2);
        for (int bit = 0; bit < 10; bit++)
            turned |= (i >> bit & 1) << (9 - bit);
        reversed[i] = (uint16_t)turned;
    }
    for (int i = 0; i < HALF; i++) {
        int band = 0;
        twiddle_re[i] = math_sine(2 * PI * i / POINTS + PI / 2);
        twiddle_im[i] = -math_sine(2 * PI * i / POINTS);
        while (band + 1 < LONG_BANDS && long_edges[rate_index][band + 1] * HALF <= i * LINES)
            band++;
        long_band_of_bin[i] = band;
    }
    for (int b = 0; b < LONG_BANDS; b++) {
        const uint16_t *e = &long_edges[rate_index][b];
        long_bark[b] = bark(line * (e[0] + e[1]) / 2);
        long_quiet[b] = quiet_energy(line * e[0], line * e[1], e[1] - e[0]);
    }
    for (int b = 0; b < SHORT_BANDS; b++) {
        const uint16_t *e = &short_edges[rate_index][b];
        centres[b] = bark(short_line * (e[0] + e[1]) / 2);
        short_quiet[b] = quiet_energy(short_line * e[0], short_line * e[1], e[1] - e[0]);
    }
    make_spread(&long_spread[0][0], LONG_BANDS, long_bark);
    make_spread(&short_spread[0][0], SHORT_BANDS, centres);
}

/* A Fourier transform of real samples, plainly as a complex one. */
static void spectrum(const sound *s, int channel, long start, double *power)
{
    static double re[POINTS], im[POINTS];
    for (int i = 0; i < POINTS; i++) {
        long at = start + i;
        re[reversed[i]] = at >= 0 && (size_t)at < s->count ? s->samples[channel][at] * hann[i] : 0;
        im[i] = 0;
    }
    for (int span = 1; span < POINTS; span *= 2) {
        int stride = HALF / span;
        for (int base = 0; base < POINTS; base += 2 * span) {
            for (int k = 0; k < span; k++) {
                double wr = twiddle_re[k * stride], wi = twiddle_im[k * stride];
                double *ar = &re[base + k], *ai = &im[base + k], *br = &re[base + k + span], *bi = &im[base + k + span];
                double tr = *br * wr - *bi * wi, ti = *br * wi + *bi * wr;
                *br = *ar - tr;
                *bi = *ai - ti;
                *ar += tr;
                *ai += ti;
            }
        }
    }
    for (int i = 0; i < HALF; i++)
        power[i] = re[i] * re[i] + im[i] * im[i] + 1e-12;
}

/* How much a band is one tone: the geometric mean of its lines against the arithmetic one, as a number
 * from 0 for noise to 1. */
static double tonality(double log_sum, double sum, int count)
{
    double flatness = decibels(sum / count) - log_sum / count / 3.321928094887362 * 10, share = flatness / 18;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* A tone fills all of a narrow band, so that its surroundings are looked at too. */
static double band_tonality(const double *power, const double *logs, int band)
{
    int first = 0, last = HALF - 1, middle;
    double sum = 0, log_sum = 0;
    while (long_band_of_bin[first] < band)
        first++;
    while (long_band_of_bin[last] > band)
        last--;
    if (last - first < WIDE) {
        middle = (first + last) / 2;
        first = middle < WIDE / 2 ? 0 : middle - WIDE / 2;
        last = first + WIDE < HALF ? first + WIDE : HALF - 1;
    }
    for (int i = first; i <= last; i++) {
        sum += power[i];
        log_sum += logs[i];
    }
    return tonality(log_sum, sum, last - first + 1);
}

static void long_thresholds(const double *power, double *ratios)
{
    double energy[LONG_BANDS] = {0}, logs[HALF], hidden[LONG_BANDS];
    for (int i = 0; i < HALF; i++) {
        energy[long_band_of_bin[i]] += power[i];
        logs[i] = math_log2(power[i]);
    }
    for (int b = 0; b < LONG_BANDS; b++) {
        double tone = band_tonality(power, logs, b);
        double offset = tone * (14.5 + long_bark[b]) + (1 - tone) * 6, least = 20 - long_bark[b];
        if (offset < least)
            offset = least; /* low bands are narrow, and the ear resolves them well */
        hidden[b] = energy[b] * from_decibels(-offset);
    }
    for (int to = 0; to < LONG_BANDS; to++) {
        double sum = 0;
        for (int from = 0; from < LONG_BANDS; from++)
            sum += long_spread[to][from] * hidden[from];
        ratios[to] = sum < energy[to] ? sum / energy[to] : 1;
    }
}

static double line_energy(const double *lines, int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++)
        sum += lines[i] * lines[i];
    return sum;
}

/* Half a bit a line for every doubling above the noise, four lines to a logarithm. */
static double wanted_bits(const double *lines, int from, int to, double allowed)
{
    double each = allowed / (to - from), sum = 0;
    for (int i = from; i < to;) {
        double product = 1;
        for (int end = i + 4 < to ? i + 4 : to; i < end; i++)
            product *= 1 + lines[i] * lines[i] / each;
        sum += 0.5 * math_log2(product);
    }
    return sum;
}

static void mask_short(const double *lines, masking *m)
{
    for (int w = 0; w < 3; w++) {
        double energy[SHORT_BANDS];
        for (int b = 0; b < SHORT_BANDS; b++)
            energy[b] = line_energy(lines, band_start(edges_index, BLOCK_SHORT, b * 3 + w),
                                    band_start(edges_index, BLOCK_SHORT, b * 3 + w) + short_edges[edges_index][b + 1] -
                                        short_edges[edges_index][b]);
        for (int to = 0; to < SHORT_BANDS; to++) {
            double sum = 0;
            for (int from = 0; from < SHORT_BANDS; from++)
                sum += short_spread[to][from] * energy[from];
            sum *= 0.1;
            if (sum > energy[to])
                sum = energy[to];
            m->allowed[to * 3 + w] = sum > short_quiet[to] ? sum : short_quiet[to];
        }
    }
}

/* The lines of the granule are given too: what the spectrum says of a band is applied to its lines. */
void mask_granule(const sound *s, int channel, size_t index, int block_type, const double *lines, masking *m)
{
    double power[HALF], ratios[LONG_BANDS];
    if (block_type == BLOCK_SHORT) {
        mask_short(lines, m);
        m->entropy = masking_entropy(lines, m, block_type);
        return;
    }
    spectrum(s, channel, (long)index * LINES - DELAY - HALF, power);
    long_thresholds(power, ratios);
    for (int b = 0; b < LONG_BANDS; b++) {
        int from = long_edges[edges_index][b], to = long_edges[edges_index][b + 1];
        double energy = line_energy(lines, from, to), allowed = energy * ratios[b];
        m->allowed[b] = allowed > long_quiet[b] ? allowed : long_quiet[b];
    }
    m->entropy = masking_entropy(lines, m, block_type);
}

/* The bits that other lines would want under the same allowances. */
double masking_entropy(const double *lines, const masking *m, int block_type)
{
    double sum = 0;
    for (int b = 0; b < band_count(block_type); b++) {
        int from = band_start(edges_index, block_type, b), to = band_start(edges_index, block_type, b + 1);
        sum += wanted_bits(lines, from, to, m->allowed[b]);
    }
    return sum;
}
