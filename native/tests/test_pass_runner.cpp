#include "pass_runner.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

TEST_CASE("passes change the module, and what they computed is forgotten") {
  ::llvm::LLVMContext context;
  const auto module = read_module(compiler_gym::tests::loop, "", context);
  PassRunner runner(nullptr, module->getTargetTriple());
  runner.run(*module, runner.parse("mem2reg"));
  CHECK(module->getInstructionCount() < compiler_gym::tests::loop_instructions);
  const auto after = bitcode_of(*module);
  runner.run(*module, runner.parse("mem2reg"));
  CHECK(bitcode_of(*module) == after);
}

TEST_CASE("a pipeline that LLVM refuses is an error before anything has run") {
  PassRunner runner(nullptr, ::llvm::Triple("x86_64-pc-linux-gnu"));
  CHECK_THROWS_AS(runner.parse("mem2reg,no-such-pass"), PipelineError);
}

TEST_CASE("a function that must stay as it is does") {
  ::llvm::LLVMContext context;
  const auto module = read_module(
      "define i32 @f() noinline optnone { %a = add i32 1, 2\n ret i32 %a }", "", context);
  PassRunner runner(nullptr, module->getTargetTriple());
  runner.run(*module, runner.parse("instcombine"));
  CHECK(module->getInstructionCount() == 2);
}
