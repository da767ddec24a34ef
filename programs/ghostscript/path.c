/* SPDX-License-Identifier: MIT */
/* Paths and the geometry on them: transformation, arcs, flattening, dashes and stroking.  Points are in
 * device space; a stroke is made in user space, where the pen is round, and mapped back. */
#include "gs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grown(void *old, size_t count, size_t size, size_t *room)
{
    void *result;
    if (count < *room)
        return old;
    *room = *room ? *room * 2 : 32;
    result = realloc(old, *room * size);
    if (!result) {
        fputs("gs: out of memory\n", stderr);
        exit(3);
    }
    return result;
}

static void add_code(path *p, int code)
{
    p->codes = grown(p->codes, p->codes_size, 1, &p->codes_room);
    p->codes[p->codes_size++] = (uint8_t)code;
}

static void add_point(path *p, point at)
{
    p->points = grown(p->points, p->points_size, sizeof(point), &p->points_room);
    p->points[p->points_size++] = at;
}

void path_clear(path *p)
{
    p->codes_size = p->points_size = 0;
}

void path_free(path *p)
{
    free(p->codes);
    free(p->points);
    memset(p, 0, sizeof *p);
}

void path_append(path *to, const path *from)
{
    for (size_t i = 0; i < from->codes_size; i++)
        add_code(to, from->codes[i]);
    for (size_t i = 0; i < from->points_size; i++)
        add_point(to, from->points[i]);
}

void path_copy(path *to, const path *from)
{
    path_clear(to);
    path_append(to, from);
}

void path_move(path *p, point to)
{
    /* Two moves in a row are one. */
    if (p->codes_size && p->codes[p->codes_size - 1] == MOVE) {
        p->points[p->points_size - 1] = to;
        return;
    }
    add_code(p, MOVE);
    add_point(p, to);
}

/* After closepath the current point is the start of the closed subpath, where a new one begins. */
static void reopen(path *p)
{
    point at;
    if (p->codes_size && p->codes[p->codes_size - 1] == CLOSE && path_current(p, &at)) {
        add_code(p, MOVE);
        add_point(p, at);
    }
}

void path_line(path *p, point to)
{
    reopen(p);
    add_code(p, LINE);
    add_point(p, to);
}

void path_curve(path *p, point a, point b, point to)
{
    reopen(p);
    add_code(p, CURVE);
    add_point(p, a);
    add_point(p, b);
    add_point(p, to);
}

void path_close(path *p)
{
    if (p->codes_size && p->codes[p->codes_size - 1] != CLOSE)
        add_code(p, CLOSE);
}

static size_t points_of(int code)
{
    return code == CURVE ? 3 : code == CLOSE ? 0 : 1;
}

int path_current(const path *p, point *at)
{
    size_t code = p->codes_size, index = p->points_size;
    if (!code)
        return 0;
    if (p->codes[code - 1] != CLOSE) {
        *at = p->points[index - 1];
        return 1;
    }
    while (code-- > 0) {
        index -= points_of(p->codes[code]);
        if (p->codes[code] == MOVE)
            break;
    }
    *at = p->points[index];
    return 1;
}

point transform(const matrix m, double x, double y)
{
    point p = {m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]};
    return p;
}

point transform_distance(const matrix m, double x, double y)
{
    point p = {m[0] * x + m[2] * y, m[1] * x + m[3] * y};
    return p;
}

int invert(const matrix m, matrix out)
{
    double det = m[0] * m[3] - m[1] * m[2];
    matrix r;
    if (fabs(det) < 1e-20)
        return 0;
    r[0] = m[3] / det;
    r[1] = -m[1] / det;
    r[2] = -m[2] / det;
    r[3] = m[0] / det;
    r[4] = (m[2] * m[5] - m[3] * m[4]) / det;
    r[5] = (m[1] * m[4] - m[0] * m[5]) / det;
    for (int i = 0; i < 6; i++)
        out[i] = r[i] + 0.0; /* no negative zeros */
    return 1;
}

/* out does a first, then b */
void multiply(const matrix a, const matrix b, matrix out)
{
    matrix r;
    r[0] = a[0] * b[0] + a[1] * b[2];
    r[1] = a[0] * b[1] + a[1] * b[3];
    r[2] = a[2] * b[0] + a[3] * b[2];
    r[3] = a[2] * b[1] + a[3] * b[3];
    r[4] = a[4] * b[0] + a[5] * b[2] + b[4];
    r[5] = a[4] * b[1] + a[5] * b[3] + b[5];
    memcpy(out, r, sizeof r);
}

