/* SPDX-License-Identifier: MIT */
/* The interpreter's core: the stacks, the execution of objects, and errors, which go through errordict
 * as the Language Reference describes (section 3.11). */
#include "gs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

interpreter ps;

enum { OPERATOR_LIMIT = 320 };

static operator_entry operators[OPERATOR_LIMIT];
static int operator_count;

static const char *const error_names[ERROR_COUNT] = {
    "", "configurationerror", "dictstackoverflow", "dictstackunderflow", "execstackoverflow",
    "invalidaccess", "invalidexit", "invalidfileaccess", "invalidfont", "invalidrestore", "ioerror",
    "limitcheck", "nocurrentpoint", "rangecheck", "stackoverflow", "stackunderflow", "syntaxerror",
    "typecheck", "undefined", "undefinedfilename", "undefinedresult", "unmatchedmark", "VMerror"};

int push(object o)
{
    if (ps.top == STACK_LIMIT)
        return E_STACK_OVERFLOW;
    ps.stack[ps.top++] = o;
    return OK;
}

object pop(void)
{
    return ps.stack[--ps.top];
}

object *peek(int depth)
{
    return &ps.stack[ps.top - 1 - depth];
}

void add_operators(const operator_entry *entries)
{
    for (; entries->name; entries++) {
        operators[operator_count] = *entries;
        dict_put_name(ps.system, entries->name, make_operator(operator_count));
        operator_count++;
    }
}

const operator_entry *operator_at(int index)
{
    return &operators[index];
}

int find_name(const object *key, object *value)
{
    for (int i = ps.dict_top - 1; i >= 0; i--) {
        object *found = dict_find(ps.dicts[i], key);
        if (found) {
            *value = *found;
            return 1;
        }
    }
    return 0;
}

static int fits(const object *o, char kind)
{
    switch (kind) {
    case 'i':
        return o->type == T_INTEGER;
    case 'n':
        return o->type == T_INTEGER || o->type == T_REAL;
    case 'b':
        return o->type == T_BOOLEAN;
    case 's':
        return o->type == T_STRING;
    case 'd':
        return o->type == T_DICT;
    case 'p':
        return is_procedure(o);
    case 'm': /* a matrix: an array of six */
    case 'r':
        return o->type == T_ARRAY;
    case 'N':
        return o->type == T_NAME;
    case 'f':
        return o->type == T_FILE;
    case 'v':
        return o->type == T_SAVE;
    default:
        return 1; /* 'a': anything */
    }
}

/* Compares the operands with their kinds, before anything is taken from the stack, so that an error
 * leaves them where they were. */
int check_operands(const char *kinds)
{
    int count = (int)strlen(kinds);
    if (ps.top < count)
        return E_STACK_UNDERFLOW;
    for (int i = 0; i < count; i++) {
        const object *o = peek(count - 1 - i);
        if (!fits(o, kinds[i]))
            return E_TYPE;
        if (kinds[i] == 'm' && o->length != 6)
            return E_RANGE;
        if (kinds[i] != 'a' && o->access == NO_ACCESS)
            return E_ACCESS;
    }
    return OK;
}

/* Runs the handler that errordict has for the error, with the command on the stack. */
int signal_error(int error, object command)
{
    object *handler = dict_get_name(ps.errors, error_names[error]);
    int depth = ps.depth, status;
    /* A stack that overflowed is handed over as an array and emptied, so that handlers can work. */
    if (error == E_STACK_OVERFLOW || ps.top == STACK_LIMIT) {
        object held = make_array((uint32_t)ps.top);
        memcpy(held.u.items, ps.stack, (size_t)ps.top * sizeof(object));
        ps.top = 0;
        push(held);
    }
    if (error == E_DICT_OVERFLOW)
        ps.dict_top = 2;
    command.executable = 0;
    push(command);
    if (!handler)
        return LEAVE_STOPPED;
    if (error == E_EXEC_OVERFLOW)
        ps.depth -= HANDLER_DEPTH; /* the handler needs some room too */
    status = execute(*handler);
    ps.depth = depth;
    return status;
}

static int call_operator(object o)
{
    const operator_entry *entry = &operators[o.u.integer];
    int status = check_operands(entry->operands);
    ps.operations++;
    if (status == OK)
        status = entry->run();
    if (status > OK && status < ERROR_COUNT) {
        object command = make_name(entry->name, 0);
        return signal_error(status, command);
    }
    return status;
}

static int run_string(object text)
{
    object from = make_file(text.u.bytes, text.length);
    return run_file(from);
}

static int run_items(object procedure);

