// What machine code is made for: this machine, with all that its processor can do, or a GPU.
#pragma once

#include <map>
#include <string>

namespace compiler_gym::jit {

// This machine's processor, as LLVM calls it, and its triple.
std::string host_cpu();
std::string host_triple();
// What it can do beyond every machine of its kind, by LLVM's names.
std::map<std::string, bool> host_features();
// How many bits its widest vector register holds.
int vector_bits();
// How many vector registers there are.
int vector_registers();

// Assembly of `ir` for a target; "" is this machine, "nvptx64-nvidia-cuda" makes PTX. `level` is as
// in code.h.
std::string assembly(const std::string& ir, const std::string& triple, const std::string& cpu,
                     const std::string& features, int level);

}  // namespace compiler_gym::jit
