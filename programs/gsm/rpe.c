/* SPDX-License-Identifier: MIT */
/* Regular pulse excitation: the residual is smoothed, thinned to one of four grids of 13 pulses,
   and these are coded by a shared logarithmic maximum and three bits each. */
#include <string.h>

#include "fixed.h"
#include "gsm.h"

enum { TAPS = 11, MARGIN = 5, GRIDS = 4, GRID_STEP = 3 };

static const int16_t impulse_response[TAPS] = {-134, -374, 0,    2054, 5741, 8192,
                                               5741, 2054, 0,    -374, -134};
static const int16_t inverse_mantissa[8] = {29128, 26215, 23832, 21846, 20165, 18725, 17476, 16384};
static const int16_t direct_mantissa[8] = {18431, 20479, 22527, 24575, 26623, 28671, 30719, 32767};

static void weighting_filter(const int16_t *e, int16_t *x)
{
    int16_t wt[SUBFRAME_SAMPLES + 2 * MARGIN] = {0};

    memcpy(wt + MARGIN, e, SUBFRAME_SAMPLES * sizeof *e);
    for (int k = 0; k < SUBFRAME_SAMPLES; k++) {
        int32_t L_result = 8192;
        for (int i = 0; i < TAPS; i++)
            L_result = L_add(L_result, L_mult(wt[k + i], impulse_response[i]));
        L_result = L_add(L_result, L_result);
        L_result = L_add(L_result, L_result);
        x[k] = (int16_t)(L_result >> 16);
    }
}

static int16_t select_grid(const int16_t *x, int16_t *xM)
{
    int32_t most = 0;
    int16_t Mc = 0;

    for (int16_t m = 0; m < GRIDS; m++) {
        int32_t energy = 0;
        for (int i = 0; i < PULSES; i++) {
            int16_t scaled = (int16_t)(x[m + GRID_STEP * i] >> 2);
            energy = L_add(energy, L_mult(scaled, scaled));
        }
        if (energy > most) {
            most = energy;
            Mc = m;
        }
    }
    for (int i = 0; i < PULSES; i++)
        xM[i] = x[Mc + GRID_STEP * i];
    return Mc;
}

static int16_t code_maximum(const int16_t *xM)
{
    int16_t largest = 0;
    int exponent = 0;

    for (int i = 0; i < PULSES; i++)
        if (absolute(xM[i]) > largest)
            largest = absolute(xM[i]);
    for (int rest = largest >> 9; rest > 0 && exponent < 6; rest >>= 1)
        exponent++;
    return add((int16_t)(largest >> (exponent + 5)), (int16_t)(exponent * 8));
}

static void split_maximum(int16_t xmaxc, int *exponent, int *mantissa)
{
    *exponent = xmaxc > 15 ? (xmaxc >> 3) - 1 : 0;
    *mantissa = xmaxc - *exponent * 8;
    if (*mantissa == 0) {
        *exponent = -4;
        *mantissa = 7;
        return;
    }
    while (*mantissa <= 7) {
        *mantissa = *mantissa * 2 + 1;
        --*exponent;
    }
    *mantissa -= 8;
}

static void quantise_pulses(const int16_t *xM, int exponent, int mantissa, int16_t *xMc)
{
    for (int i = 0; i < PULSES; i++) {
        int16_t scaled = shift_left(xM[i], 6 - exponent);
        xMc[i] = (int16_t)((mult(scaled, inverse_mantissa[mantissa]) >> 12) + 4);
    }
}

static void restore_pulses(const int16_t *xMc, int exponent, int mantissa, int16_t Mc, int16_t *ep)
{
    int shift = 6 - exponent;
    int16_t rounding = (int16_t)(shift > 0 ? 1 << (shift - 1) : 0);

    memset(ep, 0, SUBFRAME_SAMPLES * sizeof *ep);
    for (int i = 0; i < PULSES; i++) {
        int16_t value = (int16_t)((xMc[i] * 2 - 7) * 4096);
        value = add(mult_r(direct_mantissa[mantissa], value), rounding);
        ep[Mc + GRID_STEP * i] = (int16_t)(value >> shift);
    }
}

void rpe_encode(const int16_t *e, Frame *frame, int subframe, int16_t *ep)
{
    int16_t x[SUBFRAME_SAMPLES];
    int16_t xM[PULSES];
    int exponent, mantissa;

    weighting_filter(e, x);
    frame->Mc[subframe] = select_grid(x, xM);
    frame->xmaxc[subframe] = code_maximum(xM);
    split_maximum(frame->xmaxc[subframe], &exponent, &mantissa);
    quantise_pulses(xM, exponent, mantissa, frame->xMc[subframe]);
    restore_pulses(frame->xMc[subframe], exponent, mantissa, frame->Mc[subframe], ep);
}

void rpe_decode(const Frame *frame, int subframe, int16_t *erp)
{
    int exponent, mantissa;

    split_maximum(frame->xmaxc[subframe], &exponent, &mantissa);
    restore_pulses(frame->xMc[subframe], exponent, mantissa, frame->Mc[subframe], erp);
}