static int execute_name(object o, object *next)
{
    object value;
    if (!find_name(&o, &value))
        return signal_error(E_UNDEFINED, o);
    if (!value.executable)
        return push(value) == OK ? OK : signal_error(E_STACK_OVERFLOW, o);
    *next = value;
    return -1; /* go on with the value */
}

/* Executes one object.  A name that stands for another executable object is followed in a loop. */
int execute(object o)
{
    int status = -1;
    if (ps.depth >= DEPTH_LIMIT)
        return signal_error(E_EXEC_OVERFLOW, o);
    ps.depth++;
    while (status == -1) {
        if (!o.executable) {
            status = push(o);
            if (status != OK)
                status = signal_error(status, o);
            break;
        }
        switch (o.type) {
        case T_NAME:
            status = execute_name(o, &o);
            break;
        case T_OPERATOR:
            status = call_operator(o);
            break;
        case T_ARRAY:
            status = run_items(o);
            break;
        case T_STRING:
            status = run_string(o);
            break;
        case T_FILE:
            status = run_file(o);
            break;
        case T_NULL:
            status = OK;
            break;
        default:
            status = push(o);
            break;
        }
    }
    ps.depth--;
    return status;
}

/* One element of a running procedure: an inner procedure is data, a name is looked up. */
static int run_element(object o)
{
    if (!o.executable || o.type == T_ARRAY) {
        int status = push(o);
        return status == OK ? OK : signal_error(status, o);
    }
    if (o.type == T_OPERATOR)
        return call_operator(o);
    return execute(o);
}

static int run_items(object procedure)
{
    for (;;) {
        object last, value;
        int status = OK;
        if (!procedure.length)
            return OK;
        for (uint32_t i = 0; i + 1 < procedure.length; i++) {
            status = run_element(procedure.u.items[i]);
            if (status != OK)
                return status;
        }
        last = procedure.u.items[procedure.length - 1];
        /* A call in the last place needs no frame, so that loops by recursion run for ever. */
        if (last.type != T_NAME || !last.executable || !find_name(&last, &value) || !is_procedure(&value))
            return run_element(last);
        procedure = value;
    }
}

int call_procedure(object procedure)
{
    procedure.executable = 1;
    return execute(procedure);
}

/* Executes the tokens of a file or string until its end. */
int run_file(object from)
{
    file *outer = ps.input, *input = from.u.file;
    int status = OK;
    if (input->output)
        return E_ACCESS;
    while (status == OK && input->open) {
        object token;
        int got;
        ps.input = input;
        got = scan_token(input, &token);
        if (got == 0)
            break;
        if (got < 0)
            status = signal_error(-got, from);
        else if (token.type == T_ARRAY && token.executable)
            status = push(token) == OK ? OK : signal_error(E_STACK_OVERFLOW, token);
        else
            status = execute(token);
    }
    ps.input = outer;
    return status;
}

/* --- error reports --- */

/* What every entry of errordict does at first: notes the error in $error and stops. */
static int default_handler(const char *error)
{
    dict *state = ps.error_state;
    object command = pop(), stack = make_array((uint32_t)ps.top);
    memcpy(stack.u.items, ps.stack, (size_t)ps.top * sizeof(object));
    dict_put_name(state, "newerror", make_boolean(1));
    dict_put_name(state, "errorname", make_name(error, 0));
    dict_put_name(state, "command", command);
    dict_put_name(state, "ostack", stack);
    return LEAVE_STOPPED;
}

#define HANDLER(label, code) \
    static int label(void) { return default_handler(error_names[code]); }

HANDLER(on_configuration, E_CONFIGURATION)
HANDLER(on_dict_overflow, E_DICT_OVERFLOW)
HANDLER(on_dict_underflow, E_DICT_UNDERFLOW)
HANDLER(on_exec_overflow, E_EXEC_OVERFLOW)
HANDLER(on_access, E_ACCESS)
HANDLER(on_exit, E_EXIT)
HANDLER(on_file_access, E_FILE_ACCESS)
HANDLER(on_font, E_FONT)
HANDLER(on_restore, E_RESTORE)
HANDLER(on_io, E_IO)
HANDLER(on_limit, E_LIMIT)
HANDLER(on_no_point, E_NO_POINT)
HANDLER(on_range, E_RANGE)
HANDLER(on_stack_overflow, E_STACK_OVERFLOW)
HANDLER(on_stack_underflow, E_STACK_UNDERFLOW)
HANDLER(on_syntax, E_SYNTAX)
HANDLER(on_type, E_TYPE)
HANDLER(on_undefined, E_UNDEFINED)
HANDLER(on_file_name, E_FILE_NAME)
HANDLER(on_result, E_RESULT)
HANDLER(on_mark, E_MARK)
HANDLER(on_memory, E_MEMORY)

