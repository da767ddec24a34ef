#include "compiler_gym/llvm/machine.h"

#include <doctest/doctest.h>

#include <numeric>

#include "compiler_gym/llvm/codegen.h"
#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"
#include "programs.h"

using namespace compiler_gym::llvm;

TEST_CASE("blocks cover the code, and the loop is the hottest") {
  Module module(compiler_gym::tests::loop);
  const auto object = emit_object_with_blocks(module.bitcode());
  const auto blocks = estimate_blocks(object);
  REQUIRE(blocks.size() >= 3);
  const auto size = std::accumulate(
      blocks.begin(), blocks.end(), std::uint64_t{0},
      [](std::uint64_t sum, const MachineBlock& block) { return sum + block.size; });
  CHECK(size <= module.object_text_size());
  CHECK(blocks.front().frequency > 1.5);
  for (const auto& block : blocks) {
    CHECK(block.function == "sum");
    CHECK(block.cycles > 0);
  }
}

TEST_CASE("the map of blocks changes no machine code") {
  Module module(compiler_gym::tests::loop);
  const auto mapped = emit_object_with_blocks(module.bitcode());
  CHECK(count_machine_instructions(mapped) == count_machine_instructions(module.object_code()));
  CHECK(count_text_bytes(mapped) == module.object_text_size());
}

TEST_CASE("files that are not objects are refused") {
  CHECK_THROWS_AS(count_machine_instructions("no object"), InitError);
}
