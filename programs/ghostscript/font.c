/* SPDX-License-Identifier: MIT */
/* Fonts and text: the built-in stroked face under the usual names, Type 3 fonts of the program's own,
 * and the show operators.  A font is a dictionary; what the program may change in a copy of it
 * (FontMatrix, Encoding) is looked up there each time. */
#include "gs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "glyphs.h"

enum { GLYPHS = 96, UNIT_X = 90, UNIT_Y = 100, BASE = 2, BEARING = 80, FIXED_WIDTH = 600 };

typedef struct {
    const char *name;
    int weight, slant, fixed; /* pen width in 1/1000, slope in 1/1000, every glyph as wide */
} face;

static const face faces[] = {
    {"Helvetica", 70, 0, 0}, {"Helvetica-Bold", 130, 0, 0}, {"Helvetica-Oblique", 70, 210, 0},
    {"Helvetica-BoldOblique", 130, 210, 0}, {"Times-Roman", 55, 0, 0}, {"Times-Bold", 110, 0, 0},
    {"Times-Italic", 55, 280, 0}, {"Times-BoldItalic", 110, 280, 0}, {"Courier", 45, 0, 1},
    {"Courier-Bold", 100, 0, 1}, {"Courier-Oblique", 45, 210, 1}, {"Courier-BoldOblique", 100, 210, 1}};

static object standard_encoding;
static int font_count;

/* Set by setcachedevice and setcharwidth while a Type 3 glyph runs. */
static struct {
    int active;
    double x, y;
} glyph_width;

static object make_font(const face *f)
{
    static const matrix thousandth = {0.001, 0, 0, 0.001, 0, 0};
    object font = make_dict(12), m = make_array(6), id = make_integer(++font_count), box = make_array(4);
    static const int corners[4] = {-50, -250, 1000, 800};
    write_matrix(&m, thousandth);
    for (int i = 0; i < 4; i++)
        box.u.items[i] = make_integer(corners[i]);
    id.type = T_FONT;
    dict_put_name(font.u.dict, "FontType", make_integer(1));
    dict_put_name(font.u.dict, "FontName", make_name(f->name, 0));
    dict_put_name(font.u.dict, "FontMatrix", m);
    dict_put_name(font.u.dict, "FontBBox", box);
    dict_put_name(font.u.dict, "Encoding", standard_encoding);
    dict_put_name(font.u.dict, "PaintType", make_integer(0));
    dict_put_name(font.u.dict, ".weight", make_integer(f->weight));
    dict_put_name(font.u.dict, ".slant", make_integer(f->slant));
    dict_put_name(font.u.dict, ".fixed", make_boolean(f->fixed));
    dict_put_name(font.u.dict, "FID", id);
    return font;
}

void start_fonts(void)
{
    object glyph_numbers = make_dict(GLYPHS);
    standard_encoding = make_array(256);
    for (int i = 0; i < 256; i++)
        standard_encoding.u.items[i] = make_name(i >= 32 && i < 127 ? glyphs[i - 32].name : ".notdef", 0);
    for (int i = 0; i < GLYPHS; i++)
        dict_put_name(glyph_numbers.u.dict, glyphs[i].name, make_integer(i));
    dict_put_name(ps.system, "StandardEncoding", standard_encoding);
    dict_put_name(ps.system, ".glyphs", glyph_numbers);
    for (size_t i = 0; i < sizeof faces / sizeof faces[0]; i++)
        dict_put_name(ps.fonts, faces[i].name, make_font(&faces[i]));
}

/* --- font dictionaries --- */

static int op_definefont(void)
{
    object font = *peek(0), key = *peek(1), id = make_integer(0);
    static const char *const needed[] = {"FontType", "FontMatrix", "Encoding"};
    for (int i = 0; i < 3; i++)
        if (!dict_get_name(font.u.dict, needed[i]))
            return E_FONT;
    if (!dict_get_name(font.u.dict, "FID")) {
        id.u.integer = ++font_count;
        id.type = T_FONT;
        dict_put_name(font.u.dict, "FID", id);
    }
    dict_put(ps.fonts, &key, &font);
    ps.top -= 2;
    return push(font);
}

