/* SPDX-License-Identifier: MIT */
/* The page and the scan conversion: polygons to spans of samples, spans through the clip to coverage,
 * coverage to pixels.  Coordinates become integers in 1/256 of a sample before any edge is followed. */
#include "gs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

page paper;

int page_start(int width, int height, int samples)
{
    page_free();
    paper.width = width;
    paper.height = height;
    paper.samples = samples;
    paper.pixels = malloc((size_t)width * (size_t)height * 3);
    if (!paper.pixels)
        return 0;
    page_erase();
    return 1;
}

void page_erase(void)
{
    memset(paper.pixels, 255, (size_t)paper.width * (size_t)paper.height * 3);
}

void page_free(void)
{
    free(paper.pixels);
    memset(&paper, 0, sizeof paper);
}

/* --- clips --- */

clip *clip_whole(void)
{
    clip *c = calloc(1, sizeof *c);
    if (!c)
        abort();
    c->users = 1;
    c->right = paper.width;
    c->bottom = paper.height;
    return c;
}

clip *clip_keep(clip *c)
{
    c->users++;
    return c;
}

void clip_drop(clip *c)
{
    if (c && --c->users == 0) {
        free(c->mask);
        free(c);
    }
}

static size_t mask_pitch(void)
{
    return ((size_t)paper.width * (size_t)paper.samples + 7) / 8;
}

static int mask_bit(const uint8_t *row, int x)
{
    return row[x >> 3] >> (7 - (x & 7)) & 1;
}

/* --- edges --- */

enum { FINE = 256 };

typedef struct {
    int top, bottom; /* the scan lines whose middle it crosses: top <= line < bottom */
    int64_t x, step; /* at the middle of the present line, and from line to line, in 1/65536 of 1/256 */
    int winding;
} edge;

typedef struct {
    edge *edges;
    size_t count;
    int top, bottom;
} edge_table;

static int32_t to_fine(double value, int samples)
{
    double scaled = value * samples * FINE;
    /* Written so that what is not a number is caught too. */
    if (!(scaled < 1e9))
        return 1000000000;
    if (!(scaled > -1e9))
        return -1000000000;
    return (int32_t)floor(scaled + 0.5);
}

/* The first scan line whose middle lies at or below y. */
static int first_line(int32_t y)
{
    return (int)floor(((double)y - FINE / 2) / FINE) + (((y - FINE / 2) % FINE) != 0);
}

static void add_edge(edge_table *table, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    edge *e = &table->edges[table->count];
    int winding = 1;
    if (y0 > y1) {
        int32_t x = x0, y = y0;
        x0 = x1;
        y0 = y1;
        x1 = x;
        y1 = y;
        winding = -1;
    }
    e->top = first_line(y0);
    e->bottom = first_line(y1);
    if (e->top < table->top)
        e->top = table->top;
    if (e->bottom > table->bottom)
        e->bottom = table->bottom;
    if (e->top >= e->bottom)
        return;
    e->winding = winding;
    e->step = (int64_t)(x1 - x0) * FINE * 65536 / (y1 - y0);
    e->x = (int64_t)x0 * 65536 +
           (int64_t)((double)(x1 - x0) / (double)(y1 - y0) * 65536.0 * ((double)e->top * FINE + FINE / 2 - y0));
    table->count++;
}

static int by_top(const void *a, const void *b)
{
    const edge *first = a, *second = b;
    if (first->top != second->top)
        return first->top < second->top ? -1 : 1;
    if (first->x != second->x)
        return first->x < second->x ? -1 : 1;
    if (first->step != second->step)
        return first->step < second->step ? -1 : 1;
    return first->winding - second->winding;
}

