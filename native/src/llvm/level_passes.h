// The parts of apply_level(), for callers that run a level's pipeline in another way.
#pragma once

#include <memory>

#include "compiler_gym/llvm/levels.h"
#include "pass_runner.h"

namespace compiler_gym::llvm {

// The pass runner for a level's pipeline, with the level's tuning.
std::unique_ptr<PassRunner> runner_at(const ::llvm::Module& module, Level level);

// Give every definition the attributes of `level`.
void mark_for(::llvm::Module& module, Level level);

::llvm::ModulePassManager passes_at(PassRunner& runner, Level level);

}  // namespace compiler_gym::llvm
