/* SPDX-License-Identifier: MIT */
/* Deflate (RFC 1951) in its zlib wrapper (RFC 1950), both ways.  The encoder looks for matches with
 * hash chains and writes, block by block, whichever of the three block types is the shortest. */
#include "tiff.h"

#include <stdlib.h>
#include <string.h>

enum { LITERALS = 288, DISTANCES = 30, DISTANCE_CODES = 32, MAX_BITS = 15, FAST_BITS = 9 };

static const uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                         31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t length_extra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                         2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t distance_base[30] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,
                                           33,  49,  65,  97,  129, 193,  257,  385,  513,  769,
                                           1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
static const uint8_t distance_extra[30] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                           6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
static const uint8_t length_order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

static uint32_t adler32(const uint8_t *data, size_t length)
{
    uint32_t low = 1, high = 0;
    while (length) {
        size_t part = length < 5000 ? length : 5000;
        length -= part;
        while (part--) {
            low += *data++;
            high += low;
        }
        low %= 65521;
        high %= 65521;
    }
    return high << 16 | low;
}

/* --- decoding --- */

typedef struct {
    const uint8_t *in, *end;
    uint32_t window;
    unsigned count;
    unsigned missing; /* zero bytes lent past the end: a code may be looked up beyond it */
} bit_source;

typedef struct {
    uint16_t fast[1 << FAST_BITS]; /* symbol << 4 | length, or 0 for a longer code */
    uint16_t count[MAX_BITS + 1];
    uint16_t symbols[LITERALS];
} code_book;

static void fill(bit_source *bits, unsigned wanted)
{
    while (bits->count < wanted) {
        if (bits->in < bits->end)
            bits->window |= (uint32_t)*bits->in++ << bits->count;
        else
            bits->missing++;
        bits->count += 8;
    }
}

static void drop(bit_source *bits, unsigned count)
{
    bits->window >>= count;
    bits->count -= count;
}

static unsigned take(bit_source *bits, unsigned count)
{
    unsigned value;
    fill(bits, count);
    value = bits->window & ((1u << count) - 1);
    drop(bits, count);
    return value;
}

static int ran_out(const bit_source *bits)
{
    return bits->missing * 8 > bits->count;
}

static unsigned reverse_bits(unsigned code, unsigned length)
{
    unsigned reversed = 0;
    while (length--) {
        reversed = reversed << 1 | (code & 1);
        code >>= 1;
    }
    return reversed;
}

static int make_book(code_book *book, const uint8_t *lengths, unsigned symbols)
{
    uint16_t place[MAX_BITS + 2] = {0}, next[MAX_BITS + 2] = {0};
    int left = 1, used = 0;
    memset(book, 0, sizeof *book);
    for (unsigned i = 0; i < symbols; i++)
        book->count[lengths[i]]++;
    book->count[0] = 0;
    for (unsigned bits = 1; bits <= MAX_BITS; bits++) {
        left = left * 2 - book->count[bits];
        used += book->count[bits];
        if (left < 0)
            return 0;
        place[bits + 1] = (uint16_t)(place[bits] + book->count[bits]);
        next[bits + 1] = (uint16_t)((next[bits] + book->count[bits]) << 1);
    }
    /* Space may only be left over by a code of one symbol, or of none. */
    if (left > 0 && used > 1)
        return 0;
    for (unsigned i = 0; i < symbols; i++) {
        unsigned bits = lengths[i], code;
        if (!bits)
            continue;
        book->symbols[place[bits]++] = (uint16_t)i;
        code = next[bits]++;
        if (bits > FAST_BITS)
            continue;
        for (unsigned at = reverse_bits(code, bits); at < 1u << FAST_BITS; at += 1u << bits)
            book->fast[at] = (uint16_t)(i << 4 | bits);
    }
    return 1;
}

static int read_symbol(bit_source *bits, const code_book *book)
{
    unsigned code = 0, first = 0, index = 0, entry;
    fill(bits, MAX_BITS);
    entry = book->fast[bits->window & ((1u << FAST_BITS) - 1)];
    if (entry) {
        drop(bits, entry & 15);
        return (int)(entry >> 4);
    }
    for (unsigned length = 1; length <= MAX_BITS; length++) {
        unsigned here = book->count[length];
        code |= bits->window >> (length - 1) & 1;
        if (code - first < here) {
            drop(bits, length);
            return book->symbols[index + code - first];
        }
        index += here;
        first = (first + here) << 1;
        code <<= 1;
    }
    return -1;
}

