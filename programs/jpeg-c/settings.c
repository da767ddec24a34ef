/* SPDX-License-Identifier: MIT */
/* From the user's settings to components, quantisation tables and a list of scans. */
#include <ctype.h>
#include <string.h>

#include "encoder.h"

/* ---- components ---- */

void set_components(Encoder *encoder, const Image *image)
{
    static const char rgb_names[] = "RGB";
    const Settings *settings = &encoder->settings;
    Frame *frame = &encoder->frame;

    frame->width = image->width;
    frame->height = image->height;
    frame->count = image->channels;
    for (int c = 0; c < frame->count; c++) {
        Component *component = &frame->component[c];
        int rgb = settings->color == COLOR_RGB && frame->count == 3;
        component->id = rgb ? rgb_names[c] : c + 1;
        component->h = component->v = frame->count > 1 && c == 0 && !rgb ? 2 : 1;
        if (c < settings->sampling_count && frame->count > 1) {
            component->h = settings->sampling[c][0];
            component->v = settings->sampling[c][1];
        }
        component->quant = c > 0 && !rgb;
    }
    layout_frame(frame);
    for (int c = 0; c < frame->count; c++)
        if (frame->h_max % frame->component[c].h != 0 || frame->v_max % frame->component[c].v != 0)
            fail("fractional subsampling is not supported");
    allocate_coefficients(frame);
}

/* ---- quantisation ---- */

/* Tables from a file are taken as they are unless a quality is asked for. */
static uint32_t quality_percent(const Settings *settings)
{
    int quality = settings->quality;

    if (quality == 0 && settings->quant_file != NULL)
        return 100;
    if (quality == 0)
        quality = DEFAULT_QUALITY;
    return (uint32_t)(quality < 50 ? 5000 / quality : 200 - 2 * quality);
}

static void scale_table(QuantTable *table, const uint32_t *basic, uint32_t percent, int baseline)
{
    for (int i = 0; i < BLOCK_SIZE; i++) {
        uint64_t value = ((uint64_t)basic[i] * percent + 50) / 100;
        if (value < 1)
            value = 1;
        if (value > 32767)
            value = 32767;
        if (baseline && value > 255)
            value = 255;
        table->value[i] = (uint16_t)value;
    }
    table->defined = 1;
}

/* A token of a text file: a number or one of ",:;-", with # comments. -1 at the end. */
typedef struct {
    FILE *file;
    int is_number;
    long value;
} Token;

static int next_token(Token *token)
{
    int c = getc(token->file);

    while (c == '#' || isspace(c)) {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(token->file);
        else
            c = getc(token->file);
    }
    token->is_number = 0;
    token->value = c;
    if (c == EOF)
        return -1;
    if (!isdigit(c))
        return 0;
    token->is_number = 1;
    for (token->value = 0; isdigit(c); c = getc(token->file)) {
        token->value = token->value * 10 + (c - '0');
        if (token->value > 65535)
            fail("number out of range in a text file");
    }
    ungetc(c, token->file);
    return 0;
}

static FILE *open_text(const char *name)
{
    FILE *file = fopen(name, "r");
    if (file == NULL)
        fail("cannot open %s", name);
    return file;
}

static void read_quantisers(Encoder *encoder, uint32_t percent)
{
    Token token = {open_text(encoder->settings.quant_file), 0, 0};
    uint32_t basic[BLOCK_SIZE];
    int tables = 0;
    int count = 0;

    while (next_token(&token) == 0) {
        if (!token.is_number || tables == MAX_TABLES || token.value == 0)
            fail("%s is not a list of quantisation tables", encoder->settings.quant_file);
        basic[count++] = (uint32_t)token.value;
        if (count == BLOCK_SIZE) {
            scale_table(&encoder->quant[tables++], basic, percent, encoder->settings.baseline);
            count = 0;
        }
    }
    fclose(token.file);
    if (count != 0 || tables == 0)
        fail("%s holds an incomplete table", encoder->settings.quant_file);
    for (int c = 0; c < encoder->frame.count; c++)
        if (encoder->frame.component[c].quant >= tables)
            encoder->frame.component[c].quant = tables - 1;
}

