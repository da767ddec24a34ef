// What a module's functions, calls and loops look like, a row each: the state
// for decisions about one function or one loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// Rows of equal length, one after the other.
struct FunctionTable {
  std::vector<std::string> names;     // of the functions that have a body, in the module's order
  std::vector<std::int64_t> features;  // names.size() rows of function_feature_names().size()
};

// The instructions by opcode, then shape, loops, calls, memory, vectors, and
// LLVM's own FunctionPropertiesAnalysis.
FunctionTable function_table(const ::llvm::Module& module);
std::vector<std::string> function_feature_names();

// Who calls whom. A node is a function, declarations included, in the module's
// order; parallel calls are one edge with their number.
struct CallGraphTable {
  std::vector<std::string> names;
  std::vector<std::int8_t> is_defined;
  std::vector<std::int64_t> instructions;
  std::vector<std::int32_t> caller;
  std::vector<std::int32_t> callee;
  std::vector<std::int32_t> calls;
  std::vector<std::int32_t> indirect_calls;  // by caller: calls whose callee is not known
};
CallGraphTable call_graph(const ::llvm::Module& module);

// Natural loops, outer before inner, function after function.
struct LoopForest {
  std::vector<std::int32_t> function;      // the function's place in the module
  std::vector<std::int32_t> parent;        // the row of the enclosing loop; -1 at the top
  std::vector<std::int32_t> depth;         // 1 at the top
  std::vector<std::int32_t> header;        // the header's place in its function
  std::vector<std::int32_t> blocks;        // with those of inner loops
  std::vector<std::int64_t> instructions;  // likewise
  std::vector<std::int32_t> exits;         // blocks outside that the loop may go to
  std::vector<std::int32_t> latches;
  std::vector<std::int64_t> trip_count;    // as ScalarEvolution proves; 0 if it cannot
  std::vector<std::int8_t> is_simplified;  // preheader, one latch, dedicated exits
  std::vector<std::int8_t> is_rotated;     // the latch may leave the loop
};
LoopForest loop_forest(const ::llvm::Module& module);

// How often each function that has a body runs in one run of the program, as LLVM's block
// frequencies guess: main and whatever nobody calls by name once, others as often as the
// calls to them. A recursive call counts as none.
std::vector<std::pair<std::string, double>> call_frequencies(const ::llvm::Module& module);

}  // namespace compiler_gym::llvm
