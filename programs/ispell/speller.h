/* SPDX-License-Identifier: MIT */
/* The parts of the speller: letters, a store for strings, the dictionary, affixes, the check of a
 * word, suggestions, and the reading of text. Words are byte strings of at most MOST_WORD bytes. */
#ifndef ISPELL_SPELLER_H
#define ISPELL_SPELLER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    MOST_WORD = 100,
    MOST_LINE = 8192,
    MOST_AFFIX = 24,
    MOST_CONDITION = 8,
    MOST_SUGGESTIONS = 15,
    ALPHABET = 256,
    STATUS_BAD_DATA = 3,
};

/* letters.c: ISO 8859-1, or UTF-8 of which ASCII alone has case. */
typedef enum { CASE_LOWER, CASE_CAPITALISED, CASE_ALL_CAPITALS, CASE_MIXED } Case;

typedef struct {
    unsigned char lower[ALPHABET];
    unsigned char upper[ALPHABET];
    unsigned char is_letter[ALPHABET];
    unsigned char is_word[ALPHABET]; /* letters and the dictionary's other word characters */
    int is_utf8;
} Letters;

void letters_start(Letters *letters, int is_utf8);
Case letters_case(const Letters *letters, const char *word);
void letters_lower(const Letters *letters, char *word);
void letters_capitalise(const Letters *letters, char *word);
void letters_upper(const Letters *letters, char *word);

/* store.c: memory that is given back all at once. */
typedef struct Chunk Chunk;

typedef struct {
    Chunk *chunks;
} Store;

void *store_take(Store *store, size_t bytes); /* exits when memory is exhausted */
char *store_copy(Store *store, const char *text, size_t length);
void store_free(Store *store);

/* dictionary.c: a hash table of roots; one spelling may have several entries. */
typedef struct Entry {
    struct Entry *next; /* in the bucket */
    uint32_t hash;
    uint8_t length;
    uint8_t capitals_only; /* stands for a root with inner capitals, in words of all capitals */
    const char *flags;
    const char *word;
} Entry;

typedef struct {
    Store *store;
    Entry **buckets;
    size_t bucket_count;
    size_t count;
} Dictionary;

void dictionary_start(Dictionary *dictionary, Store *store, size_t expected);
void dictionary_add(Dictionary *dictionary, const char *word, const char *flags, int capitals_only);
const Entry *dictionary_find(const Dictionary *dictionary, const char *word, size_t length);
const Entry *dictionary_next(const Entry *entry); /* of the same spelling */
int entry_has(const Entry *entry, char flag);
void dictionary_free(Dictionary *dictionary);

/* affix.c: the rules of an affix file. */
typedef struct {
    int count;
    uint32_t set[MOST_CONDITION][ALPHABET / 32]; /* which bytes may stand at each place */
} Condition;

typedef struct Affix {
    struct Affix *next; /* with the same outer byte */
    struct Affix *next_read;
    char flag;
    uint8_t is_prefix;
    uint8_t is_cross;
    uint8_t strip_length;
    uint8_t append_length;
    const char *strip;
    const char *append;
    Condition condition;
} Affix;

typedef struct Replacement {
    struct Replacement *next;
    const char *from;
    const char *to;
} Replacement;

typedef struct {
    Affix *suffixes[ALPHABET]; /* by the last byte added; those that add nothing at 0 */
    Affix *prefixes[ALPHABET]; /* by the first */
    Affix *first, **last;      /* all, in the order read */
    Replacement *replacements, **last_replacement;
    const char *tried;    /* letters in the order in which to try them */
    const char *keyboard; /* rows of neighbours, split by bars */
    char no_suggest, forbidden, need_affix, only_in_compound, keep_case; /* flags, or NUL */
} Affixes;

typedef struct {
    Store store;
    Letters letters;
    Affixes affixes;
    Dictionary dictionary;
} Speller;

int affixes_read(Speller *speller, const char *name);

/* Whether a root may take the affix; the word made goes to `made`, its length is returned or 0. */
size_t affix_apply(const Affix *affix, const char *root, size_t length, char made[MOST_WORD + 1]);

/* The inverse: the root that would give the word, or 0. */
size_t affix_remove(const Affix *affix, const char *word, size_t length, char root[MOST_WORD + 1]);

/* check.c */
typedef enum { WRONG, ROOT, DERIVED, NUMBER } Verdict;

typedef struct {
    Verdict verdict;
    const Entry *entry; /* NULL for WRONG and NUMBER */
} Finding;

int dictionary_read(Speller *speller, const char *name);
void speller_learn(Speller *speller, const char *word);
Finding check_word(const Speller *speller, const char *word);

/* Calls `take` with each word that an entry and its affixes make. */
typedef void (*TakeWord)(void *context, const char *word);
void expand_entry(const Speller *speller, const Entry *entry, TakeWord take, void *context);

/* suggest.c */
typedef struct {
    int count;
    char word[MOST_SUGGESTIONS][2 * MOST_WORD + 2];
} Suggestions;

void suggest(const Speller *speller, const char *word, Suggestions *suggestions);

/* text.c */
typedef struct {
    unsigned long words, roots, derived, numbers, wrong;
} Counts;

void list_misspelled(Speller *speller, FILE *text, Counts *counts, int printing);
int run_pipe(Speller *speller, FILE *text, const char *personal);

#endif