void set_quantisers(Encoder *encoder)
{
    uint32_t percent = quality_percent(&encoder->settings);
    uint32_t basic[BLOCK_SIZE];

    if (encoder->settings.quant_file != NULL) {
        read_quantisers(encoder, percent);
        return;
    }
    for (int table = 0; table < 2; table++) {
        for (int i = 0; i < BLOCK_SIZE; i++)
            basic[i] = table == 0 ? luminance_quant[i] : chrominance_quant[i];
        scale_table(&encoder->quant[table], basic, percent, encoder->settings.baseline);
    }
}

/* ---- scans ---- */

static Scan *add_scan(Encoder *encoder, int Ss, int Se, int Ah, int Al)
{
    if (encoder->scan_count == MAX_SCANS)
        fail("too many scans");
    Scan *scan = &encoder->scans[encoder->scan_count++];
    memset(scan, 0, sizeof *scan);
    scan->Ss = Ss;
    scan->Se = Se;
    scan->Ah = Ah;
    scan->Al = Al;
    return scan;
}

static void add_single(Encoder *encoder, int component, int Ss, int Se, int Ah, int Al)
{
    Scan *scan = add_scan(encoder, Ss, Se, Ah, Al);
    scan->count = 1;
    scan->index[0] = component;
}

static void add_all(Encoder *encoder, int Ss, int Se, int Ah, int Al)
{
    int blocks = 0;

    for (int c = 0; c < encoder->frame.count; c++)
        blocks += encoder->frame.component[c].h * encoder->frame.component[c].v;
    if (blocks > MAX_MCU_BLOCKS) {
        for (int c = 0; c < encoder->frame.count; c++)
            add_single(encoder, c, Ss, Se, Ah, Al);
        return;
    }
    Scan *scan = add_scan(encoder, Ss, Se, Ah, Al);
    scan->count = encoder->frame.count;
    for (int c = 0; c < scan->count; c++)
        scan->index[c] = c;
}

/* Colour first as a blur, then brightness in two steps, then the last bits of everything. */
static void simple_progression(Encoder *encoder)
{
    int color = encoder->frame.count == 3 && encoder->settings.color == COLOR_YCC;

    add_all(encoder, 0, 0, 0, 1);
    if (color) {
        add_single(encoder, 0, 1, 5, 0, 2);
        add_single(encoder, 2, 1, 63, 0, 1);
        add_single(encoder, 1, 1, 63, 0, 1);
        add_single(encoder, 0, 6, 63, 0, 2);
        add_single(encoder, 0, 1, 63, 2, 1);
        add_all(encoder, 0, 0, 1, 0);
        add_single(encoder, 2, 1, 63, 1, 0);
        add_single(encoder, 1, 1, 63, 1, 0);
        add_single(encoder, 0, 1, 63, 1, 0);
        return;
    }
    for (int c = 0; c < encoder->frame.count; c++)
        add_single(encoder, c, 1, 5, 0, 2);
    for (int c = 0; c < encoder->frame.count; c++)
        add_single(encoder, c, 6, 63, 0, 2);
    for (int c = 0; c < encoder->frame.count; c++)
        add_single(encoder, c, 1, 63, 2, 1);
    add_all(encoder, 0, 0, 1, 0);
    for (int c = 0; c < encoder->frame.count; c++)
        add_single(encoder, c, 1, 63, 1, 0);
}

/* "0,1,2 : 0-0, 0, 1 ;" - the components, then optionally Ss-Se, Ah, Al. */
static long need_number(Token *token)
{
    if (next_token(token) != 0 || !token->is_number)
        fail("scan script: a number was expected");
    return token->value;
}

static void need_character(Token *token, int character)
{
    if (next_token(token) != 0 || token->is_number || token->value != character)
        fail("scan script: '%c' was expected", character);
}

static void read_progression(Token *token, Scan *scan)
{
    scan->Ss = (int)need_number(token);
    need_character(token, '-');
    scan->Se = (int)need_number(token);
    need_character(token, ',');
    scan->Ah = (int)need_number(token);
    need_character(token, ',');
    scan->Al = (int)need_number(token);
    need_character(token, ';');
}

