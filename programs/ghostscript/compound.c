/* SPDX-License-Identifier: MIT */
/* Operators on arrays, strings and dictionaries, and the dictionary stack. */
#include "gs.h"

#include <string.h>

static int count_to_mark(void)
{
    int count = 0;
    while (count < ps.top && peek(count)->type != T_MARK)
        count++;
    return count < ps.top ? count : -1;
}

static int writable(const object *o)
{
    return o->access == UNLIMITED && !o->packed;
}

static int op_array(void)
{
    int32_t length = peek(0)->u.integer;
    if (length < 0)
        return E_RANGE;
    if (length > 1000000)
        return E_LIMIT;
    *peek(0) = make_array((uint32_t)length);
    return OK;
}

static int op_end_array(void)
{
    int count = count_to_mark();
    object made;
    if (count < 0)
        return E_MARK;
    made = make_array((uint32_t)count);
    memcpy(made.u.items, &ps.stack[ps.top - count], (size_t)count * sizeof(object));
    ps.top -= count + 1;
    return push(made);
}

static int op_packedarray(void)
{
    int32_t count = peek(0)->u.integer;
    object made;
    if (count < 0)
        return E_RANGE;
    if (count > ps.top - 1)
        return E_STACK_UNDERFLOW;
    made = make_array((uint32_t)count);
    made.packed = 1;
    memcpy(made.u.items, &ps.stack[ps.top - 1 - count], (size_t)count * sizeof(object));
    ps.top -= count + 1;
    return push(made);
}

static int op_setpacking(void)
{
    ps.packing = pop().u.integer;
    return OK;
}

static int op_currentpacking(void)
{
    return push(make_boolean(ps.packing));
}

static int op_string(void)
{
    int32_t length = peek(0)->u.integer;
    if (length < 0)
        return E_RANGE;
    if (length > 4000000)
        return E_LIMIT;
    *peek(0) = make_string((uint32_t)length);
    return OK;
}

static int op_dict(void)
{
    int32_t length = peek(0)->u.integer;
    if (length < 0)
        return E_RANGE;
    if (length > 100000)
        return E_LIMIT;
    *peek(0) = make_dict((uint32_t)length);
    return OK;
}

static int op_end_dict(void)
{
    int count = count_to_mark();
    object made;
    if (count < 0)
        return E_MARK;
    if (count % 2)
        return E_RANGE;
    made = make_dict((uint32_t)count / 2);
    for (int i = count - 1; i > 0; i -= 2) {
        int status = dict_put(made.u.dict, peek(i), peek(i - 1));
        if (status != OK)
            return status;
    }
    ps.top -= count + 1;
    return push(made);
}

static int op_length(void)
{
    object *o = peek(0);
    switch (o->type) {
    case T_ARRAY:
    case T_STRING:
        *o = make_integer((int32_t)o->length);
        return OK;
    case T_NAME:
        *o = make_integer((int32_t)o->u.name->length);
        return OK;
    case T_DICT:
        *o = make_integer((int32_t)o->u.dict->count);
        return OK;
    default:
        return E_TYPE;
    }
}

static int op_maxlength(void)
{
    *peek(0) = make_integer((int32_t)peek(0)->u.dict->maximum);
    return OK;
}

static int element_index(const object *index, uint32_t length, uint32_t *at)
{
    if (index->type != T_INTEGER)
        return E_TYPE;
    if (index->u.integer < 0 || (uint32_t)index->u.integer >= length)
        return E_RANGE;
    *at = (uint32_t)index->u.integer;
    return OK;
}

static int op_get(void)
{
    object *from = peek(1), *key = peek(0), result, *found;
    uint32_t at;
    int status;
    switch (from->type) {
    case T_DICT:
        found = dict_find(from->u.dict, key);
        if (!found)
            return E_UNDEFINED;
        result = *found;
        break;
    case T_ARRAY:
    case T_STRING:
        if (from->access >= EXECUTE_ONLY)
            return E_ACCESS;
        status = element_index(key, from->length, &at);
        if (status != OK)
            return status;
        result = from->type == T_ARRAY ? from->u.items[at] : make_integer(from->u.bytes[at]);
        break;
    default:
        return E_TYPE;
    }
    ps.top -= 2;
    return push(result);
}

