/* SPDX-License-Identifier: MIT */
/* Finds patterns in a text by nine searches that descend from R. N. Horspool's (1980) and D. M.
 * Sunday's (1990) simplifications of Boyer and Moore. Letters are bytes of ISO 8859-1 and can be
 * taken as equal without regard to case, or to case and accents; occurrences can be limited to whole
 * words. For each pattern it prints how often it occurs and where, or the lines that hold it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

enum { SHOWN = 4, MOST_TEXT = INT_MAX / 4, STATUS_BAD_DATA = 3, STATUS_DISAGREE = 4 };

typedef struct {
    const char *algorithm; /* or "all" */
    Folding folding;
    int whole_words;
    int printing_lines;
    int counting;
    int passes;
    const char *patterns;
    const char *text;
} Options;

typedef struct {
    const Text *text;
    size_t pattern_length;
    int whole_words;
    size_t found;
    uint64_t checksum;
    size_t *places; /* of all occurrences */
    size_t room;
    int failed;
} Occurrences;

static int is_word_letter(unsigned char letter)
{
    if (letter >= 0xc0)
        return letter != 0xd7 && letter != 0xf7;
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
}

static int is_whole_word(const Occurrences *occurrences, size_t place)
{
    const Text *text = occurrences->text;
    size_t behind = place + occurrences->pattern_length;
    if (place > 0 && is_word_letter(text->bytes[place - 1]))
        return 0;
    return behind >= text->length || !is_word_letter(text->bytes[behind]);
}

static void note_occurrence(void *context, size_t place)
{
    Occurrences *occurrences = context;

    if (occurrences->whole_words && !is_whole_word(occurrences, place))
        return;
    if (occurrences->found == occurrences->room) {
        size_t room = occurrences->room == 0 ? 64 : 2 * occurrences->room;
        size_t *moved = realloc(occurrences->places, room * sizeof *moved);
        if (moved == NULL) {
            occurrences->failed = 1;
            return;
        }
        occurrences->places = moved;
        occurrences->room = room;
    }
    occurrences->places[occurrences->found++] = place;
    occurrences->checksum = (occurrences->checksum ^ place) * UINT64_C(0x100000001b3);
}

static void forget(Occurrences *occurrences)
{
    occurrences->found = 0;
    occurrences->checksum = UINT64_C(0xcbf29ce484222325);
}

static size_t line_start(const Text *text, size_t place)
{
    while (place > 0 && text->bytes[place - 1] != '\n')
        place--;
    return place;
}

static void print_places(const Occurrences *occurrences)
{
    const Text *text = occurrences->text;
    size_t line = 1, at = 0;

    for (size_t i = 0; i < occurrences->found && i < SHOWN; i++) {
        for (; at < occurrences->places[i]; at++)
            line += text->bytes[at] == '\n';
        printf("%s %zu:%zu", i == 0 ? ", at" : "", line, at - line_start(text, at) + 1);
    }
    puts(occurrences->found > SHOWN ? " ..." : "");
}

static void print_lines(const Occurrences *occurrences)
{
    const Text *text = occurrences->text;
    size_t line = 1, at = 0, printed = 0;

    for (size_t i = 0; i < occurrences->found; i++) {
        for (; at < occurrences->places[i]; at++)
            line += text->bytes[at] == '\n';
        if (line == printed)
            continue;
        size_t start = line_start(text, at), end = at;
        while (end < text->length && text->bytes[end] != '\n')
            end++;
        printf("%zu:", line);
        fwrite(text->bytes + start, 1, end - start, stdout);
        putchar('\n');
        printed = line;
    }
}

static void print_result(const Options *options, const unsigned char *name, const Occurrences *occurrences)
{
    fwrite(name, 1, occurrences->pattern_length, stdout);
    printf(": %zu", occurrences->found);
    if (options->printing_lines) {
        putchar('\n');
        print_lines(occurrences);
    } else {
        print_places(occurrences);
    }
}

static int is_chosen(const Options *options, size_t algorithm)
{
    return strcmp(options->algorithm, "all") == 0 || strcmp(options->algorithm, algorithms[algorithm].name) == 0;
}

static int is_algorithm(const char *name)
{
    for (size_t i = 0; i < algorithm_count; i++)
        if (strcmp(name, algorithms[i].name) == 0)
            return 1;
    return strcmp(name, "all") == 0;
}

/* Searches by every chosen algorithm; they must agree. */
static int search(const Options *options, const Pattern *pattern, Text *text, Occurrences *occurrences, uint64_t *windows)
{
    size_t found = 0;
    uint64_t checksum = 0;
    int any = 0;

    for (size_t i = 0; i < algorithm_count; i++) {
        if (!is_chosen(options, i))
            continue;
        for (int pass = 0; pass < options->passes; pass++) {
            forget(occurrences);
            windows[i] += algorithms[i].find(pattern, text, note_occurrence, occurrences);
        }
        if (occurrences->failed) {
            fputs("stringsearch2: out of memory\n", stderr);
            return 1;
        }
        if (any && (occurrences->found != found || occurrences->checksum != checksum)) {
            fprintf(stderr, "stringsearch2: %s disagrees\n", algorithms[i].name);
            return STATUS_DISAGREE;
        }
        found = occurrences->found;
        checksum = occurrences->checksum;
        any = 1;
    }
    return 0;
}

