/* SPDX-License-Identifier: MIT */
/* Sampled images: image, imagemask and colorimage, with operands or (Level 2) a dictionary.  All data is
 * read first; then every pixel whose middle the image covers takes the sample that it falls on. */
#include "gs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IMAGE_LIMIT = 1 << 27 };

typedef struct {
    int width, height, bits, components, space, mask, planes;
    matrix m; /* from user space to the image */
    double decode[8];
    object sources[4];
    uint8_t *data; /* all planes, row after row, each row on a byte */
    size_t row_bytes;
} sampled;

static size_t plane_bytes(const sampled *s)
{
    return s->row_bytes * (size_t)s->height;
}

/* Reads from a procedure that hands out strings, until it gives an empty one. */
static int read_procedure(object procedure, uint8_t *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        object text;
        size_t part;
        int status = call_procedure(procedure);
        if (status != OK)
            return status;
        if (ps.top < 1)
            return E_STACK_UNDERFLOW;
        if (peek(0)->type != T_STRING)
            return E_TYPE;
        text = pop();
        if (!text.length)
            break;
        part = text.length < size - done ? text.length : size - done;
        memcpy(to + done, text.u.bytes, part);
        done += part;
    }
    return OK;
}

static int read_source(object source, uint8_t *to, size_t size)
{
    if (is_procedure(&source))
        return read_procedure(source, to, size);
    if (source.type == T_STRING) {
        /* A string is used over and over until the image is full. */
        if (!source.length)
            return E_RANGE;
        for (size_t i = 0; i < size; i++)
            to[i] = source.u.bytes[i % source.length];
        return OK;
    }
    if (source.type != T_FILE || source.u.file->output)
        return E_TYPE;
    for (size_t i = 0; i < size; i++) {
        int c = file_byte(source.u.file);
        if (c < 0)
            break;
        to[i] = (uint8_t)c;
    }
    return OK;
}

/* Sources given one for each component take turns, string by string, as Level 1 programs expect. */
static int read_planes(sampled *s)
{
    size_t size = plane_bytes(s), done[4] = {0, 0, 0, 0};
    int open = s->planes;
    if (s->planes == 1)
        return read_source(s->sources[0], s->data, size);
    if (!is_procedure(&s->sources[0])) {
        for (int i = 0; i < s->planes; i++) {
            int status = read_source(s->sources[i], s->data + (size_t)i * size, size);
            if (status != OK)
                return status;
        }
        return OK;
    }
    while (open) {
        for (int i = 0; i < s->planes; i++) {
            object text;
            size_t part;
            int status;
            if (done[i] == size)
                continue;
            status = call_procedure(s->sources[i]);
            if (status != OK)
                return status;
            if (ps.top < 1 || peek(0)->type != T_STRING)
                return ps.top < 1 ? E_STACK_UNDERFLOW : E_TYPE;
            text = pop();
            part = text.length < size - done[i] ? text.length : size - done[i];
            if (part)
                memcpy(s->data + (size_t)i * size + done[i], text.u.bytes, part);
            done[i] += part;
            if (!part)
                done[i] = size;
            open -= done[i] == size;
        }
    }
    return OK;
}

static unsigned sample_at(const sampled *s, int component, int x, int y)
{
    int each = s->planes == 1 ? s->components : 1;
    const uint8_t *row = s->data + (size_t)y * s->row_bytes;
    size_t index = (size_t)x * (size_t)each + (size_t)(each == 1 ? 0 : component), bit = index * (size_t)s->bits;
    if (s->planes > 1)
        row += plane_bytes(s) * (size_t)component;
    if (s->bits == 8)
        return row[index];
    if (s->bits == 12) {
        unsigned pair = (unsigned)row[bit >> 3] << 8 | row[(bit >> 3) + 1];
        return bit & 7 ? pair & 0xfff : pair >> 4;
    }
    return row[bit >> 3] >> (8 - s->bits - (int)(bit & 7)) & ((1u << s->bits) - 1);
}

static void sample_color(const sampled *s, int x, int y, uint8_t rgb[3])
{
    double components[4] = {0, 0, 0, 0}, most = (double)((1u << s->bits) - 1);
    for (int i = 0; i < s->components; i++) {
        double low = s->decode[2 * i], high = s->decode[2 * i + 1];
        components[i] = low + sample_at(s, i, x, y) * (high - low) / most;
    }
    space_to_rgb(s->space, components, rgb);
}

