// Generates code for several settings of functions, in memory, to read their exact sizes.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <cstdint>
#include <optional>
#include <vector>

#include "choosing/traits.h"

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace compiler_gym::linker {

class Gate;
struct Setting;

// A function, and its bytes in each of its code generations.
struct Candidate {
  llvm::Function* function;
  Traits traits = {};
  std::vector<const Setting*> settings = {};
  std::uint64_t plain = 0;
  std::vector<std::uint64_t> bytes = {};

  // Return the setting with the fewest bytes, the first of several, or null if none saves any.
  const Setting* find_smallest() const;
};

// Set the bytes of the candidates, all of which are in the module. Return whether that succeeded.
bool measure(llvm::Module&, const llvm::TargetMachine&, Gate&, std::vector<Candidate>&);

}  // namespace compiler_gym::linker
