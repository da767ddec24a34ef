/* SPDX-License-Identifier: MIT */
/* Prints the SHA-1 digest of files, or checks files against a list of such digests. The digest is
 * that of FIPS 180-4; the list has sha1sum's form, a digest, two characters and a name per line.
 * With -n N the digest is strengthened: each round after the first hashes the digest of the round
 * before followed by the file, as a key is stretched. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64, DIGEST_BYTES = 20, LINE_BYTES = 4096 };

typedef struct {
    uint32_t state[5];
    uint64_t length;
    size_t filled;
    uint8_t block[BLOCK_BYTES];
} Sha1;

static uint32_t rotate(uint32_t word, int count)
{
    return (word << count) | (word >> (32 - count));
}

static uint32_t load_word(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void store_word(uint8_t *bytes, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(word >> (24 - 8 * i));
}

static void expand(const uint8_t *block, uint32_t schedule[80])
{
    for (int t = 0; t < 16; t++)
        schedule[t] = load_word(block + 4 * t);
    for (int t = 16; t < 80; t++)
        schedule[t] = rotate(schedule[t - 3] ^ schedule[t - 8] ^ schedule[t - 14] ^ schedule[t - 16], 1);
}

static uint32_t choose(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) ^ (~x & z);
}

static uint32_t parity(uint32_t x, uint32_t y, uint32_t z)
{
    return x ^ y ^ z;
}

static uint32_t majority(uint32_t x, uint32_t y, uint32_t z)
{
    return (x & y) ^ (x & z) ^ (y & z);
}

static void compress(Sha1 *sha, const uint8_t *block)
{
    uint32_t schedule[80];
    uint32_t a = sha->state[0], b = sha->state[1], c = sha->state[2], d = sha->state[3], e = sha->state[4];

    expand(block, schedule);
    for (int t = 0; t < 80; t++) {
        uint32_t mixed, constant;
        if (t < 20) {
            mixed = choose(b, c, d);
            constant = 0x5a827999;
        } else if (t < 40) {
            mixed = parity(b, c, d);
            constant = 0x6ed9eba1;
        } else if (t < 60) {
            mixed = majority(b, c, d);
            constant = 0x8f1bbcdc;
        } else {
            mixed = parity(b, c, d);
            constant = 0xca62c1d6;
        }
        uint32_t next = rotate(a, 5) + mixed + e + constant + schedule[t];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    sha->state[0] += a;
    sha->state[1] += b;
    sha->state[2] += c;
    sha->state[3] += d;
    sha->state[4] += e;
}

static void start(Sha1 *sha)
{
    static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    memcpy(sha->state, initial, sizeof initial);
    sha->length = 0;
    sha->filled = 0;
}

static void update(Sha1 *sha, const uint8_t *bytes, size_t count)
{
    sha->length += count;
    if (sha->filled > 0) {
        size_t part = BLOCK_BYTES - sha->filled < count ? BLOCK_BYTES - sha->filled : count;
        memcpy(sha->block + sha->filled, bytes, part);
        sha->filled += part;
        bytes += part;
        count -= part;
        if (sha->filled < BLOCK_BYTES)
            return;
        compress(sha, sha->block);
        sha->filled = 0;
    }
    for (; count >= BLOCK_BYTES; bytes += BLOCK_BYTES, count -= BLOCK_BYTES)
        compress(sha, bytes);
    if (count > 0)
        memcpy(sha->block, bytes, count);
    sha->filled = count;
}

static void finish(Sha1 *sha, uint8_t digest[DIGEST_BYTES])
{
    uint64_t bits = sha->length * 8;
    sha->block[sha->filled++] = 0x80;
    if (sha->filled > BLOCK_BYTES - 8) {
        memset(sha->block + sha->filled, 0, BLOCK_BYTES - sha->filled);
        compress(sha, sha->block);
        sha->filled = 0;
    }
    memset(sha->block + sha->filled, 0, BLOCK_BYTES - 8 - sha->filled);
    store_word(sha->block + BLOCK_BYTES - 8, (uint32_t)(bits >> 32));
    store_word(sha->block + BLOCK_BYTES - 4, (uint32_t)bits);
    compress(sha, sha->block);
    for (int i = 0; i < 5; i++)
        store_word(digest + 4 * i, sha->state[i]);
}

static FILE *open_input(const char *name)
{
    return strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
}

static int digest_round(FILE *file, int round, uint8_t digest[DIGEST_BYTES])
{
    static uint8_t buffer[1 << 14];
    Sha1 sha;
    size_t count;

    start(&sha);
    if (round > 0)
        update(&sha, digest, DIGEST_BYTES);
    while ((count = fread(buffer, 1, sizeof buffer, file)) > 0)
        update(&sha, buffer, count);
    finish(&sha, digest);
    return ferror(file) ? -1 : 0;
}

static int digest_file(const char *name, int rounds, uint8_t digest[DIGEST_BYTES])
{
    FILE *file = open_input(name);
    int failed = file == NULL;

    for (int round = 0; round < rounds && !failed; round++) {
        if (round > 0 && fseek(file, 0, SEEK_SET) != 0)
            failed = 1;
        else
            failed = digest_round(file, round, digest) != 0;
    }
    if (failed)
        fprintf(stderr, "sha: %s: %s\n", name, strerror(errno));
    if (file != NULL && file != stdin)
        fclose(file);
    return failed ? -1 : 0;
}

static void to_hex(const uint8_t digest[DIGEST_BYTES], char text[2 * DIGEST_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < DIGEST_BYTES; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[2 * DIGEST_BYTES] = '\0';
}

static int print_digest(const char *name, int rounds)
{
    uint8_t digest[DIGEST_BYTES];
    char text[2 * DIGEST_BYTES + 1];

    if (digest_file(name, rounds, digest) != 0)
        return 1;
    to_hex(digest, text);
    printf("%s  %s\n", text, name);
    return 0;
}

static int is_hex_digest(const char *line)
{
    for (int i = 0; i < 2 * DIGEST_BYTES; i++) {
        int digit = (line[i] >= '0' && line[i] <= '9') || (line[i] >= 'a' && line[i] <= 'f');
        if (!digit)
            return 0;
    }
    return line[2 * DIGEST_BYTES] == ' ' && (line[2 * DIGEST_BYTES + 1] == ' ' || line[2 * DIGEST_BYTES + 1] == '*');
}

/* Returns 1 for a file that is missing or differs, 2 for a line that is no entry, 0 otherwise. */
static int check_line(char *line, int rounds)
{
    uint8_t digest[DIGEST_BYTES];
    char text[2 * DIGEST_BYTES + 1];

    line[strcspn(line, "\n")] = '\0';
    if (!is_hex_digest(line) || line[2 * DIGEST_BYTES + 2] == '\0')
        return 2;
    const char *name = line + 2 * DIGEST_BYTES + 2;
    if (digest_file(name, rounds, digest) != 0) {
        printf("%s: FAILED open or read\n", name);
        return 1;
    }
    to_hex(digest, text);
    int equal = memcmp(text, line, 2 * DIGEST_BYTES) == 0;
    printf("%s: %s\n", name, equal ? "OK" : "FAILED");
    return equal ? 0 : 1;
}

