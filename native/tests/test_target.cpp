#include "target.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/runtime.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

TEST_CASE("x86 has a target machine, which reads processors from functions") {
  start();
  ::llvm::LLVMContext context;
  const auto module = read_module(compiler_gym::tests::loop, "", context);
  const auto machine = target_machine_for(*module);
  REQUIRE(machine);
  CHECK(machine->getTargetCPU().empty());
  CHECK(machine->getTargetFeatureString().empty());
}

TEST_CASE("another machine, and none, have no target here") {
  start();
  ::llvm::LLVMContext context;
  CHECK(!target_machine_for(*read_module("target triple = \"armv7-linux\"", "", context)));
  CHECK(!target_machine_for(*read_module("@g = global i32 0", "", context)));
}