static int search_pattern(const Options *options, const unsigned char *name, size_t length, Text *text,
                          uint64_t *windows)
{
    Pattern pattern = {.length = length};
    Occurrences occurrences = {.text = text, .pattern_length = length, .whole_words = options->whole_words};

    if (length == 0 || length > MOST_PATTERN) {
        fprintf(stderr, "stringsearch2: %s: a pattern has 1 to %d letters\n", options->patterns, MOST_PATTERN);
        return STATUS_BAD_DATA;
    }
    for (size_t i = 0; i < length; i++)
        pattern.folded[i] = text->fold[name[i]];
    int status = search(options, &pattern, text, &occurrences, windows);
    if (status == 0)
        print_result(options, name, &occurrences);
    free(occurrences.places);
    return status;
}

static int search_patterns(const Options *options, const Text *patterns, Text *text)
{
    uint64_t *windows = calloc(algorithm_count, sizeof *windows);
    int status = windows == NULL;

    for (size_t start = 0, end; start < patterns->length && status == 0; start = end + 1) {
        for (end = start; end < patterns->length && patterns->bytes[end] != '\n';)
            end++;
        status = search_pattern(options, patterns->bytes + start, end - start, text, windows);
    }
    for (size_t i = 0; i < algorithm_count && status == 0 && options->counting; i++)
        if (is_chosen(options, i))
            printf("%s compared %llu windows\n", algorithms[i].name, (unsigned long long)windows[i]);
    free(windows);
    return status;
}

static int read_text(const char *name, Text *text)
{
    FILE *file = fopen(name, "rb");
    size_t room = 0;
    int failed = file == NULL;

    while (!failed && !feof(file)) {
        if (text->length + PADDING >= room) {
            room = room == 0 ? 1 << 14 : 2 * room;
            unsigned char *moved = realloc(text->bytes, room);
            if (moved == NULL) {
                failed = 1;
                break;
            }
            text->bytes = moved;
        }
        text->length += fread(text->bytes + text->length, 1, room - PADDING - text->length, file);
        failed = ferror(file) != 0 || text->length > MOST_TEXT;
    }
    if (failed)
        fprintf(stderr, "stringsearch2: %s: %s\n", name, errno != 0 ? strerror(errno) : "too long");
    else
        memset(text->bytes + text->length, 0, PADDING);
    if (file != NULL)
        fclose(file);
    return failed ? 1 : 0;
}

static void count_letters(Text *text)
{
    for (size_t i = 0; i < text->length; i++)
        text->frequency[text->fold[text->bytes[i]]]++;
}

static int parse_options(int argc, char **argv, Options *options)
{
    int at = 1;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strlen(argv[at]) != 2)
            return -1;
        switch (argv[at][1]) {
        case 'i': options->folding = FOLD_CASE; break;
        case 'A': options->folding = FOLD_ACCENTS; break;
        case 'w': options->whole_words = 1; break;
        case 'l': options->printing_lines = 1; break;
        case 'c': options->counting = 1; break;
        case 'a':
            options->algorithm = ++at < argc ? argv[at] : "";
            if (!is_algorithm(options->algorithm))
                return -1;
            break;
        case 'n':
            options->passes = ++at < argc ? atoi(argv[at]) : 0;
            if (options->passes < 1)
                return -1;
            break;
        default: return -1;
        }
    }
    if (at + 2 != argc)
        return -1;
    options->patterns = argv[at];
    options->text = argv[at + 1];
    return 0;
}

static void print_usage(void)
{
    fputs("usage: stringsearch2 [-i|-A] [-w] [-l] [-c] [-n PASSES] [-a ALGORITHM|all] PATTERNS TEXT\n"
          "  -i  ignore case        -A  ignore case and accents    -w  whole words alone\n"
          "  -l  print lines        -c  tell how many windows were compared\n"
          "algorithms:",
          stderr);
    for (size_t i = 0; i < algorithm_count; i++)
        fprintf(stderr, " %s", algorithms[i].name);
    fputc('\n', stderr);
}

int main(int argc, char **argv)
{
    Options options = {.algorithm = "horspool", .folding = FOLD_NOTHING, .passes = 1};
    Text patterns = {.bytes = NULL}, text = {.bytes = NULL};
    unsigned char fold[ALPHABET];

    if (parse_options(argc, argv, &options) != 0) {
        print_usage();
        return 2;
    }
    make_fold(options.folding, fold);
    text.fold = fold;
    int status = read_text(options.patterns, &patterns);
    if (status == 0)
        status = read_text(options.text, &text);
    if (status == 0) {
        count_letters(&text);
        status = search_patterns(&options, &patterns, &text);
    }
    free(patterns.bytes);
    free(text.bytes);
    return fflush(stdout) != 0 ? 1 : status;
}
