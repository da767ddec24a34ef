/* SPDX-License-Identifier: MIT */
/* Finds patterns in phrases by algorithms of the Boyer-Moore family: Pratt's simplification, which
 * slides with a fast inner loop until the last character fits; the original of R. S. Boyer and J S.
 * Moore (1977) with both of its shifts, the second corrected by W. Rytter (1980); the same with Z.
 * Galil's rule (1979), which makes it linear on periodic patterns; and Turbo-BM (M. Crochemore and
 * others, 1994), which remembers the factor that fitted last. Patterns and phrases are the lines of
 * two files, and all occurrences are found, overlapping ones too. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALPHABET = 256, MOST_PATTERN = 512, SHOWN = 5, STATUS_BAD_DATA = 3, STATUS_DISAGREE = 4 };

typedef struct {
    const unsigned char *bytes;
    int length;
} Text;

typedef struct {
    Text *items;
    size_t count;
    char *storage;
} List;

typedef struct {
    Text text;
    int last[ALPHABET];         /* from a byte's last place to the pattern's end */
    int slide[ALPHABET];        /* the same, but far for the pattern's own last byte */
    int self;                   /* how far the last byte's earlier place is from the end */
    int suffix[MOST_PATTERN];   /* length of the longest common suffix with the pattern so far */
    int good[MOST_PATTERN];     /* shift when all behind this place fitted */
    int period;
} Pattern;

/* What one algorithm found and what it cost. */
typedef struct {
    unsigned long found;
    unsigned long phrases;
    uint64_t checksum;
    uint64_t looks;
    size_t phrase[SHOWN];
    int place[SHOWN];
    size_t current;
} Tally;

typedef void (*Find)(const Pattern *pattern, const Text *text, Tally *tally);

typedef struct {
    const char *name;
    Find find;
} Algorithm;

static void note(Tally *tally, int place)
{
    if (tally->found < SHOWN) {
        tally->phrase[tally->found] = tally->current;
        tally->place[tally->found] = place;
    }
    tally->found++;
    tally->checksum = (tally->checksum ^ (tally->current * 65599 + (uint64_t)place)) * UINT64_C(0x100000001b3);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static void find_pratt(const Pattern *pattern, const Text *text, Tally *tally)
{
    const unsigned char *p = pattern->text.bytes, *t = text->bytes;
    int length = pattern->text.length, end = text->length, at = length - 1, far = INT_MAX / 2;

    while (at < end) {
        /* The last byte's slide carries `at` beyond any text, which ends the loop. */
        while (at < end) {
            at += pattern->slide[t[at]];
            tally->looks++;
        }
        if (at < far)
            return;
        at -= far;
        int fits = 1;
        while (fits < length && p[length - 1 - fits] == t[at - fits])
            fits++;
        tally->looks += (uint64_t)(fits < length ? fits : fits - 1);
        if (fits == length)
            note(tally, at - length + 1);
        at += pattern->self;
    }
}

static void find_boyer_moore(const Pattern *pattern, const Text *text, Tally *tally)
{
    const unsigned char *p = pattern->text.bytes, *t = text->bytes;
    int length = pattern->text.length, place = 0;

    while (place <= text->length - length) {
        int i = length - 1;
        while (i >= 0 && p[i] == t[place + i])
            i--;
        tally->looks += (uint64_t)(length - (i < 0 ? 0 : i));
        if (i < 0) {
            note(tally, place);
            place += pattern->period;
        } else {
            place += larger(pattern->good[i], pattern->last[t[place + i]] - (length - 1 - i));
        }
    }
}

/* After an occurrence and a shift by the period, all but a period's length is known to fit. */
static void find_galil(const Pattern *pattern, const Text *text, Tally *tally)
{
    const unsigned char *p = pattern->text.bytes, *t = text->bytes;
    int length = pattern->text.length, place = 0, known = 0;

    while (place <= text->length - length) {
        int i = length - 1;
        while (i >= known && p[i] == t[place + i])
            i--;
        tally->looks += (uint64_t)(length - (i < known ? known : i));
        if (i < known) {
            note(tally, place);
            known = length - pattern->period;
            place += pattern->period;
        } else {
            known = 0;
            place += larger(pattern->good[i], pattern->last[t[place + i]] - (length - 1 - i));
        }
    }
}

static void find_turbo(const Pattern *pattern, const Text *text, Tally *tally)
{
    const unsigned char *p = pattern->text.bytes, *t = text->bytes;
    int length = pattern->text.length, place = 0, remembered = 0, shift = length;

    while (place <= text->length - length) {
        int i = length - 1;
        while (i >= 0) {
            tally->looks++;
            if (p[i] != t[place + i])
                break;
            i--;
            if (remembered != 0 && i == length - 1 - shift)
                i -= remembered;
        }
        if (i < 0) {
            note(tally, place);
            shift = pattern->period;
            remembered = length - shift;
        } else {
            int fitted = length - 1 - i, turbo = remembered - fitted;
            int by_byte = pattern->last[t[place + i]] - fitted;
            shift = larger(larger(turbo, by_byte), pattern->good[i]);
            if (shift == pattern->good[i]) {
                remembered = length - shift < fitted ? length - shift : fitted;
            } else {
                if (turbo < by_byte)
                    shift = larger(shift, remembered + 1);
                remembered = 0;
            }
        }
        place += shift;
    }
}

static const Algorithm algorithms[] = {
    {"pratt", find_pratt},
    {"boyer-moore", find_boyer_moore},
    {"galil", find_galil},
    {"turbo", find_turbo},
};

enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };

