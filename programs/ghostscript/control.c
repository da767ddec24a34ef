/* SPDX-License-Identifier: MIT */
/* Control operators, types and conversions, virtual memory, files and printing. */
#include "gs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- control --- */

static int op_exec(void)
{
    return execute(pop());
}

static int op_if(void)
{
    object body = pop(), condition = pop();
    return condition.u.integer ? call_procedure(body) : OK;
}

static int op_ifelse(void)
{
    object otherwise = pop(), body = pop(), condition = pop();
    return call_procedure(condition.u.integer ? body : otherwise);
}

static int op_for(void)
{
    object body = pop(), limit = pop(), step = pop(), start = pop();
    int whole = start.type == T_INTEGER && step.type == T_INTEGER;
    double value = number_of(&start), by = number_of(&step), last = number_of(&limit);
    int status = OK;
    while (status == OK && (by > 0 ? value <= last : value >= last)) {
        status = push(whole && fabs(value) < 2147483648.0 ? make_integer((int32_t)value) : make_real(value));
        if (status == OK)
            status = call_procedure(body);
        value = whole ? value + by : (double)(float)(value + by);
    }
    return status == LEAVE_LOOP ? OK : status;
}

static int op_repeat(void)
{
    object body = pop(), times = pop();
    int status = OK;
    if (times.u.integer < 0) {
        push(times);
        push(body);
        return E_RANGE;
    }
    for (int32_t i = 0; i < times.u.integer && status == OK; i++)
        status = call_procedure(body);
    return status == LEAVE_LOOP ? OK : status;
}

static int op_loop(void)
{
    object body = pop();
    int status = OK;
    while (status == OK)
        status = call_procedure(body);
    return status == LEAVE_LOOP ? OK : status;
}

static int op_exit(void)
{
    return LEAVE_LOOP;
}

static int op_stop(void)
{
    return LEAVE_STOPPED;
}

static int op_stopped(void)
{
    int status = execute(pop());
    /* exit may not leave a stopped context; the error is one of what runs inside. */
    if (status == LEAVE_LOOP)
        status = signal_error(E_EXIT, make_name("exit", 0));
    if (status == LEAVE_ALL)
        return status;
    return push(make_boolean(status != OK));
}

static int op_quit(void)
{
    return LEAVE_ALL;
}

static void bind(object procedure)
{
    for (uint32_t i = 0; i < procedure.length; i++) {
        object *o = &procedure.u.items[i], value;
        if (is_procedure(o) && !o->packed) {
            bind(*o);
        } else if (o->type == T_NAME && o->executable && find_name(o, &value) && value.type == T_OPERATOR) {
            array_store(o, value);
        }
    }
}

static int op_bind(void)
{
    bind(*peek(0));
    return OK;
}

static int op_vmstatus(void)
{
    push(make_integer(ps.save_level));
    push(make_integer(0));
    return push(make_integer(1 << 28));
}

static int op_save(void)
{
    object o = begin_save();
    if (o.type == T_NULL)
        return E_LIMIT;
    graphics_save(1);
    return push(o);
}

static int op_restore(void)
{
    int32_t level = peek(0)->u.integer;
    int status = E_RESTORE;
    while (ps.save_level >= level && level > 0) {
        int top = ps.save_level;
        graphics_restore_to_save();
        status = end_save(top);
        if (status != OK)
            return status;
    }
    if (status == OK)
        pop();
    return status;
}

static int op_zero(void)
{
    return push(make_integer(0));
}

const operator_entry control_operators[] = {
    {"exec", op_exec, "a"}, {"if", op_if, "bp"}, {"ifelse", op_ifelse, "bpp"}, {"for", op_for, "nnnp"},
    {"repeat", op_repeat, "ip"}, {"loop", op_loop, "p"}, {"exit", op_exit, ""}, {"stop", op_stop, ""},
    {"stopped", op_stopped, "a"}, {"quit", op_quit, ""}, {"bind", op_bind, "p"},
    {"vmstatus", op_vmstatus, ""}, {"save", op_save, ""}, {"restore", op_restore, "v"},
    {"usertime", op_zero, ""}, {"realtime", op_zero, ""}, {NULL, NULL, NULL}};

