/* SPDX-License-Identifier: MIT */
/* Sorting of all rotations of a block. The main sort distributes rotations by their first two
   bytes, sorts the small buckets with a multikey quicksort and derives others from those already
   sorted. It counts its work; on repetitive blocks it gives up, and rank doubling, whose cost does
   not depend on the content, takes over. */
#include <stdlib.h>
#include <string.h>

#include "bzip2.h"

enum {
    MARGIN = 32,         /* bytes after the block that repeat its start */
    INSERTION_SIZE = 20,
    DEPTH_LIMIT = 14,    /* multikey levels before whole rotations are compared */
    MAIN_MINIMUM = 10000,
    PAIRS = 65536
};

#define SORTED_FLAG 0x80000000u

int sort_space_init(SortSpace *space, size_t capacity)
{
    space->capacity = capacity;
    space->bytes = malloc(capacity + MARGIN);
    space->order = malloc(capacity * sizeof *space->order);
    space->rank = malloc(capacity * sizeof *space->rank);
    space->pairs = malloc((PAIRS + 1) * sizeof *space->pairs);
    if (space->bytes != NULL && space->order != NULL && space->rank != NULL && space->pairs != NULL)
        return 0;
    sort_space_free(space);
    return -1;
}

void sort_space_free(SortSpace *space)
{
    free(space->bytes);
    free(space->order);
    free(space->rank);
    free(space->pairs);
    memset(space, 0, sizeof *space);
}

/* ---- main sort ---- */

typedef struct {
    const uint8_t *bytes;
    uint32_t *order;
    uint32_t length;
    int64_t budget;
} MainSort;

/* True where rotation a is greater than rotation b; both agree on the bytes before `depth`. */
static int rotation_greater(MainSort *sort, uint32_t a, uint32_t b, uint32_t depth)
{
    const uint8_t *bytes = sort->bytes;
    uint32_t length = sort->length;
    uint32_t left = length;

    a += depth;
    b += depth;
    while (a >= length)
        a -= length;
    while (b >= length)
        b -= length;
    for (;;) {
        for (int step = 0; step < 8; step++) {
            uint8_t ca = bytes[a + (uint32_t)step];
            uint8_t cb = bytes[b + (uint32_t)step];
            if (ca != cb)
                return ca > cb;
        }
        sort->budget--;
        if (left <= 8)
            return 0;
        left -= 8;
        a += 8;
        b += 8;
        while (a >= length)
            a -= length;
        while (b >= length)
            b -= length;
    }
}

/* Shell's method with two gaps: buckets that arrive here are short or nearly equal. */
static void sort_few(MainSort *sort, uint32_t low, uint32_t high, uint32_t depth)
{
    static const uint32_t gaps[] = {364, 121, 40, 13, 4, 1};
    uint32_t *order = sort->order;

    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++) {
        uint32_t gap = gaps[g];
        if (gap > high - low)
            continue;
        for (uint32_t i = low + gap; i <= high; i++) {
            uint32_t item = order[i];
            uint32_t j = i;
            while (j >= low + gap && rotation_greater(sort, order[j - gap], item, depth)) {
                order[j] = order[j - gap];
                j -= gap;
            }
            order[j] = item;
            if (sort->budget < 0)
                return;
        }
    }
}

static uint8_t byte_at(const MainSort *sort, uint32_t rotation, uint32_t depth)
{
    uint32_t at = rotation + depth;
    return sort->bytes[at];
}

static uint8_t median_byte(uint8_t a, uint8_t b, uint8_t c)
{
    if (a > b) {
        uint8_t swap = a;
        a = b;
        b = swap;
    }
    if (b > c)
        b = c;
    return a > b ? a : b;
}

static void swap_entries(uint32_t *order, uint32_t a, uint32_t b)
{
    uint32_t held = order[a];
    order[a] = order[b];
    order[b] = held;
}

static void swap_ranges(uint32_t *order, uint32_t a, uint32_t b, uint32_t count)
{
    while (count-- > 0)
        swap_entries(order, a++, b++);
}

typedef struct {
    uint32_t low;
    uint32_t high;
    uint32_t depth;
} Range;

