/* SPDX-License-Identifier: MIT */
#include "susan.h"

/* Half widths of the rows of the mask: 3, 5, 7, 7, 7, 5 and 3 pixels, a circle of 37. */
const int8_t mask_reach[MASK_ROWS] = {1, 2, 3, 3, 3, 2, 1};
