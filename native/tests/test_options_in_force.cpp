#include "options_in_force.h"

#include <doctest/doctest.h>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"

using namespace compiler_gym::llvm;

namespace {

::llvm::cl::opt<int> number("compiler-gym-test-other-number", ::llvm::cl::init(1));

}  // namespace

TEST_CASE("options hold for as long as they are in force") {
  start();
  {
    const ChosenOptions chosen{{"compiler-gym-test-other-number", "7"}};
    const OptionsInForce in_force(chosen);
    CHECK(number == 7);
    CHECK(number.getNumOccurrences() == 1);
  }
  CHECK(number == 1);
  CHECK(number.getNumOccurrences() == 0);
}

TEST_CASE("where one of them is refused all are put back") {
  const ChosenOptions wrong{{"compiler-gym-test-other-number", "7"}, {"no-such-option", "1"}};
  CHECK_THROWS_AS(OptionsInForce{wrong}, UnsupportedError);
  CHECK(number == 1);
  const ChosenOptions allocator{{"compiler-gym-test-other-number", "7"}, {"regalloc", "no-such"}};
  CHECK_THROWS_AS(OptionsInForce{allocator}, UnsupportedError);
  CHECK(number == 1);
}

TEST_CASE("a register allocator is the default for that long, and a real one stays behind") {
  using ::llvm::RegisterRegAlloc;
  RegisterRegAlloc::FunctionPassCtor within = nullptr;
  {
    const ChosenOptions chosen{{"regalloc", "basic"}};
    const OptionsInForce in_force(chosen);
    within = RegisterRegAlloc::getDefault();
  }
  const auto behind = RegisterRegAlloc::getDefault();
  CHECK((within != nullptr && behind != nullptr));
  CHECK((within != behind));
}

TEST_CASE("work further up the stack of the same thread gives way") {
  const UsualOptions usual;
  {
    const ChosenOptions chosen{{"compiler-gym-test-other-number", "7"}};
    const OptionsInForce in_force(chosen);
    const UsualOptions within;
    CHECK(number == 7);
  }
  CHECK(number == 1);
  CHECK(options_held() == 1);
}