/* --- types and conversions --- */

static const char *const type_names[] = {
    "nulltype", "integertype", "realtype", "booleantype", "nametype", "stringtype", "arraytype",
    "dicttype", "operatortype", "marktype", "filetype", "fonttype", "savetype", "nulltype"};

static int op_type(void)
{
    object *o = peek(0);
    const char *text = o->type == T_ARRAY && o->packed ? "packedarraytype" : type_names[o->type];
    *o = make_name(text, 1);
    return OK;
}

static int op_cvlit(void)
{
    peek(0)->executable = 0;
    return OK;
}

static int op_cvx(void)
{
    peek(0)->executable = 1;
    return OK;
}

static int op_xcheck(void)
{
    *peek(0) = make_boolean(peek(0)->executable);
    return OK;
}

static int limit_access(int access)
{
    object *o = peek(0);
    if (o->type == T_DICT) {
        if (access == EXECUTE_ONLY)
            return E_TYPE;
        o->u.dict->access = (uint8_t)access;
        return OK;
    }
    if (o->type != T_ARRAY && o->type != T_STRING && o->type != T_FILE)
        return E_TYPE;
    if (access > o->access)
        o->access = (uint8_t)access;
    return OK;
}

static int op_readonly(void)
{
    return limit_access(READ_ONLY);
}

static int op_executeonly(void)
{
    return limit_access(EXECUTE_ONLY);
}

static int op_noaccess(void)
{
    return limit_access(NO_ACCESS);
}

static int op_rcheck(void)
{
    object *o = peek(0);
    if (o->type != T_ARRAY && o->type != T_STRING && o->type != T_FILE && o->type != T_DICT)
        return E_TYPE;
    *o = make_boolean((o->type == T_DICT ? o->u.dict->access : o->access) <= READ_ONLY);
    return OK;
}

static int op_wcheck(void)
{
    object *o = peek(0);
    if (o->type != T_ARRAY && o->type != T_STRING && o->type != T_FILE && o->type != T_DICT)
        return E_TYPE;
    *o = make_boolean((o->type == T_DICT ? o->u.dict->access : o->access) == UNLIMITED && !o->packed);
    return OK;
}

static int to_number(object *o)
{
    if (o->type == T_INTEGER || o->type == T_REAL)
        return OK;
    if (o->type != T_STRING)
        return E_TYPE;
    return parse_number((const char *)o->u.bytes, o->length, o) ? OK : E_SYNTAX;
}

static int op_cvi(void)
{
    object value = *peek(0);
    int status = to_number(&value);
    if (status != OK)
        return status;
    if (!(number_of(&value) < 2147483648.0 && number_of(&value) > -2147483649.0))
        return E_RANGE;
    *peek(0) = make_integer((int32_t)number_of(&value));
    return OK;
}

static int op_cvr(void)
{
    object value = *peek(0);
    int status = to_number(&value);
    if (status == OK)
        *peek(0) = make_real(number_of(&value));
    return status;
}

static int op_cvn(void)
{
    object *o = peek(0), made = make_name("", o->executable);
    made.u.name = intern((const char *)o->u.bytes, o->length);
    *o = made;
    return OK;
}

/* A real as the fewest digits that read back the same, always with a point or an exponent. */
static size_t format_real(float value, char *out, size_t size)
{
    for (int digits = 6; digits <= 9; digits += 3) {
        snprintf(out, size, "%.*g", digits, (double)value);
        if (strtof(out, NULL) == value)
            break;
    }
    if (!strpbrk(out, ".en") && strlen(out) + 2 < size)
        strcat(out, ".0");
    return strlen(out);
}

static size_t put_text(char *out, size_t size, const void *text, size_t length)
{
    if (length >= size)
        length = size - 1;
    if (length)
        memcpy(out, text, length);
    out[length] = 0;
    return length;
}

