/* SPDX-License-Identifier: MIT */
/* The scanner: PostScript tokens from a file or string (Language Reference, section 3.2). */
#include "gs.h"

#include <stdlib.h>
#include <string.h>

enum { TOKEN_LIMIT = 1 << 16, NESTING_LIMIT = 60 };

typedef struct {
    uint8_t *bytes;
    size_t size, room;
} text_buffer;

static int is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0;
}

static int is_special(int c)
{
    return c == '(' || c == ')' || c == '<' || c == '>' || c == '[' || c == ']' || c == '{' || c == '}' ||
           c == '/' || c == '%';
}

int file_byte(file *from)
{
    if (from->filter)
        run_filter(from);
    return from->at < from->size ? from->data[from->at++] : -1;
}

static int look(file *from)
{
    if (from->filter)
        run_filter(from);
    return from->at < from->size ? from->data[from->at] : -1;
}

static int add(text_buffer *text, int c)
{
    if (text->size == text->room) {
        size_t room = text->room ? text->room * 2 : 64;
        uint8_t *grown = realloc(text->bytes, room);
        if (!grown)
            return E_MEMORY;
        text->bytes = grown;
        text->room = room;
    }
    text->bytes[text->size++] = (uint8_t)c;
    return OK;
}

static int digit_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 99;
}

static int parse_radix(const char *text, size_t length, object *number)
{
    size_t at = 0;
    unsigned base = 0;
    uint64_t value = 0;
    while (at < length && text[at] >= '0' && text[at] <= '9' && base < 100)
        base = base * 10 + (unsigned)(text[at++] - '0');
    if (at == 0 || at + 1 >= length || text[at] != '#' || base < 2 || base > 36)
        return 0;
    for (at++; at < length; at++) {
        unsigned digit = (unsigned)digit_value(text[at]);
        if (digit >= base)
            return 0;
        value = value * base + digit;
        if (value > 0xffffffffu)
            return 0;
    }
    *number = make_integer((int32_t)(uint32_t)value);
    return 1;
}

/* An integer, a real or a radix number; anything else is a name. */
int parse_number(const char *text, size_t length, object *number)
{
    size_t at = 0, digits = 0;
    int negative = 0, real = 0, exponent = 0, exponent_sign = 1, scale = 0;
    double value = 0;
    if (at < length && (text[at] == '+' || text[at] == '-'))
        negative = text[at++] == '-';
    for (; at < length; at++) {
        if (text[at] >= '0' && text[at] <= '9') {
            value = value * 10 + (text[at] - '0');
            digits++;
            scale -= real;
        } else if (text[at] == '.' && !real) {
            real = 1;
        } else {
            break;
        }
    }
    if (!digits)
        return 0;
    if (at < length && (text[at] == 'e' || text[at] == 'E')) {
        size_t start;
        real = 1;
        at++;
        if (at < length && (text[at] == '+' || text[at] == '-'))
            exponent_sign = text[at++] == '-' ? -1 : 1;
        for (start = at; at < length && text[at] >= '0' && text[at] <= '9'; at++)
            if (exponent < 1000)
                exponent = exponent * 10 + (text[at] - '0');
        if (at == start)
            return 0;
    }
    if (at < length)
        return parse_radix(text, length, number);
    scale += exponent * exponent_sign;
    if (scale > 60 || scale < -340)
        value = scale > 0 && value > 0 ? 1e60 : 0;
    else if (scale < 0)
        value = scale < -300 ? value / power(10, 300) / power(10, -scale - 300) : value / power(10, -scale);
    else
        value *= power(10, scale);
    if (negative)
        value = -value;
    if (!real && value >= -2147483648.0 && value <= 2147483647.0)
        *number = make_integer((int32_t)value);
    else
        *number = make_real(value);
    return 1;
}

static int string_escape(file *from, text_buffer *text)
{
    static const char letters[] = "nrtbf", values[] = "\n\r\t\b\f";
    int c = file_byte(from);
    const char *found = c > 0 ? strchr(letters, c) : NULL;
    if (found)
        return add(text, values[found - letters]);
    if (c == '\r' && look(from) == '\n')
        from->at++;
    if (c == '\r' || c == '\n' || c < 0)
        return OK;
    if (c >= '0' && c <= '7') {
        int value = c - '0';
        for (int i = 0; i < 2 && look(from) >= '0' && look(from) <= '7'; i++)
            value = value * 8 + (file_byte(from) - '0');
        return add(text, value & 0xff);
    }
    return add(text, c);
}

static int scan_string(file *from, text_buffer *text)
{
    int depth = 1, status = OK;
    while (status == OK) {
        int c = file_byte(from);
        if (c < 0)
            return E_SYNTAX;
        if (c == '\\') {
            status = string_escape(from, text);
            continue;
        }
        if (c == '\r') {
            if (look(from) == '\n')
                from->at++;
            c = '\n';
        }
        if (c == '(')
            depth++;
        else if (c == ')' && --depth == 0)
            return OK;
        status = text->size < TOKEN_LIMIT ? add(text, c) : E_LIMIT;
    }
    return status;
}

static int scan_hex(file *from, text_buffer *text)
{
    int high = -1, status = OK;
    while (status == OK) {
        int c = file_byte(from), value;
        if (c == '>') {
            return high >= 0 ? add(text, high << 4) : OK;
        }
        if (is_space(c))
            continue;
        value = c < 0 ? 99 : digit_value(c);
        if (value > 15)
            return E_SYNTAX;
        if (high < 0) {
            high = value;
        } else {
            status = add(text, high << 4 | value);
            high = -1;
        }
    }
    return status;
}

