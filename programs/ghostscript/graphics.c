/* SPDX-License-Identifier: MIT */
/* The graphics state: its stack, coordinate systems, colour and the parameters of lines. */
#include "gs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

gstate *graphics;
matrix default_matrix;

static void default_state(gstate *g)
{
    memcpy(g->ctm, default_matrix, sizeof g->ctm);
    path_clear(&g->path);
    clip_drop(g->clip);
    g->clip = clip_whole();
    g->space = SPACE_GRAY;
    memset(g->components, 0, sizeof g->components);
    memset(g->rgb, 0, sizeof g->rgb);
    memset(&g->pen, 0, sizeof g->pen);
    g->pen.width = 1;
    g->pen.miter = 10;
    g->flatness = 1;
}

void start_graphics(void)
{
    double sx = target.resolution_x / 72.0, sy = target.resolution_y / 72.0;
    const matrix m = {sx, 0, 0, -sy, 0, target.height};
    memcpy(default_matrix, m, sizeof m);
    if (!graphics) {
        graphics = calloc(1, sizeof *graphics);
        if (!graphics)
            abort();
        graphics->font = make_null();
        graphics->indexed = make_null();
    }
    default_state(graphics);
}

static void drop_top(void)
{
    gstate *below = graphics->below;
    path_free(&graphics->path);
    clip_drop(graphics->clip);
    free(graphics);
    graphics = below;
}

void stop_graphics(void)
{
    while (graphics)
        drop_top();
}

void graphics_save(int by_save)
{
    gstate *g = malloc(sizeof *g);
    if (!g)
        abort();
    *g = *graphics;
    memset(&g->path, 0, sizeof g->path);
    path_copy(&g->path, &graphics->path);
    clip_keep(g->clip);
    g->below = graphics;
    /* The mark is on the copy: everything from it up goes when restore comes. */
    g->by_save = by_save;
    graphics = g;
}

/* Pops one state; returns 0 at the bottom and at the state that a save made, which is only reset. */
int graphics_restore(void)
{
    gstate *below = graphics->below;
    if (!below)
        return 0;
    if (graphics->by_save) {
        path_free(&graphics->path);
        clip_drop(graphics->clip);
        *graphics = *below;
        memset(&graphics->path, 0, sizeof graphics->path);
        path_copy(&graphics->path, &below->path);
        clip_keep(graphics->clip);
        graphics->below = below;
        graphics->by_save = 1;
        return 0;
    }
    drop_top();
    return 1;
}

void graphics_restore_to_save(void)
{
    while (graphics->below && !graphics->by_save)
        drop_top();
    if (graphics->below)
        drop_top();
}

/* After a change of the page's size: masks of the old size are of no use in any state. */
void reset_clips(void)
{
    for (gstate *g = graphics; g; g = g->below) {
        clip_drop(g->clip);
        g->clip = clip_whole();
    }
}

static int op_gsave(void)
{
    int depth = 0;
    for (const gstate *g = graphics; g; g = g->below)
        depth++;
    if (depth > 200)
        return E_LIMIT;
    graphics_save(0);
    return OK;
}

static int op_grestore(void)
{
    graphics_restore();
    return OK;
}

static int op_grestoreall(void)
{
    while (graphics_restore())
        ;
    return OK;
}

static int op_initgraphics(void)
{
    default_state(graphics);
    return OK;
}

/* --- coordinate systems --- */

int read_matrix(const object *o, matrix m)
{
    if (o->type != T_ARRAY)
        return E_TYPE;
    if (o->length != 6)
        return E_RANGE;
    for (int i = 0; i < 6; i++) {
        const object *item = &o->u.items[i];
        if (item->type != T_INTEGER && item->type != T_REAL)
            return E_TYPE;
        m[i] = number_of(item);
    }
    return OK;
}

int write_matrix(object *o, const matrix m)
{
    if (o->access != UNLIMITED)
        return E_ACCESS;
    for (int i = 0; i < 6; i++)
        array_store(&o->u.items[i], make_real(m[i]));
    return OK;
}

static int op_matrix(void)
{
    static const matrix identity = {1, 0, 0, 1, 0, 0};
    object o = make_array(6);
    write_matrix(&o, identity);
    return push(o);
}

static int op_identmatrix(void)
{
    static const matrix identity = {1, 0, 0, 1, 0, 0};
    return write_matrix(peek(0), identity);
}

static int op_defaultmatrix(void)
{
    return write_matrix(peek(0), default_matrix);
}

