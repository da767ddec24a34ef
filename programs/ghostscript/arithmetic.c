/* SPDX-License-Identifier: MIT */
/* Operators on the operand stack, on numbers, and comparisons and logic. */
#include "gs.h"

#include <math.h>
#include <string.h>

/* --- the operand stack --- */

static int op_pop(void)
{
    pop();
    return OK;
}

static int op_exch(void)
{
    object top = *peek(0);
    *peek(0) = *peek(1);
    *peek(1) = top;
    return OK;
}

static int op_dup(void)
{
    return push(*peek(0));
}

static int op_index(void)
{
    int32_t depth = peek(0)->u.integer;
    if (depth < 0)
        return E_RANGE;
    if (depth > ps.top - 2)
        return E_STACK_UNDERFLOW;
    *peek(0) = *peek(depth + 1);
    return OK;
}

static void reverse(object *low, object *high)
{
    while (low < high) {
        object held = *low;
        *low++ = *high;
        *high-- = held;
    }
}

static int op_roll(void)
{
    int32_t count = peek(1)->u.integer, by = peek(0)->u.integer;
    object *base;
    if (count < 0)
        return E_RANGE;
    if (count > ps.top - 2)
        return E_STACK_UNDERFLOW;
    ps.top -= 2;
    if (count < 2)
        return OK;
    by %= count;
    if (by < 0)
        by += count;
    base = &ps.stack[ps.top - count];
    reverse(base, base + count - 1);
    reverse(base, base + by - 1);
    reverse(base + by, base + count - 1);
    return OK;
}

static int op_clear(void)
{
    ps.top = 0;
    return OK;
}

static int op_count(void)
{
    return push(make_integer(ps.top));
}

static int op_mark(void)
{
    object mark = make_null();
    mark.type = T_MARK;
    return push(mark);
}

static int count_to_mark(void)
{
    int count = 0;
    while (count < ps.top && peek(count)->type != T_MARK)
        count++;
    return count < ps.top ? count : -1;
}

static int op_counttomark(void)
{
    int count = count_to_mark();
    return count < 0 ? E_MARK : push(make_integer(count));
}

static int op_cleartomark(void)
{
    int count = count_to_mark();
    if (count < 0)
        return E_MARK;
    ps.top -= count + 1;
    return OK;
}

const operator_entry stack_operators[] = {
    {"pop", op_pop, "a"}, {"exch", op_exch, "aa"}, {"dup", op_dup, "a"}, {"index", op_index, "i"},
    {"roll", op_roll, "ii"}, {"clear", op_clear, ""}, {"count", op_count, ""}, {"mark", op_mark, ""},
    {"[", op_mark, ""}, {"<<", op_mark, ""}, {"counttomark", op_counttomark, ""},
    {"cleartomark", op_cleartomark, ""}, {NULL, NULL, NULL}};

/* --- numbers --- */

static void replace(int operands, object result)
{
    ps.top -= operands;
    push(result);
}

static int both_integers(void)
{
    return peek(0)->type == T_INTEGER && peek(1)->type == T_INTEGER;
}

/* A whole result stays an integer while it fits. */
static object whole_or_real(int64_t value)
{
    return value >= INT32_MIN && value <= INT32_MAX ? make_integer((int32_t)value) : make_real((double)value);
}

static int op_add(void)
{
    if (both_integers())
        replace(2, whole_or_real((int64_t)peek(1)->u.integer + peek(0)->u.integer));
    else
        replace(2, make_real(number_of(peek(1)) + number_of(peek(0))));
    return OK;
}

static int op_sub(void)
{
    if (both_integers())
        replace(2, whole_or_real((int64_t)peek(1)->u.integer - peek(0)->u.integer));
    else
        replace(2, make_real(number_of(peek(1)) - number_of(peek(0))));
    return OK;
}

static int op_mul(void)
{
    if (both_integers())
        replace(2, whole_or_real((int64_t)peek(1)->u.integer * peek(0)->u.integer));
    else
        replace(2, make_real(number_of(peek(1)) * number_of(peek(0))));
    return OK;
}