static int op_undefinefont(void)
{
    dict_remove(ps.fonts, peek(0));
    pop();
    return OK;
}

/* A font that nobody has is replaced by the plain face, as interpreters have always done. */
static int op_findfont(void)
{
    object *found = dict_find(ps.fonts, peek(0));
    if (!found)
        found = dict_get_name(ps.fonts, "Helvetica");
    if (!found)
        return E_FONT;
    *peek(0) = *found;
    return OK;
}

static int derive_font(int operands, const matrix change)
{
    object font = *peek(operands - 1), *old, made, array;
    matrix m;
    int status;
    if (font.type != T_DICT)
        return E_TYPE;
    old = dict_get_name(font.u.dict, "FontMatrix");
    if (!old)
        return E_FONT;
    status = read_matrix(old, m);
    if (status != OK)
        return status;
    multiply(m, change, m);
    made = make_dict(font.u.dict->count + 2);
    for (uint32_t i = 0; i < font.u.dict->slots; i++) {
        const dict_entry *e = &font.u.dict->entries[i];
        if (e->key.type != T_NULL && e->key.type != T_DELETED)
            dict_put(made.u.dict, &e->key, &e->value);
    }
    array = make_array(6);
    write_matrix(&array, m);
    dict_put_name(made.u.dict, "FontMatrix", array);
    ps.top -= operands;
    return push(made);
}

static int op_scalefont(void)
{
    double size = number_of(peek(0));
    const matrix m = {size, 0, 0, size, 0, 0};
    return derive_font(2, m);
}

static int op_makefont(void)
{
    matrix m;
    int status = read_matrix(peek(0), m);
    return status == OK ? derive_font(2, m) : status;
}

static int op_setfont(void)
{
    graphics->font = pop();
    return OK;
}

static int op_currentfont(void)
{
    if (graphics->font.type == T_NULL)
        return push(*dict_get_name(ps.fonts, "Helvetica"));
    return push(graphics->font);
}

static int op_selectfont(void)
{
    object by = pop();
    int status = op_findfont();
    if (status == OK)
        status = push(by);
    if (status == OK)
        status = by.type == T_ARRAY ? op_makefont() : by.type == T_INTEGER || by.type == T_REAL ? op_scalefont() : E_TYPE;
    return status == OK ? op_setfont() : status;
}

/* --- the built-in face --- */

typedef struct {
    dict *font;
    object encoding, builder; /* builder: BuildGlyph or BuildChar of a Type 3 font */
    int type, by_name;
    matrix m;
} text_font;

static int integer_in(dict *d, const char *key)
{
    object *o = dict_get_name(d, key);
    return o && (o->type == T_INTEGER || o->type == T_BOOLEAN) ? (int)o->u.integer : 0;
}

static int glyph_number(const object *glyph_name)
{
    object *numbers = dict_get_name(ps.system, ".glyphs");
    object *found = glyph_name->type == T_NAME ? dict_find(numbers->u.dict, glyph_name) : NULL;
    return found ? (int)found->u.integer : GLYPHS - 1;
}

static double natural_width(int number)
{
    int widest = 0;
    const char *at = glyphs[number].strokes;
    if (!*at)
        return 300;
    for (; *at; at++) {
        if (*at == '*' || *at == ' ')
            continue;
        if (*at - '0' > widest)
            widest = *at - '0';
        at++;
    }
    return widest * UNIT_X + 2 * BEARING + 20;
}

static double glyph_advance(const text_font *f, int number)
{
    return integer_in(f->font, ".fixed") ? FIXED_WIDTH : natural_width(number);
}

typedef struct {
    path *out;
    matrix m;
    point at, control;
    int pending; /* a control point waits for its end */
} pen_point;

static void quadratic(pen_point *p, point to)
{
    point a = {p->at.x + (p->control.x - p->at.x) * 2 / 3, p->at.y + (p->control.y - p->at.y) * 2 / 3};
    point b = {to.x + (p->control.x - to.x) * 2 / 3, to.y + (p->control.y - to.y) * 2 / 3};
    path_curve(p->out, transform(p->m, a.x, a.y), transform(p->m, b.x, b.y), transform(p->m, to.x, to.y));
    p->at = to;
}

