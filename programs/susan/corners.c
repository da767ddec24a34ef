/* SPDX-License-Identifier: MIT */
/* Corners: where the area alike to a pixel is less than half of the mask, lies well to one side and
   is connected to the pixel in that direction; of those the largest response in 7 by 7 pixels. */
#include <stdlib.h>
#include <string.h>

#include "susan.h"

enum { HALF_MASK = 1850, MARGIN = 5, NEAR = 3 };

typedef struct {
    int64_t x, y;
    int64_t area;
} Center;

static Center center_of_area(const Image *image, const Similarity *similarity, int x, int y)
{
    const uint8_t *pixel = image->pixels + (size_t)y * (size_t)image->width + x;
    Center center = {0, 0, 0};

    for (int dy = -3; dy <= 3; dy++) {
        for (int dx = -mask_reach[dy + 3]; dx <= mask_reach[dy + 3]; dx++) {
            int weight = alike(similarity, pixel[(ptrdiff_t)dy * image->width + dx], *pixel);
            center.x += weight * dx;
            center.y += weight * dy;
            center.area += weight;
        }
    }
    return center;
}

static int rounded_quotient(int64_t numerator, int64_t denominator)
{
    int64_t half = denominator / 2;
    return (int)(numerator < 0 ? -((-numerator + half) / denominator)
                               : (numerator + half) / denominator);
}

/* The three pixels on the way to the centre of gravity must be alike too: noise is not. */
static int is_connected(const Image *image, const Similarity *similarity, int x, int y,
                        const Center *center)
{
    const uint8_t *pixel = image->pixels + (size_t)y * (size_t)image->width + x;
    int64_t ax = center->x < 0 ? -center->x : center->x;
    int64_t ay = center->y < 0 ? -center->y : center->y;
    int64_t longest = ax > ay ? ax : ay;
    int sum = 0;

    for (int step = 1; step <= 3; step++) {
        int dx = rounded_quotient(step * center->x, longest);
        int dy = rounded_quotient(step * center->y, longest);
        sum += alike(similarity, pixel[(ptrdiff_t)dy * image->width + dx], *pixel);
    }
    return sum > 290;
}

static int is_corner(const Image *image, const Similarity *similarity, int x, int y, int quick)
{
    Center center = center_of_area(image, similarity, x, y);
    int64_t squared = center.x * center.x + center.y * center.y;

    if (squared == 0)
        return 0;
    /* The centre of gravity must lie well away, by more than 0.7 pixels. */
    if (2 * squared < center.area * center.area)
        return 0;
    return quick || is_connected(image, similarity, x, y, &center);
}

static int is_largest(const int32_t *response, ptrdiff_t width)
{
    for (ptrdiff_t dy = -NEAR; dy <= NEAR; dy++) {
        for (ptrdiff_t dx = -NEAR; dx <= NEAR; dx++) {
            int32_t other = response[dy * width + dx];
            int before = dy < 0 || (dy == 0 && dx < 0);
            if (other > *response || (other == *response && before))
                return 0;
        }
    }
    return 1;
}

static int append(CornerList *list, const Corner *corner)
{
    if (list->count == MAX_CORNERS)
        return -2;
    if (list->count == list->capacity) {
        int capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        Corner *grown = realloc(list->corners, (size_t)capacity * sizeof *grown);
        if (grown == NULL)
            return -1;
        list->corners = grown;
        list->capacity = capacity;
    }
    list->corners[list->count++] = *corner;
    return 0;
}

/* Slope of brightness towards the inside, from the means of both halves of a 3 by 3 square. */
static void describe(const Image *image, int x, int y, int32_t response, Corner *corner)
{
    const uint8_t *pixel = image->pixels + (size_t)y * (size_t)image->width + x;
    ptrdiff_t width = image->width;

    corner->x = x;
    corner->y = y;
    corner->response = response;
    corner->dx = pixel[-width + 1] + pixel[1] + pixel[width + 1] - pixel[-width - 1] - pixel[-1] -
                 pixel[width - 1];
    corner->dy = pixel[width - 1] + pixel[width] + pixel[width + 1] - pixel[-width - 1] -
                 pixel[-width] - pixel[-width + 1];
    corner->dx /= 15;
    corner->dy /= 15;
    corner->brightness = 0;
    for (ptrdiff_t dy = -1; dy <= 1; dy++)
        for (ptrdiff_t dx = -1; dx <= 1; dx++)
            corner->brightness += pixel[dy * width + dx];
    corner->brightness /= 9;
}

static const char *list_maxima(const Image *image, const int32_t *response, CornerList *list)
{
    for (int y = MARGIN; y < image->height - MARGIN; y++) {
        for (int x = MARGIN; x < image->width - MARGIN; x++) {
            size_t at = (size_t)y * (size_t)image->width + (size_t)x;
            if (response[at] <= 0 || !is_largest(response + at, image->width))
                continue;
            Corner corner;
            describe(image, x, y, response[at], &corner);
            int failure = append(list, &corner);
            if (failure != 0)
                return failure == -2 ? "too many corners" : "out of memory";
        }
    }
    return NULL;
}

const char *find_corners(const Image *image, const Similarity *similarity, int quick,
                         CornerList *list, int32_t *response)
{
    const char *problem = respond(image, similarity, HALF_MASK, 0, response);

    if (problem != NULL)
        return problem;
    for (int y = 3; y < image->height - 3; y++) {
        for (int x = 3; x < image->width - 3; x++) {
            size_t at = (size_t)y * (size_t)image->width + (size_t)x;
            int inside = y >= MARGIN && x >= MARGIN && y < image->height - MARGIN &&
                         x < image->width - MARGIN;
            if (response[at] > 0 && (!inside || !is_corner(image, similarity, x, y, quick)))
                response[at] = 0;
        }
    }
    return list_maxima(image, response, list);
}

/* A black dot in a white square, like an edge. */
void draw_corners(Image *image, const CornerList *list, int plain)
{
    if (plain)
        memset(image->pixels, 255, (size_t)image->width * (size_t)image->height);
    for (int i = 0; i < list->count; i++) {
        const Corner *corner = &list->corners[i];
        uint8_t *pixel =
            image->pixels + (size_t)corner->y * (size_t)image->width + (size_t)corner->x;
        for (ptrdiff_t dy = -1; dy <= 1; dy++)
            memset(pixel + dy * image->width - 1, 255, 3);
        *pixel = 0;
    }
}
