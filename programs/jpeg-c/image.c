/* SPDX-License-Identifier: MIT */
/* Bytes of the input file, and the choice of a reader by its first two. */
#include "encoder.h"

int next_byte(Input *input)
{
    return input->at < input->size ? input->bytes[input->at++] : -1;
}

uint8_t need_byte(Input *input)
{
    if (input->at >= input->size)
        fail("the input file ends too early");
    return input->bytes[input->at++];
}

uint32_t need_little(Input *input, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)need_byte(input) << (8 * i);
    return value;
}

void need_skip(Input *input, size_t count)
{
    if (count > input->size - input->at)
        fail("the input file ends too early");
    input->at += count;
}

void new_image(Image *image, uint32_t width, uint32_t height, int channels)
{
    if (width == 0 || height == 0)
        fail("the image is empty");
    if (width > MAX_DIMENSION || height > MAX_DIMENSION || (uint64_t)width * height > MAX_PIXELS)
        fail("the image is too large");
    image->width = width;
    image->height = height;
    image->channels = channels;
    image->pixels = take_memory((size_t)width * height, (size_t)channels);
}

/* Targa files have no signature, so they must be asked for. */
void read_image(Input *input, Image *image, int targa)
{
    if (targa) {
        read_tga(input, image);
        return;
    }
    if (input->size < 2)
        fail("the input file ends too early");
    if (input->bytes[0] == 'P')
        read_pnm(input, image);
    else if (input->bytes[0] == 'B' && input->bytes[1] == 'M')
        read_bmp(input, image);
    else if (input->bytes[0] == 'G' && input->bytes[1] == 'I')
        read_gif(input, image);
    else
        fail("unknown kind of image");
}
