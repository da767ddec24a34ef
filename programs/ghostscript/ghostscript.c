/* SPDX-License-Identifier: MIT */
/* Interprets PostScript programs (Adobe's Language Reference: Level 1, and of Level 2 the dictionary
 * syntax, colour spaces, image dictionaries, rectangles, three filters and glyph operators) and draws
 * their pages, with smooth edges if asked, as PNM files.  Text is set in a stroked face of its own or
 * in Type 3 fonts.  The command line is the one of the program that made the name known. */
#include "gs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

device target = {6, 72, 72, 612, 792, 1, NULL};

static int page_number, written;

int device_size(int width, int height)
{
    if (width < 1 || height < 1 || (long)width * height > 40000000L)
        return 0;
    target.width = width;
    target.height = height;
    return page_start(width, height, target.samples);
}

static int luminance(const uint8_t *pixel)
{
    return (pixel[0] * 77 + pixel[1] * 151 + pixel[2] * 28) >> 8;
}

/* Threshold of an 8 by 8 ordered dither: the bits of x ^ y and y, the lowest first. */
static int threshold(int x, int y)
{
    int value = 0, mixed = x ^ y;
    for (int bit = 0; bit < 3; bit++)
        value = value << 2 | (mixed >> bit & 1) << 1 | (y >> bit & 1);
    return value * 4 + 2;
}

static int is_black(int x, int y)
{
    return luminance(paper.pixels + ((size_t)y * (size_t)paper.width + (size_t)x) * 3) <= threshold(x & 7, y & 7);
}

static void write_raw_row(FILE *out, int y)
{
    const uint8_t *row = paper.pixels + (size_t)y * (size_t)paper.width * 3;
    if (target.kind == 6) {
        fwrite(row, 3, (size_t)paper.width, out);
    } else if (target.kind == 5) {
        for (int x = 0; x < paper.width; x++)
            fputc(luminance(row + 3 * x), out);
    } else {
        for (int x = 0; x < paper.width; x += 8) {
            int byte = 0;
            for (int bit = 0; bit < 8; bit++)
                byte = byte << 1 | (x + bit < paper.width && is_black(x + bit, y));
            fputc(byte, out);
        }
    }
}

static void write_plain_row(FILE *out, int y)
{
    const uint8_t *row = paper.pixels + (size_t)y * (size_t)paper.width * 3;
    for (int x = 0; x < paper.width; x++) {
        if (target.kind == 3)
            fprintf(out, "%d %d %d", row[3 * x], row[3 * x + 1], row[3 * x + 2]);
        else
            fprintf(out, "%d", target.kind == 2 ? luminance(row + 3 * x) : is_black(x, y));
        fputc(x % 16 == 15 || x + 1 == paper.width ? '\n' : ' ', out);
    }
}

/* The output name with the page number in the place of %d or %03d; 0 where the name has none. */
static int page_name(char *name, size_t size)
{
    const char *mark = strchr(target.output, '%'), *end;
    int width = 0, before;
    if (!mark)
        return snprintf(name, size, "%s", target.output) * 0;
    for (end = mark + 1; *end >= '0' && *end <= '9' && width < 10; end++)
        width = width * 10 + (*end - '0');
    before = (int)(mark - target.output);
    if (*end != 'd')
        return snprintf(name, size, "%s", target.output) * 0;
    snprintf(name, size, "%.*s%0*d%s", before, target.output, width, page_number, end + 1);
    return 1;
}

int device_write_page(void)
{
    char name[1024];
    FILE *out;
    int several;
    page_number++;
    if (!target.output)
        return OK;
    several = page_name(name, sizeof name);
    out = fopen(name, several || !written ? "wb" : "ab");
    if (!out)
        return E_IO;
    written = 1;
    fprintf(out, "P%d\n%d %d\n", target.kind, paper.width, paper.height);
    if (target.kind != 1 && target.kind != 4)
        fputs("255\n", out);
    for (int y = 0; y < paper.height; y++) {
        if (target.kind > 3)
            write_raw_row(out, y);
        else
            write_plain_row(out, y);
    }
    return fclose(out) ? E_IO : OK;
}

/* --- the command line --- */

static int set_device(const char *text)
{
    static const char *const names[7] = {"", "pbm", "pgm", "ppm", "pbmraw", "pgmraw", "ppmraw"};
    for (int kind = 1; kind < 7; kind++) {
        if (!strcmp(text, names[kind])) {
            target.kind = kind;
            return 1;
        }
    }
    return !strcmp(text, "nullpage");
}