static void draw_glyph(int number, double squeeze, double shift, pen_point *p)
{
    int first = 1, control = 0;
    for (const char *text = glyphs[number].strokes; *text; text++) {
        point here;
        if (*text == ' ') {
            first = 1;
            continue;
        }
        if (*text == '*') {
            control = 1;
            continue;
        }
        here.x = (*text - '0') * UNIT_X * squeeze + shift;
        here.y = (*++text - '0' - BASE) * UNIT_Y;
        if (first) {
            path_move(p->out, transform(p->m, here.x, here.y));
            p->at = here;
            p->pending = 0;
        } else if (control) {
            if (p->pending) {
                point middle = {(p->control.x + here.x) / 2, (p->control.y + here.y) / 2};
                quadratic(p, middle);
            }
            p->control = here;
            p->pending = 1;
        } else if (p->pending) {
            quadratic(p, here);
            p->pending = 0;
        } else {
            path_line(p->out, transform(p->m, here.x, here.y));
            p->at = here;
        }
        first = control = 0;
    }
}

/* The inked area of a glyph, in device space. */
static void glyph_area(const text_font *f, int number, const matrix to_device, path *area)
{
    pen_point p = {NULL, {0}, {0, 0}, {0, 0}, 0};
    matrix slanted = {1, 0, integer_in(f->font, ".slant") / 1000.0, 1, 0, 0};
    path lines = {0};
    double squeeze = 1, shift = BEARING + 10;
    if (integer_in(f->font, ".fixed")) {
        double width = natural_width(number);
        if (width > FIXED_WIDTH)
            squeeze = (FIXED_WIDTH - 2 * BEARING) / (width - 2 * BEARING);
        else
            shift += (FIXED_WIDTH - width) / 2;
    }
    multiply(slanted, to_device, p.m);
    p.out = &lines;
    draw_glyph(number, squeeze, shift, &p);
    path_outline(&lines, integer_in(f->font, ".weight"), to_device, flatness_now(), area);
    path_free(&lines);
}

/* --- showing --- */

enum { SHOW, WIDTHS, OUTLINES };

typedef struct {
    int what;
    double extra_x, extra_y;   /* after every glyph, in user space */
    int wide_code;             /* the code that gets wide_x and wide_y besides, or -1 */
    double wide_x, wide_y;
    object between;            /* kshow's procedure */
    object moves;              /* xshow's array of widths */
    int move_kind;             /* 1: x, 2: y, 3: both */
    double total_x, total_y;   /* in user space, for stringwidth */
} show_state;

static int open_font(text_font *f)
{
    object *m, *encoding, *builder;
    if (graphics->font.type != T_DICT)
        return E_FONT;
    f->font = graphics->font.u.dict;
    f->type = integer_in(f->font, "FontType");
    m = dict_get_name(f->font, "FontMatrix");
    encoding = dict_get_name(f->font, "Encoding");
    if (!m || !encoding || encoding->type != T_ARRAY || read_matrix(m, f->m) != OK)
        return E_FONT;
    f->encoding = *encoding;
    f->by_name = 1;
    builder = dict_get_name(f->font, "BuildGlyph");
    if (!builder) {
        f->by_name = 0;
        builder = dict_get_name(f->font, "BuildChar");
    }
    f->builder = builder ? *builder : make_null();
    return f->type == 3 && !builder ? E_FONT : OK;
}

static object encoded_name(const text_font *f, int code)
{
    return (uint32_t)code < f->encoding.length ? f->encoding.u.items[code] : make_name(".notdef", 0);
}