static int op_div(void)
{
    double by = number_of(peek(0));
    if (by == 0.0)
        return E_RESULT;
    replace(2, make_real(number_of(peek(1)) / by));
    return OK;
}

static int op_idiv(void)
{
    if (!peek(0)->u.integer)
        return E_RESULT;
    replace(2, whole_or_real((int64_t)peek(1)->u.integer / peek(0)->u.integer));
    return OK;
}

static int op_mod(void)
{
    if (!peek(0)->u.integer)
        return E_RESULT;
    replace(2, make_integer((int32_t)((int64_t)peek(1)->u.integer % peek(0)->u.integer)));
    return OK;
}

static int op_neg(void)
{
    if (peek(0)->type == T_INTEGER)
        replace(1, whole_or_real(-(int64_t)peek(0)->u.integer));
    else
        replace(1, make_real(-number_of(peek(0))));
    return OK;
}

static int op_abs(void)
{
    return number_of(peek(0)) < 0 ? op_neg() : OK;
}

static int op_ceiling(void)
{
    if (peek(0)->type == T_REAL)
        replace(1, make_real(ceil(number_of(peek(0)))));
    return OK;
}

static int op_floor(void)
{
    if (peek(0)->type == T_REAL)
        replace(1, make_real(floor(number_of(peek(0)))));
    return OK;
}

static int op_round(void)
{
    if (peek(0)->type == T_REAL)
        replace(1, make_real(floor(number_of(peek(0)) + 0.5)));
    return OK;
}

static int op_truncate(void)
{
    double value = number_of(peek(0));
    if (peek(0)->type == T_REAL)
        replace(1, make_real(value < 0 ? ceil(value) : floor(value)));
    return OK;
}

static int op_sqrt(void)
{
    double value = number_of(peek(0));
    if (value < 0)
        return E_RANGE;
    replace(1, make_real(sqrt(value)));
    return OK;
}

static int op_sin(void)
{
    replace(1, make_real(sine(number_of(peek(0)))));
    return OK;
}

static int op_cos(void)
{
    replace(1, make_real(cosine(number_of(peek(0)))));
    return OK;
}

static int op_atan(void)
{
    double y = number_of(peek(1)), x = number_of(peek(0));
    if (x == 0 && y == 0)
        return E_RESULT;
    replace(2, make_real(arc_tangent(y, x)));
    return OK;
}

static int op_exp(void)
{
    double base = number_of(peek(1)), exponent = number_of(peek(0));
    double result;
    if ((base < 0 && exponent != floor(exponent)) || (base == 0 && exponent < 0))
        return E_RESULT;
    result = power(base, exponent);
    if (!(fabs(result) < 3.4e38))
        return E_RESULT;
    replace(2, make_real(result));
    return OK;
}

static int op_ln(void)
{
    if (number_of(peek(0)) <= 0)
        return E_RANGE;
    replace(1, make_real(natural_log(number_of(peek(0)))));
    return OK;
}

static int op_log(void)
{
    if (number_of(peek(0)) <= 0)
        return E_RANGE;
    replace(1, make_real(natural_log(number_of(peek(0))) / natural_log(10.0)));
    return OK;
}

/* The minimal standard generator of Park and Miller. */
static int op_rand(void)
{
    ps.random = (uint32_t)((uint64_t)ps.random * 16807 % 2147483647u);
    return push(make_integer((int32_t)ps.random));
}

static int op_srand(void)
{
    uint32_t seed = (uint32_t)peek(0)->u.integer & 0x7fffffffu;
    ps.random = seed % 2147483647u ? seed % 2147483647u : 1;
    pop();
    return OK;
}

static int op_rrand(void)
{
    return push(make_integer((int32_t)ps.random));
}

/* --- comparisons and logic --- */

static int op_eq(void)
{
    replace(2, make_boolean(objects_equal(peek(1), peek(0))));
    return OK;
}

static int op_ne(void)
{
    replace(2, make_boolean(!objects_equal(peek(1), peek(0))));
    return OK;
}

