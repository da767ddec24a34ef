/* SPDX-License-Identifier: MIT */
/* Searching a text for a pattern with letters taken as equal by a table. */
#ifndef STRINGSEARCH2_SEARCH_H
#define STRINGSEARCH2_SEARCH_H

#include <stddef.h>
#include <stdint.h>

enum {
    ALPHABET = 256,
    MOST_PATTERN = 128,
    PADDING = MOST_PATTERN + 2, /* bytes behind a text that a search may read and change */
};

typedef struct {
    unsigned char *bytes;
    size_t length;
    const unsigned char *fold;    /* equal letters have equal entries */
    size_t frequency[ALPHABET];   /* of folded letters */
} Text;

typedef struct {
    unsigned char folded[MOST_PATTERN];
    size_t length;
} Pattern;

/* Called for each occurrence, from left to right. */
typedef void (*Note)(void *context, size_t place);

/* Calls `note` for every place and returns how many windows of the text were compared. */
typedef uint64_t (*Find)(const Pattern *pattern, Text *text, Note note, void *context);

typedef struct {
    const char *name;
    Find find;
} Algorithm;

extern const Algorithm algorithms[];
extern const size_t algorithm_count;

typedef enum { FOLD_NOTHING, FOLD_CASE, FOLD_ACCENTS } Folding;

/* Fills a table that maps the letters of ISO 8859-1 to a common one. */
void make_fold(Folding folding, unsigned char fold[ALPHABET]);

#endif
