/* SPDX-License-Identifier: MIT */
/* Path construction, clipping and painting operators, and pages. */
#include "gs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- path construction --- */

static int op_newpath(void)
{
    path_clear(&graphics->path);
    return OK;
}

static point from_stack(int depth)
{
    return transform(graphics->ctm, number_of(peek(depth + 1)), number_of(peek(depth)));
}

static int relative(int depth, point *to)
{
    point at, by = transform_distance(graphics->ctm, number_of(peek(depth + 1)), number_of(peek(depth)));
    if (!path_current(&graphics->path, &at))
        return E_NO_POINT;
    to->x = at.x + by.x;
    to->y = at.y + by.y;
    return OK;
}

static int op_currentpoint(void)
{
    point at;
    matrix back;
    if (!path_current(&graphics->path, &at))
        return E_NO_POINT;
    if (!invert(graphics->ctm, back))
        return E_RESULT;
    at = transform(back, at.x, at.y);
    push(make_real(at.x));
    return push(make_real(at.y));
}

static int op_moveto(void)
{
    path_move(&graphics->path, from_stack(0));
    ps.top -= 2;
    return OK;
}

static int op_rmoveto(void)
{
    point to;
    int status = relative(0, &to);
    if (status == OK) {
        path_move(&graphics->path, to);
        ps.top -= 2;
    }
    return status;
}

static int op_lineto(void)
{
    point at;
    if (!path_current(&graphics->path, &at))
        return E_NO_POINT;
    path_line(&graphics->path, from_stack(0));
    ps.top -= 2;
    return OK;
}

static int op_rlineto(void)
{
    point to;
    int status = relative(0, &to);
    if (status == OK) {
        path_line(&graphics->path, to);
        ps.top -= 2;
    }
    return status;
}

static int op_curveto(void)
{
    point at;
    if (!path_current(&graphics->path, &at))
        return E_NO_POINT;
    path_curve(&graphics->path, from_stack(4), from_stack(2), from_stack(0));
    ps.top -= 6;
    return OK;
}

static int op_rcurveto(void)
{
    point a, b, c;
    int status = relative(4, &a);
    if (status != OK)
        return status;
    relative(2, &b);
    relative(0, &c);
    path_curve(&graphics->path, a, b, c);
    ps.top -= 6;
    return OK;
}

static int op_closepath(void)
{
    path_close(&graphics->path);
    return OK;
}

static int arc(int clockwise)
{
    double x = number_of(peek(4)), y = number_of(peek(3)), radius = number_of(peek(2));
    double from = number_of(peek(1)), to = number_of(peek(0));
    point centre = {x, y}, at, start;
    if (!(fabs(from) < 1e6 && fabs(to) < 1e6))
        return E_RANGE;
    while (!clockwise && to < from)
        to += 360;
    while (clockwise && to > from)
        to -= 360;
    start = transform(graphics->ctm, x + radius * cosine(from), y + radius * sine(from));
    if (path_current(&graphics->path, &at))
        path_line(&graphics->path, start);
    else
        path_move(&graphics->path, start);
    path_arc(&graphics->path, graphics->ctm, centre, radius, from, to);
    ps.top -= 5;
    return OK;
}

static int op_arc(void)
{
    return arc(0);
}

static int op_arcn(void)
{
    return arc(1);
}

typedef struct {
    point first, second; /* where the arc touches the two lines */
} tangent_points;