static int op_put(void)
{
    object *to = peek(2), *key = peek(1), *value = peek(0);
    uint32_t at;
    int status;
    switch (to->type) {
    case T_DICT:
        if (to->u.dict->access != UNLIMITED)
            return E_ACCESS;
        status = dict_put(to->u.dict, key, value);
        break;
    case T_ARRAY:
        status = writable(to) ? element_index(key, to->length, &at) : E_ACCESS;
        if (status == OK)
            array_store(&to->u.items[at], *value);
        break;
    case T_STRING:
        status = writable(to) ? element_index(key, to->length, &at) : E_ACCESS;
        if (status == OK && value->type != T_INTEGER)
            status = E_TYPE;
        if (status == OK && (value->u.integer < 0 || value->u.integer > 255))
            status = E_RANGE;
        if (status == OK)
            to->u.bytes[at] = (uint8_t)value->u.integer;
        break;
    default:
        return E_TYPE;
    }
    if (status == OK)
        ps.top -= 3;
    return status;
}

static object sub_object(const object *whole, uint32_t from, uint32_t length)
{
    object part = *whole;
    part.length = length;
    if (whole->type == T_ARRAY)
        part.u.items += from;
    else
        part.u.bytes += from;
    return part;
}

static int op_getinterval(void)
{
    object *whole = peek(2), part;
    int32_t from = peek(1)->u.integer, length = peek(0)->u.integer;
    if (whole->type != T_ARRAY && whole->type != T_STRING)
        return E_TYPE;
    if (whole->access >= EXECUTE_ONLY)
        return E_ACCESS;
    if (from < 0 || length < 0 || (uint32_t)from > whole->length || (uint32_t)length > whole->length - (uint32_t)from)
        return E_RANGE;
    part = sub_object(whole, (uint32_t)from, (uint32_t)length);
    ps.top -= 3;
    return push(part);
}

static void copy_elements(object *to, uint32_t at, const object *from)
{
    if (!from->length)
        return;
    if (to->type == T_STRING) {
        memmove(to->u.bytes + at, from->u.bytes, from->length);
    } else if (to->u.items + at <= from->u.items) {
        for (uint32_t i = 0; i < from->length; i++)
            array_store(&to->u.items[at + i], from->u.items[i]);
    } else {
        for (uint32_t i = from->length; i-- > 0;)
            array_store(&to->u.items[at + i], from->u.items[i]);
    }
}

static int op_putinterval(void)
{
    object *to = peek(2), *from = peek(0);
    int32_t at = peek(1)->u.integer;
    if ((to->type != T_ARRAY && to->type != T_STRING) || to->type != from->type)
        return E_TYPE;
    if (!writable(to))
        return E_ACCESS;
    if (at < 0 || (uint32_t)at > to->length || from->length > to->length - (uint32_t)at)
        return E_RANGE;
    copy_elements(to, (uint32_t)at, from);
    ps.top -= 3;
    return OK;
}

static int copy_dict(const dict *from, dict *to)
{
    for (uint32_t i = 0; i < from->slots; i++) {
        const dict_entry *e = &from->entries[i];
        if (e->key.type != T_NULL && e->key.type != T_DELETED)
            dict_put(to, &e->key, &e->value);
    }
    return OK;
}

