/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "speller.h"

enum { CHUNK_BYTES = 1 << 16, ALIGNMENT = 16 };

struct Chunk {
    Chunk *next;
    size_t used;
    size_t room;
};

static size_t round_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

void *store_take(Store *store, size_t bytes)
{
    size_t head = round_up(sizeof(Chunk));

    bytes = round_up(bytes);
    if (store->chunks == NULL || store->chunks->room - store->chunks->used < bytes) {
        size_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        Chunk *chunk = malloc(head + room);
        if (chunk == NULL) {
            fputs("ispell: out of memory\n", stderr);
            exit(1);
        }
        chunk->next = store->chunks;
        chunk->used = 0;
        chunk->room = room;
        store->chunks = chunk;
    }
    void *memory = (char *)store->chunks + head + store->chunks->used;
    store->chunks->used += bytes;
    return memory;
}

char *store_copy(Store *store, const char *text, size_t length)
{
    char *copy = store_take(store, length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void store_free(Store *store)
{
    while (store->chunks != NULL) {
        Chunk *next = store->chunks->next;
        free(store->chunks);
        store->chunks = next;
    }
}
