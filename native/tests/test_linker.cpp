#include "compiler_gym/llvm/linker.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"
#include "programs.h"

using namespace compiler_gym::llvm;
using compiler_gym::tests::loop;

TEST_CASE("modules are linked and split again") {
  constexpr std::string_view other = "define i32 @one() { ret i32 1 }";
  const auto whole = link_modules({loop, other});
  CHECK(Module(whole).instruction_count() == compiler_gym::tests::loop_instructions + 1);
  const auto parts = split_functions(whole);
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].first == "sum");
  CHECK(parts[1].first == "one");
  CHECK(Module(parts[1].second).instruction_count() == 1);
  CHECK(parts[2].first == "");
  CHECK(Module(parts[2].second).instruction_count() == 0);
}

TEST_CASE("parts get their linkage back when all are linked, and not before") {
  constexpr std::string_view source = R"(
@cell = internal global i32 2
define internal i32 @two() { %r = load i32, ptr @cell ret i32 %r }
define i32 @main() { %r = call i32 @two() ret i32 %r }
)";
  const auto parts = split_functions(source);
  REQUIRE(parts.size() == 3);
  const auto some = link_modules({parts[0].second, parts[1].second});
  CHECK(Module(some).text().find("define hidden i32 @two()") != std::string::npos);
  const auto whole = Module(link_modules({parts[2].second, some})).text();
  CHECK(whole.find("@cell = internal global i32 2") != std::string::npos);
  CHECK(whole.find("define internal i32 @two()") != std::string::npos);
  CHECK(whole.find("compiler_gym.parts") == std::string::npos);
}

TEST_CASE("conflicting modules do not link") {
  CHECK_THROWS_WITH_AS(link_modules({loop, loop}), doctest::Contains("multiply defined"),
                       InitError);
}

TEST_CASE("casts that do nothing go") {
  const auto stripped =
      strip_noop_bitcasts("define ptr @f(ptr %p) { %q = bitcast ptr %p to ptr\n ret ptr %q }");
  CHECK(Module(stripped).instruction_count() == 1);
}
