// Static estimates of an object file's speed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace compiler_gym::llvm {

// The instructions that `llvm-objdump -d` lists: of all code sections, padding included.
// Throws UnsupportedError for an object for an unsupported processor.
std::uint64_t machine_instructions_of(std::string_view object);

// One block of machine code and llvm-mca's estimate for it.
struct MachineBlock {
  std::string function;   // the symbol of its function
  std::uint64_t section;  // the index of its section
  std::uint64_t address;  // in that section
  std::uint64_t size;     // in bytes
  double frequency;       // runs of the block for one call of its function, as LLVM guesses
  // Of one run, in a loop of `mca_iterations` runs of this block alone. As llvm-mca says,
  // except that a call is an instruction here and not 100 cycles of waiting.
  double cycles;
};

inline constexpr unsigned mca_iterations = 100;

// The blocks of an object that object_code_with_blocks_of made. Cold blocks, those beyond
// the hottest that make up 99 % of all executed instructions, get what their instructions
// take at the processor's full width instead of a simulation.
std::vector<MachineBlock> machine_blocks_of(std::string_view object);

}  // namespace compiler_gym::llvm
