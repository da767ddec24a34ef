#include <stdio.h>

#define N 4096

static float a[N], b[N];

int main(void) {
  for (int i = 0; i < N; i++) {
    a[i] = (float)(i % 17);
    b[i] = (float)(i % 5);
  }
  float sum = 0;
  for (int round = 0; round < 2000; round++) {
    for (int i = 0; i < N; i++) {
      sum += a[i] * b[i];
    }
    sum = sum > 1e6f ? sum - 1e6f : sum;
  }
  printf("%.0f\n", sum);
  return 0;
}