static void prepare_last(Pattern *pattern)
{
    int length = pattern->text.length;
    int final = pattern->text.bytes[length - 1];

    for (int byte = 0; byte < ALPHABET; byte++)
        pattern->last[byte] = length;
    for (int i = 0; i < length - 1; i++)
        pattern->last[pattern->text.bytes[i]] = length - 1 - i;
    memcpy(pattern->slide, pattern->last, sizeof pattern->slide);
    pattern->self = pattern->last[final];
    pattern->slide[final] = INT_MAX / 2;
    pattern->last[final] = 0;
}

/* suffix[i] is how many bytes up to place i equal the pattern's end. */
static void prepare_suffixes(Pattern *pattern)
{
    const unsigned char *p = pattern->text.bytes;
    int length = pattern->text.length, low = length - 1, from = length - 1;

    pattern->suffix[length - 1] = length;
    for (int i = length - 2; i >= 0; i--) {
        if (i > low && pattern->suffix[i + length - 1 - from] < i - low) {
            pattern->suffix[i] = pattern->suffix[i + length - 1 - from];
            continue;
        }
        low = i < low ? i : low;
        from = i;
        while (low >= 0 && p[low] == p[low + length - 1 - from])
            low--;
        pattern->suffix[i] = from - low;
    }
}

static void prepare_good(Pattern *pattern)
{
    int length = pattern->text.length, at = 0;

    for (int i = 0; i < length; i++)
        pattern->good[i] = length;
    /* A prefix that is also a suffix may fit behind the place that did not. */
    for (int i = length - 1; i >= 0; i--)
        if (pattern->suffix[i] == i + 1)
            for (; at < length - 1 - i; at++)
                if (pattern->good[at] == length)
                    pattern->good[at] = length - 1 - i;
    for (int i = 0; i < length - 1; i++)
        pattern->good[length - 1 - pattern->suffix[i]] = length - 1 - i;
}

/* The shift after an occurrence; good[0], for a mismatch at place 0, may be shorter. */
static void prepare_period(Pattern *pattern)
{
    pattern->period = pattern->text.length;
    for (int i = 0; i < pattern->text.length - 1; i++)
        if (pattern->suffix[i] == i + 1)
            pattern->period = pattern->text.length - 1 - i;
}

static void prepare(Pattern *pattern, const Text *text)
{
    pattern->text = *text;
    prepare_last(pattern);
    prepare_suffixes(pattern);
    prepare_good(pattern);
    prepare_period(pattern);
}

static Tally search(const Algorithm *algorithm, const Pattern *pattern, const List *phrases)
{
    Tally tally;
    memset(&tally, 0, sizeof tally);
    tally.checksum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < phrases->count; i++) {
        unsigned long before = tally.found;
        tally.current = i;
        algorithm->find(pattern, &phrases->items[i], &tally);
        tally.phrases += tally.found > before;
    }
    return tally;
}

static void print_tally(const Pattern *pattern, const Tally *tally)
{
    printf("%.*s: %lu in %lu phrases", pattern->text.length, (const char *)pattern->text.bytes, tally->found,
           tally->phrases);
    for (unsigned long i = 0; i < tally->found && i < SHOWN; i++)
        printf("%s %zu:%d", i == 0 ? ", at" : "", tally->phrase[i] + 1, tally->place[i] + 1);
    printf("%s\n", tally->found > SHOWN ? " ..." : "");
}

