// PassBuilder's checks of pipeline texts and its list of passes, without a module.
#pragma once

#include <string>
#include <vector>

namespace compiler_gym::llvm {

// Throws PipelineError if PassBuilder rejects the text, or accepts it and then
// aborts on every program, as with `loop(licm)`: the passes are tried on a
// small built-in program with loops, calls and memory.
void check_pipeline(const std::string& pipeline);

struct RegisteredPass {
  std::string kind;        // module, cgscc, function, loopnest or loop
  std::string name;        // the pass's name in a pipeline text
  std::string parameters;  // PassBuilder's hint such as "O1;O2;O3", or empty
};

// Every pass of PassBuilder's registry, in its order.
std::vector<RegisteredPass> registered_passes();

}  // namespace compiler_gym::llvm
