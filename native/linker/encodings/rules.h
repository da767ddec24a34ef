// The table of rules. A rule is one function in one file: it examines an instruction of a function
// that should be small and, if its conditions hold, writes a shorter one.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>
#include <string>

namespace llvm {
class MachineInstr;
}

namespace compiler_gym::linker {

class Site;

struct Rule {
  llvm::StringLiteral name;  // in COMPILER_GYM_SIZE and in the counts
  // Return whether the code was changed. A rule may change, replace or erase this instruction and
  // those after it in its block, never those before it. It calls `Site::commit` before the change.
  // Null for a rule on whole functions, which has a separate pass or function.
  bool (*rewrite)(llvm::MachineInstr&, Site&) = nullptr;
};

bool byte_constant(llvm::MachineInstr&, Site&);
bool compare_one(llvm::MachineInstr&, Site&);
bool early_zero(llvm::MachineInstr&, Site&);
bool exchange(llvm::MachineInstr&, Site&);
bool packed_single(llvm::MachineInstr&, Site&);
bool pop_stack(llvm::MachineInstr&, Site&);
bool push_move(llvm::MachineInstr&, Site&);
bool push_stack(llvm::MachineInstr&, Site&);
bool store_zero(llvm::MachineInstr&, Site&);

// All rules, in the order in which they are tried at an instruction.
llvm::ArrayRef<Rule> all_rules();

// Load the rule "own" from the shared object at this path, which defines it as the C function
// `rewrite` and is compiled with these headers. An error ends the process with a message.
Rule load_rule(const std::string& path);

}  // namespace compiler_gym::linker