static int read_books(bit_source *bits, code_book *literals, code_book *distances)
{
    uint8_t lengths[LITERALS + 32] = {0};
    unsigned literal_count = take(bits, 5) + 257, distance_count = take(bits, 5) + 1;
    unsigned length_count = take(bits, 4) + 4, total = literal_count + distance_count, at = 0;
    if (literal_count > 286 || distance_count > 30)
        return 0;
    for (unsigned i = 0; i < length_count; i++)
        lengths[length_order[i]] = (uint8_t)take(bits, 3);
    if (!make_book(literals, lengths, 19))
        return 0;
    while (at < total) {
        int symbol = read_symbol(bits, literals);
        unsigned repeat, value = 0;
        if (symbol < 0 || ran_out(bits))
            return 0;
        if (symbol < 16) {
            lengths[at++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16) {
            if (!at)
                return 0;
            value = lengths[at - 1];
            repeat = 3 + take(bits, 2);
        } else {
            repeat = symbol == 17 ? 3 + take(bits, 3) : 11 + take(bits, 7);
        }
        if (repeat > total - at)
            return 0;
        memset(lengths + at, (int)value, repeat);
        at += repeat;
    }
    return make_book(literals, lengths, literal_count) &&
           make_book(distances, lengths + literal_count, distance_count);
}

static void fixed_lengths(uint8_t *literals, uint8_t *distances)
{
    memset(literals, 8, 144);
    memset(literals + 144, 9, 112);
    memset(literals + 256, 7, 24);
    memset(literals + 280, 8, 8);
    memset(distances, 5, DISTANCE_CODES);
}

static int inflate_stored(bit_source *bits, uint8_t *out, size_t size, size_t *done)
{
    unsigned length, check;
    drop(bits, bits->count & 7);
    length = take(bits, 16);
    check = take(bits, 16);
    if ((length ^ check) != 0xffff || ran_out(bits))
        return 0;
    if (length > size - *done)
        length = (unsigned)(size - *done);
    for (unsigned i = 0; i < length; i++)
        out[(*done)++] = (uint8_t)take(bits, 8);
    return !ran_out(bits);
}

/* Returns 1 at the end of the block, 2 when out is full before it, 0 on damage. */
static int inflate_coded(bit_source *bits, const code_book *literals, const code_book *distances,
                         uint8_t *out, size_t size, size_t *done)
{
    for (;;) {
        int symbol = read_symbol(bits, literals);
        size_t length, distance;
        if (*done == size)
            return symbol == 256 && !ran_out(bits) ? 1 : 2;
        if (symbol < 0 || ran_out(bits))
            return 0;
        if (symbol < 256) {
            out[(*done)++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 256)
            return 1;
        if (symbol > 285)
            return 0;
        length = length_base[symbol - 257] + take(bits, length_extra[symbol - 257]);
        symbol = read_symbol(bits, distances);
        if (symbol < 0 || symbol >= DISTANCES)
            return 0;
        distance = distance_base[symbol] + take(bits, distance_extra[symbol]);
        if (distance > *done || ran_out(bits))
            return 0;
        for (; length && *done < size; length--, ++*done)
            out[*done] = out[*done - distance];
    }
}

int zlib_decode(const uint8_t *in, size_t length, uint8_t *out, size_t size)
{
    bit_source bits = {in + 2, in + length, 0, 0, 0};
    code_book *books;
    size_t done = 0;
    unsigned last = 0;
    int good = 1;
    if (length < 6 || (in[0] & 15) != 8 || (in[0] << 8 | in[1]) % 31 || (in[1] & 32))
        return 0;
    books = tiff_allocate(2, sizeof *books);
    while (good && !last && done < size) {
        unsigned type;
        last = take(&bits, 1);
        type = take(&bits, 2);
        if (type == 0) {
            good = inflate_stored(&bits, out, size, &done);
            continue;
        }
        if (type == 1) {
            uint8_t lengths[LITERALS + DISTANCE_CODES];
            fixed_lengths(lengths, lengths + LITERALS);
            good = make_book(&books[0], lengths, LITERALS) &&
                   make_book(&books[1], lengths + LITERALS, DISTANCE_CODES);
        } else {
            good = type == 2 && read_books(&bits, &books[0], &books[1]);
        }
        if (good)
            good = inflate_coded(&bits, &books[0], &books[1], out, size, &done);
    }
    free(books);
    if (good == 1 && last && done == size) {
        /* The checksum can only be compared when the stream ends with the data. */
        uint32_t check = 0;
        drop(&bits, bits.count & 7);
        for (unsigned i = 0; i < 4; i++)
            check = check << 8 | take(&bits, 8);
        good = ran_out(&bits) || check == adler32(out, size);
    }
    return good && done == size;
}

/* --- encoding --- */

enum { WINDOW = 32768, HASH_BITS = 13, BLOCK_TOKENS = 16384, CHAIN = 24, GOOD_MATCH = 64 };

typedef struct {
    tiff_buffer *out;
    uint32_t window;
    unsigned count;
} bit_sink;

typedef struct {
    uint16_t length; /* of a match, or 0 for a literal */
    uint16_t value;  /* the distance of a match, or the literal byte */
} token;

typedef struct {
    uint32_t literal_uses[LITERALS], distance_uses[DISTANCE_CODES];
    uint8_t literal_bits[LITERALS], distance_bits[DISTANCE_CODES];
    uint16_t literal_codes[LITERALS], distance_codes[DISTANCE_CODES];
} block_codes;

static void put_bits(bit_sink *sink, unsigned value, unsigned count)
{
    sink->window |= (uint32_t)value << sink->count;
    sink->count += count;
    while (sink->count >= 8) {
        tiff_put(sink->out, sink->window & 0xff);
        sink->window >>= 8;
        sink->count -= 8;
    }
}

/* Gives each used symbol its depth in a Huffman tree; flatter weights are tried until no code is
 * longer than limit. */
static void huffman_lengths(const uint32_t *uses, unsigned symbols, unsigned limit, uint8_t *lengths)
{
    uint32_t weight[2 * LITERALS];
    uint16_t parent[2 * LITERALS], order[LITERALS];
    unsigned used = 0, flatten = 0, longest;
    memset(lengths, 0, symbols);
    for (unsigned i = 0; i < symbols; i++)
        if (uses[i])
            order[used++] = (uint16_t)i;
    if (used < 2) {
        if (used)
            lengths[order[0]] = 1;
        return;
    }
    for (unsigned i = 1; i < used; i++) {
        uint16_t moving = order[i];
        unsigned at = i;
        for (; at && uses[order[at - 1]] > uses[moving]; at--)
            order[at] = order[at - 1];
        order[at] = moving;
    }
    do {
        unsigned leaf = 0, node = used, made = used;
        for (unsigned i = 0; i < used; i++)
            weight[i] = (uses[order[i]] >> flatten) + 1;
        while (made < 2 * used - 1) {
            uint32_t sum = 0;
            for (unsigned child = 0; child < 2; child++) {
                unsigned pick = leaf < used && (node == made || weight[leaf] <= weight[node]) ? leaf++ : node++;
                sum += weight[pick];
                parent[pick] = (uint16_t)made;
            }
            weight[made++] = sum;
        }
        longest = 0;
        weight[made - 1] = 0;
        for (unsigned i = made - 1; i-- > 0;) {
            weight[i] = weight[parent[i]] + 1; /* from here on: depth */
            if (i < used) {
                lengths[order[i]] = (uint8_t)weight[i];
                if (weight[i] > longest)
                    longest = weight[i];
            }
        }
        flatten++;
    } while (longest > limit);
}

static void assign_codes(const uint8_t *lengths, unsigned symbols, uint16_t *codes)
{
    unsigned count[MAX_BITS + 1] = {0}, next[MAX_BITS + 2] = {0};
    for (unsigned i = 0; i < symbols; i++)
        count[lengths[i]]++;
    count[0] = 0;
    for (unsigned bits = 1; bits <= MAX_BITS; bits++)
        next[bits + 1] = (next[bits] + count[bits]) << 1;
    for (unsigned i = 0; i < symbols; i++)
        if (lengths[i])
            codes[i] = (uint16_t)reverse_bits(next[lengths[i]]++, lengths[i]);
}

static unsigned length_symbol(unsigned length)
{
    unsigned symbol = 28;
    while (length_base[symbol] > length)
        symbol--;
    return symbol;
}

static unsigned distance_symbol(unsigned distance)
{
    unsigned low = 0, high = DISTANCES;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (distance_base[middle] <= distance)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void count_uses(block_codes *codes, const token *tokens, unsigned count)
{
    memset(codes, 0, sizeof *codes);
    for (unsigned i = 0; i < count; i++) {
        if (!tokens[i].length) {
            codes->literal_uses[tokens[i].value]++;
        } else {
            codes->literal_uses[257 + length_symbol(tokens[i].length)]++;
            codes->distance_uses[distance_symbol(tokens[i].value)]++;
        }
    }
    codes->literal_uses[256] = 1;
}

static uint32_t coded_bits(const block_codes *codes)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < LITERALS; i++)
        bits += codes->literal_uses[i] * (codes->literal_bits[i] + (i > 256 && i < 286 ? length_extra[i - 257] : 0u));
    for (unsigned i = 0; i < DISTANCES; i++)
        bits += codes->distance_uses[i] * (codes->distance_bits[i] + (uint32_t)distance_extra[i]);
    return bits;
}

static void write_tokens(bit_sink *sink, const block_codes *codes, const token *tokens, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        unsigned symbol;
        if (!tokens[i].length) {
            put_bits(sink, codes->literal_codes[tokens[i].value], codes->literal_bits[tokens[i].value]);
            continue;
        }
        symbol = length_symbol(tokens[i].length);
        put_bits(sink, codes->literal_codes[257 + symbol], codes->literal_bits[257 + symbol]);
        put_bits(sink, tokens[i].length - length_base[symbol], length_extra[symbol]);
        symbol = distance_symbol(tokens[i].value);
        put_bits(sink, codes->distance_codes[symbol], codes->distance_bits[symbol]);
        put_bits(sink, tokens[i].value - distance_base[symbol], distance_extra[symbol]);
    }
    put_bits(sink, codes->literal_codes[256], codes->literal_bits[256]);
}

