/* SPDX-License-Identifier: MIT */
#include "speller.h"

static int is_latin_capital(int byte)
{
    return byte >= 0xc0 && byte <= 0xde && byte != 0xd7;
}

void letters_start(Letters *letters, int is_utf8)
{
    letters->is_utf8 = is_utf8;
    for (int byte = 0; byte < ALPHABET; byte++)
        letters->lower[byte] = letters->upper[byte] = (unsigned char)byte;
    for (int byte = 0; byte < ALPHABET; byte++) {
        int capital = (byte >= 'A' && byte <= 'Z') || (!is_utf8 && is_latin_capital(byte));
        int high = is_utf8 ? byte >= 0x80 : byte >= 0xc0 && byte != 0xd7 && byte != 0xf7;
        letters->is_letter[byte] = capital || (byte >= 'a' && byte <= 'z') || high;
        letters->is_word[byte] = letters->is_letter[byte];
        if (capital) {
            letters->lower[byte] = (unsigned char)(byte + 0x20);
            letters->upper[byte + 0x20] = (unsigned char)byte;
        }
    }
}

Case letters_case(const Letters *letters, const char *word)
{
    size_t capitals = 0, smalls = 0;
    int first = 0;

    for (size_t i = 0; word[i] != '\0'; i++) {
        unsigned char byte = (unsigned char)word[i];
        int is_capital = letters->lower[byte] != byte;
        capitals += (size_t)is_capital;
        smalls += letters->upper[byte] != byte;
        first |= i == 0 && is_capital;
    }
    if (capitals == 0)
        return CASE_LOWER;
    if (capitals == 1 && first)
        return CASE_CAPITALISED;
    return smalls == 0 ? CASE_ALL_CAPITALS : CASE_MIXED;
}

void letters_lower(const Letters *letters, char *word)
{
    for (; *word != '\0'; word++)
        *word = (char)letters->lower[(unsigned char)*word];
}

void letters_capitalise(const Letters *letters, char *word)
{
    letters_lower(letters, word);
    word[0] = (char)letters->upper[(unsigned char)word[0]];
}

void letters_upper(const Letters *letters, char *word)
{
    for (; *word != '\0'; word++)
        *word = (char)letters->upper[(unsigned char)*word];
}