static void read_scans(Encoder *encoder)
{
    Token token = {open_text(encoder->settings.scan_file), 0, 0};

    while (next_token(&token) == 0) {
        Scan *scan = add_scan(encoder, 0, BLOCK_SIZE - 1, 0, 0);
        for (;;) {
            if (!token.is_number || token.value >= encoder->frame.count)
                fail("scan script: unknown component");
            if (scan->count == MAX_COMPONENTS)
                fail("scan script: too many components in a scan");
            scan->index[scan->count++] = (int)token.value;
            if (next_token(&token) != 0 || token.is_number)
                fail("scan script: a scan is not finished");
            if (token.value != ',')
                break;
            if (next_token(&token) != 0)
                fail("scan script: a scan is not finished");
        }
        if (token.value == ':')
            read_progression(&token, scan);
        else if (token.value != ';')
            fail("scan script: ';' was expected");
    }
    fclose(token.file);
    if (encoder->scan_count == 0)
        fail("scan script: no scan");
}

/* ---- what T.81 demands of a list of scans ---- */

static void check_components(const Encoder *encoder, const Scan *scan)
{
    int blocks = 0;

    for (int i = 0; i < scan->count; i++) {
        const Component *component = &encoder->frame.component[scan->index[i]];
        if (i > 0 && scan->index[i] <= scan->index[i - 1])
            fail("scan script: components must ascend");
        blocks += component->h * component->v;
    }
    if (scan->count > 1 && blocks > MAX_MCU_BLOCKS)
        fail("scan script: too many blocks in an interleaved scan");
}

static void check_progressive_scan(const Scan *scan, int8_t (*known)[BLOCK_SIZE])
{
    if (scan->Ss > scan->Se || scan->Se >= BLOCK_SIZE || scan->Ah > 10 || scan->Al > 10 ||
        (scan->Ss == 0 && scan->Se != 0) || (scan->Ss > 0 && scan->count != 1))
        fail("scan script: bad progression");
    for (int i = 0; i < scan->count; i++) {
        int8_t *bits = known[scan->index[i]];
        if (scan->Ss > 0 && bits[0] < 0)
            fail("scan script: AC coefficients before DC");
        for (int k = scan->Ss; k <= scan->Se; k++) {
            if (bits[k] < 0 ? scan->Ah != 0 : scan->Ah != bits[k] || scan->Al != scan->Ah - 1)
                fail("scan script: bad successive approximation");
            bits[k] = (int8_t)scan->Al;
        }
    }
}

static void check_scans(Encoder *encoder)
{
    int8_t known[MAX_COMPONENTS][BLOCK_SIZE];
    int sent[MAX_COMPONENTS] = {0};

    memset(known, -1, sizeof known);
    encoder->progressive = encoder->scans[0].Ss != 0 || encoder->scans[0].Se != BLOCK_SIZE - 1;
    for (int s = 0; s < encoder->scan_count; s++) {
        const Scan *scan = &encoder->scans[s];
        check_components(encoder, scan);
        if (encoder->progressive)
            check_progressive_scan(scan, known);
        else if (scan->Ss != 0 || scan->Se != BLOCK_SIZE - 1 || scan->Ah != 0 || scan->Al != 0)
            fail("scan script: progressive and sequential scans are mixed");
        for (int i = 0; i < scan->count; i++)
            if (sent[scan->index[i]]++ > 0 && !encoder->progressive)
                fail("scan script: a component is sent twice");
    }
    for (int c = 0; c < encoder->frame.count; c++)
        if (sent[c] == 0)
            fail("scan script: a component is never sent");
}

void set_scans(Encoder *encoder)
{
    encoder->scan_count = 0;
    if (encoder->settings.scan_file != NULL)
        read_scans(encoder);
    else if (encoder->settings.progressive)
        simple_progression(encoder);
    else
        add_all(encoder, 0, BLOCK_SIZE - 1, 0, 0);
    check_scans(encoder);
}