/* Appends curves for an arc, each of at most a right angle; angles in degrees, to may lie below from. */
void path_arc(path *p, const matrix m, point centre, double radius, double from, double to)
{
    double sweep = to - from, step, reach;
    int pieces = (int)ceil(fabs(sweep) / 90.0 - 1e-9);
    if (pieces < 1)
        return;
    step = sweep / pieces;
    reach = 4.0 / 3.0 * sine(step / 4) / cosine(step / 4) * radius;
    for (int i = 0; i < pieces; i++) {
        double a = from + step * i, b = i + 1 == pieces ? to : a + step;
        double ca = cosine(a), sa = sine(a), cb = cosine(b), sb = sine(b);
        path_curve(p, transform(m, centre.x + radius * ca - reach * sa, centre.y + radius * sa + reach * ca),
                   transform(m, centre.x + radius * cb + reach * sb, centre.y + radius * sb - reach * cb),
                   transform(m, centre.x + radius * cb, centre.y + radius * sb));
    }
}

/* --- flattening --- */

static void flatten_curve(path *out, point a, const point *c, double flatness)
{
    /* The second differences bound how far a curve strays from its chords. */
    double dx = fmax(fabs(a.x - 2 * c[0].x + c[1].x), fabs(c[0].x - 2 * c[1].x + c[2].x));
    double dy = fmax(fabs(a.y - 2 * c[0].y + c[1].y), fabs(c[0].y - 2 * c[1].y + c[2].y));
    double wanted = ceil(sqrt(0.75 * sqrt(dx * dx + dy * dy) / flatness));
    int steps = wanted < 500 ? (wanted > 1 ? (int)wanted : 1) : 500;
    for (int i = 1; i < steps; i++) {
        double t = (double)i / steps, s = 1 - t;
        double w0 = s * s * s, w1 = 3 * s * s * t, w2 = 3 * s * t * t, w3 = t * t * t;
        point at = {w0 * a.x + w1 * c[0].x + w2 * c[1].x + w3 * c[2].x,
                    w0 * a.y + w1 * c[0].y + w2 * c[1].y + w3 * c[2].y};
        path_line(out, at);
    }
    path_line(out, c[2]);
}

void path_flatten(const path *p, double flatness, path *out)
{
    const point *next = p->points;
    point at = {0, 0}, start = {0, 0};
    path_clear(out);
    for (size_t i = 0; i < p->codes_size; i++) {
        switch (p->codes[i]) {
        case MOVE:
            start = *next;
            path_move(out, *next);
            break;
        case LINE:
            path_line(out, *next);
            break;
        case CURVE:
            flatten_curve(out, at, next, flatness);
            break;
        default:
            path_close(out);
            at = start;
            break;
        }
        next += points_of(p->codes[i]);
        if (p->codes[i] != CLOSE)
            at = next[-1];
    }
}

/* Each subpath the other way round; curves stay curves. */
void path_reverse(const path *p, path *out)
{
    size_t first = 0, first_point = 0;
    path_clear(out);
    while (first < p->codes_size) {
        size_t end = first + 1, count = 1, at;
        int closed = 0;
        while (end < p->codes_size && p->codes[end] != MOVE) {
            closed |= p->codes[end] == CLOSE;
            count += points_of(p->codes[end]);
            end++;
        }
        at = first_point + count - 1;
        path_move(out, p->points[at]);
        for (size_t i = end; i-- > first + 1;) {
            if (p->codes[i] == LINE) {
                path_line(out, p->points[--at]);
            } else if (p->codes[i] == CURVE) {
                path_curve(out, p->points[at - 1], p->points[at - 2], p->points[at - 3]);
                at -= 3;
            }
        }
        if (closed)
            path_close(out);
        first = end;
        first_point += count;
    }
}

int path_bounds(const path *p, point *low, point *high)
{
    if (!p->points_size)
        return 0;
    *low = *high = p->points[0];
    for (size_t i = 1; i < p->points_size; i++) {
        low->x = fmin(low->x, p->points[i].x);
        low->y = fmin(low->y, p->points[i].y);
        high->x = fmax(high->x, p->points[i].x);
        high->y = fmax(high->y, p->points[i].y);
    }
    return 1;
}

