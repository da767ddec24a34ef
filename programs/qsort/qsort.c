/* SPDX-License-Identifier: MIT */
/* Sorts points of space by their distance from the origin, or lines of text by their bytes. The
 * sorter is our own quicksort (C. A. R. Hoare, 1962) with the interface of the C library's qsort:
 * the median of three or nine elements as pivot, insertion sort for short parts, and heapsort for
 * parts that split badly (D. R. Musser, 1997), so that no input takes quadratic time. The library's
 * qsort can be asked for instead, or both, whose results are then compared. With -n N the records
 * are shuffled and sorted N times. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHORT_PART = 12,
    LONG_PART = 128,
    MOST_COORDINATE = 1000000000,
    STATUS_BAD_DATA = 3,
    STATUS_DISAGREE = 4,
};

typedef int (*Compare)(const void *, const void *);

typedef struct {
    int32_t at[3];
    uint64_t distance; /* squared, so that no root is needed */
} Point;

typedef struct {
    const char *text;
    size_t line; /* where it stood in the file */
} Line;

typedef struct {
    unsigned char *base;
    size_t count;
    size_t size;
    Compare compare;
} Records;

typedef struct {
    int lines;
    int folding;
    int reversed;
    int counting;
    int own;
    int library;
    int rounds;
    const char *input;
} Options;

static unsigned long long comparisons;

static int compare_counted(Compare compare, const unsigned char *a, const unsigned char *b)
{
    comparisons++;
    return compare(a, b);
}

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
    uint64_t word_a, word_b;
    for (; size >= sizeof word_a; size -= sizeof word_a, a += sizeof word_a, b += sizeof word_b) {
        memcpy(&word_a, a, sizeof word_a);
        memcpy(&word_b, b, sizeof word_b);
        memcpy(a, &word_b, sizeof word_b);
        memcpy(b, &word_a, sizeof word_a);
    }
    for (; size > 0; size--, a++, b++) {
        unsigned char byte = *a;
        *a = *b;
        *b = byte;
    }
}

static void insertion_sort(unsigned char *base, size_t count, size_t size, Compare compare)
{
    for (size_t i = 1; i < count; i++)
        for (unsigned char *at = base + i * size; at > base; at -= size) {
            if (compare_counted(compare, at - size, at) <= 0)
                break;
            swap(at - size, at, size);
        }
}

static void sift_down(unsigned char *base, size_t root, size_t count, size_t size, Compare compare)
{
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare_counted(compare, base + child * size, base + (child + 1) * size) < 0)
            child++;
        if (compare_counted(compare, base + root * size, base + child * size) >= 0)
            return;
        swap(base + root * size, base + child * size, size);
    }
}

static void heap_sort(unsigned char *base, size_t count, size_t size, Compare compare)
{
    for (size_t root = count / 2; root-- > 0;)
        sift_down(base, root, count, size, compare);
    while (count-- > 1) {
        swap(base, base + count * size, size);
        sift_down(base, 0, count, size, compare);
    }
}

static unsigned char *median(unsigned char *a, unsigned char *b, unsigned char *c, Compare compare)
{
    if (compare_counted(compare, a, b) > 0) {
        unsigned char *larger = a;
        a = b;
        b = larger;
    }
    if (compare_counted(compare, b, c) <= 0)
        return b;
    return compare_counted(compare, a, c) <= 0 ? c : a;
}

static unsigned char *choose_pivot(unsigned char *base, size_t count, size_t size, Compare compare)
{
    unsigned char *middle = base + count / 2 * size, *last = base + (count - 1) * size;
    if (count < LONG_PART)
        return median(base, middle, last, compare);
    size_t step = count / 8 * size;
    return median(median(base, base + step, base + 2 * step, compare),
                  median(middle - step, middle, middle + step, compare),
                  median(last - 2 * step, last - step, last, compare), compare);
}

/* Moves the pivot to its final place, smaller elements before and larger ones behind it; elements
 * equal to the pivot stop both scans, so that runs of equal elements split evenly. */
static size_t partition(unsigned char *base, size_t count, size_t size, Compare compare)
{
    size_t low = 0, high = count;

    swap(base, choose_pivot(base, count, size, compare), size);
    for (;;) {
        do
            low++;
        while (low < count && compare_counted(compare, base + low * size, base) < 0);
        do
            high--;
        while (compare_counted(compare, base + high * size, base) > 0);
        if (low >= high)
            break;
        swap(base + low * size, base + high * size, size);
    }
    swap(base, base + high * size, size);
    return high;
}

