// The architecture that filters of system calls are written for: this one.
#pragma once

#include <linux/audit.h>

namespace compiler_gym {

// 0 where no filter is written: the numbers of calls differ.
#if defined(__x86_64__)
inline constexpr unsigned own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr unsigned own_architecture = AUDIT_ARCH_AARCH64;
#else
inline constexpr unsigned own_architecture = 0;
#endif

}  // namespace compiler_gym