/* The code lengths themselves, run-length coded with symbols 16 to 18 as RFC 1951 section 3.2.7 says;
 * each entry is symbol | extra << 8. */
static unsigned pack_lengths(const uint8_t *lengths, unsigned count, uint16_t *packed)
{
    unsigned made = 0;
    for (unsigned at = 0; at < count;) {
        unsigned run = 1;
        while (at + run < count && lengths[at + run] == lengths[at])
            run++;
        if (!lengths[at] && run >= 3) {
            if (run > 138)
                run = 138;
            packed[made++] = (uint16_t)(run < 11 ? 17 | (run - 3) << 8 : 18 | (run - 11) << 8);
            at += run;
        } else {
            packed[made++] = lengths[at++];
            run--;
            while (run >= 3) {
                unsigned part = run < 6 ? run : 6;
                packed[made++] = (uint16_t)(16 | (part - 3) << 8);
                at += part;
                run -= part;
            }
        }
    }
    return made;
}

typedef struct {
    uint16_t packed[LITERALS + DISTANCES];
    unsigned entries, literals, distances, orders;
    uint8_t bits[19];
    uint32_t size;
} block_header;

static void plan_header(block_header *header, const block_codes *codes)
{
    uint8_t lengths[LITERALS + DISTANCES];
    uint32_t uses[19] = {0};
    static const uint8_t extra[3] = {2, 3, 7};
    header->literals = 286;
    while (header->literals > 257 && !codes->literal_bits[header->literals - 1])
        header->literals--;
    header->distances = DISTANCES;
    while (header->distances > 1 && !codes->distance_bits[header->distances - 1])
        header->distances--;
    memcpy(lengths, codes->literal_bits, header->literals);
    memcpy(lengths + header->literals, codes->distance_bits, header->distances);
    header->entries = pack_lengths(lengths, header->literals + header->distances, header->packed);
    for (unsigned i = 0; i < header->entries; i++)
        uses[header->packed[i] & 0xff]++;
    huffman_lengths(uses, 19, 7, header->bits);
    header->orders = 19;
    while (header->orders > 4 && !header->bits[length_order[header->orders - 1]])
        header->orders--;
    header->size = 14 + 3 * header->orders;
    for (unsigned i = 0; i < 19; i++)
        header->size += uses[i] * (header->bits[i] + (i > 15 ? extra[i - 16] : 0u));
}

