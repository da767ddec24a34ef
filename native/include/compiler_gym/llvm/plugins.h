// Plug-ins: shared libraries that add passes to LLVM.
//
// They need the symbols of the LLVM that loads them. An engine with a static LLVM hides those
// symbols, so only one that shares libLLVM can load plug-ins.
#pragma once

#include <string>
#include <vector>

namespace compiler_gym::llvm {

// True if this engine shares its LLVM with libraries loaded into the process.
bool shares_llvm();

// Load a plug-in until the process ends: every module created afterwards knows its passes. Returns
// the plug-in's name for itself. Throws PluginError if the file is not a plug-in or was built for
// another LLVM.
std::string load_plugin(const std::string& path);

// The pipeline text that runs `pass` alone on the unit of IR that it works on: `function(pass)`, or
// `pass` itself if it already is such a text. Searches LLVM and the plug-in with this number, or
// all plug-ins in the order of loading for -1. Throws PipelineError if none of them knows the pass.
// Not thread safe.
std::string find_pipeline(const std::string& pass, int plugin = -1);

}  // namespace compiler_gym::llvm
