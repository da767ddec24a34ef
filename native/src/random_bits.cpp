// SPDX-License-Identifier: MIT
// LLVM names temporary files with random bits from arc4random, which the C library has
// from 2.36 on. This one answers in its place, and the engine runs where the C library is older.

#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
  uint32_t bits = 0;
  // So few bytes come whole or, where the kernel knows no such call, not at all.
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) std::abort();
  return bits;
}
