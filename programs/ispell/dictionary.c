/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "speller.h"

/* FNV-1a. */
static uint32_t hash_of(const char *word, size_t length)
{
    uint32_t hash = UINT32_C(2166136261);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)word[i]) * UINT32_C(16777619);
    return hash;
}

static Entry **make_buckets(size_t count)
{
    Entry **buckets = calloc(count, sizeof(Entry *));
    if (buckets == NULL) {
        fputs("ispell: out of memory\n", stderr);
        exit(1);
    }
    return buckets;
}

void dictionary_start(Dictionary *dictionary, Store *store, size_t expected)
{
    dictionary->store = store;
    dictionary->count = 0;
    dictionary->bucket_count = 256;
    while (dictionary->bucket_count < expected)
        dictionary->bucket_count *= 2;
    dictionary->buckets = make_buckets(dictionary->bucket_count);
}

/* Entries of one spelling keep their order, since each bucket is rebuilt from its front. */
static void grow(Dictionary *dictionary)
{
    size_t count = 2 * dictionary->bucket_count;
    Entry **buckets = make_buckets(count);

    for (size_t i = 0; i < dictionary->bucket_count; i++) {
        Entry *next;
        Entry **low = &buckets[i], **high = &buckets[i + dictionary->bucket_count];
        for (Entry *entry = dictionary->buckets[i]; entry != NULL; entry = next) {
            Entry ***end = (entry->hash & dictionary->bucket_count) ? &high : &low;
            next = entry->next;
            entry->next = NULL;
            **end = entry;
            *end = &entry->next;
        }
    }
    free(dictionary->buckets);
    dictionary->buckets = buckets;
    dictionary->bucket_count = count;
}

static Entry *match(Entry *entry, uint32_t hash, const char *word, size_t length)
{
    for (; entry != NULL; entry = entry->next)
        if (entry->hash == hash && entry->length == length && memcmp(entry->word, word, length) == 0)
            return entry;
    return NULL;
}

static Entry *find(const Dictionary *dictionary, const char *word, size_t length)
{
    uint32_t hash = hash_of(word, length);
    return match(dictionary->buckets[hash & (dictionary->bucket_count - 1)], hash, word, length);
}

/* A root takes the place of a stand-in of the same spelling, as it does in hunspell. */
void dictionary_add(Dictionary *dictionary, const char *word, const char *flags, int capitals_only)
{
    size_t length = strlen(word);
    Entry *known = find(dictionary, word, length);

    if (known != NULL && capitals_only)
        return;
    if (known != NULL && known->capitals_only) {
        known->flags = store_copy(dictionary->store, flags, strlen(flags));
        known->capitals_only = 0;
        return;
    }
    Entry *entry = store_take(dictionary->store, sizeof *entry);
    if (dictionary->count >= dictionary->bucket_count)
        grow(dictionary);
    entry->next = NULL;
    entry->hash = hash_of(word, length);
    entry->length = (uint8_t)length;
    entry->capitals_only = (uint8_t)capitals_only;
    entry->word = store_copy(dictionary->store, word, length);
    entry->flags = store_copy(dictionary->store, flags, strlen(flags));
    Entry **link = &dictionary->buckets[entry->hash & (dictionary->bucket_count - 1)];
    while (*link != NULL)
        link = &(*link)->next;
    *link = entry;
    dictionary->count++;
}

const Entry *dictionary_find(const Dictionary *dictionary, const char *word, size_t length)
{
    return find(dictionary, word, length);
}

const Entry *dictionary_next(const Entry *entry)
{
    return match(entry->next, entry->hash, entry->word, entry->length);
}

int entry_has(const Entry *entry, char flag)
{
    return flag != '\0' && strchr(entry->flags, flag) != NULL;
}

void dictionary_free(Dictionary *dictionary)
{
    free(dictionary->buckets);
    dictionary->buckets = NULL;
}
