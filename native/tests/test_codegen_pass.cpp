#include "codegen_pass.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/module.h"
#include "programs.h"

using namespace compiler_gym::llvm;

TEST_CASE("the pass writes choices, says whether it changed anything, and stands among others") {
  Module module(compiler_gym::tests::loop);
  CHECK(module.run("codegen<regalloc=basic>"));
  CHECK_FALSE(module.run("codegen<regalloc=basic>"));
  CHECK(module.run("function(dce),codegen<reset;disable-lsr=true>,globaldce"));
  CHECK(module.chosen_options() == ChosenOptions{{"disable-lsr", "true"}});
}

TEST_CASE("unknown options are refused before a pass runs") {
  Module module(compiler_gym::tests::loop);
  const auto before = module.bitcode();
  for (const char* wrong : {"codegen", "codegen<>", "codegen<regalloc=slow>", "codegen(dce)"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(module.run(wrong), PipelineError);
  }
  CHECK(module.bitcode() == before);
}
