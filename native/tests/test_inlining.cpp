#include "compiler_gym/llvm/inlining.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>

#include "compiler_gym/llvm/errors.h"
#include "programs.h"

using namespace compiler_gym::llvm;

namespace {

// A function that -Oz inlines (small), one that it does not (large), and calls without a choice.
constexpr std::string_view calls = R"(
source_filename = "calls.c"
target triple = "x86_64-pc-linux-gnu"

declare i32 @outside(i32)

define i32 @small(i32 %n) {
  %sum = add i32 %n, 1
  ret i32 %sum
}

define i32 @large(i32 %n) {
  %a = call i32 @outside(i32 %n)
  %b = call i32 @outside(i32 %a)
  %c = call i32 @outside(i32 %b)
  %d = call i32 @outside(i32 %c)
  %e = call i32 @outside(i32 %d)
  %f = call i32 @outside(i32 %e)
  ret i32 %f
}

define i32 @never(i32 %n) noinline {
  %sum = mul i32 %n, %n
  ret i32 %sum
}

define i32 @always(i32 %n) alwaysinline {
  %sum = mul i32 %n, 3
  ret i32 %sum
}

define i32 @again(i32 %n) {
  %more = call i32 @outside(i32 %n)
  %result = call i32 @again(i32 %more)
  ret i32 %result
}

define i32 @main(i32 %n) {
  %a = call i32 @small(i32 %n)
  %b = call i32 @large(i32 %a)
  %c = call i32 @never(i32 %b)
  %d = call i32 @always(i32 %c)
  %e = call i32 @large(i32 7)
  ret i32 %e
}
)";

std::string at_level(std::string_view text, Level level) {
  Module module(text);
  module.apply_level(level);
  return module.bitcode();
}

std::string answered(std::string_view text, Level level, InlineAnswer answer) {
  Module module(text);
  Inlining run(module, level);
  while (!run.is_over()) run.answer(answer);
  return module.bitcode();
}

std::int64_t feature(const Inlining& run, const std::string& name) {
  const auto names = inline_feature_names();
  return run.features().at(
      static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
}

}  // namespace

TEST_CASE("LLVM's own choices give the level's result") {
  for (const auto level : {Level::O0, Level::O1, Level::O2, Level::O3, Level::Os, Level::Oz}) {
    CAPTURE(static_cast<int>(level));
    CHECK(answered(calls, level, InlineAnswer::standard) == at_level(calls, level));
  }
}

TEST_CASE("questions are only about calls with two possible answers") {
  Module module(calls);
  Inlining run(module, Level::Oz);
  std::vector<std::string> callees;
  while (!run.is_over()) {
    callees.push_back(run.call_site().callee);
    CHECK(run.call_site().number == static_cast<std::int64_t>(callees.size()) - 1);
    run.answer(InlineAnswer::separate);
  }
  CHECK(callees == std::vector<std::string>{"small", "large", "large"});
  CHECK(run.decisions() == std::vector<bool>{false, false, false});
}

TEST_CASE("answers are obeyed") {
  const auto all = answered(calls, Level::Oz, InlineAnswer::inlined);
  const auto none = answered(calls, Level::Oz, InlineAnswer::separate);
  CHECK(all != none);
  CHECK(Module(all).text().find("call i32 @large") == std::string::npos);
  CHECK(Module(none).text().find("call i32 @small") != std::string::npos);
  CHECK(Module(none).text().find("call i32 @always") == std::string::npos);
}

TEST_CASE("a question describes its call") {
  Module module(calls);
  Inlining run(module, Level::Oz);
  const auto site = run.call_site();
  CHECK(site.caller == "main");
  CHECK(site.callee == "small");
  CHECK(site.block == 0);
  CHECK(site.instruction == 0);
  CHECK(site.location.empty());
  CHECK(site.arguments == 1);
  CHECK(site.callee_blocks == 1);
  CHECK(site.callee_instructions == 2);
  CHECK(site.callee_calls == 1);
  CHECK_FALSE(site.is_callee_local);
  CHECK_FALSE(site.is_in_loop);
  CHECK(feature(run, "inlining_default") == 1);
  CHECK(feature(run, "callee_basic_block_count") == 1);
  CHECK(feature(run, "node_count") == 6);
  run.answer(InlineAnswer::standard);
  CHECK(feature(run, "inlining_default") == 0);
  CHECK(feature(run, "nr_ctant_params") == 0);
  run.answer(InlineAnswer::standard);
  CHECK(feature(run, "nr_ctant_params") == 1);
}

