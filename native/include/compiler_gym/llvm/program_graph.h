// A module as one graph of instructions, variables, constants and types, after
// "ProGraML: A Graph-based Program Representation for Data Flow Analysis and
// Compiler Optimizations" (Cummins et al., ICML 2021), with its type vertices.
//
// Vertex 0 stands for everything external. Then come the instructions of each
// function with its variables, in the order of the module (a declaration is one
// instruction), and last the constants and types in the order of first use.
// A variable is an argument or result that something uses.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "compiler_gym/llvm/table.h"

namespace llvm {
class Module;
}

namespace compiler_gym::llvm {

enum class NodeKind : std::int32_t { Instruction, Variable, Constant, Type };

// Control: to the next instruction, or to the successor at `position`. Data: from an instruction to
// its result, and from a value to the instruction in which it is operand `position`. Call: from a
// call to the callee's first instruction, and back from its exits. Type: from a type to its values,
// and to the type in which it is part `position`.
enum class EdgeKind : std::int32_t { Control, Data, Call, Type };

// One array per column, so that each can become a tensor unchanged.
struct ProgramGraph {
  std::vector<std::int32_t> node_kind;
  std::vector<std::int32_t> node_text;
  std::vector<std::int32_t> node_function;
  std::vector<std::int32_t> node_block;
  std::vector<std::int32_t> edge_source;
  std::vector<std::int32_t> edge_target;
  std::vector<std::int32_t> edge_kind;
  std::vector<std::int32_t> edge_position;
};

ProgramGraph program_graph(const ::llvm::Module& module);

// The possible texts of a vertex, the same for every program: "[external]",
// "; undefined function", "var", "val", the opcodes, the kinds of type.
std::vector<std::string> program_graph_texts();

template <class Visit>
void visit_columns(const ProgramGraph& graph, Visit&& visit) {
  constexpr auto node_kinds = static_cast<std::size_t>(NodeKind::Type) + 1;
  constexpr auto edge_kinds = static_cast<std::size_t>(EdgeKind::Type) + 1;
  visit(kind_column("node_kind", "0 instruction, 1 variable, 2 constant, 3 type", node_kinds),
        graph.node_kind);
  visit(
      kind_column("node_text", "an index into program_graph_texts()", program_graph_texts().size()),
      graph.node_text);
  visit(index_column("node_function", "its index in the module; -1 for none"), graph.node_function);
  visit(index_column("node_block", "its index in the module; -1 for none"), graph.node_block);
  visit(index_column("edge_source", "the node it leaves"), graph.edge_source);
  visit(index_column("edge_target", "the node it enters"), graph.edge_target);
  visit(kind_column("edge_kind", "0 control, 1 data, 2 call, 3 type", edge_kinds), graph.edge_kind);
  visit(index_column("edge_position", "the index of the operand, successor or part"),
        graph.edge_position);
}

// The graph as node-link JSON with the attributes ProGraML gives its NetworkX
// form: block, features.full_text, function, text and type for a node; flow and
// position for an edge. A type's text is here the type itself.
std::string program_graph_json(const ::llvm::Module& module);

// The observations of this file that Python receives unchanged.
inline constexpr std::tuple graph_observations{
    Observed{"program_graph", program_graph, "The ProGraML graph."},
};

}  // namespace compiler_gym::llvm
