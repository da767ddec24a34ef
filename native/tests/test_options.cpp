#include "options.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "llvm/Support/CommandLine.h"

using namespace compiler_gym::llvm;

namespace {

::llvm::cl::opt<int> number("compiler-gym-test-number", ::llvm::cl::init(1));

}  // namespace

TEST_CASE("an option gets its value, and another one later") {
  set_option("compiler-gym-test-number", "5");
  CHECK(number == 5);
  set_option("compiler-gym-test-number", "5");
  CHECK(number.getNumOccurrences() == 1);
  set_option("compiler-gym-test-number", "-6");
  CHECK(number == -6);
}

TEST_CASE("an option that does not exist is an error, and so is a value that is none") {
  CHECK_THROWS_WITH_AS(set_option("no-such-option", "true"),
                       "this LLVM has no option -no-such-option", UnsupportedError);
  set_option("compiler-gym-test-number", "7");
  CHECK_THROWS_AS(set_option("compiler-gym-test-number", "seven"), UnsupportedError);
  set_option("compiler-gym-test-number", "7");
  CHECK(number == 7);
}

TEST_CASE("the options that the engine sets are there") {
  const auto& options = ::llvm::cl::getRegisteredOptions();
  for (const char* name :
       {"ir2vec-vocab-path", "pgo-analysis-map", "enable-detailed-function-properties"}) {
    CAPTURE(name);
    CHECK(options.count(name) == 1);
  }
}
