#include "compiler_gym/llvm/runtime.h"

#include <unistd.h>
#include <atomic>
#include <mutex>
#include <new>

#include "compiler_gym/llvm/errors.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "target.h"

namespace compiler_gym::llvm {
namespace {

std::atomic<bool> exits_on_out_of_memory{false};

void on_fatal_error(void*, const char* reason, bool) { throw FatalError(reason); }

void on_bad_alloc(void*, const char*, bool) {
  if (exits_on_out_of_memory) _exit(out_of_memory_status);
  throw OutOfMemory();
}

// Operator new calls this repeatedly until it succeeds or exits.
void on_failed_new() { on_bad_alloc(nullptr, nullptr, false); }

}  // namespace

void start() {
  static std::once_flag once;
  std::call_once(once, [] {
    register_targets();
    ::llvm::install_fatal_error_handler(on_fatal_error);
    ::llvm::install_bad_alloc_error_handler(on_bad_alloc);
    std::set_new_handler(on_failed_new);
  });
}

std::string version() { return LLVM_VERSION_STRING; }

void exit_on_out_of_memory(bool enabled) {
  exits_on_out_of_memory = enabled;
  std::set_new_handler(on_failed_new);
}

}  // namespace compiler_gym::llvm
