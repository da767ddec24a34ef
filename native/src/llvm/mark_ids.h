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
// A higher number, which a file may hold, is no id: an action space has a row of actions for each.
inline constexpr std::int32_t highest_id = (1 << 20) - 1;

std::int32_t id_of(const ::llvm::CallBase& call);
std::int32_t id_of(const ::llvm::Function& function);
// Of an `!llvm.loop` node; null has none.
std::int32_t id_of_loop(const ::llvm::MDNode* loop);

// Whether a call gets an id: of a function with a body, or of one that is not known yet.
bool is_call_site(const ::llvm::CallBase& call);

// Give an id to what has none.
void set_id(::llvm::CallBase& call, std::int32_t id);
void set_id(::llvm::Function& function, std::int32_t id);
::llvm::MDNode* with_id(::llvm::LLVMContext& context, ::llvm::MDNode* loop, std::int32_t id);

std::size_t choice_of(const ::llvm::CallBase& call);
std::size_t choice_of(const ::llvm::Function& function);
// A bit for each choice of the kind that a loop is marked with.
std::uint32_t choices_of_loop(const ::llvm::MDNode* loop);

// A bit for each choice that contradicts nothing.
std::uint32_t allowed_for(const ::llvm::Function& function);

// Mark, and return whether that changed anything.
bool mark(::llvm::CallBase& call, std::size_t choice);
bool mark(::llvm::Function& function, std::size_t choice);
// Return the properties of a loop with that choice: the same node where nothing changes.
::llvm::MDNode* marked_loop(::llvm::MDNode* loop, std::size_t choice);

// How often the choice peels a loop, which is done at once: LLVM has no mark for it.
std::optional<unsigned> peel_count(std::size_t loop_choice);

// The three tables at once: they share what takes long.
struct DecisionTables {
  CallSites calls;
  MarkedLoops loops;
  MarkedFunctions functions;
};
DecisionTables decision_tables(const ::llvm::Module& module);

}  // namespace compiler_gym::llvm
