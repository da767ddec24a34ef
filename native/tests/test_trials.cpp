#include "compiler_gym/llvm/trials.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/functions.h"
#include "compiler_gym/llvm/module.h"

using namespace compiler_gym::llvm;

namespace {

// Each function calls itself, and passes shrink or unroll each in their own way.
constexpr std::string_view two = R"(
target triple = "x86_64-pc-linux-gnu"
@text = private constant [3 x i8] c"a\0A\00"
declare i32 @printf(ptr, ...)
define i32 @count(i32 %n, i32 %sum) {
  %again = icmp sgt i32 %n, 0
  br i1 %again, label %more, label %done
more:
  %less = add i32 %n, -1
  %more.sum = add i32 %sum, %n
  %result = call i32 @count(i32 %less, i32 %more.sum)
  ret i32 %result
done:
  ret i32 %sum
}
define internal i32 @twice(i32 %n) {
  %slot = alloca i32
  store i32 %n, ptr %slot
  %a = load i32, ptr %slot
  %b = load i32, ptr %slot
  %sum = add i32 %a, %b
  %unused = call i32 (ptr, ...) @printf(ptr @text)
  ret i32 %sum
}
@kept = global ptr @twice
)";

std::int64_t size(Module& module, const std::string& name) {
  std::int64_t instructions = 0;
  module.inspect([&](const ::llvm::Module& ir) {
    instructions = ir.getFunction(name)->getInstructionCount();
  });
  return instructions;
}

}  // namespace

TEST_CASE("a pipeline runs on chosen functions alone") {
  Module module(two);
  const auto other = size(module, "count");
  CHECK(module.run_on("mem2reg", {"twice"}));
  CHECK(size(module, "twice") == 3);
  CHECK(size(module, "count") == other);
  CHECK_FALSE(module.run_on("mem2reg", {"count", "twice"}));
  CHECK_FALSE(module.run_on("mem2reg", {}));
  CHECK(module.run_on("function(loop(loop-rotate)),tailcallelim", {"count"}));
}

TEST_CASE("passes of larger units and unknown functions are refused") {
  Module module(two);
  const auto before = module.hash();
  for (const auto* pipeline : {"globaldce", "cgscc(inline)", "default<Oz>", "no-such-pass"}) {
    CHECK_THROWS_WITH_AS(module.run_on(pipeline, {"count"}),
                         doctest::Contains("only passes of functions and loops"), PipelineError);
    CHECK_THROWS_AS(try_on(module, {{"count", {pipeline}}}), PipelineError);
  }
  for (const auto* name : {"printf", "missing"}) {
    CHECK_THROWS_WITH_AS(module.run_on("dce", {name}), doctest::Contains(name), RefusedError);
    CHECK_THROWS_AS(try_on(module, {{name, {"dce"}}}), RefusedError);
  }
  CHECK(module.hash() == before);
}

TEST_CASE("a trial gives what the pipeline leaves, and changes nothing") {
  Module module(two);
  const auto before = module.hash();
  const auto text = module.text();
  const std::vector<std::string> pipelines = {"mem2reg", "tailcallelim,simplifycfg", "instcombine"};
  const auto trials = try_on(module, {{"twice", pipelines}, {"count", pipelines}});
  CHECK(module.hash() == before);
  CHECK(module.text() == text);
  for (std::size_t at = 0; at < 2 * pipelines.size(); ++at) {
    Module other(two);
    const std::string name = at < pipelines.size() ? "twice" : "count";
    other.run_on(pipelines[at % pipelines.size()], {name});
    CHECK(size(other, name) == trials.instructions[at]);
  }
  CHECK(trials.hashes[0] != trials.hashes[1]);
  CHECK(trials.hashes[1] == trials.hashes[1]);
}

TEST_CASE("a function that must stay as it is does, in a trial too") {
  Module module("define i32 @f() noinline optnone { %a = add i32 1, 2\n ret i32 %a }");
  CHECK_FALSE(module.run_on("instcombine", {"f"}));
  CHECK(try_on(module, {{"f", {"instcombine"}}}).instructions == std::vector<std::int64_t>{2});
}

TEST_CASE("digests are equal where results are, and name every detail of a body") {
  Module module(two);
  const std::vector<std::string> pipelines = {"no-op-function", "dce", "mem2reg", "sroa"};
  const auto digests = try_on(module, {{"twice", pipelines}}).digests;
  CHECK(digests[0] == digests[1]);
  CHECK(digests[0] != digests[2]);
  CHECK(digests[2] == digests[3]);
  const auto digest = [](const std::string& body) {
    Module own("@a = external global i32\n@b = external global i32\n" + body);
    return try_on(own, {{"f", {"no-op-function"}}}).digests[0];
  };
  const auto plain = digest("define i32 @f(i32 %n) { %r = add i32 %n, 1\n ret i32 %r }");
  CHECK(plain == digest("define i32 @f(i32 %m) { %s = add i32 %m, 1\n ret i32 %s }"));
  CHECK(plain != digest("define i32 @f(i32 %n) { %r = add nsw i32 %n, 1\n ret i32 %r }"));
  CHECK(plain != digest("define i32 @f(i32 %n) cold { %r = add i32 %n, 1\n ret i32 %r }"));
  CHECK(digest("define i32 @f() { %r = load i32, ptr @a\n ret i32 %r }") !=
        digest("define i32 @f() { %r = load i32, ptr @b\n ret i32 %r }"));
}

TEST_CASE("other bodies are replaced, with the linkage of their functions") {
  Module module(two);
  const auto count = size(module, "count");
  keep_bodies(module, {"count"});
  module.verify();
  CHECK(size(module, "twice") == 1);
  CHECK(size(module, "count") == count);
  CHECK(module.text().find("define internal i32 @twice") != std::string::npos);
  CHECK_THROWS_AS(keep_bodies(module, {"missing"}), RefusedError);
}
