/* SPDX-License-Identifier: MIT */
/* Long-term prediction: the best lag into the reconstructed residual, and its gain in two bits. */
#include <string.h>

#include "fixed.h"
#include "gsm.h"

static const int16_t decision_level[SUBFRAMES] = {6554, 16384, 26214, 32767};
static const int16_t gain_level[SUBFRAMES] = {3277, 11469, 21299, 32767};

static int headroom_scale(const int16_t *d)
{
    int16_t largest = 0;

    for (int k = 0; k < SUBFRAME_SAMPLES; k++)
        if (absolute(d[k]) > largest)
            largest = absolute(d[k]);
    if (largest == 0)
        return 0;
    int free_bits = norm((int32_t)largest * 65536);
    return free_bits > 6 ? 0 : 6 - free_bits;
}

static int32_t cross_correlation(const int16_t *wt, const int16_t *past)
{
    int32_t sum = 0;
    for (int k = 0; k < SUBFRAME_SAMPLES; k++)
        sum = L_add(sum, L_mult(wt[k], past[k]));
    return sum;
}

static int32_t power_of(const int16_t *past)
{
    int32_t sum = 0;
    for (int k = 0; k < SUBFRAME_SAMPLES; k++) {
        int16_t scaled = (int16_t)(past[k] >> 3);
        sum = L_add(sum, L_mult(scaled, scaled));
    }
    return sum;
}

static int16_t code_gain(int32_t L_max, int32_t L_power)
{
    if (L_max <= 0)
        return 0;
    if (L_max >= L_power)
        return 3;
    int shift = norm(L_power);
    int16_t R = (int16_t)((int32_t)((uint32_t)L_max << shift) >> 16);
    int16_t S = (int16_t)((int32_t)((uint32_t)L_power << shift) >> 16);
    for (int16_t bc = 0; bc < 3; bc++)
        if (R <= mult(S, decision_level[bc]))
            return bc;
    return 3;
}

void long_term_predictor(const int16_t *d, const int16_t *dp, int16_t *Nc, int16_t *bc)
{
    int16_t wt[SUBFRAME_SAMPLES];
    int scale = headroom_scale(d);
    int32_t L_max = 0;

    for (int k = 0; k < SUBFRAME_SAMPLES; k++)
        wt[k] = (int16_t)(d[k] >> scale);
    *Nc = MIN_LAG;
    for (int16_t lag = MIN_LAG; lag <= MAX_LAG; lag++) {
        int32_t L_result = cross_correlation(wt, dp - lag);
        if (L_result > L_max) {
            L_max = L_result;
            *Nc = lag;
        }
    }
    *bc = code_gain(L_max >> (6 - scale), power_of(dp - *Nc));
}

void long_term_residual(int16_t Nc, int16_t bc, const int16_t *d, const int16_t *dp, int16_t *dpp,
                        int16_t *e)
{
    for (int k = 0; k < SUBFRAME_SAMPLES; k++) {
        dpp[k] = mult_r(gain_level[bc], dp[k - Nc]);
        e[k] = sub(d[k], dpp[k]);
    }
}

void long_term_synthesis(Decoder *state, int16_t Ncr, int16_t bcr, const int16_t *erp)
{
    int16_t *drp = state->drp + MAX_LAG;
    int16_t lag = Ncr < MIN_LAG || Ncr > MAX_LAG ? state->nrp : Ncr;

    state->nrp = lag;
    for (int k = 0; k < SUBFRAME_SAMPLES; k++)
        drp[k] = add(erp[k], mult_r(gain_level[bcr], drp[k - lag]));
}
