/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "speller.h"

/* Reads affix files of the form that hunspell(5) describes, with flags of one character: SET, TRY,
 * KEY, REP, WORDCHARS, PFX, SFX and the flags NOSUGGEST, FORBIDDENWORD, NEEDAFFIX, ONLYINCOMPOUND
 * and KEEPCASE. Compounding is left aside; what cannot be left aside (long flags, affixes of
 * affixes) is refused. */

enum { MOST_FIELDS = 6 };

typedef struct {
    Speller *speller;
    const char *name;
    unsigned long line;
    /* The block of PFX or SFX rules that is being read. */
    char flag;
    int is_prefix, is_cross, rules_left;
    int replacements_left;
} Reader;

static int complain(const Reader *reader, const char *what)
{
    fprintf(stderr, "ispell: %s:%lu: %s\n", reader->name, reader->line, what);
    return STATUS_BAD_DATA;
}

static int split(char *line, char *fields[MOST_FIELDS])
{
    int count = 0;
    for (char *at = line; count < MOST_FIELDS;) {
        at += strspn(at, " \t\r\n");
        if (*at == '\0')
            break;
        fields[count++] = at;
        at += strcspn(at, " \t\r\n");
        if (*at != '\0')
            *at++ = '\0';
    }
    return count;
}

static void allow(Condition *condition, int place, unsigned char byte)
{
    condition->set[place][byte / 32] |= UINT32_C(1) << byte % 32;
}

static int is_allowed(const Condition *condition, int place, unsigned char byte)
{
    return condition->set[place][byte / 32] >> byte % 32 & 1;
}

/* Parses one place of a condition: a letter, a dot, or a set in brackets. */
static const char *parse_place(Condition *condition, const char *text)
{
    int place = condition->count++;
    int negated = 0;

    if (*text == '.') {
        memset(condition->set[place], 0xff, sizeof condition->set[place]);
        return text + 1;
    }
    if (*text != '[') {
        allow(condition, place, (unsigned char)*text);
        return text + 1;
    }
    if (*++text == '^') {
        negated = 1;
        text++;
    }
    for (; *text != '\0' && *text != ']'; text++)
        allow(condition, place, (unsigned char)*text);
    for (int i = 0; i < ALPHABET / 32 && negated; i++)
        condition->set[place][i] = ~condition->set[place][i];
    return *text == ']' ? text + 1 : NULL;
}

static int parse_condition(Condition *condition, const char *text)
{
    memset(condition, 0, sizeof *condition);
    if (strcmp(text, ".") == 0)
        return 0;
    while (text != NULL && *text != '\0') {
        if (condition->count == MOST_CONDITION)
            return -1;
        text = parse_place(condition, text);
    }
    return text == NULL ? -1 : 0;
}

static int holds_before(const Condition *condition, const char *root, size_t length)
{
    if ((size_t)condition->count > length)
        return 0;
    for (int i = 0; i < condition->count; i++)
        if (!is_allowed(condition, i, (unsigned char)root[i]))
            return 0;
    return 1;
}

static int holds_behind(const Condition *condition, const char *root, size_t length)
{
    size_t count = (size_t)condition->count;
    return count <= length && holds_before(condition, root + length - count, count);
}

static int holds(const Affix *affix, const char *root, size_t length)
{
    if (affix->is_prefix)
        return holds_before(&affix->condition, root, length);
    return holds_behind(&affix->condition, root, length);
}

size_t affix_apply(const Affix *affix, const char *root, size_t length, char made[MOST_WORD + 1])
{
    size_t strip = affix->strip_length, append = affix->append_length;
    const char *stripped = affix->is_prefix ? root : root + length - strip;

    if (length <= strip || length - strip + append > MOST_WORD || !holds(affix, root, length))
        return 0;
    if (memcmp(stripped, affix->strip, strip) != 0)
        return 0;
    if (affix->is_prefix) {
        memcpy(made, affix->append, append);
        memcpy(made + append, root + strip, length - strip);
    } else {
        memcpy(made, root, length - strip);
        memcpy(made + length - strip, affix->append, append);
    }
    made[length - strip + append] = '\0';
    return length - strip + append;
}

