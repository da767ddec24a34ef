/* SPDX-License-Identifier: MIT */
/* The 32-bit CRC of the format: polynomial 0x04c11db7, most significant bit first. */
#include "bzip2.h"

static uint32_t table[256];
static int table_ready;

static void build_table(void)
{
    for (uint32_t index = 0; index < 256; index++) {
        uint32_t crc = index << 24;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x80000000u) ? (crc << 1) ^ 0x04c11db7u : crc << 1;
        table[index] = crc;
    }
    table_ready = 1;
}

uint32_t crc_start(void)
{
    if (!table_ready)
        build_table();
    return 0xffffffffu;
}

uint32_t crc_byte(uint32_t crc, unsigned byte)
{
    return (crc << 8) ^ table[(crc >> 24) ^ (byte & 255u)];
}

uint32_t crc_run(uint32_t crc, unsigned byte, unsigned length)
{
    while (length-- > 0)
        crc = crc_byte(crc, byte);
    return crc;
}

uint32_t crc_finish(uint32_t crc)
{
    return ~crc;
}

uint32_t crc_combine(uint32_t combined, uint32_t block)
{
    return ((combined << 1) | (combined >> 31)) ^ block;
}
