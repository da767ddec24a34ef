/* SPDX-License-Identifier: MIT */
/* Quantisation by two nested loops: the inner one finds the finest step whose codes fit into the bits
 * that there are, the outer one raises the scalefactors of the bands whose noise would be heard. */
#include "lame.h"

#include <math.h>
#include <string.h>

#include "tables.h"

enum { STEP_LOW = -300, STEP_HIGH = 60, GAIN_ZERO = 210, MAX_BITS = 4095, ROUNDS = 24 };

static double cubes[MAX_QUANTISED + 1];                 /* n to the 4/3 */
static double steps[STEP_HIGH - STEP_LOW + 1];          /* 2 to the e/4 */
static double inverse_steps[STEP_HIGH - STEP_LOW + 1];  /* 2 to the -3e/16 */
static const uint8_t high_lift[LONG_BANDS] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 2, 0};
static const uint8_t first_length[16] = {0, 0, 0, 0, 3, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4};
static const uint8_t second_length[16] = {0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 2, 3};

/* Newton's steps from a guess that is near; a few of them reach the last bit, and stay there. */
static double cube_root(double x, double guess)
{
    for (int i = 0; i < 7; i++)
        guess = (2 * guess + x / (guess * guess)) / 3;
    return guess;
}

static double power_of_root(double root, int exponent)
{
    double result = 1, factor = exponent < 0 ? 1 / root : root;
    for (int count = exponent < 0 ? -exponent : exponent; count; count >>= 1) {
        if (count & 1)
            result *= factor;
        factor *= factor;
    }
    return result;
}

void start_quantiser(void)
{
    double root = 1, fourth = sqrt(sqrt(2.0)), sixteenth = sqrt(sqrt(fourth));
    for (int i = 1; i <= MAX_QUANTISED; i++) {
        root = cube_root(i, root);
        cubes[i] = i * root;
    }
    for (int e = STEP_LOW; e <= STEP_HIGH; e++) {
        steps[e - STEP_LOW] = power_of_root(fourth, e);
        inverse_steps[e - STEP_LOW] = power_of_root(sixteenth, -3 * e);
    }
}

typedef struct {
    granule *g;
    const double *lines;
    const masking *mask;
    double curved[LINES]; /* magnitudes to the 3/4 */
    int rate_index, bands;
    int starts[40];
} work;

/* The exponent of the step of a band, in quarters. */
static int band_step(const granule *g, int band)
{
    int raised = g->scalefactors[band];
    if (band >= (g->block_type == BLOCK_SHORT ? 36 : 21))
        raised = 0; /* the highest band has no scalefactor of its own */
    else if (g->preflag)
        raised += high_lift[band];
    return g->global_gain - GAIN_ZERO - 2 * (1 + g->scalefac_scale) * raised;
}

static int quantise_lines(work *w)
{
    for (int b = 0; b < w->bands; b++) {
        double factor = inverse_steps[band_step(w->g, b) - STEP_LOW];
        for (int i = w->starts[b]; i < w->starts[b + 1]; i++) {
            double value = w->curved[i] * factor + 0.4054;
            if (!(value < MAX_QUANTISED))
                return 0;
            w->g->quantised[i] = (int16_t)value;
        }
    }
    return 1;
}

static int bits_at(work *w, int gain)
{
    w->g->global_gain = gain;
    if (!quantise_lines(w))
        return w->g->part3_bits = 1 << 20;
    return count_bits(w->g, w->rate_index);
}

/* The inner loop: bits fall as the gain rises. */
static void fit(work *w, int budget)
{
    int low = 0, high = 255;
    while (low < high) {
        int middle = (low + high) / 2;
        if (bits_at(w, middle) <= budget)
            high = middle;
        else
            low = middle + 1;
    }
    bits_at(w, high);
}

static double band_noise(const work *w, int band)
{
    double step = steps[band_step(w->g, band) - STEP_LOW], sum = 0;
    for (int i = w->starts[band]; i < w->starts[band + 1]; i++) {
        double error = fabs(w->lines[i]) - cubes[w->g->quantised[i]] * step;
        sum += error * error;
    }
    return sum;
}

typedef struct {
    int audible;   /* bands whose noise is above what is allowed */
    double excess; /* the sum of by how much, in factors of 2 */
} verdict;

static verdict judge(const work *w, double *noise)
{
    verdict v = {0, 0};
    for (int b = 0; b < w->bands; b++) {
        noise[b] = band_noise(w, b);
        if (noise[b] > w->mask->allowed[b]) {
            v.audible++;
            v.excess += math_log2(noise[b] / w->mask->allowed[b]);
        }
    }
    return v;
}

static int better(const verdict *a, const verdict *b)
{
    return a->excess < b->excess;
}

/* --- scalefactors --- */

