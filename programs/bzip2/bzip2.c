/* SPDX-License-Identifier: MIT */
/* Compresses and decompresses files in the bzip2 format: run-length coding, the Burrows-Wheeler
   transform of blocks of up to 900,000 bytes, move to front, and up to six Huffman tables per block,
   with a CRC per block and per stream. The format is the one that Julian Seward's bzip2 1.0 documents
   by its manual and that "The bzip2 format specification" describes; streams of either program are
   read by the other. Blocks "randomised" by version 0.9.0 and older are refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bzip2.h"

enum { DEFAULT_EFFORT = 10 };

typedef enum { JOB_COMPRESS, JOB_DECOMPRESS, JOB_TEST, JOB_RECOVER } Job;

typedef struct {
    Job job;
    int verbose;
    int keep_partial;
    CompressOptions compress;
    DecompressOptions decompress;
    const char *input;
    const char *output;
} Options;

static void usage(void)
{
    fputs("usage: bzip2 [-zdtr] [-1..-9] [-skv] [--sort=auto|main|fallback] [--effort=N]\n"
          "             INPUT [OUTPUT]\n"
          "  -z compress (default)   -d decompress   -t test   -r recover blocks\n"
          "  -1 .. -9 block size in 100,000 bytes    -s use less memory to decompress\n"
          "  -k keep partial output after an error   -v report on what was done\n",
          stderr);
}

static int parse_long(const char *text, Options *options)
{
    if (strcmp(text, "--best") == 0)
        options->compress.level = MAX_LEVEL;
    else if (strcmp(text, "--fast") == 0)
        options->compress.level = 1;
    else if (strcmp(text, "--sort=auto") == 0)
        options->compress.sort = SORT_AUTO;
    else if (strcmp(text, "--sort=main") == 0)
        options->compress.sort = SORT_MAIN;
    else if (strcmp(text, "--sort=fallback") == 0)
        options->compress.sort = SORT_FALLBACK;
    else if (strncmp(text, "--effort=", 9) == 0) {
        char *end;
        long effort = strtol(text + 9, &end, 10);
        if (end == text + 9 || *end != '\0' || effort < 0 || effort > 1000)
            return -1;
        options->compress.effort = (int)effort;
    } else
        return -1;
    return 0;
}

static int parse_letters(const char *text, Options *options)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case 'z': options->job = JOB_COMPRESS; break;
        case 'd': options->job = JOB_DECOMPRESS; break;
        case 't': options->job = JOB_TEST; break;
        case 'r': options->job = JOB_RECOVER; break;
        case 's': options->decompress.small = 1; break;
        case 'k': options->keep_partial = 1; break;
        case 'v': options->verbose = 1; break;
        default:
            if (*text < '1' || *text > '9')
                return -1;
            options->compress.level = *text - '0';
        }
    }
    return 0;
}

static int parse_options(int argc, char **argv, Options *options)
{
    int plain = 0;

    memset(options, 0, sizeof *options);
    options->job = JOB_COMPRESS;
    options->compress.level = MAX_LEVEL;
    options->compress.effort = DEFAULT_EFFORT;
    options->compress.sort = SORT_AUTO;
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i];
        int bad = 0;
        if (!plain && strcmp(text, "--") == 0)
            plain = 1;
        else if (!plain && strncmp(text, "--", 2) == 0)
            bad = parse_long(text, options);
        else if (!plain && text[0] == '-' && text[1] != '\0')
            bad = parse_letters(text + 1, options);
        else if (options->input == NULL)
            options->input = text;
        else if (options->output == NULL)
            options->output = text;
        else
            bad = 1;
        if (bad) {
            fprintf(stderr, "bzip2: cannot use argument '%s'\n", text);
            return -1;
        }
    }
    if (options->input == NULL) {
        fputs("bzip2: no input file\n", stderr);
        return -1;
    }
    return 0;
}

static void print_ratio(FILE *to, uint64_t plain, uint64_t packed)
{
    uint64_t percent = plain == 0 ? 0 : (packed * 10000 + plain / 2) / plain;
    fprintf(to, "%llu bytes plain, %llu packed, %llu.%02llu%%\n", (unsigned long long)plain,
            (unsigned long long)packed, (unsigned long long)(percent / 100),
            (unsigned long long)(percent % 100));
}

static void report(FILE *to, Job job, const Statistics *stats)
{
    if (job == JOB_RECOVER) {
        fprintf(to, "%u blocks recovered\n", stats->blocks);
        return;
    }
    fprintf(to, "streams %u, blocks %u, last checksum %08lx\n", stats->streams, stats->blocks,
            (unsigned long)stats->combined_crc);
    if (job == JOB_COMPRESS) {
        fprintf(to, "blocks sorted by the fallback %u, symbols %llu\n", stats->fallback_blocks,
                (unsigned long long)stats->symbols);
        print_ratio(to, stats->bytes_in, stats->bytes_out);
    } else {
        print_ratio(to, stats->bytes_out, stats->bytes_in);
    }
    for (int tables = MIN_TABLES; tables <= MAX_TABLES; tables++)
        if (stats->tables[tables] > 0)
            fprintf(to, "blocks with %d tables: %u\n", tables, stats->tables[tables]);
}

static BzStatus perform(const Options *options, FILE *in, FILE *out, Statistics *stats)
{
    const char *reason = NULL;
    BzStatus status;

    switch (options->job) {
    case JOB_COMPRESS:
        status = compress_stream(in, out, &options->compress, stats);
        if (status != BZ_OK)
            reason = "cannot read, write or allocate";
        break;
    case JOB_RECOVER:
        status = recover_blocks(in, stdout, options->output == NULL ? "rec" : options->output, stats);
        if (status == BZ_CORRUPT)
            reason = "no block found";
        else if (status != BZ_OK)
            reason = "cannot write the blocks";
        break;
    default:
        status = decompress_file(in, out, &options->decompress, stats, &reason);
        break;
    }
    if (reason != NULL)
        fprintf(stderr, "bzip2: %s: %s\n", options->input, reason);
    return status;
}

int main(int argc, char **argv)
{
    Options options;
    Statistics stats;
    BzStatus status;
    FILE *in;
    FILE *out = NULL;

    memset(&stats, 0, sizeof stats);
    if (parse_options(argc, argv, &options) != 0) {
        usage();
        return BZ_ENVIRONMENT;
    }
    in = strcmp(options.input, "-") == 0 ? stdin : fopen(options.input, "rb");
    if (in == NULL) {
        fprintf(stderr, "bzip2: %s: %s\n", options.input, strerror(errno));
        return BZ_ENVIRONMENT;
    }
    int writes = options.job == JOB_COMPRESS || options.job == JOB_DECOMPRESS;
    if (writes)
        out = options.output == NULL ? stdout : fopen(options.output, "wb");
    if (writes && out == NULL) {
        fprintf(stderr, "bzip2: %s: %s\n", options.output, strerror(errno));
        if (in != stdin)
            fclose(in);
        return BZ_ENVIRONMENT;
    }
    status = perform(&options, in, out, &stats);
    if (out != NULL && out != stdout) {
        if (fclose(out) != 0 && status == BZ_OK)
            status = BZ_ENVIRONMENT;
        if (status != BZ_OK && !options.keep_partial)
            remove(options.output);
    }
    if (in != stdin)
        fclose(in);
    if (status == BZ_OK && options.verbose)
        report(out == stdout ? stderr : stdout, options.job, &stats);
    return (int)status;
}
