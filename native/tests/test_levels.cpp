#include "compiler_gym/llvm/levels.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/features.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/IR/LLVMContext.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;
using ::llvm::Attribute;

namespace {

struct LevelLoop {
  LevelLoop() { start(); }

  ::llvm::LLVMContext context;
  std::unique_ptr<::llvm::Module> module = read_module(compiler_gym::tests::loop, "", context);

  bool has(Attribute::AttrKind kind) { return module->getFunction("sum")->hasFnAttribute(kind); }
};

}  // namespace

TEST_CASE("levels have names") {
  CHECK(level_named("Oz") == Level::Oz);
  CHECK(level_named("O0") == Level::O0);
  CHECK_FALSE(level_named("O4"));
  CHECK(goal_named("size") == Goal::size);
  CHECK_FALSE(goal_named(""));
}

TEST_CASE("Oz marks functions and optimises them") {
  LevelLoop loop;
  apply_level(*loop.module, Level::Oz);
  CHECK(loop.has(Attribute::MinSize));
  CHECK(loop.has(Attribute::OptimizeForSize));
  CHECK(count_instructions(*loop.module) < compiler_gym::tests::loop_instructions);
}

TEST_CASE("O3 vectorises where Oz does not") {
  LevelLoop fast, small;
  apply_level(*fast.module, Level::O3);
  apply_level(*small.module, Level::Oz);
  CHECK_FALSE(fast.has(Attribute::MinSize));
  CHECK(count_instructions(*fast.module) > count_instructions(*small.module));
}

TEST_CASE("O0 leaves the code alone") {
  LevelLoop loop;
  apply_level(*loop.module, Level::O0);
  CHECK(loop.has(Attribute::OptimizeNone));
  CHECK(count_instructions(*loop.module) == compiler_gym::tests::loop_instructions);
  set_goal(*loop.module, Goal::size);
  CHECK_FALSE(loop.has(Attribute::OptimizeNone));
  CHECK(loop.has(Attribute::NoInline));
  CHECK(loop.has(Attribute::MinSize));
}