static int group_split(const granule *g)
{
    return g->block_type == BLOCK_SHORT ? 18 : 11;
}

static int group_end(const granule *g)
{
    return g->block_type == BLOCK_SHORT ? 36 : 21;
}

static int most_of(const granule *g, int from, int to)
{
    int most = 0;
    for (int b = from; b < to; b++)
        if (g->scalefactors[b] > most)
            most = g->scalefactors[b];
    return most;
}

/* Finds the cheapest pair of field lengths that holds all scalefactors; 0 when none does. */
static int compress(granule *g)
{
    int low = most_of(g, 0, group_split(g)), high = most_of(g, group_split(g), group_end(g)), best = 1 << 20;
    for (int c = 0; c < 16; c++) {
        int bits;
        if (low >= 1 << first_length[c] || high >= 1 << second_length[c])
            continue;
        bits = first_length[c] * group_split(g) + second_length[c] * (group_end(g) - group_split(g));
        if (bits < best) {
            best = bits;
            g->scalefac_compress = c;
        }
    }
    g->part2_bits = best;
    return best < 1 << 20;
}

/* When all high bands are raised at least as much as the standard's own pattern, that comes free. */
static void use_lift(granule *g)
{
    if (g->block_type == BLOCK_SHORT || g->preflag)
        return;
    for (int b = 11; b < 21; b++)
        if (g->scalefactors[b] < high_lift[b])
            return;
    g->preflag = 1;
    for (int b = 11; b < 21; b++)
        g->scalefactors[b] -= high_lift[b];
}

/* Raises the bands with audible noise by one step.  Returns 0 when that leads nowhere. */
static int amplify(granule *g, const work *w, const double *noise)
{
    int raised = 0, end = group_end(g);
    for (int b = 0; b < end; b++) {
        if (noise[b] > w->mask->allowed[b]) {
            g->scalefactors[b]++;
            raised++;
        }
    }
    if (!raised || raised == end)
        return 0;
    use_lift(g);
    if (compress(g))
        return 1;
    if (g->scalefac_scale)
        return 0;
    /* Steps of twice the size reach further. */
    if (g->preflag)
        for (int b = 11; b < 21; b++)
            g->scalefactors[b] += high_lift[b];
    g->preflag = 0;
    g->scalefac_scale = 1;
    for (int b = 0; b < end; b++)
        g->scalefactors[b] = (g->scalefactors[b] + 1) / 2;
    return compress(g);
}

static int budget_of(const granule *g, int target)
{
    int budget = target < MAX_BITS ? target : MAX_BITS;
    return budget - g->part2_bits;
}

static void open_work(work *w, granule *g, const double *lines, const masking *m, int rate_index)
{
    w->g = g;
    w->lines = lines;
    w->mask = m;
    w->rate_index = rate_index;
    w->bands = band_count(g->block_type);
    for (int b = 0; b <= w->bands; b++)
        w->starts[b] = band_start(rate_index, g->block_type, b);
    for (int i = 0; i < LINES; i++) {
        double size = fabs(lines[i]);
        w->curved[i] = sqrt(size * sqrt(size));
        g->negative[i] = lines[i] < 0;
    }
}

/* Where the bits cannot pay for inaudible noise, all bands are allowed the same factor more of it: noise
 * that is heard should be heard evenly. */
static void relax(masking *m, const double *lines, int block_type, int target)
{
    for (int round = 0; round < 40 && masking_entropy(lines, m, block_type) > 0.85 * target; round++)
        for (int b = 0; b < band_count(block_type); b++)
            m->allowed[b] *= 1.5;
}

void quantise(granule *g, const double *lines, const masking *m, int rate_index, int target, int fast)
{
    work w;
    granule best;
    verdict best_verdict = {0, 0};
    masking relaxed = *m;
    double noise[39], loudest = 0;
    int have = 0;

    open_work(&w, g, lines, &relaxed, rate_index);
    for (int i = 0; i < LINES; i++)
        if (fabs(lines[i]) > loudest)
            loudest = fabs(lines[i]);
    memset(g->quantised, 0, sizeof g->quantised);
    relax(&relaxed, lines, g->block_type, target);
    compress(g);
    if (loudest < 1e-9) {
        g->global_gain = GAIN_ZERO;
        count_bits(g, rate_index);
        return;
    }
    for (int round = 0; round < (fast ? 3 : ROUNDS); round++) {
        verdict v;
        if (budget_of(g, target) < 0)
            break;
        fit(&w, budget_of(g, target));
        if (g->part3_bits > budget_of(g, target))
            break; /* raised so far that even the coarsest gain is too fine */
        v = judge(&w, noise);
        if (!have || better(&v, &best_verdict)) {
            best = *g;
            best_verdict = v;
            have = 1;
        }
        if (!v.audible || !amplify(g, &w, noise))
            break;
    }
    *g = best;
    if (!fast)
        divide_best(g, rate_index);
}

