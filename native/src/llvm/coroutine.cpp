#include "coroutine.h"

#include <sys/mman.h>
#include <cstdint>
#include <new>
#include <utility>

#include "llvm/Support/PrettyStackTrace.h"
#include "options.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace compiler_gym::llvm {
namespace {

// Twice the size of a main thread's stack: the frames of LLVM's passes are the same, and only
// touched pages take memory.
constexpr std::size_t stack_size = std::size_t{16} << 20;
// A stack overflow hits it and ends as on any other stack.
constexpr std::size_t guard_size = std::size_t{64} << 10;

char* new_stack() {
  void* const memory = mmap(nullptr, guard_size + stack_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(memory, guard_size, PROT_NONE) != 0) {
    munmap(memory, guard_size + stack_size);
    throw std::bad_alloc();
  }
#if defined(__SANITIZE_ADDRESS__)
  // The frames of an earlier stack have left their marks at this address.
  __asan_unpoison_memory_region(memory, guard_size + stack_size);
#endif
  return static_cast<char*>(memory);
}

}  // namespace

Coroutine::Coroutine(std::function<void()> work) : work_(std::move(work)), memory_(new_stack()) {
  getcontext(&inside_);
  inside_.uc_stack.ss_sp = memory_ + guard_size;
  inside_.uc_stack.ss_size = stack_size;
  inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  // makecontext passes arguments of type int: a pointer needs two.
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Coroutine::enter), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

Coroutine::~Coroutine() {
  if (over_) munmap(memory_, guard_size + stack_size);
}

void Coroutine::resume() {
  const void* const trace = ::llvm::SavePrettyStackState();
  ::llvm::RestorePrettyStackState(trace_inside_);
  const int held = options_held();
  take_options(options_inside_);
  switch_to(outside_, inside_, /*inwards=*/true);
  options_inside_ = give_options_back(held);
  trace_inside_ = ::llvm::SavePrettyStackState();
  ::llvm::RestorePrettyStackState(trace);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Coroutine::pause() { switch_to(inside_, outside_, /*inwards=*/false); }

void Coroutine::enter(unsigned high, unsigned low) {
  auto* const self = reinterpret_cast<Coroutine*>((std::uintptr_t{high} << 32) | low);
  self->arrive();
  try {
    self->work_();
  } catch (...) {  // a stack has no frames below this one that could catch it
    self->error_ = std::current_exception();
  }
  self->over_ = true;
  self->pause();
  __builtin_unreachable();
}

void Coroutine::switch_to(ucontext_t& from, ucontext_t& to, bool inwards) {
#if defined(__SANITIZE_ADDRESS__)
  void* kept = nullptr;
  if (inwards) {
    __sanitizer_start_switch_fiber(&kept, memory_ + guard_size, stack_size);
  } else {
    __sanitizer_start_switch_fiber(over_ ? nullptr : &fake_stack_, outer_stack_, outer_size_);
  }
  swapcontext(&from, &to);
  if (inwards) {
    __sanitizer_finish_switch_fiber(kept, nullptr, nullptr);
  } else {
    arrive();
  }
#else
  (void)inwards;
  swapcontext(&from, &to);
#endif
}

// Run first on the inner stack after every switch to it.
void Coroutine::arrive() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &outer_stack_, &outer_size_);
#endif
}

}  // namespace compiler_gym::llvm
