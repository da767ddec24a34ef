// The shape of each function: its structure without names and constants. Functions with the same
// shape are near-duplicates, such as copies of a source under different names.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "compiler_gym/llvm/table.h"

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

// One row for each function with a body. A shape keeps opcodes, types, predicates, memory
// orderings, control flow, intrinsics, and which operand is which. It forgets the names of values,
// blocks, symbols and types, all constants (including string literals, indices of fields and
// lengths of arrays), attributes, flags, alignments, metadata and debug information. Symbols are
// numbered within each function: the first that it uses, the second, and so on.
struct FunctionShapes {
  std::vector<std::string> names;
  std::vector<std::int64_t> shapes;
  std::vector<std::int64_t> instructions;
  std::vector<std::int8_t> is_odr;
};

FunctionShapes function_shapes(const ::llvm::Module& module);

template <class Visit>
void visit_columns(const FunctionShapes& table, Visit&& visit) {
  visit(names_column("names", "the functions that have a body, in the module's order"),
        table.names);
  visit(Column{"shapes",
               "a hash of the function without names and constants: equal for near duplicates",
               std::numeric_limits<std::int64_t>::min()},
        table.shapes);
  visit(count_column("instructions", "in its body, without debug instructions"),
        table.instructions);
  visit(flag_column(
            "is_odr",
            "whether each module that uses it has a copy, like a C++ inline function or template"),
        table.is_odr);
}

inline constexpr std::tuple function_shape_observations{
    Observed{"function_shapes", function_shapes, "Functions without their names and constants."},
};

}  // namespace compiler_gym::llvm
