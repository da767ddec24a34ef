#include "flat_table.h"

#include <doctest/doctest.h>

using compiler_gym::llvm::FlatTable;

TEST_CASE("a table keeps the first number of each key while it grows") {
  FlatTable table;
  std::vector<int> keys(10'000);
  table.reset(0);
  for (std::uint32_t at = 0; at < keys.size(); ++at) {
    CHECK(table.find_or_insert(&keys[at], at) == at);
  }
  for (std::uint32_t at = 0; at < keys.size(); ++at) {
    CHECK(table.find_or_insert(&keys[at], 99) == at);
    CHECK(*table.find(&keys[at]) == at);
  }
}

TEST_CASE("a reset table of any size is empty") {
  FlatTable table;
  int key = 0;
  for (const std::size_t expected : {1000u, 1u, 100'000u, 5u}) {
    table.reset(expected);
    CHECK(table.find(&key) == nullptr);
    table.find_or_insert(&key, 7);
    CHECK(*table.find(&key) == 7);
  }
}
