/* SPDX-License-Identifier: MIT */
/* Objects and their memory: names, strings, arrays and dictionaries, and the journal by which restore
 * takes back what was stored in arrays and dictionaries since save. */
#include "gs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SLOTS = 1024, BLOCK = 1 << 16, MEMORY_LIMIT = 1 << 28 };

typedef struct block {
    struct block *next;
    size_t used, size;
    max_align_t data[1];
} block;

typedef struct {
    dict *dict; /* NULL: slot is an array's element */
    object *slot;
    object key, old;
    int absent;
} change;

static struct {
    block *blocks;
    size_t total;
    name *names[NAME_SLOTS];
    change *changes;
    size_t change_count, change_room;
} memory;

void *vm_allocate(size_t size)
{
    block *b = memory.blocks;
    void *result;
    size = (size + 15) & ~(size_t)15;
    if (!b || b->used + size > b->size) {
        size_t room = size > BLOCK ? size : BLOCK;
        if (memory.total + room > MEMORY_LIMIT || !(b = calloc(1, sizeof *b + room))) {
            fputs("gs: out of memory\n", stderr);
            exit(3);
        }
        memory.total += room;
        b->size = room;
        b->next = memory.blocks;
        memory.blocks = b;
    }
    result = (uint8_t *)b->data + b->used;
    b->used += size;
    return result;
}

void vm_release_all(void)
{
    while (memory.blocks) {
        block *next = memory.blocks->next;
        free(memory.blocks);
        memory.blocks = next;
    }
    free(memory.changes);
    memset(&memory, 0, sizeof memory);
}

name *intern(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    name **chain, *n;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    chain = &memory.names[hash % NAME_SLOTS];
    for (n = *chain; n; n = n->next)
        if (n->hash == hash && n->length == length && !memcmp(n->text, text, length))
            return n;
    n = vm_allocate(sizeof *n + length);
    n->hash = hash;
    n->length = (uint32_t)length;
    memcpy(n->text, text, length);
    n->text[length] = 0;
    n->next = *chain;
    *chain = n;
    return n;
}

static object make(enum type type)
{
    object o = {(uint8_t)type, 0, UNLIMITED, 0, 0, {0}};
    o.u.name = NULL;
    return o;
}

object make_null(void)
{
    return make(T_NULL);
}

object make_integer(int32_t value)
{
    object o = make(T_INTEGER);
    o.u.integer = value;
    return o;
}

object make_real(double value)
{
    object o = make(T_REAL);
    o.u.real = value > 3.4e38 ? 3.4e38f : value < -3.4e38 ? -3.4e38f : (float)value;
    return o;
}

object make_boolean(int value)
{
    object o = make(T_BOOLEAN);
    o.u.integer = value != 0;
    return o;
}

object make_name(const char *text, int executable)
{
    object o = make(T_NAME);
    o.executable = (uint8_t)executable;
    o.u.name = intern(text, strlen(text));
    return o;
}

object make_string(size_t length)
{
    object o = make(T_STRING);
    o.length = (uint32_t)length;
    o.u.bytes = vm_allocate(length);
    return o;
}

object make_text(const char *text)
{
    object o = make_string(strlen(text));
    memcpy(o.u.bytes, text, o.length);
    return o;
}

object make_array(uint32_t length)
{
    object o = make(T_ARRAY);
    o.length = length;
    o.u.items = vm_allocate(length * sizeof(object));
    for (uint32_t i = 0; i < length; i++)
        o.u.items[i] = make_null();
    return o;
}

object make_dict(uint32_t maximum)
{
    object o = make(T_DICT);
    dict *d = vm_allocate(sizeof *d);
    d->maximum = maximum;
    d->slots = 8;
    while (d->slots < maximum * 2)
        d->slots *= 2;
    d->entries = vm_allocate(d->slots * sizeof(dict_entry));
    o.u.dict = d;
    return o;
}

object make_file(uint8_t *data, size_t size)
{
    object o = make(T_FILE);
    o.u.file = vm_allocate(sizeof(file));
    o.u.file->data = data;
    o.u.file->size = size;
    o.u.file->open = 1;
    return o;
}

object make_operator(int index)
{
    object o = make(T_OPERATOR);
    o.executable = 1;
    o.u.integer = index;
    return o;
}

double number_of(const object *o)
{
    return o->type == T_REAL ? (double)o->u.real : (double)o->u.integer;
}

int is_procedure(const object *o)
{
    return o->type == T_ARRAY && o->executable;
}

static int same_text(const object *text, const object *n)
{
    return text->length == n->u.name->length && !memcmp(text->u.bytes, n->u.name->text, text->length);
}

int objects_equal(const object *a, const object *b)
{
    if ((a->type == T_REAL || a->type == T_INTEGER) && (b->type == T_REAL || b->type == T_INTEGER))
        return number_of(a) == number_of(b);
    if (a->type == T_STRING && b->type == T_NAME)
        return same_text(a, b);
    if (a->type == T_NAME && b->type == T_STRING)
        return same_text(b, a);
    if (a->type != b->type)
        return 0;
    switch (a->type) {
    case T_NULL:
    case T_MARK:
        return 1;
    case T_BOOLEAN:
    case T_OPERATOR:
    case T_SAVE:
    case T_FONT:
        return a->u.integer == b->u.integer;
    case T_NAME:
        return a->u.name == b->u.name;
    case T_STRING:
        return a->length == b->length && !memcmp(a->u.bytes, b->u.bytes, a->length);
    case T_ARRAY:
        return a->length == b->length && a->u.items == b->u.items;
    case T_DICT:
        return a->u.dict == b->u.dict;
    default:
        return a->u.file == b->u.file;
    }
}

