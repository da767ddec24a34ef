/* SPDX-License-Identifier: MIT */
/* Enciphers and deciphers files with Blowfish, by Bruce Schneier's description of 1993: a Feistel
 * network of 16 rounds on 64-bit blocks, with subkeys and substitution boxes that are made from the
 * digits of pi and the key. Blocks are chained by CFB with 64 bits of feedback, by CBC with PKCS #7
 * padding, or not at all (ECB, padded alike). With -n N the data pass through the cipher N times
 * over; padding is added once. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pi.h"

enum {
    ROUNDS = 16,
    BLOCK_BYTES = 8,
    LEAST_KEY_BYTES = 4,
    MOST_KEY_BYTES = 56,
    STATUS_BAD_DATA = 3,
};

typedef struct {
    uint32_t subkeys[ROUNDS + 2];
    uint32_t boxes[4][256];
} Schedule;

typedef struct {
    uint8_t *bytes;
    size_t count;
    size_t room;
} Buffer;

typedef enum { MODE_CFB, MODE_CBC, MODE_ECB } Mode;

typedef struct {
    Mode mode;
    int deciphering;
    int passes;
    uint8_t key[MOST_KEY_BYTES];
    size_t key_bytes;
    uint8_t vector[BLOCK_BYTES];
    const char *input;
    const char *output;
} Options;

static uint32_t mix(const Schedule *schedule, uint32_t half)
{
    uint32_t sum = schedule->boxes[0][half >> 24] + schedule->boxes[1][half >> 16 & 0xff];
    return (sum ^ schedule->boxes[2][half >> 8 & 0xff]) + schedule->boxes[3][half & 0xff];
}

static void encipher_halves(const Schedule *schedule, uint32_t halves[2])
{
    uint32_t left = halves[0], right = halves[1];
    for (int round = 0; round < ROUNDS; round += 2) {
        left ^= schedule->subkeys[round];
        right ^= mix(schedule, left) ^ schedule->subkeys[round + 1];
        left ^= mix(schedule, right);
    }
    halves[0] = right ^ schedule->subkeys[ROUNDS + 1];
    halves[1] = left ^ schedule->subkeys[ROUNDS];
}

static void decipher_halves(const Schedule *schedule, uint32_t halves[2])
{
    uint32_t left = halves[0], right = halves[1];
    for (int round = ROUNDS; round > 0; round -= 2) {
        left ^= schedule->subkeys[round + 1];
        right ^= mix(schedule, left) ^ schedule->subkeys[round];
        left ^= mix(schedule, right);
    }
    halves[0] = right ^ schedule->subkeys[0];
    halves[1] = left ^ schedule->subkeys[1];
}

static void set_key(Schedule *schedule, const uint8_t *key, size_t key_bytes)
{
    uint32_t halves[2] = {0, 0};
    size_t at = 0;

    memcpy(schedule->boxes, pi_boxes, sizeof schedule->boxes);
    for (int i = 0; i < ROUNDS + 2; i++) {
        uint32_t word = 0;
        for (int byte = 0; byte < 4; byte++, at = (at + 1) % key_bytes)
            word = word << 8 | key[at];
        schedule->subkeys[i] = pi_subkeys[i] ^ word;
    }
    for (int i = 0; i < ROUNDS + 2; i += 2) {
        encipher_halves(schedule, halves);
        schedule->subkeys[i] = halves[0];
        schedule->subkeys[i + 1] = halves[1];
    }
    for (int box = 0; box < 4; box++)
        for (int i = 0; i < 256; i += 2) {
            encipher_halves(schedule, halves);
            schedule->boxes[box][i] = halves[0];
            schedule->boxes[box][i + 1] = halves[1];
        }
}

static void load_block(const uint8_t *bytes, uint32_t halves[2])
{
    for (int i = 0; i < 2; i++)
        halves[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
                    (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
}

static void store_block(uint8_t *bytes, const uint32_t halves[2])
{
    for (int i = 0; i < BLOCK_BYTES; i++)
        bytes[i] = (uint8_t)(halves[i / 4] >> (24 - 8 * (i % 4)));
}

/* CFB never deciphers a block: both directions encipher the last ciphertext for a key stream. */
static void run_cfb(const Schedule *schedule, const Options *options, Buffer *data)
{
    uint8_t stream[BLOCK_BYTES];
    uint32_t halves[2];

    memcpy(stream, options->vector, sizeof stream);
    for (size_t i = 0; i < data->count; i++) {
        size_t at = i % BLOCK_BYTES;
        if (at == 0) {
            load_block(stream, halves);
            encipher_halves(schedule, halves);
            store_block(stream, halves);
        }
        uint8_t input = data->bytes[i];
        data->bytes[i] = input ^ stream[at];
        stream[at] = options->deciphering ? input : data->bytes[i];
    }
}

