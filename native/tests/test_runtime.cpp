#include "compiler_gym/llvm/runtime.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>

#include "compiler_gym/llvm/errors.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/TargetParser/Triple.h"

using namespace compiler_gym::llvm;

namespace {

// The exit status of a process that runs `act`.
template <class Act>
int status_of(const Act& act) {
  const int child = fork();
  if (child == 0) {
    act();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("after the start there is a target, and the version is LLVM's") {
  start();
  start();
  std::string complaint;
  CHECK(::llvm::TargetRegistry::lookupTarget(::llvm::Triple("x86_64-pc-linux-gnu"), complaint));
  CHECK(version().starts_with("22."));
}

TEST_CASE("a fatal error of LLVM is thrown") {
  start();
  CHECK_THROWS_WITH_AS(::llvm::report_fatal_error("it is over"), "it is over", FatalError);
}

TEST_CASE("running out of memory throws, or ends the process on request") {
  start();
  CHECK_THROWS_AS(::llvm::report_bad_alloc_error("none left"), std::bad_alloc);
  CHECK(status_of([] {
          exit_on_out_of_memory(true);
          ::llvm::report_bad_alloc_error("none left");
        }) == out_of_memory_status);
  CHECK(status_of([] {
          exit_on_out_of_memory(true);
          std::get_new_handler()();
        }) == out_of_memory_status);
  exit_on_out_of_memory(true);
  exit_on_out_of_memory(false);
  CHECK_THROWS_AS(std::get_new_handler()(), OutOfMemory);
}
