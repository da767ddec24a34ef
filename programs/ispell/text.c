/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "speller.h"

/* Finds the words of text, and speaks the pipe protocol of ispell(1): a line of text is answered by
 * a line for each of its words and an empty one; a line may also be a command to the speller. */

typedef struct Learned {
    struct Learned *next;
    const char *word;
} Learned;

typedef struct {
    Speller *speller;
    const char *personal;
    Learned *learned, **last;
    int terse;
} Pipe;

static int is_apostrophe(const Letters *letters, const char *line, size_t at)
{
    return line[at] == '\'' && at > 0 && letters->is_letter[(unsigned char)line[at - 1]] &&
           letters->is_letter[(unsigned char)line[at + 1]];
}

/* Finds the next word at or behind *at; moves *at behind it. Returns its length or 0. */
static size_t next_word(const Letters *letters, const char *line, size_t *at, size_t *start)
{
    while (line[*at] != '\0' && !letters->is_word[(unsigned char)line[*at]])
        ++*at;
    *start = *at;
    while (line[*at] != '\0' && (letters->is_word[(unsigned char)line[*at]] || is_apostrophe(letters, line, *at)))
        ++*at;
    return *at - *start;
}

static Finding check_piece(const Speller *speller, const char *piece, size_t length, char word[MOST_WORD + 1])
{
    Finding wrong = {WRONG, NULL};

    if (length > MOST_WORD)
        return wrong;
    memcpy(word, piece, length);
    word[length] = '\0';
    return check_word(speller, word);
}

static void count(Counts *counts, Verdict verdict)
{
    counts->words++;
    counts->roots += verdict == ROOT;
    counts->derived += verdict == DERIVED;
    counts->numbers += verdict == NUMBER;
    counts->wrong += verdict == WRONG;
}

void list_misspelled(Speller *speller, FILE *text, Counts *counts, int printing)
{
    char line[MOST_LINE], word[MOST_WORD + 1];

    while (fgets(line, sizeof line, text) != NULL) {
        size_t at = 0, start, length;
        while ((length = next_word(&speller->letters, line, &at, &start)) > 0) {
            Finding finding = check_piece(speller, line + start, length, word);
            count(counts, finding.verdict);
            if (finding.verdict == WRONG && printing)
                printf("%.*s\n", (int)length, line + start);
        }
    }
}

static void print_suggestions(const Speller *speller, const char *piece, size_t length, size_t offset)
{
    Suggestions suggestions = {.count = 0};
    char word[MOST_WORD + 1];

    if (length <= MOST_WORD) {
        memcpy(word, piece, length);
        word[length] = '\0';
        suggest(speller, word, &suggestions);
    }
    if (suggestions.count == 0) {
        printf("# %.*s %zu\n", (int)length, piece, offset);
        return;
    }
    printf("& %.*s %d %zu: ", (int)length, piece, suggestions.count, offset);
    for (int i = 0; i < suggestions.count; i++)
        printf("%s%s", i == 0 ? "" : ", ", suggestions.word[i]);
    putchar('\n');
}

static void answer_line(const Pipe *channel, const char *line, size_t skipped)
{
    const Speller *speller = channel->speller;
    char word[MOST_WORD + 1];
    size_t at = skipped, start, length;

    while ((length = next_word(&speller->letters, line, &at, &start)) > 0) {
        Finding finding = check_piece(speller, line + start, length, word);
        if (finding.verdict == WRONG)
            print_suggestions(speller, line + start, length, start);
        else if (!channel->terse && finding.verdict == DERIVED)
            printf("+ %s\n", finding.entry->word);
        else if (!channel->terse)
            puts("*");
    }
    putchar('\n');
}

static void learn(Pipe *channel, const char *word)
{
    Store *store = &channel->speller->store;
    Learned *learned = store_take(store, sizeof *learned);

    learned->next = NULL;
    learned->word = store_copy(store, word, strlen(word));
    *channel->last = learned;
    channel->last = &learned->next;
    speller_learn(channel->speller, word);
}

static int read_personal(Pipe *channel)
{
    char line[MOST_LINE];
    FILE *file = fopen(channel->personal, "r");

    /* There need be none yet. */
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0')
            learn(channel, line);
    }
    fclose(file);
    return 0;
}

static int write_personal(const Pipe *channel)
{
    FILE *file = channel->personal != NULL ? fopen(channel->personal, "w") : NULL;
    int failed = file == NULL;

    for (const Learned *learned = channel->learned; learned != NULL && !failed; learned = learned->next)
        failed = fprintf(file, "%s\n", learned->word) < 0;
    if (file != NULL && fclose(file) != 0)
        failed = 1;
    if (failed)
        fprintf(stderr, "ispell: the personal words are not saved: %s\n",
                channel->personal != NULL ? strerror(errno) : "no file was named");
    return failed ? 1 : 0;
}

static int obey(Pipe *channel, char *line)
{
    switch (line[0]) {
    case '*': learn(channel, line + 1); return 0;
    case '&':
        letters_lower(&channel->speller->letters, line + 1);
        learn(channel, line + 1);
        return 0;
    case '@': speller_learn(channel->speller, line + 1); return 0;
    case '#': return write_personal(channel);
    case '!': channel->terse = 1; return 0;
    case '%': channel->terse = 0; return 0;
    /* Parsers and string characters can be chosen here; there is one of each. */
    case '+':
    case '-':
    case '~': return 0;
    case '^': answer_line(channel, line, 1); return 0;
    default: answer_line(channel, line, 0); return 0;
    }
}

int run_pipe(Speller *speller, FILE *text, const char *personal)
{
    Pipe channel = {.speller = speller, .personal = personal};
    char line[MOST_LINE];
    int status = 0;

    channel.last = &channel.learned;
    if (personal != NULL)
        read_personal(&channel);
    puts("@(#) International Ispell Version 3.1 (a clean-room program with its protocol)");
    while (fgets(line, sizeof line, text) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        status |= obey(&channel, line);
    }
    return status;
}