/* The text that cvs and = give; size is at least 1. */
static size_t format_plain(const object *o, char *out, size_t size)
{
    char number[40];
    const char *text = number;
    switch (o->type) {
    case T_INTEGER:
        snprintf(number, sizeof number, "%ld", (long)o->u.integer);
        break;
    case T_REAL:
        format_real(o->u.real, number, sizeof number);
        break;
    case T_BOOLEAN:
        text = o->u.integer ? "true" : "false";
        break;
    case T_NAME:
        return put_text(out, size, o->u.name->text, o->u.name->length);
    case T_STRING:
        return put_text(out, size, o->u.bytes, o->length);
    case T_OPERATOR:
        text = operator_at(o->u.integer)->name;
        break;
    default:
        text = "--nostringval--";
        break;
    }
    return put_text(out, size, text, strlen(text));
}

static int op_cvs(void)
{
    char text[4096];
    object to = *peek(0);
    size_t length = format_plain(peek(1), text, sizeof text);
    if (to.length < length)
        return E_RANGE;
    if (length)
        memcpy(to.u.bytes, text, length);
    to.length = (uint32_t)length;
    ps.top -= 2;
    return push(to);
}

static int op_cvrs(void)
{
    char text[40];
    size_t at = sizeof text;
    object to = *peek(0);
    int32_t base = peek(1)->u.integer;
    uint32_t value;
    if (base < 2 || base > 36)
        return E_RANGE;
    if (base == 10) {
        ps.top--;
        *peek(0) = to;
        return op_cvs();
    }
    if (!(fabs(number_of(peek(2))) < 2147483648.0) && peek(2)->type == T_REAL)
        return E_RANGE;
    value = peek(2)->type == T_INTEGER ? (uint32_t)peek(2)->u.integer : (uint32_t)(int32_t)number_of(peek(2));
    do {
        text[--at] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % (uint32_t)base];
        value /= (uint32_t)base;
    } while (value);
    if (to.length < sizeof text - at)
        return E_RANGE;
    memcpy(to.u.bytes, text + at, sizeof text - at);
    to.length = (uint32_t)(sizeof text - at);
    ps.top -= 3;
    return push(to);
}

const operator_entry conversion_operators[] = {
    {"type", op_type, "a"}, {"cvlit", op_cvlit, "a"}, {"cvx", op_cvx, "a"}, {"xcheck", op_xcheck, "a"},
    {"readonly", op_readonly, "a"}, {"executeonly", op_executeonly, "a"}, {"noaccess", op_noaccess, "a"},
    {"rcheck", op_rcheck, "a"}, {"wcheck", op_wcheck, "a"}, {"cvi", op_cvi, "a"}, {"cvr", op_cvr, "a"},
    {"cvn", op_cvn, "s"}, {"cvs", op_cvs, "as"}, {"cvrs", op_cvrs, "nis"}, {NULL, NULL, NULL}};

/* --- printing --- */

static size_t format_string(const object *o, char *out, size_t size)
{
    static const char special[] = "\n\r\t\b\f", letters[] = "nrtbf";
    size_t at = 0;
    out[at++] = '(';
    for (uint32_t i = 0; i < o->length && at + 8 < size; i++) {
        uint8_t c = o->u.bytes[i];
        const char *found = c ? strchr(special, c) : NULL;
        if (found) {
            out[at++] = '\\';
            out[at++] = letters[found - special];
        } else if (c == '(' || c == ')' || c == '\\') {
            out[at++] = '\\';
            out[at++] = (char)c;
        } else if (c < 32 || c > 126) {
            at += (size_t)snprintf(out + at, size - at, "\\%03o", (unsigned)c);
        } else {
            out[at++] = (char)c;
        }
    }
    out[at++] = ')';
    out[at] = 0;
    return at;
}

