/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "speller.h"

/* Corrections come first from single mistakes, likely ones first; where none gives a word, from the
 * roots that share the most pieces with what was written. */

enum { NEAR_ROOTS = 40, NEAR_WORDS = 5, MOST_LENGTH_CHANGE = 4 };

typedef struct {
    const Speller *speller;
    Suggestions *suggestions;
    Case shape;
    const char *written;
    char word[MOST_WORD + 1]; /* in small letters, but for mixed case */
    size_t length;
} Search;

static int is_suggestible(const Search *search, const char *word)
{
    Finding finding = check_word(search->speller, word);
    if (finding.verdict == WRONG)
        return 0;
    return finding.entry == NULL || !entry_has(finding.entry, search->speller->affixes.no_suggest);
}

/* A candidate may hold one blank, between two words. */
static int all_suggestible(const Search *search, const char *candidate)
{
    char part[MOST_WORD + 1];
    const char *blank = strchr(candidate, ' ');

    if (blank == NULL)
        return is_suggestible(search, candidate);
    size_t length = (size_t)(blank - candidate);
    memcpy(part, candidate, length);
    part[length] = '\0';
    return is_suggestible(search, part) && is_suggestible(search, blank + 1);
}

static void keep(Suggestions *suggestions, const char *word)
{
    for (int i = 0; i < suggestions->count; i++)
        if (strcmp(suggestions->word[i], word) == 0)
            return;
    strcpy(suggestions->word[suggestions->count++], word);
}

/* A word in small letters is better corrected by one in small letters. */
static int suggest_small(const Search *search, const char *candidate)
{
    char changed[MOST_WORD + 1];

    strcpy(changed, candidate);
    letters_lower(&search->speller->letters, changed);
    if (!all_suggestible(search, changed))
        return 0;
    if (strcmp(changed, search->written) != 0)
        keep(search->suggestions, changed);
    return 1;
}

static void try_candidate(const Search *search, const char *candidate)
{
    char shaped[MOST_WORD + 1];
    size_t length = strlen(candidate);

    if (search->suggestions->count == MOST_SUGGESTIONS || length == 0 || length > MOST_WORD)
        return;
    if (search->shape == CASE_LOWER && suggest_small(search, candidate))
        return;
    strcpy(shaped, candidate);
    if (search->shape == CASE_CAPITALISED || search->shape == CASE_LOWER)
        shaped[0] = (char)search->speller->letters.upper[(unsigned char)shaped[0]];
    else if (search->shape == CASE_ALL_CAPITALS)
        letters_upper(&search->speller->letters, shaped);
    if (strcmp(shaped, search->written) != 0 && all_suggestible(search, shaped))
        keep(search->suggestions, shaped);
}

static void try_cases(const Search *search)
{
    char changed[MOST_WORD + 1];

    strcpy(changed, search->word);
    letters_capitalise(&search->speller->letters, changed);
    try_candidate(search, changed);
    letters_upper(&search->speller->letters, changed);
    try_candidate(search, changed);
    if (search->shape == CASE_MIXED) {
        letters_lower(&search->speller->letters, changed);
        try_candidate(search, changed);
    }
}

static void try_replacements(const Search *search)
{
    char changed[MOST_LINE + MOST_WORD];
    const Replacement *replacement = search->speller->affixes.replacements;

    for (; replacement != NULL; replacement = replacement->next) {
        size_t from = strlen(replacement->from);
        const char *at = strstr(search->word, replacement->from);
        for (; at != NULL; at = strstr(at + 1, replacement->from)) {
            size_t before = (size_t)(at - search->word);
            memcpy(changed, search->word, before);
            strcpy(changed + before, replacement->to);
            strcat(changed, at + from);
            try_candidate(search, changed);
        }
    }
}

static void swap_bytes(char *a, char *b)
{
    char byte = *a;
    *a = *b;
    *b = byte;
}

static void try_swaps(const Search *search)
{
    char changed[MOST_WORD + 1];

    strcpy(changed, search->word);
    for (size_t i = 0; i + 1 < search->length; i++) {
        swap_bytes(&changed[i], &changed[i + 1]);
        try_candidate(search, changed);
        swap_bytes(&changed[i], &changed[i + 1]);
    }
}

