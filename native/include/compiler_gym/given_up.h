// Where LLVM gives up in the middle of its work, what it worked on is in an unknown condition: it
// is leaked, because its destructors may not survive that (docs/decisions/0011). Whatever LLVM
// works on is therefore owned by a `Fragile`.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace compiler_gym {

// A base of what is thrown when LLVM gives up. While one exists, no `Fragile` destroys anything.
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
  LeakWhenGivenUp(const std::default_delete<T>&) {}  // for what LLVM hands over

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