/* The arc of arcto: radius r, tangent to the lines from here to a and from a to b. */
static int tangent_arc(tangent_points *touch)
{
    point here, a = {number_of(peek(4)), number_of(peek(3))}, b = {number_of(peek(2)), number_of(peek(1))};
    double radius = number_of(peek(0)), in_x, in_y, out_x, out_y, in_length, out_length, cross, dot, reach;
    matrix back;
    if (!path_current(&graphics->path, &here))
        return E_NO_POINT;
    if (!invert(graphics->ctm, back))
        return E_RESULT;
    here = transform(back, here.x, here.y);
    in_x = here.x - a.x;
    in_y = here.y - a.y;
    out_x = b.x - a.x;
    out_y = b.y - a.y;
    in_length = sqrt(in_x * in_x + in_y * in_y);
    out_length = sqrt(out_x * out_x + out_y * out_y);
    if (in_length == 0 || out_length == 0)
        return E_RESULT;
    in_x /= in_length;
    in_y /= in_length;
    out_x /= out_length;
    out_y /= out_length;
    cross = in_x * out_y - in_y * out_x;
    dot = in_x * out_x + in_y * out_y;
    if (fabs(cross) < 1e-9) {
        /* The lines are one: there is no arc, only the way to the corner. */
        touch->first = touch->second = a;
        path_line(&graphics->path, transform(graphics->ctm, a.x, a.y));
        return OK;
    }
    reach = radius * (1 + dot) / fabs(cross);
    touch->first.x = a.x + in_x * reach;
    touch->first.y = a.y + in_y * reach;
    touch->second.x = a.x + out_x * reach;
    touch->second.y = a.y + out_y * reach;
    {
        double side = cross > 0 ? 1 : -1; /* the centre is square to the first line, on b's side */
        point centre = {touch->first.x - in_y * radius * side, touch->first.y + in_x * radius * side};
        double from = arc_tangent(touch->first.y - centre.y, touch->first.x - centre.x);
        double to = arc_tangent(touch->second.y - centre.y, touch->second.x - centre.x);
        if (side > 0 && to > from)
            to -= 360;
        if (side < 0 && to < from)
            to += 360;
        path_line(&graphics->path, transform(graphics->ctm, touch->first.x, touch->first.y));
        path_arc(&graphics->path, graphics->ctm, centre, radius, from, to);
    }
    return OK;
}

static int op_arcto(void)
{
    tangent_points touch;
    int status = tangent_arc(&touch);
    if (status != OK)
        return status;
    ps.top -= 5;
    push(make_real(touch.first.x));
    push(make_real(touch.first.y));
    push(make_real(touch.second.x));
    return push(make_real(touch.second.y));
}

static int op_arct(void)
{
    tangent_points touch;
    int status = tangent_arc(&touch);
    if (status == OK)
        ps.top -= 5;
    return status;
}

static int replace_path(path *made)
{
    path_free(&graphics->path);
    graphics->path = *made;
    return OK;
}

static int op_flattenpath(void)
{
    path made = {0};
    path_flatten(&graphics->path, flatness_now(), &made);
    return replace_path(&made);
}

static int op_reversepath(void)
{
    path made = {0};
    path_reverse(&graphics->path, &made);
    return replace_path(&made);
}

static int op_strokepath(void)
{
    path made = {0};
    path_stroke(&graphics->path, &graphics->pen, graphics->ctm, flatness_now(), &made);
    return replace_path(&made);
}

static int op_pathbbox(void)
{
    point low, high, corner;
    matrix back;
    double box[4];
    if (!path_bounds(&graphics->path, &low, &high))
        return E_NO_POINT;
    if (!invert(graphics->ctm, back))
        return E_RESULT;
    for (int i = 0; i < 4; i++) {
        corner = transform(back, i & 1 ? high.x : low.x, i & 2 ? high.y : low.y);
        box[0] = i ? fmin(box[0], corner.x) : corner.x;
        box[1] = i ? fmin(box[1], corner.y) : corner.y;
        box[2] = i ? fmax(box[2], corner.x) : corner.x;
        box[3] = i ? fmax(box[3], corner.y) : corner.y;
    }
    for (int i = 0; i < 4; i++)
        if (push(make_real(box[i])) != OK)
            return E_STACK_OVERFLOW;
    return OK;
}

/* Calls one of four procedures for each element, with its points in user space. */
static int op_pathforall(void)
{
    static const int points[4] = {1, 1, 3, 0};
    object procedures[4];
    path walked = {0};
    matrix back;
    size_t index = 0;
    int status = OK;
    if (!invert(graphics->ctm, back))
        return E_RESULT;
    for (int i = 3; i >= 0; i--)
        procedures[i] = pop();
    path_copy(&walked, &graphics->path);
    for (size_t i = 0; i < walked.codes_size && status == OK; i++) {
        int code = walked.codes[i];
        for (int k = 0; k < points[code] && status == OK; k++, index++) {
            point at = transform(back, walked.points[index].x, walked.points[index].y);
            status = push(make_real(at.x));
            if (status == OK)
                status = push(make_real(at.y));
        }
        if (status == OK)
            status = call_procedure(procedures[code]);
    }
    path_free(&walked);
    return status == LEAVE_LOOP ? OK : status;
}

