#include "compiler_gym/llvm/module.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "programs.h"

using namespace compiler_gym::llvm;
using compiler_gym::tests::loop;

TEST_CASE("a module reports whether a pipeline changed it") {
  Module module(loop);
  CHECK(module.instruction_count() == compiler_gym::tests::loop_instructions);
  CHECK(module.run("function(sroa)"));
  CHECK_FALSE(module.run("function(sroa)"));
  CHECK(module.instruction_count() < compiler_gym::tests::loop_instructions);
  module.verify();
}

TEST_CASE("bitcode of a module is the module") {
  Module module(loop);
  module.run("function(sroa)");
  Module copy(module.bitcode());
  CHECK(copy.hash() == module.hash());
  CHECK(copy.bitcode() == module.bitcode());
  CHECK(copy.text() == module.text());
  CHECK(copy.triple() == "x86_64-pc-linux-gnu");
  CHECK(copy.source_filename() == "loop.c");
}

TEST_CASE("invalid modules are refused") {
  CHECK_THROWS_WITH_AS(Module(""), doctest::Contains("the file is empty"), InitError);
  CHECK_THROWS_WITH_AS(Module("nonsense"), doctest::Contains("top-level entity"), InitError);
}

TEST_CASE("a refused pipeline changes nothing") {
  Module module(loop);
  const auto before = module.hash();
  CHECK_THROWS_AS(module.run("function(sroa),nonsense"), PipelineError);
  CHECK(module.hash() == before);
}

TEST_CASE("a fatal error loses this module only") {
  Module module(loop), other(loop);
  CHECK_THROWS_WITH_AS(module.run("function(loop-simplify,lcssa),function(loop(licm))"),
                       doctest::Contains("MemorySSA"), FatalError);
  CHECK_THROWS_WITH_AS(module.bitcode(), doctest::Contains("lost to an earlier error"), FatalError);
  CHECK(other.run("function(sroa)"));
}

TEST_CASE("a module moves with its state") {
  Module module(loop);
  const auto hash = module.hash();
  Module moved(std::move(module));
  CHECK(moved.hash() == hash);
  CHECK(moved.run("function(sroa)"));
}

TEST_CASE("a refused pipeline that was watched leaves nothing behind") {
  Module module(loop);
  CHECK_THROWS_AS(module.run_watched("nonsense"), PipelineError);
  CHECK(module.run("function(sroa)"));
}

TEST_CASE("a pipeline that stops in its middle leaves nothing stale") {
  Module module(std::string(loop) +
                "!compiler_gym.codegen = !{!0}\n!0 = !{!\"no-such-option=1\"}\n");
  module.hash();
  module.instruction_count();
  CHECK_THROWS_WITH_AS(module.run("function(sroa),codegen<regalloc=basic>"),
                       doctest::Contains("no-such-option"), DiagnosticError);
  CHECK(module.instruction_count() < compiler_gym::tests::loop_instructions);
  Module fresh(module.bitcode());
  CHECK(module.hash() == fresh.hash());
}
