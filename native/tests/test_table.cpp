#include "compiler_gym/llvm/table.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

#include "compiler_gym/llvm/functions.h"
#include "compiler_gym/llvm/program_graph.h"
#include "compiler_gym/llvm/tokens.h"

using namespace compiler_gym::llvm;

namespace {

template <class Table>
void check_columns(std::size_t expected) {
  std::set<std::string> names;
  std::set<const void*> columns;
  visit_columns(Table{}, [&](const Column& column, const auto& values) {
    names.insert(column.name);
    columns.insert(&values);
    CHECK(column.low <= column.high);
    CHECK(std::string(column.doc) != "");
  });
  CHECK(names.size() == expected);
  CHECK(columns.size() == expected);
}

}  // namespace

TEST_CASE("every column of a table is visited once, under a unique name") {
  check_columns<FunctionTable>(2);
  check_columns<CallGraphTable>(7);
  check_columns<LoopForest>(11);
  check_columns<ProgramGraph>(8);
  check_columns<LexedText>(5);
  check_columns<Words>(5);
}

TEST_CASE("a column says how its rows look") {
  constexpr auto kinds = kind_column("kind", "one of three", 3);
  CHECK(kinds.low == 0);
  CHECK(kinds.high == 2);
  CHECK(kinds.width == 0);
  CHECK(rows_column("rows", "of four", 4).width == 4);
  CHECK(index_column("place", "or none").low == -1);
}
