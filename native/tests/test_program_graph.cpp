#include "compiler_gym/llvm/program_graph.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

ProgramGraph graph_of(std::string_view text) {
  ::llvm::LLVMContext context;
  return program_graph(*read_module(text, "", context));
}

template <class Kind>
auto count(const std::vector<std::int32_t>& column, Kind kind) {
  return std::count(column.begin(), column.end(), static_cast<std::int32_t>(kind));
}

}  // namespace

TEST_CASE("the graph of a loop has a node per instruction, used value, constant and type") {
  const auto graph = graph_of(compiler_gym::tests::loop);
  // Plus one for everything external.
  CHECK(count(graph.node_kind, NodeKind::Instruction) ==
        compiler_gym::tests::loop_instructions + 1);
  // Two arguments, and the results of all instructions but stores, branches and the return.
  CHECK(count(graph.node_kind, NodeKind::Variable) == 2 + 9);
  // 0 and 1 of 32 bits: alloca's count is one of them.
  CHECK(count(graph.node_kind, NodeKind::Constant) == 2);
  // i32, i1 and ptr.
  CHECK(count(graph.node_kind, NodeKind::Type) == 3);
}

TEST_CASE("branches number their successors and both ends of a call are joined") {
  const auto graph = graph_of(compiler_gym::tests::loop);
  // Eleven within blocks, four between them.
  CHECK(count(graph.edge_kind, EdgeKind::Control) == 11 + 4);
  CHECK(count(graph.edge_kind, EdgeKind::Call) == 2);
  for (std::size_t edge = 0; edge < graph.edge_kind.size(); ++edge) {
    if (graph.edge_kind[edge] == static_cast<std::int32_t>(EdgeKind::Control)) {
      CHECK(graph.edge_position[edge] <= 1);
    }
  }
}

TEST_CASE("every edge joins nodes that there are") {
  const auto graph = graph_of(compiler_gym::tests::loop);
  const auto nodes = static_cast<std::int32_t>(graph.node_kind.size());
  const auto is_node = [&](std::int32_t node) { return 0 <= node && node < nodes; };
  CHECK(std::all_of(graph.edge_source.begin(), graph.edge_source.end(), is_node));
  CHECK(std::all_of(graph.edge_target.begin(), graph.edge_target.end(), is_node));
  const auto texts = static_cast<std::int32_t>(program_graph_texts().size());
  for (const auto text : graph.node_text) CHECK((0 <= text && text < texts));
}

TEST_CASE("a module without code is the world outside and its declarations") {
  CHECK(graph_of("declare void @f()").node_kind.size() == 2);
  CHECK(graph_of("; nothing\n").node_kind.size() == 1);
}
