// The code generations that a function can have, and the marks that select one of them.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

namespace llvm {
class Function;
class TargetPassConfig;
}  // namespace llvm

namespace compiler_gym::linker {

struct Traits;

// A setting applies to one function: through its attributes, the passes skipped for it, and its
// register allocator.
struct Setting {
  llvm::StringLiteral name;
  // Return whether the setting saves enough in such functions to justify the time of a trial.
  bool (*is_likely)(const Traits&);
  // Remove a frame pointer that exists to save bytes, or adds one if there is none.
  bool changes_frame = false;
  // Uses the allocator that does not split live ranges.
  bool allocates_simply = false;
  // The names of the passes, as in `llc -print-after=`: the gate receives these.
  llvm::ArrayRef<llvm::StringLiteral> skipped = {};
};

// All settings, those with the largest gain per time first. The plain code generation is not among
// them.
llvm::ArrayRef<Setting> all_settings();

// Return whether the setting can make a difference for the function.
bool can_apply(const Setting&, const llvm::Function&);
void apply(const Setting&, llvm::Function&);
// Return the setting that the function is marked with, or null.
const Setting* find_setting(const llvm::Function&);

// Make the code generator follow the marks that `apply` writes. Must be called for each pipeline.
void follow_settings(llvm::TargetPassConfig&);

}  // namespace compiler_gym::linker
