#include "compiler_gym/given_up.h"

#include <doctest/doctest.h>

#include <new>
#include <stdexcept>

#include "compiler_gym/llvm/errors.h"

using namespace compiler_gym;

namespace {

struct Counted {
  explicit Counted(int& destroyed) : destroyed(destroyed) {}
  ~Counted() { ++destroyed; }
  int& destroyed;
};

// Return the number of destructor calls of an object that was owned when `error` was thrown.
template <class Error>
int destroyed_by(const Error& error) {
  int destroyed = 0;
  try {
    const auto owned = make_fragile<Counted>(destroyed);
    throw Error(error);
  } catch (const std::exception&) {
  }
  return destroyed;
}

}  // namespace

TEST_CASE("only objects that LLVM gave up in are leaked") {
  CHECK(destroyed_by(compiler_gym::llvm::FatalError("it is over")) == 0);
  CHECK(destroyed_by(compiler_gym::llvm::OutOfMemory()) == 0);
  CHECK_FALSE(GivenUp::is_in_flight());
  CHECK(destroyed_by(compiler_gym::llvm::InitError("no module")) == 1);
  int destroyed = 0;
  make_fragile<Counted>(destroyed).reset();
  CHECK(destroyed == 1);
}

TEST_CASE("objects that LLVM returns become fragile") {
  int destroyed = 0;
  {
    const Fragile<Counted> owned = std::make_unique<Counted>(destroyed);
  }
  CHECK(destroyed == 1);
}