/* Below 0, 0 or above 0 in *order; only numbers and strings have an order. */
static int compare(int *order)
{
    const object *a = peek(1), *b = peek(0);
    if (a->type == T_STRING && b->type == T_STRING) {
        uint32_t length = a->length < b->length ? a->length : b->length;
        *order = length ? memcmp(a->u.bytes, b->u.bytes, length) : 0;
        if (!*order)
            *order = (a->length > b->length) - (a->length < b->length);
        return OK;
    }
    if ((a->type != T_INTEGER && a->type != T_REAL) || (b->type != T_INTEGER && b->type != T_REAL))
        return E_TYPE;
    *order = (number_of(a) > number_of(b)) - (number_of(a) < number_of(b));
    return OK;
}

static int op_ge(void)
{
    int order, status = compare(&order);
    if (status == OK)
        replace(2, make_boolean(order >= 0));
    return status;
}

static int op_gt(void)
{
    int order, status = compare(&order);
    if (status == OK)
        replace(2, make_boolean(order > 0));
    return status;
}

static int op_le(void)
{
    int order, status = compare(&order);
    if (status == OK)
        replace(2, make_boolean(order <= 0));
    return status;
}

static int op_lt(void)
{
    int order, status = compare(&order);
    if (status == OK)
        replace(2, make_boolean(order < 0));
    return status;
}

static int logic(char which)
{
    const object *a = peek(1), *b = peek(0);
    uint32_t x = (uint32_t)a->u.integer, y = (uint32_t)b->u.integer, result;
    if (a->type != b->type || (a->type != T_BOOLEAN && a->type != T_INTEGER))
        return E_TYPE;
    result = which == '&' ? x & y : which == '|' ? x | y : x ^ y;
    replace(2, a->type == T_BOOLEAN ? make_boolean((int)result) : make_integer((int32_t)result));
    return OK;
}

static int op_and(void)
{
    return logic('&');
}

static int op_or(void)
{
    return logic('|');
}

static int op_xor(void)
{
    return logic('^');
}

static int op_not(void)
{
    if (peek(0)->type == T_BOOLEAN)
        peek(0)->u.integer = !peek(0)->u.integer;
    else if (peek(0)->type == T_INTEGER)
        peek(0)->u.integer = ~peek(0)->u.integer;
    else
        return E_TYPE;
    return OK;
}

static int op_bitshift(void)
{
    uint32_t value = (uint32_t)peek(1)->u.integer;
    int32_t by = peek(0)->u.integer;
    if (by >= 32 || by <= -32)
        value = 0;
    else
        value = by >= 0 ? value << by : value >> -by;
    replace(2, make_integer((int32_t)value));
    return OK;
}

const operator_entry arithmetic_operators[] = {
    {"add", op_add, "nn"}, {"sub", op_sub, "nn"}, {"mul", op_mul, "nn"}, {"div", op_div, "nn"},
    {"idiv", op_idiv, "ii"}, {"mod", op_mod, "ii"}, {"neg", op_neg, "n"}, {"abs", op_abs, "n"},
    {"ceiling", op_ceiling, "n"}, {"floor", op_floor, "n"}, {"round", op_round, "n"},
    {"truncate", op_truncate, "n"}, {"sqrt", op_sqrt, "n"}, {"sin", op_sin, "n"}, {"cos", op_cos, "n"},
    {"atan", op_atan, "nn"}, {"exp", op_exp, "nn"}, {"ln", op_ln, "n"}, {"log", op_log, "n"},
    {"rand", op_rand, ""}, {"srand", op_srand, "i"}, {"rrand", op_rrand, ""}, {"eq", op_eq, "aa"},
    {"ne", op_ne, "aa"}, {"ge", op_ge, "aa"}, {"gt", op_gt, "aa"}, {"le", op_le, "aa"},
    {"lt", op_lt, "aa"}, {"and", op_and, "aa"}, {"or", op_or, "aa"}, {"xor", op_xor, "aa"},
    {"not", op_not, "a"}, {"bitshift", op_bitshift, "ii"}, {NULL, NULL, NULL}};
