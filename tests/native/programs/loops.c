// SPDX-License-Identifier: MIT
// Loops that can be vectorised, unrolled, interchanged, unswitched and deleted.
#include <stddef.h>

enum { N = 96 };
static double left[N][N], right[N][N], product[N][N];

static int checksum(const unsigned char *data, size_t size, int mode) {
  int sum = 0;
  for (size_t i = 0; i < size; i++) {
    if (mode) {
      sum += data[i] * 3;
    } else {
      sum ^= data[i] << (i % 7);
    }
  }
  return sum;
}

static void multiply(void) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      for (int k = 0; k < N; k++) product[i][j] += left[i][k] * right[k][j];
    }
  }
}

void blend(float *restrict out, const float *restrict a, const float *restrict b, int n) {
  for (int i = 0; i < n; i++) out[i] = a[i] * 0.25f + b[i] * 0.75f;
}

int triangle(int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j <= i; j++) total += i * j;
  }
  return total;
}

void reverse(int *values, int n) {
  for (int i = 0, j = n - 1; i < j; i++, j--) {
    int kept = values[i];
    values[i] = values[j];
    values[j] = kept;
  }
}

int main(int argc, char **argv) {
  unsigned char bytes[64] = {1, 2, 3};
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) left[i][j] = right[j][i] = i + argc;
  }
  multiply();
  int values[5] = {5, 4, 3, 2, 1};
  reverse(values, 5);
  return (int)product[3][4] + checksum(bytes, sizeof bytes, argc > 1) + triangle(argc) + values[0];
}
