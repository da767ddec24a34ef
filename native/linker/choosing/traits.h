// Properties of a function that are quick to compute and predict the bytes that a setting may save.
#pragma once

namespace llvm {
class Function;
}  // namespace llvm

namespace compiler_gym::linker {

struct Traits {
  unsigned instructions = 0;
  unsigned blocks = 0;
  unsigned stores = 0;
  unsigned compares = 0;
  unsigned casts = 0;
  unsigned phis = 0;
  unsigned calls = 0;      // those after which the function continues
  unsigned constants = 0;  // arguments that are pushed, and popped into their registers
  unsigned kept = 0;       // values that are used after a call
  unsigned crossing = 0;   // uses of values from other blocks
  bool has_pointer = false;
};

Traits read_traits(const llvm::Function&);

}  // namespace compiler_gym::linker
