/* SPDX-License-Identifier: MIT */
#include "search.h"

/* Accented letters of ISO 8859-1 by the letter below the accent, as Unicode decomposes them; those
 * that it does not decompose (such as the o with a stroke) are letters of their own. */
static const struct {
    unsigned char first, last, base;
} accented[] = {
    {0xe0, 0xe5, 'a'}, {0xe7, 0xe7, 'c'}, {0xe8, 0xeb, 'e'}, {0xec, 0xef, 'i'}, {0xf1, 0xf1, 'n'},
    {0xf2, 0xf6, 'o'}, {0xf9, 0xfc, 'u'}, {0xfd, 0xfd, 'y'}, {0xff, 0xff, 'y'},
};

static int lower(int letter)
{
    int is_upper = (letter >= 'A' && letter <= 'Z') || (letter >= 0xc0 && letter <= 0xde && letter != 0xd7);
    return is_upper ? letter + 0x20 : letter;
}

static int bare(int letter)
{
    for (size_t i = 0; i < sizeof accented / sizeof accented[0]; i++)
        if (letter >= accented[i].first && letter <= accented[i].last)
            return accented[i].base;
    return letter;
}

void make_fold(Folding folding, unsigned char fold[ALPHABET])
{
    for (int letter = 0; letter < ALPHABET; letter++) {
        int folded = letter;
        if (folding != FOLD_NOTHING)
            folded = lower(folded);
        if (folding == FOLD_ACCENTS)
            folded = bare(folded);
        fold[letter] = (unsigned char)folded;
    }
}
