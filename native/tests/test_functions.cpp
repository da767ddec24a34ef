#include "compiler_gym/llvm/functions.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

constexpr std::string_view call_program = R"(
declare void @outside()
define void @leaf() { ret void }
define void @main(ptr %0) {
  call void @leaf()
  call void @leaf()
  call void @outside()
  call void %0()
  ret void
}
)";

std::int64_t feature(const FunctionTable& table, std::size_t row, const std::string& name) {
  const auto names = function_feature_names();
  const auto column = std::find(names.begin(), names.end(), name) - names.begin();
  return table.features.at(row * names.size() + static_cast<std::size_t>(column));
}

}  // namespace

TEST_CASE("a function's row counts its instructions") {
  ::llvm::LLVMContext context;
  const auto module = read_module(compiler_gym::tests::loop, "", context);
  const auto table = function_table(*module);
  REQUIRE(table.names == std::vector<std::string>{"sum"});
  CHECK(feature(table, 0, "Instructions") == compiler_gym::tests::loop_instructions);
  CHECK(feature(table, 0, "Blocks") == 4);
  CHECK(feature(table, 0, "CyclomaticComplexity") == 2);
  CHECK(feature(table, 0, "Loops") == 1);
  CHECK(feature(table, 0, "InstructionsInLoops") == 10);
  CHECK(feature(table, 0, "MemoryInstructions") == 5);
  CHECK(feature(table, 0, "Properties.BasicBlocksWithTwoSuccessors") == 1);
}

TEST_CASE("calls are counted by callee, with unknown callees apart") {
  ::llvm::LLVMContext context;
  const auto graph = call_graph(*read_module(call_program, "", context));
  REQUIRE(graph.names == std::vector<std::string>{"outside", "leaf", "main"});
  CHECK(graph.is_defined == std::vector<std::int8_t>{0, 1, 1});
  CHECK(graph.caller == std::vector<std::int32_t>{2, 2});
  CHECK(graph.callee == std::vector<std::int32_t>{1, 0});
  CHECK(graph.calls == std::vector<std::int32_t>{2, 1});
  CHECK(graph.indirect_calls == std::vector<std::int32_t>{0, 0, 1});
}

TEST_CASE("a loop's row says where it is and how large") {
  ::llvm::LLVMContext context;
  const auto forest = loop_forest(*read_module(compiler_gym::tests::loop, "", context));
  REQUIRE(forest.depth == std::vector<std::int32_t>{1});
  CHECK(forest.parent[0] == -1);
  CHECK(forest.header[0] == 1);
  CHECK(forest.blocks[0] == 2);
  CHECK(forest.instructions[0] == 10);
  CHECK(forest.is_simplified[0] == 1);
  CHECK(forest.is_rotated[0] == 0);
}

TEST_CASE("a function runs as often as it is called") {
  ::llvm::LLVMContext context;
  const auto rows = call_frequencies(*read_module(call_program, "", context));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == std::pair<std::string, double>{"leaf", 2.0});
  CHECK(rows[1] == std::pair<std::string, double>{"main", 1.0});
}
