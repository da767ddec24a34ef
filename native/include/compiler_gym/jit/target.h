// The target of machine code: this machine, with all features of its processor, or a GPU.
#pragma once

#include <map>
#include <string>

namespace compiler_gym::jit {

// LLVM's name of this machine's processor, and its triple.
std::string host_cpu();
std::string host_triple();
// Features beyond the baseline of its architecture, with LLVM's names.
std::map<std::string, bool> host_features();
// The width of the widest vector register, in bits.
int vector_bits();
// The number of vector registers.
int vector_registers();

// Assembly of `ir` for a target; "" is this machine, "nvptx64-nvidia-cuda" makes PTX. `level` works
// as in code.h.
std::string assembly(const std::string& ir, const std::string& triple, const std::string& cpu,
                     const std::string& features, int level);

}  // namespace compiler_gym::jit