static void encipher_blocks(const Schedule *schedule, const Options *options, Buffer *data)
{
    uint32_t halves[2], last[2];

    load_block(options->vector, last);
    for (size_t i = 0; i < data->count; i += BLOCK_BYTES) {
        load_block(data->bytes + i, halves);
        if (options->mode == MODE_CBC) {
            halves[0] ^= last[0];
            halves[1] ^= last[1];
        }
        encipher_halves(schedule, halves);
        memcpy(last, halves, sizeof last);
        store_block(data->bytes + i, halves);
    }
}

static void decipher_blocks(const Schedule *schedule, const Options *options, Buffer *data)
{
    uint32_t halves[2], last[2], next[2];

    load_block(options->vector, last);
    for (size_t i = 0; i < data->count; i += BLOCK_BYTES) {
        load_block(data->bytes + i, halves);
        memcpy(next, halves, sizeof next);
        decipher_halves(schedule, halves);
        if (options->mode == MODE_CBC) {
            halves[0] ^= last[0];
            halves[1] ^= last[1];
        }
        memcpy(last, next, sizeof last);
        store_block(data->bytes + i, halves);
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

static int pad(Buffer *data)
{
    size_t padding = BLOCK_BYTES - data->count % BLOCK_BYTES;
    if (reserve(data, data->count + padding) != 0)
        return -1;
    memset(data->bytes + data->count, (int)padding, padding);
    data->count += padding;
    return 0;
}

static int strip_padding(Buffer *data)
{
    uint8_t padding = data->bytes[data->count - 1];
    if (padding < 1 || padding > BLOCK_BYTES)
        return -1;
    for (size_t i = data->count - padding; i < data->count; i++)
        if (data->bytes[i] != padding)
            return -1;
    data->count -= padding;
    return 0;
}

static void run_passes(const Schedule *schedule, const Options *options, Buffer *data)
{
    for (int pass = 0; pass < options->passes; pass++) {
        if (options->mode == MODE_CFB)
            run_cfb(schedule, options, data);
        else if (options->deciphering)
            decipher_blocks(schedule, options, data);
        else
            encipher_blocks(schedule, options, data);
    }
}

static int transform(const Options *options, Buffer *data)
{
    Schedule schedule;
    int padded = options->mode != MODE_CFB;

    if (padded && options->deciphering && (data->count == 0 || data->count % BLOCK_BYTES != 0)) {
        fprintf(stderr, "blowfish: %s: not a whole number of blocks\n", options->input);
        return STATUS_BAD_DATA;
    }
    if (padded && !options->deciphering && pad(data) != 0) {
        fputs("blowfish: out of memory\n", stderr);
        return 1;
    }
    set_key(&schedule, options->key, options->key_bytes);
    run_passes(&schedule, options, data);
    if (padded && options->deciphering && strip_padding(data) != 0) {
        fprintf(stderr, "blowfish: %s: wrong key or damaged data\n", options->input);
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
        fprintf(stderr, "blowfish: %s: %s\n", name, strerror(errno));
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
        fprintf(stderr, "blowfish: %s: %s\n", name, strerror(errno));
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
    static const char *const names[] = {"cfb", "cbc", "ecb"};
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *mode = (Mode)i;
            return 0;
        }
    return -1;
}

static int parse_value(char letter, const char *text, Options *options)
{
    char *end;
    long number;

    switch (letter) {
    case 'm':
        return parse_mode(text, &options->mode);
    case 'k':
        options->key_bytes = parse_hex(text, options->key, MOST_KEY_BYTES);
        return options->key_bytes >= LEAST_KEY_BYTES ? 0 : -1;
    case 'i':
        return parse_hex(text, options->vector, BLOCK_BYTES) == BLOCK_BYTES ? 0 : -1;
    case 'n':
        number = strtol(text, &end, 10);
        if (*end != '\0' || number < 1 || number > 1000000)
            return -1;
        options->passes = (int)number;
        return 0;
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
    options->input = argv[at];
    options->output = argv[at + 1];
    return 0;
}

int main(int argc, char **argv)
{
    Options options = {.mode = MODE_CFB, .passes = 1};
    Buffer data = {NULL, 0, 0};

    if (parse_options(argc, argv, &options) != 0) {
        fputs("usage: blowfish [-d] [-m cfb|cbc|ecb] [-n PASSES] [-i VECTOR] -k KEY INPUT OUTPUT\n"
              "  KEY of 4 to 56 bytes and VECTOR of 8 bytes are hexadecimal; -d deciphers\n",
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