static size_t format_nested(const object *o, char *out, size_t size, int depth)
{
    size_t at = 0;
    switch (o->type) {
    case T_NAME:
        if (!o->executable)
            out[at++] = '/';
        return at + put_text(out + at, size - at, o->u.name->text, o->u.name->length);
    case T_STRING:
        return format_string(o, out, size);
    case T_OPERATOR:
        return (size_t)snprintf(out, size, "--%s--", operator_at(o->u.integer)->name);
    case T_ARRAY:
        if (depth > 8 || o->access >= EXECUTE_ONLY)
            break;
        out[at++] = o->executable ? '{' : '[';
        for (uint32_t i = 0; i < o->length && at + 32 < size; i++) {
            if (i)
                out[at++] = ' ';
            at += format_nested(&o->u.items[i], out + at, size - at - 2, depth + 1);
        }
        out[at++] = o->executable ? '}' : ']';
        out[at] = 0;
        return at;
    case T_NULL:
        return put_text(out, size, "null", 4);
    case T_MARK:
        return put_text(out, size, "-mark-", 6);
    case T_INTEGER:
    case T_REAL:
    case T_BOOLEAN:
        return format_plain(o, out, size);
    default:
        break;
    }
    at = (size_t)snprintf(out, size, "-%s-", o->type == T_ARRAY ? "array" : type_names[o->type]);
    if (at >= size)
        at = size - 1;
    return at;
}

/* What == prints; cut where out ends, which has at least 64 bytes. */
size_t format_object(const object *o, char *out, size_t size)
{
    return format_nested(o, out, size, 0);
}

enum { PRINT_ROOM = 8192 };

static void print_full(const object *o)
{
    char text[PRINT_ROOM];
    format_object(o, text, sizeof text);
    puts(text);
}

static int op_print_full(void)
{
    print_full(peek(0));
    pop();
    return OK;
}

static int op_print_plain(void)
{
    char text[PRINT_ROOM];
    size_t length = format_plain(peek(0), text, sizeof text);
    fwrite(text, 1, length, stdout);
    putchar('\n');
    pop();
    return OK;
}

static int op_print(void)
{
    object text = pop();
    fwrite(text.u.bytes, 1, text.length, stdout);
    return OK;
}

static int op_pstack(void)
{
    for (int i = 0; i < ps.top; i++)
        print_full(peek(i));
    return OK;
}

static int op_stack(void)
{
    for (int i = 0; i < ps.top; i++) {
        char text[PRINT_ROOM];
        format_plain(peek(i), text, sizeof text);
        puts(text);
    }
    return OK;
}

static int op_flush(void)
{
    fflush(stdout);
    return OK;
}

/* --- files --- */

static int op_currentfile(void)
{
    object o = make_null();
    o.type = T_FILE;
    o.executable = 1;
    o.u.file = ps.input;
    return push(o);
}

static int op_file(void)
{
    object name = *peek(1), mode = *peek(0), made;
    int output = 0;
    if (mode.length < 1 || (mode.u.bytes[0] != 'r' && mode.u.bytes[0] != 'w'))
        return E_FILE_ACCESS;
    if (name.length == 7 && !memcmp(name.u.bytes, "%stdout", 7))
        output = 1;
    else if (name.length == 7 && !memcmp(name.u.bytes, "%stderr", 7))
        output = 2;
    else
        return E_FILE_NAME; /* the page file apart, nothing outside is read or written */
    if (mode.u.bytes[0] != 'w')
        return E_FILE_ACCESS;
    made = make_file(NULL, 0);
    made.u.file->output = output;
    ps.top -= 2;
    return push(made);
}

static int readable(const object *o)
{
    return o->u.file->open && !o->u.file->output;
}

static int op_read(void)
{
    object from = *peek(0);
    int c;
    if (!readable(&from))
        return E_IO;
    pop();
    c = file_byte(from.u.file);
    if (c >= 0)
        push(make_integer(c));
    return push(make_boolean(c >= 0));
}

static int finish_read(object buffer, uint32_t got, int full)
{
    ps.top -= 2;
    buffer.length = got;
    push(buffer);
    return push(make_boolean(full));
}