/* Splits the range in three by the byte at its depth: less, equal (found in the middle), greater. */
static void split_range(MainSort *sort, Range range, uint32_t *first_equal, uint32_t *last_equal)
{
    uint32_t *order = sort->order;
    uint32_t low = range.low;
    uint32_t high = range.high;
    uint8_t pivot = median_byte(byte_at(sort, order[low], range.depth),
                                byte_at(sort, order[low + (high - low) / 2], range.depth),
                                byte_at(sort, order[high], range.depth));
    int64_t i = low, j = high, equal_low = low, equal_high = high;

    for (;;) {
        while (i <= j) {
            int diff = byte_at(sort, order[i], range.depth) - pivot;
            if (diff > 0)
                break;
            if (diff == 0)
                swap_entries(order, (uint32_t)equal_low++, (uint32_t)i);
            i++;
        }
        while (i <= j) {
            int diff = byte_at(sort, order[j], range.depth) - pivot;
            if (diff < 0)
                break;
            if (diff == 0)
                swap_entries(order, (uint32_t)equal_high--, (uint32_t)j);
            j--;
        }
        if (i > j)
            break;
        swap_entries(order, (uint32_t)i++, (uint32_t)j--);
    }
    int64_t less = i - equal_low;
    int64_t greater = equal_high - j;
    int64_t left_equal = equal_low - low;
    int64_t right_equal = (int64_t)high - equal_high;
    int64_t move = left_equal < less ? left_equal : less;
    swap_ranges(order, low, (uint32_t)(i - move), (uint32_t)move);
    move = right_equal < greater ? right_equal : greater;
    swap_ranges(order, (uint32_t)i, (uint32_t)((int64_t)high - move + 1), (uint32_t)move);
    *first_equal = (uint32_t)(low + less);
    *last_equal = (uint32_t)((int64_t)high - greater);
    sort->budget -= ((int64_t)high - low) / 8 + 1;
}

static void push_range(Range *stack, int *top, uint32_t low, uint32_t high, uint32_t depth)
{
    stack[*top].low = low;
    stack[*top].high = high;
    stack[*top].depth = depth;
    ++*top;
}

static void multikey_sort(MainSort *sort, uint32_t first, uint32_t last)
{
    /* The largest part is pushed first, so that the stack stays logarithmic per level. */
    Range stack[32 * (DEPTH_LIMIT + 2)];
    int top = 0;

    push_range(stack, &top, first, last, 2);
    while (top > 0 && sort->budget >= 0) {
        Range range = stack[--top];
        uint32_t from, to;
        if (range.high - range.low < INSERTION_SIZE || range.depth > DEPTH_LIMIT) {
            sort_few(sort, range.low, range.high, range.depth);
            continue;
        }
        split_range(sort, range, &from, &to);
        Range parts[3];
        int count = 0;
        if (from > range.low + 1)
            push_range(parts, &count, range.low, from - 1, range.depth);
        if (to > from)
            push_range(parts, &count, from, to, range.depth + 1);
        if (range.high > to + 1)
            push_range(parts, &count, to + 1, range.high, range.depth);
        while (count > 0) {
            int largest = 0;
            for (int p = 1; p < count; p++)
                if (parts[p].high - parts[p].low > parts[largest].high - parts[largest].low)
                    largest = p;
            stack[top++] = parts[largest];
            parts[largest] = parts[--count];
        }
    }
}

static void distribute_pairs(const uint8_t *bytes, uint32_t length, uint32_t *order, uint32_t *pairs)
{
    memset(pairs, 0, (PAIRS + 1) * sizeof *pairs);
    for (uint32_t i = 0; i < length; i++)
        pairs[((uint32_t)bytes[i] << 8) | bytes[i + 1]]++;
    uint32_t sum = 0;
    for (uint32_t pair = 0; pair < PAIRS; pair++) {
        sum += pairs[pair];
        pairs[pair] = sum;
    }
    pairs[PAIRS] = sum;
    for (uint32_t i = length; i-- > 0;)
        order[--pairs[((uint32_t)bytes[i] << 8) | bytes[i + 1]]] = i;
}

static uint32_t bucket_start(const uint32_t *pairs, unsigned first, unsigned second)
{
    return pairs[(first << 8) + second] & ~SORTED_FLAG;
}

static uint32_t big_size(const uint32_t *pairs, unsigned first)
{
    return bucket_start(pairs, first + 1, 0) - bucket_start(pairs, first, 0);
}

static void order_big_buckets(const uint32_t *pairs, uint8_t *sequence)
{
    for (unsigned i = 0; i < 256; i++) {
        uint32_t size = big_size(pairs, i);
        unsigned j = i;
        while (j > 0 && big_size(pairs, sequence[j - 1]) > size) {
            sequence[j] = sequence[j - 1];
            j--;
        }
        sequence[j] = (uint8_t)i;
    }
}

