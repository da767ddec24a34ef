// Options of LLVM's code generator, stored in a module.
//
// In LLVM they are global to a process. Here they belong to a module, as text in a named metadata
// node: they survive printing, reading and copying, are part of hashes, and are read by code
// generation. A module without choices has no such node.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// The node that holds the choices: !{!"name=value", ...}, sorted by name.
inline constexpr const char* codegen_node = "compiler_gym.codegen";

// The value that keeps LLVM's default.
inline constexpr const char* default_value = "default";

struct CodegenOption {
  std::string name;                 // llc's spelling, without dashes
  std::vector<std::string> values;  // without default_value
};

// Every option that can be chosen, as codegen.tsv lists them.
const std::vector<CodegenOption>& codegen_options();

// Values by option name, without defaults.
using ChosenOptions = std::map<std::string, std::string>;

// Throws UnsupportedError for an unknown option or value.
ChosenOptions read_chosen_options(const ::llvm::Module& module);

// Replace the choices in the module with `chosen`; return whether that changed it.
bool choose_options(::llvm::Module& module, const ChosenOptions& chosen);

// Apply "name=value;name=value" to `chosen`. The word "reset" clears all choices, the value
// "default" clears one. Throws PipelineError for anything else.
void read_options(std::string_view text, ChosenOptions& chosen);

}  // namespace compiler_gym::llvm
