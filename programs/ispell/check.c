/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "speller.h"

/* How the word's own letters were changed before it is looked up. */
typedef enum { AS_WRITTEN, FROM_CAPITALISED, FROM_CAPITALS } Origin;

static int may_stand(const Speller *speller, const Entry *entry, Origin origin)
{
    if (entry_has(entry, speller->affixes.only_in_compound) || entry_has(entry, speller->affixes.forbidden))
        return 0;
    if (entry_has(entry, speller->affixes.keep_case) && origin != AS_WRITTEN)
        return 0;
    return !entry->capitals_only || origin == FROM_CAPITALS;
}

static const Entry *find_root(const Speller *speller, const char *word, size_t length, Origin origin)
{
    const Entry *entry = dictionary_find(&speller->dictionary, word, length);
    for (; entry != NULL; entry = dictionary_next(entry))
        if (may_stand(speller, entry, origin) && !entry_has(entry, speller->affixes.need_affix))
            return entry;
    return NULL;
}

static const Entry *find_flagged(const Speller *speller, const char *root, size_t length, const Affix *affix,
                                 const Affix *other, Origin origin)
{
    const Entry *entry = dictionary_find(&speller->dictionary, root, length);
    for (; entry != NULL; entry = dictionary_next(entry))
        if (may_stand(speller, entry, origin) && entry_has(entry, affix->flag) &&
            (other == NULL || entry_has(entry, other->flag)))
            return entry;
    return NULL;
}

/* Looks for a root below a suffix, and below `prefix` too where that is not NULL. */
static const Entry *find_below_suffix(const Speller *speller, const char *word, size_t length,
                                      const Affix *prefix, Origin origin)
{
    unsigned char last = (unsigned char)word[length - 1];
    const Affix *lists[2] = {speller->affixes.suffixes[0], speller->affixes.suffixes[last]};
    char root[MOST_WORD + 1];

    for (int i = 0; i < 2; i++)
        for (const Affix *suffix = lists[i]; suffix != NULL; suffix = suffix->next) {
            if (prefix != NULL && !suffix->is_cross)
                continue;
            size_t root_length = affix_remove(suffix, word, length, root);
            if (root_length == 0)
                continue;
            const Entry *entry = find_flagged(speller, root, root_length, suffix, prefix, origin);
            if (entry != NULL)
                return entry;
        }
    return NULL;
}

static const Entry *find_below_prefix(const Speller *speller, const char *word, size_t length, Origin origin)
{
    unsigned char first = (unsigned char)word[0];
    const Affix *lists[2] = {speller->affixes.prefixes[0], speller->affixes.prefixes[first]};
    char root[MOST_WORD + 1];

    for (int i = 0; i < 2; i++)
        for (const Affix *prefix = lists[i]; prefix != NULL; prefix = prefix->next) {
            size_t root_length = affix_remove(prefix, word, length, root);
            if (root_length == 0)
                continue;
            const Entry *entry = find_flagged(speller, root, root_length, prefix, NULL, origin);
            if (entry == NULL && prefix->is_cross)
                entry = find_below_suffix(speller, root, root_length, prefix, origin);
            if (entry != NULL)
                return entry;
        }
    return NULL;
}

static int is_forbidden(const Speller *speller, const char *word, size_t length)
{
    const Entry *entry = dictionary_find(&speller->dictionary, word, length);
    for (; entry != NULL; entry = dictionary_next(entry))
        if (entry_has(entry, speller->affixes.forbidden))
            return 1;
    return 0;
}

static Finding look_up(const Speller *speller, const char *word, Origin origin)
{
    size_t length = strlen(word);
    Finding finding = {WRONG, NULL};

    if (is_forbidden(speller, word, length))
        return finding;
    finding.entry = find_root(speller, word, length, origin);
    if (finding.entry != NULL) {
        finding.verdict = ROOT;
        return finding;
    }
    finding.entry = find_below_prefix(speller, word, length, origin);
    if (finding.entry == NULL)
        finding.entry = find_below_suffix(speller, word, length, NULL, origin);
    if (finding.entry != NULL)
        finding.verdict = DERIVED;
    return finding;
}

static int is_number(const char *word)
{
    for (size_t i = 0; word[i] != '\0'; i++)
        if (word[i] < '0' || word[i] > '9')
            return 0;
    return word[0] != '\0';
}

