/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "susan.h"

static int32_t area_of_circle(const Image *image, const Similarity *similarity, int x, int y)
{
    const uint8_t *center = image->pixels + (size_t)y * (size_t)image->width + x;
    int32_t area = 0;

    for (int row = 0; row < MASK_ROWS; row++) {
        const uint8_t *at = center + (ptrdiff_t)(row - 3) * image->width;
        for (int dx = -mask_reach[row]; dx <= mask_reach[row]; dx++)
            area += alike(similarity, at[dx], *center);
    }
    return area;
}

static int32_t area_of_square(const Image *image, const Similarity *similarity, int x, int y)
{
    const uint8_t *center = image->pixels + (size_t)y * (size_t)image->width + x;
    int32_t area = 0;

    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            area += alike(similarity, center[(ptrdiff_t)dy * image->width + dx], *center);
    return area;
}

/* The response is what the area lacks to the limit; the border, where the mask would stick out,
   has none. */
const char *respond(const Image *image, const Similarity *similarity, int32_t limit, int three,
                    int32_t *response)
{
    int margin = three ? 1 : 3;

    if (image->width < 2 * margin + 1 || image->height < 2 * margin + 1)
        return "the image is smaller than the mask";
    memset(response, 0, (size_t)image->width * (size_t)image->height * sizeof *response);
    for (int y = margin; y < image->height - margin; y++) {
        for (int x = margin; x < image->width - margin; x++) {
            int32_t area = three ? area_of_square(image, similarity, x, y)
                                 : area_of_circle(image, similarity, x, y);
            if (area < limit)
                response[(size_t)y * (size_t)image->width + (size_t)x] = limit - area;
        }
    }
    return NULL;
}