/* The edges of a flat path, every subpath closed, that cross scan lines from top to bottom. */
static int make_edges(const path *flat, int samples, int top, int bottom, edge_table *table)
{
    size_t index = 0;
    int32_t x = 0, y = 0, start_x = 0, start_y = 0;
    table->edges = malloc((flat->points_size * 2 + 2) * sizeof *table->edges);
    table->count = 0;
    table->top = top;
    table->bottom = bottom;
    if (!table->edges)
        return 0;
    for (size_t i = 0; i < flat->codes_size; i++) {
        if (flat->codes[i] == LINE) {
            int32_t to_x = to_fine(flat->points[index].x, samples), to_y = to_fine(flat->points[index].y, samples);
            index++;
            add_edge(table, x, y, to_x, to_y);
            x = to_x;
            y = to_y;
            continue;
        }
        add_edge(table, x, y, start_x, start_y);
        if (flat->codes[i] == MOVE) {
            start_x = to_fine(flat->points[index].x, samples);
            start_y = to_fine(flat->points[index].y, samples);
            index++;
        }
        x = start_x;
        y = start_y;
    }
    add_edge(table, x, y, start_x, start_y);
    qsort(table->edges, table->count, sizeof *table->edges, by_top);
    return 1;
}

typedef void span_function(void *context, int line, int from, int to);

static int clamp_sample(int64_t x, int limit)
{
    /* A sample belongs to a span when its middle does. */
    int64_t sample = (x / 65536 + FINE / 2 - 1) >> 8;
    return sample < 0 ? 0 : sample > limit ? limit : (int)sample;
}

static void emit_spans(const edge *const *active, size_t count, int even_odd, int line, int limit,
                       span_function *emit, void *context)
{
    int winding = 0, from = 0;
    for (size_t i = 0; i < count; i++) {
        int was = even_odd ? winding & 1 : winding != 0, is;
        winding += active[i]->winding;
        is = even_odd ? winding & 1 : winding != 0;
        if (!was && is) {
            from = clamp_sample(active[i]->x, limit);
        } else if (was && !is) {
            int to = clamp_sample(active[i]->x, limit);
            if (to > from)
                emit(context, line, from, to);
        }
    }
}

/* Runs down the scan lines with a list of the edges that cross each, kept in order of x. */
static void scan_edges(edge_table *table, int even_odd, int limit, span_function *emit, void *context)
{
    edge **active = malloc((table->count + 1) * sizeof *active);
    size_t count = 0, next = 0;
    int line = table->count ? table->edges[0].top : table->bottom;
    for (; active && line < table->bottom && (count || next < table->count); line++) {
        size_t kept = 0;
        for (size_t i = 0; i < count; i++)
            if (active[i]->bottom > line)
                active[kept++] = active[i];
        count = kept;
        while (next < table->count && table->edges[next].top == line)
            active[count++] = &table->edges[next++];
        for (size_t i = 1; i < count; i++) {
            edge *moving = active[i];
            size_t at = i;
            for (; at && active[at - 1]->x > moving->x; at--)
                active[at] = active[at - 1];
            active[at] = moving;
        }
        emit_spans((const edge *const *)active, count, even_odd, line, limit, emit, context);
        for (size_t i = 0; i < count; i++)
            active[i]->x += active[i]->step;
        if (!count && next < table->count)
            line = table->edges[next].top - 1;
    }
    free(active);
}

/* --- filling --- */

typedef struct {
    const clip *clip;
    const uint8_t *rgb;
    uint8_t *counts; /* covered samples of each pixel of the present row */
    int row, left, right;
} filler;

void blend_pixel(int x, int y, const uint8_t rgb[3], int part, int whole)
{
    uint8_t *to = paper.pixels + ((size_t)y * (size_t)paper.width + (size_t)x) * 3;
    if (part >= whole) {
        memcpy(to, rgb, 3);
        return;
    }
    for (int i = 0; i < 3; i++)
        to[i] = (uint8_t)((to[i] * (whole - part) + rgb[i] * part + whole / 2) / whole);
}

static void flush_row(filler *f)
{
    int whole = paper.samples * paper.samples;
    for (int x = f->left; x < f->right; x++) {
        if (f->counts[x])
            blend_pixel(x, f->row, f->rgb, f->counts[x], whole);
        f->counts[x] = 0;
    }
    f->left = paper.width;
    f->right = 0;
}