static int op_copy(void)
{
    object *top = peek(0);
    if (top->type == T_INTEGER) {
        int32_t count = top->u.integer;
        if (count < 0)
            return E_RANGE;
        if (count > ps.top - 1)
            return E_STACK_UNDERFLOW;
        if (ps.top - 1 + count > STACK_LIMIT)
            return E_STACK_OVERFLOW;
        memmove(&ps.stack[ps.top - 1], &ps.stack[ps.top - 1 - count], (size_t)count * sizeof(object));
        ps.top += count - 1;
        return OK;
    }
    if (ps.top < 2)
        return E_STACK_UNDERFLOW;
    if (top->type != peek(1)->type || (top->type != T_ARRAY && top->type != T_STRING && top->type != T_DICT))
        return E_TYPE;
    if (top->type == T_DICT) {
        copy_dict(peek(1)->u.dict, top->u.dict);
    } else {
        if (!writable(top))
            return E_ACCESS;
        if (top->length < peek(1)->length)
            return E_RANGE;
        copy_elements(top, 0, peek(1));
        top->length = peek(1)->length;
    }
    *peek(1) = *top;
    pop();
    return OK;
}

static int op_aload(void)
{
    object from = *peek(0);
    if (from.access >= EXECUTE_ONLY)
        return E_ACCESS;
    if (ps.top + (int64_t)from.length > STACK_LIMIT)
        return E_STACK_OVERFLOW;
    pop();
    for (uint32_t i = 0; i < from.length; i++)
        push(from.u.items[i]);
    return push(from);
}

static int op_astore(void)
{
    object to = *peek(0);
    if (!writable(&to))
        return E_ACCESS;
    if (to.length > (uint32_t)ps.top - 1)
        return E_STACK_UNDERFLOW;
    pop();
    for (uint32_t i = to.length; i-- > 0;)
        array_store(&to.u.items[i], pop());
    return push(to);
}

static int each_entry(dict *d, object body)
{
    /* The table may be replaced while the body runs; the one that was there first is walked. */
    dict_entry *entries = d->entries;
    uint32_t slots = d->slots;
    for (uint32_t i = 0; i < slots; i++) {
        int status;
        if (entries[i].key.type == T_NULL || entries[i].key.type == T_DELETED)
            continue;
        status = push(entries[i].key);
        if (status == OK)
            status = push(entries[i].value);
        if (status == OK)
            status = call_procedure(body);
        if (status != OK)
            return status;
    }
    return OK;
}

static int op_forall(void)
{
    object over = *peek(1), body = *peek(0);
    int status = OK;
    if (over.type != T_ARRAY && over.type != T_STRING && over.type != T_DICT)
        return E_TYPE;
    if (over.access >= EXECUTE_ONLY)
        return E_ACCESS;
    ps.top -= 2;
    if (over.type == T_DICT)
        status = each_entry(over.u.dict, body);
    for (uint32_t i = 0; over.type != T_DICT && i < over.length && status == OK; i++) {
        status = push(over.type == T_ARRAY ? over.u.items[i] : make_integer(over.u.bytes[i]));
        if (status == OK)
            status = call_procedure(body);
    }
    return status == LEAVE_LOOP ? OK : status;
}

static uint32_t find_bytes(const object *in, const object *wanted)
{
    for (uint32_t at = 0; at + wanted->length <= in->length; at++)
        if (!wanted->length || !memcmp(in->u.bytes + at, wanted->u.bytes, wanted->length))
            return at;
    return UINT32_MAX;
}

static int op_search(void)
{
    object in = *peek(1), wanted = *peek(0);
    uint32_t at = find_bytes(&in, &wanted);
    ps.top -= 2;
    if (at == UINT32_MAX) {
        push(in);
        return push(make_boolean(0));
    }
    push(sub_object(&in, at + wanted.length, in.length - at - wanted.length));
    push(sub_object(&in, at, wanted.length));
    push(sub_object(&in, 0, at));
    return push(make_boolean(1));
}

static int op_anchorsearch(void)
{
    object in = *peek(1), wanted = *peek(0);
    ps.top -= 2;
    if (wanted.length > in.length || (wanted.length && memcmp(in.u.bytes, wanted.u.bytes, wanted.length))) {
        push(in);
        return push(make_boolean(0));
    }
    push(sub_object(&in, wanted.length, in.length - wanted.length));
    push(sub_object(&in, 0, wanted.length));
    return push(make_boolean(1));
}

/* --- the dictionary stack --- */

static int op_begin(void)
{
    if (ps.dict_top == DICT_LIMIT)
        return E_DICT_OVERFLOW;
    ps.dicts[ps.dict_top++] = pop().u.dict;
    return OK;
}