/* With the rotations that start with `byte` sorted, a scan over them in order yields, for each
   preceding byte c, the order inside the bucket (c, byte): from the left up to where the bucket
   (byte, byte) grows to, and from the right down to where it ends. */
static void derive_buckets(MainSort *sort, uint32_t *pairs, unsigned byte, const uint8_t *finished)
{
    uint32_t next_left[256];
    uint32_t next_right[256];
    uint32_t *order = sort->order;

    for (unsigned c = 0; c < 256; c++) {
        next_left[c] = bucket_start(pairs, c, byte);
        next_right[c] = bucket_start(pairs, c, byte + 1);
    }
    for (uint32_t i = bucket_start(pairs, byte, 0); i < next_left[byte]; i++) {
        uint32_t previous = (order[i] == 0 ? sort->length : order[i]) - 1;
        unsigned c = sort->bytes[previous];
        if (!finished[c])
            order[next_left[c]++] = previous;
    }
    for (uint32_t i = bucket_start(pairs, byte + 1, 0); i > next_right[byte]; i--) {
        uint32_t previous = (order[i - 1] == 0 ? sort->length : order[i - 1]) - 1;
        unsigned c = sort->bytes[previous];
        if (!finished[c])
            order[--next_right[c]] = previous;
    }
    for (unsigned c = 0; c < 256; c++)
        pairs[(c << 8) + byte] |= SORTED_FLAG;
}

/* Returns -1 if the budget ran out; the order is then only a permutation. */
static int main_sort(SortSpace *space, uint32_t length, int effort)
{
    MainSort sort = {space->bytes, space->order, length, (int64_t)length * effort};
    uint8_t sequence[256];
    uint8_t finished[256] = {0};
    uint32_t *pairs = space->pairs;

    for (uint32_t i = 0; i < MARGIN; i++)
        space->bytes[length + i] = space->bytes[i % length];
    distribute_pairs(space->bytes, length, space->order, pairs);
    order_big_buckets(pairs, sequence);
    for (int i = 0; i < 256; i++) {
        unsigned byte = sequence[i];
        if (big_size(pairs, byte) == length)
            return 0; /* one byte value only: all rotations are equal */
        for (unsigned second = 0; second < 256; second++) {
            uint32_t slot = (byte << 8) + second;
            if (second == byte || (pairs[slot] & SORTED_FLAG) != 0)
                continue;
            uint32_t low = bucket_start(pairs, byte, second);
            uint32_t high = bucket_start(pairs, byte, second + 1);
            if (high > low + 1)
                multikey_sort(&sort, low, high - 1);
            if (sort.budget < 0)
                return -1;
            pairs[slot] |= SORTED_FLAG;
        }
        derive_buckets(&sort, pairs, byte, finished);
        finished[byte] = 1;
    }
    return 0;
}

/* ---- fallback: rank doubling with ternary splits ---- */

typedef struct {
    uint32_t *order;
    uint32_t *rank;
    uint32_t length;
    uint32_t offset;
} Doubling;

static uint32_t key_of(const Doubling *d, uint32_t rotation)
{
    uint32_t at = rotation + d->offset;
    return d->rank[at >= d->length ? at - d->length : at];
}

static void key_insertion(const Doubling *d, uint32_t low, uint32_t high)
{
    for (uint32_t i = low + 1; i <= high; i++) {
        uint32_t item = d->order[i];
        uint32_t key = key_of(d, item);
        uint32_t j = i;
        while (j > low && key_of(d, d->order[j - 1]) > key) {
            d->order[j] = d->order[j - 1];
            j--;
        }
        d->order[j] = item;
    }
}

static void sift_down(const Doubling *d, uint32_t low, uint32_t root, uint32_t count)
{
    uint32_t item = d->order[low + root];
    uint32_t key = key_of(d, item);
    for (;;) {
        uint32_t child = 2 * root + 1;
        if (child >= count)
            break;
        if (child + 1 < count &&
            key_of(d, d->order[low + child + 1]) > key_of(d, d->order[low + child]))
            child++;
        if (key_of(d, d->order[low + child]) <= key)
            break;
        d->order[low + root] = d->order[low + child];
        root = child;
    }
    d->order[low + root] = item;
}

static void key_heap_sort(const Doubling *d, uint32_t low, uint32_t high)
{
    uint32_t count = high - low + 1;
    for (uint32_t root = count / 2; root-- > 0;)
        sift_down(d, low, root, count);
    while (count > 1) {
        count--;
        swap_entries(d->order, low, low + count);
        sift_down(d, low, 0, count);
    }
}

