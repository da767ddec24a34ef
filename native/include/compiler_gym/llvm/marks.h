// Decisions finer than a pass, as marks in the IR: call sites, loops and functions, each with an
// id that is stored in the IR too, and the choice that later passes must follow.
//
// An id is given once, in the order of the module, and belongs to a kind: call 3, loop 3 and
// function 3 are different decision points. A pass that copies a decision point copies its id: the
// copies are one decision, and a mark applies to all of them. The ids of removed points no longer
// exist.
//
//   call site   `!compiler_gym.call !{i32 ID}`, on the instruction
//   loop        `!{!"compiler_gym.loop", i32 ID}`, a property of the loop's `!llvm.loop`
//   function    `"compiler-gym-function"="ID"`, an attribute
//
// The state before the first mark is stored next to the id, so that `default` restores it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "compiler_gym/llvm/table.h"

namespace compiler_gym::llvm {

class Module;

enum class PointKind : std::uint8_t { call, loop, function };
constexpr std::size_t point_kinds = 3;

// The names of the choices of each kind, in order; the first leaves the decision to LLVM.
const std::vector<std::string>& choice_names(PointKind kind);

// Call sites whose callee is a function of the module: a row for each id, or for each instruction
// if the module has no ids.
struct CallSites {
  std::vector<std::string> names;
  std::vector<std::int32_t> id;
  std::vector<std::int32_t> caller;
  std::vector<std::int32_t> callee;
  std::vector<std::int32_t> copies;
  std::vector<std::int8_t> choice;
  std::vector<std::int8_t> is_inlinable;
  std::vector<std::int32_t> arguments;
  std::vector<std::int32_t> constant_arguments;
  std::vector<std::int64_t> caller_instructions;
  std::vector<std::int64_t> callee_instructions;
  std::vector<std::int32_t> callee_calls;
};

template <class Visit>
void visit_columns(const CallSites& table, Visit&& visit) {
  visit(names_column("names", "every function, declarations included, in the module's order"),
        table.names);
  visit(index_column("id", "of each call site; -1 if the module has no ids"), table.id);
  visit(index_column("caller", "the index in names; of copies the first"), table.caller);
  visit(index_column("callee", "the index in names"), table.callee);
  visit(index_column("copies", "number of calls with the id"), table.copies);
  visit(kind_column("choice", "0 default, 1 inline, 2 never", 3), table.choice);
  visit(flag_column("is_inlinable", "whether LLVM can inline it: inline may be chosen"),
        table.is_inlinable);
  visit(index_column("arguments", "that it passes"), table.arguments);
  visit(index_column("constant_arguments", "of these"), table.constant_arguments);
  visit(count_column("caller_instructions", "in the caller"), table.caller_instructions);
  visit(count_column("callee_instructions", "in the callee"), table.callee_instructions);
  visit(index_column("callee_calls", "direct calls of the callee, including this one"),
        table.callee_calls);
}

// Loops that have an id: a row for each; every loop if the module has no ids.
struct MarkedLoops {
  std::vector<std::string> names;
  std::vector<std::int32_t> id;
  std::vector<std::int32_t> function;
  std::vector<std::int32_t> header;
  std::vector<std::int32_t> depth;
  std::vector<std::int32_t> copies;
  std::vector<std::int32_t> blocks;
  std::vector<std::int64_t> instructions;
  std::vector<std::int64_t> trip_count;
  std::vector<std::int64_t> choices;
  std::vector<std::int8_t> is_peelable;
};

template <class Visit>
void visit_columns(const MarkedLoops& table, Visit&& visit) {
  visit(names_column("names", "every function, declarations included, in the module's order"),
        table.names);
  visit(index_column("id", "of each loop; -1 if the module has no ids"), table.id);
  visit(index_column("function", "the index in names; of copies the first"), table.function);
  visit(index_column("header", "the header's index in its function"), table.header);
  visit(index_column("depth", "1 at the top"), table.depth);
  visit(index_column("copies", "number of loops with the id"), table.copies);
  visit(index_column("blocks", "including inner loops"), table.blocks);
  visit(count_column("instructions", "including inner loops"), table.instructions);
  visit(count_column("trip_count", "proved by ScalarEvolution; 0 if unknown"), table.trip_count);
  visit(count_column("choices", "a bit for each marked choice"), table.choices);
  visit(flag_column("is_peelable", "whether LLVM can peel it: peel may be chosen"),
        table.is_peelable);
}

// Functions that have a body: a row for each id, or for each function if the module has no ids.
struct MarkedFunctions {
  std::vector<std::string> names;
  std::vector<std::int32_t> id;
  std::vector<std::int32_t> copies;
  std::vector<std::int8_t> choice;
  std::vector<std::int64_t> allowed;
  std::vector<std::int8_t> is_local;
  std::vector<std::int32_t> blocks;
  std::vector<std::int64_t> instructions;
  std::vector<std::int32_t> calls;
  std::vector<std::int32_t> callers;
};

template <class Visit>
void visit_columns(const MarkedFunctions& table, Visit&& visit) {
  visit(names_column("names", "a function for each row; of copies the first"), table.names);
  visit(index_column("id", "of each function; -1 if the module has no ids"), table.id);
  visit(index_column("copies", "number of functions with the id"), table.copies);
  visit(kind_column("choice", "0 unchanged, 1 optsize, 2 minsize, 3 cold, 4 hot, 5 noinline", 6),
        table.choice);
  visit(count_column("allowed", "a bit for each allowed choice"), table.allowed);
  visit(flag_column("is_local", "whether no other module can see it"), table.is_local);
  visit(index_column("blocks", "in its body"), table.blocks);
  visit(count_column("instructions", "in its body"), table.instructions);
  visit(index_column("calls", "direct calls of functions with a body, in its body"), table.calls);
  visit(index_column("callers", "direct calls of the function"), table.callers);
}

CallSites call_sites(const ::llvm::Module& module);
MarkedLoops marked_loops(const ::llvm::Module& module);
MarkedFunctions marked_functions(const ::llvm::Module& module);

inline constexpr std::tuple mark_observations{
    Observed{"call_sites", call_sites, "Calls of functions that have a body."},
    Observed{"marked_loops", marked_loops, "Loops, with their marks."},
    Observed{"marked_functions", marked_functions, "Functions that have a body, with their marks."},
};

// A decision point of the current module.
struct Point {
  PointKind kind;
  std::int32_t id;
  std::uint32_t allowed;  // a bit for each choice
  std::string label;      // a description for people
};

// The marks of one module, which must outlive this object. Not thread safe.
class Marks {
 public:
  explicit Marks(Module& module);
  ~Marks();

  // Give an id to each decision point without one, in the module's order, after the highest
  // existing id.
  void number();
  // All decisions that exist now: calls, then loops, then functions, each sorted by id.
  const std::vector<Point>& points();
  // Make a choice and return whether the IR changed, exactly. If the id does not exist (any more)
  // or does not allow the choice, throws RefusedError and changes nothing.
  bool choose(PointKind kind, std::int32_t id, std::size_t choice);
  // The number of ids of a kind in the module, including removed ones if the module still shows
  // them.
  std::int32_t ids(PointKind kind);

 private:
  struct Index;
  Index& index();

  Module& module_;
  std::unique_ptr<Index> index_;
};

}  // namespace compiler_gym::llvm
