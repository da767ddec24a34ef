/* SPDX-License-Identifier: MIT */
/* Netpbm's grey maps, plain (P2) and raw (P5), of up to 65535 levels; written raw with 255. */
#include <ctype.h>
#include <stdlib.h>

#include "susan.h"

static int read_number(FILE *file, long *value)
{
    int c = getc(file);

    while (c == '#' || isspace(c)) {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(file);
        else
            c = getc(file);
    }
    if (c < '0' || c > '9')
        return -1;
    for (*value = 0; c >= '0' && c <= '9'; c = getc(file)) {
        *value = *value * 10 + (c - '0');
        if (*value > 1000000)
            return -1;
    }
    return 0; /* the byte after the number is consumed, as the raw form requires */
}

static int read_level(FILE *file, int raw, long largest, long *level)
{
    if (!raw)
        return read_number(file, level);
    int c = getc(file);
    if (c == EOF)
        return -1;
    *level = c;
    if (largest <= 255)
        return 0;
    c = getc(file);
    *level = *level << 8 | c;
    return c == EOF ? -1 : 0;
}

const char *new_image(Image *image, int width, int height)
{
    image->width = width;
    image->height = height;
    image->pixels = calloc((size_t)width, (size_t)height);
    return image->pixels == NULL ? "out of memory" : NULL;
}

void free_image(Image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}

const char *read_image(FILE *file, Image *image)
{
    long width, height, largest;

    image->pixels = NULL;
    if (getc(file) != 'P')
        return "not a PGM file";
    int kind = getc(file);
    if (kind != '2' && kind != '5')
        return "not a PGM file";
    if (read_number(file, &width) != 0 || read_number(file, &height) != 0 ||
        read_number(file, &largest) != 0)
        return "bad PGM header";
    if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE ||
        (size_t)width * (size_t)height > MAX_PIXELS)
        return "size out of range";
    if (largest < 1 || largest > 65535)
        return "number of levels out of range";
    const char *problem = new_image(image, (int)width, (int)height);
    if (problem != NULL)
        return problem;
    size_t count = (size_t)width * (size_t)height;
    for (size_t i = 0; i < count; i++) {
        long level;
        if (read_level(file, kind == '5', largest, &level) != 0)
            return "the file ends before the image";
        if (level > largest)
            return "level above the announced maximum";
        image->pixels[i] = (uint8_t)((level * 255 + largest / 2) / largest);
    }
    return NULL;
}

int write_image(FILE *file, const Image *image)
{
    size_t count = (size_t)image->width * (size_t)image->height;

    fprintf(file, "P5\n%d %d\n255\n", image->width, image->height);
    return fwrite(image->pixels, 1, count, file) == count ? 0 : -1;
}