static void sort_part(unsigned char *base, size_t count, size_t size, Compare compare, int depth)
{
    while (count > SHORT_PART) {
        if (depth-- == 0) {
            heap_sort(base, count, size, compare);
            return;
        }
        size_t pivot = partition(base, count, size, compare);
        size_t behind = count - pivot - 1;
        unsigned char *after = base + (pivot + 1) * size;
        /* Recursion into the smaller part keeps the stack logarithmic. */
        if (pivot < behind) {
            sort_part(base, pivot, size, compare, depth);
            base = after;
            count = behind;
        } else {
            sort_part(after, behind, size, compare, depth);
            count = pivot;
        }
    }
    insertion_sort(base, count, size, compare);
}

static void own_sort(void *base, size_t count, size_t size, Compare compare)
{
    int depth = 0;
    for (size_t part = count; part > 0; part >>= 1)
        depth += 2;
    sort_part(base, count, size, compare, depth);
}

/* Orders are total, so that every correct sorter gives the same result. */
static int compare_points(const void *left, const void *right)
{
    const Point *a = left, *b = right;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    for (int i = 0; i < 3; i++)
        if (a->at[i] != b->at[i])
            return a->at[i] < b->at[i] ? -1 : 1;
    return 0;
}

static int compare_positions(const Line *a, const Line *b)
{
    return (a->line > b->line) - (a->line < b->line);
}

static int compare_lines(const void *left, const void *right)
{
    const Line *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order != 0 ? order : compare_positions(a, b);
}

static int fold(char letter)
{
    unsigned char byte = (unsigned char)letter;
    return byte >= 'A' && byte <= 'Z' ? byte - 'A' + 'a' : byte;
}

static int compare_folded(const void *left, const void *right)
{
    const Line *a = left, *b = right;
    const char *s = a->text, *t = b->text;
    while (*s != '\0' && fold(*s) == fold(*t)) {
        s++;
        t++;
    }
    return fold(*s) != fold(*t) ? fold(*s) - fold(*t) : compare_positions(a, b);
}

static int read_file(const char *name, char **text, size_t *count)
{
    FILE *file = fopen(name, "rb");
    size_t room = 0;
    int failed = file == NULL;

    while (!failed && !feof(file)) {
        if (*count + 1 >= room) {
            room = room == 0 ? 1 << 14 : 2 * room;
            char *moved = realloc(*text, room);
            if (moved == NULL) {
                failed = 1;
                break;
            }
            *text = moved;
        }
        *count += fread(*text + *count, 1, room - 1 - *count, file);
        failed = ferror(file) != 0;
    }
    if (failed)
        fprintf(stderr, "qsort: %s: %s\n", name, strerror(errno));
    else
        (*text)[*count] = '\0';
    if (file != NULL)
        fclose(file);
    return failed ? -1 : 0;
}

static size_t count_lines(const char *text, size_t count)
{
    size_t lines = count > 0 && text[count - 1] != '\n';
    for (size_t i = 0; i < count; i++)
        lines += text[i] == '\n';
    return lines;
}

static void split_lines(char *text, Line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *end = strchr(text, '\n');
        lines[i].text = text;
        lines[i].line = i;
        if (end != NULL) {
            *end = '\0';
            text = end + 1;
        }
    }
}

static int parse_point(const char *text, Point *point)
{
    memset(point, 0, sizeof *point);
    for (int i = 0; i < 3; i++) {
        char *end;
        text += strspn(text, " \t");
        if ((*text < '0' || *text > '9') && *text != '-')
            return -1;
        long value = strtol(text, &end, 10);
        if (end == text || value < -MOST_COORDINATE || value > MOST_COORDINATE)
            return -1;
        point->at[i] = (int32_t)value;
        point->distance += (uint64_t)(value * value);
        text = end;
    }
    text += strspn(text, " \t\r");
    return *text == '\0' || *text == '\n' ? 0 : -1;
}

static int parse_points(const char *name, const char *text, Point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *end = strchr(text, '\n');
        if (parse_point(text, &points[i]) != 0) {
            fprintf(stderr, "qsort: %s:%zu: not three coordinates\n", name, i + 1);
            return -1;
        }
        text = end == NULL ? text : end + 1;
    }
    return 0;
}

