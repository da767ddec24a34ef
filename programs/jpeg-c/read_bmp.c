/* SPDX-License-Identifier: MIT */
/* Windows and OS/2 bitmaps of 8, 24 and 32 bits, not compressed, either way up. */
#include "encoder.h"

typedef struct {
    uint32_t data;
    uint32_t width, height;
    int top_down;
    uint32_t bits;
    uint32_t colors;
    uint8_t map[256][3];
    int map_is_gray;
} Bitmap;

static void read_map(Input *input, Bitmap *bitmap, int entry_size)
{
    bitmap->map_is_gray = 1;
    for (uint32_t i = 0; i < bitmap->colors; i++) {
        for (int channel = 2; channel >= 0; channel--)
            bitmap->map[i][channel] = need_byte(input);
        if (entry_size == 4)
            need_byte(input);
        if (bitmap->map[i][0] != bitmap->map[i][1] || bitmap->map[i][1] != bitmap->map[i][2])
            bitmap->map_is_gray = 0;
    }
}

static void read_info(Input *input, Bitmap *bitmap, uint32_t header)
{
    int32_t height;

    bitmap->width = need_little(input, 4);
    height = (int32_t)need_little(input, 4);
    if (height == INT32_MIN)
        fail("BMP: height out of range");
    bitmap->top_down = height < 0;
    bitmap->height = (uint32_t)(height < 0 ? -height : height);
    need_skip(input, 2);
    bitmap->bits = need_little(input, 2);
    if (need_little(input, 4) != 0)
        fail("BMP: compressed bitmaps are not read");
    need_skip(input, 12);
    bitmap->colors = need_little(input, 4);
    need_skip(input, header - 36);
}

static void read_headers(Input *input, Bitmap *bitmap)
{
    need_skip(input, 10);
    bitmap->data = need_little(input, 4);
    uint32_t header = need_little(input, 4);
    bitmap->colors = 0;
    bitmap->top_down = 0;
    if (header == 12) {
        bitmap->width = need_little(input, 2);
        bitmap->height = need_little(input, 2);
        need_skip(input, 2);
        bitmap->bits = need_little(input, 2);
    } else if (header >= 40 && header <= 124) {
        read_info(input, bitmap, header);
    } else
        fail("BMP: header of unknown size");
    if (bitmap->bits != 8 && bitmap->bits != 24 && bitmap->bits != 32)
        fail("BMP: %u bits per pixel are not read", (unsigned)bitmap->bits);
    if (bitmap->bits != 8) {
        bitmap->colors = 0;
        return;
    }
    if (bitmap->colors == 0)
        bitmap->colors = 256;
    if (bitmap->colors > 256)
        fail("BMP: too many colours");
    read_map(input, bitmap, header == 12 ? 3 : 4);
}

static void read_row(Input *input, const Bitmap *bitmap, const Image *image, uint8_t *row)
{
    for (uint32_t x = 0; x < bitmap->width; x++) {
        uint8_t *pixel = row + (size_t)x * (size_t)image->channels;
        if (bitmap->bits == 8) {
            uint32_t index = need_byte(input);
            if (index >= bitmap->colors)
                fail("BMP: pixel outside the colour map");
            for (int channel = 0; channel < image->channels; channel++)
                pixel[channel] = bitmap->map[index][channel];
            continue;
        }
        for (int channel = 2; channel >= 0; channel--)
            pixel[channel] = need_byte(input);
        if (bitmap->bits == 32)
            need_byte(input);
    }
}

void read_bmp(Input *input, Image *image)
{
    Bitmap bitmap;

    read_headers(input, &bitmap);
    if (bitmap.data < input->at)
        fail("BMP: pixels overlap the header");
    need_skip(input, bitmap.data - input->at);
    new_image(image, bitmap.width, bitmap.height, bitmap.bits == 8 && bitmap.map_is_gray ? 1 : 3);
    uint32_t row_bytes = bitmap.width * bitmap.bits / 8;
    uint32_t padding = (4 - row_bytes % 4) % 4;
    for (uint32_t y = 0; y < image->height; y++) {
        uint32_t row = bitmap.top_down ? y : image->height - 1 - y;
        read_row(input, &bitmap, image,
                 image->pixels + (size_t)row * image->width * (size_t)image->channels);
        if (y + 1 < image->height)
            need_skip(input, padding);
    }
}
