// SPDX-License-Identifier: MIT
// Integer arithmetic of all widths, atomics, volatile, inline assembly and intrinsics.
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static _Atomic int counter;
static volatile int port;
_Thread_local int per_thread = 3;
extern int elsewhere __attribute__((weak));
static const char *const words[] = {"alpha", "beta", "gamma", "alpha"};

uint32_t rotate(uint32_t value, unsigned by) { return value << (by & 31) | value >> (-by & 31); }

uint64_t mix(uint64_t a, uint32_t b, uint16_t c, uint8_t d, bool e) {
  a ^= (uint64_t)b * c;
  a = (a >> 33 ^ a) * 0xff51afd7ed558ccdULL;
  a += e ? (int8_t)d : -(int)c;
  return a % 1000003 + a / 7 + __builtin_popcountll(a) + __builtin_clz(b | 1);
}

__int128 wide(int64_t a, int64_t b) { return (__int128)a * b - ((__int128)b << 17); }

int compare_and_set(int expected, int wanted) {
  atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_acq_rel);
  return atomic_compare_exchange_weak(&counter, &expected, wanted);
}

__attribute__((noinline)) double curve(double x) {
  double y = sqrt(x) + pow(x, 2.0) - fabs(x);
  return isnan(y) ? 0.0 : (float)y + (int)y;
}

long timed(void) {
  unsigned low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (long)low | (long)high << 32;
}

int parity(int value) { return value < 0 ? -1 : value & 1 ? 1 : 0; }

int main(int argc, char **argv) {
  char buffer[32];
  memset(buffer, argc, sizeof buffer);
  memcpy(buffer + 4, argv[0], 4);
  strcpy(buffer + 8, words[argc & 3]);
  port = argc;
  port = port + 1;
  uint64_t seen = mix(argc, 77u, 5, 9, argc > 2) ^ rotate(argc, 5) ^ (uint64_t)wide(argc, 9);
  seen += compare_and_set(argc, 3) + per_thread + (&elsewhere ? 1 : 0) + strlen(buffer);
  return (int)(seen + curve(argc) + parity(argc) + (timed() & 0));
}
