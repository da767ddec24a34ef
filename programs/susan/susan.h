/* SPDX-License-Identifier: MIT */
#ifndef SUSAN_H
#define SUSAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MAX_SIDE = 16384, MASK_AREA = 37, MASK_ROWS = 7, LARGEST_RADIUS = 15, MAX_CORNERS = 15000 };

#define MAX_PIXELS ((size_t)1 << 26)

typedef struct {
    int width, height;
    uint8_t *pixels;
} Image;

typedef struct {
    int x, y;
    int dx, dy; /* towards the inside of the corner */
    int brightness;
    int32_t response;
} Corner;

typedef struct {
    Corner *corners;
    int count, capacity;
} CornerList;

/* Similarity of two brightnesses by their difference, 0 to 100, indexed from -255 to 255. */
typedef struct {
    uint8_t by_difference[511];
} Similarity;

/* similarity.c: the exponent is 2 for smoothing and 6 for edges and corners */
void build_similarity(Similarity *similarity, int threshold, int exponent);
int32_t exponential_q16(int64_t negative_q16);

static inline int alike(const Similarity *similarity, int a, int b)
{
    return similarity->by_difference[a - b + 255];
}

/* mask.c: the circular mask of 37 pixels */
extern const int8_t mask_reach[MASK_ROWS];

/* image.c: all return NULL or what is wrong */
const char *read_image(FILE *file, Image *image);
const char *new_image(Image *image, int width, int height);
int write_image(FILE *file, const Image *image);
void free_image(Image *image);

/* smooth.c */
typedef struct {
    int threshold;
    int distance_tenths; /* sigma of the spatial weights; 0 for a flat mask of 3 by 3 */
} SmoothOptions;

const char *smooth(const Image *image, const SmoothOptions *options, Image *result);

/* usan.c: area alike to each pixel, in hundredths of a pixel, turned into a response */
const char *respond(const Image *image, const Similarity *similarity, int32_t limit, int three,
                    int32_t *response);

/* edges.c */
const char *find_edges(const Image *image, const Similarity *similarity, int three, int thin,
                       uint8_t *marks, int32_t *response);
void draw_edges(Image *image, const uint8_t *marks, int plain);

/* corners.c */
const char *find_corners(const Image *image, const Similarity *similarity, int quick,
                         CornerList *list, int32_t *response);
void draw_corners(Image *image, const CornerList *list, int plain);

#endif