size_t affix_remove(const Affix *affix, const char *word, size_t length, char root[MOST_WORD + 1])
{
    size_t strip = affix->strip_length, append = affix->append_length;
    const char *appended = affix->is_prefix ? word : word + length - append;

    if (length <= append || length - append + strip > MOST_WORD)
        return 0;
    if (memcmp(appended, affix->append, append) != 0)
        return 0;
    if (affix->is_prefix) {
        memcpy(root, affix->strip, strip);
        memcpy(root + strip, word + append, length - append);
    } else {
        memcpy(root, word, length - append);
        memcpy(root + length - append, affix->strip, strip);
    }
    length = length - append + strip;
    root[length] = '\0';
    return holds(affix, root, length) ? length : 0;
}

static void link_affix(Affixes *affixes, Affix *affix)
{
    unsigned char outer = 0;
    if (affix->append_length > 0)
        outer = (unsigned char)affix->append[affix->is_prefix ? 0 : affix->append_length - 1];
    Affix **link = affix->is_prefix ? &affixes->prefixes[outer] : &affixes->suffixes[outer];
    while (*link != NULL)
        link = &(*link)->next;
    *link = affix;
    *affixes->last = affix;
    affixes->last = &affix->next_read;
}

static const char *without_zero(const char *text)
{
    return strcmp(text, "0") == 0 ? "" : text;
}

static int read_rule(Reader *reader, char *fields[MOST_FIELDS], int count)
{
    Store *store = &reader->speller->store;

    if (count < 4 || fields[1][0] != reader->flag)
        return complain(reader, "not a rule of the block begun above");
    const char *strip = without_zero(fields[2]), *append = without_zero(fields[3]);
    if (strchr(append, '/') != NULL)
        return complain(reader, "affixes of affixes are not supported");
    if (strlen(strip) > MOST_AFFIX || strlen(append) > MOST_AFFIX)
        return complain(reader, "an affix is too long");
    Affix *affix = store_take(store, sizeof *affix);
    memset(affix, 0, sizeof *affix);
    affix->flag = reader->flag;
    affix->is_prefix = (uint8_t)reader->is_prefix;
    affix->is_cross = (uint8_t)reader->is_cross;
    affix->strip_length = (uint8_t)strlen(strip);
    affix->append_length = (uint8_t)strlen(append);
    affix->strip = store_copy(store, strip, strlen(strip));
    affix->append = store_copy(store, append, strlen(append));
    if (parse_condition(&affix->condition, count > 4 && fields[4][0] != '#' ? fields[4] : ".") != 0)
        return complain(reader, "a condition is malformed or too long");
    link_affix(&reader->speller->affixes, affix);
    reader->rules_left--;
    return 0;
}

static int read_affix(Reader *reader, char *fields[MOST_FIELDS], int count)
{
    int is_prefix = fields[0][0] == 'P';

    if (reader->rules_left > 0 && is_prefix == reader->is_prefix)
        return read_rule(reader, fields, count);
    if (count < 4 || reader->rules_left > 0)
        return complain(reader, "an affix block is not complete");
    if (fields[1][1] != '\0')
        return complain(reader, "flags of more than one character are not supported");
    reader->is_prefix = is_prefix;
    reader->flag = fields[1][0];
    reader->is_cross = fields[2][0] == 'Y';
    reader->rules_left = atoi(fields[3]);
    return reader->rules_left >= 0 ? 0 : complain(reader, "a count is negative");
}

