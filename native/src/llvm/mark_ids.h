// The ids and marks of decision points in the IR; see marks.h.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler_gym/llvm/marks.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Metadata.h"

namespace compiler_gym::llvm {

inline constexpr std::int32_t no_id = -1;
// A higher number, which a file may contain, is ignored: an action space has a row of actions for
// each id.
inline constexpr std::int32_t highest_id = (1 << 20) - 1;

std::int32_t id_of(const ::llvm::CallBase& call);
std::int32_t id_of(const ::llvm::Function& function);
// The id of an `!llvm.loop` node; null has none.
std::int32_t id_of_loop(const ::llvm::MDNode* loop);

// Return whether a call gets an id: its callee has a body or is not known yet.
bool is_call_site(const ::llvm::CallBase& call);

// Give an id to an object without one.
void set_id(::llvm::CallBase& call, std::int32_t id);
void set_id(::llvm::Function& function, std::int32_t id);
::llvm::MDNode* with_id(::llvm::LLVMContext& context, ::llvm::MDNode* loop, std::int32_t id);

std::size_t choice_of(const ::llvm::CallBase& call);
std::size_t choice_of(const ::llvm::Function& function);
// A bit for each choice of the kind that the loop is marked with.
std::uint32_t choices_of_loop(const ::llvm::MDNode* loop);

// A bit for each choice without a contradiction.
std::uint32_t allowed_for(const ::llvm::Function& function);

// Mark an object, and return whether that changed anything.
bool mark(::llvm::CallBase& call, std::size_t choice);
bool mark(::llvm::Function& function, std::size_t choice);
// Return the properties of a loop with that choice: the same node if nothing changes.
::llvm::MDNode* mark_loop(::llvm::MDNode* loop, std::size_t choice);

// The peel count of the choice. Peeling happens at once: LLVM has no mark for it.
std::optional<unsigned> peel_count(std::size_t loop_choice);

// The three tables together: they share the expensive analyses.
struct DecisionTables {
  CallSites calls;
  MarkedLoops loops;
  MarkedFunctions functions;
};
DecisionTables decision_tables(const ::llvm::Module& module);

}  // namespace compiler_gym::llvm
