/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "decoder.h"

void derive_decoder(const HuffmanTable *table, DecodeTable *derived, int is_dc)
{
    int32_t code = 0;
    int position = 0;

    if (!table->defined)
        fail("a scan uses a Huffman table that was not sent");
    memset(derived, 0, sizeof *derived);
    derived->table = table;
    for (int bits = 1; bits <= 16; bits++) {
        int count = table->bits[bits];
        derived->offset[bits] = position - code;
        for (int i = 0; i < count; i++, position++, code++) {
            if (is_dc && table->values[position] > 15)
                fail("a DC table has a symbol out of range");
            if (bits > LOOK_BITS)
                continue;
            int spare = LOOK_BITS - bits;
            for (int fill = 0; fill < 1 << spare; fill++)
                derived->look[((code << spare) | fill) & 255] =
                    (uint16_t)(bits << 8 | table->values[position]);
        }
        if (code > (int32_t)1 << bits)
            fail("a Huffman table has too many codes");
        derived->last[bits] = count > 0 ? code - 1 : -1;
        code <<= 1;
    }
}
