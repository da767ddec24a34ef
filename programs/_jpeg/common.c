/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "jpeg.h"

typedef union Chunk {
    union Chunk *next;
    long double alignment;
    uint64_t padding[2];
} Chunk;

static Chunk *chunks;
static const char *program = "jpeg";

void set_program_name(const char *name)
{
    program = name;
}

void print_message(const char *kind, const char *format, va_list arguments)
{
    fprintf(stderr, "%s: %s", program, kind);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_message("", format, arguments);
    va_end(arguments);
    release_memory();
    exit(1);
}

void *take_memory(size_t count, size_t size)
{
    if (size != 0 && count > (SIZE_MAX - sizeof(Chunk)) / size)
        fail("out of memory");
    Chunk *chunk = calloc(1, sizeof *chunk + count * size);
    if (chunk == NULL)
        fail("out of memory");
    chunk->next = chunks;
    chunks = chunk;
    return chunk + 1;
}

void release_memory(void)
{
    while (chunks != NULL) {
        Chunk *next = chunks->next;
        free(chunks);
        chunks = next;
    }
}

void layout_frame(Frame *frame)
{
    if (frame->width == 0 || frame->height == 0)
        fail("the image is empty");
    if (frame->width > MAX_DIMENSION || frame->height > MAX_DIMENSION ||
        (uint64_t)frame->width * frame->height > MAX_PIXELS)
        fail("the image is too large: %lu by %lu", (unsigned long)frame->width,
             (unsigned long)frame->height);
    frame->h_max = frame->v_max = 1;
    for (int c = 0; c < frame->count; c++) {
        const Component *component = &frame->component[c];
        if (component->h < 1 || component->h > MAX_SAMPLING || component->v < 1 ||
            component->v > MAX_SAMPLING)
            fail("sampling factors out of range: %dx%d", component->h, component->v);
        if (component->h > frame->h_max)
            frame->h_max = component->h;
        if (component->v > frame->v_max)
            frame->v_max = component->v;
    }
    frame->mcus_across = divide_up(frame->width, (uint32_t)frame->h_max * BLOCK);
    frame->mcus_down = divide_up(frame->height, (uint32_t)frame->v_max * BLOCK);
    for (int c = 0; c < frame->count; c++) {
        Component *component = &frame->component[c];
        component->width = divide_up(frame->width * (uint32_t)component->h, (uint32_t)frame->h_max);
        component->height = divide_up(frame->height * (uint32_t)component->v, (uint32_t)frame->v_max);
        component->across = divide_up(component->width, BLOCK);
        component->down = divide_up(component->height, BLOCK);
        component->stride = frame->mcus_across * (uint32_t)component->h;
        component->rows = frame->mcus_down * (uint32_t)component->v;
    }
}

void allocate_coefficients(Frame *frame)
{
    for (int c = 0; c < frame->count; c++) {
        Component *component = &frame->component[c];
        component->coefficients = take_memory((size_t)component->stride * component->rows,
                                              BLOCK_SIZE * sizeof *component->coefficients);
    }
}

int16_t *block_at(const Component *component, uint32_t row, uint32_t column)
{
    return component->coefficients + ((size_t)row * component->stride + column) * BLOCK_SIZE;
}
