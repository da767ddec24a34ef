// Static estimates of an object file's speed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::llvm {

// The number of instructions that `llvm-objdump -d` lists in all code sections, padding included.
// Throws UnsupportedError for an object for an unsupported processor.
std::uint64_t count_machine_instructions(std::string_view object);

// One block of machine code and llvm-mca's estimate for it.
struct MachineBlock {
  std::string function;   // the symbol of its function
  std::uint64_t section;  // the index of its section
  std::uint64_t address;  // in that section
  std::uint64_t size;     // in bytes
  double frequency;       // estimated runs of the block per call of its function
  // Cycles of one iteration, in a loop of `mca_iterations` runs of this block alone, as llvm-mca
  // estimates them, but with a call counted as one instruction instead of 100 cycles.
  double cycles;
};

inline constexpr unsigned mca_iterations = 100;

// The blocks of an object from emit_object_with_blocks. Cold blocks, those beyond the hottest that
// make up 99 % of all executed instructions, are not simulated: their cost assumes that
// instructions start at the processor's full width.
std::vector<MachineBlock> estimate_blocks(std::string_view object);

}  // namespace compiler_gym::llvm