static void try_neighbours(const Search *search)
{
    const char *keyboard = search->speller->affixes.keyboard;
    char changed[MOST_WORD + 1];

    strcpy(changed, search->word);
    for (size_t i = 0; i < search->length; i++) {
        char original = changed[i];
        const char *key = strchr(keyboard, original);
        for (; key != NULL; key = strchr(key + 1, original)) {
            if (key > keyboard && key[-1] != '|') {
                changed[i] = key[-1];
                try_candidate(search, changed);
            }
            if (key[1] != '\0' && key[1] != '|') {
                changed[i] = key[1];
                try_candidate(search, changed);
            }
        }
        changed[i] = original;
    }
}

static void try_removals(const Search *search)
{
    char changed[MOST_WORD + 1];
    for (size_t i = 0; i < search->length; i++) {
        memcpy(changed, search->word, i);
        strcpy(changed + i, search->word + i + 1);
        try_candidate(search, changed);
    }
}

/* A single byte of UTF-8's longer letters makes no word. */
static int is_triable(const Search *search, char letter)
{
    return !search->speller->letters.is_utf8 || (unsigned char)letter < 0x80;
}

static void try_insertions(const Search *search)
{
    char changed[MOST_WORD + 2];
    for (const char *letter = search->speller->affixes.tried; *letter != '\0'; letter++)
        for (size_t i = 0; i <= search->length && search->length < MOST_WORD && is_triable(search, *letter); i++) {
            memcpy(changed, search->word, i);
            changed[i] = *letter;
            strcpy(changed + i + 1, search->word + i);
            try_candidate(search, changed);
        }
}

static void try_substitutions(const Search *search)
{
    char changed[MOST_WORD + 1];

    strcpy(changed, search->word);
    for (const char *letter = search->speller->affixes.tried; *letter != '\0'; letter++)
        for (size_t i = 0; i < search->length; i++) {
            char original = changed[i];
            if (original == *letter || !is_triable(search, *letter))
                continue;
            changed[i] = *letter;
            try_candidate(search, changed);
            changed[i] = original;
        }
}

/* Two letters written twice, as in "vacacation". */
static void try_doubled_pairs(const Search *search)
{
    char changed[MOST_WORD + 1];
    for (size_t i = 0; i + 4 <= search->length; i++)
        if (memcmp(search->word + i, search->word + i + 2, 2) == 0) {
            memcpy(changed, search->word, i);
            strcpy(changed + i, search->word + i + 2);
            try_candidate(search, changed);
        }
}

static void try_two_words(const Search *search)
{
    char changed[MOST_WORD + 2];
    for (size_t i = 1; i < search->length; i++) {
        memcpy(changed, search->word, i);
        changed[i] = ' ';
        strcpy(changed + i + 1, search->word + i);
        try_candidate(search, changed);
    }
}

static int occurs(const char *piece, size_t size, const char *text, size_t length)
{
    for (size_t i = 0; i + size <= length; i++)
        if (memcmp(text + i, piece, size) == 0)
            return 1;
    return 0;
}

/* How alike two words are: the pieces of one to three letters that they share. */
static int likeness(const char *word, size_t length, const char *root, size_t root_length)
{
    int score = 0;
    for (size_t size = 1; size <= 3; size++) {
        int shared = 0;
        for (size_t i = 0; i + size <= length; i++)
            shared += occurs(word + i, size, root, root_length);
        score += shared * (int)size;
    }
    size_t same = 0;
    while (same < length && same < root_length && word[same] == root[same])
        same++;
    /* A root may well be shorter, by its suffix, than the word that is meant. */
    size_t longer = root_length > length ? root_length - length : 0;
    size_t shorter = length > root_length + MOST_LENGTH_CHANGE ? length - root_length - MOST_LENGTH_CHANGE : 0;
    return score + (int)same - 2 * (int)(longer + shorter);
}