static void write_header(bit_sink *sink, const block_header *header)
{
    uint16_t codes[19] = {0};
    static const uint8_t extra[3] = {2, 3, 7};
    put_bits(sink, header->literals - 257, 5);
    put_bits(sink, header->distances - 1, 5);
    put_bits(sink, header->orders - 4, 4);
    for (unsigned i = 0; i < header->orders; i++)
        put_bits(sink, header->bits[length_order[i]], 3);
    assign_codes(header->bits, 19, codes);
    for (unsigned i = 0; i < header->entries; i++) {
        unsigned symbol = header->packed[i] & 0xff;
        put_bits(sink, codes[symbol], header->bits[symbol]);
        if (symbol > 15)
            put_bits(sink, header->packed[i] >> 8, extra[symbol - 16]);
    }
}

static void write_stored(bit_sink *sink, const uint8_t *data, size_t length, unsigned last)
{
    do {
        unsigned part = (unsigned)(length < 65535 ? length : 65535);
        put_bits(sink, last && part == length, 3);
        if (sink->count)
            put_bits(sink, 0, 8 - sink->count);
        put_bits(sink, part, 16);
        put_bits(sink, ~part & 0xffff, 16);
        tiff_append(sink->out, data, part);
        data += part;
        length -= part;
    } while (length);
}