/* --- dictionaries: open addressing; removed entries keep their place until the next growth --- */

static uint32_t hash_key(const object *key)
{
    switch (key->type) {
    case T_NAME:
        return key->u.name->hash;
    case T_INTEGER:
    case T_BOOLEAN:
    case T_OPERATOR:
    case T_SAVE:
    case T_FONT:
        return (uint32_t)key->u.integer * 2654435761u;
    case T_REAL:
        /* Equal numbers are equal keys, so that 1.0 must fall where 1 does. */
        if (key->u.real > -2e9f && key->u.real < 2e9f)
            return (uint32_t)(int32_t)key->u.real * 2654435761u;
        return 5;
    case T_STRING:
    case T_ARRAY:
        return key->length * 40503u;
    default:
        return key->type;
    }
}

/* Strings are looked up as the names that they spell. */
static object plain_key(const object *key)
{
    object k = *key;
    if (key->type == T_STRING) {
        k = make(T_NAME);
        k.u.name = intern((const char *)key->u.bytes, key->length);
    }
    return k;
}

static dict_entry *probe(dict *d, const object *key)
{
    uint32_t at = hash_key(key) & (d->slots - 1);
    dict_entry *grave = NULL;
    for (;;) {
        dict_entry *e = &d->entries[at];
        if (e->key.type == T_NULL)
            return grave ? grave : e;
        if (e->key.type == T_DELETED) {
            if (!grave)
                grave = e;
        } else if (objects_equal(&e->key, key)) {
            return e;
        }
        at = (at + 1) & (d->slots - 1);
    }
}

object *dict_find(dict *d, const object *key)
{
    object k = plain_key(key);
    dict_entry *e = probe(d, &k);
    return e->key.type == T_NULL || e->key.type == T_DELETED ? NULL : &e->value;
}

static void grow(dict *d)
{
    dict_entry *old = d->entries;
    uint32_t slots = d->slots;
    if (d->count * 2 >= slots)
        d->slots *= 2;
    d->entries = vm_allocate(d->slots * sizeof(dict_entry));
    d->used = d->count;
    for (uint32_t i = 0; i < slots; i++)
        if (old[i].key.type != T_NULL && old[i].key.type != T_DELETED)
            *probe(d, &old[i].key) = old[i];
}

static void remember(dict *d, object *slot, const object *key, const object *old)
{
    change *c;
    if (!ps.save_level)
        return;
    if (memory.change_count == memory.change_room) {
        size_t room = memory.change_room ? memory.change_room * 2 : 256;
        change *grown = realloc(memory.changes, room * sizeof *grown);
        if (!grown) {
            fputs("gs: out of memory\n", stderr);
            exit(3);
        }
        memory.changes = grown;
        memory.change_room = room;
    }
    c = &memory.changes[memory.change_count++];
    c->dict = d;
    c->slot = slot;
    c->key = key ? *key : make_null();
    c->old = old ? *old : make_null();
    c->absent = !old;
}

int dict_put(dict *d, const object *key, const object *value)
{
    object k = plain_key(key);
    dict_entry *e;
    if (k.type == T_NULL)
        return E_TYPE;
    e = probe(d, &k);
    if (e->key.type == T_NULL || e->key.type == T_DELETED) {
        remember(d, NULL, &k, NULL);
        if (e->key.type == T_NULL && (d->used + 1) * 4 > d->slots * 3) {
            grow(d);
            e = probe(d, &k);
        }
        if (e->key.type == T_NULL)
            d->used++;
        d->count++;
        if (d->count > d->maximum)
            d->maximum = d->count;
        e->key = k;
    } else {
        remember(d, NULL, &k, &e->value);
    }
    e->value = *value;
    return OK;
}

void dict_put_name(dict *d, const char *key, object value)
{
    object k = make_name(key, 0);
    dict_put(d, &k, &value);
}

object *dict_get_name(dict *d, const char *key)
{
    object k = make_name(key, 0);
    return dict_find(d, &k);
}

void dict_remove(dict *d, const object *key)
{
    object k = plain_key(key);
    dict_entry *e = probe(d, &k);
    if (e->key.type == T_NULL || e->key.type == T_DELETED)
        return;
    remember(d, NULL, &k, &e->value);
    e->key.type = T_DELETED;
    e->value = make_null();
    d->count--;
}

void array_store(object *slot, object value)
{
    remember(NULL, slot, NULL, slot);
    *slot = value;
}

/* --- save and restore --- */

enum { SAVE_LIMIT = 16 };
static size_t save_marks[SAVE_LIMIT];

object begin_save(void)
{
    object o = make(T_SAVE);
    if (ps.save_level == SAVE_LIMIT - 1)
        return make_null();
    save_marks[ps.save_level++] = memory.change_count;
    o.u.integer = ps.save_level;
    return o;
}

int end_save(int32_t level)
{
    size_t mark;
    if (level < 1 || level > ps.save_level)
        return E_RESTORE;
    mark = save_marks[level - 1];
    ps.save_level = 0; /* what follows is not to be remembered */
    while (memory.change_count > mark) {
        change *c = &memory.changes[--memory.change_count];
        if (!c->dict)
            *c->slot = c->old;
        else if (c->absent)
            dict_remove(c->dict, &c->key);
        else
            dict_put(c->dict, &c->key, &c->old);
    }
    ps.save_level = level - 1;
    return OK;
}
