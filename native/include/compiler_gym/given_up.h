// If LLVM aborts in the middle of its work, the objects it worked on are in an unknown state: they
// are leaked, because their destructors could crash (docs/decisions/0011). Every object that LLVM
// works on is therefore owned by a `Fragile`.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace compiler_gym {

// The base class of exceptions thrown when LLVM aborts. While one exists, no `Fragile` destroys
// its object.
class GivenUp {
 public:
  GivenUp() { ++alive_; }
  GivenUp(const GivenUp&) { ++alive_; }
  GivenUp& operator=(const GivenUp&) { return *this; }
  ~GivenUp() { --alive_; }

  static bool is_in_flight() { return alive_ > 0; }

 private:
  static inline std::atomic<int> alive_{0};
};

struct LeakWhenGivenUp {
  LeakWhenGivenUp() = default;
  template <class T>
  LeakWhenGivenUp(const std::default_delete<T>&) {}  // for objects that LLVM returns

  template <class T>
  void operator()(T* owned) const {
    if (!GivenUp::is_in_flight()) delete owned;
  }
};

template <class T>
using Fragile = std::unique_ptr<T, LeakWhenGivenUp>;

template <class T, class... Arguments>
Fragile<T> make_fragile(Arguments&&... arguments) {
  return Fragile<T>(new T(std::forward<Arguments>(arguments)...));
}

}  // namespace compiler_gym
