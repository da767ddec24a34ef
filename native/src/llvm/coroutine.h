// Work on a separate stack that can be suspended and resumed.
//
// It runs on the thread that resumes it, and its stack is ordinary memory: a copy of the process
// made while the work is suspended continues from the same place. A thread would not be copied.
#pragma once

#include <ucontext.h>
#include <cstddef>
#include <exception>
#include <functional>

namespace compiler_gym::llvm {

class Coroutine {
 public:
  // Throws std::bad_alloc if there is no memory for a stack.
  explicit Coroutine(std::function<void()> work);
  // The stack of unfinished work is not freed, because pointers into it may still exist. Callers
  // should finish the work first if they can.
  ~Coroutine();
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;

  // Continue until the work pauses or is over. An exception ends the work and is rethrown here.
  void resume();
  // Only called by the work: return from resume(), and continue here at the next resume().
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
  // LLVM's list of stack entries for crash messages, which spans both stacks.
  const void* trace_inside_ = nullptr;
  // The guards of LLVM's options that the work holds: suspended work must block no other thread.
  int options_inside_ = 0;
  // The address sanitizer's state for a switch of stacks.
  void* fake_stack_ = nullptr;
  const void* outer_stack_ = nullptr;
  std::size_t outer_size_ = 0;
};

}  // namespace compiler_gym::llvm
