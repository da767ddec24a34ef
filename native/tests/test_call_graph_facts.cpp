#include "call_graph_facts.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/runtime.h"
#include "level_passes.h"
#include "llvm/Analysis/FunctionPropertiesAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "programs.h"
#include "reader.h"

using namespace compiler_gym::llvm;

namespace {

constexpr std::string_view shapes = R"(
target triple = "x86_64-pc-linux-gnu"

declare i32 @outside(i32)

define internal i32 @leaf(i32 %n) {
  %more = call i32 @outside(i32 %n)
  ret i32 %more
}

define i32 @middle(i32 %n) {
entry:
  switch i32 %n, label %other [
    i32 1, label %one
    i32 2, label %other
  ]
one:
  %a = call i32 @leaf(i32 %n)
  br label %other
other:
  %b = call i32 @leaf(i32 2)
  ret i32 %b
never:
  %c = call i32 @leaf(i32 3)
  br label %other
}

define i32 @top(i32 %n) {
  %a = call i32 @middle(i32 %n)
  %b = call i32 @top(i32 %a)
  ret i32 %b
}
)";

void check_as_llvm(::llvm::Function& function) {
  const ::llvm::DominatorTree tree(function);
  const ::llvm::LoopInfo loops(tree);
  const auto theirs =
      ::llvm::FunctionPropertiesInfo::getFunctionPropertiesInfo(function, tree, loops, nullptr);
  const auto ours = facts_of(function);
  CAPTURE(function.getName().str());
  CHECK(ours.blocks == theirs.BasicBlockCount);
  CHECK(ours.conditional_blocks == theirs.BlocksReachedFromConditionalInstruction);
  CHECK(ours.local_calls == theirs.DirectCallsToDefinedFunctions);
  CHECK(ours.instructions == theirs.TotalInstructionCount);
  CHECK(ours.uses == theirs.Uses);
}

struct Program {
  explicit Program(std::string_view text) {
    start();
    module = read_module(text, "", context);
    runner = runner_at(*module, Level::Oz);
    runner->functions().registerPass([] { return FunctionFactsAnalysis(); });
  }

  ::llvm::Function& operator[](const char* name) { return *module->getFunction(name); }

  ::llvm::LLVMContext context;
  std::unique_ptr<::llvm::Module> module;
  std::unique_ptr<PassRunner> runner;
};

}  // namespace

TEST_CASE("a function's facts are LLVM's") {
  for (const auto text : {shapes, compiler_gym::tests::loop}) {
    Program program(text);
    for (auto& function : *program.module) {
      if (!function.isDeclaration()) check_as_llvm(function);
    }
  }
}

TEST_CASE("levels count from the functions that call none") {
  Program program(shapes);
  const CallGraphFacts graph(*program.module, program.runner->functions());
  CHECK(graph.level(program["leaf"]) == 0);
  CHECK(graph.level(program["middle"]) == 1);
  CHECK(graph.level(program["top"]) == 2);
  CHECK(graph.level(program["outside"]) == 0);
  CHECK(graph.functions() == 3);
  CHECK(graph.calls() == 4);
}

TEST_CASE("an inlined call takes the callee's calls with it") {
  Program program(shapes);
  CallGraphFacts graph(*program.module, program.runner->functions());
  auto& top = program["top"];
  auto& middle = program["middle"];
  const auto before = graph.facts(top).local_calls + graph.facts(middle).local_calls;
  CHECK(before == 4);
  graph.inlined(top, middle, /*is_callee_gone=*/true, before);
  CHECK(graph.functions() == 2);
  CHECK(graph.calls() == 2);  // nothing was moved here: the two calls of middle are removed with it
}
