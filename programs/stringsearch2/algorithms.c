/* SPDX-License-Identifier: MIT */
#include "search.h"

#include <stdlib.h>
#include <string.h>

/* The descendants of R. N. Horspool's and D. M. Sunday's searches. All of them compare the pattern
 * with a window of the text and move the window by what stands at its end or behind it. */

/* Shift by the window's last letter: from its last place in the pattern but the final one. */
static void make_last_shifts(const Pattern *pattern, size_t shift[ALPHABET])
{
    for (int letter = 0; letter < ALPHABET; letter++)
        shift[letter] = pattern->length;
    for (size_t i = 0; i + 1 < pattern->length; i++)
        shift[pattern->folded[i]] = pattern->length - 1 - i;
}

/* Shift by the letter behind the window. */
static void make_next_shifts(const Pattern *pattern, size_t shift[ALPHABET])
{
    for (int letter = 0; letter < ALPHABET; letter++)
        shift[letter] = pattern->length + 1;
    for (size_t i = 0; i < pattern->length; i++)
        shift[pattern->folded[i]] = pattern->length - i;
}

static int fits(const Pattern *pattern, const Text *text, size_t place)
{
    for (size_t i = 0; i < pattern->length; i++)
        if (text->fold[text->bytes[place + i]] != pattern->folded[i])
            return 0;
    return 1;
}

static uint64_t find_horspool(const Pattern *pattern, Text *text, Note note, void *context)
{
    size_t shift[ALPHABET], last = pattern->length - 1;
    uint64_t windows = 0;

    make_last_shifts(pattern, shift);
    for (size_t place = 0; place + pattern->length <= text->length;) {
        unsigned char end = text->fold[text->bytes[place + last]];
        windows++;
        if (end == pattern->folded[last] && fits(pattern, text, place))
            note(context, place);
        place += shift[end];
    }
    return windows;
}

/* T. Raita (1992): the last, the first and the middle letter depend on each other the least. */
static uint64_t find_raita(const Pattern *pattern, Text *text, Note note, void *context)
{
    size_t shift[ALPHABET], last = pattern->length - 1, middle = pattern->length / 2;
    unsigned char first_letter = pattern->folded[0], middle_letter = pattern->folded[middle];
    uint64_t windows = 0;

    make_last_shifts(pattern, shift);
    for (size_t place = 0; place + pattern->length <= text->length;) {
        const unsigned char *window = text->bytes + place;
        unsigned char end = text->fold[window[last]];
        windows++;
        if (end == pattern->folded[last] && text->fold[window[0]] == first_letter &&
            text->fold[window[middle]] == middle_letter && fits(pattern, text, place))
            note(context, place);
        place += shift[end];
    }
    return windows;
}

static uint64_t find_sunday(const Pattern *pattern, Text *text, Note note, void *context)
{
    size_t shift[ALPHABET];
    uint64_t windows = 0;

    make_next_shifts(pattern, shift);
    for (size_t place = 0; place + pattern->length <= text->length;) {
        windows++;
        if (fits(pattern, text, place))
            note(context, place);
        place += shift[text->fold[text->bytes[place + pattern->length]]];
    }
    return windows;
}

/* P. D. Smith (1991): the larger of Horspool's and Sunday's shifts. */
static uint64_t find_smith(const Pattern *pattern, Text *text, Note note, void *context)
{
    size_t by_last[ALPHABET], by_next[ALPHABET];
    uint64_t windows = 0;

    make_last_shifts(pattern, by_last);
    make_next_shifts(pattern, by_next);
    for (size_t place = 0; place + pattern->length <= text->length;) {
        windows++;
        if (fits(pattern, text, place))
            note(context, place);
        size_t last = by_last[text->fold[text->bytes[place + pattern->length - 1]]];
        size_t next = by_next[text->fold[text->bytes[place + pattern->length]]];
        place += last > next ? last : next;
    }
    return windows;
}

/* A. Hume and D. M. Sunday (1991): three blind shifts at a time; a copy of the pattern behind the
 * text makes them stop. */
static uint64_t find_tuned(const Pattern *pattern, Text *text, Note note, void *context)
{
    size_t shift[ALPHABET], last = pattern->length - 1, at = last;
    uint64_t windows = 0;

    make_last_shifts(pattern, shift);
    size_t after_fit = shift[pattern->folded[last]];
    shift[pattern->folded[last]] = 0;
    memset(text->bytes + text->length, pattern->folded[last], pattern->length);
    while (at < text->length) {
        size_t step = shift[text->fold[text->bytes[at]]];
        while (step != 0) {
            at += step;
            at += shift[text->fold[text->bytes[at]]];
            at += shift[text->fold[text->bytes[at]]];
            step = shift[text->fold[text->bytes[at]]];
            windows += 3;
        }
        windows++;
        if (at < text->length && fits(pattern, text, at - last))
            note(context, at - last);
        at += after_fit;
    }
    memset(text->bytes + text->length, 0, PADDING);
    return windows;
}

static uint16_t pair_shift[ALPHABET * ALPHABET];

static size_t pair_of(unsigned char first, unsigned char second)
{
    return (size_t)first * ALPHABET + second;
}

static void fill_pairs(size_t shift)
{
    for (size_t pair = 0; pair < ALPHABET * ALPHABET; pair++)
        pair_shift[pair] = (uint16_t)shift;
}

