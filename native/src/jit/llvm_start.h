// What LLVM needs before its first use here: its code generators, and a handler of fatal errors.
#pragma once

#include <memory>
#include <string>

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

// Calls `work(*state)`; where LLVM gives up in it, `state` is leaked and FatalError thrown on.
template <typename State, typename Work>
void leak_on_fatal(std::unique_ptr<State>& state, Work work);

}  // namespace compiler_gym::jit

#include "compiler_gym/jit/errors.h"

template <typename State, typename Work>
void compiler_gym::jit::leak_on_fatal(std::unique_ptr<State>& state, Work work) {
  try {
    work(*state);
  } catch (const FatalError&) {
    static_cast<void>(state.release());
    throw;
  }
}