/* --- stroking --- */

typedef struct {
    path *out;
    matrix m;
    const pen *style;
    double half; /* of the line width, in user space */
    double step; /* degrees between the points of round joins and caps */
} stroker;

/* One convex piece of a stroke.  All get the same sense, so that overlapping ones fill as a union. */
static void add_piece(stroker *s, const point *corners, int count)
{
    point mapped[80];
    double area = 0;
    for (int i = 0; i < count; i++)
        mapped[i] = transform(s->m, corners[i].x, corners[i].y);
    for (int i = 0; i < count; i++) {
        const point *a = &mapped[i], *b = &mapped[(i + 1) % count];
        area += a->x * b->y - b->x * a->y;
    }
    path_move(s->out, mapped[area < 0 ? count - 1 : 0]);
    for (int i = 1; i < count; i++)
        path_line(s->out, mapped[area < 0 ? count - 1 - i : i]);
    path_close(s->out);
}

static void add_round(stroker *s, point centre)
{
    point corners[80];
    int count = (int)(360.0 / s->step);
    if (count > 72)
        count = 72;
    for (int i = 0; i < count; i++) {
        corners[i].x = centre.x + s->half * cosine(360.0 * i / count);
        corners[i].y = centre.y + s->half * sine(360.0 * i / count);
    }
    add_piece(s, corners, count);
}

static point direction(point a, point b)
{
    double dx = b.x - a.x, dy = b.y - a.y, length = sqrt(dx * dx + dy * dy);
    point d = {0, 0};
    if (length > 0) {
        d.x = dx / length;
        d.y = dy / length;
    }
    return d;
}

static void add_segment(stroker *s, point a, point b)
{
    point d = direction(a, b);
    double ox = -d.y * s->half, oy = d.x * s->half;
    point corners[4] = {{a.x + ox, a.y + oy}, {b.x + ox, b.y + oy}, {b.x - ox, b.y - oy}, {a.x - ox, a.y - oy}};
    add_piece(s, corners, 4);
}

/* A join at the point where a line that came along in leaves along out. */
static void add_join(stroker *s, point at, point in, point out)
{
    double turn = in.x * out.y - in.y * out.x, along = in.x * out.x + in.y * out.y;
    double side = turn > 0 ? -s->half : s->half;
    point corners[4];
    if (fabs(turn) < 1e-9 && along > 0)
        return;
    if (s->style->join == 1) {
        add_round(s, at);
        return;
    }
    corners[0] = at;
    corners[1].x = at.x - in.y * side;
    corners[1].y = at.y + in.x * side;
    corners[2].x = at.x - out.y * side;
    corners[2].y = at.y + out.x * side;
    /* The miter's length over the width is 1 / sin(angle / 2); its square is 2 / (1 - cos(angle)), and
     * the angle between the lines is 180 degrees less the turn. */
    if (s->style->join == 0 && 2.0 <= s->style->miter * s->style->miter * (1.0 + along)) {
        double k = side / (1.0 + along);
        corners[3] = corners[2];
        corners[2].x = at.x - (in.y + out.y) * k;
        corners[2].y = at.y + (in.x + out.x) * k;
        add_piece(s, corners, 4);
        return;
    }
    add_piece(s, corners, 3);
}

static void add_cap(stroker *s, point at, point d)
{
    double ox = -d.y * s->half, oy = d.x * s->half, ax = d.x * s->half, ay = d.y * s->half;
    point corners[4] = {{at.x + ox, at.y + oy}, {at.x + ox + ax, at.y + oy + ay},
                        {at.x - ox + ax, at.y - oy + ay}, {at.x - ox, at.y - oy}};
    if (s->style->cap == 1)
        add_round(s, at);
    else if (s->style->cap == 2)
        add_piece(s, corners, 4);
}