static uint32_t median_key(const Doubling *d, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t x = key_of(d, d->order[a]);
    uint32_t y = key_of(d, d->order[b]);
    uint32_t z = key_of(d, d->order[c]);
    if (x > y) {
        uint32_t swap = x;
        x = y;
        y = swap;
    }
    if (y > z)
        y = z;
    return x > y ? x : y;
}

static void key_sort(const Doubling *d, uint32_t low, uint32_t high, int depth)
{
    while (high > low) {
        if (high - low < INSERTION_SIZE) {
            key_insertion(d, low, high);
            return;
        }
        if (depth-- == 0) {
            key_heap_sort(d, low, high);
            return;
        }
        uint32_t pivot = median_key(d, low, low + (high - low) / 2, high);
        uint32_t less = low, i = low, greater = high + 1;
        while (i < greater) {
            uint32_t key = key_of(d, d->order[i]);
            if (key < pivot)
                swap_entries(d->order, less++, i++);
            else if (key > pivot)
                swap_entries(d->order, i, --greater);
            else
                i++;
        }
        /* Recurse into the smaller side only. */
        if (less - low < high + 1 - greater) {
            if (less > low + 1)
                key_sort(d, low, less - 1, depth);
            low = greater;
        } else {
            if (high > greater)
                key_sort(d, greater, high, depth);
            if (less == low)
                return;
            high = less - 1;
        }
        if (low > high)
            return;
    }
}

/* A rank is the index of the last member of the group, so that unsorted groups can be read off. */
static void rank_by_byte(Doubling *d, const uint8_t *bytes)
{
    uint32_t end[256] = {0};
    uint32_t fill[256];
    uint32_t sum = 0;

    for (uint32_t i = 0; i < d->length; i++)
        end[bytes[i]]++;
    for (int b = 0; b < 256; b++) {
        fill[b] = sum;
        sum += end[b];
        end[b] = sum;
    }
    for (uint32_t i = 0; i < d->length; i++) {
        d->order[fill[bytes[i]]++] = i;
        d->rank[i] = end[bytes[i]] - 1;
    }
}

/* Keys must be read before any rank of the group changes, hence the two passes. */
static int split_group(Doubling *d, uint32_t low, uint32_t high)
{
    uint32_t group_end = high;
    int singles = 0;
    uint32_t key = key_of(d, d->order[high]);

    for (uint32_t i = high + 1; i-- > low;) {
        uint32_t here = key_of(d, d->order[i]);
        if (here != key) {
            key = here;
            d->order[i + 1] |= SORTED_FLAG; /* marks the first member of a new group */
        }
    }
    for (uint32_t i = high + 1; i-- > low;) {
        uint32_t item = d->order[i];
        d->rank[item & ~SORTED_FLAG] = group_end;
        if ((item & SORTED_FLAG) != 0 || i == low) {
            singles += i == group_end;
            d->order[i] = item & ~SORTED_FLAG;
            group_end = i == 0 ? 0 : i - 1;
        }
    }
    return singles;
}

static void fallback_sort(SortSpace *space, uint32_t length)
{
    Doubling d = {space->order, space->rank, length, 1};
    uint32_t unsorted;

    rank_by_byte(&d, space->bytes);
    do {
        uint32_t i = 0;
        unsorted = 0;
        while (i < length) {
            uint32_t end = d.rank[d.order[i]];
            if (end > i) {
                int depth = 0;
                for (uint32_t size = end - i; size > 0; size >>= 1)
                    depth++;
                key_sort(&d, i, end, depth);
                unsorted += end - i + 1 - (uint32_t)split_group(&d, i, end);
            }
            i = end + 1;
        }
        d.offset *= 2;
    } while (unsorted > 0 && d.offset < length);
}

uint32_t sort_block(SortSpace *space, uint32_t length, int effort, SortChoice choice,
                    int *used_fallback)
{
    int fallback = choice == SORT_FALLBACK || (choice == SORT_AUTO && length < MAIN_MINIMUM);

    if (!fallback) {
        int limited = choice == SORT_AUTO ? effort : 1 << 12;
        if (main_sort(space, length, limited) != 0)
            fallback = 1;
    }
    if (fallback)
        fallback_sort(space, length);
    *used_fallback = fallback;
    for (uint32_t row = 0; row < length; row++)
        if (space->order[row] == 0)
            return row;
    return 0;
}