static int op_currentmatrix(void)
{
    return write_matrix(peek(0), graphics->ctm);
}

static int op_setmatrix(void)
{
    matrix m;
    int status = read_matrix(peek(0), m);
    if (status == OK) {
        memcpy(graphics->ctm, m, sizeof m);
        pop();
    }
    return status;
}

static int op_initmatrix(void)
{
    memcpy(graphics->ctm, default_matrix, sizeof default_matrix);
    return OK;
}

/* translate, scale and rotate change the CTM, or fill in a matrix that they are given. */
static int apply(int operands, const matrix change)
{
    if (peek(0)->type == T_ARRAY) {
        object to = *peek(0);
        int status = to.length == 6 ? write_matrix(&to, change) : E_RANGE;
        if (status == OK) {
            ps.top -= operands + 1;
            push(to);
        }
        return status;
    }
    multiply(change, graphics->ctm, graphics->ctm);
    ps.top -= operands;
    return OK;
}

static int with_matrix(int operands)
{
    int extra = ps.top > 0 && peek(0)->type == T_ARRAY;
    if (ps.top < operands + extra)
        return -E_STACK_UNDERFLOW;
    for (int i = 0; i < operands; i++)
        if (peek(i + extra)->type != T_INTEGER && peek(i + extra)->type != T_REAL)
            return -E_TYPE;
    return extra;
}

static int op_translate(void)
{
    int extra = with_matrix(2);
    if (extra < 0)
        return -extra;
    {
        const matrix m = {1, 0, 0, 1, number_of(peek(1 + extra)), number_of(peek(extra))};
        return apply(2, m);
    }
}

static int op_scale(void)
{
    int extra = with_matrix(2);
    if (extra < 0)
        return -extra;
    {
        const matrix m = {number_of(peek(1 + extra)), 0, 0, number_of(peek(extra)), 0, 0};
        return apply(2, m);
    }
}

static int op_rotate(void)
{
    int extra = with_matrix(1);
    if (extra < 0)
        return -extra;
    {
        double c = cosine(number_of(peek(extra))), s = sine(number_of(peek(extra)));
        const matrix m = {c, s, 0.0 - s, c, 0, 0};
        return apply(1, m);
    }
}

static int op_concat(void)
{
    matrix m;
    int status = read_matrix(peek(0), m);
    if (status == OK) {
        multiply(m, graphics->ctm, graphics->ctm);
        pop();
    }
    return status;
}

static int op_concatmatrix(void)
{
    matrix a, b;
    object to = *peek(0);
    int status = read_matrix(peek(2), a);
    if (status == OK)
        status = read_matrix(peek(1), b);
    if (status != OK)
        return status;
    multiply(a, b, a);
    status = write_matrix(&to, a);
    if (status == OK) {
        ps.top -= 3;
        push(to);
    }
    return status;
}

static int op_invertmatrix(void)
{
    matrix m;
    object to = *peek(0);
    int status = read_matrix(peek(1), m);
    if (status == OK && !invert(m, m))
        status = E_RESULT;
    if (status == OK)
        status = write_matrix(&to, m);
    if (status == OK) {
        ps.top -= 2;
        push(to);
    }
    return status;
}

static int map_point(int inverse, int distance)
{
    int extra = with_matrix(2), status = OK;
    matrix m;
    point p;
    if (extra < 0)
        return -extra;
    memcpy(m, graphics->ctm, sizeof m);
    if (extra)
        status = read_matrix(peek(0), m);
    if (status == OK && inverse && !invert(m, m))
        status = E_RESULT;
    if (status != OK)
        return status;
    p = distance ? transform_distance(m, number_of(peek(1 + extra)), number_of(peek(extra)))
                 : transform(m, number_of(peek(1 + extra)), number_of(peek(extra)));
    ps.top -= 2 + extra;
    push(make_real(p.x));
    return push(make_real(p.y));
}

static int op_transform(void)
{
    return map_point(0, 0);
}

static int op_dtransform(void)
{
    return map_point(0, 1);
}

static int op_itransform(void)
{
    return map_point(1, 0);
}

static int op_idtransform(void)
{
    return map_point(1, 1);
}

/* --- colour --- */

static double unit(double value)
{
    return value > 0 ? (value < 1 ? value : 1) : 0;
}

static uint8_t level(double value)
{
    return (uint8_t)floor(unit(value) * 255 + 0.5);
}