static void fill_span(void *context, int line, int from, int to)
{
    filler *f = context;
    const clip *c = f->clip;
    const uint8_t *mask = c->mask ? c->mask + (size_t)line * mask_pitch() : NULL;
    int samples = paper.samples, row = line / samples;
    if (row != f->row) {
        flush_row(f);
        f->row = row;
    }
    if (from < c->left * samples)
        from = c->left * samples;
    if (to > c->right * samples)
        to = c->right * samples;
    if (from >= to)
        return;
    if (from / samples < f->left)
        f->left = from / samples;
    if ((to - 1) / samples + 1 > f->right)
        f->right = (to - 1) / samples + 1;
    for (int x = from; x < to; x++)
        if (!mask || mask_bit(mask, x))
            f->counts[x / samples]++;
}

void fill_path(const path *flat, int even_odd, const clip *c, const uint8_t rgb[3])
{
    edge_table table;
    filler f = {c, rgb, calloc((size_t)paper.width + 1, 1), 0, paper.width, 0};
    if (f.counts && make_edges(flat, paper.samples, c->top * paper.samples, c->bottom * paper.samples, &table)) {
        scan_edges(&table, even_odd, paper.width * paper.samples, fill_span, &f);
        flush_row(&f);
        free(table.edges);
    }
    free(f.counts);
}

typedef struct {
    const clip *old;
    clip *made;
    int empty;
} clipper;

static void clip_span(void *context, int line, int from, int to)
{
    clipper *k = context;
    const uint8_t *old = k->old->mask ? k->old->mask + (size_t)line * mask_pitch() : NULL;
    uint8_t *row = k->made->mask + (size_t)line * mask_pitch();
    int samples = paper.samples, y = line / samples;
    if (from < k->old->left * samples)
        from = k->old->left * samples;
    if (to > k->old->right * samples)
        to = k->old->right * samples;
    for (int x = from; x < to; x++)
        if (!old || mask_bit(old, x))
            row[x >> 3] |= (uint8_t)(0x80 >> (x & 7));
    if (from >= to)
        return;
    if (k->empty || from / samples < k->made->left)
        k->made->left = from / samples;
    if (k->empty || (to - 1) / samples + 1 > k->made->right)
        k->made->right = (to - 1) / samples + 1;
    if (k->empty || y < k->made->top)
        k->made->top = y;
    if (k->empty || y + 1 > k->made->bottom)
        k->made->bottom = y + 1;
    k->empty = 0;
}

/* The part of c that lies inside a path too. */
clip *clip_path(const clip *c, const path *flat, int even_odd)
{
    clipper k = {c, clip_whole(), 1};
    edge_table table;
    k.made->right = k.made->bottom = 0;
    k.made->mask = calloc(mask_pitch(), (size_t)paper.height * (size_t)paper.samples);
    if (k.made->mask && make_edges(flat, paper.samples, c->top * paper.samples, c->bottom * paper.samples, &table)) {
        scan_edges(&table, even_odd, paper.width * paper.samples, clip_span, &k);
        free(table.edges);
    }
    return k.made;
}

int clip_coverage(const clip *c, int x, int y)
{
    int count = 0, samples = paper.samples;
    if (x < c->left || x >= c->right || y < c->top || y >= c->bottom)
        return 0;
    if (!c->mask)
        return samples * samples;
    for (int line = y * samples; line < (y + 1) * samples; line++)
        for (int column = x * samples; column < (x + 1) * samples; column++)
            count += mask_bit(c->mask + (size_t)line * mask_pitch(), column);
    return count;
}

/* Whether a point lies inside a flat path, by counting the crossings of a ray to its right. */
int path_contains(const path *flat, int even_odd, point at)
{
    size_t index = 0;
    point here = {0, 0}, start = {0, 0};
    int winding = 0;
    for (size_t i = 0; i <= flat->codes_size; i++) {
        int code = i < flat->codes_size ? flat->codes[i] : CLOSE;
        point to = code == LINE ? flat->points[index] : start;
        if ((here.y <= at.y) != (to.y <= at.y)) {
            double x = here.x + (to.x - here.x) * ((at.y - here.y) / (to.y - here.y));
            if (x > at.x)
                winding += to.y > here.y ? 1 : -1;
        }
        here = to;
        if (code == MOVE)
            here = start = flat->points[index];
        if (code != CLOSE)
            index++;
    }
    return even_odd ? winding & 1 : winding != 0;
}