/* Fewest letters to insert, remove, change or swap with the next; `limit` + 1 stands for any more. */
static int distance(const char *a, size_t a_length, const char *b, size_t b_length, int limit)
{
    int rows[3][MOST_WORD + 1];
    int *two_up = rows[0], *up = rows[1], *row = rows[2];

    if (a_length > b_length + (size_t)limit || b_length > a_length + (size_t)limit)
        return limit + 1;
    for (size_t j = 0; j <= b_length; j++)
        up[j] = (int)j;
    memset(rows[0], 0, sizeof rows[0]);
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int least = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < least)
                least = up[j] + 1;
            if (row[j - 1] + 1 < least)
                least = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && two_up[j - 2] + 1 < least)
                least = two_up[j - 2] + 1;
            row[j] = least;
        }
        int *oldest = two_up;
        two_up = up;
        up = row;
        row = oldest;
    }
    return up[b_length] > limit ? limit + 1 : up[b_length];
}

typedef struct {
    const Entry *entry;
    int score;
} NearRoot;

static int comes_before(const NearRoot *a, const NearRoot *b)
{
    return a->score != b->score ? a->score > b->score : strcmp(a->entry->word, b->entry->word) < 0;
}

static int find_near_roots(const Search *search, NearRoot near[NEAR_ROOTS])
{
    const Dictionary *dictionary = &search->speller->dictionary;
    int count = 0;

    for (size_t bucket = 0; bucket < dictionary->bucket_count; bucket++)
        for (const Entry *entry = dictionary->buckets[bucket]; entry != NULL; entry = entry->next) {
            if (entry->length > search->length + MOST_LENGTH_CHANGE ||
                search->length > (size_t)entry->length + 2 * MOST_LENGTH_CHANGE || entry->capitals_only)
                continue;
            NearRoot root = {entry, likeness(search->word, search->length, entry->word, entry->length)};
            if (count == NEAR_ROOTS && !comes_before(&root, &near[count - 1]))
                continue;
            int at = count < NEAR_ROOTS ? count++ : count - 1;
            for (; at > 0 && comes_before(&root, &near[at - 1]); at--)
                near[at] = near[at - 1];
            near[at] = root;
        }
    return count;
}

typedef struct {
    const Search *search;
    int limit;
    int count;
    struct {
        int distance;
        char word[MOST_WORD + 1];
    } words[NEAR_WORDS];
} NearWords;

static void take_near_word(void *context, const char *word)
{
    NearWords *near = context;
    const Search *search = near->search;
    int far = distance(search->word, search->length, word, strlen(word), near->limit);

    if (far > near->limit || (near->count == NEAR_WORDS && far >= near->words[near->count - 1].distance))
        return;
    for (int i = 0; i < near->count; i++)
        if (strcmp(near->words[i].word, word) == 0)
            return;
    int at = near->count < NEAR_WORDS ? near->count++ : near->count - 1;
    for (; at > 0 && far < near->words[at - 1].distance; at--)
        near->words[at] = near->words[at - 1];
    near->words[at].distance = far;
    strcpy(near->words[at].word, word);
}

static void try_near_words(const Search *search)
{
    NearRoot roots[NEAR_ROOTS];
    NearWords near = {.search = search, .limit = search->length < 6 ? 2 : search->length < 12 ? 3 : 4};
    int count = find_near_roots(search, roots);

    for (int i = 0; i < count; i++)
        expand_entry(search->speller, roots[i].entry, take_near_word, &near);
    for (int i = 0; i < near.count; i++)
        try_candidate(search, near.words[i].word);
}

void suggest(const Speller *speller, const char *word, Suggestions *suggestions)
{
    static void (*const tries[])(const Search *) = {
        try_cases,      try_replacements,  try_swaps,         try_neighbours, try_removals,
        try_insertions, try_substitutions, try_doubled_pairs, try_two_words,
    };
    Search search = {.speller = speller, .suggestions = suggestions, .written = word, .length = strlen(word)};

    suggestions->count = 0;
    if (search.length > MOST_WORD)
        return;
    search.shape = letters_case(&speller->letters, word);
    strcpy(search.word, word);
    if (search.shape == CASE_CAPITALISED || search.shape == CASE_ALL_CAPITALS)
        letters_lower(&speller->letters, search.word);
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        tries[i](&search);
    if (suggestions->count == 0)
        try_near_words(&search);
}
