// Plug-ins: shared libraries that add passes to LLVM.
//
// They need the symbols of the LLVM that loads them. An engine that contains LLVM hides them, so
// only one that shares libLLVM with the plug-ins can load any.
#pragma once

#include <string>
#include <vector>

namespace compiler_gym::llvm {

// True if this engine shares its LLVM with libraries loaded into the process.
bool shares_llvm();

// Load a plug-in for good: every module made afterwards knows its passes. Returns the name that it
// gives itself. Throws PluginError where the file is none, or was built for another LLVM.
std::string load_plugin(const std::string& path);

// The pipeline text that runs `pass` alone, in whatever unit of IR it works on: `function(pass)`,
// or `pass` itself if that is such a text. LLVM and the plug-in of this number are asked, in the
// order of loading; -1 asks all of them. Throws PipelineError if nobody knows it. Not for use
// beside other threads.
std::string pipeline_of_pass(const std::string& pass, int plugin = -1);

}  // namespace compiler_gym::llvm