static void bounds_of(const matrix to_device, int width, int height, int box[4])
{
    double low_x = 0, low_y = 0, high_x = 0, high_y = 0;
    for (int i = 0; i < 4; i++) {
        point p = transform(to_device, i & 1 ? width : 0, i & 2 ? height : 0);
        low_x = i ? fmin(low_x, p.x) : p.x;
        low_y = i ? fmin(low_y, p.y) : p.y;
        high_x = i ? fmax(high_x, p.x) : p.x;
        high_y = i ? fmax(high_y, p.y) : p.y;
    }
    box[0] = (int)fmax(graphics->clip->left, fmin(floor(low_x), 1e6));
    box[1] = (int)fmax(graphics->clip->top, fmin(floor(low_y), 1e6));
    box[2] = (int)fmin(graphics->clip->right, fmax(ceil(high_x), -1e6));
    box[3] = (int)fmin(graphics->clip->bottom, fmax(ceil(high_y), -1e6));
}

static int paint(const sampled *s)
{
    matrix to_device, back;
    int box[4], whole = paper.samples * paper.samples;
    if (!invert(s->m, to_device))
        return E_RESULT;
    multiply(to_device, graphics->ctm, to_device);
    if (!invert(to_device, back))
        return OK;
    bounds_of(to_device, s->width, s->height, box);
    for (int y = box[1]; y < box[3]; y++) {
        for (int x = box[0]; x < box[2]; x++) {
            point at = transform(back, x + 0.5, y + 0.5);
            uint8_t rgb[3];
            int covered;
            if (!(at.x >= 0 && at.y >= 0 && at.x < s->width && at.y < s->height))
                continue;
            covered = clip_coverage(graphics->clip, x, y);
            if (!covered)
                continue;
            if (!s->mask) {
                sample_color(s, (int)at.x, (int)at.y, rgb);
                blend_pixel(x, y, rgb, covered, whole);
            } else if (sample_at(s, 0, (int)at.x, (int)at.y) == (s->decode[0] > s->decode[1] ? 1u : 0u)) {
                blend_pixel(x, y, graphics->rgb, covered, whole);
            }
        }
    }
    return OK;
}

static int run_image(sampled *s)
{
    size_t per_row;
    int status;
    if (s->width < 0 || s->height < 0)
        return E_RANGE;
    if (s->bits != 1 && s->bits != 2 && s->bits != 4 && s->bits != 8 && s->bits != 12)
        return E_RANGE;
    if (s->width > 100000 || s->height > 100000)
        return E_LIMIT;
    if (!s->width || !s->height)
        return OK;
    per_row = (size_t)s->width * (size_t)(s->planes == 1 ? s->components : 1) * (size_t)s->bits;
    s->row_bytes = (per_row + 7) / 8;
    if (plane_bytes(s) * (size_t)s->planes > IMAGE_LIMIT)
        return E_LIMIT;
    s->data = calloc(plane_bytes(s) * (size_t)s->planes + 1, 1);
    if (!s->data)
        return E_MEMORY;
    status = read_planes(s);
    if (status == OK)
        status = paint(s);
    free(s->data);
    return status;
}

static void default_decode(sampled *s)
{
    for (int i = 0; i < 4; i++) {
        s->decode[2 * i] = 0;
        s->decode[2 * i + 1] = s->space == SPACE_INDEXED ? (double)((1u << s->bits) - 1) : 1;
    }
}

static int components_of(int space)
{
    return space == SPACE_RGB ? 3 : space == SPACE_CMYK ? 4 : 1;
}

static int dict_integer(dict *d, const char *key, int *value)
{
    object *o = dict_get_name(d, key);
    if (!o)
        return E_UNDEFINED;
    if (o->type != T_INTEGER)
        return E_TYPE;
    *value = (int)o->u.integer;
    return OK;
}

static int read_decode(dict *d, sampled *s)
{
    object *o = dict_get_name(d, "Decode");
    default_decode(s);
    if (!o)
        return OK;
    if (o->type != T_ARRAY || o->length < (uint32_t)s->components * 2)
        return E_TYPE;
    for (int i = 0; i < s->components * 2; i++) {
        if (o->u.items[i].type != T_INTEGER && o->u.items[i].type != T_REAL)
            return E_TYPE;
        s->decode[i] = number_of(&o->u.items[i]);
    }
    return OK;
}

