// Work on a stack of its own, which stops in its middle and goes on later.
//
// It runs on the thread of whoever resumes it, and its stack is memory like any other: a copy of
// the process, made while the work is paused, goes on from the same place. A thread would not be
// copied.
#pragma once

#include <ucontext.h>
#include <cstddef>
#include <exception>
#include <functional>

namespace compiler_gym::llvm {

class Coroutine {
 public:
  // Throws std::bad_alloc if there is no room for a stack.
  explicit Coroutine(std::function<void()> work);
  // The stack of unfinished work is not freed, because pointers into it may still exist. Callers
  // should finish the work first if they can.
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  // Go on until the work pauses or is over. What it throws ends it, and is thrown here.
  void resume();
  // Only from the work: return from resume(), and from here when it is called again.
  void pause();
  bool is_over() const { return over_; }

 private:
  static void enter(unsigned high, unsigned low);
  void switch_to(ucontext_t& from, ucontext_t& to, bool inwards);
  void arrive();

  std::function<void()> work_;
  char* memory_;
  ucontext_t inside_{};
  ucontext_t outside_{};
  std::exception_ptr error_;
  bool over_ = false;
  // What LLVM would print of its own stack after a crash: a list through both stacks.
  const void* trace_inside_ = nullptr;
  // What the work holds of LLVM's options: nobody waits for work that is paused.
  int options_inside_ = 0;
  // What the address sanitizer wants to know of a switch.
  void* fake_stack_ = nullptr;
  const void* outer_stack_ = nullptr;
  std::size_t outer_size_ = 0;
};

}  // namespace compiler_gym::llvm
