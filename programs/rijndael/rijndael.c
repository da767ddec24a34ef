/* SPDX-License-Identifier: MIT */
/* Enciphers and deciphers files with Rijndael, the cipher of FIPS 197 (AES) and, with blocks of 192
 * or 256 bits, of J. Daemen and V. Rijmen's proposal "AES Proposal: Rijndael" (1999). Blocks are
 * chained as NIST SP 800-38A has it: ECB and CBC with PKCS #7 padding, CFB with whole blocks of
 * feedback, and CTR. With -n N the data pass through the cipher N times over; padding is added once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cipher.h"

enum { MOST_KEY_BYTES = 32, STATUS_BAD_DATA = 3 };

typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t room;
} Buffer;

typedef enum { MODE_CBC, MODE_ECB, MODE_CFB, MODE_CTR } Mode;

typedef struct {
    Mode mode;
    int deciphering;
    int passes;
    size_t block;
    uint8_t key[MOST_KEY_BYTES];
    size_t key_bytes;
    uint8_t vector[MOST_BLOCK_BYTES];
    size_t vector_bytes;
    const char *input;
    const char *output;
} Options;

static void mask(uint8_t *bytes, const uint8_t *with, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] ^= with[i];
}

static void run_ecb(const Cipher *cipher, const Options *options, Buffer *data)
{
    for (size_t at = 0; at < data->count; at += options->block) {
        if (options->deciphering)
            cipher_decipher(cipher, data->bytes + at, data->bytes + at);
        else
            cipher_encipher(cipher, data->bytes + at, data->bytes + at);
    }
}

static void run_cbc(const Cipher *cipher, const Options *options, Buffer *data)
{
    uint8_t last[MOST_BLOCK_BYTES], next[MOST_BLOCK_BYTES];

    memcpy(last, options->vector, options->block);
    for (size_t at = 0; at < data->count; at += options->block) {
        uint8_t *block = data->bytes + at;
        if (options->deciphering) {
            memcpy(next, block, options->block);
            cipher_decipher(cipher, block, block);
            mask(block, last, options->block);
            memcpy(last, next, options->block);
        } else {
            mask(block, last, options->block);
            cipher_encipher(cipher, block, block);
            memcpy(last, block, options->block);
        }
    }
}

static void run_cfb(const Cipher *cipher, const Options *options, Buffer *data)
{
    uint8_t last[MOST_BLOCK_BYTES], stream[MOST_BLOCK_BYTES];

    memcpy(last, options->vector, options->block);
    for (size_t at = 0; at < data->count; at += options->block) {
        size_t left = data->count - at, count = left < options->block ? left : options->block;
        cipher_encipher(cipher, last, stream);
        if (options->deciphering)
            memcpy(last, data->bytes + at, count);
        mask(data->bytes + at, stream, count);
        if (!options->deciphering)
            memcpy(last, data->bytes + at, count);
    }
}

static void increment(uint8_t *counter, size_t count)
{
    while (count-- > 0 && ++counter[count] == 0)
        continue;
}

static void run_ctr(const Cipher *cipher, const Options *options, Buffer *data)
{
    uint8_t counter[MOST_BLOCK_BYTES], stream[MOST_BLOCK_BYTES];

    memcpy(counter, options->vector, options->block);
    for (size_t at = 0; at < data->count; at += options->block) {
        size_t left = data->count - at;
        cipher_encipher(cipher, counter, stream);
        mask(data->bytes + at, stream, left < options->block ? left : options->block);
        increment(counter, options->block);
    }
}

static int reserve(Buffer *data, size_t room)
{
    if (room <= data->room)
        return 0;
    uint8_t *moved = realloc(data->bytes, room);
    if (moved == NULL)
        return -1;
    data->bytes = moved;
    data->room = room;
    return 0;
}

static int pad(Buffer *data, size_t block)
{
    size_t padding = block - data->count % block;
    if (reserve(data, data->count + padding) != 0)
        return -1;
    memset(data->bytes + data->count, (int)padding, padding);
    data->count += padding;
    return 0;
}

static int strip_padding(Buffer *data, size_t block)
{
    uint8_t padding = data->bytes[data->count - 1];
    if (padding < 1 || padding > block)
        return -1;
    for (size_t i = data->count - padding; i < data->count; i++)
        if (data->bytes[i] != padding)
            return -1;
    data->count -= padding;
    return 0;
}

static int transform(const Options *options, Buffer *data)
{
    static void (*const run[])(const Cipher *, const Options *, Buffer *) = {run_cbc, run_ecb, run_cfb, run_ctr};
    int padded = options->mode == MODE_CBC || options->mode == MODE_ECB;
    Cipher cipher;

    if (padded && options->deciphering && (data->count == 0 || data->count % options->block != 0)) {
        fprintf(stderr, "rijndael: %s: not a whole number of blocks\n", options->input);
        return STATUS_BAD_DATA;
    }
    if (padded && !options->deciphering && pad(data, options->block) != 0) {
        fputs("rijndael: out of memory\n", stderr);
        return 1;
    }
    cipher_set_key(&cipher, (int)options->block / 4, options->key, (int)options->key_bytes / 4);
    for (int pass = 0; pass < options->passes; pass++)
        run[options->mode](&cipher, options, data);
    if (padded && options->deciphering && strip_padding(data, options->block) != 0) {
        fprintf(stderr, "rijndael: %s: wrong key or damaged data\n", options->input);
        return STATUS_BAD_DATA;
    }
    return 0;
}

static int read_file(const char *name, Buffer *data)
{
    FILE *file = fopen(name, "rb");
    int failed = file == NULL;

    while (!failed && !feof(file)) {
        if (data->count == data->room && reserve(data, data->room == 0 ? 1 << 14 : 2 * data->room) != 0) {
            failed = 1;
            break;
        }
        data->count += fread(data->bytes + data->count, 1, data->room - data->count, file);
        failed = ferror(file) != 0;
    }
    if (failed)
        fprintf(stderr, "rijndael: %s: %s\n", name, strerror(errno));
    if (file != NULL)
        fclose(file);
    return failed ? -1 : 0;
}

static int write_file(const char *name, const Buffer *data)
{
    FILE *file = fopen(name, "wb");
    int failed = file == NULL;

    if (!failed && data->count > 0)
        failed = fwrite(data->bytes, 1, data->count, file) != data->count;
    if (file != NULL && fclose(file) != 0)
        failed = 1;
    if (failed)
        fprintf(stderr, "rijndael: %s: %s\n", name, strerror(errno));
    return failed ? -1 : 0;
}

static int hex_digit(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* Returns how many bytes `text` spells, or 0 if it is not hexadecimal or does not fit. */
static size_t parse_hex(const char *text, uint8_t *bytes, size_t most)
{
    size_t length = strlen(text);
    if (length % 2 != 0 || length / 2 > most)
        return 0;
    for (size_t i = 0; i < length; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0)
            return 0;
        bytes[i / 2] = (uint8_t)(high << 4 | low);
    }
    return length / 2;
}

