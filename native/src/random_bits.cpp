// SPDX-License-Identifier: MIT
// LLVM names temporary files with random bits from arc4random, which the C library has from 2.36
// on. This definition replaces it, so that the engine runs with older C libraries.

#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
  uint32_t bits = 0;
  // This few bytes are complete or, if the kernel has no such call, missing entirely.
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) std::abort();
  return bits;
}
