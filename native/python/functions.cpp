// Python face of compiler_gym/llvm/functions.h.

#include "compiler_gym/llvm/functions.h"

#include <nanobind/stl/vector.h>

#include "tables.h"

namespace compiler_gym::python {

void bind_functions(nb::module_& m) {
  def_tables(m, llvm::function_observations);
  m.def("function_feature_names", &llvm::function_feature_names,
        "The columns of function_table().");
  m.def(
      "call_frequencies",
      [](llvm::Module& module) {
        nb::typed<nb::list, nb::typed<nb::tuple, nb::bytes, double>> rows;
        for (const auto& [name, times] : inspected(module, llvm::call_frequencies)) {
          rows.append(nb::make_tuple(nb::bytes(name.data(), name.size()), times));
        }
        return rows;
      },
      "module"_a,
      "The estimated calls of each function with a body in one run of the program: (name, calls).");
}

}  // namespace compiler_gym::python