/* Runs a Type 3 glyph's procedure with the origin at the pen; its width comes back in user space. */
static int build_glyph(const text_font *f, object code, const matrix to_device, int visible)
{
    object font = graphics->font;
    clip *none;
    int status;
    graphics_save(0);
    memcpy(graphics->ctm, to_device, sizeof graphics->ctm);
    path_clear(&graphics->path);
    if (!visible) {
        path nothing = {0};
        none = clip_path(graphics->clip, &nothing, 0);
        clip_drop(graphics->clip);
        graphics->clip = none;
    }
    glyph_width.active = 1;
    glyph_width.x = glyph_width.y = 0;
    status = push(font);
    if (status == OK)
        status = push(code);
    if (status == OK)
        status = call_procedure(f->builder);
    graphics_restore();
    return status;
}

static int one_glyph(show_state *s, const text_font *f, object glyph_name, int code)
{
    point at = {0, 0}, width;
    matrix to_device;
    int status = OK;
    if (s->what != WIDTHS && !path_current(&graphics->path, &at))
        return E_NO_POINT;
    multiply(f->m, graphics->ctm, to_device);
    to_device[4] = at.x;
    to_device[5] = at.y;
    if (f->type == 3) {
        matrix text_to_user;
        memcpy(text_to_user, f->m, sizeof text_to_user);
        status = build_glyph(f, f->by_name ? glyph_name : make_integer(code), to_device, s->what == SHOW);
        width = transform_distance(text_to_user, glyph_width.x, glyph_width.y);
    } else {
        int number = glyph_number(&glyph_name);
        width = transform_distance(f->m, glyph_advance(f, number), 0);
        if (s->what != WIDTHS) {
            path area = {0};
            glyph_area(f, number, to_device, &area);
            if (s->what == SHOW)
                fill_path(&area, 0, graphics->clip, graphics->rgb);
            else
                path_append(&graphics->path, &area);
            path_free(&area);
        }
    }
    if (status != OK)
        return status;
    if (s->move_kind) {
        /* The array takes the place of the widths that the font has. */
        object *moves = s->moves.u.items;
        width.x = s->move_kind & 1 ? number_of(moves++) : 0;
        width.y = s->move_kind & 2 ? number_of(moves++) : 0;
        s->moves.length -= (uint32_t)(moves - s->moves.u.items);
        s->moves.u.items = moves;
    }
    width.x += s->extra_x + (code == s->wide_code ? s->wide_x : 0);
    width.y += s->extra_y + (code == s->wide_code ? s->wide_y : 0);
    s->total_x += width.x;
    s->total_y += width.y;
    if (s->what != WIDTHS) {
        point by = transform_distance(graphics->ctm, width.x, width.y), to = {at.x + by.x, at.y + by.y};
        path_move(&graphics->path, to);
    }
    return OK;
}

static int show_text(show_state *s, object text)
{
    text_font f;
    point at;
    int status = open_font(&f);
    if (status == OK && s->what != WIDTHS && !path_current(&graphics->path, &at))
        status = E_NO_POINT;
    for (uint32_t i = 0; i < text.length && status == OK; i++) {
        int code = text.u.bytes[i];
        status = one_glyph(s, &f, encoded_name(&f, code), code);
        if (status == OK && s->between.type == T_ARRAY && i + 1 < text.length) {
            push(make_integer(code));
            status = push(make_integer(text.u.bytes[i + 1]));
            if (status == OK)
                status = call_procedure(s->between);
            if (status == OK)
                status = open_font(&f); /* the procedure may have changed it */
        }
    }
    return status == LEAVE_LOOP ? OK : status;
}

static show_state plain_show(int what)
{
    show_state s;
    memset(&s, 0, sizeof s);
    s.what = what;
    s.wide_code = -1;
    s.between = make_null();
    s.moves = make_null();
    return s;
}

/* Takes the operands away only where the text can be shown, so that errors leave them. */
static int show_with(show_state *s, int operands, object text)
{
    text_font f;
    point at;
    int status = open_font(&f);
    if (status == OK && s->what != WIDTHS && !path_current(&graphics->path, &at))
        status = E_NO_POINT;
    if (status != OK)
        return status;
    ps.top -= operands;
    return show_text(s, text);
}

static int op_show(void)
{
    show_state s = plain_show(SHOW);
    return show_with(&s, 1, *peek(0));
}

