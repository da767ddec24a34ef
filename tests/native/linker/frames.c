/* Functions with frames of all kinds, for `test_differential.py`. Each keeps values in registers
   that it must save, across calls that overwrite all others. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
typedef unsigned long word;
#define APART __attribute__((noinline))
#define ALL "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"
APART static word trash(word x) {
  word y;
  asm volatile(
      "mov $-1, %%rcx\n\tmov $-2, %%rdx\n\tmov $-3, %%rsi\n\tmov $-4, %%rdi\n\t"
      "mov $-5, %%r8\n\tmov $-6, %%r9\n\tmov $-7, %%r10\n\tmov $-8, %%r11"
      : "=a"(y)
      : "0"(x)
      : ALL, "cc", "memory");
  return y * 0x9e3779b97f4a7c15;
}
APART static word sum(const volatile word* values, int count) {
  word all = 0;
  while (count-- > 0) all = all * 3 + values[count];
  return trash(all);
}
APART static word add(int count, ...) {
  word all = 0;
  va_list rest;
  va_start(rest, count);
  while (count-- > 0) all = trash(all + va_arg(rest, word));
  va_end(rest);
  return all;
}
/* Large frames with accesses near and far, for frame pointers in the middle. */
#define LARGE(name, size, near, far)                                                \
  word name(word* memory, word a, word b, word c, word d, word e, word f, word g) { \
    volatile word t[size];                                                          \
    word x = trash(a), y = trash(b), z = trash(c), u = trash(d), v = trash(e);      \
    for (int i = 0; i < size; i++) t[i] = x + i;                                    \
    t[near] += y;                                                                   \
    t[far] ^= z;                                                                    \
    t[1] = t[far] + u;                                                              \
    t[far - 1] -= v;                                                                \
    if (f & 1) t[near + 1] = trash(t[far]) + g;                                     \
    memory[1] += sum(t, size);                                                      \
    if (f & 2) return x ^ y;                                                        \
    return x + y * 3 + z * 5 + u * 7 + v * 11 + t[near] + t[far] + trash(f);        \
  }
LARGE(large20, 20, 15, 3)
LARGE(large30, 30, 28, 2)
LARGE(large60, 60, 50, 4)
LARGE(large99, 99, 90, 90)
word large_variable(word* memory, word a, word b) {
  volatile word t[60];
  word w[(a & 7) + 1];
  word x = trash(a), y = trash(b);
  for (word i = 0; i <= (a & 7); i++) w[i] = x * i;
  for (word i = 0; i < 60; i++) t[i] = y + i;
  t[2] += t[50] * w[a & 7];
  t[3] ^= t[1];
  memory[7] = sum(t, 60) + sum(w, (int)(a & 7) + 1);
  return x + y + t[2] + t[3];
}
/* Many values live across calls, in different numbers, and different ways out. */
#define CALLS(name, constant, ...)                                                        \
  word name(word* memory, word a, word b, word c, word d, word e) {                       \
    word x = trash(a + constant), y = trash(b), z = trash(c), u = trash(d), v = trash(e); \
    for (word i = 0; i < (a & 7); i++) {                                                  \
      v += trash(i) ^ z;                                                                  \
      memory[i] += v;                                                                     \
      z ^= y;                                                                             \
      z += v * z;                                                                         \
    }                                                                                     \
    if ((int)b == 1) return z;                                                            \
    __VA_ARGS__                                                                           \
    return x + y * 3 + z * 5 + u * 7 + v * 11 + constant;                                 \
  }
CALLS(calls, 1, if (x & 1) memory[2] = add(9, y, y, z, u, v, x, y, z, u);)
CALLS(early, 200, if (x & 1) return memory[3] = y; if (y & 1) return trash(z) - v;)
CALLS(tail, 3, if (x & 3) return sum(memory, (int)(x & 15));)
CALLS(variable, 4, word w[(x & 15) + 1]; for (word i = 0; i <= (x & 15); i++) w[i] = y * i;
      v += sum(w, (int)(x & 15) + 1);)
CALLS(alloca_too, 5, char* m = __builtin_alloca((y & 63) + 1); memset(m, (int)x, (y & 63) + 1);
      z += (word)m[y & 63] + trash((word)m[0]);)
CALLS(aligned, 6, _Alignas(64) volatile word t[8]; for (int i = 0; i < 8; i++) t[i] = x * (word)i;
      u += sum(t, 8) + ((word)t & 63);)
#ifndef KEEPS_FRAME_POINTER
CALLS(assembly, 7, asm volatile("mov $3, %%rbp\n\tadd %%rbp, %0" : "+r"(x) : : "rbp", "cc");
      asm volatile("mov $4, %%rbx\n\tmov $5, %%r12\n\tadd %%rbx, %0" : "+r"(y) : : "rbx", "r12");)
#endif
CALLS(
    zeros, 8,
    struct {
      word a;
      int b[20];
      short c;
      char d;
    } s;
    memset(&s, 0, sizeof s); s.b[x & 15] = (int)y;
    memory[4] = sum(&s.a, 1) + (word)s.b[3] + (word)s.d;)
word jumps(word* memory, word a, word b, word c) {
  jmp_buf place;
  volatile word x = trash(a), y = trash(b);
  const word z = trash(c);
  switch (setjmp(place)) {
    case 0:
      x++;
      if (z & 1) longjmp(place, 1);
      break;
    case 1:
      y += 2;
      if (z & 2) longjmp(place, 2);
      break;
    default: x ^= y;
  }
  memory[5] = x;
  return x + y * 3 + trash(z);
}
/* Frames of 16 and of 128 bytes. */
#define SLOTS(name, size)                                     \
  word name(word* memory, word a) {                           \
    volatile word t[size];                                    \
    word k = trash(a);                                        \
    for (int i = 0; i < size; i++) t[i] = trash(a + (word)i); \
    memory[6] = sum(t, size);                                 \
    return trash(t[size - 1]) ^ k;                            \
  }
SLOTS(slots2, 2)
SLOTS(slots16, 16)
