/* SPDX-License-Identifier: MIT */
/* The Rijndael block cipher: blocks and keys of 128, 192 or 256 bits, chosen independently. */
#ifndef RIJNDAEL_CIPHER_H
#define RIJNDAEL_CIPHER_H

#include <stdint.h>

enum { MOST_WORDS = 8, MOST_ROUNDS = 14, MOST_BLOCK_BYTES = 4 * MOST_WORDS };

typedef struct {
    int block_words;
    int rounds;
    uint32_t encipher[(MOST_ROUNDS + 1) * MOST_WORDS];
    uint32_t decipher[(MOST_ROUNDS + 1) * MOST_WORDS];
} Cipher;

/* Sets up both key schedules. Counts are in words of 32 bits: 4, 6 or 8. */
void cipher_set_key(Cipher *cipher, int block_words, const uint8_t *key, int key_words);

void cipher_encipher(const Cipher *cipher, const uint8_t *input, uint8_t *output);
void cipher_decipher(const Cipher *cipher, const uint8_t *input, uint8_t *output);

#endif