/* --- clipping --- */

static void set_clip(clip *made)
{
    clip_drop(graphics->clip);
    graphics->clip = made;
}

static void clip_to(const path *p, int even_odd)
{
    path flat = {0};
    path_flatten(p, flatness_now(), &flat);
    set_clip(clip_path(graphics->clip, &flat, even_odd));
    path_free(&flat);
}

static int op_clip(void)
{
    clip_to(&graphics->path, 0);
    return OK;
}

static int op_eoclip(void)
{
    clip_to(&graphics->path, 1);
    return OK;
}

static int op_initclip(void)
{
    set_clip(clip_whole());
    return OK;
}

/* The bounds of the clip as a path. */
static int op_clippath(void)
{
    const clip *c = graphics->clip;
    const point corners[4] = {{c->left, c->top}, {c->right, c->top}, {c->right, c->bottom}, {c->left, c->bottom}};
    path_clear(&graphics->path);
    path_move(&graphics->path, corners[0]);
    for (int i = 1; i < 4; i++)
        path_line(&graphics->path, corners[i]);
    path_close(&graphics->path);
    return OK;
}

static void add_rectangle(path *p, double x, double y, double width, double height)
{
    path_move(p, transform(graphics->ctm, x, y));
    path_line(p, transform(graphics->ctm, x + width, y));
    path_line(p, transform(graphics->ctm, x + width, y + height));
    path_line(p, transform(graphics->ctm, x, y + height));
    path_close(p);
}

/* One rectangle as four numbers, or an array of any number of them. */
static int take_rectangles(path *p)
{
    double v[4];
    object list = *peek(0);
    if (list.type == T_ARRAY) {
        if (list.length % 4)
            return E_RANGE;
        for (uint32_t i = 0; i < list.length; i++)
            if (list.u.items[i].type != T_INTEGER && list.u.items[i].type != T_REAL)
                return E_TYPE;
        for (uint32_t i = 0; i < list.length; i += 4) {
            for (int k = 0; k < 4; k++)
                v[k] = number_of(&list.u.items[i + (uint32_t)k]);
            add_rectangle(p, v[0], v[1], v[2], v[3]);
        }
        pop();
        return OK;
    }
    {
        int status = check_operands("nnnn");
        if (status != OK)
            return status;
    }
    for (int k = 0; k < 4; k++)
        v[k] = number_of(peek(3 - k));
    add_rectangle(p, v[0], v[1], v[2], v[3]);
    ps.top -= 4;
    return OK;
}

static int op_rectclip(void)
{
    path p = {0};
    int status = take_rectangles(&p);
    if (status == OK) {
        clip_to(&p, 0);
        path_clear(&graphics->path);
    }
    path_free(&p);
    return status;
}

const operator_entry path_operators[] = {
    {"newpath", op_newpath, ""}, {"currentpoint", op_currentpoint, ""}, {"moveto", op_moveto, "nn"},
    {"rmoveto", op_rmoveto, "nn"}, {"lineto", op_lineto, "nn"}, {"rlineto", op_rlineto, "nn"},
    {"curveto", op_curveto, "nnnnnn"}, {"rcurveto", op_rcurveto, "nnnnnn"},
    {"closepath", op_closepath, ""}, {"arc", op_arc, "nnnnn"}, {"arcn", op_arcn, "nnnnn"},
    {"arcto", op_arcto, "nnnnn"}, {"arct", op_arct, "nnnnn"}, {"flattenpath", op_flattenpath, ""},
    {"reversepath", op_reversepath, ""}, {"strokepath", op_strokepath, ""},
    {"pathbbox", op_pathbbox, ""}, {"pathforall", op_pathforall, "pppp"}, {"clip", op_clip, ""},
    {"eoclip", op_eoclip, ""}, {"initclip", op_initclip, ""}, {"clippath", op_clippath, ""},
    {"rectclip", op_rectclip, "a"}, {NULL, NULL, NULL}};

