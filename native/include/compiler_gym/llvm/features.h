// Counts that describe a module, as features for learning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

std::size_t count_instructions(const ::llvm::Module& module);

// The 56 features of the AutoPhase paper, in the order CompilerGym gave them.
inline constexpr std::size_t autophase_size = 56;
using Autophase = std::array<std::int64_t, autophase_size>;
Autophase autophase(const ::llvm::Module& module);
std::vector<std::string> autophase_names();

// Instructions, blocks, functions, then instructions by opcode in LLVM's order.
// `ptrtoaddr`, which is younger than this vector, counts as `ptrtoint`.
inline constexpr std::size_t inst_count_size = 70;
using InstCount = std::array<std::int64_t, inst_count_size>;
InstCount inst_count(const ::llvm::Module& module);
std::vector<std::string> inst_count_names();
// The index at which an opcode is counted.
std::size_t inst_count_place(unsigned opcode);

}  // namespace compiler_gym::llvm
