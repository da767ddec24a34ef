/* SPDX-License-Identifier: MIT */
/* Changes the sampling rate by a windowed sinc filter, tabulated at 512 places between two samples. */
#include "lame.h"

#include <stdlib.h>
#include <string.h>

enum { PHASES = 512, WINGS = 24 }; /* WINGS: zero crossings on each side */

typedef struct {
    int reach; /* input samples on each side */
    double *taps;
} filter;

static const double PI = 3.141592653589793;

/* sin(pi x) / (pi x) under a Blackman window that ends at the last crossing. */
static double windowed_sinc(double x)
{
    double place = x / WINGS, window;
    if (place <= -1 || place >= 1)
        return 0;
    window = 0.42 + 0.5 * math_sine(PI * place + PI / 2) + 0.08 * math_sine(2 * PI * place + PI / 2);
    return x > -1e-9 && x < 1e-9 ? 1 : window * math_sine(PI * x) / (PI * x);
}

static int make_filter(filter *f, int from, int to)
{
    double cut = to < from ? 0.95 * to / from : 0.98;
    f->reach = (int)(WINGS / cut) + 1;
    f->taps = malloc((size_t)(PHASES + 1) * (size_t)(2 * f->reach) * sizeof(double));
    if (!f->taps)
        return 0;
    for (int phase = 0; phase <= PHASES; phase++) {
        double *row = f->taps + (size_t)phase * (size_t)(2 * f->reach), sum = 0;
        for (int i = 0; i < 2 * f->reach; i++) {
            row[i] = windowed_sinc((i - f->reach + 1 - (double)phase / PHASES) * cut);
            sum += row[i];
        }
        for (int i = 0; i < 2 * f->reach; i++)
            row[i] /= sum; /* every phase passes silence and steady levels unchanged */
    }
    return 1;
}

static double sample_between(const filter *f, const double *in, size_t count, size_t at, double part)
{
    double place = part * PHASES, sum = 0;
    int phase = (int)place;
    double mix = place - phase;
    const double *low = f->taps + (size_t)phase * (size_t)(2 * f->reach), *high = low + 2 * f->reach;
    for (int i = 0; i < 2 * f->reach; i++) {
        long index = (long)at + i - f->reach + 1;
        if (index >= 0 && (size_t)index < count)
            sum += in[index] * (low[i] * (1 - mix) + high[i] * mix);
    }
    return sum;
}

/* Returns 0 when memory runs out. */
int resample(sound *s, int rate)
{
    filter f;
    size_t count = (size_t)((double)s->count * rate / s->rate);
    if (rate == s->rate)
        return 1;
    if (!make_filter(&f, s->rate, rate))
        return 0;
    for (int c = 0; c < s->channels; c++) {
        double *out = malloc((count + 1) * sizeof(double));
        if (!out) {
            free(f.taps);
            return 0;
        }
        for (size_t i = 0; i < count; i++) {
            uint64_t place = (uint64_t)i * (uint64_t)s->rate;
            size_t whole = (size_t)(place / (uint64_t)rate);
            out[i] = sample_between(&f, s->samples[c], s->count, whole, (double)(place % (uint64_t)rate) / rate);
        }
        free(s->samples[c]);
        s->samples[c] = out;
    }
    s->count = count;
    s->rate = rate;
    free(f.taps);
    return 1;
}
