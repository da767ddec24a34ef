/* SPDX-License-Identifier: MIT */
/* From samples to spectral lines: the polyphase filterbank of 32 bands, the choice of windows, the MDCT
 * of 18 or three times 6 lines a band, and the butterflies against aliasing (ISO 11172-3, annex C). */
#include "lame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

static const double PI = 3.141592653589793;

static double window[512];         /* table C.1 */
static double band_cosines[32][64];
static double block_windows[4][36];
static double long_cosines[18][36], short_cosines[6][12];
static double butterfly_cs[8], butterfly_ca[8];

static double cosine(double x)
{
    return math_sine(x + PI / 2);
}

static void make_block_windows(void)
{
    for (int i = 0; i < 36; i++) {
        double slow = math_sine(PI / 36 * (i + 0.5));
        block_windows[BLOCK_LONG][i] = slow;
        block_windows[BLOCK_START][i] = i < 18 ? slow : i < 24 ? 1 : i < 30 ? math_sine(PI / 12 * (i - 18 + 0.5)) : 0;
        block_windows[BLOCK_STOP][i] = i < 6 ? 0 : i < 12 ? math_sine(PI / 12 * (i - 6 + 0.5)) : i < 18 ? 1 : slow;
        if (i < 12)
            block_windows[BLOCK_SHORT][i] = math_sine(PI / 12 * (i + 0.5));
    }
}

void start_analysis(void)
{
    static const double c[8] = {-0.6, -0.535, -0.33, -0.185, -0.095, -0.041, -0.0142, -0.0037};
    for (int i = 0; i < 512; i++) {
        double value = window_half[i <= 256 ? i : 512 - i] / 65536.0 / 32;
        window[i] = i / 64 % 2 ? -value : value;
    }
    for (int band = 0; band < 32; band++)
        for (int k = 0; k < 64; k++)
            band_cosines[band][k] = cosine((2 * band + 1) * (k - 16) * PI / 64);
    for (int m = 0; m < 18; m++)
        for (int k = 0; k < 36; k++)
            long_cosines[m][k] = cosine(PI / 72 * (2 * k + 19) * (2 * m + 1)) / 9;
    for (int m = 0; m < 6; m++)
        for (int k = 0; k < 12; k++)
            short_cosines[m][k] = cosine(PI / 24 * (2 * k + 7) * (2 * m + 1)) / 3;
    make_block_windows();
    for (int i = 0; i < 8; i++) {
        butterfly_cs[i] = 1 / sqrt(1 + c[i] * c[i]);
        butterfly_ca[i] = c[i] / sqrt(1 + c[i] * c[i]);
    }
}

/* Thirty-two new samples to one sample of each band. */
static void filter_step(const double *samples, size_t count, size_t start, double *out)
{
    double folded[64];
    for (int k = 0; k < 64; k++)
        folded[k] = 0;
    for (int i = 0; i < 512; i++) {
        size_t at = start + 31 - (size_t)i;
        if (start + 31 >= (size_t)i && at < count)
            folded[i & 63] += window[i] * samples[at];
    }
    for (int band = 0; band < 32; band++) {
        double sum = 0;
        for (int k = 0; k < 64; k++)
            sum += band_cosines[band][k] * folded[k];
        out[band] = sum;
    }
}

/* --- attacks --- */

enum { PARTS = 6, PART_SLOTS = SLOTS / PARTS };

/* The energy above 2 kHz or so in each sixth of a granule. */
static void part_energies(const double *slots, double *energies)
{
    for (int part = 0; part < PARTS; part++) {
        energies[part] = 0;
        for (int slot = part * PART_SLOTS; slot < (part + 1) * PART_SLOTS; slot++)
            for (int band = 3; band < BANDS; band++)
                energies[part] += slots[slot * BANDS + band] * slots[slot * BANDS + band];
    }
}

/* Marks the granules whose windows would smear a sudden onset over silence before it. */
static void find_attacks(const analysis *a, int channel, uint8_t *marks)
{
    double before = 1e-7, energies[PARTS];
    for (size_t g = 0; g < a->granules; g++) {
        part_energies(a->subbands[channel] + g * SLOTS * BANDS, energies);
        for (int part = 0; part < PARTS; part++) {
            if (energies[part] > 12 * before && energies[part] > 1e-5) {
                if (part < 4)
                    marks[g] = 1;
                if (part > 2 && g + 1 < a->granules)
                    marks[g + 1] = 1;
            }
            before = 0.6 * before + 0.4 * energies[part];
            if (before < 1e-7)
                before = 1e-7;
        }
    }
}

