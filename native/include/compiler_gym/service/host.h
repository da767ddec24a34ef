// The program that waits for channels. It may hold a lock that other threads need while it sleeps,
// handle signals, and provide the memory for frames; an interpreter does all three.
#pragma once

#include <cerrno>
#include <cstddef>

#include "compiler_gym/service/bytes.h"

namespace compiler_gym::service {

// A program without a lock, which handles its signals itself.
class Host {
 public:
  Host() = default;
  virtual ~Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Called before each sleep. An exception from it ends the wait.
  virtual void check_interrupts();

  // Release the lock that protects channels; the result is passed to `lock`.
  virtual void* unlock();
  virtual void lock(void* state);

  // Memory for a part of a frame; invalid if there is no memory left.
  virtual Bytes make_bytes(std::size_t size);
};

// Call `act`, which must not throw, without the host's lock.
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