static void shuffle(const Records *records, uint64_t *seed)
{
    for (size_t last = records->count; last-- > 1;) {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        size_t other = (size_t)(*seed % (last + 1));
        if (other != last)
            swap(records->base + other * records->size, records->base + last * records->size, records->size);
    }
}

static void *copy_of(const Records *records)
{
    void *copy = malloc(records->count * records->size + 1);
    if (copy == NULL)
        fputs("qsort: out of memory\n", stderr);
    else if (records->count > 0)
        memcpy(copy, records->base, records->count * records->size);
    return copy;
}

static int sort_once(const Options *options, const Records *records)
{
    size_t bytes = records->count * records->size;
    int status = 0;

    if (!options->own) {
        qsort(records->base, records->count, records->size, records->compare);
        return 0;
    }
    void *copy = options->library ? copy_of(records) : NULL;
    if (options->library && copy == NULL)
        return 1;
    own_sort(records->base, records->count, records->size, records->compare);
    if (options->library) {
        qsort(copy, records->count, records->size, records->compare);
        if (bytes > 0 && memcmp(copy, records->base, bytes) != 0) {
            fputs("qsort: the sorters disagree\n", stderr);
            status = STATUS_DISAGREE;
        }
    }
    free(copy);
    return status;
}

static void print_record(const Options *options, const Records *records, size_t index)
{
    const void *record = records->base + index * records->size;
    if (options->lines) {
        puts(((const Line *)record)->text);
    } else {
        const Point *point = record;
        printf("%ld %ld %ld\n", (long)point->at[0], (long)point->at[1], (long)point->at[2]);
    }
}

static int sort_and_print(const Options *options, const Records *records)
{
    uint64_t seed = UINT64_C(0x2545f4914f6cdd1d);
    int status = 0;

    if (records->count > 0)
        for (int round = 0; round < options->rounds && status == 0; round++) {
            if (round > 0)
                shuffle(records, &seed);
            status = sort_once(options, records);
        }
    if (status != 0)
        return status;
    for (size_t i = 0; i < records->count; i++)
        print_record(options, records, options->reversed ? records->count - 1 - i : i);
    if (options->counting)
        printf("%zu records, %llu comparisons\n", records->count, comparisons);
    return 0;
}

static int sort_file(const Options *options)
{
    char *text = NULL;
    size_t length = 0;
    Records records = {NULL, 0, options->lines ? sizeof(Line) : sizeof(Point), compare_points};
    int status = read_file(options->input, &text, &length) != 0;

    if (status == 0) {
        records.count = count_lines(text, length);
        records.base = calloc(records.count + 1, records.size);
        if (records.base == NULL) {
            fputs("qsort: out of memory\n", stderr);
            status = 1;
        }
    }
    if (status == 0 && options->lines) {
        records.compare = options->folding ? compare_folded : compare_lines;
        split_lines(text, (Line *)(void *)records.base, records.count);
    } else if (status == 0 &&
               parse_points(options->input, text, (Point *)(void *)records.base, records.count) != 0) {
        status = STATUS_BAD_DATA;
    }
    if (status == 0)
        status = sort_and_print(options, &records);
    free(records.base);
    free(text);
    return status;
}

static int parse_options(int argc, char **argv, Options *options)
{
    int at = 1;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strlen(argv[at]) != 2)
            return -1;
        switch (argv[at][1]) {
        case 's': options->lines = 1; break;
        case 'f': options->lines = options->folding = 1; break;
        case 'r': options->reversed = 1; break;
        case 'c': options->counting = 1; break;
        case 'l': options->own = 0; options->library = 1; break;
        case 'b': options->own = 1; options->library = 1; break;
        case 'n':
            options->rounds = ++at < argc ? atoi(argv[at]) : 0;
            if (options->rounds < 1)
                return -1;
            break;
        default: return -1;
        }
    }
    if (at + 1 != argc)
        return -1;
    options->input = argv[at];
    return 0;
}

int main(int argc, char **argv)
{
    Options options = {.own = 1, .rounds = 1};

    if (parse_options(argc, argv, &options) != 0) {
        fputs("usage: qsort [-s|-f] [-l|-b] [-r] [-c] [-n ROUNDS] FILE\n"
              "  sorts points, one \"x y z\" a line; -s sorts lines, -f ignores their case\n"
              "  -l uses the library's sorter, -b both; -r prints backwards; -c counts comparisons\n",
              stderr);
        return 2;
    }
    int status = sort_file(&options);
    return fflush(stdout) != 0 ? 1 : status;
}
