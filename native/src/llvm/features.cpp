#include "compiler_gym/llvm/features.h"

#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"

namespace compiler_gym::llvm {

namespace {

using Op = ::llvm::Instruction;

// The index of an opcode: after the three totals, with ptrtoaddr counted as ptrtoint.
constexpr std::size_t place_of(unsigned opcode) { return 2 + opcode - (opcode >= Op::PtrToAddr); }
static_assert(place_of(Op::Freeze) + 1 == inst_count_size);

}  // namespace

std::size_t count_instructions(const ::llvm::Module& module) {
  std::size_t count = 0;
  for (const auto& function : module) {
    for (const auto& block : function) count += block.size();
  }
  return count;
}

InstCount inst_count(const ::llvm::Module& module) {
  InstCount out{};
  for (const auto& function : module) {
    ++out[2];
    for (const auto& block : function) {
      ++out[1];
      for (const auto& instruction : block) {
        ++out[0];
        ++out[place_of(instruction.getOpcode())];
      }
    }
  }
  return out;
}

std::size_t inst_count_place(unsigned opcode) { return place_of(opcode); }

std::vector<std::string> inst_count_names() {
  std::vector<std::string> names(inst_count_size);
  names[0] = "TotalInstsCount";
  names[1] = "TotalBlocksCount";
  names[2] = "TotalFuncsCount";
#define HANDLE_INST(NUMBER, NAME, CLASS) \
  if (NUMBER != unsigned{Op::PtrToAddr}) names[place_of(NUMBER)] = #NAME "Count";
#define HANDLE_USER_INST(NUMBER, NAME, CLASS) names[place_of(NUMBER)] = #NAME "Count";
#include "llvm/IR/Instruction.def"
  return names;
}

}  // namespace compiler_gym::llvm
