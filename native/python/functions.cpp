// Python face of compiler_gym/llvm/functions.h.

#include "compiler_gym/llvm/functions.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

void bind_functions(nb::module_& m) {
  m.def(
      "function_table",
      [](llvm::Module& module) {
        const auto table = inspected(module, llvm::function_table);
        nb::dict columns;
        columns["names"] = texts(table.names);
        columns["features"] = raw(table.features);
        return columns;
      },
      "module"_a, "Features of each function that has a body: rows of little-endian int64.");
  m.def("function_feature_names", &llvm::function_feature_names,
        "The columns of function_table().");
  m.def(
      "call_graph",
      [](llvm::Module& module) {
        const auto table = inspected(module, llvm::call_graph);
        nb::dict columns;
        columns["names"] = texts(table.names);
        columns["is_defined"] = raw(table.is_defined);
        columns["instructions"] = raw(table.instructions);
        columns["indirect_calls"] = raw(table.indirect_calls);
        columns["caller"] = raw(table.caller);
        columns["callee"] = raw(table.callee);
        columns["calls"] = raw(table.calls);
        return columns;
      },
      "module"_a, "Functions and who calls whom, as columns.");
  m.def(
      "call_frequencies",
      [](llvm::Module& module) {
        nb::list rows;
        for (const auto& [name, times] : inspected(module, llvm::call_frequencies)) {
          rows.append(nb::make_tuple(nb::bytes(name.data(), name.size()), times));
        }
        return rows;
      },
      "module"_a,
      "How often each function with a body runs in one run of the program: (name, times).");
  m.def(
      "loop_forest",
      [](llvm::Module& module) {
        const auto forest = inspected(module, llvm::loop_forest);
        nb::dict columns;
        columns["function"] = raw(forest.function);
        columns["parent"] = raw(forest.parent);
        columns["depth"] = raw(forest.depth);
        columns["header"] = raw(forest.header);
        columns["blocks"] = raw(forest.blocks);
        columns["instructions"] = raw(forest.instructions);
        columns["exits"] = raw(forest.exits);
        columns["latches"] = raw(forest.latches);
        columns["trip_count"] = raw(forest.trip_count);
        columns["is_simplified"] = raw(forest.is_simplified);
        columns["is_rotated"] = raw(forest.is_rotated);
        return columns;
      },
      "module"_a, "Natural loops, outer before inner, as columns.");
}

}  // namespace compiler_gym::python
