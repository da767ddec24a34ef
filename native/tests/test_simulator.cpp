#include "simulator.h"

#include <doctest/doctest.h>

#include <array>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"

using namespace compiler_gym::llvm;

namespace {

Simulator simulator() {
  start();
  return Simulator(::llvm::Triple("x86_64-pc-linux-gnu"));
}

}  // namespace

TEST_CASE("instructions are counted, and a byte that begins none is one") {
  Simulator simulator = ::simulator();
  CHECK(simulator.count({}) == 0);
  CHECK(simulator.count(std::array<std::uint8_t, 3>{0x90, 0x90, 0xc3}) == 3);
  CHECK(simulator.count(std::array<std::uint8_t, 2>{0x06, 0xc3}) == 2);
}

TEST_CASE("a division takes longer than doing nothing") {
  Simulator simulator = ::simulator();
  const std::array<std::uint8_t, 1> nothing{0x90};
  const std::array<std::uint8_t, 3> division{0x48, 0xf7, 0xf1};
  CHECK(simulator.width() >= 1);
  CHECK(simulator.cycles(division) > simulator.cycles(nothing));
  CHECK(simulator.cycles({}) == 0);
}

TEST_CASE("a machine that is not linked in is refused") {
  start();
  CHECK_THROWS_AS(Simulator(::llvm::Triple("armv7-linux")), UnsupportedError);
}