/* A polyline without repeated points; closed ones do not repeat the first at the end. */
static void stroke_line(stroker *s, const point *points, size_t count, int closed)
{
    if (count == 1) {
        /* A point shows as a dot under round caps only, and as a square where nothing gives a way. */
        point d = {1, 0}, back = {-1, 0};
        if (s->style->cap == 1) {
            add_round(s, points[0]);
        } else if (s->style->cap == 2) {
            add_cap(s, points[0], d);
            add_cap(s, points[0], back);
        }
        return;
    }
    for (size_t i = 0; i + 1 < count + (size_t)closed; i++)
        add_segment(s, points[i], points[(i + 1) % count]);
    for (size_t i = closed ? 0 : 1; i < count - (closed ? 0 : 1); i++) {
        point before = points[(i + count - 1) % count], after = points[(i + 1) % count];
        add_join(s, points[i], direction(before, points[i]), direction(points[i], after));
    }
    if (!closed) {
        add_cap(s, points[0], direction(points[1], points[0]));
        add_cap(s, points[count - 1], direction(points[count - 2], points[count - 1]));
    }
}

typedef struct {
    const pen *style;
    double total; /* of all dashes */
    int index, on;
    double left; /* of the present dash */
} dasher;

static void start_dashes(dasher *d)
{
    double offset = d->style->dash_offset;
    int count = d->style->dash_count;
    d->index = 0;
    d->on = 1;
    /* An odd number of dashes changes its sense every round. */
    offset = fabs(offset) < 1e9 ? offset - floor(offset / (2 * d->total)) * 2 * d->total : 0;
    while (offset >= d->style->dashes[d->index]) {
        offset -= d->style->dashes[d->index];
        d->index = (d->index + 1) % count;
        d->on = !d->on;
    }
    d->left = d->style->dashes[d->index] - offset;
}

enum { DASH_LIMIT = 100000 };

static void dash_line(stroker *s, const point *points, size_t count, int closed)
{
    dasher d = {s->style, 0, 0, 1, 0};
    point *piece = malloc((count + 3) * sizeof *piece);
    size_t used = 0, dashes = 0;
    if (!piece)
        return;
    for (int i = 0; i < s->style->dash_count; i++)
        d.total += s->style->dashes[i];
    start_dashes(&d);
    if (d.on)
        piece[used++] = points[0];
    for (size_t i = 0; i + 1 < count + (size_t)closed; i++) {
        point a = points[i], b = points[(i + 1) % count], way = direction(a, b);
        double length = sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y)), at = 0;
        while (length - at > d.left && dashes++ < DASH_LIMIT) {
            point here;
            at += d.left;
            here.x = a.x + way.x * at;
            here.y = a.y + way.y * at;
            if (d.on) {
                piece[used++] = here;
                stroke_line(s, piece, used, 0);
                used = 0;
            } else {
                piece[used++] = here;
            }
            d.on = !d.on;
            d.index = (d.index + 1) % s->style->dash_count;
            d.left = s->style->dashes[d.index];
        }
        d.left -= length - at;
        if (d.on)
            piece[used++] = b;
    }
    if (d.on && used > 1)
        stroke_line(s, piece, used, 0);
    free(piece);
}

static void finish_line(stroker *s, point *points, size_t count, int closed)
{
    while (closed && count > 1 && points[0].x == points[count - 1].x && points[0].y == points[count - 1].y)
        count--;
    if (!count)
        return;
    if (count == 1)
        closed = 0;
    if (s->style->dash_count && count > 1)
        dash_line(s, points, count, closed);
    else
        stroke_line(s, points, count, closed);
}

/* The area that a pen covers, as many closed pieces to be filled by the nonzero rule. */
void path_stroke(const path *p, const pen *style, const matrix m, double flatness, path *out)
{
    stroker s = {out, {0}, style, style->width / 2, 15.0};
    matrix back;
    path flat = {0};
    point *line;
    size_t count = 0, index = 0;
    double scale = sqrt(fabs(m[0] * m[3] - m[1] * m[2])), radius;

    path_clear(out);
    if (!invert(m, back))
        return;
    memcpy(s.m, m, sizeof s.m);
    /* A line is never thinner than a pixel. */
    if (s.half * scale < 0.5)
        s.half = 0.5 / scale;
    radius = s.half * scale;
    if (radius > 1)
        s.step = fmax(5.0, 60.0 * sqrt(flatness / radius));
    path_flatten(p, flatness, &flat);
    line = malloc((flat.points_size + 1) * sizeof *line);
    for (size_t i = 0; line && i <= flat.codes_size; i++) {
        int code = i < flat.codes_size ? flat.codes[i] : MOVE;
        if (code == CLOSE || code == MOVE) {
            /* A move that nothing follows marks nothing. */
            if (code == CLOSE || count > 1 || (count == 1 && i > 0 && flat.codes[i - 1] == LINE))
                finish_line(&s, line, count, code == CLOSE);
            count = 0;
        }
        if (code != CLOSE && i < flat.codes_size) {
            point at = flat.points[index++];
            at = transform(back, at.x, at.y);
            if (!count || at.x != line[count - 1].x || at.y != line[count - 1].y)
                line[count++] = at;
        }
    }
    free(line);
    path_free(&flat);
}

