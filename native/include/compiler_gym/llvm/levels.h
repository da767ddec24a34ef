// Clang's levels -O0 to -Oz and its goals, size and speed: function attributes
// and the standard pipelines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler_gym/given_up.h"

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

enum class Goal { size, speed };
// OptOz is `opt -passes='default<Oz>'` on bitcode without size attributes, the baseline in papers;
// the others are clang's levels.
enum class Level { O0, O1, O2, O3, Os, Oz, OptOz };

std::optional<Goal> goal_named(std::string_view name);
std::optional<Level> level_named(std::string_view name);

// Mark every definition minsize and optsize, or neither. Both remove optnone,
// with which passes skip a function; noinline stays, because the program may
// need it.
void set_goal(::llvm::Module& module, Goal goal);

// Give every definition the attributes of a level and run the level's pipeline as clang would. The
// IR should come from `clang -O2 -Xclang -disable-llvm-passes`: clang emits different IR at -O0 (no
// lifetimes, no TBAA), and this function cannot restore it.
void apply_level(::llvm::Module& module, Level level);

// Like apply_level, for a module that is a whole program: applies the pipelines of `clang -flto`
// and of the linker at that level. Names in `keep` stay visible; see whole_program.h.
Fragile<::llvm::Module> run_linked_level(Fragile<::llvm::Module> module, Level level,
                                         const std::vector<std::string>& keep);

}  // namespace compiler_gym::llvm
