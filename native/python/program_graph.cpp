// Python face of compiler_gym/llvm/program_graph.h.

#include "compiler_gym/llvm/program_graph.h"

#include <nanobind/stl/vector.h>

#include "tables.h"

namespace compiler_gym::python {

void bind_program_graph(nb::module_& m) {
  def_tables(m, llvm::graph_observations);
  m.def("program_graph_texts", &llvm::program_graph_texts,
        "The texts that node_text of program_graph() indexes.");
  m.def(
      "program_graph_json",
      [](llvm::Module& module) { return inspected(module, llvm::program_graph_json); }, "module"_a,
      "The ProGraML graph as node-link JSON.");
}

}  // namespace compiler_gym::python
