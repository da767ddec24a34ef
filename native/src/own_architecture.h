// The architecture for which system call filters are written: this one.
#pragma once

#include <linux/audit.h>

namespace compiler_gym {

// 0 if no filter is written, because the numbers of calls differ.
#if defined(__x86_64__)
inline constexpr unsigned own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr unsigned own_architecture = AUDIT_ARCH_AARCH64;
#else
inline constexpr unsigned own_architecture = 0;
#endif

}  // namespace compiler_gym
