#include "trusted_passes.h"

#include <doctest/doctest.h>

using namespace compiler_gym::llvm;

TEST_CASE("a pass without measurements is not trusted") {
  const auto trust = trust_in("NoSuchPass");
  CHECK(!trust.nothing);
  CHECK(!trust.something);
}

TEST_CASE("passes that were caught are not trusted") {
  for (const auto* liar : {"InferAlignmentPass", "IPSCCPPass", "InstCombinePass"}) {
    CAPTURE(liar);
    CHECK(!trust_in(liar).nothing);
  }
}

TEST_CASE("passes that were measured are") {
  for (const auto* pass : {"ADCEPass", "SROAPass", "EarlyCSEPass", "DSEPass"}) {
    CAPTURE(pass);
    CHECK(trust_in(pass).nothing);
  }
}
