#include <stdio.h>

int main(void) {
  unsigned table[256], crc = ~0u;
  for (unsigned i = 0; i < 256; i++) {
    unsigned value = i;
    for (int bit = 0; bit < 8; bit++) {
      value = value & 1 ? 0xedb88320u ^ (value >> 1) : value >> 1;
    }
    table[i] = value;
  }
  for (unsigned i = 0; i < 4000000; i++) {
    crc = table[(crc ^ i) & 255] ^ (crc >> 8);
  }
  printf("%08x\n", ~crc);
  return 0;
}
