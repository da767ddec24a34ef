/* SPDX-License-Identifier: MIT */
/* Edges: where the area alike to a pixel is less than three quarters of the mask. Responses are
   thinned across the direction of the edge, and then lines are made one pixel wide. */
#include <stdlib.h>
#include <string.h>

#include "susan.h"

typedef enum { ACROSS_X, ACROSS_Y, ACROSS_FALLING, ACROSS_RISING, NO_DIRECTION } Direction;

typedef struct {
    int64_t x, y; /* first moments of the area, relative to the pixel */
    int64_t xx, yy, xy;
    int64_t area;
} Moments;

static Moments measure(const Image *image, const Similarity *similarity, int x, int y, int three)
{
    const uint8_t *center = image->pixels + (size_t)y * (size_t)image->width + x;
    int rows = three ? 1 : 3;
    Moments m = {0, 0, 0, 0, 0, 0};

    for (int dy = -rows; dy <= rows; dy++) {
        int reach = three ? 1 : mask_reach[dy + 3];
        for (int dx = -reach; dx <= reach; dx++) {
            int weight = alike(similarity, center[(ptrdiff_t)dy * image->width + dx], *center);
            m.x += weight * dx;
            m.y += weight * dy;
            m.xx += weight * dx * dx;
            m.yy += weight * dy * dy;
            m.xy += weight * dx * dy;
            m.area += weight;
        }
    }
    return m;
}

/* Slope of a direction by the ratio of two lengths: below 1/2, between, or above 2. */
static Direction classify(int64_t along_x, int64_t along_y, int falling)
{
    if (2 * along_y < along_x)
        return ACROSS_X;
    if (along_y > 2 * along_x)
        return ACROSS_Y;
    return falling ? ACROSS_FALLING : ACROSS_RISING;
}

/* Between two regions the area lies to one side, and its centre of gravity points across the edge.
   On a line the area is the line itself, and its second moments tell its direction. */
static Direction edge_direction(const Moments *m)
{
    int64_t ax = m->x < 0 ? -m->x : m->x;
    int64_t ay = m->y < 0 ? -m->y : m->y;

    /* The centre is at least 0.9 pixels away, or the area is large: between regions. */
    if (m->area > 600 && 100 * (m->x * m->x + m->y * m->y) > 81 * m->area * m->area)
        return classify(ax, ay, (m->x < 0) == (m->y < 0));
    if (m->xx == 0 && m->yy == 0)
        return ax + ay == 0 ? NO_DIRECTION : classify(ax, ay, (m->x < 0) == (m->y < 0));
    /* Across the line is where the moments are small. */
    return classify(m->yy, m->xx, m->xy < 0);
}

static const int8_t step_x[4] = {1, 0, 1, 1};
static const int8_t step_y[4] = {0, 1, 1, -1};

static void mark_maxima(const Image *image, const Similarity *similarity, int three,
                        const int32_t *response, uint8_t *marks)
{
    int margin = three ? 2 : 4;

    for (int y = margin; y < image->height - margin; y++) {
        for (int x = margin; x < image->width - margin; x++) {
            size_t at = (size_t)y * (size_t)image->width + (size_t)x;
            if (response[at] <= 0)
                continue;
            Moments m = measure(image, similarity, x, y, three);
            Direction direction = edge_direction(&m);
            if (direction == NO_DIRECTION)
                continue;
            ptrdiff_t step = (ptrdiff_t)step_y[direction] * image->width + step_x[direction];
            const int32_t *here = response + at;
            /* Of two equal responses side by side one stays. */
            if (*here > here[step] && *here >= here[-step])
                marks[at] = direction == ACROSS_X || direction == ACROSS_Y ? 1 : 2;
        }
    }
}

/* ---- thinning ---- */

static int count_around(const uint8_t *mark, ptrdiff_t width)
{
    int count = 0;
    for (ptrdiff_t dy = -1; dy <= 1; dy++)
        for (ptrdiff_t dx = -1; dx <= 1; dx++)
            if ((dx != 0 || dy != 0) && mark[dy * width + dx] != 0)
                count++;
    return count;
}

