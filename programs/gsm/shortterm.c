/* SPDX-License-Identifier: MIT */
/* The lattice filters over a frame, with coefficients that glide from those of the frame before. */
#include <string.h>

#include "fixed.h"
#include "gsm.h"
#include "lar.h"

const LarCoding lar_coding[ORDER] = {
    {20480, 0, -32, 31, 13107},    {20480, 0, -32, 31, 13107},   {20480, 2048, -16, 15, 13107},
    {20480, -2560, -16, 15, 13107}, {13964, 94, -8, 7, 19223},   {15360, -1792, -8, 7, 17476},
    {8534, -341, -4, 3, 31454},    {9036, -1144, -4, 3, 29708},
};

static void decode_ratios(const int16_t *LARc, int16_t *LARpp)
{
    for (int i = 0; i < ORDER; i++) {
        const LarCoding *coding = &lar_coding[i];
        int16_t value = shift_left(add(LARc[i], coding->MIC), 10);
        value = sub(value, (int16_t)(coding->B * 2));
        value = mult_r(coding->INVA, value);
        LARpp[i] = add(value, value);
    }
}

/* Four sections per frame: the weights of the old ratios are 3/4, 1/2, 1/4 and 0. */
static void interpolate(const int16_t *old, const int16_t *new, int section, int16_t *LARp)
{
    for (int i = 0; i < ORDER; i++) {
        int16_t a = old[i];
        int16_t b = new[i];
        switch (section) {
        case 0:
            LARp[i] = add(add((int16_t)(a >> 2), (int16_t)(b >> 2)), (int16_t)(a >> 1));
            break;
        case 1:
            LARp[i] = add((int16_t)(a >> 1), (int16_t)(b >> 1));
            break;
        case 2:
            LARp[i] = add(add((int16_t)(a >> 2), (int16_t)(b >> 2)), (int16_t)(b >> 1));
            break;
        default:
            LARp[i] = b;
            break;
        }
    }
}

static void to_reflection(int16_t *LARp)
{
    for (int i = 0; i < ORDER; i++) {
        int16_t magnitude = absolute(LARp[i]);
        if (magnitude < 11059)
            magnitude = (int16_t)(magnitude * 2);
        else if (magnitude < 20070)
            magnitude = (int16_t)(magnitude + 11059);
        else
            magnitude = add((int16_t)(magnitude >> 2), 26112);
        LARp[i] = LARp[i] < 0 ? (int16_t)-magnitude : magnitude;
    }
}

static const uint8_t section_start[5] = {0, 13, 27, 40, 160};

static void filter_analysis(int16_t *u, const int16_t *rp, int16_t *s, int count)
{
    for (int k = 0; k < count; k++) {
        int16_t di = s[k];
        int16_t held = di;
        for (int i = 0; i < ORDER; i++) {
            int16_t next = add(u[i], mult_r(rp[i], di));
            di = add(di, mult_r(rp[i], u[i]));
            u[i] = held;
            held = next;
        }
        s[k] = di;
    }
}

static void filter_synthesis(int16_t *v, const int16_t *rrp, const int16_t *wt, int16_t *sr,
                             int count)
{
    for (int k = 0; k < count; k++) {
        int16_t sri = wt[k];
        for (int i = ORDER; i-- > 0;) {
            sri = sub(sri, mult_r(rrp[i], v[i]));
            v[i + 1] = add(v[i], mult_r(rrp[i], sri));
        }
        sr[k] = v[0] = sri;
    }
}

void short_term_analysis(Encoder *state, const int16_t *LARc, int16_t *s)
{
    int16_t LARpp[ORDER];
    int16_t rp[ORDER];

    decode_ratios(LARc, LARpp);
    for (int section = 0; section < 4; section++) {
        int start = section_start[section];
        interpolate(state->LARpp, LARpp, section, rp);
        to_reflection(rp);
        filter_analysis(state->u, rp, s + start, section_start[section + 1] - start);
    }
    memcpy(state->LARpp, LARpp, sizeof LARpp);
}

void short_term_synthesis(Decoder *state, const int16_t *LARc, const int16_t *wt, int16_t *sr)
{
    int16_t LARpp[ORDER];
    int16_t rrp[ORDER];

    decode_ratios(LARc, LARpp);
    for (int section = 0; section < 4; section++) {
        int start = section_start[section];
        interpolate(state->LARpp, LARpp, section, rrp);
        to_reflection(rrp);
        filter_synthesis(state->v, rrp, wt + start, sr + start, section_start[section + 1] - start);
    }
    memcpy(state->LARpp, LARpp, sizeof LARpp);
}
