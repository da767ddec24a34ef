#include "compiler_gym/llvm/plugins.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"

using namespace compiler_gym::llvm;

TEST_CASE("an engine with LLVM inside says that it takes no plug-ins") {
  CHECK(!shares_llvm());
  CHECK_THROWS_AS(load_plugin("/bin/true"), PluginError);
}

TEST_CASE("a pass is found in the unit of IR that it works on") {
  CHECK(find_pipeline("globaldce") == "globaldce");
  CHECK(find_pipeline("function(dce)") == "function(dce)");
  CHECK_THROWS_AS(find_pipeline("no-such-pass"), PipelineError);
}