/* Number of separate runs of marks around a pixel: with one, its removal breaks nothing. */
static int count_runs(const uint8_t *mark, ptrdiff_t width)
{
    const ptrdiff_t ring[8] = {-width - 1, -width, -width + 1, 1, width + 1, width, width - 1, -1};
    int runs = 0;

    for (int i = 0; i < 8; i++)
        if (mark[ring[i]] != 0 && mark[ring[(i + 1) % 8]] == 0)
            runs++;
    return runs;
}

/* Joins an end of a line to a neighbour's line over a gap of one pixel with a response. */
static int bridge_gap(uint8_t *mark, const int32_t *response, ptrdiff_t width)
{
    int32_t best = 0;
    ptrdiff_t best_step = 0;

    for (ptrdiff_t dy = -1; dy <= 1; dy++) {
        for (ptrdiff_t dx = -1; dx <= 1; dx++) {
            ptrdiff_t step = dy * width + dx;
            if (step == 0 || mark[step] != 0 || response[step] <= best)
                continue;
            if (count_around(mark + step, width) >= 2 && count_runs(mark + step, width) >= 2) {
                best = response[step];
                best_step = step;
            }
        }
    }
    if (best == 0)
        return 0;
    mark[best_step] = 3;
    return 1;
}

static int thin_pixel(uint8_t *mark, const int32_t *response, ptrdiff_t width)
{
    int around = count_around(mark, width);

    if (around == 0) {
        *mark = 0;
        return 1;
    }
    if (around == 1)
        return bridge_gap(mark, response, width);
    if (around >= 2 && around <= 6 && count_runs(mark, width) == 1) {
        /* The weaker pixels of a thick place go first: keep a pixel stronger than all around. */
        for (ptrdiff_t dy = -1; dy <= 1; dy++)
            for (ptrdiff_t dx = -1; dx <= 1; dx++) {
                ptrdiff_t step = dy * width + dx;
                if (step != 0 && mark[step] != 0 && response[step] > *response) {
                    *mark = 0;
                    return 1;
                }
            }
    }
    return 0;
}

static void thin_lines(const Image *image, const int32_t *response, uint8_t *marks)
{
    enum { ROUNDS = 4, MARGIN = 4 };

    for (int round = 0; round < ROUNDS; round++) {
        int changed = 0;
        for (int y = MARGIN; y < image->height - MARGIN; y++) {
            for (int x = MARGIN; x < image->width - MARGIN; x++) {
                size_t at = (size_t)y * (size_t)image->width + (size_t)x;
                if (marks[at] != 0)
                    changed += thin_pixel(marks + at, response + at, image->width);
            }
        }
        if (changed == 0)
            break;
    }
}

const char *find_edges(const Image *image, const Similarity *similarity, int three, int thin,
                       uint8_t *marks, int32_t *response)
{
    int32_t limit = three ? 730 : 2650;
    const char *problem = respond(image, similarity, limit, three, response);

    if (problem != NULL)
        return problem;
    mark_maxima(image, similarity, three, response, marks);
    if (thin)
        thin_lines(image, response, marks);
    return NULL;
}

/* A marked pixel is black inside a white square, so that it shows on any background. */
void draw_edges(Image *image, const uint8_t *marks, int plain)
{
    size_t count = (size_t)image->width * (size_t)image->height;

    if (plain)
        memset(image->pixels, 255, count);
    for (int y = 1; !plain && y < image->height - 1; y++) {
        for (int x = 1; x < image->width - 1; x++) {
            size_t at = (size_t)y * (size_t)image->width + (size_t)x;
            if (marks[at] == 0)
                continue;
            for (ptrdiff_t dy = -1; dy <= 1; dy++)
                memset(image->pixels + (ptrdiff_t)at + dy * image->width - 1, 255, 3);
        }
    }
    for (size_t i = 0; i < count; i++)
        if (marks[i] != 0)
            image->pixels[i] = 0;
}