static void indexed_to_rgb(double index, uint8_t rgb[3])
{
    const object *space = &graphics->indexed, *base = &space->u.items[1], *table = &space->u.items[3];
    int count = 1, inner = SPACE_GRAY, high = space->u.items[2].u.integer;
    int entry = index > 0 ? (index < high ? (int)index : high) : 0;
    double components[4];
    if (base->u.name == intern("DeviceRGB", 9)) {
        count = 3;
        inner = SPACE_RGB;
    } else if (base->u.name == intern("DeviceCMYK", 10)) {
        count = 4;
        inner = SPACE_CMYK;
    }
    for (int i = 0; i < count; i++) {
        uint32_t at = (uint32_t)(entry * count + i);
        components[i] = at < table->length ? table->u.bytes[at] / 255.0 : 0;
    }
    space_to_rgb(inner, components, rgb);
}

void space_to_rgb(int space, const double *c, uint8_t rgb[3])
{
    switch (space) {
    case SPACE_GRAY:
        rgb[0] = rgb[1] = rgb[2] = level(c[0]);
        break;
    case SPACE_RGB:
        for (int i = 0; i < 3; i++)
            rgb[i] = level(c[i]);
        break;
    case SPACE_CMYK:
        for (int i = 0; i < 3; i++)
            rgb[i] = level(1 - unit(unit(c[i]) + unit(c[3])));
        break;
    default:
        indexed_to_rgb(c[0], rgb);
        break;
    }
}

static int component_count(int space)
{
    static const int counts[4] = {1, 3, 4, 1};
    return counts[space];
}

void set_color(int space, const double *components)
{
    graphics->space = space;
    for (int i = 0; i < component_count(space); i++)
        graphics->components[i] = space == SPACE_INDEXED ? components[i] : unit(components[i]);
    space_to_rgb(space, graphics->components, graphics->rgb);
}

static int set_from_stack(int space)
{
    double c[4];
    int count = component_count(space);
    for (int i = 0; i < count; i++)
        c[i] = number_of(peek(count - 1 - i));
    ps.top -= count;
    set_color(space, c);
    return OK;
}

static int op_setgray(void)
{
    return set_from_stack(SPACE_GRAY);
}

static int op_setrgbcolor(void)
{
    return set_from_stack(SPACE_RGB);
}

static int op_setcmykcolor(void)
{
    return set_from_stack(SPACE_CMYK);
}

static int op_sethsbcolor(void)
{
    double hue = unit(number_of(peek(2))) * 6, saturation = unit(number_of(peek(1))), v = unit(number_of(peek(0)));
    int sector = (int)hue % 6;
    double part = hue - floor(hue), low = v * (1 - saturation);
    double down = v * (1 - saturation * part), up = v * (1 - saturation * (1 - part));
    const double table[6][3] = {{v, up, low}, {down, v, low}, {low, v, up}, {low, down, v}, {up, low, v}, {v, low, down}};
    ps.top -= 3;
    set_color(SPACE_RGB, table[sector]);
    return OK;
}

static void current_rgb(double rgb[3])
{
    const double *c = graphics->components;
    for (int i = 0; i < 3; i++) {
        switch (graphics->space) {
        case SPACE_GRAY:
            rgb[i] = c[0];
            break;
        case SPACE_RGB:
            rgb[i] = c[i];
            break;
        case SPACE_CMYK:
            rgb[i] = 1 - unit(c[i] + c[3]);
            break;
        default:
            rgb[i] = graphics->rgb[i] / 255.0;
            break;
        }
    }
}

static int op_currentgray(void)
{
    double rgb[3];
    current_rgb(rgb);
    if (graphics->space == SPACE_GRAY)
        return push(make_real(rgb[0]));
    return push(make_real(0.3 * rgb[0] + 0.59 * rgb[1] + 0.11 * rgb[2]));
}

static int op_currentrgbcolor(void)
{
    double rgb[3];
    current_rgb(rgb);
    for (int i = 0; i < 3; i++)
        if (push(make_real(rgb[i])) != OK)
            return E_STACK_OVERFLOW;
    return OK;
}

static int op_currenthsbcolor(void)
{
    double rgb[3], high, low, hue = 0;
    current_rgb(rgb);
    high = fmax(rgb[0], fmax(rgb[1], rgb[2]));
    low = fmin(rgb[0], fmin(rgb[1], rgb[2]));
    if (high > low) {
        if (high == rgb[0])
            hue = (rgb[1] - rgb[2]) / (high - low);
        else if (high == rgb[1])
            hue = 2 + (rgb[2] - rgb[0]) / (high - low);
        else
            hue = 4 + (rgb[0] - rgb[1]) / (high - low);
        if (hue < 0)
            hue += 6;
    }
    push(make_real(hue / 6));
    push(make_real(high > 0 ? (high - low) / high : 0));
    return push(make_real(high));
}