/* --- constant quality --- */

/* The coarsest step whose noise a band still hides. */
static int coarsest_step(work *w, int band)
{
    int step = STEP_HIGH - 20;
    for (; step > STEP_LOW + 100; step--) {
        double factor = inverse_steps[step - STEP_LOW], size = steps[step - STEP_LOW], noise = 0;
        for (int i = w->starts[band]; i < w->starts[band + 1]; i++) {
            double value = w->curved[i] * factor + 0.4054, error;
            if (!(value < MAX_QUANTISED))
                return step + 1;
            error = fabs(w->lines[i]) - cubes[(int)value] * size;
            noise += error * error;
        }
        if (noise <= w->mask->allowed[band])
            return step;
    }
    return step;
}

/* Spreads the steps over the global gain and scalefactors in units of 2 (or 4) quarters; steps that the
 * scalefactors do not reach become finer than they need to be. */
static int spread_steps(granule *g, const int *wanted, int bands)
{
    int highest = STEP_LOW, unit = 2 * (1 + g->scalefac_scale), end = group_end(g), gain;
    for (int b = 0; b < bands; b++)
        if (wanted[b] > highest)
            highest = wanted[b];
    for (int b = 0; b < bands; b++) {
        int reach = b < group_split(g) ? 15 : b < end ? 7 : 0;
        if (highest > wanted[b] + unit * reach)
            highest = wanted[b] + unit * reach;
    }
    for (int b = 0; b < end; b++)
        g->scalefactors[b] = highest > wanted[b] ? (highest - wanted[b] + unit - 1) / unit : 0;
    gain = highest + GAIN_ZERO;
    g->global_gain = gain < 0 ? 0 : gain > 255 ? 255 : gain;
    return compress(g);
}

/* Codes a granule just well enough.  Returns 0, with nothing coded, when that takes more bits than most. */
int quantise_quality(granule *g, const double *lines, const masking *m, int rate_index, int most)
{
    work w;
    int wanted[39], loud = 0;
    open_work(&w, g, lines, m, rate_index);
    for (int b = 0; b < w.bands; b++)
        wanted[b] = coarsest_step(&w, b);
    for (int b = 0; b < w.bands && !loud; b++)
        for (int i = w.starts[b]; i < w.starts[b + 1]; i++)
            loud |= w.curved[i] > 0 && w.lines[i] * w.lines[i] > m->allowed[b] / (w.starts[b + 1] - w.starts[b]);
    g->scalefac_scale = 0;
    if (loud)
        spread_steps(g, wanted, w.bands);
    else
        compress(g);
    if (!loud || !quantise_lines(&w)) {
        memset(g->quantised, 0, sizeof g->quantised);
        g->global_gain = GAIN_ZERO;
        count_bits(g, rate_index);
        return !loud;
    }
    count_bits(g, rate_index);
    divide_best(g, rate_index);
    return g->part2_bits + g->part3_bits <= (most < MAX_BITS ? most : MAX_BITS);
}

int scalefactor_bits(const granule *g)
{
    static const uint8_t groups[5] = {0, 6, 11, 16, 21};
    int bits = g->part2_bits;
    for (int i = 0; i < 4; i++)
        if (g->shared[i])
            bits -= (groups[i + 1] - groups[i]) * (i < 2 ? first_length : second_length)[g->scalefac_compress];
    return bits;
}

/* Long granules may take over groups of scalefactors from the first one of the frame. */
void share_scalefactors(const granule *first, granule *second)
{
    static const uint8_t groups[5] = {0, 6, 11, 16, 21};
    if (first->block_type == BLOCK_SHORT || second->block_type == BLOCK_SHORT)
        return;
    for (int i = 0; i < 4; i++) {
        second->shared[i] = 1;
        for (int b = groups[i]; b < groups[i + 1]; b++)
            if (first->scalefactors[b] != second->scalefactors[b])
                second->shared[i] = 0;
    }
}

void write_scalefactors(bit_writer *w, const granule *g)
{
    static const uint8_t groups[5] = {0, 6, 11, 16, 21};
    int first = first_length[g->scalefac_compress], second = second_length[g->scalefac_compress];
    if (g->block_type == BLOCK_SHORT) {
        for (int b = 0; b < 36; b++)
            put_bits(w, (uint32_t)g->scalefactors[b], b < 18 ? first : second);
        return;
    }
    for (int i = 0; i < 4; i++)
        for (int b = groups[i]; b < groups[i + 1] && !g->shared[i]; b++)
            put_bits(w, (uint32_t)g->scalefactors[b], b < 11 ? first : second);
}