static int read_replacement(Reader *reader, char *fields[MOST_FIELDS], int count)
{
    Affixes *affixes = &reader->speller->affixes;
    Store *store = &reader->speller->store;

    if (reader->replacements_left == 0) {
        reader->replacements_left = count > 1 ? atoi(fields[1]) : 0;
        return reader->replacements_left > 0 ? 0 : complain(reader, "not a count of replacements");
    }
    if (count < 3)
        return complain(reader, "a replacement has two sides");
    Replacement *replacement = store_take(store, sizeof *replacement);
    replacement->next = NULL;
    replacement->from = store_copy(store, fields[1], strlen(fields[1]));
    replacement->to = store_copy(store, fields[2], strlen(fields[2]));
    /* An underline stands for a blank. */
    for (char *at = strchr(replacement->to, '_'); at != NULL; at = strchr(at, '_'))
        *at = ' ';
    *affixes->last_replacement = replacement;
    affixes->last_replacement = &replacement->next;
    reader->replacements_left--;
    return 0;
}

static int read_set(Reader *reader, const char *encoding)
{
    int is_utf8 = strcmp(encoding, "UTF-8") == 0;
    if (!is_utf8 && strcmp(encoding, "ISO8859-1") != 0)
        return complain(reader, "the character set is neither ISO8859-1 nor UTF-8");
    letters_start(&reader->speller->letters, is_utf8);
    return 0;
}

static void read_word_characters(Letters *letters, const char *text)
{
    for (; *text != '\0'; text++)
        letters->is_word[(unsigned char)*text] = 1;
}

static int read_line(Reader *reader, char *fields[MOST_FIELDS], int count)
{
    Speller *speller = reader->speller;
    Affixes *affixes = &speller->affixes;
    struct {
        const char *name;
        char *flag;
    } flags[] = {
        {"NOSUGGEST", &affixes->no_suggest},
        {"FORBIDDENWORD", &affixes->forbidden},
        {"NEEDAFFIX", &affixes->need_affix},
        {"ONLYINCOMPOUND", &affixes->only_in_compound},
        {"KEEPCASE", &affixes->keep_case},
    };

    if (strcmp(fields[0], "PFX") == 0 || strcmp(fields[0], "SFX") == 0)
        return read_affix(reader, fields, count);
    if (strcmp(fields[0], "REP") == 0)
        return read_replacement(reader, fields, count);
    if (count < 2)
        return 0;
    if (strcmp(fields[0], "SET") == 0)
        return read_set(reader, fields[1]);
    if (strcmp(fields[0], "FLAG") == 0)
        return complain(reader, "flags of more than one character are not supported");
    if (strcmp(fields[0], "TRY") == 0)
        affixes->tried = store_copy(&speller->store, fields[1], strlen(fields[1]));
    else if (strcmp(fields[0], "KEY") == 0)
        affixes->keyboard = store_copy(&speller->store, fields[1], strlen(fields[1]));
    else if (strcmp(fields[0], "WORDCHARS") == 0)
        read_word_characters(&speller->letters, fields[1]);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (strcmp(fields[0], flags[i].name) == 0)
            *flags[i].flag = fields[1][0];
    return 0;
}

static void start(Affixes *affixes)
{
    memset(affixes, 0, sizeof *affixes);
    affixes->last = &affixes->first;
    affixes->last_replacement = &affixes->replacements;
    affixes->tried = "esianrtolcdugmphbyfvkwzxjq";
    affixes->keyboard = "qwertyuiop|asdfghjkl|zxcvbnm";
}

int affixes_read(Speller *speller, const char *name)
{
    Reader reader = {.speller = speller, .name = name};
    FILE *file = fopen(name, "r");
    char line[MOST_LINE], *fields[MOST_FIELDS];
    int status = 0;

    start(&speller->affixes);
    if (file == NULL) {
        fprintf(stderr, "ispell: %s: %s\n", name, strerror(errno));
        return 1;
    }
    while (status == 0 && fgets(line, sizeof line, file) != NULL) {
        int count = split(line, fields);
        reader.line++;
        if (count > 0 && fields[0][0] != '#')
            status = read_line(&reader, fields, count);
    }
    if (status == 0 && reader.rules_left > 0)
        status = complain(&reader, "the last affix block is not complete");
    fclose(file);
    return status;
}
