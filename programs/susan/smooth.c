/* SPDX-License-Identifier: MIT */
/* Smoothing that does not blur edges: each pixel becomes the mean of its neighbours, weighted by
   their distance and by how alike their brightness is. Where none is alike, which means that
   the pixel is noise, it becomes the median of the eight around it. */
#include <stdlib.h>
#include <string.h>

#include "susan.h"

typedef struct {
    int radius;
    uint8_t weight[2 * LARGEST_RADIUS + 1][2 * LARGEST_RADIUS + 1];
} Kernel;

/* 100 * exp(-(dx^2 + dy^2) / (2 sigma^2)), cut off where it is small; or 3 by 3 of equal weight. */
static void build_kernel(Kernel *kernel, int distance_tenths)
{
    int64_t twice_variance = 2 * (int64_t)distance_tenths * distance_tenths;

    memset(kernel, 0, sizeof *kernel);
    if (distance_tenths == 0) {
        kernel->radius = 1;
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 3; x++)
                kernel->weight[y][x] = 100;
        return;
    }
    kernel->radius = (distance_tenths * 15 + 99) / 100 + 1;
    if (kernel->radius > LARGEST_RADIUS)
        kernel->radius = LARGEST_RADIUS;
    for (int dy = -kernel->radius; dy <= kernel->radius; dy++) {
        for (int dx = -kernel->radius; dx <= kernel->radius; dx++) {
            int64_t squared = (int64_t)(dx * dx + dy * dy) * 100;
            int64_t exponent = squared * 65536 / twice_variance;
            kernel->weight[dy + kernel->radius][dx + kernel->radius] =
                (uint8_t)(((int64_t)100 * exponential_q16(exponent) + 32768) >> 16);
        }
    }
}

static uint8_t median_of_neighbours(const Image *image, int x, int y)
{
    uint8_t sorted[8];
    int count = 0;

    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            int ny = y + dy;
            int nx = x + dx;
            if ((dx == 0 && dy == 0) || nx < 0 || ny < 0 || nx >= image->width || ny >= image->height)
                continue;
            uint8_t value = image->pixels[(size_t)ny * (size_t)image->width + (size_t)nx];
            int at = count++;
            for (; at > 0 && sorted[at - 1] > value; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = value;
        }
    }
    if (count == 0)
        return image->pixels[0];
    if (count % 2 == 1)
        return sorted[count / 2];
    return (uint8_t)((sorted[count / 2 - 1] + sorted[count / 2]) / 2);
}

/* `padded` has a margin of the kernel's radius on all sides. */
static uint8_t smooth_pixel(const Image *image, const Image *padded, const Kernel *kernel,
                            const Similarity *similarity, int x, int y)
{
    int side = 2 * kernel->radius + 1;
    const uint8_t *corner = padded->pixels + (size_t)y * (size_t)padded->width + x;
    int center = image->pixels[(size_t)y * (size_t)image->width + (size_t)x];
    int64_t area = 0;
    int64_t total = 0;

    for (int row = 0; row < side; row++) {
        const uint8_t *at = corner + (size_t)row * (size_t)padded->width;
        for (int column = 0; column < side; column++) {
            int weight = kernel->weight[row][column] * alike(similarity, at[column], center);
            area += weight;
            total += (int64_t)weight * at[column];
        }
    }
    /* The pixel is always alike to itself and says nothing about its surroundings. */
    int64_t own = (int64_t)kernel->weight[kernel->radius][kernel->radius] * 100;
    area -= own;
    total -= own * center;
    if (area == 0)
        return median_of_neighbours(image, x, y);
    return (uint8_t)((total + area / 2) / area);
}

static int mirror(int at, int size)
{
    if (size == 1)
        return 0;
    int period = 2 * size - 2;
    int folded = ((at % period) + period) % period;
    return folded < size ? folded : period - folded;
}

static const char *pad(const Image *image, int margin, Image *padded)
{
    const char *problem = new_image(padded, image->width + 2 * margin, image->height + 2 * margin);

    if (problem != NULL)
        return problem;
    for (int y = 0; y < padded->height; y++) {
        const uint8_t *from =
            image->pixels + (size_t)mirror(y - margin, image->height) * (size_t)image->width;
        uint8_t *to = padded->pixels + (size_t)y * (size_t)padded->width;
        for (int x = 0; x < margin; x++) {
            to[x] = from[mirror(x - margin, image->width)];
            to[margin + image->width + x] = from[mirror(image->width + x, image->width)];
        }
        memcpy(to + margin, from, (size_t)image->width);
    }
    return NULL;
}

const char *smooth(const Image *image, const SmoothOptions *options, Image *result)
{
    Kernel kernel;
    Similarity similarity;
    Image padded;

    build_kernel(&kernel, options->distance_tenths);
    build_similarity(&similarity, options->threshold, 2);
    const char *problem = pad(image, kernel.radius, &padded);
    if (problem == NULL)
        problem = new_image(result, image->width, image->height);
    for (int y = 0; problem == NULL && y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            result->pixels[(size_t)y * (size_t)image->width + (size_t)x] =
                smooth_pixel(image, &padded, &kernel, &similarity, x, y);
    free_image(&padded);
    return problem;
}