/* Plain complements without black when the colour was not given as CMYK, as the real program has it. */
static int op_currentcmykcolor(void)
{
    double rgb[3], c[4];
    memcpy(c, graphics->components, sizeof c);
    if (graphics->space != SPACE_CMYK) {
        current_rgb(rgb);
        for (int i = 0; i < 3; i++)
            c[i] = 1 - rgb[i];
        c[3] = 0;
    }
    for (int i = 0; i < 4; i++)
        if (push(make_real(c[i])) != OK)
            return E_STACK_OVERFLOW;
    return OK;
}

static int device_space(const object *o, int *space)
{
    static const char *const names[3] = {"DeviceGray", "DeviceRGB", "DeviceCMYK"};
    if (o->type != T_NAME)
        return E_TYPE;
    for (*space = 0; *space < 3; ++*space)
        if (!strcmp(o->u.name->text, names[*space]))
            return OK;
    return E_UNDEFINED;
}

static int check_indexed(const object *o)
{
    int base;
    if (o->length != 4 || o->u.items[2].type != T_INTEGER || o->u.items[3].type != T_STRING)
        return E_TYPE;
    if (o->u.items[2].u.integer < 0 || o->u.items[2].u.integer > 4095)
        return E_RANGE;
    return device_space(&o->u.items[1], &base);
}

static int op_setcolorspace(void)
{
    static const double black[4] = {0, 0, 0, 1}, zero[4] = {0, 0, 0, 0};
    object o = *peek(0), first = o;
    int space, status;
    if (o.type == T_ARRAY) {
        if (!o.length)
            return E_RANGE;
        first = o.u.items[0];
    }
    if (first.type == T_NAME && !strcmp(first.u.name->text, "Indexed") && o.type == T_ARRAY) {
        status = check_indexed(&o);
        if (status != OK)
            return status;
        graphics->indexed = o;
        space = SPACE_INDEXED;
    } else {
        status = device_space(&first, &space);
        if (status != OK)
            return status;
    }
    pop();
    set_color(space, space == SPACE_CMYK ? black : zero);
    return OK;
}

static int op_currentcolorspace(void)
{
    static const char *const names[3] = {"DeviceGray", "DeviceRGB", "DeviceCMYK"};
    object o;
    if (graphics->space == SPACE_INDEXED)
        return push(graphics->indexed);
    o = make_array(1);
    o.u.items[0] = make_name(names[graphics->space], 0);
    return push(o);
}

static int op_setcolor(void)
{
    int count = component_count(graphics->space);
    if (ps.top < count)
        return E_STACK_UNDERFLOW;
    for (int i = 0; i < count; i++)
        if (peek(i)->type != T_INTEGER && peek(i)->type != T_REAL)
            return E_TYPE;
    return set_from_stack(graphics->space);
}

static int op_currentcolor(void)
{
    for (int i = 0; i < component_count(graphics->space); i++)
        if (push(make_real(graphics->components[i])) != OK)
            return E_STACK_OVERFLOW;
    return OK;
}

/* --- lines --- */

static int op_setlinewidth(void)
{
    object o = pop();
    graphics->pen.width = fabs(number_of(&o));
    return OK;
}

static int op_currentlinewidth(void)
{
    return push(make_real(graphics->pen.width));
}

static int set_choice(int *field)
{
    int32_t value = peek(0)->u.integer;
    if (value < 0 || value > 2)
        return E_RANGE;
    *field = (int)value;
    pop();
    return OK;
}

static int op_setlinecap(void)
{
    return set_choice(&graphics->pen.cap);
}

static int op_currentlinecap(void)
{
    return push(make_integer(graphics->pen.cap));
}

static int op_setlinejoin(void)
{
    return set_choice(&graphics->pen.join);
}

static int op_currentlinejoin(void)
{
    return push(make_integer(graphics->pen.join));
}

static int op_setmiterlimit(void)
{
    double limit = number_of(peek(0));
    if (limit < 1)
        return E_RANGE;
    graphics->pen.miter = limit;
    pop();
    return OK;
}

static int op_currentmiterlimit(void)
{
    return push(make_real(graphics->pen.miter));
}

