// The architecture for which system call filters are written: this one.
#pragma once

namespace compiler_gym {

// 0 if no filter is written, because the numbers of calls differ. The values are those of
// <linux/audit.h>, whose macros clash with LLVM's names of ELF.
#if defined(__x86_64__)
inline constexpr unsigned own_architecture = 0xC000003E;
#elif defined(__aarch64__)
inline constexpr unsigned own_architecture = 0xC00000B7;
#else
inline constexpr unsigned own_architecture = 0;
#endif

}  // namespace compiler_gym