static int op_ashow(void)
{
    show_state s = plain_show(SHOW);
    s.extra_x = number_of(peek(2));
    s.extra_y = number_of(peek(1));
    return show_with(&s, 3, *peek(0));
}

static int op_widthshow(void)
{
    show_state s = plain_show(SHOW);
    s.wide_x = number_of(peek(3));
    s.wide_y = number_of(peek(2));
    s.wide_code = (int)peek(1)->u.integer;
    return show_with(&s, 4, *peek(0));
}

static int op_awidthshow(void)
{
    show_state s = plain_show(SHOW);
    s.wide_x = number_of(peek(5));
    s.wide_y = number_of(peek(4));
    s.wide_code = (int)peek(3)->u.integer;
    s.extra_x = number_of(peek(2));
    s.extra_y = number_of(peek(1));
    return show_with(&s, 6, *peek(0));
}

static int op_kshow(void)
{
    show_state s = plain_show(SHOW);
    s.between = *peek(1);
    return show_with(&s, 2, *peek(0));
}

static int show_moves(int kind)
{
    show_state s = plain_show(SHOW);
    object text = *peek(1), moves = *peek(0);
    if (moves.length < text.length * (kind == 3 ? 2 : 1))
        return E_RANGE;
    for (uint32_t i = 0; i < moves.length; i++)
        if (moves.u.items[i].type != T_INTEGER && moves.u.items[i].type != T_REAL)
            return E_TYPE;
    s.moves = moves;
    s.move_kind = kind;
    return show_with(&s, 2, text);
}

static int op_xshow(void)
{
    return show_moves(1);
}

static int op_yshow(void)
{
    return show_moves(2);
}

static int op_xyshow(void)
{
    return show_moves(3);
}

static int op_glyphshow(void)
{
    show_state s = plain_show(SHOW);
    text_font f;
    int status = open_font(&f);
    object glyph_name = *peek(0);
    point at;
    if (status == OK && !path_current(&graphics->path, &at))
        status = E_NO_POINT;
    if (status != OK)
        return status;
    pop();
    return one_glyph(&s, &f, glyph_name, -1);
}

static int op_stringwidth(void)
{
    show_state s = plain_show(WIDTHS);
    int status = show_with(&s, 1, *peek(0));
    if (status != OK)
        return status;
    push(make_real(s.total_x));
    return push(make_real(s.total_y));
}

static int op_charpath(void)
{
    show_state s = plain_show(OUTLINES);
    return show_with(&s, 2, *peek(1));
}

static int op_setcharwidth(void)
{
    if (!glyph_width.active)
        return E_UNDEFINED;
    glyph_width.x = number_of(peek(1));
    glyph_width.y = number_of(peek(0));
    ps.top -= 2;
    return OK;
}

static int op_setcachedevice(void)
{
    if (!glyph_width.active)
        return E_UNDEFINED;
    glyph_width.x = number_of(peek(5));
    glyph_width.y = number_of(peek(4));
    ps.top -= 6;
    return OK;
}

const operator_entry font_operators[] = {
    {"definefont", op_definefont, "ad"}, {"undefinefont", op_undefinefont, "a"},
    {"findfont", op_findfont, "a"}, {"scalefont", op_scalefont, "dn"}, {"makefont", op_makefont, "dm"},
    {"setfont", op_setfont, "d"}, {"currentfont", op_currentfont, ""}, {"selectfont", op_selectfont, "aa"},
    {"show", op_show, "s"}, {"ashow", op_ashow, "nns"}, {"widthshow", op_widthshow, "nnis"},
    {"awidthshow", op_awidthshow, "nninns"}, {"kshow", op_kshow, "ps"}, {"xshow", op_xshow, "sr"},
    {"yshow", op_yshow, "sr"}, {"xyshow", op_xyshow, "sr"}, {"glyphshow", op_glyphshow, "N"},
    {"stringwidth", op_stringwidth, "s"}, {"charpath", op_charpath, "sb"},
    {"setcharwidth", op_setcharwidth, "nn"}, {"setcachedevice", op_setcachedevice, "nnnnnn"},
    {NULL, NULL, NULL}};
