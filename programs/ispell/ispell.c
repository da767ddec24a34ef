/* SPDX-License-Identifier: MIT */
/* Checks the spelling of text against a dictionary of roots and a file of affix rules, lists what is
 * misspelled, suggests corrections, and speaks ispell's pipe protocol to editors. The dictionary and
 * the rules have the form that the manual page hunspell(5) describes, less compounding; the protocol
 * is that of the manual page ispell(1). */
#include <errno.h>
#include <string.h>

#include "speller.h"

typedef enum { JOB_LIST, JOB_PIPE, JOB_EXPAND, JOB_COUNT } Job;

typedef struct {
    Job job;
    const char *personal;
    const char *affixes;
    const char *dictionary;
    const char *text; /* or NULL for standard input */
} Options;

static void print_word(void *context, const char *word)
{
    (void)context;
    puts(word);
}

static void print_expanded(const Speller *speller)
{
    const Dictionary *dictionary = &speller->dictionary;
    for (size_t bucket = 0; bucket < dictionary->bucket_count; bucket++)
        for (const Entry *entry = dictionary->buckets[bucket]; entry != NULL; entry = entry->next)
            if (!entry->capitals_only)
                expand_entry(speller, entry, print_word, NULL);
}

static void print_counts(const Speller *speller, const Counts *counts)
{
    printf("%lu words: %lu roots, %lu derived, %lu numbers, %lu misspelled\n", counts->words, counts->roots,
           counts->derived, counts->numbers, counts->wrong);
    printf("%zu entries in the dictionary\n", speller->dictionary.count);
}

static int check_text(const Options *options, Speller *speller)
{
    FILE *text = options->text == NULL ? stdin : fopen(options->text, "r");
    Counts counts = {0, 0, 0, 0, 0};
    int status = 0;

    if (text == NULL) {
        fprintf(stderr, "ispell: %s: %s\n", options->text, strerror(errno));
        return 1;
    }
    if (options->job == JOB_PIPE)
        status = run_pipe(speller, text, options->personal);
    else
        list_misspelled(speller, text, &counts, options->job == JOB_LIST);
    if (options->job == JOB_COUNT)
        print_counts(speller, &counts);
    if (text != stdin)
        fclose(text);
    return status;
}

static int parse_options(int argc, char **argv, Options *options)
{
    int at = 1;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "-l") == 0)
            options->job = JOB_LIST;
        else if (strcmp(argv[at], "-a") == 0)
            options->job = JOB_PIPE;
        else if (strcmp(argv[at], "-e") == 0)
            options->job = JOB_EXPAND;
        else if (strcmp(argv[at], "-s") == 0)
            options->job = JOB_COUNT;
        else if (strcmp(argv[at], "-p") == 0 && at + 1 < argc)
            options->personal = argv[++at];
        else
            return -1;
    }
    if (argc - at < 2 || argc - at > 3)
        return -1;
    options->affixes = argv[at];
    options->dictionary = argv[at + 1];
    options->text = argc - at == 3 ? argv[at + 2] : NULL;
    return 0;
}

int main(int argc, char **argv)
{
    Options options = {.job = JOB_LIST};
    Speller speller = {.store = {NULL}};

    if (parse_options(argc, argv, &options) != 0) {
        fputs("usage: ispell [-l|-a|-e|-s] [-p PERSONAL] AFFIXES DICTIONARY [TEXT]\n"
              "  -l  list misspelled words (default)     -a  answer by the pipe protocol\n"
              "  -e  print all words that affixes make   -s  print counts alone\n",
              stderr);
        return 2;
    }
    letters_start(&speller.letters, 0);
    int status = affixes_read(&speller, options.affixes);
    if (status == 0)
        status = dictionary_read(&speller, options.dictionary);
    if (status == 0 && options.job == JOB_EXPAND)
        print_expanded(&speller);
    else if (status == 0)
        status = check_text(&options, &speller);
    dictionary_free(&speller.dictionary);
    store_free(&speller.store);
    return fflush(stdout) != 0 ? 1 : status;
}