/* Long windows go over to short ones through start windows and back through stop windows. */
static void choose_blocks(analysis *a, const uint8_t *marks)
{
    size_t n = a->granules;
    for (size_t g = 0; g < n; g++)
        a->block_types[g] = marks[g] ? BLOCK_SHORT : BLOCK_LONG;
    /* A single long granule between two short ones has no window that fits both sides. */
    for (size_t g = 1; g + 1 < n; g++)
        if (a->block_types[g - 1] == BLOCK_SHORT && marks[g + 1])
            a->block_types[g] = BLOCK_SHORT;
    for (size_t g = 0; g < n; g++) {
        if (a->block_types[g] == BLOCK_SHORT)
            continue;
        if (g + 1 < n && a->block_types[g + 1] == BLOCK_SHORT)
            a->block_types[g] = BLOCK_START;
        else if (g > 0 && a->block_types[g - 1] == BLOCK_SHORT)
            a->block_types[g] = BLOCK_STOP;
    }
}

int analyse(const sound *s, const settings *set, analysis *a)
{
    uint8_t *marks;
    memset(a, 0, sizeof *a);
    /* Whole frames, and enough of them to bring the last sample through the delays of both sides. */
    a->granules = (s->count + 1105 + 1151) / 1152 * 2;
    a->block_types = calloc(a->granules, 1);
    marks = calloc(a->granules, 1);
    for (int c = 0; c < s->channels; c++) {
        a->subbands[c] = malloc(a->granules * SLOTS * BANDS * sizeof(double));
        if (!a->subbands[c])
            break;
        for (size_t slot = 0; slot < a->granules * SLOTS; slot++)
            filter_step(s->samples[c], s->count, slot * BANDS, a->subbands[c] + slot * BANDS);
        if (marks && a->block_types && !set->no_short)
            find_attacks(a, c, marks);
    }
    if (!marks || !a->block_types || !a->subbands[s->channels - 1]) {
        free(marks);
        free_analysis(a);
        fputs("lame: out of memory\n", stderr);
        return 0;
    }
    choose_blocks(a, marks);
    free(marks);
    return 1;
}

void free_analysis(analysis *a)
{
    free(a->subbands[0]);
    free(a->subbands[1]);
    free(a->block_types);
    memset(a, 0, sizeof *a);
}

/* --- the second stage --- */

static void gather(const analysis *a, int channel, size_t index, int band, double *in)
{
    for (int half = 0; half < 2; half++) {
        for (int slot = 0; slot < SLOTS; slot++) {
            double value = 0;
            if (half || index)
                value = a->subbands[channel][((index + (size_t)half - 1) * SLOTS + (size_t)slot) * BANDS + (size_t)band];
            /* Odd bands come out of the filterbank upside down. */
            in[half * SLOTS + slot] = band & slot & 1 ? -value : value;
        }
    }
}

static void long_transform(const double *in, const double *shape, double *out)
{
    double shaped[36];
    for (int k = 0; k < 36; k++)
        shaped[k] = in[k] * shape[k];
    for (int m = 0; m < 18; m++) {
        double sum = 0;
        for (int k = 0; k < 36; k++)
            sum += long_cosines[m][k] * shaped[k];
        out[m] = sum;
    }
}

static void short_transform(const double *in, double out[3][6])
{
    for (int w = 0; w < 3; w++) {
        for (int m = 0; m < 6; m++) {
            double sum = 0;
            for (int k = 0; k < 12; k++)
                sum += short_cosines[m][k] * block_windows[BLOCK_SHORT][k] * in[6 + 6 * w + k];
            out[w][m] = sum;
        }
    }
}

/* Short lines are kept band by band: all of the first window, then the second, then the third. */
static void order_short(double by_window[3][192], int rate_index, double *lines)
{
    for (int band = 0; band < SHORT_BANDS; band++) {
        int start = short_edges[rate_index][band], end = short_edges[rate_index][band + 1];
        for (int w = 0; w < 3; w++)
            for (int k = start; k < end; k++)
                lines[start * 3 + w * (end - start) + k - start] = by_window[w][k];
    }
}

static void reduce_alias(double *lines)
{
    for (int band = 0; band < BANDS - 1; band++) {
        for (int i = 0; i < 8; i++) {
            double *low = &lines[band * 18 + 17 - i], *high = &lines[band * 18 + 18 + i];
            double down = *low * butterfly_cs[i] + *high * butterfly_ca[i];
            *high = *high * butterfly_cs[i] - *low * butterfly_ca[i];
            *low = down;
        }
    }
}

void transform_granule(const analysis *a, int channel, size_t index, int rate_index, double *lines)
{
    int type = a->block_types[index];
    double by_window[3][192], in[36], part[3][6];
    for (int band = 0; band < BANDS; band++) {
        gather(a, channel, index, band, in);
        if (type != BLOCK_SHORT) {
            long_transform(in, block_windows[type], lines + band * 18);
            continue;
        }
        short_transform(in, part);
        for (int w = 0; w < 3; w++)
            memcpy(&by_window[w][band * 6], part[w], sizeof part[w]);
    }
    if (type == BLOCK_SHORT)
        order_short(by_window, rate_index, lines);
    else
        reduce_alias(lines);
}
