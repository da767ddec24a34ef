/* SPDX-License-Identifier: MIT */
#include "fixed.h"
#include "gsm.h"

void preprocess(Encoder *state, const int16_t *sop, int16_t *s)
{
    for (int k = 0; k < FRAME_SAMPLES; k++) {
        int16_t so = shift_left((int16_t)(sop[k] >> 3), 2);

        /* Offset compensation: a notch at zero frequency with 31 bits of state. */
        int16_t s1 = sub(so, state->z1);
        state->z1 = so;
        int16_t msp = (int16_t)(state->L_z2 >> 15);
        int16_t lsp = (int16_t)(state->L_z2 - (int32_t)msp * 32768);
        int32_t L_s2 = L_add((int32_t)s1 * 32768, mult_r(lsp, 32735));
        state->L_z2 = L_add(L_mult(msp, 32735) >> 1, L_s2);
        int16_t sof = (int16_t)(L_add(state->L_z2, 16384) >> 15);

        /* Pre-emphasis. */
        s[k] = add(sof, mult_r(state->mp, -28180));
        state->mp = sof;
    }
}

void postprocess(Decoder *state, const int16_t *sr, int16_t *srop)
{
    for (int k = 0; k < FRAME_SAMPLES; k++) {
        state->msr = add(sr[k], mult_r(state->msr, 28180));
        srop[k] = (int16_t)(add(state->msr, state->msr) & ~7);
    }
}