static void write_block(bit_sink *sink, const token *tokens, unsigned count, const uint8_t *data,
                        size_t length, unsigned last)
{
    block_codes dynamic, fixed;
    block_header header;
    uint32_t dynamic_bits, fixed_bits, stored_bits = (uint32_t)length * 8 + 40;
    count_uses(&dynamic, tokens, count);
    fixed = dynamic;
    huffman_lengths(dynamic.literal_uses, 286, MAX_BITS, dynamic.literal_bits);
    huffman_lengths(dynamic.distance_uses, DISTANCES, MAX_BITS, dynamic.distance_bits);
    fixed_lengths(fixed.literal_bits, fixed.distance_bits);
    plan_header(&header, &dynamic);
    dynamic_bits = header.size + coded_bits(&dynamic);
    fixed_bits = coded_bits(&fixed);
    if (stored_bits <= dynamic_bits && stored_bits <= fixed_bits) {
        write_stored(sink, data, length, last);
        return;
    }
    if (fixed_bits <= dynamic_bits) {
        put_bits(sink, last | 1 << 1, 3);
        assign_codes(fixed.literal_bits, LITERALS, fixed.literal_codes);
        assign_codes(fixed.distance_bits, DISTANCES, fixed.distance_codes);
        write_tokens(sink, &fixed, tokens, count);
    } else {
        put_bits(sink, last | 2 << 1, 3);
        write_header(sink, &header);
        assign_codes(dynamic.literal_bits, LITERALS, dynamic.literal_codes);
        assign_codes(dynamic.distance_bits, DISTANCES, dynamic.distance_codes);
        write_tokens(sink, &dynamic, tokens, count);
    }
}

typedef struct {
    int32_t head[1 << HASH_BITS];
    int32_t previous[WINDOW];
} match_table;

static unsigned hash3(const uint8_t *at)
{
    return ((uint32_t)(at[0] | at[1] << 8 | at[2] << 16) * 0x9e3779b1u) >> (32 - HASH_BITS);
}

static void remember(match_table *table, const uint8_t *in, size_t length, size_t at)
{
    if (length - at >= 3) {
        unsigned hash = hash3(in + at);
        table->previous[at % WINDOW] = table->head[hash];
        table->head[hash] = (int32_t)at;
    }
}

static unsigned find_match(const match_table *table, const uint8_t *in, size_t length, size_t at,
                           unsigned *distance)
{
    unsigned best = 0, limit = (unsigned)(length - at < 258 ? length - at : 258);
    int32_t candidate;
    if (limit < 3)
        return 0;
    candidate = table->head[hash3(in + at)];
    for (unsigned tries = 0; candidate >= 0 && at - (size_t)candidate < WINDOW && tries < CHAIN; tries++) {
        const uint8_t *there = in + candidate;
        unsigned run = 0;
        while (run < limit && there[run] == in[at + run])
            run++;
        if (run > best) {
            best = run;
            *distance = (unsigned)(at - (size_t)candidate);
            if (run >= GOOD_MATCH || run == limit)
                break;
        }
        candidate = table->previous[candidate % WINDOW];
    }
    return best >= 3 ? best : 0;
}

void zlib_encode(const uint8_t *in, size_t length, tiff_buffer *out)
{
    match_table *table = tiff_allocate(1, sizeof *table);
    token *tokens = tiff_allocate(BLOCK_TOKENS, sizeof *tokens);
    bit_sink sink = {out, 0, 0};
    size_t at = 0, block = 0;
    unsigned count = 0;
    uint32_t check = adler32(in, length);

    memset(table->head, 0xff, sizeof table->head);
    tiff_put(out, 0x78);
    tiff_put(out, 0x9c);
    while (at < length) {
        unsigned distance = 0, run = find_match(table, in, length, at, &distance);
        tokens[count].length = (uint16_t)run;
        tokens[count++].value = (uint16_t)(run ? distance : in[at]);
        remember(table, in, length, at++);
        for (; run > 1; run--)
            remember(table, in, length, at++);
        if (count == BLOCK_TOKENS && at < length) {
            write_block(&sink, tokens, count, in + block, at - block, 0);
            block = at;
            count = 0;
        }
    }
    write_block(&sink, tokens, count, in + block, at - block, 1);
    if (sink.count)
        put_bits(&sink, 0, 8 - sink.count);
    for (int shift = 24; shift >= 0; shift -= 8)
        tiff_put(out, check >> shift & 0xff);
    free(tokens);
    free(table);
}
