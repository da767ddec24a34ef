// Python face of compiler_gym/llvm/program_graph.h.

#include "compiler_gym/llvm/program_graph.h"

#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace compiler_gym::python {

void bind_program_graph(nb::module_& m) {
  m.def(
      "program_graph",
      [](llvm::Module& module) {
        const auto graph = inspected(module, llvm::program_graph);
        nb::dict columns;
        columns["node_kind"] = raw(graph.node_kind);
        columns["node_text"] = raw(graph.node_text);
        columns["node_function"] = raw(graph.node_function);
        columns["node_block"] = raw(graph.node_block);
        columns["edge_source"] = raw(graph.edge_source);
        columns["edge_target"] = raw(graph.edge_target);
        columns["edge_kind"] = raw(graph.edge_kind);
        columns["edge_position"] = raw(graph.edge_position);
        return columns;
      },
      "module"_a, "The ProGraML graph as columns of little-endian int32.");
  m.def("program_graph_texts", &llvm::program_graph_texts,
        "What node_text of program_graph() is an index into.");
  m.def(
      "program_graph_json",
      [](llvm::Module& module) { return inspected(module, llvm::program_graph_json); }, "module"_a,
      "The ProGraML graph as node-link JSON.");
}

}  // namespace compiler_gym::python