/* --- outlines: the stroke of a round pen as few smooth contours, for letters --- */

static point beside(point at, point way, double half)
{
    point p = {at.x - way.y * half, at.y + way.x * half};
    return p;
}

static void outline_to(stroker *s, point at, int *open)
{
    point mapped = transform(s->m, at.x, at.y);
    if (*open)
        path_line(s->out, mapped);
    else
        path_move(s->out, mapped);
    *open = 1;
}

/* Round the outside of a corner, clockwise from the side of one way to the side of another. */
static void outline_turn(stroker *s, point at, point from, point to, int *open)
{
    double start = arc_tangent(from.y, from.x) + 90, end = arc_tangent(to.y, to.x) + 90;
    while (end > start)
        end -= 360;
    for (double angle = start - s->step; angle > end; angle -= s->step) {
        point p = {at.x + s->half * cosine(angle), at.y + s->half * sine(angle)};
        outline_to(s, p, open);
    }
}

/* The left side of the line from one end to the other; closed lines are followed all the way round. */
static void outline_side(stroker *s, const point *points, long count, int closed, int backwards, int *open)
{
    long segments = closed ? count : count - 1;
    for (long i = 0; i < segments; i++) {
        long a = backwards ? (segments - i) % count : i, b = backwards ? segments - 1 - i : (i + 1) % count;
        long after = backwards ? (segments - 2 - i + count) % count : (i + 2) % count;
        point way = direction(points[a], points[b]), next;
        outline_to(s, beside(points[a], way, s->half), open);
        outline_to(s, beside(points[b], way, s->half), open);
        if (i + 1 == segments && !closed)
            break;
        next = direction(points[b], points[after]);
        if (way.x * next.y - way.y * next.x < 0)
            outline_turn(s, points[b], way, next, open);
        else if (way.x * next.x + way.y * next.y < 0.8)
            outline_to(s, points[b], open); /* keeps sharp inner corners from turning inside out */
    }
}

static void outline_line(stroker *s, const point *points, long count)
{
    int open = 0, closed = 0;
    if (count > 3 && points[0].x == points[count - 1].x && points[0].y == points[count - 1].y) {
        closed = 1;
        count--;
    }
    if (count == 1) {
        add_round(s, points[0]);
        return;
    }
    outline_side(s, points, count, closed, 0, &open);
    if (closed) {
        path_close(s->out);
        open = 0;
    } else {
        outline_turn(s, points[count - 1], direction(points[count - 2], points[count - 1]),
                     direction(points[count - 1], points[count - 2]), &open);
    }
    outline_side(s, points, count, closed, 1, &open);
    if (!closed)
        outline_turn(s, points[0], direction(points[1], points[0]), direction(points[0], points[1]), &open);
    path_close(s->out);
}

/* Like path_stroke for a round pen, but each line becomes one contour. */
void path_outline(const path *p, double width, const matrix m, double flatness, path *out)
{
    stroker s = {out, {0}, NULL, width / 2, 15.0};
    matrix back;
    path flat = {0};
    point *line;
    long count = 0;
    size_t index = 0;
    double scale = sqrt(fabs(m[0] * m[3] - m[1] * m[2]));
    path_clear(out);
    if (!invert(m, back))
        return;
    memcpy(s.m, m, sizeof s.m);
    if (s.half * scale < 0.4)
        s.half = 0.4 / scale;
    path_flatten(p, flatness, &flat);
    line = malloc((flat.points_size + 1) * sizeof *line);
    for (size_t i = 0; line && i <= flat.codes_size; i++) {
        if (count && (i == flat.codes_size || flat.codes[i] == MOVE)) {
            outline_line(&s, line, count);
            count = 0;
        }
        if (i < flat.codes_size) {
            point at = transform(back, flat.points[index].x, flat.points[index].y);
            index++;
            if (!count || at.x != line[count - 1].x || at.y != line[count - 1].y)
                line[count++] = at;
        }
    }
    free(line);
    path_free(&flat);
}
