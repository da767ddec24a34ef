/* SPDX-License-Identifier: MIT */
/* Finds edges and corners in a grey image and smooths noise, by the method of S. M. Smith and J. M.
   Brady, "SUSAN - a new approach to low level image processing" (1997): each pixel is compared with
   those in a circle around it, and the area of similar brightness tells flat regions, edges and
   corners apart. Integers only. Reads PGM, writes PGM or a list of corners. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "susan.h"

typedef enum { MODE_SMOOTH, MODE_EDGES, MODE_CORNERS } Mode;

typedef struct {
    Mode mode;
    int threshold;
    int distance_tenths;
    int three;      /* mask of 3 by 3 */
    int thin;
    int quick;
    int plain;      /* marks on white instead of on the image */
    int raw;        /* responses instead of marks */
    int list;
    const char *input;
    const char *output;
} Options;

static int fail(const char *name, const char *problem)
{
    fprintf(stderr, "susan: %s: %s\n", name, problem);
    return 1;
}

/* ---- options ---- */

/* "4" or "4.5" as 40 or 45. */
static int parse_tenths(const char *text, int *tenths)
{
    char *end;
    long whole = strtol(text, &end, 10);
    long tenth = 0;

    if (end == text || whole < 0 || whole > 100)
        return -1;
    if (*end == '.') {
        if (end[1] < '0' || end[1] > '9')
            return -1;
        tenth = end[1] - '0';
        end += 2;
    }
    *tenths = (int)(10 * whole + tenth);
    return *end == '\0' ? 0 : -1;
}

static int parse_threshold(const char *text, int *threshold)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < 1 || value > 255)
        return -1;
    *threshold = (int)value;
    return 0;
}

static int parse_letter(char letter, Options *options)
{
    switch (letter) {
    case 's': options->mode = MODE_SMOOTH; return 0;
    case 'e': options->mode = MODE_EDGES; return 0;
    case 'c': options->mode = MODE_CORNERS; return 0;
    case '3': options->three = 1; return 0;
    case 'n': options->thin = 0; return 0;
    case 'q': options->quick = 1; return 0;
    case 'p': options->plain = 1; return 0;
    case 'r': options->raw = 1; return 0;
    case 'l': options->list = 1; return 0;
    default: return -1;
    }
}

static int parse_options(int argc, char **argv, Options *options)
{
    memset(options, 0, sizeof *options);
    options->threshold = 20;
    options->distance_tenths = 40;
    options->thin = 1;
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        int bad = 0;
        if (strcmp(text, "-t") == 0 && i + 1 < argc)
            bad = parse_threshold(argv[++i], &options->threshold);
        else if (strcmp(text, "-d") == 0 && i + 1 < argc)
            bad = parse_tenths(argv[++i], &options->distance_tenths);
        else if (text[0] == '-' && text[1] != '\0' && text[2] == '\0')
            bad = parse_letter(text[1], options);
        else if (options->input == NULL)
            options->input = text;
        else if (options->output == NULL)
            options->output = text;
        else
            bad = 1;
        if (bad)
            return -1;
    }
    return options->output == NULL ? -1 : 0;
}

/* ---- the three modes; each leaves in `image` what is to be written ---- */

/* The largest response becomes 255. */
static void draw_response(Image *image, const int32_t *response)
{
    size_t count = (size_t)image->width * (size_t)image->height;
    int32_t largest = 1;

    for (size_t i = 0; i < count; i++)
        if (response[i] > largest)
            largest = response[i];
    for (size_t i = 0; i < count; i++)
        image->pixels[i] = (uint8_t)((int64_t)response[i] * 255 / largest);
}

static const char *run_smooth(const Options *options, Image *image)
{
    SmoothOptions smoothing = {options->threshold, options->three ? 0 : options->distance_tenths};
    Image result = {0, 0, NULL};
    const char *problem = smooth(image, &smoothing, &result);

    if (problem == NULL) {
        uint8_t *old = image->pixels;
        image->pixels = result.pixels;
        result.pixels = old;
    }
    free_image(&result);
    return problem;
}

static const char *run_edges(const Options *options, Image *image, int32_t *response)
{
    size_t count = (size_t)image->width * (size_t)image->height;
    uint8_t *marks = calloc(count, 1);
    Similarity similarity;
    const char *problem;

    if (marks == NULL)
        return "out of memory";
    build_similarity(&similarity, options->threshold, 6);
    problem = find_edges(image, &similarity, options->three, options->thin, marks, response);
    if (problem == NULL && options->raw)
        draw_response(image, response);
    else if (problem == NULL)
        draw_edges(image, marks, options->plain);
    size_t marked = 0;
    for (size_t i = 0; i < count; i++)
        marked += marks[i] != 0;
    if (problem == NULL && options->list)
        printf("%lu edge pixels\n", (unsigned long)marked);
    free(marks);
    return problem;
}

static void print_corners(const CornerList *list)
{
    for (int i = 0; i < list->count; i++) {
        const Corner *corner = &list->corners[i];
        printf("%d %d response %ld slope %d %d brightness %d\n", corner->x, corner->y,
               (long)corner->response, corner->dx, corner->dy, corner->brightness);
    }
    printf("%d corners\n", list->count);
}

static const char *run_corners(const Options *options, Image *image, int32_t *response)
{
    CornerList list = {NULL, 0, 0};
    Similarity similarity;
    const char *problem;

    build_similarity(&similarity, options->threshold, 6);
    problem = find_corners(image, &similarity, options->quick, &list, response);
    if (problem == NULL && options->raw)
        draw_response(image, response);
    else if (problem == NULL)
        draw_corners(image, &list, options->plain);
    if (problem == NULL && options->list)
        print_corners(&list);
    free(list.corners);
    return problem;
}

static const char *process(const Options *options, Image *image)
{
    if (options->mode == MODE_SMOOTH)
        return run_smooth(options, image);
    size_t count = (size_t)image->width * (size_t)image->height;
    int32_t *response = calloc(count, sizeof *response);
    if (response == NULL)
        return "out of memory";
    const char *problem = options->mode == MODE_EDGES ? run_edges(options, image, response)
                                                      : run_corners(options, image, response);
    free(response);
    return problem;
}

static int save(const Options *options, const Image *image)
{
    FILE *out = fopen(options->output, "wb");

    if (out == NULL)
        return fail(options->output, strerror(errno));
    int failed = write_image(out, image);
    if (fclose(out) != 0 || failed)
        return fail(options->output, "cannot write");
    return 0;
}

int main(int argc, char **argv)
{
    Options options;
    Image image;
    int status = 0;

    if (parse_options(argc, argv, &options) != 0) {
        fputs("usage: susan [-s|-e|-c] [-3] [-n] [-q] [-p] [-r] [-l] [-t N] [-d N.N] INPUT OUTPUT\n"
              "  -s smooth (default)  -e edges  -c corners\n"
              "  -t threshold of brightness (20)  -d sigma of smoothing in pixels (4)\n"
              "  -3 mask of 3 by 3  -n do not thin edges  -q do not check corners\n"
              "  -p marks on white  -r responses instead of marks  -l list what was found\n",
              stderr);
        return 2;
    }
    FILE *in = fopen(options.input, "rb");
    if (in == NULL)
        return fail(options.input, strerror(errno));
    const char *problem = read_image(in, &image);
    fclose(in);
    if (problem == NULL)
        problem = process(&options, &image);
    if (problem != NULL)
        status = fail(options.input, problem);
    else
        status = save(&options, &image);
    free_image(&image);
    return status;
}
