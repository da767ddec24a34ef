// LLVM's options are of a process: who wants others has LLVM alone for that long.
#pragma once

#include <mutex>
#include <optional>
#include <shared_mutex>
#include <vector>

#include "compiler_gym/llvm/codegen_options.h"
#include "llvm/CodeGen/RegAllocRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Target/TargetOptions.h"

namespace compiler_gym::llvm {

// Hold what this returns while LLVM works with the options that it has by itself: several may.
[[nodiscard]] std::shared_lock<std::shared_mutex> with_default_options();

// What is no option of the process: it is given to the target machine.
struct MachineSettings {
  ::llvm::TargetOptions options;
  std::optional<::llvm::Reloc::Model> relocation;
};

// Sets options as llc would for its command line, and puts each back exactly when destroyed.
// Nobody else runs LLVM in between, unless there is nothing to set.
class OptionsInForce {
 public:
  explicit OptionsInForce(const ChosenOptions& chosen);
  ~OptionsInForce();
  OptionsInForce(const OptionsInForce&) = delete;
  OptionsInForce& operator=(const OptionsInForce&) = delete;

  const MachineSettings& machine() const { return machine_; }

 private:
  void set(const std::string& name, const std::string& value);
  void choose_allocator(const std::string& name);
  void put_back();

  std::shared_lock<std::shared_mutex> shared_;
  std::unique_lock<std::shared_mutex> alone_;
  MachineSettings machine_;
  std::vector<::llvm::cl::Option*> changed_;
  std::optional<::llvm::RegisterRegAlloc::FunctionPassCtor> allocator_;
};

}  // namespace compiler_gym::llvm
