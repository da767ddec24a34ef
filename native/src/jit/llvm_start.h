// What LLVM needs before its first use here: its code generators, and a handler of fatal errors.
#pragma once

#include <memory>
#include <string>

#include "compiler_gym/given_up.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace compiler_gym::jit {

void start_llvm();

// A context that throws FatalError where LLVM reports an error in it.
std::unique_ptr<llvm::LLVMContext> make_context();

// Throws InvalidIrError where the text cannot be read or does not verify.
std::unique_ptr<llvm::Module> read_text(const std::string& ir, llvm::LLVMContext& context);

// Code for this machine may use all that its processor can do; "" is this machine.
std::unique_ptr<llvm::TargetMachine> machine_for(const std::string& triple, const std::string& cpu,
                                                 const std::string& features, int level);

// Gives the module the machine's layout and triple, or throws TargetError where it has others.
void aim(llvm::Module& module, llvm::TargetMachine& machine);

// Runs the default pipeline of a level from 0 to 3; any other level runs nothing.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, int level);

// Whatever runs LLVM holds one. A process is copied when there is none: a lock that is held in the
// middle of LLVM's work would be held in the copy for ever.
class InLlvm {
 public:
  InLlvm();
  ~InLlvm();
  InLlvm(const InLlvm&) = delete;
  InLlvm& operator=(const InLlvm&) = delete;
};

}  // namespace compiler_gym::jit