/* R. F. Zhu and T. Takaoka (1987): shift by the window's last two letters. */
static uint64_t find_zhu_takaoka(const Pattern *pattern, Text *text, Note note, void *context)
{
    size_t length = pattern->length;
    uint64_t windows = 0;

    if (length == 1)
        return find_horspool(pattern, text, note, context);
    fill_pairs(length);
    for (size_t letter = 0; letter < ALPHABET; letter++)
        pair_shift[pair_of((unsigned char)letter, pattern->folded[0])] = (uint16_t)(length - 1);
    for (size_t i = 1; i + 1 < length; i++)
        pair_shift[pair_of(pattern->folded[i - 1], pattern->folded[i])] = (uint16_t)(length - 1 - i);
    for (size_t place = 0; place + length <= text->length;) {
        const unsigned char *end = text->bytes + place + length;
        windows++;
        if (fits(pattern, text, place))
            note(context, place);
        place += pair_shift[pair_of(text->fold[end[-2]], text->fold[end[-1]])];
    }
    return windows;
}

/* T. Berry and S. Ravindran (1999): shift by the two letters behind the window. */
static uint64_t find_berry_ravindran(const Pattern *pattern, Text *text, Note note, void *context)
{
    size_t length = pattern->length;
    uint64_t windows = 0;

    fill_pairs(length + 2);
    for (size_t letter = 0; letter < ALPHABET; letter++)
        pair_shift[pair_of((unsigned char)letter, pattern->folded[0])] = (uint16_t)(length + 1);
    for (size_t i = 0; i + 1 < length; i++)
        pair_shift[pair_of(pattern->folded[i], pattern->folded[i + 1])] = (uint16_t)(length - i);
    for (size_t letter = 0; letter < ALPHABET; letter++)
        pair_shift[pair_of(pattern->folded[length - 1], (unsigned char)letter)] = 1;
    for (size_t place = 0; place + length <= text->length;) {
        const unsigned char *behind = text->bytes + place + length;
        windows++;
        if (fits(pattern, text, place))
            note(context, place);
        place += pair_shift[pair_of(text->fold[behind[0]], text->fold[behind[1]])];
    }
    return windows;
}

/* One comparison of an ordered search: a place of the pattern, and why it comes early. */
typedef struct {
    size_t place;
    size_t weight;
} Step;

static int compare_steps(const void *left, const void *right)
{
    const Step *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    return (a->place < b->place) - (a->place > b->place);
}

/* Whether the pattern moved by `shift` leaves the first `count` letters compared as they were. */
static int keeps(const Pattern *pattern, const Step *steps, size_t count, size_t shift)
{
    for (size_t i = 0; i < count; i++) {
        size_t place = steps[i].place;
        if (place >= shift && pattern->folded[place - shift] != pattern->folded[place])
            return 0;
    }
    return 1;
}

static int changes(const Pattern *pattern, size_t place, size_t shift)
{
    return place < shift || pattern->folded[place - shift] != pattern->folded[place];
}

/* shift[i] is the least that keeps the first i letters compared and changes the one that failed;
 * shift[length] is for an occurrence. */
static void make_ordered_shifts(const Pattern *pattern, const Step *steps, size_t *shift)
{
    size_t least = 1;

    for (size_t i = 0; i <= pattern->length; i++) {
        while (!keeps(pattern, steps, i, least))
            least++;
        shift[i] = least;
        if (i == pattern->length)
            return;
        while (!changes(pattern, steps[i].place, shift[i]) || !keeps(pattern, steps, i, shift[i]))
            shift[i]++;
    }
}

static uint64_t find_in_order(const Pattern *pattern, Text *text, Step *steps, Note note, void *context)
{
    size_t by_next[ALPHABET], by_order[MOST_PATTERN + 1];
    uint64_t windows = 0;

    qsort(steps, pattern->length, sizeof *steps, compare_steps);
    make_ordered_shifts(pattern, steps, by_order);
    make_next_shifts(pattern, by_next);
    for (size_t place = 0; place + pattern->length <= text->length;) {
        size_t i = 0;
        while (i < pattern->length &&
               text->fold[text->bytes[place + steps[i].place]] == pattern->folded[steps[i].place])
            i++;
        windows++;
        if (i == pattern->length)
            note(context, place);
        size_t next = by_next[text->fold[text->bytes[place + pattern->length]]];
        place += next > by_order[i] ? next : by_order[i];
    }
    return windows;
}

/* D. M. Sunday's optimal mismatch (1990): the text's rarest letters are compared first. */
static uint64_t find_optimal_mismatch(const Pattern *pattern, Text *text, Note note, void *context)
{
    Step steps[MOST_PATTERN];
    for (size_t i = 0; i < pattern->length; i++) {
        steps[i].place = i;
        steps[i].weight = text->frequency[pattern->folded[i]];
    }
    return find_in_order(pattern, text, steps, note, context);
}

/* D. M. Sunday's maximal shift (1990): letters whose failure moves the window far come first. */
static uint64_t find_maximal_shift(const Pattern *pattern, Text *text, Note note, void *context)
{
    Step steps[MOST_PATTERN];
    for (size_t i = 0; i < pattern->length; i++) {
        size_t earlier = i;
        while (earlier > 0 && pattern->folded[earlier - 1] != pattern->folded[i])
            earlier--;
        steps[i].place = i;
        steps[i].weight = MOST_PATTERN - (i + 1 - earlier);
    }
    return find_in_order(pattern, text, steps, note, context);
}

const Algorithm algorithms[] = {
    {"horspool", find_horspool},
    {"raita", find_raita},
    {"sunday", find_sunday},
    {"smith", find_smith},
    {"tuned", find_tuned},
    {"zhu-takaoka", find_zhu_takaoka},
    {"berry-ravindran", find_berry_ravindran},
    {"optimal-mismatch", find_optimal_mismatch},
    {"maximal-shift", find_maximal_shift},
};

const size_t algorithm_count = sizeof algorithms / sizeof algorithms[0];