static int parse_pair(const char *text, int low, int high, int *first, int *second)
{
    char *end;
    long a = strtol(text, &end, 10), b = a;
    if (*end == 'x')
        b = strtol(end + 1, &end, 10);
    if (*end || a < low || a > high || b < low || b > high)
        return 0;
    *first = (int)a;
    *second = (int)b;
    return 1;
}

static int parse_alpha(const char *text)
{
    if (strcmp(text, "1") && strcmp(text, "2") && strcmp(text, "4"))
        return 0;
    target.samples = text[0] - '0';
    return 1;
}

static int parse_option(const char *option, int *sized)
{
    if (!strcmp(option, "-q")) {
        ps.quiet = 1;
        return 1;
    }
    if (!strncmp(option, "-sDEVICE=", 9))
        return set_device(option + 9);
    if (!strncmp(option, "-sOutputFile=", 13)) {
        target.output = option + 13;
        return 1;
    }
    if (!strncmp(option, "-dGraphicsAlphaBits=", 20))
        return parse_alpha(option + 20);
    if (!strncmp(option, "-dTextAlphaBits=", 16))
        return parse_alpha(option + 16);
    if (!strncmp(option, "-r", 2))
        return parse_pair(option + 2, 4, 1200, &target.resolution_x, &target.resolution_y);
    if (!strncmp(option, "-g", 2)) {
        *sized = 1;
        return parse_pair(option + 2, 1, 20000, &target.width, &target.height);
    }
    return !strcmp(option, "-dBATCH") || !strcmp(option, "-dNOPAUSE") || !strcmp(option, "-dSAFER") ||
           !strcmp(option, "-dQUIET");
}

static int usage(void)
{
    fputs("usage: ghostscript [-q] [-dBATCH] [-dNOPAUSE] [-sDEVICE=pbm|pgm|ppm|pbmraw|pgmraw|ppmraw|nullpage]\n"
          "       [-sOutputFile=page%d.ppm] [-rDPI[xDPI]] [-gWIDTHxHEIGHT] [-dGraphicsAlphaBits=1|2|4] file.ps ...\n",
          stderr);
    return 2;
}

static uint8_t *read_whole(const char *name, size_t *size)
{
    FILE *in = strcmp(name, "-") ? fopen(name, "rb") : stdin;
    uint8_t *data = NULL;
    size_t room = 0, got = 1;
    *size = 0;
    while (in && got > 0) {
        if (*size == room) {
            uint8_t *more = realloc(data, room = room ? room * 2 : 16384);
            if (!more)
                break;
            data = more;
        }
        got = fread(data + *size, 1, room - *size, in);
        *size += got;
    }
    if (in && in != stdin)
        fclose(in);
    return data;
}

/* Runs one program; returns 1 when it ended by an error that nothing caught. */
static int run_program(const char *name)
{
    size_t size;
    uint8_t *data = read_whole(name, &size);
    object program;
    int status;
    if (!data) {
        printf("Error: /undefinedfilename in %s\n", name);
        return 1;
    }
    program = make_file(data, size);
    program.executable = 1;
    status = run_file(program);
    if (status == LEAVE_LOOP)
        status = signal_error(E_EXIT, make_name("exit", 0));
    if (status == LEAVE_STOPPED)
        report_error();
    /* What the program kept of its own file is at its end. */
    program.u.file->size = program.u.file->at = 0;
    free(data);
    return status == LEAVE_STOPPED ? 1 : status == LEAVE_ALL ? -1 : 0;
}

int main(int argc, char **argv)
{
    int at = 1, sized = 0, failed = 0;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        if (!strcmp(argv[at], "--")) {
            at++;
            break;
        }
        if (!parse_option(argv[at], &sized))
            return usage();
    }
    if (at == argc)
        return usage();
    if (!sized) {
        target.width = target.width * target.resolution_x / 72;
        target.height = target.height * target.resolution_y / 72;
    }
    if (!device_size(target.width, target.height)) {
        fputs("ghostscript: the page is too large\n", stderr);
        return 2;
    }
    start_interpreter();
    start_fonts();
    start_graphics();
    for (; at < argc && !failed; at++)
        failed = run_program(argv[at]);
    if (!ps.quiet)
        printf("%d pages, %lu operators\n", page_number, ps.operations);
    stop_graphics();
    page_free();
    vm_release_all();
    return failed > 0 ? 1 : 0;
}
