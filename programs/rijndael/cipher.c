/* SPDX-License-Identifier: MIT */
#include "cipher.h"

#include <string.h>

/* Everything but the key schedule is looked up: a round of a column is four words of a table, which
 * joins the substitution of a byte and its share of the column's mixing. The tables are computed at
 * first use from the field GF(2^8) with the polynomial x^8 + x^4 + x^3 + x + 1. */

static uint8_t sbox[256];
static uint8_t inverse_sbox[256];
static uint32_t forward[4][256];
static uint32_t backward[4][256];

static uint8_t times_x(uint8_t value)
{
    return (uint8_t)(value << 1 ^ (value & 0x80 ? 0x1b : 0));
}

static uint8_t multiply(uint8_t a, uint8_t b)
{
    uint8_t product = 0;
    for (; b != 0; b >>= 1, a = times_x(a))
        if (b & 1)
            product ^= a;
    return product;
}

static uint8_t rotate_byte(uint8_t value, int count)
{
    return (uint8_t)(value << count | value >> (8 - count));
}

static uint32_t rotate(uint32_t word, int count)
{
    return count == 0 ? word : word >> count | word << (32 - count);
}

static uint32_t join(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return (uint32_t)a << 24 | (uint32_t)b << 16 | (uint32_t)c << 8 | d;
}

static void make_sboxes(void)
{
    uint8_t power = 1, inverse = 1;

    /* 3 generates the field's units and 0xf6 is its inverse, so the pair walks over all inverses. */
    do {
        power = multiply(power, 3);
        inverse = multiply(inverse, 0xf6);
        sbox[power] = (uint8_t)(inverse ^ rotate_byte(inverse, 1) ^ rotate_byte(inverse, 2) ^
                                rotate_byte(inverse, 3) ^ rotate_byte(inverse, 4) ^ 0x63);
    } while (power != 1);
    sbox[0] = 0x63;
    for (int i = 0; i < 256; i++)
        inverse_sbox[sbox[i]] = (uint8_t)i;
}

static void make_tables(void)
{
    make_sboxes();
    for (int i = 0; i < 256; i++) {
        uint8_t s = sbox[i], t = inverse_sbox[i];
        uint32_t out = join(multiply(s, 2), s, s, multiply(s, 3));
        uint32_t in = join(multiply(t, 14), multiply(t, 9), multiply(t, 13), multiply(t, 11));
        for (int row = 0; row < 4; row++) {
            forward[row][i] = rotate(out, 8 * row);
            backward[row][i] = rotate(in, 8 * row);
        }
    }
}

static uint32_t substitute(uint32_t word)
{
    return join(sbox[word >> 24], sbox[word >> 16 & 0xff], sbox[word >> 8 & 0xff], sbox[word & 0xff]);
}

static uint32_t unmix(uint32_t word)
{
    return backward[0][sbox[word >> 24]] ^ backward[1][sbox[word >> 16 & 0xff]] ^
           backward[2][sbox[word >> 8 & 0xff]] ^ backward[3][sbox[word & 0xff]];
}

static uint32_t load(const uint8_t *bytes)
{
    return join(bytes[0], bytes[1], bytes[2], bytes[3]);
}

