#include <stdio.h>

#define N 8192
#define TAPS 16

static int in[N + TAPS], out[N], weights[TAPS];

int main(void) {
  for (int i = 0; i < N + TAPS; i++) in[i] = (i * 37) % 101;
  for (int i = 0; i < TAPS; i++) weights[i] = i - 8;
  unsigned sum = 0;
  for (int round = 0; round < 60; round++) {
    for (int i = 0; i < N; i++) {
      int value = 0;
      for (int tap = 0; tap < TAPS; tap++) {
        value += weights[tap] * in[i + tap];
      }
      out[i] = value;
    }
    sum = sum * 31 + (unsigned)out[round];
  }
  printf("%u\n", sum);
  return 0;
}