static int op_end(void)
{
    if (ps.dict_top <= 2)
        return E_DICT_UNDERFLOW;
    ps.dict_top--;
    return OK;
}

static int op_def(void)
{
    dict *current = ps.dicts[ps.dict_top - 1];
    int status = current->access == UNLIMITED ? dict_put(current, peek(1), peek(0)) : E_ACCESS;
    if (status == OK)
        ps.top -= 2;
    return status;
}

static dict *dict_that_knows(const object *key)
{
    for (int i = ps.dict_top - 1; i >= 0; i--)
        if (dict_find(ps.dicts[i], key))
            return ps.dicts[i];
    return NULL;
}

static object dict_object(dict *d)
{
    object o = make_null();
    o.type = T_DICT;
    o.u.dict = d;
    return o;
}

static int op_store(void)
{
    dict *d = dict_that_knows(peek(1));
    int status;
    if (!d)
        d = ps.dicts[ps.dict_top - 1];
    status = d->access == UNLIMITED ? dict_put(d, peek(1), peek(0)) : E_ACCESS;
    if (status == OK)
        ps.top -= 2;
    return status;
}

static int op_load(void)
{
    object value;
    if (!find_name(peek(0), &value))
        return E_UNDEFINED;
    *peek(0) = value;
    return OK;
}

static int op_undef(void)
{
    if (peek(1)->u.dict->access != UNLIMITED)
        return E_ACCESS;
    dict_remove(peek(1)->u.dict, peek(0));
    ps.top -= 2;
    return OK;
}

static int op_known(void)
{
    int known = dict_find(peek(1)->u.dict, peek(0)) != NULL;
    ps.top -= 2;
    return push(make_boolean(known));
}

static int op_where(void)
{
    dict *d = dict_that_knows(peek(0));
    pop();
    if (!d)
        return push(make_boolean(0));
    push(dict_object(d));
    return push(make_boolean(1));
}

static int op_currentdict(void)
{
    return push(dict_object(ps.dicts[ps.dict_top - 1]));
}

static int op_countdictstack(void)
{
    return push(make_integer(ps.dict_top));
}

static int op_dictstack(void)
{
    object *to = peek(0);
    if (to->length < (uint32_t)ps.dict_top)
        return E_RANGE;
    for (int i = 0; i < ps.dict_top; i++)
        array_store(&to->u.items[i], dict_object(ps.dicts[i]));
    to->length = (uint32_t)ps.dict_top;
    return OK;
}

static int op_cleardictstack(void)
{
    ps.dict_top = 2;
    return OK;
}

const operator_entry compound_operators[] = {
    {"array", op_array, "i"}, {"]", op_end_array, ""}, {"packedarray", op_packedarray, "i"},
    {"setpacking", op_setpacking, "b"}, {"currentpacking", op_currentpacking, ""},
    {"string", op_string, "i"}, {"dict", op_dict, "i"}, {">>", op_end_dict, ""},
    {"length", op_length, "a"}, {"maxlength", op_maxlength, "d"}, {"get", op_get, "aa"},
    {"put", op_put, "aaa"}, {"getinterval", op_getinterval, "aii"},
    {"putinterval", op_putinterval, "aia"}, {"copy", op_copy, "a"}, {"aload", op_aload, "r"},
    {"astore", op_astore, "r"}, {"forall", op_forall, "ap"}, {"search", op_search, "ss"},
    {"anchorsearch", op_anchorsearch, "ss"}, {"begin", op_begin, "d"}, {"end", op_end, ""},
    {"def", op_def, "aa"}, {"store", op_store, "aa"}, {"load", op_load, "a"},
    {"undef", op_undef, "da"}, {"known", op_known, "da"}, {"where", op_where, "a"},
    {"currentdict", op_currentdict, ""}, {"countdictstack", op_countdictstack, ""},
    {"dictstack", op_dictstack, "r"}, {"cleardictstack", op_cleardictstack, ""}, {NULL, NULL, NULL}};
