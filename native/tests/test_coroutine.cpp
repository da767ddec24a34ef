#include "coroutine.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <stdexcept>
#include <string>
#include <thread>

#include "compiler_gym/llvm/errors.h"
#include "compiler_gym/llvm/runtime.h"
#include "llvm/Support/ErrorHandling.h"
#include "options.h"

using namespace compiler_gym::llvm;

namespace {

int depth_of(int levels) {
  volatile char room[1024];
  room[0] = static_cast<char>(levels);
  return levels == 0 ? room[0] : depth_of(levels - 1) + 1;
}

}  // namespace

TEST_CASE("work goes on where it paused") {
  std::string said;
  Coroutine* self = nullptr;
  Coroutine counting([&] {
    for (const char letter : {'a', 'b'}) {
      said += letter;
      self->pause();
    }
    said += 'c';
  });
  self = &counting;
  CHECK(said.empty());
  counting.resume();
  CHECK(said == "a");
  CHECK_FALSE(counting.is_over());
  counting.resume();
  counting.resume();
  CHECK(said == "abc");
  CHECK(counting.is_over());
}

TEST_CASE("an exception of the work is rethrown by resume") {
  Coroutine* self = nullptr;
  Coroutine failing([&] {
    self->pause();
    throw std::runtime_error("inside");
  });
  self = &failing;
  failing.resume();
  CHECK_THROWS_WITH_AS(failing.resume(), "inside", std::runtime_error);
  CHECK(failing.is_over());
}

TEST_CASE("a fatal error of LLVM comes out as any exception does") {
  compiler_gym::llvm::start();
  Coroutine failing([] { ::llvm::report_fatal_error("given up"); });
  CHECK_THROWS_WITH_AS(failing.resume(), "given up", compiler_gym::llvm::FatalError);
  CHECK(failing.is_over());
}

TEST_CASE("exceptions are caught on the stack that they are thrown on") {
  Coroutine* self = nullptr;
  bool is_caught = false;
  Coroutine catching([&] {
    try {
      self->pause();
      throw std::runtime_error("inside");
    } catch (const std::runtime_error&) {
      is_caught = true;
    }
  });
  self = &catching;
  catching.resume();
  try {
    throw std::logic_error("outside");
  } catch (const std::logic_error&) {
    catching.resume();
  }
  CHECK(is_caught);
}

TEST_CASE("the stack has room for deep recursion") {
  int found = 0;
  Coroutine deep([&] { found = depth_of(8000); });
  deep.resume();
  CHECK(found >= 8000);
}

TEST_CASE("two interleave") {
  std::string said;
  Coroutine *one = nullptr, *other = nullptr;
  Coroutine first([&] {
    said += '1';
    one->pause();
    said += '3';
  });
  Coroutine second([&] {
    said += '2';
    other->pause();
    said += '4';
  });
  one = &first;
  other = &second;
  for (int turn = 0; turn < 2; ++turn) {
    first.resume();
    second.resume();
  }
  CHECK(said == "1234");
}

TEST_CASE("a copy of the process goes on as well") {
  int steps = 0;
  Coroutine* self = nullptr;
  Coroutine walking([&] {
    for (;;) {
      ++steps;
      if (steps == 4) return;
      self->pause();
    }
  });
  self = &walking;
  walking.resume();
  const pid_t child = fork();
  if (child == 0) {
    while (!walking.is_over()) walking.resume();
    _exit(steps == 4 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(steps == 1);
  while (!walking.is_over()) walking.resume();
  CHECK(steps == 4);
}

TEST_CASE("work that never began needs no end") {
  Coroutine([] {});
}

TEST_CASE("work that is paused keeps no options from others, and goes on in any thread") {
  Coroutine* self = nullptr;
  Coroutine work([&] {
    const UsualOptions usual;
    self->pause();
    CHECK(options_held() == 1);
  });
  self = &work;
  work.resume();
  CHECK(options_held() == 0);
  std::thread([&] {
    {
      const OtherOptions other(OptionValues{});
    }
    work.resume();
    CHECK(options_held() == 0);
  }).join();
  CHECK(work.is_over());
  CHECK(options_held() == 0);
}
