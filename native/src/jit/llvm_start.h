// LLVM's setup before its first use here: code generators, and a handler of fatal errors.
#pragma once

#include <memory>
#include <string>

#include "compiler_gym/given_up.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace compiler_gym::jit {

void start_llvm();

// Make a context that throws FatalError when LLVM reports an error in it.
std::unique_ptr<llvm::LLVMContext> make_context();

// Throws InvalidIrError if the text cannot be read or does not verify.
std::unique_ptr<llvm::Module> read_text(const std::string& ir, llvm::LLVMContext& context);

// Code for this machine may use all features of its processor; "" is this machine.
std::unique_ptr<llvm::TargetMachine> machine_for(const std::string& triple, const std::string& cpu,
                                                 const std::string& features, int level);

// Give the module the machine's layout and triple, or throw TargetError if it has others.
void aim(llvm::Module& module, llvm::TargetMachine& machine);

// Run the default pipeline of a level from 0 to 3; any other level runs nothing.
void optimise(llvm::Module& module, llvm::TargetMachine& machine, int level);

// Every caller of LLVM holds one. A process is copied only while none exists: a lock that another
// thread holds inside LLVM would stay locked in the copy forever.
class InLlvm {
 public:
  InLlvm();
  ~InLlvm();
  InLlvm(const InLlvm&) = delete;
  InLlvm& operator=(const InLlvm&) = delete;
};

}  // namespace compiler_gym::jit