static int parse_mode(const char *text, Mode *mode)
{
    static const char *const names[] = {"cbc", "ecb", "cfb", "ctr"};
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0) {
            *mode = (Mode)i;
            return 0;
        }
    return -1;
}

static int is_size(size_t bytes)
{
    return bytes == 16 || bytes == 24 || bytes == 32;
}

static int parse_value(char letter, const char *text, Options *options)
{
    switch (letter) {
    case 'm':
        return parse_mode(text, &options->mode);
    case 'k':
        options->key_bytes = parse_hex(text, options->key, MOST_KEY_BYTES);
        return is_size(options->key_bytes) ? 0 : -1;
    case 'i':
        options->vector_bytes = parse_hex(text, options->vector, MOST_BLOCK_BYTES);
        return options->vector_bytes > 0 ? 0 : -1;
    case 'b':
        options->block = (size_t)atoi(text) / 8;
        return atoi(text) % 8 == 0 && is_size(options->block) ? 0 : -1;
    case 'n':
        options->passes = atoi(text);
        return options->passes > 0 ? 0 : -1;
    default:
        return -1;
    }
}

static int parse_options(int argc, char **argv, Options *options)
{
    int at = 1;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strlen(argv[at]) != 2)
            return -1;
        if (argv[at][1] == 'd')
            options->deciphering = 1;
        else if (++at == argc || parse_value(argv[at - 1][1], argv[at], options) != 0)
            return -1;
    }
    if (at + 2 != argc || options->key_bytes == 0)
        return -1;
    if (options->vector_bytes != 0 && options->vector_bytes != options->block)
        return -1;
    options->input = argv[at];
    options->output = argv[at + 1];
    return 0;
}

int main(int argc, char **argv)
{
    Options options = {.mode = MODE_CBC, .passes = 1, .block = 16};
    Buffer data = {NULL, 0, 0};

    if (parse_options(argc, argv, &options) != 0) {
        fputs("usage: rijndael [-d] [-m cbc|ecb|cfb|ctr] [-b 128|192|256] [-n PASSES] [-i VECTOR]\n"
              "                -k KEY INPUT OUTPUT\n"
              "  KEY of 16, 24 or 32 bytes and VECTOR, a block, are hexadecimal; -d deciphers\n",
              stderr);
        return 2;
    }
    int status = read_file(options.input, &data) != 0;
    if (status == 0)
        status = transform(&options, &data);
    if (status == 0)
        status = write_file(options.output, &data) != 0;
    free(data.bytes);
    return status;
}