static int op_readstring(void)
{
    object from = *peek(1), buffer = *peek(0);
    uint32_t got = 0;
    if (!readable(&from))
        return E_IO;
    if (!buffer.length)
        return E_RANGE;
    while (got < buffer.length) {
        int c = file_byte(from.u.file);
        if (c < 0)
            break;
        buffer.u.bytes[got++] = (uint8_t)c;
    }
    return finish_read(buffer, got, got == peek(0)->length);
}

static int hex_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Two digits; anything else in between is passed over, as readhexstring must. */
static int hex_pair(file *from)
{
    int value = 0;
    for (int digits = 0; digits < 2;) {
        int c = file_byte(from), digit;
        if (c < 0)
            return -1;
        digit = hex_value(c);
        if (digit >= 0) {
            value = value << 4 | digit;
            digits++;
        }
    }
    return value;
}

static int op_readhexstring(void)
{
    object from = *peek(1), buffer = *peek(0);
    uint32_t got = 0;
    if (!readable(&from))
        return E_IO;
    if (!buffer.length)
        return E_RANGE;
    while (got < buffer.length) {
        int value = hex_pair(from.u.file);
        if (value < 0)
            break;
        buffer.u.bytes[got++] = (uint8_t)value;
    }
    return finish_read(buffer, got, got == peek(0)->length);
}

static int op_readline(void)
{
    object from = *peek(1), buffer = *peek(0);
    uint32_t got = 0;
    int c;
    if (!readable(&from))
        return E_IO;
    while ((c = file_byte(from.u.file)) >= 0 && c != '\n' && c != '\r') {
        if (got == buffer.length)
            return E_RANGE;
        buffer.u.bytes[got++] = (uint8_t)c;
    }
    if (c == '\r' && from.u.file->at < from.u.file->size && from.u.file->data[from.u.file->at] == '\n')
        from.u.file->at++;
    return finish_read(buffer, got, c >= 0);
}

static int op_write(void)
{
    object o = *peek(0), to = *peek(1);
    if (!to.u.file->output)
        return E_ACCESS;
    fputc(o.u.integer & 0xff, to.u.file->output == 1 ? stdout : stderr);
    ps.top -= 2;
    return OK;
}

static int op_writestring(void)
{
    object text = *peek(0), to = *peek(1);
    if (!to.u.file->output)
        return E_ACCESS;
    fwrite(text.u.bytes, 1, text.length, to.u.file->output == 1 ? stdout : stderr);
    ps.top -= 2;
    return OK;
}

static int op_writehexstring(void)
{
    object text = *peek(0), to = *peek(1);
    if (!to.u.file->output)
        return E_ACCESS;
    for (uint32_t i = 0; i < text.length; i++)
        fprintf(to.u.file->output == 1 ? stdout : stderr, "%02x", text.u.bytes[i]);
    ps.top -= 2;
    return OK;
}

static int op_closefile(void)
{
    pop().u.file->open = 0;
    return OK;
}

static int op_flushfile(void)
{
    object o = pop();
    if (o.u.file->filter)
        run_filter(o.u.file);
    if (!o.u.file->output)
        o.u.file->at = o.u.file->size;
    return OK;
}

static int op_bytesavailable(void)
{
    object o = pop();
    if (o.u.file->filter)
        run_filter(o.u.file);
    return push(make_integer(o.u.file->output ? -1 : (int32_t)(o.u.file->size - o.u.file->at)));
}

static int op_status(void)
{
    *peek(0) = make_boolean(peek(0)->u.file->open);
    return OK;
}

static int op_token(void)
{
    object from = *peek(0), token, scratch;
    int got;
    if (from.type == T_STRING)
        scratch = make_file(from.u.bytes, from.length);
    else if (from.type == T_FILE)
        scratch = from;
    else
        return E_TYPE;
    got = scan_token(scratch.u.file, &token);
    if (got < 0)
        return -got;
    pop();
    if (got && from.type == T_STRING) {
        from.u.bytes += scratch.u.file->at;
        from.length -= (uint32_t)scratch.u.file->at;
        push(from);
    }
    if (got)
        push(token);
    return push(make_boolean(got));
}