Finding check_word(const Speller *speller, const char *word)
{
    const Letters *letters = &speller->letters;
    char changed[MOST_WORD + 1];
    Finding finding = {WRONG, NULL};
    Case shape = letters_case(letters, word);

    if (word[0] == '\0' || strlen(word) > MOST_WORD)
        return finding;
    if (is_number(word)) {
        finding.verdict = NUMBER;
        return finding;
    }
    finding = look_up(speller, word, AS_WRITTEN);
    if (finding.verdict != WRONG || shape == CASE_LOWER || shape == CASE_MIXED)
        return finding;
    Origin origin = shape == CASE_CAPITALISED ? FROM_CAPITALISED : FROM_CAPITALS;
    strcpy(changed, word);
    letters_lower(letters, changed);
    finding = look_up(speller, changed, origin);
    if (finding.verdict == WRONG && origin == FROM_CAPITALS) {
        letters_capitalise(letters, changed);
        finding = look_up(speller, changed, origin);
    }
    return finding;
}

/* Adds a root and, for one with inner capitals, its stand-in within words of all capitals. */
static void add_root(Speller *speller, const char *word, const char *flags)
{
    Case shape = letters_case(&speller->letters, word);
    char plain[MOST_WORD + 1];

    dictionary_add(&speller->dictionary, word, flags, 0);
    if (shape == CASE_MIXED || (shape == CASE_ALL_CAPITALS && flags[0] != '\0')) {
        strcpy(plain, word);
        letters_capitalise(&speller->letters, plain);
        dictionary_add(&speller->dictionary, plain, flags, 1);
    }
}

void speller_learn(Speller *speller, const char *word)
{
    if (word[0] != '\0' && strlen(word) <= MOST_WORD && check_word(speller, word).verdict == WRONG)
        add_root(speller, word, "");
}

/* Splits "word/flags" where the slash is not behind a backslash. */
static char *cut_flags(char *line)
{
    char *slash = strchr(line, '/');
    while (slash != NULL && slash > line && slash[-1] == '\\') {
        memmove(slash - 1, slash, strlen(slash) + 1);
        slash = strchr(slash, '/');
    }
    if (slash == NULL)
        return "";
    *slash = '\0';
    return slash + 1;
}

int dictionary_read(Speller *speller, const char *name)
{
    FILE *file = fopen(name, "r");
    char line[MOST_LINE];
    int status = 0;

    if (file == NULL) {
        fprintf(stderr, "ispell: %s: %s\n", name, strerror(errno));
        return 1;
    }
    long expected = fgets(line, sizeof line, file) != NULL ? atol(line) : 0;
    if (expected <= 0 || expected > 10000000) {
        fprintf(stderr, "ispell: %s: the first line is not a count of words\n", name);
        fclose(file);
        return STATUS_BAD_DATA;
    }
    dictionary_start(&speller->dictionary, &speller->store, (size_t)expected);
    while (status == 0 && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, " \t\r\n")] = '\0';
        char *flags = cut_flags(line);
        if (strlen(line) > MOST_WORD) {
            fprintf(stderr, "ispell: %s: a word is too long: %s\n", name, line);
            status = STATUS_BAD_DATA;
        } else if (line[0] != '\0') {
            add_root(speller, line, flags);
        }
    }
    fclose(file);
    return status;
}

static void expand_prefixes(const Speller *speller, const Entry *entry, const char *word, const Affix *suffix,
                            TakeWord take, void *context)
{
    char made[MOST_WORD + 1];
    for (const Affix *prefix = speller->affixes.first; prefix != NULL; prefix = prefix->next_read)
        if (prefix->is_prefix && entry_has(entry, prefix->flag) && (suffix == NULL || prefix->is_cross) &&
            affix_apply(prefix, word, strlen(word), made) > 0)
            take(context, made);
}

void expand_entry(const Speller *speller, const Entry *entry, TakeWord take, void *context)
{
    char made[MOST_WORD + 1];

    if (!entry_has(entry, speller->affixes.need_affix))
        take(context, entry->word);
    for (const Affix *suffix = speller->affixes.first; suffix != NULL; suffix = suffix->next_read) {
        if (suffix->is_prefix || !entry_has(entry, suffix->flag) ||
            affix_apply(suffix, entry->word, entry->length, made) == 0)
            continue;
        take(context, made);
        if (suffix->is_cross)
            expand_prefixes(speller, entry, made, suffix, take, context);
    }
    expand_prefixes(speller, entry, entry->word, NULL, take, context);
}
