#include "compiler_gym/llvm/pass_record.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"
#include "programs.h"

using namespace compiler_gym::llvm;

TEST_CASE("a record lists gains, losses and the changed functions") {
  Module module(compiler_gym::tests::loop);
  const auto before = module.inst_count();
  const auto record = module.run_recorded("function(sroa)");
  const auto after = module.inst_count();
  CHECK(record.changed);
  CHECK(record.changed_functions == std::vector<std::string>{"sum"});
  CHECK(record.new_functions.empty());
  for (std::size_t i = 0; i < inst_count_size; ++i) {
    CHECK(after[i] - before[i] == record.added[i] - record.removed[i]);
  }
}

TEST_CASE("a function that goes is lost with its instructions") {
  Module module("define internal void @f() { ret void }");
  const auto record = module.run_recorded("globaldce");
  CHECK(record.lost_functions == std::vector<std::string>{"f"});
  CHECK(record.removed[0] == 1);
  CHECK(record.removed[2] == 1);
}

TEST_CASE("recording changes nothing, and errors stay errors") {
  Module recorded(compiler_gym::tests::loop), plain(compiler_gym::tests::loop);
  const std::string pipeline = "function(sroa,instcombine<no-verify-fixpoint>,gvn)";
  const auto record = recorded.run_recorded(pipeline);
  plain.run(pipeline);
  CHECK(recorded.hash() == plain.hash());
  CHECK_THROWS_AS(recorded.run_recorded("no-such-pass"), PipelineError);
  CHECK_FALSE(recorded.run_recorded("no-op-module").changed);
}