static int decode_hex(file *from, uint8_t **data, size_t *size)
{
    size_t room = (from->size - from->at) / 2 + 1;
    int high = -1, c;
    *size = 0;
    *data = calloc(room, 1);
    if (!*data)
        return E_MEMORY;
    while ((c = file_byte(from)) >= 0 && c != '>') {
        int digit = hex_value(c);
        if (digit < 0 && c > ' ')
            return E_IO;
        if (digit < 0)
            continue;
        if (high < 0) {
            high = digit;
        } else {
            (*data)[(*size)++] = (uint8_t)(high << 4 | digit);
            high = -1;
        }
    }
    if (high >= 0)
        (*data)[(*size)++] = (uint8_t)(high << 4);
    return OK;
}

static int decode_runs(file *from, uint8_t **data, size_t *size)
{
    size_t room = 4096;
    int length;
    *size = 0;
    *data = malloc(room);
    while (*data && (length = file_byte(from)) >= 0 && length != 128) {
        int count = length < 128 ? length + 1 : 257 - length, c = 0;
        if (*size + 128 > room) {
            uint8_t *grown = realloc(*data, room *= 2);
            if (!grown)
                return E_MEMORY;
            *data = grown;
        }
        for (int i = 0; i < count; i++) {
            if (i == 0 || length < 128)
                c = file_byte(from);
            if (c < 0)
                return OK;
            (*data)[(*size)++] = (uint8_t)c;
        }
    }
    return *data ? OK : E_MEMORY;
}

/* A filter decodes when it is first read, and then up to its end mark at once: what follows the mark
 * can be read from the source.  Damaged data end where the damage is. */
void run_filter(file *f)
{
    uint8_t *data = NULL;
    size_t size = 0;
    int filter = f->filter;
    f->filter = FILTER_NONE;
    if (filter == FILTER_HEX)
        decode_hex(f->source, &data, &size);
    else if (filter == FILTER_BASE85)
        decode_base85(f->source, &data, &size);
    else
        decode_runs(f->source, &data, &size);
    f->data = vm_allocate(size);
    f->size = size;
    if (size)
        memcpy(f->data, data, size);
    free(data);
}

static int op_filter(void)
{
    static const char *const names[] = {"", "ASCIIHexDecode", "ASCII85Decode", "RunLengthDecode"};
    object source = *peek(1), which = *peek(0), made;
    if (source.type == T_STRING)
        source = make_file(source.u.bytes, source.length);
    else if (source.type != T_FILE)
        return E_TYPE;
    if (!readable(&source))
        return E_IO;
    made = make_file(NULL, 0);
    made.u.file->source = source.u.file;
    for (int i = FILTER_HEX; i <= FILTER_RUNS; i++)
        if (!strcmp(which.u.name->text, names[i]))
            made.u.file->filter = i;
    if (!made.u.file->filter)
        return E_UNDEFINED;
    ps.top -= 2;
    return push(made);
}

const operator_entry file_operators[] = {
    {"==", op_print_full, "a"}, {"=", op_print_plain, "a"}, {"print", op_print, "s"},
    {"pstack", op_pstack, ""}, {"stack", op_stack, ""}, {"flush", op_flush, ""},
    {"currentfile", op_currentfile, ""}, {"file", op_file, "ss"}, {"read", op_read, "f"},
    {"readstring", op_readstring, "fs"}, {"readhexstring", op_readhexstring, "fs"},
    {"readline", op_readline, "fs"}, {"write", op_write, "fi"}, {"writestring", op_writestring, "fs"},
    {"writehexstring", op_writehexstring, "fs"}, {"closefile", op_closefile, "f"},
    {"flushfile", op_flushfile, "f"}, {"bytesavailable", op_bytesavailable, "f"},
    {"status", op_status, "f"}, {"token", op_token, "a"}, {"filter", op_filter, "aN"},
    {NULL, NULL, NULL}};