static int op_setdash(void)
{
    object dashes = *peek(1);
    double total = 0;
    if (dashes.length > 11)
        return E_LIMIT;
    for (uint32_t i = 0; i < dashes.length; i++) {
        object *o = &dashes.u.items[i];
        if (o->type != T_INTEGER && o->type != T_REAL)
            return E_TYPE;
        if (number_of(o) < 0)
            return E_RANGE;
        total += number_of(o);
    }
    if (dashes.length && total == 0)
        return E_RANGE;
    for (uint32_t i = 0; i < dashes.length; i++)
        graphics->pen.dashes[i] = number_of(&dashes.u.items[i]);
    graphics->pen.dash_count = (int)dashes.length;
    graphics->pen.dash_offset = number_of(peek(0));
    ps.top -= 2;
    return OK;
}

static int op_currentdash(void)
{
    object dashes = make_array((uint32_t)graphics->pen.dash_count);
    for (int i = 0; i < graphics->pen.dash_count; i++)
        dashes.u.items[i] = make_real(graphics->pen.dashes[i]);
    if (push(dashes) != OK)
        return E_STACK_OVERFLOW;
    return push(make_real(graphics->pen.dash_offset));
}

static int op_setflat(void)
{
    double value = number_of(peek(0));
    graphics->flatness = value < 0.2 ? 0.2 : value > 100 ? 100 : value;
    pop();
    return OK;
}

static int op_currentflat(void)
{
    return push(make_real(graphics->flatness));
}

/* In device units; smooth edges show coarser chords than jagged ones do. */
double flatness_now(void)
{
    return graphics->flatness * 0.2;
}

/* Halftones and stroke adjustment are the device's own affair here: the operands are only taken. */
static int op_setscreen(void)
{
    ps.top -= 3;
    return OK;
}

static int op_setstrokeadjust(void)
{
    pop();
    return OK;
}

const operator_entry graphics_operators[] = {
    {"gsave", op_gsave, ""}, {"grestore", op_grestore, ""}, {"grestoreall", op_grestoreall, ""},
    {"initgraphics", op_initgraphics, ""}, {"matrix", op_matrix, ""},
    {"identmatrix", op_identmatrix, "m"}, {"defaultmatrix", op_defaultmatrix, "m"},
    {"currentmatrix", op_currentmatrix, "m"}, {"setmatrix", op_setmatrix, "m"},
    {"initmatrix", op_initmatrix, ""}, {"translate", op_translate, "aa"}, {"scale", op_scale, "aa"},
    {"rotate", op_rotate, "a"}, {"concat", op_concat, "m"}, {"concatmatrix", op_concatmatrix, "mmm"},
    {"invertmatrix", op_invertmatrix, "mm"}, {"transform", op_transform, "aa"},
    {"dtransform", op_dtransform, "aa"}, {"itransform", op_itransform, "aa"},
    {"idtransform", op_idtransform, "aa"}, {"setgray", op_setgray, "n"},
    {"setrgbcolor", op_setrgbcolor, "nnn"}, {"setcmykcolor", op_setcmykcolor, "nnnn"},
    {"sethsbcolor", op_sethsbcolor, "nnn"}, {"currentgray", op_currentgray, ""},
    {"currentrgbcolor", op_currentrgbcolor, ""}, {"currenthsbcolor", op_currenthsbcolor, ""},
    {"currentcmykcolor", op_currentcmykcolor, ""}, {"setcolorspace", op_setcolorspace, "a"},
    {"currentcolorspace", op_currentcolorspace, ""}, {"setcolor", op_setcolor, ""},
    {"currentcolor", op_currentcolor, ""}, {"setlinewidth", op_setlinewidth, "n"},
    {"currentlinewidth", op_currentlinewidth, ""}, {"setlinecap", op_setlinecap, "i"},
    {"currentlinecap", op_currentlinecap, ""}, {"setlinejoin", op_setlinejoin, "i"},
    {"currentlinejoin", op_currentlinejoin, ""}, {"setmiterlimit", op_setmiterlimit, "n"},
    {"currentmiterlimit", op_currentmiterlimit, ""}, {"setdash", op_setdash, "rn"},
    {"currentdash", op_currentdash, ""}, {"setflat", op_setflat, "n"},
    {"currentflat", op_currentflat, ""}, {"setscreen", op_setscreen, "nnp"},
    {"setstrokeadjust", op_setstrokeadjust, "b"}, {NULL, NULL, NULL}};