static void store(uint8_t *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

static void expand_key(uint32_t *schedule, int words, const uint8_t *key, int key_words)
{
    uint8_t constant = 1;

    for (int i = 0; i < key_words; i++)
        schedule[i] = load(key + 4 * i);
    for (int i = key_words; i < words; i++) {
        uint32_t last = schedule[i - 1];
        if (i % key_words == 0) {
            last = substitute(rotate(last, 24)) ^ (uint32_t)constant << 24;
            constant = times_x(constant);
        } else if (key_words > 6 && i % key_words == 4) {
            last = substitute(last);
        }
        schedule[i] = schedule[i - key_words] ^ last;
    }
}

void cipher_set_key(Cipher *cipher, int block_words, const uint8_t *key, int key_words)
{
    if (sbox[0] == 0)
        make_tables();
    cipher->block_words = block_words;
    cipher->rounds = (block_words > key_words ? block_words : key_words) + 6;
    expand_key(cipher->encipher, (cipher->rounds + 1) * block_words, key, key_words);
    /* Deciphering takes the rounds backwards, with the inner keys unmixed to suit its tables. */
    for (int round = 0; round <= cipher->rounds; round++)
        for (int i = 0; i < block_words; i++) {
            uint32_t word = cipher->encipher[(cipher->rounds - round) * block_words + i];
            int inner = round > 0 && round < cipher->rounds;
            cipher->decipher[round * block_words + i] = inner ? unmix(word) : word;
        }
}

/* The common block of 128 bits, with the state in four variables. */
static void run_four_words(const uint32_t *key, int rounds, uint32_t state[4], uint32_t tables[4][256],
                           const uint8_t *box, int turn)
{
    uint32_t a = state[0] ^ key[0], b = state[1] ^ key[1], c = state[2] ^ key[2], d = state[3] ^ key[3];
    const uint32_t *t0 = tables[0], *t1 = tables[1], *t2 = tables[2], *t3 = tables[3];

    for (int round = 1; round < rounds; round++) {
        key += 4;
        /* Enciphering shifts rows to the left and deciphering to the right: b and d change roles. */
        uint32_t next = turn ? d : b, last = turn ? b : d;
        uint32_t new_a = t0[a >> 24] ^ t1[next >> 16 & 0xff] ^ t2[c >> 8 & 0xff] ^ t3[last & 0xff] ^ key[0];
        uint32_t new_c = t0[c >> 24] ^ t1[last >> 16 & 0xff] ^ t2[a >> 8 & 0xff] ^ t3[next & 0xff] ^ key[2];
        uint32_t for_b = turn ? a : c, for_d = turn ? c : a;
        uint32_t new_b = t0[b >> 24] ^ t1[for_b >> 16 & 0xff] ^ t2[d >> 8 & 0xff] ^ t3[for_d & 0xff] ^ key[1];
        uint32_t new_d = t0[d >> 24] ^ t1[for_d >> 16 & 0xff] ^ t2[b >> 8 & 0xff] ^ t3[for_b & 0xff] ^ key[3];
        a = new_a;
        b = new_b;
        c = new_c;
        d = new_d;
    }
    key += 4;
    uint32_t old[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++) {
        int second = turn ? i + 3 : i + 1, fourth = turn ? i + 1 : i + 3;
        state[i] = key[i] ^ join(box[old[i] >> 24], box[old[second % 4] >> 16 & 0xff],
                                 box[old[(i + 2) % 4] >> 8 & 0xff], box[old[fourth % 4] & 0xff]);
    }
}

/* Any block: row r of column i comes from the column `from[r]` places on. */
static void run_words(const Cipher *cipher, const uint32_t *key, uint32_t *state, uint32_t tables[4][256],
                      const uint8_t *box, const int from[4])
{
    int words = cipher->block_words;
    uint32_t old[MOST_WORDS];

    for (int i = 0; i < words; i++)
        state[i] ^= key[i];
    for (int round = 1; round <= cipher->rounds; round++) {
        key += words;
        memcpy(old, state, sizeof old);
        for (int i = 0; i < words; i++) {
            uint32_t w0 = old[i], w1 = old[(i + from[1]) % words];
            uint32_t w2 = old[(i + from[2]) % words], w3 = old[(i + from[3]) % words];
            if (round < cipher->rounds)
                state[i] = tables[0][w0 >> 24] ^ tables[1][w1 >> 16 & 0xff] ^ tables[2][w2 >> 8 & 0xff] ^
                           tables[3][w3 & 0xff];
            else
                state[i] = join(box[w0 >> 24], box[w1 >> 16 & 0xff], box[w2 >> 8 & 0xff], box[w3 & 0xff]);
            state[i] ^= key[i];
        }
    }
}

static void run(const Cipher *cipher, const uint8_t *input, uint8_t *output, int deciphering)
{
    int words = cipher->block_words, wide = words == MOST_WORDS;
    const uint32_t *key = deciphering ? cipher->decipher : cipher->encipher;
    uint32_t (*tables)[256] = deciphering ? backward : forward;
    const uint8_t *box = deciphering ? inverse_sbox : sbox;
    uint32_t state[MOST_WORDS] = {0};

    for (int i = 0; i < words; i++)
        state[i] = load(input + 4 * i);
    if (words == 4) {
        run_four_words(key, cipher->rounds, state, tables, box, deciphering);
    } else {
        int from[4] = {0, 1, wide ? 3 : 2, wide ? 4 : 3};
        for (int row = 1; row < 4 && deciphering; row++)
            from[row] = words - from[row];
        run_words(cipher, key, state, tables, box, from);
    }
    for (int i = 0; i < words; i++)
        store(output + 4 * i, state[i]);
}

void cipher_encipher(const Cipher *cipher, const uint8_t *input, uint8_t *output)
{
    run(cipher, input, output, 0);
}

void cipher_decipher(const Cipher *cipher, const uint8_t *input, uint8_t *output)
{
    run(cipher, input, output, 1);
}
