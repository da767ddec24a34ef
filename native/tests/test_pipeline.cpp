#include "compiler_gym/llvm/pipeline.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "compiler_gym/llvm/errors.h"

using namespace compiler_gym::llvm;

TEST_CASE("pipelines are accepted or refused as they would run") {
  check_pipeline("default<O2>");
  CHECK_THROWS_AS(check_pipeline("nonsense"), PipelineError);
  CHECK_THROWS_AS(check_pipeline("function(loop(licm))"), PipelineError);
}

TEST_CASE("the registry names passes with their kinds and parameters") {
  const auto passes = registered_passes();
  const auto found = std::find_if(passes.begin(), passes.end(),
                                  [](const auto& pass) { return pass.name == "loop-unroll"; });
  REQUIRE(found != passes.end());
  CHECK(found->kind == "function");
  CHECK(found->parameters.find("O3") != std::string::npos);
}
