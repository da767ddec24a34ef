/* SPDX-License-Identifier: MIT */
/* Table 5.1 and the reciprocals of table 5.2. */
#ifndef LAR_H
#define LAR_H

#include <stdint.h>

typedef struct {
    int16_t A;
    int16_t B;
    int16_t MIC;
    int16_t MAC;
    int16_t INVA;
} LarCoding;

extern const LarCoding lar_coding[8];

#endif
