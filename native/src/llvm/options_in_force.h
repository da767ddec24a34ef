// LLVM's options apply to a whole process: changing them requires sole use of LLVM for that time.
#pragma once

#include <optional>
#include <vector>

#include "compiler_gym/llvm/codegen_options.h"
#include "llvm/CodeGen/RegAllocRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetOptions.h"
#include "options.h"

namespace compiler_gym::llvm {

// Options that are passed to the target machine instead of being set for the process.
struct MachineSettings {
  ::llvm::TargetOptions options;
  std::optional<::llvm::Reloc::Model> relocation;
};

// Sets options as llc would from its command line, and restores each exactly when destroyed. No
// other thread runs LLVM meanwhile, unless there is nothing to set.
class OptionsInForce {
 public:
  explicit OptionsInForce(const ChosenOptions& chosen);
  ~OptionsInForce();
  OptionsInForce(const OptionsInForce&) = delete;
  OptionsInForce& operator=(const OptionsInForce&) = delete;

  const MachineSettings& machine() const { return machine_; }

 private:
  void choose_allocator(const std::string& name);
  void put_back();

  std::optional<UsualOptions> usual_;
  std::optional<OptionsAlone> alone_;
  MachineSettings machine_;
  std::vector<::llvm::cl::Option*> changed_;
  std::optional<::llvm::RegisterRegAlloc::FunctionPassCtor> allocator_;
};

}  // namespace compiler_gym::llvm