/* handleerror: says what went wrong, in the words that users of the real program know. */
static int op_handleerror(void)
{
    char text[200];
    object *noted = dict_get_name(ps.error_state, "newerror");
    object *what = dict_get_name(ps.error_state, "errorname");
    object *where = dict_get_name(ps.error_state, "command");
    object *stack = dict_get_name(ps.error_state, "ostack");
    if (!noted || noted->type != T_BOOLEAN || !noted->u.integer || !what || !where || !stack)
        return OK;
    format_object(what, text, sizeof text);
    printf("Error: %s in ", text);
    format_object(where, text, sizeof text);
    printf("%s\nOperand stack:\n  ", text[0] == '/' ? text + 1 : text);
    for (uint32_t i = 0; stack->type == T_ARRAY && i < stack->length; i++) {
        format_object(&stack->u.items[i], text, sizeof text);
        printf(" %s", text);
    }
    putchar('\n');
    dict_put_name(ps.error_state, "newerror", make_boolean(0));
    return OK;
}

void report_error(void)
{
    op_handleerror();
}

static const operator_entry handlers[] = {
    {"configurationerror", on_configuration, "a"}, {"dictstackoverflow", on_dict_overflow, "a"},
    {"dictstackunderflow", on_dict_underflow, "a"}, {"execstackoverflow", on_exec_overflow, "a"},
    {"invalidaccess", on_access, "a"}, {"invalidexit", on_exit, "a"},
    {"invalidfileaccess", on_file_access, "a"}, {"invalidfont", on_font, "a"},
    {"invalidrestore", on_restore, "a"}, {"ioerror", on_io, "a"}, {"limitcheck", on_limit, "a"},
    {"nocurrentpoint", on_no_point, "a"}, {"rangecheck", on_range, "a"},
    {"stackoverflow", on_stack_overflow, "a"}, {"stackunderflow", on_stack_underflow, "a"},
    {"syntaxerror", on_syntax, "a"}, {"typecheck", on_type, "a"}, {"undefined", on_undefined, "a"},
    {"undefinedfilename", on_file_name, "a"}, {"undefinedresult", on_result, "a"},
    {"unmatchedmark", on_mark, "a"}, {"VMerror", on_memory, "a"}, {"handleerror", op_handleerror, ""},
    {NULL, NULL, NULL}};

static dict *named_dict(const char *key, uint32_t room)
{
    object d = make_dict(room);
    dict_put_name(ps.system, key, d);
    return d.u.dict;
}

void start_interpreter(void)
{
    object system = make_dict(500), value;
    ps.system = system.u.dict;
    dict_put_name(ps.system, "systemdict", system);
    ps.user = named_dict("userdict", 200);
    dict_put_name(ps.system, "globaldict", *dict_get_name(ps.system, "userdict"));
    ps.error_state = named_dict("$error", 10);
    ps.fonts = named_dict("FontDirectory", 50);
    named_dict("statusdict", 10);
    /* The handlers are first defined where all operators go, then moved to errordict. */
    ps.errors = named_dict("errordict", 40);
    add_operators(handlers);
    for (const operator_entry *h = handlers; h->name; h++) {
        object key = make_name(h->name, 0);
        value = *dict_find(ps.system, &key);
        dict_put(ps.errors, &key, &value);
        if (strcmp(h->name, "handleerror"))
            dict_remove(ps.system, &key);
    }
    dict_put_name(ps.error_state, "newerror", make_boolean(0));
    dict_put_name(ps.system, "true", make_boolean(1));
    dict_put_name(ps.system, "false", make_boolean(0));
    dict_put_name(ps.system, "null", make_null());
    dict_put_name(ps.system, "languagelevel", make_integer(2));
    dict_put_name(ps.system, "product", make_text("Ghostscript"));
    dict_put_name(ps.system, "version", make_text("1"));
    dict_put_name(ps.system, "revision", make_integer(1));
    add_operators(stack_operators);
    add_operators(arithmetic_operators);
    add_operators(compound_operators);
    add_operators(control_operators);
    add_operators(conversion_operators);
    add_operators(file_operators);
    add_operators(graphics_operators);
    add_operators(path_operators);
    add_operators(paint_operators);
    add_operators(image_operators);
    add_operators(font_operators);
    ps.dicts[0] = ps.system;
    ps.dicts[1] = ps.user;
    ps.dict_top = 2;
    ps.random = 1;
}