/* Base 85 up to its ~> mark; data is malloced for the caller. */
int decode_base85(file *from, uint8_t **data, size_t *size)
{
    text_buffer text = {NULL, 0, 0};
    uint64_t group = 0;
    int count = 0, status = OK;
    while (status == OK) {
        int c = file_byte(from);
        if (is_space(c))
            continue;
        if (c == '~') {
            if (file_byte(from) != '>' || count == 1)
                status = E_SYNTAX;
            break;
        }
        if (c == 'z' && count == 0) {
            for (int i = 0; i < 4 && status == OK; i++)
                status = add(&text, 0);
            continue;
        }
        if (c < '!' || c > 'u') {
            status = E_SYNTAX;
            break;
        }
        group = group * 85 + (uint64_t)(c - '!');
        if (++count < 5)
            continue;
        if (group > 0xffffffffu)
            status = E_SYNTAX;
        for (int shift = 24; shift >= 0 && status == OK; shift -= 8)
            status = add(&text, (int)(group >> shift & 0xff));
        group = 0;
        count = 0;
    }
    if (status == OK && count > 1) {
        for (int i = count; i < 5; i++)
            group = group * 85 + 84;
        for (int i = 0; i + 1 < count && status == OK; i++)
            status = add(&text, (int)(group >> (24 - 8 * i) & 0xff));
    }
    *data = text.bytes;
    *size = text.size;
    return status;
}

static int finish_string(text_buffer *text, int status, object *token)
{
    if (status == OK) {
        *token = make_string(text->size);
        if (text->size)
            memcpy(token->u.bytes, text->bytes, text->size);
    }
    free(text->bytes);
    return status == OK ? 1 : -status;
}

static int scan_any(file *from, object *token, int nesting);

static int scan_procedure(file *from, object *token, int nesting)
{
    object *items = NULL;
    size_t count = 0, room = 0;
    int status = nesting > NESTING_LIMIT ? -E_LIMIT : 1;
    while (status > 0) {
        object item;
        status = scan_any(from, &item, nesting + 1);
        if (status == 0)
            status = -E_SYNTAX;
        if (status <= 0 || status == 2)
            break;
        if (count == room) {
            object *grown = realloc(items, (room = room ? room * 2 : 16) * sizeof *items);
            if (!grown) {
                status = -E_MEMORY;
                break;
            }
            items = grown;
        }
        items[count++] = item;
    }
    if (status > 0) {
        *token = make_array((uint32_t)count);
        token->executable = 1;
        token->packed = (uint8_t)ps.packing;
        if (count)
            memcpy(token->u.items, items, count * sizeof *items);
        status = 1;
    }
    free(items);
    return status;
}

static int scan_name(file *from, int first, object *token)
{
    char text[256];
    size_t length = 0;
    int c = first, literal = 0, immediate = 0;
    if (c == '/') {
        literal = 1;
        if (look(from) == '/') {
            from->at++;
            immediate = 1;
        }
        c = file_byte(from);
    }
    while (c >= 0 && !is_space(c) && !is_special(c)) {
        if (length == sizeof text)
            return -E_LIMIT;
        text[length++] = (char)c;
        c = file_byte(from);
    }
    /* One white-space byte ends a token and belongs to it; anything else is the next token's. */
    if (c == '\r' && look(from) == '\n')
        from->at++;
    else if (c >= 0 && !is_space(c))
        from->at--;
    if (!literal && parse_number(text, length, token))
        return 1;
    *token = make_name("", !literal);
    token->u.name = intern(text, length);
    if (immediate) {
        object value;
        if (!find_name(token, &value))
            return -E_UNDEFINED;
        *token = value;
    }
    return 1;
}

static int scan_angle(file *from, object *token)
{
    text_buffer text = {NULL, 0, 0};
    int status;
    if (look(from) == '<') {
        from->at++;
        *token = make_name("<<", 1);
        return 1;
    }
    if (look(from) == '~') {
        from->at++;
        status = decode_base85(from, &text.bytes, &text.size);
    } else {
        status = scan_hex(from, &text);
    }
    return finish_string(&text, status, token);
}

/* Like scan_token, and 2 for the brace that ends a procedure. */
static int scan_any(file *from, object *token, int nesting)
{
    text_buffer text = {NULL, 0, 0};
    for (;;) {
        int c = file_byte(from);
        if (c < 0)
            return 0;
        if (is_space(c))
            continue;
        switch (c) {
        case '%':
            while (c >= 0 && c != '\n' && c != '\r' && c != '\f')
                c = file_byte(from);
            continue;
        case '(':
            return finish_string(&text, scan_string(from, &text), token);
        case '<':
            return scan_angle(from, token);
        case '>':
            if (file_byte(from) != '>')
                return -E_SYNTAX;
            *token = make_name(">>", 1);
            return 1;
        case '[':
        case ']':
            *token = make_name(c == '[' ? "[" : "]", 1);
            return 1;
        case '{':
            return scan_procedure(from, token, nesting);
        case '}':
            return nesting ? 2 : -E_SYNTAX;
        case ')':
            return -E_SYNTAX;
        default:
            return scan_name(from, c, token);
        }
    }
}

int scan_token(file *from, object *token)
{
    return scan_any(from, token, 0);
}
