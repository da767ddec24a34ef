#include "pass_runner.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <utility>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/Support/ErrorHandling.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

// Counts how often it is destroyed, and fails when it runs.
struct Failing : ::llvm::PassInfoMixin<Failing> {
  explicit Failing(int& destroyed, bool is_fatal) : destroyed(&destroyed), is_fatal(is_fatal) {}
  Failing(Failing&& other) noexcept : destroyed(std::exchange(other.destroyed, nullptr)) {
    is_fatal = other.is_fatal;
  }
  ~Failing() {
    if (destroyed) ++*destroyed;
  }
  ::llvm::PreservedAnalyses run(::llvm::Module&, ::llvm::ModuleAnalysisManager&) {
    if (is_fatal) ::llvm::report_fatal_error("it is over");
    throw std::runtime_error("a stranger's");
  }

  int* destroyed;
  bool is_fatal;
};

}  // namespace

TEST_CASE("passes change the module, and their analyses are dropped") {
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

TEST_CASE("if a pass gives up, it and its analyses are leaked") {
  start();
  ::llvm::LLVMContext context;
  const auto module = read_module(compiler_gym::tests::loop, "", context);
  for (const bool is_fatal : {true, false}) {
    int destroyed = 0;
    const auto run = [&] {
      PassRunner runner(nullptr, module->getTargetTriple());
      ::llvm::ModulePassManager passes;
      passes.addPass(Failing(destroyed, is_fatal));
      runner.run(*module, std::move(passes));
    };
    CHECK_THROWS_WITH_AS(run(), doctest::Contains(is_fatal ? "it is over" : "a stranger's"),
                         FatalError);
    CHECK(destroyed == 0);
  }
}
