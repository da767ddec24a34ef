// The code generations that a function can have, and how a function is marked for one of them.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

namespace llvm {
class Function;
class TargetPassConfig;
}  // namespace llvm

namespace compiler_gym::linker {

// Settings are applied to one function at a time: by its attributes, by passes that are skipped for
// it, by the order in which its instructions are selected, and by its register allocator.
struct Setting {
  llvm::StringLiteral name;
  // A frame pointer if the function has none, and none if it has one to save bytes.
  bool changes_frame = false;
  bool allocates_simply = false;
  bool schedules_fast = false;
  llvm::StringLiteral processor = "";
  llvm::ArrayRef<llvm::StringLiteral> skipped = {};
};

// All settings, the most valuable first. The plain code generation is not among them.
llvm::ArrayRef<Setting> all_settings();

// Return whether the setting can make a difference for the function.
bool can_apply(const Setting&, const llvm::Function&);
void apply(const Setting&, llvm::Function&);
// Return the setting that the function was given, or null.
const Setting* find_setting(const llvm::Function&);

// Make the code generator read what `apply` has written. Must be called for each pipeline.
void follow_settings(llvm::TargetPassConfig&);

}  // namespace compiler_gym::linker
