// The program that waits for channels. It may hold a lock that others need while it sleeps, hear
// signals, and want frames in memory of its kind; an interpreter does all three.
#pragma once

#include <cerrno>
#include <cstddef>

#include "compiler_gym/service/bytes.h"

namespace compiler_gym::service {

// A program without a lock, whose signals are its own affair.
class Host {
 public:
  Host() = default;
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Called before each sleep. What it throws ends the wait.
  virtual void check_interrupts();

  // Gives the lock up under which channels are used; `lock` gets what it returns.
  virtual void* unlock();
  virtual void lock(void* state);

  // Memory for a part of a frame, or nothing that is valid where there is none left.
  virtual Bytes make_bytes(std::size_t size);
};

// Calls `act`, which does not throw, without the host's lock.
template <class Act>
auto unlocked(Host& host, const Act& act) {
  void* const state = host.unlock();
  const auto result = act();
  const int number = errno;
  host.lock(state);
  errno = number;
  return result;
}

}  // namespace compiler_gym::service
