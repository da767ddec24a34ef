// Options of LLVM's code generator that a module carries with it.
//
// LLVM has them once for a process. Here they are of a module, as text in a named metadata node:
// they survive printing, reading and copying, they count in hashes, and whoever makes code of the
// module finds them there. A module for which nothing was chosen has no such node.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// The node that holds what was chosen: !{!"name=value", ...}, sorted by name.
inline constexpr const char* codegen_node = "compiler_gym.codegen";

// The value that leaves an option as it is.
inline constexpr const char* default_value = "default";

struct CodegenOption {
  std::string name;                 // as llc spells it, without dashes
  std::vector<std::string> values;  // without default_value
};

// Every option that can be chosen, as codegen.tsv lists them.
const std::vector<CodegenOption>& codegen_options();

// Values by the names of their options; those left to LLVM are not in it.
using ChosenOptions = std::map<std::string, std::string>;

// Throws UnsupportedError for an option or a value that is not offered.
ChosenOptions chosen_options_of(const ::llvm::Module& module);

// Writes `chosen` into the module in place of what was there; returns whether that changed it.
bool choose_options(::llvm::Module& module, const ChosenOptions& chosen);

// Reads "name=value;name=value" and changes `chosen` by it. The word "reset" takes all that was
// chosen before away, the value "default" one option. Throws PipelineError for anything else.
void read_options(std::string_view text, ChosenOptions& chosen);

}  // namespace compiler_gym::llvm
