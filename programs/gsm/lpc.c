/* SPDX-License-Identifier: MIT */
/* Linear prediction: autocorrelation, Schur's recursion, log area ratios and their quantisation. */
#include "fixed.h"
#include "gsm.h"
#include "lar.h"

static int16_t largest_magnitude(const int16_t *s)
{
    int16_t largest = 0;
    for (int k = 0; k < FRAME_SAMPLES; k++)
        if (absolute(s[k]) > largest)
            largest = absolute(s[k]);
    return largest;
}

static int32_t correlate(const int16_t *s, int lag)
{
    int32_t sum = 0;
    for (int k = lag; k < FRAME_SAMPLES; k++)
        sum = L_add(sum, L_mult(s[k], s[k - lag]));
    return sum;
}

/* Scales the frame for head room, and back: the low bits that this costs stay lost, as specified. */
static void autocorrelation(int16_t *s, int32_t *L_ACF)
{
    int16_t largest = largest_magnitude(s);
    int scale = largest == 0 ? 0 : 4 - norm((int32_t)largest * 65536);

    if (scale > 0)
        for (int k = 0; k < FRAME_SAMPLES; k++)
            s[k] = mult_r(s[k], (int16_t)(16384 >> (scale - 1)));
    for (int lag = 0; lag <= ORDER; lag++)
        L_ACF[lag] = correlate(s, lag);
    if (scale > 0)
        for (int k = 0; k < FRAME_SAMPLES; k++)
            s[k] = shift_left(s[k], scale);
}

static void reflection_coefficients(const int32_t *L_ACF, int16_t *r)
{
    int16_t P[ORDER + 1];
    int16_t K[ORDER + 1];

    for (int i = 0; i < ORDER; i++)
        r[i] = 0;
    if (L_ACF[0] == 0)
        return;
    int shift = norm(L_ACF[0]);
    for (int i = 0; i <= ORDER; i++) {
        P[i] = (int16_t)((int32_t)((uint32_t)L_ACF[i] << shift) >> 16);
        K[i] = P[i];
    }
    for (int n = 0; n < ORDER; n++) {
        int16_t magnitude = absolute(P[1]);
        if (P[0] < magnitude)
            return;
        r[n] = divide(magnitude, P[0]);
        if (P[1] > 0)
            r[n] = (int16_t)-r[n];
        if (n == ORDER - 1)
            return;
        P[0] = add(P[0], mult_r(P[1], r[n]));
        for (int m = 1; m < ORDER - n; m++) {
            P[m] = add(P[m + 1], mult_r(K[m], r[n]));
            K[m] = add(K[m], mult_r(P[m + 1], r[n]));
        }
    }
}

static int16_t log_area_ratio(int16_t r)
{
    int16_t magnitude = absolute(r);

    if (magnitude < 22118)
        magnitude = (int16_t)(magnitude >> 1);
    else if (magnitude < 31130)
        magnitude = (int16_t)(magnitude - 11059);
    else
        magnitude = (int16_t)((magnitude - 26112) * 4);
    return r < 0 ? (int16_t)-magnitude : magnitude;
}

static int16_t quantise(int16_t LAR, const LarCoding *coding)
{
    int16_t coded = add(add(mult(coding->A, LAR), coding->B), 256);

    coded = (int16_t)(coded >> 9);
    if (coded > coding->MAC)
        coded = coding->MAC;
    if (coded < coding->MIC)
        coded = coding->MIC;
    return (int16_t)(coded - coding->MIC);
}

void lpc_analysis(int16_t *s, int16_t *LARc)
{
    int32_t L_ACF[ORDER + 1];
    int16_t r[ORDER];

    autocorrelation(s, L_ACF);
    reflection_coefficients(L_ACF, r);
    for (int i = 0; i < ORDER; i++)
        LARc[i] = quantise(log_area_ratio(r[i]), &lar_coding[i]);
}