static int read_sources(dict *d, sampled *s)
{
    object *source = dict_get_name(d, "DataSource"), *several = dict_get_name(d, "MultipleDataSources");
    if (!source)
        return E_UNDEFINED;
    s->planes = 1;
    s->sources[0] = *source;
    if (several && several->type == T_BOOLEAN && several->u.integer) {
        if (source->type != T_ARRAY || source->length != (uint32_t)s->components)
            return E_RANGE;
        s->planes = s->components;
        for (int i = 0; i < s->planes; i++)
            s->sources[i] = source->u.items[i];
    }
    return OK;
}

static int dict_image(int mask)
{
    sampled s;
    dict *d = peek(0)->u.dict;
    object *m = dict_get_name(d, "ImageMatrix");
    int status = dict_integer(d, "Width", &s.width);
    memset(s.sources, 0, sizeof s.sources);
    s.bits = 1;
    s.mask = mask;
    s.space = mask ? SPACE_GRAY : graphics->space;
    s.components = components_of(s.space);
    if (status == OK)
        status = dict_integer(d, "Height", &s.height);
    if (status == OK && !mask)
        status = dict_integer(d, "BitsPerComponent", &s.bits);
    if (status == OK)
        status = s.bits < 1 || s.bits > 12 ? E_RANGE : m ? read_matrix(m, s.m) : E_UNDEFINED;
    if (status == OK)
        status = read_decode(d, &s);
    if (status == OK)
        status = read_sources(d, &s);
    if (status != OK)
        return status;
    pop();
    return run_image(&s);
}

/* width height bits matrix source: the form that Level 1 knows, for grey. */
static int op_image(void)
{
    sampled s;
    int status;
    if (peek(0)->type == T_DICT)
        return dict_image(0);
    status = check_operands("iiima");
    if (status != OK)
        return status;
    s.width = (int)peek(4)->u.integer;
    s.height = (int)peek(3)->u.integer;
    s.bits = (int)peek(2)->u.integer;
    s.space = SPACE_GRAY;
    s.components = s.planes = 1;
    s.mask = 0;
    s.sources[0] = *peek(0);
    default_decode(&s);
    status = read_matrix(peek(1), s.m);
    if (status != OK)
        return status;
    ps.top -= 5;
    return run_image(&s);
}

/* width height polarity matrix source: true paints the ones. */
static int op_imagemask(void)
{
    sampled s;
    int status;
    if (peek(0)->type == T_DICT)
        return dict_image(1);
    status = check_operands("iibma");
    if (status != OK)
        return status;
    s.width = (int)peek(4)->u.integer;
    s.height = (int)peek(3)->u.integer;
    s.bits = 1;
    s.space = SPACE_GRAY;
    s.components = s.planes = 1;
    s.mask = 1;
    s.sources[0] = *peek(0);
    s.decode[0] = peek(2)->u.integer ? 1 : 0;
    s.decode[1] = 1 - s.decode[0];
    status = read_matrix(peek(1), s.m);
    if (status != OK)
        return status;
    ps.top -= 5;
    return run_image(&s);
}

/* width height bits matrix source(s) multiple components */
static int op_colorimage(void)
{
    sampled s;
    int status, components = (int)peek(0)->u.integer, several = peek(1)->u.integer, sources;
    if (components != 1 && components != 3 && components != 4)
        return E_RANGE;
    sources = several ? components : 1;
    if (ps.top < 6 + sources)
        return E_STACK_UNDERFLOW;
    for (int i = 0; i < sources; i++)
        s.sources[i] = *peek(1 + sources - i);
    for (int i = 0; i < 3; i++)
        if (peek(3 + sources + i)->type != T_INTEGER)
            return E_TYPE;
    s.width = (int)peek(5 + sources)->u.integer;
    s.height = (int)peek(4 + sources)->u.integer;
    s.bits = (int)peek(3 + sources)->u.integer;
    s.space = components == 1 ? SPACE_GRAY : components == 3 ? SPACE_RGB : SPACE_CMYK;
    s.components = components;
    s.planes = sources;
    s.mask = 0;
    default_decode(&s);
    status = read_matrix(peek(2 + sources), s.m);
    if (status != OK)
        return status;
    ps.top -= 6 + sources;
    return run_image(&s);
}

const operator_entry image_operators[] = {{"image", op_image, "a"},
                                          {"imagemask", op_imagemask, "a"},
                                          {"colorimage", op_colorimage, "bi"},
                                          {NULL, NULL, NULL}};