static int search_all(const List *patterns, const List *phrases, const int *chosen, int passes, int counting)
{
    uint64_t looks[ALGORITHMS] = {0};
    static Pattern pattern;

    for (size_t i = 0; i < patterns->count; i++) {
        Tally first = {0};
        int any = 0;
        prepare(&pattern, &patterns->items[i]);
        for (int pass = 0; pass < passes; pass++)
            for (int a = 0; a < ALGORITHMS; a++) {
                if (!chosen[a])
                    continue;
                Tally tally = search(&algorithms[a], &pattern, phrases);
                looks[a] += tally.looks;
                if (any && (tally.found != first.found || tally.checksum != first.checksum)) {
                    fprintf(stderr, "stringsearch: %s disagrees on pattern %zu\n", algorithms[a].name, i + 1);
                    return STATUS_DISAGREE;
                }
                first = tally;
                any = 1;
            }
        print_tally(&pattern, &first);
    }
    for (int a = 0; a < ALGORITHMS && counting; a++)
        if (chosen[a])
            printf("%s looked at %llu bytes\n", algorithms[a].name, (unsigned long long)looks[a]);
    return 0;
}

static int read_file(const char *name, char **text, size_t *count)
{
    FILE *file = fopen(name, "rb");
    size_t room = 0;
    int failed = file == NULL;

    while (!failed && !feof(file)) {
        if (*count == room) {
            room = room == 0 ? 1 << 14 : 2 * room;
            char *moved = realloc(*text, room);
            if (moved == NULL) {
                failed = 1;
                break;
            }
            *text = moved;
        }
        *count += fread(*text + *count, 1, room - *count, file);
        failed = ferror(file) != 0 || *count > INT_MAX / 4;
    }
    if (failed)
        fprintf(stderr, "stringsearch: %s: %s\n", name, errno != 0 ? strerror(errno) : "too long");
    if (file != NULL)
        fclose(file);
    return failed ? -1 : 0;
}

/* Splits the file into its lines; the list owns the bytes. */
static int read_list(const char *name, List *list)
{
    size_t count = 0, lines = 0, start = 0;

    if (read_file(name, &list->storage, &count) != 0)
        return 1;
    for (size_t i = 0; i < count; i++)
        lines += list->storage[i] == '\n' || i + 1 == count;
    list->items = malloc((lines + 1) * sizeof *list->items);
    if (list->items == NULL) {
        fputs("stringsearch: out of memory\n", stderr);
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        int ends = list->storage[i] == '\n';
        if (!ends && i + 1 < count)
            continue;
        list->items[list->count].bytes = (const unsigned char *)list->storage + start;
        list->items[list->count++].length = (int)(i + !ends - start);
        start = i + 1;
    }
    return 0;
}

static int check_patterns(const char *name, const List *patterns)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (patterns->items[i].length == 0 || patterns->items[i].length > MOST_PATTERN) {
            fprintf(stderr, "stringsearch: %s:%zu: a pattern has 1 to %d bytes\n", name, i + 1, MOST_PATTERN);
            return STATUS_BAD_DATA;
        }
    return 0;
}

static int choose(const char *name, int *chosen)
{
    int found = 0;
    for (int a = 0; a < ALGORITHMS; a++) {
        chosen[a] = strcmp(name, "all") == 0 || strcmp(name, algorithms[a].name) == 0;
        found |= chosen[a];
    }
    return found ? 0 : -1;
}

static int usage(void)
{
    fputs("usage: stringsearch [-a pratt|boyer-moore|galil|turbo|all] [-c] [-n PASSES] PATTERNS PHRASES\n"
          "  -c  tell at how many bytes of the phrases each algorithm looked\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    List patterns = {NULL, 0, NULL}, phrases = {NULL, 0, NULL};
    int chosen[ALGORITHMS] = {1}, passes = 1, counting = 0, at = 1;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "-c") == 0)
            counting = 1;
        else if (strcmp(argv[at], "-a") == 0 && at + 1 < argc && choose(argv[at + 1], chosen) == 0)
            at++;
        else if (strcmp(argv[at], "-n") == 0 && at + 1 < argc && (passes = atoi(argv[at + 1])) > 0)
            at++;
        else
            return usage();
    }
    if (at + 2 != argc)
        return usage();
    int status = read_list(argv[at], &patterns);
    if (status == 0)
        status = check_patterns(argv[at], &patterns);
    if (status == 0)
        status = read_list(argv[at + 1], &phrases);
    if (status == 0)
        status = search_all(&patterns, &phrases, chosen, passes, counting);
    free(patterns.items);
    free(patterns.storage);
    free(phrases.items);
    free(phrases.storage);
    return fflush(stdout) != 0 ? 1 : status;
}
