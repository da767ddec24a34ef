// A module's functions, calls and loops, with a row for each: the state for
// decisions about one function or one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler_gym/llvm/table.h"

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// Rows of equal length, one after the other.
struct FunctionTable {
  std::vector<std::string> names;
  std::vector<std::int64_t> features;
};

// The instructions by opcode, then shape, loops, calls, memory, vectors, and
// LLVM's own FunctionPropertiesAnalysis.
FunctionTable function_table(const ::llvm::Module& module);
std::vector<std::string> function_feature_names();

template <class Visit>
void visit_columns(const FunctionTable& table, Visit&& visit) {
  visit(names_column("names", "the functions that have a body, in the module's order"),
        table.names);
  visit(rows_column("features", "a row of function_feature_names() for each name",
                    function_feature_names().size()),
        table.features);
}

// The call graph. A node is a function, declarations included, in the module's
// order; parallel calls are one edge with a count.
struct CallGraphTable {
  std::vector<std::string> names;
  std::vector<std::int8_t> is_defined;
  std::vector<std::int64_t> instructions;
  std::vector<std::int32_t> caller;
  std::vector<std::int32_t> callee;
  std::vector<std::int32_t> calls;
  std::vector<std::int32_t> indirect_calls;
};
CallGraphTable call_graph(const ::llvm::Module& module);

template <class Visit>
void visit_columns(const CallGraphTable& table, Visit&& visit) {
  visit(names_column("names", "every function, declarations included, in the module's order"),
        table.names);
  visit(flag_column("is_defined", "whether it has a body"), table.is_defined);
  visit(count_column("instructions", "in its body"), table.instructions);
  visit(index_column("indirect_calls", "its calls whose callee is unknown"), table.indirect_calls);
  visit(index_column("caller", "for each edge, the index in names"), table.caller);
  visit(index_column("callee", "for each edge, the index in names"), table.callee);
  visit(index_column("calls", "number of calls of the edge"), table.calls);
}

// Natural loops, outer before inner, function after function.
struct LoopForest {
  std::vector<std::int32_t> function;
  std::vector<std::int32_t> parent;
  std::vector<std::int32_t> depth;
  std::vector<std::int32_t> header;
  std::vector<std::int32_t> blocks;
  std::vector<std::int64_t> instructions;
  std::vector<std::int32_t> exits;
  std::vector<std::int32_t> latches;
  std::vector<std::int64_t> trip_count;
  std::vector<std::int8_t> is_simplified;
  std::vector<std::int8_t> is_rotated;
};
LoopForest loop_forest(const ::llvm::Module& module);

template <class Visit>
void visit_columns(const LoopForest& forest, Visit&& visit) {
  visit(index_column("function", "the function's index in the module"), forest.function);
  visit(index_column("parent", "the row of the enclosing loop; -1 at the top"), forest.parent);
  visit(index_column("depth", "1 at the top"), forest.depth);
  visit(index_column("header", "the header's index in its function"), forest.header);
  visit(index_column("blocks", "including inner loops"), forest.blocks);
  visit(count_column("instructions", "including inner loops"), forest.instructions);
  visit(index_column("exits", "successor blocks outside the loop"), forest.exits);
  visit(index_column("latches", "blocks that branch back to the header"), forest.latches);
  visit(count_column("trip_count", "proved by ScalarEvolution; 0 if unknown"), forest.trip_count);
  visit(flag_column("is_simplified", "preheader, one latch, dedicated exits"),
        forest.is_simplified);
  visit(flag_column("is_rotated", "the latch may leave the loop"), forest.is_rotated);
}

// The estimated calls of each function with a body in one run of the program, from LLVM's block
// frequencies: 1 for main and for functions without direct callers, otherwise the frequency of
// the calls to it. Recursive calls do not count.
std::vector<std::pair<std::string, double>> call_frequencies(const ::llvm::Module& module);

// The observations of this file that Python receives unchanged.
inline constexpr std::tuple function_observations{
    Observed{"function_table", function_table, "Features of each function that has a body."},
    Observed{"call_graph", call_graph, "Functions and the calls between them."},
    Observed{"loop_forest", loop_forest, "Natural loops, outer before inner."},
};

}  // namespace compiler_gym::llvm