/* --- painting --- */

static void fill(const path *p, int even_odd)
{
    path flat = {0};
    path_flatten(p, flatness_now(), &flat);
    fill_path(&flat, even_odd, graphics->clip, graphics->rgb);
    path_free(&flat);
}

static void stroke(const path *p)
{
    path area = {0};
    path_stroke(p, &graphics->pen, graphics->ctm, flatness_now(), &area);
    fill_path(&area, 0, graphics->clip, graphics->rgb);
    path_free(&area);
}

static int op_fill(void)
{
    fill(&graphics->path, 0);
    path_clear(&graphics->path);
    return OK;
}

static int op_eofill(void)
{
    fill(&graphics->path, 1);
    path_clear(&graphics->path);
    return OK;
}

static int op_stroke(void)
{
    stroke(&graphics->path);
    path_clear(&graphics->path);
    return OK;
}

static int op_rectfill(void)
{
    path p = {0};
    int status = take_rectangles(&p);
    if (status == OK)
        fill(&p, 0);
    path_free(&p);
    return status;
}

static int op_rectstroke(void)
{
    path p = {0};
    int status = take_rectangles(&p);
    if (status == OK)
        stroke(&p);
    path_free(&p);
    return status;
}

static int inside(int even_odd, int stroked)
{
    point at = from_stack(0);
    path flat = {0};
    int result;
    if (stroked)
        path_stroke(&graphics->path, &graphics->pen, graphics->ctm, flatness_now(), &flat);
    else
        path_flatten(&graphics->path, flatness_now(), &flat);
    result = path_contains(&flat, even_odd, at);
    path_free(&flat);
    ps.top -= 2;
    return push(make_boolean(result));
}

static int op_infill(void)
{
    return inside(0, 0);
}

static int op_ineofill(void)
{
    return inside(1, 0);
}

static int op_instroke(void)
{
    return inside(0, 1);
}

static int op_erasepage(void)
{
    page_erase();
    return OK;
}

static int op_copypage(void)
{
    return device_write_page();
}

static int op_showpage(void)
{
    int status = device_write_page();
    page_erase();
    start_graphics();
    return status;
}

/* Only PageSize is heeded; it clears the page, as any change of device does. */
static int op_setpagedevice(void)
{
    object o = pop(), *size = dict_get_name(o.u.dict, "PageSize");
    double wide, high;
    if (!size)
        return OK;
    if (size->type != T_ARRAY || size->length != 2)
        return E_TYPE;
    for (int i = 0; i < 2; i++)
        if (size->u.items[i].type != T_INTEGER && size->u.items[i].type != T_REAL)
            return E_TYPE;
    wide = number_of(&size->u.items[0]);
    high = number_of(&size->u.items[1]);
    if (!(wide >= 1 && high >= 1 && wide <= 5000 && high <= 5000))
        return E_CONFIGURATION;
    if (!device_size((int)(wide * target.resolution_x / 72 + 0.5), (int)(high * target.resolution_y / 72 + 0.5)))
        return E_CONFIGURATION;
    reset_clips();
    start_graphics();
    return OK;
}

static int op_currentpagedevice(void)
{
    object o = make_dict(4), size = make_array(2);
    size.u.items[0] = make_real(target.width * 72.0 / target.resolution_x);
    size.u.items[1] = make_real(target.height * 72.0 / target.resolution_y);
    dict_put_name(o.u.dict, "PageSize", size);
    return push(o);
}

const operator_entry paint_operators[] = {
    {"fill", op_fill, ""}, {"eofill", op_eofill, ""}, {"stroke", op_stroke, ""},
    {"rectfill", op_rectfill, "a"}, {"rectstroke", op_rectstroke, "a"}, {"infill", op_infill, "nn"},
    {"ineofill", op_ineofill, "nn"}, {"instroke", op_instroke, "nn"}, {"erasepage", op_erasepage, ""},
    {"copypage", op_copypage, ""}, {"showpage", op_showpage, ""},
    {"setpagedevice", op_setpagedevice, "d"}, {"currentpagedevice", op_currentpagedevice, ""},
    {NULL, NULL, NULL}};