TEST_CASE("looking changes nothing") {
  Module module(calls);
  Inlining run(module, Level::Oz);
  while (!run.is_over()) {
    run.call_site();
    const auto first = run.features();
    CHECK(first == run.features());
    module.hash();
    module.object_text_size();
    module.verify();
    run.answer(InlineAnswer::standard);
  }
  CHECK(module.bitcode() == at_level(calls, Level::Oz));
}

TEST_CASE("a run that is given up leaves nothing behind") {
  for (int answers = 0; answers < 3; ++answers) {
    Module module(calls);
    {
      Inlining run(module, Level::Oz);
      for (int i = 0; i < answers; ++i) run.answer(InlineAnswer::standard);
    }
    module.verify();
  }
}

TEST_CASE("several runs go on in turn") {
  Module one(calls), other(calls);
  Inlining first(one, Level::Oz);
  Inlining second(other, Level::Oz);
  while (!first.is_over()) {
    first.answer(InlineAnswer::standard);
    second.answer(InlineAnswer::inlined);
  }
  CHECK(second.is_over());
  CHECK(one.bitcode() == at_level(calls, Level::Oz));
  CHECK(other.bitcode() == answered(calls, Level::Oz, InlineAnswer::inlined));
}

TEST_CASE("a copy of the process goes its own way from an open question") {
  const auto all = answered(calls, Level::Oz, InlineAnswer::inlined);
  Module module(calls);
  Inlining run(module, Level::Oz);
  run.answer(InlineAnswer::inlined);
  const pid_t child = fork();
  if (child == 0) {
    while (!run.is_over()) run.answer(InlineAnswer::inlined);
    _exit(module.bitcode() == all ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  while (!run.is_over()) run.answer(InlineAnswer::standard);
  CHECK(module.bitcode() == at_level(calls, Level::Oz));
}

TEST_CASE("cached facts about the module are dropped") {
  Module module(calls);
  module.run("function(instcombine<no-verify-fixpoint>)");  // its listener is attached from now on
  const auto before = module.instruction_count();
  Inlining inlining(module, Level::Oz);
  while (!inlining.is_over()) inlining.answer(InlineAnswer::inlined);
  CHECK(module.instruction_count() == Module(module.bitcode()).instruction_count());
  CHECK(module.instruction_count() != before);
  for (const auto* pipeline : {"function(simplifycfg)", "globaldce", "function(gvn)"}) {
    const auto found = module.run_watched(pipeline);
    CHECK(found.holds);
    CHECK(found.differs == found.changed);
  }
}

TEST_CASE("a program without calls is over at once") {
  Module module(compiler_gym::tests::loop);
  Inlining run(module, Level::Oz);
  CHECK(run.is_over());
  CHECK(module.bitcode() == at_level(compiler_gym::tests::loop, Level::Oz));
  CHECK_THROWS_AS(run.answer(InlineAnswer::standard), std::logic_error);
  CHECK_THROWS_AS(run.call_site(), std::logic_error);
  CHECK_THROWS_AS(run.features(), std::logic_error);
}

TEST_CASE("growth is bounded") {
  Module module(calls);
  Inlining run(module, Level::Oz);
  run.limit_instructions(5);
  CHECK_THROWS_AS(run.answer(InlineAnswer::inlined), TooLargeError);
  Module larger(calls);
  Inlining free(larger, Level::Oz);
  free.limit_instructions(1000);
  while (!free.is_over()) free.answer(InlineAnswer::inlined);
}

TEST_CASE("answers have names") {
  CHECK(parse_inline_answer("default") == InlineAnswer::standard);
  CHECK(parse_inline_answer("inline") == InlineAnswer::inlined);
  CHECK(parse_inline_answer("no-inline") == InlineAnswer::separate);
  CHECK_FALSE(parse_inline_answer("perhaps"));
}

TEST_CASE("names and features are as many") {
  const auto names = inline_feature_names();
  CHECK(names.size() == inline_features_size);
  CHECK(names.front() == "sroa_savings");
  CHECK(names.back() == "inlining_default");
}
