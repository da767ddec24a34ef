// Pipelines of function passes, tried on clones of single functions.
//
// A clone has the original's name, and calls of itself where that calls itself. So a trial gives
// what Module::run_on would give, while the module stays as it is.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace compiler_gym::llvm {

class Module;

// A function and the pipelines to try on it.
using Choice = std::pair<std::string, std::vector<std::string>>;

// The results, pipeline after pipeline and function after function.
struct Trials {
  std::vector<std::int64_t> instructions;
  // LLVM's structural hashes, detailed: different results seldom have equal ones.
  std::vector<std::uint64_t> hashes;
  // Equal where the bodies of the results are the same in every detail that reaches their code.
  std::vector<std::uint64_t> digests;
};

// Throws PipelineError and RefusedError as Module::run_on does.
Trials try_on(Module& module, const std::vector<Choice>& choices);

// Replace the bodies of all other functions by one `unreachable`, so that code is generated for
// these alone, and is the same as before. Throws RefusedError if one has no body.
void keep_bodies(Module& module, const std::vector<std::string>& names);

// The functions of these names, in the module's order. Throws RefusedError if one has no body.
std::vector<::llvm::Function*> find_functions(::llvm::Module& module,
                                              const std::vector<std::string>& names);

}  // namespace compiler_gym::llvm
