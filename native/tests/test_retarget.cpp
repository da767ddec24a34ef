#include "compiler_gym/llvm/retarget.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"
#include "compiler_gym/llvm/runtime.h"
#include "programs.h"

using namespace compiler_gym::llvm;

TEST_CASE("a module can be retargeted to each machine and compiled for it") {
  REQUIRE(machines().front() == "x86_64");
  for (const auto& machine : machines()) {
    Module module(compiler_gym::tests::loop);
    CHECK(module.retarget(machine) == (machine != "x86_64"));
    CHECK(find_machine(module.triple()) == machine);
    module.run("default<O2>");
    module.verify();
    CHECK(module.object_text_size() > 0);
    CHECK(!simulated_processor(machine).empty());
  }
}

TEST_CASE("a module that has run passes is made anew for another machine") {
  Module module(compiler_gym::tests::loop);
  module.run("function(sroa)");
  const auto before = module.hash();
  REQUIRE(module.retarget(machines().back()));
  CHECK(module.hash() != before);
  Module again(module.bitcode());
  CHECK(module.run("default<O3>") == again.run("default<O3>"));
  CHECK(module.hash() == again.hash());
}

TEST_CASE("no other machine is one, and nothing changes") {
  Module module(compiler_gym::tests::loop);
  const auto before = module.hash();
  CHECK(find_machine("sparc-linux").empty());
  CHECK_THROWS_AS(module.retarget("sparc-linux"), InitError);
  CHECK_THROWS_AS(simulated_processor("sparc"), InitError);
  CHECK(module.hash() == before);
}
