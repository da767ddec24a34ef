/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "fixed.h"
#include "gsm.h"

void encoder_init(Encoder *state)
{
    memset(state, 0, sizeof *state);
}

void decoder_init(Decoder *state)
{
    memset(state, 0, sizeof *state);
    state->nrp = MIN_LAG;
}

void encode_frame(Encoder *state, const int16_t *samples, Frame *frame)
{
    int16_t s[FRAME_SAMPLES];
    int16_t e[SUBFRAME_SAMPLES];
    int16_t ep[SUBFRAME_SAMPLES];
    int16_t dpp[SUBFRAME_SAMPLES];
    int16_t *dp = state->dp + MAX_LAG;

    preprocess(state, samples, s);
    lpc_analysis(s, frame->LARc);
    short_term_analysis(state, frame->LARc, s);
    for (int j = 0; j < SUBFRAMES; j++) {
        const int16_t *d = s + j * SUBFRAME_SAMPLES;
        long_term_predictor(d, dp, &frame->Nc[j], &frame->bc[j]);
        long_term_residual(frame->Nc[j], frame->bc[j], d, dp, dpp, e);
        rpe_encode(e, frame, j, ep);
        for (int k = 0; k < SUBFRAME_SAMPLES; k++)
            dp[k] = add(ep[k], dpp[k]);
        memmove(state->dp, state->dp + SUBFRAME_SAMPLES, MAX_LAG * sizeof *state->dp);
    }
}

void decode_frame(Decoder *state, const Frame *frame, int16_t *samples)
{
    int16_t wt[FRAME_SAMPLES];
    int16_t sr[FRAME_SAMPLES];
    int16_t erp[SUBFRAME_SAMPLES];

    for (int j = 0; j < SUBFRAMES; j++) {
        rpe_decode(frame, j, erp);
        long_term_synthesis(state, frame->Nc[j], frame->bc[j], erp);
        memcpy(wt + j * SUBFRAME_SAMPLES, state->drp + MAX_LAG, SUBFRAME_SAMPLES * sizeof *wt);
        memmove(state->drp, state->drp + SUBFRAME_SAMPLES, MAX_LAG * sizeof *state->drp);
    }
    short_term_synthesis(state, frame->LARc, wt, sr);
    postprocess(state, sr, samples);
}