static int check_list(const char *name, int rounds)
{
    FILE *list = open_input(name);
    char line[LINE_BYTES];
    int seen[3] = {0, 0, 0};

    if (list == NULL) {
        fprintf(stderr, "sha: %s: %s\n", name, strerror(errno));
        return 1;
    }
    while (fgets(line, sizeof line, list) != NULL)
        seen[check_line(line, rounds)]++;
    if (list != stdin)
        fclose(list);
    if (seen[2] > 0)
        fprintf(stderr, "sha: %d lines of %s are no entries\n", seen[2], name);
    if (seen[0] + seen[1] == 0)
        fprintf(stderr, "sha: %s holds no entry\n", name);
    return seen[1] > 0 || seen[0] + seen[1] == 0;
}

static int usage(void)
{
    fputs("usage: sha [-n ROUNDS] FILE...     print digests; - is standard input\n"
          "       sha [-n ROUNDS] -c LIST...  check the files that LIST names\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    int rounds = 1, checking = 0, failed = 0, at = 1;

    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        if (strcmp(argv[at], "-c") == 0) {
            checking = 1;
        } else if (strcmp(argv[at], "-n") == 0 && at + 1 < argc) {
            char *end;
            long value = strtol(argv[++at], &end, 10);
            if (*end != '\0' || value < 1 || value > 1000000)
                return usage();
            rounds = (int)value;
        } else {
            return usage();
        }
    }
    if (at == argc)
        return usage();
    for (; at < argc; at++)
        failed |= checking ? check_list(argv[at], rounds) : print_digest(argv[at], rounds);
    return fflush(stdout) != 0 || failed;
}
