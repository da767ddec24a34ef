// The code generations that a function can have, and how a function is marked for one of them.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

namespace llvm {
class Function;
class TargetPassConfig;
}  // namespace llvm

namespace compiler_gym::linker {

struct Traits;

// Settings are applied to one function at a time: by its attributes, by passes that are skipped for
// it, and by its register allocator.
struct Setting {
  llvm::StringLiteral name;
  // Return whether the setting saves enough in such functions for the time of a trial.
  bool (*is_likely)(const Traits&);
  // No frame pointer where there is one to save bytes, and one where there is none.
  bool changes_frame = false;
  // The allocator that does not split the lives of variables.
  bool allocates_simply = false;
  // The arguments of the passes, as in `llc -print-after=`: the gate is asked with these.
  llvm::ArrayRef<llvm::StringLiteral> skipped = {};
};

// All settings, those first that gain most in the time that they take. The plain code generation is
// not among them.
llvm::ArrayRef<Setting> all_settings();

// Return whether the setting can make a difference for the function.
bool can_apply(const Setting&, const llvm::Function&);
void apply(const Setting&, llvm::Function&);
// Return the setting that the function was given, or null.
const Setting* find_setting(const llvm::Function&);

// Make the code generator read what `apply` has written. Must be called for each pipeline.
void follow_settings(llvm::TargetPassConfig&);

}  // namespace compiler_gym::linker
